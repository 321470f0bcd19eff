// Chapter 11: the loss pulls on every score, the pulls add up to a step of the needle.

import { curve, point, print } from "./base.js";
import { average, dot, islandScores, onTheDial, softmax } from "./formulas.js";
import { angleAt, dial, fromMap, map, moved, onDial, onMap } from "./island.js";

export const controls = ({ sharpness, names }) => [
  {
    name: "target",
    label: "Target",
    kind: "choice",
    options: [...names.map((name) => [name, name]), ["middle", "the middle"], ["free", "the point below"]],
    value: "Ada",
  },
  { name: "step", label: "Step size", min: 0.01, max: 0.5, step: 0.01, value: 0.1 },
  { name: "east", label: "Point, km east", min: -1, max: 11, step: 0.1, value: 5 },
  { name: "north", label: "Point, km north", min: -1, max: 9, step: 0.1, value: 1 },
  { name: "angle", label: "Needle", min: 0, max: 359, step: 1, value: 0, unit: "°", turns: true, digits: 1 },
  { name: "sharpness", label: "Sharpness β", min: 0, max: 12, step: 0.01, value: sharpness, digits: 3 },
  { name: "one", label: "One step", kind: "button", press: (state, data) => steps(1, state, data) },
  { name: "ten", label: "Ten steps", kind: "button", press: (state, data) => steps(10, state, data) },
];

export const more = () => ({ trail: [] });

/** Loss: half the squared distance of the answer from the target. */
export function compute({ angle, sharpness, target, east, north }, data) {
  const weights = softmax(islandScores(angle, sharpness, data));
  const answer = average(weights, data.values);
  const goal = { free: [east, north], middle: data.centre }[target] ?? data.values[data.names.indexOf(target)];
  const off = answer.map((x, e) => x - goal[e]);
  const pulls = weights.map((weight, j) => weight * dot(off, data.values[j].map((v, e) => v - answer[e])));
  const gradient = [0, 1].map((e) => dot(pulls, data.keys.map((key) => key[e])) / Math.SQRT2);
  return { weights, answer, goal, loss: dot(off, off) / 2, pulls, gradient };
}

function steps(count, state, data) {
  let now = state;
  for (let i = 0; i < count; i++) {
    const { gradient } = compute(now, data);
    const length = now.sharpness * Math.SQRT2;
    const needle = onTheDial(now.angle).map((x, e) => length * x - now.step * gradient[e]);
    const angle = ((Math.atan2(needle[1], needle[0]) * 180) / Math.PI + 360) % 360;
    const trail = [...now.trail, [now.angle, now.sharpness]];
    now = { ...now, angle, sharpness: Math.min(12, Math.hypot(...needle) / Math.SQRT2), trail };
  }
  return { angle: now.angle, sharpness: now.sharpness, trail: now.trail };
}

const reach = (sharpness) => (1.05 * sharpness) / (sharpness + 1.6);

export function panels({ state, values, data }) {
  const needles = [...state.trail, [state.angle, state.sharpness]];
  const tips = needles.map(([angle, sharpness]) => onDial(onTheDial(angle), reach(sharpness)));
  const answers = needles.map(([angle, sharpness]) => onMap(compute({ ...state, angle, sharpness }, data).answer));
  const bars = values.pulls.map((pull, j) => {
    const length = Math.sign(pull) * Math.min(0.45, 0.055 * Math.abs(pull));
    return `<path class="pull who${j}" d="M${onDial(data.keys[j])}L${onDial(data.keys[j], 1 - length)}"/>`;
  });
  const labels = data.names.map((name, j) => [name, print(values.pulls[j])]);
  const needle = { angle: state.angle, length: Math.max(reach(state.sharpness), 0.1) };
  const pulls = data.names.map((name, j) => `${name} ${print(values.pulls[j])}`).join(", ");
  const [x, y] = onMap(values.goal);
  const goal = `<path class="goal" d="M${x - 26} ${y}h12m28 0h12M${x} ${y - 26}v12m0 28v12"/><circle class="goal" cx="${x}" cy="${y}" r="20"/>`;
  const chart = map(data, { answers: [{ at: values.answer, weights: values.weights }], over: curve(answers, "path") + goal, title: "the map: answers and target" });
  return [
    dial(data, { needles: [needle], labels, labelsAt: 1.68, box: "-40 -22 380 330", extra: bars.join("") + curve(tips, "path"), title: "the dial: slope at each score", says: `Dial, slope of the loss at each score: ${pulls}.` }),
    { ...chart, grips: [["goal", x, y]] },
  ];
}

export const table = ({ state, values, data }) => ({
  head: ["radio", "weight", "slope at its score"],
  body: [
    ...data.names.map((name, j) => [name, print(values.weights[j], 4), print(values.pulls[j], 4)]),
    ["steps so far", state.trail.length, ""],
    ["loss", print(values.loss, 4), ""],
    ["needle", `${print(((state.angle + 180) % 360) - 180, 1)}°`, `β = ${print(state.sharpness, 3)}`],
    ["answer", point(values.answer, 3), ""],
  ],
});

export function say({ state, values, data }, before) {
  const named = (sign) => data.names.filter((_, j) => sign * values.pulls[j] > 0.005).join(" and ");
  const pulls = named(-1) ? `${named(-1)} pull the needle, ${named(1)} push it.` : "Nobody pulls any more.";
  const count = state.trail.length ? `After ${state.trail.length} steps the` : "The";
  return `${count} loss is ${print(values.loss)}. ${pulls} ${moved(before?.values.answer, values.answer)}`;
}

export const drag = {
  dial: (place) => ({ angle: angleAt(place), trail: [] }),
  map: (place) => {
    const [east, north] = fromMap(place).map((km) => Math.round(10 * km) / 10);
    return { target: "free", east: Math.min(11, Math.max(-1, east)), north: Math.min(9, Math.max(-1, north)), trail: [] };
  },
};
