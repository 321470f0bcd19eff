// Chapter 1: turn the needle, sharpen it, make one radio louder; the answer stays on the island.

import { curve, point, print, share } from "./base.js";
import { average, distance, islandScores, range, softmax } from "./formulas.js";
import { angleAt, dial, map, moved, onMap } from "./island.js";

export const controls = ({ sharpness, names }) => [
  { name: "angle", label: "Needle", min: 0, max: 359, step: 1, value: 0, unit: "°", turns: true },
  { name: "sharpness", label: "Sharpness β", min: 0, max: 12, step: 0.01, value: sharpness },
  { name: "who", label: "Make louder", kind: "choice", options: names.map((name) => [name, name]), value: "Bo" },
  { name: "loudness", label: "by the factor", min: 0, max: 4, step: 0.1, value: 1 },
];

export function compute({ angle, sharpness, who, loudness }, data) {
  const louder = data.names.map((name) => (name === who ? loudness : 1));
  const scores = islandScores(angle, sharpness, data).map((score, j) => louder[j] * score);
  const weights = softmax(scores);
  const answer = average(weights, data.values);
  return { scores, weights, answer, fromAda: distance(answer, data.values[0]) };
}

export function panels({ state, values, data }, before) {
  const round = range(120, 0, 360).map((angle) => onMap(compute({ ...state, angle }, data).answer));
  const shared = { weights: values.weights };
  return [
    dial(data, { ...shared, needles: [{ angle: state.angle }] }),
    map(data, {
      answers: [{ ...shared, at: values.answer }],
      ghosts: before ? [before.values.answer] : [],
      extra: curve(round, "path dashed"),
    }),
  ];
}

export const table = ({ values, data }) => ({
  head: ["radio", "score", "weight", "place"],
  body: [
    ...data.names.map((name, j) => [name, print(values.scores[j], 3), print(values.weights[j], 4), point(data.values[j], 0)]),
    ["answer", "", "", point(values.answer, 3)],
  ],
});

export function say({ values, data }, before) {
  const shares = data.names.map((name, j) => `${name} ${share(values.weights[j])}`).join(", ");
  return `${shares}. ${moved(before?.values.answer, values.answer)} From there to Ada it is ${print(values.fromAda)} km.`;
}

export const drag = { dial: (place) => ({ angle: angleAt(place) }) };
