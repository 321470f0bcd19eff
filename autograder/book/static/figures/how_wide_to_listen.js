// Chapter 10: kernel regression through noisy points, as wide as you like; points may be added.

import { curve, print, text } from "./base.js";
import { dot, range, softmax, sum } from "./formulas.js";

export const controls = () => [
  { name: "bandwidth", label: "Bandwidth", min: 0.003, max: 1, step: 0.001, value: 0.03, log: true, digits: 3 },
  { name: "x", label: "Listen at x", min: 0, max: 1, step: 0.01, value: 0.25 },
  { name: "y", label: "A new point's y", min: -2, max: 2, step: 0.1, value: 0 },
  {
    name: "add",
    label: "Add the point (x, y)",
    kind: "button",
    press: ({ x, y, added }) => ({ added: [...added, [x, y]] }),
  },
];

export const more = () => ({ added: [] });

const weightsAt = (x, points, bandwidth, not = -1) =>
  softmax(points.map(([at], j) => (j === not ? -Infinity : -((x - at) ** 2) / (2 * bandwidth ** 2))));

export function compute({ bandwidth, x, added }, { points }) {
  const all = [...points, ...added];
  const heights = all.map(([, y]) => y);
  const estimate = (at, not) => dot(weightsAt(at, all, bandwidth, not), heights);
  const weights = weightsAt(x, all, bandwidth);
  const grid = range(100);
  const line = grid.map((at) => estimate(at));
  const error = (row) => Math.sqrt(sum(row.map((e) => e * e)) / row.length);
  return {
    weights,
    estimate: estimate(x),
    line,
    heard: 1 / sum(weights.map((w) => w * w)),
    fromTruth: error(line.map((y, i) => y - Math.sin(2 * Math.PI * grid[i]))),
    leftOut: error(all.map(([at, y], j) => estimate(at, j) - y)),
  };
}

const place = ([x, y]) => [30 + 350 * x, 134 - 56 * y];

export function panels({ state, values, data }) {
  const all = [...data.points, ...state.added];
  const dots = all.map((at, j) => {
    const [x, y] = place(at);
    const radius = 2.4 + 13 * Math.sqrt(values.weights[j]);
    return `<circle class="${j < data.points.length ? "stranger" : "friend"} seen" cx="${x}" cy="${y}" r="${radius.toFixed(2)}"/>`;
  });
  const sine = range(100).map((x) => place([x, Math.sin(2 * Math.PI * x)]));
  const [x, top] = place([state.x, 2.1]);
  const [, y] = place([0, values.estimate]);
  const [newX, newY] = place([state.x, state.y]);
  const body = [
    `<path class="axis" d="M30 16V252H380"/>`,
    ...[0, 0.5, 1].map((at) => text(place([at, 0])[0], 268, at, "tick")),
    ...[-2, -1, 0, 1, 2].map((at) => text(16, place([0, at])[1] + 4, print(at, 0), "tick")),
    curve(sine, "path dashed"),
    ...dots,
    curve(range(100).map((at, i) => place([at, values.line[i]])), "estimate"),
    `<path class="needle" d="M${x} ${top}V252"/>`,
    `<path class="cross" d="M${newX - 5} ${newY}h10m-5 -5v10"/>`,
    `<circle class="crossing" cx="${x}" cy="${y}" r="6"/>`,
  ].join("");
  const says = `Points, the sine they come from, and the estimate: at ${print(state.x)} it is ${print(values.estimate)}.`;
  return [{ name: "curve", title: "points, their sine (dashed), and the estimate", width: 400, height: 284, says, body }];
}

export const table = ({ state, values, data }) => ({
  head: ["nearest points: x", "y", "weight"],
  body: [
    ...[...data.points, ...state.added]
      .map(([x, y], j) => [values.weights[j], x, y])
      .sort(([a], [b]) => b - a)
      .slice(0, 5)
      .map(([weight, x, y]) => [print(x), print(y), print(weight, 4)]),
    [`estimate at ${print(state.x)}`, print(values.estimate, 3), ""],
    ["off from the sine", print(values.fromTruth, 3), ""],
    ["off on left-out points", print(values.leftOut, 3), ""],
  ],
});

export function say({ state, values }) {
  return (
    `At x = ${print(state.x)} the estimate is ${print(values.estimate)}; it listens as if to ${print(values.heard, 1)} equally loud points. ` +
    `Off from the sine by ${print(values.fromTruth, 3)}, on left-out points by ${print(values.leftOut, 3)}.`
  );
}

const within = (value, low, high) => Math.min(high, Math.max(low, value));

export const drag = {
  curve: ([x, y]) => ({ x: within((x - 30) / 350, 0, 1), y: within((134 - y) / 56, -2, 2) }),
};
