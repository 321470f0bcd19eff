// Chapter 2: every needle is turned from its owner's key by one angle, which W_Q does.

import { print, share, text } from "./base.js";
import { onTheDial, softmax, sum } from "./formulas.js";
import { arrow, dial, onDial } from "./island.js";

export const controls = ({ sharpness }) => [
  { name: "turn", label: "Needles turned by", min: 0, max: 359, step: 1, value: 60, unit: "°", turns: true },
  { name: "sharpness", label: "Sharpness β", min: 0, max: 12, step: 0.01, value: sharpness },
  { name: "tied", label: "Equal projections", kind: "switch", value: false },
];

/** Keys are names; a query is the own name turned. Equal projections turn the key as well. */
export function compute({ turn, sharpness, tied }, { angles }) {
  const directed = tied ? 0 : turn;
  const scores = angles.map((asks) => angles.map((is) => sharpness * onTheDial(asks + directed - is)[0]));
  const weights = scores.map(softmax);
  const half = (sign) => norm(scores.map((row, i) => row.map((x, j) => (x + sign * scores[j][i]) / 2)));
  return { scores, weights, mutual: half(1), directed: half(-1) };
}

const norm = (table) => Math.sqrt(sum(table.map((row) => sum(row.map((x) => x * x)))));
const most = (row) => row.indexOf(Math.max(...row));

export function panels({ state, values, data }) {
  const looks = values.weights.map(most);
  const names = data.names.map((name, i) => [name, share(values.weights[i][looks[i]])]);
  const drawn = looks.map((j, i) => (j === i ? itself(data.keys[i]) : look(data.keys[i], data.keys[j])));
  const turn = state.tied ? 0 : state.turn;
  const said = looks.map((j, i) => `the largest weight of ${data.names[i]} is on ${data.names[j]}`);
  const who = { title: "where the largest weight goes", labels: names, extra: drawn.join(""), says: `Dial. ${said.join(", ")}.` };
  const needles = [{ angle: turn + data.angles[0], label: "" }];
  return [dial(data, { ...who, needles }), weights(values, data)];
}

const itself = (key) => `<circle class="link" cx="${onDial(key)[0]}" cy="${onDial(key)[1]}" r="19"/>`;

function look(from, to) {
  const [start, end] = [onDial(from, 0.84), onDial(to, 0.8)];
  return arrow(start, end, "look");
}

function weights({ weights, mutual, directed }, { names }) {
  const cell = (i, j) => [78 + 56 * j, 44 + 44 * i];
  const drawn = weights.map((row, i) =>
    row.map((weight, j) => {
      const [x, y] = cell(i, j);
      const side = 40 * Math.sqrt(weight);
      return (
        `<rect class="who${j}" x="${x - side / 2}" y="${y - side / 2}" width="${side}" height="${side}"/>` +
        text(x, y + 4, share(weight), "number")
      );
    }),
  );
  const rows = names.map((name, i) => text(38, cell(i, 0)[1] + 4, name, "name end"));
  const columns = names.map((name, j) => text(cell(0, j)[0], 16, name, "name"));
  const bar = (y, words, size) =>
    text(112, y + 11, words, "end") +
    `<rect class="bar" x="120" y="${y}" width="${(150 * size) / Math.max(mutual + directed, 1e-9)}" height="14"/>` +
    text(276, y + 11, print(size), "number start");
  return {
    name: "weights",
    title: "weights: row = query, column = key",
    width: 310,
    height: 284,
    says: `Weights, and two bars: symmetric part of the scores ${print(mutual)}, antisymmetric part ${print(directed)}.`,
    body: [...drawn.flat(), ...rows, ...columns, bar(230, "symmetric", mutual), bar(254, "antisymmetric", directed)].join(""),
  };
}

export const table = ({ values, data }) => ({
  head: ["weights", ...data.names.map((name) => `on ${name}`)],
  body: [
    ...values.weights.map((row, i) => [data.names[i], ...row.map((weight) => print(weight, 4))]),
    ["symmetric part", print(values.mutual, 3), "", "", ""],
    ["antisymmetric part", print(values.directed, 3), "", "", ""],
  ],
});

export function say({ state, values, data }) {
  const looks = values.weights.map(most);
  const words = looks.map((j, i) => `${data.names[i]} on ${data.names[j]} (${share(values.weights[i][j])})`);
  const returned = looks.every((j, i) => looks[j] === i);
  const kind = values.directed < 1e-9 ? "The scores are symmetric." : returned ? "" : "Not every arrow is returned.";
  return `${state.sharpness ? `Largest weights: ${words.join(", ")}.` : "All weights are equal."} ${kind}`;
}

export const drag = {
  dial: ([x, y]) => {
    const [cx, cy] = onDial([0, 0]);
    return { turn: (Math.round((Math.atan2(cy - y, x - cx) * 180) / Math.PI) + 360) % 360 };
  },
};
