// Chapter 4: 64 keys of d coordinates, one of them correlated with the query; scores with and without
// the division by the root of d. The draws come with the page, one for each d.

import { print, share, text } from "./base.js";
import { entropyInBits, softmax, sum } from "./formulas.js";

export const controls = () => [
  { name: "d", label: "Coordinates d", min: 2, max: 4096, step: 1, value: 64, log: true, powers: true },
  { name: "friend", label: "Correlation ρ of one key", min: 0, max: 1, step: 0.01, value: 0 },
];

/** The correlated key is rho q + sqrt(1 - rho^2) k, with k a random key. */
export function compute({ d, friend }, { draws }) {
  const { self, strangers } = draws[d];
  const scores = [friend * self + Math.sqrt(1 - friend ** 2) * strangers[0], ...strangers.slice(1)];
  return { scaled: heard(scores), unscaled: heard(scores.map((score) => score * Math.sqrt(d))) };
}

function heard(scores) {
  const weights = softmax(scores);
  const moment = (power) => sum(weights.map((p) => p ** power));
  return {
    scores,
    weights,
    spread: deviation(scores.slice(1)),
    bits: entropyInBits(weights),
    // |diag(p) - p p'|, the root of the sum of its squared entries
    jacobian: Math.sqrt(Math.max(0, moment(2) - 2 * moment(3) + moment(2) ** 2)),
  };
}

function deviation(row) {
  const mean = sum(row) / row.length;
  return Math.sqrt(sum(row.map((x) => (x - mean) ** 2)) / row.length);
}

export const panels = ({ values }) => [
  strip("unscaled", "not scaled", values.unscaled),
  strip("scaled", "divided by √d", values.scaled),
];

const across = (score) => 160 + (145 * Math.asinh(score)) / Math.asinh(300);

/** Above, the scores on an axis that is linear near 0 and logarithmic far away; below, the weights. */
function strip(name, title, { scores, weights }) {
  const dots = scores.map((score, j) => {
    const [x, y] = [across(score).toFixed(1), 18 + 5 * ((5 * j) % 13)];
    return j
      ? `<circle class="stranger" cx="${x}" cy="${y}" r="3"/>`
      : `<rect class="friend" x="${x - 5}" y="${y - 5}" width="10" height="10"/>`;
  });
  const ticks = [-100, -10, -1, 0, 1, 10, 100].map(
    (score) => `<path class="axis" d="M${across(score)} 88v5"/>` + text(across(score), 106, print(score, 0), "tick"),
  );
  const order = weights.map((weight, j) => [weight, j]).sort(([a], [b]) => b - a);
  const bars = order.map(([weight, j], place) => {
    const height = 130 * weight;
    const kind = j ? "stranger" : "friend";
    return `<rect class="${kind}" x="${14 + 4.55 * place}" y="${262 - height}" width="3.6" height="${Math.max(height, 0.4)}"/>`;
  });
  const largest = order[0][0];
  return {
    name,
    title,
    width: 320,
    height: 284,
    says: `Scores of 64 keys, ${title}: the largest weight is ${share(largest)}, the correlated key's ${share(weights[0])}.`,
    body: [
      `<path class="axis" d="M10 88H310M10 262H310"/>`,
      ...ticks, ...dots, ...bars,
      text(310, 128, `largest weight ${share(largest)}`, "number end"),
      text(310, 146, `correlated key ${share(weights[0])}`, "number end"),
      text(160, 278, "64 weights, sorted", "tick"),
    ].join(""),
  };
}

export const table = ({ values: { unscaled, scaled } }) => ({
  head: ["64 keys", "not scaled", "divided by √d"],
  body: [
    ["deviation of the other scores", print(unscaled.spread, 3), print(scaled.spread, 3)],
    ["score of the correlated key", print(unscaled.scores[0], 3), print(scaled.scores[0], 3)],
    ["weight of the correlated key", print(unscaled.weights[0], 4), print(scaled.weights[0], 4)],
    ["largest weight", print(Math.max(...unscaled.weights), 4), print(Math.max(...scaled.weights), 4)],
    ["entropy, in bits", print(unscaled.bits, 3), print(scaled.bits, 3)],
    ["norm of the Jacobian", unscaled.jacobian.toExponential(1), scaled.jacobian.toExponential(1)],
  ],
});

export function say({ values: { unscaled, scaled } }) {
  const row = ({ spread, weights }) => `deviation ${print(spread)}, largest weight ${share(Math.max(...weights))}`;
  const lead = scaled.weights[0] > 0.5 ? " Divided or not, the correlated key has most of the weight." : "";
  return `Not scaled: ${row(unscaled)}. Divided by √d: ${row(scaled)}; the correlated key has ${share(scaled.weights[0])}.${lead}`;
}
