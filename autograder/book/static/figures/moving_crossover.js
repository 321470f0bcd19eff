// Chapter 8: where scores and weighted sums cost as much as all other products of a layer.

import { curve, print, text } from "./base.js";
import { range, sum } from "./formulas.js";

export const controls = () => [
  { name: "n", label: "Tokens n", min: 16, max: 1048576, step: 1, value: 1024, log: true, whole: true, digits: 0 },
  { name: "d", label: "Width d", min: 64, max: 16384, step: 1, value: 1024, log: true, powers: true, digits: 0 },
  {
    name: "matrices",
    label: "Feed-forward part",
    kind: "choice",
    options: [["0", "none"], ["2", "two matrices"], ["3", "three, with a gate"]],
    value: "2",
  },
  { name: "wider", label: "its width, times d", min: 0.5, max: 8, step: 0.5, value: 4 },
  { name: "heads", label: "Heads", min: 1, max: 64, step: 1, value: 8, log: true, powers: true, digits: 0 },
  { name: "output", label: "Output projection", kind: "switch", value: true },
  { name: "causal", label: "Count visible pairs only", kind: "switch", value: false },
];

/** Operations of one layer, forward; a multiplication and an addition are two. */
export function compute({ n, d, matrices, wider, heads, output, causal }) {
  const perToken = 2 * d * d * (3 + output);
  const ffn = Number(matrices) * 2 * d * Math.round(wider * d);
  const pairs = causal ? (n * (n + 1)) / 2 : n * n;
  const perHead = 4 * pairs * (d / heads);
  const operations = [heads * perHead, n * perToken, n * ffn];
  const partners = (perToken + ffn) / (4 * d);
  return {
    operations,
    perHead,
    shares: operations.map((part) => part / sum(operations)),
    crossover: causal ? 2 * partners - 1 : partners,
  };
}

const PARTS = ["scores and sums", "projections", "feed-forward"];
const [LEFT, TOP, WIDTH, HEIGHT] = [44, 14, 340, 190];
const [LEAST, MOST] = [-4, 8]; // n/d from 1/16 to 256
const across = (ratio) => LEFT + (WIDTH * Math.min(MOST - LEAST, Math.max(0, Math.log2(ratio) - LEAST))) / (MOST - LEAST);
const up = (share) => TOP + HEIGHT * (1 - share);

export function panels({ state, values }) {
  const at = range(72, LEAST, MOST).map((power) => 2 ** power);
  const shares = at.map((ratio) => compute({ ...state, n: Math.max(1, ratio * state.d) }).shares);
  const edge = (parts) => shares.map((row, i) => [across(at[i]), up(sum(row.slice(0, parts)))]);
  const areas = PARTS.map((_, k) => curve([...edge(k), ...edge(k + 1).reverse()], `area part${k}`));
  const [x, cross] = [across(state.n / state.d), across(values.crossover / state.d)];
  const ticks = [1 / 16, 1 / 4, 1, 4, 16, 64, 256].map((ratio) => text(across(ratio), TOP + HEIGHT + 16, ratio < 1 ? `1/${1 / ratio}` : ratio, "tick"));
  const percent = values.shares.map((part) => `${print(100 * part, 0)} %`);
  const key = PARTS.map((words, k) => {
    const left = [LEFT, LEFT + 140, LEFT + 244][k];
    return `<rect class="area part${k}" x="${left}" y="250" width="12" height="12"/>` + text(left + 17, 260, words, "start") + text(left + 17, 277, percent[k], "number start");
  });
  const body = [
    ...areas,
    `<path class="axis" d="M${LEFT} ${TOP}V${TOP + HEIGHT}H${LEFT + WIDTH}M${LEFT} ${up(0.5)}H${LEFT + WIDTH}"/>`,
    ...[0, 0.5, 1].map((share) => text(LEFT - 16, up(share) + 4, `${100 * share} %`, "tick")),
    ...ticks,
    text(LEFT + WIDTH / 2, TOP + HEIGHT + 32, "n / d"),
    `<path class="needle" d="M${x} ${TOP}V${TOP + HEIGHT}"/>`,
    text(x, TOP - 3, "n"),
    `<circle class="crossing" cx="${cross}" cy="${up(0.5)}" r="6"/>`,
    text(cross, up(0.5) - 12, `${print(values.crossover / state.d, values.crossover % state.d ? 2 : 0)} d`, "name halo"),
    ...key,
  ].join("");
  const says = `Shares of the operations against n over d: ${PARTS.map((part, k) => `${part} ${percent[k]}`).join(", ")}.`;
  return [{ name: "shares", title: "shares of the operations of one layer", width: 400, height: 284, says, body }];
}

export const table = ({ state, values }) => ({
  head: ["part", "operations", "share"],
  body: [
    ...PARTS.map((part, k) => [part, values.operations[k].toLocaleString("en"), `${print(100 * values.shares[k])} %`]),
    ["scores and sums of one head", values.perHead.toLocaleString("en"), `${print((100 * values.shares[0]) / state.heads)} %`],
    ["crossover at n =", values.crossover.toLocaleString("en"), ""],
  ],
});

export function say({ state, values }) {
  const side = Math.sign(state.n - values.crossover);
  const stands = ["below it", "exactly there", "above it"][side + 1];
  return (
    `The crossover is at n = ${values.crossover.toLocaleString("en")}, which is ${print(values.crossover / state.d)} d. ` +
    `With ${state.n.toLocaleString("en")} tokens we are ${stands}: scores and sums take ${print(100 * values.shares[0], 1)} %, ` +
    (state.heads > 1 ? `cut into ${state.heads} heads of width ${state.d / state.heads} as in one.` : "all in one head.")
  );
}

export const drag = {
  shares([x], { d }) {
    const n = Math.round(d * 2 ** (LEAST + ((MOST - LEAST) * (x - LEFT)) / WIDTH));
    return { n: Math.min(1048576, Math.max(16, n)) };
  },
};
