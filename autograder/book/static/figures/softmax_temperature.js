// Chapter 3: temperature moves the answer from the middle of the island to the loudest radio, a
// shift of all scores moves nothing; written down naively it does, where the exponentials fail.

import { curve, point, print, share, text } from "./base.js";
import { average, entropyInBits, islandScores, range, softmax } from "./formulas.js";
import { angleAt, dial, map, moved, onMap } from "./island.js";

const FORMATS = { float64: (x) => x, float32: Math.fround, float16 };

export const controls = ({ sharpness }) => [
  { name: "temperature", label: "Temperature t", min: 0.01, max: 50, step: 0.01, value: 1 / sharpness, log: true, digits: 3 },
  { name: "angle", label: "Needle", min: 0, max: 359, step: 1, value: 0, unit: "°", turns: true },
  { name: "shift", label: "Added to all scores", min: -1000, max: 1000, step: 1, value: 0 },
  {
    name: "form",
    label: "Softmax",
    kind: "choice",
    options: [
      ["stable", "largest score subtracted"],
      ...Object.keys(FORMATS).map((format) => [format, `as written, ${format}`]),
    ],
    value: "stable",
  },
];

export function compute({ temperature, angle, shift, form }, data) {
  const scores = islandScores(angle, 1 / temperature, data).map((score) => score + shift);
  const weights = form === "stable" ? softmax(scores) : naive(scores, FORMATS[form]);
  return { scores, weights, answer: average(weights, data.values), bits: entropyInBits(weights) };
}

/** Every number is rounded to the format as soon as it is there. */
function naive(scores, round) {
  const raised = scores.map((score) => round(Math.exp(round(score))));
  const total = raised.reduce((sum, x) => round(sum + x), 0);
  return raised.map((x) => round(x / total));
}

function float16(x) {
  if (!Number.isFinite(x) || x === 0) return x;
  const unit = 2 ** Math.max(Math.floor(Math.log2(Math.abs(x))) - 10, -24);
  const below = Math.floor(x / unit);
  const rest = x / unit - below;
  const rounded = unit * (rest > 0.5 || (rest === 0.5 && below % 2) ? below + 1 : below);
  return Math.abs(rounded) > 65504 ? Math.sign(x) * Infinity : rounded;
}

export function panels({ state, values, data }, before) {
  const at = (sharpness) => onMap(average(softmax(islandScores(state.angle, sharpness, data)), data.values));
  const path = curve([...range(120, 0, 12), ...range(40, 12, 400)].map(at), "path");
  const lost = Number.isNaN(values.weights[0]);
  const heard = lost ? undefined : values.weights;
  const answers = lost ? [] : [{ at: values.answer, weights: values.weights }];
  const ghosts = before && !lost && !Number.isNaN(before.values.answer[0]) ? [before.values.answer] : [];
  const over = lost ? text(...onMap(data.centre), "nan", "fault") : "";
  const says = lost ? "Map without an answer: nan." : undefined;
  return [dial(data, { needles: [{ angle: state.angle }], weights: heard }), map(data, { answers, ghosts, extra: path, over, says })];
}

export const table = ({ values, data }) => ({
  head: ["radio", "score", "weight", "place"],
  body: [
    ...data.names.map((name, j) => [name, print(values.scores[j], 3), print(values.weights[j], 4), point(data.values[j], 0)]),
    ["answer", "", `${print(values.bits, 3)} bits`, point(values.answer, 3)],
  ],
});

export function say({ values, data }, before) {
  if (Number.isNaN(values.weights[0]))
    return "Every weight is nan: the exponentials are no longer finite positive numbers, and the star is lost.";
  const shares = data.names.map((name, j) => `${name} ${share(values.weights[j])}`).join(", ");
  return `${shares}: ${print(values.bits)} bits. ${moved(before?.values.answer, values.answer)}`;
}

export const drag = { dial: (place) => ({ angle: angleAt(place) }) };
