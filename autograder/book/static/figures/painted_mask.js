// Chapter 5: paint a mask and see who reads whom, found by changing one input at a time.

import { text } from "./base.js";
import { average, dot, softmax } from "./formulas.js";

const SIZE = 6;
const cells = (open) =>
  Array.from({ length: SIZE ** 2 }, (_, k) => Number(open(Math.floor(k / SIZE), k % SIZE))).join("");
const PAINTED = {
  "one too far": cells((i, j) => j <= i + 1),
  "True = hidden": cells((i, j) => j > i),
  "padded in front": cells((i, j) => j <= i && j >= 2),
  causal: cells((i, j) => j <= i),
};

export const controls = () => [
  { name: "mask", label: "painted: row may see column", kind: "grid", value: PAINTED.causal, cell: (i, j) => `${i} may see ${j}` },
  { name: "layers", label: "Layers", min: 1, max: 4, step: 1, value: 2, whole: true },
  ...Object.entries(PAINTED).map(([label, mask], k) => ({ name: `paint${k}`, label, kind: "button", press: () => ({ mask }) })),
];

/** Each layer is attention added to its input; a position that may see nothing adds nothing. */
function stack(tokens, mask, layers) {
  if (!layers) return tokens;
  const seen = tokens.map((query, i) => {
    const open = tokens.map((_, j) => mask[i * SIZE + j] === "1");
    if (!open.includes(true)) return query;
    const scores = tokens.map((key, j) => (open[j] ? dot(query, key) / Math.sqrt(key.length) : -Infinity));
    const heard = average(softmax(scores), tokens);
    return query.map((x, e) => x + heard[e]);
  });
  return stack(seen, mask, layers - 1);
}

export function compute({ mask, layers }, { tokens, others }) {
  const output = stack(tokens, mask, layers);
  const changed = tokens.map((_, j) => stack(tokens.map((t, i) => (i === j ? others[i] : t)), mask, layers));
  const reads = output.map((row, i) => changed.map((outputs) => outputs[i].some((x, e) => x !== row[e])));
  const leaks = reads.flatMap((row, i) => row.flatMap((does, j) => (does && j > i ? [[i + 1, j + 1]] : [])));
  return { output, reads, leaks };
}

export function panels({ values: { reads, leaks } }) {
  const at = (k) => 44 + 40 * k;
  const numbers = reads.map((_, k) => text(at(k) + 18, 30, k + 1, "tick") + text(28, at(k) + 22, k + 1, "tick"));
  const drawn = reads.map((row, i) =>
    row.map((does, j) => {
      const [x, y] = [at(j), at(i)];
      const box = `<rect class="cell${does ? " full" : ""}${does && j > i ? " leak" : ""}" x="${x}" y="${y}" width="36" height="36"/>`;
      return does && j > i ? `${box}<path class="cross" d="M${x + 9} ${y + 9}l18 18m0-18l-18 18"/>` : box;
    }),
  );
  const says = `Who reads whom: ${leaks.length ? `${leaks.length} leaks` : "no leak"}.`;
  const body = [...numbers, ...drawn.flat()].join("");
  return [{ name: "reads", title: "read: row reads column; a cross is a leak", width: 290, height: 284, says, body }];
}

const positions = (row) => row.flatMap((is, j) => (is ? [j + 1] : [])).join(", ") || "nothing";

export const table = ({ state, values: { reads } }) => ({
  head: ["position", "may see", "reads", "leaks"],
  body: reads.map((row, i) => [
    i + 1,
    positions(row.map((_, j) => state.mask[i * SIZE + j] === "1")),
    positions(row),
    positions(row.map((does, j) => does && j > i)),
  ]),
});

export function say({ values: { leaks } }) {
  if (!leaks.length) return "No leak: no position reads a later one.";
  const shown = leaks.slice(0, 4).map(([i, j]) => `position ${i} reads position ${j}`);
  const more = leaks.length > shown.length ? `, and ${leaks.length - shown.length} more` : "";
  return `${leaks.length === 1 ? "A leak" : `${leaks.length} leaks`}: ${shown.join(", ")}${more}.`;
}
