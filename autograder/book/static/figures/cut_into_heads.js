// Chapter 6: two stories of five tokens with six features, cut into heads in three ways. The shapes
// are always the same; where a token's cells end up is not.

import { text } from "./base.js";

const [STORIES, TOKENS, FEATURES] = [2, 5, 6];
const count = (n) => Array.from({ length: n }, (_, i) => i);

/** Which token and feature stand at place (head, row, column) of a story, with d features a head. */
const CUTS = {
  reshaped: (h, i, e, d) => [i, h * d + e],
  alone: (h, i, e, d) => [Math.floor(at(h, i, e, d) / FEATURES), at(h, i, e, d) % FEATURES],
  exchanged: (h, i, e, d) => [at(h, i, e, d) % TOKENS, Math.floor(at(h, i, e, d) / TOKENS)],
};
const at = (h, i, e, d) => (h * TOKENS + i) * d + e;

const WAYS = [
  ["reshaped", "reshape, then exchange"],
  ["exchanged", "exchange, then reshape"],
  ["alone", "reshape alone"],
];

export const controls = () => [
  { name: "way", label: "Cut by", kind: "choice", options: WAYS, value: "alone" },
  { name: "heads", label: "Heads", kind: "choice", options: ["1", "2", "3", "6"].map((h) => [h, h]), value: "3" },
  { name: "story", label: "Story", min: 0, max: STORIES - 1, step: 1, value: 0, whole: true },
  { name: "token", label: "Token", min: 0, max: TOKENS - 1, step: 1, value: 2, whole: true },
];

/** A cell is the number 100 story + 10 token + feature. */
export function compute({ way, heads, story, token }) {
  const H = Number(heads);
  const d = FEATURES / H;
  const cut = count(STORIES).map((b) =>
    count(H).map((h) =>
      count(TOKENS).map((i) =>
        count(d).map((e) => {
          const [of, feature] = CUTS[way](h, i, e, d);
          return 100 * b + 10 * of + feature;
        }),
      ),
    ),
  );
  const holds = cut[story].map((head) => head.map((row) => row.some((cell) => belongs(cell, story, token))));
  const mixed = cut[story].flat().filter((row) => row.some((cell) => tokenOf(cell) !== tokenOf(row[0]))).length;
  return { cut, holds, mixed };
}

const tokenOf = (cell) => Math.floor(cell / 10) % 10;
const belongs = (cell, story, token) => Math.floor(cell / 10) === 10 * story + token;
const rowsOf = (held) => held.flatMap((is, i) => (is ? [i] : []));
const listed = (what, all) =>
  all.length > 1 ? `${what}s ${all.slice(0, -1).join(", ")} and ${all.at(-1)}` : `${what} ${all[0]}`;

const [WIDE, SIDE, TALL, GAP] = [264, 30, 22, 8];
const leftOf = (heads) => (WIDE - FEATURES * SIDE - (heads - 1) * GAP) / 2;
const topOf = (story) => 22 + story * (TOKENS * TALL + 26);

/** For each story its tables side by side; the cells of the chosen token are framed. */
function tables(name, title, stories, { story, token }, says) {
  const heads = stories[0].length;
  const body = stories.flatMap((tables, b) =>
    tables.flatMap((rows, h) => {
      const x0 = leftOf(heads) + h * (rows[0].length * SIDE + GAP);
      const y0 = topOf(b);
      const words = name === "block" ? `story ${b}` : heads > 3 ? h : `head ${h}`;
      const cells = rows.flatMap((row, i) =>
        row.map((cell, e) => {
          const [x, y] = [x0 + e * SIDE, y0 + i * TALL];
          const chosen = belongs(cell, story, token);
          const box = `<rect class="cell${chosen ? " chosen" : ""}" x="${x + 1}" y="${y + 1}" width="${SIDE - 2}" height="${TALL - 2}"/>`;
          return [chosen, box + text(x + SIDE / 2, y + 15, String(cell).padStart(3, "0"), chosen ? "number name" : "number")];
        }),
      );
      const drawn = cells.sort(([a], [b]) => a - b).map(([, cell]) => cell); // frames lie on top
      const numbers = h ? [] : rows.map((_, i) => text(x0 - 9, y0 + i * TALL + 15, i, "tick"));
      return [text(x0 + (rows[0].length * SIDE) / 2, y0 - 6, words, "tick"), ...numbers, ...drawn];
    }),
  );
  return { name, title, width: WIDE, height: 284, says, body: body.join("") };
}

const BLOCK = count(STORIES).map((b) => [count(TOKENS).map((i) => count(FEATURES).map((f) => 100 * b + 10 * i + f))]);

export function panels({ state, values }) {
  const held = values.holds.map((rows, h) => `head ${h}: ${rows.includes(true) ? listed("row", rowsOf(rows)) : "nowhere"}`);
  return [
    tables("block", "before: a row for each token", BLOCK, state, `Two tables of five tokens by six features; framed is token ${state.token} of story ${state.story}.`),
    tables("heads", "after: a table for each head", values.cut, state, `The framed token after the cut. ${held.join("; ")}.`),
  ];
}

export const table = ({ state, values }) => ({
  head: ["row", ...values.cut[0].map((_, h) => `head ${h}`)],
  body: count(TOKENS).map((i) => [
    i,
    ...values.cut[state.story].map((head) => head[i].map((cell) => String(cell).padStart(3, "0")).join(" ")),
  ]),
});

export function say({ state, values: { holds, mixed } }) {
  const places = holds.map(rowsOf);
  const own = places.every((rows) => rows.length === 1 && rows[0] === state.token);
  const without = places.flatMap((rows, h) => (rows.length ? [] : [h]));
  const where = places.flatMap((rows, h) => (rows.length ? [`${listed("row", rows)} of head ${h}`] : []));
  const lies = own ? `in row ${state.token} of every head, where it belongs` : `in ${where.join(", ")}`;
  const nothing = without.length ? ` Nothing of it is in ${listed("head", without)}.` : "";
  const rows = mixed ? ` ${mixed} of ${holds.flat().length} rows mix tokens.` : "";
  return `Token ${state.token} of story ${state.story} lies ${lies}.${nothing}${rows}`;
}

const within = (number, most) => Math.min(most, Math.max(0, Math.floor(number)));

/** A cell that is pressed names its story and its token. */
const pressed = (stories) => ([x, y], state) => {
  const story = Number(y > topOf(1) - 13);
  const heads = stories(state)[story];
  const row = heads.flatMap((rows) => rows[within((y - topOf(story)) / TALL, TOKENS - 1)]);
  const left = leftOf(heads.length);
  return { story, token: tokenOf(row[within((FEATURES * (x - left)) / (WIDE - 2 * left), FEATURES - 1)]) };
};

export const drag = { block: pressed(() => BLOCK), heads: pressed((state) => compute(state).cut) };
