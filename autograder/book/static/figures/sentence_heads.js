// The first page: eight heads of a published sentence encoder on a sentence, also the reader's own.

import { print, share, text } from "./base.js";

const HEADS = 4;
const WIDTH = 340;
const HEIGHT = 360;
const SHOWN_AT_MOST = 24;
const WORD = "\u2581";

export const controls = ({ sentences, head, word }) => [
  { name: "sentence", label: "Sentence", kind: "choice", value: "0", options: sentences.map(({ text }, k) => [String(k), text]) },
  { name: "head", label: "Head", kind: "choice", value: String(head), options: sentences[0].weights.map((_, k) => [String(k), headName(k)]) },
  { name: "word", label: "Token", min: 1, max: SHOWN_AT_MOST, step: 1, digits: 0, whole: true, value: word },
];

const headName = (k) => `layer ${1 + Math.floor(k / HEADS)}, head ${1 + (k % HEADS)}`;
const bare = (token) => token.replace(WORD, "");

/** The weights of one token in one head: what was computed by the model, looked up. */
export function compute({ sentence, head, word }, { sentences }) {
  const { tokens, weights } = sentences[Number(sentence)];
  const query = Math.min(word, tokens.length) - 1;
  const row = weights[Number(head)][query];
  const order = row.map((_, j) => j).sort((a, b) => row[b] - row[a]);
  return { query, row, largest: order.slice(0, 3), share: row[order[0]] };
}

const placed = (n) => {
  const step = Math.min(27, (HEIGHT - 24) / n);
  return (i) => 18 + step * (i + 0.5);
};

export function panels({ state, values, data }) {
  const { tokens, weights } = data.sentences[Number(state.sentence)];
  return [lines(tokens, weights[Number(state.head)], values, state), small(tokens, weights, Number(state.head), values)];
}

function lines(tokens, weights, { query, largest, row }, { head }) {
  const y = placed(tokens.length);
  const [left, right] = [110, 230];
  const line = (i, j, kind) =>
    `<path class="${kind}" d="M${left} ${y(i).toFixed(1)}C170 ${y(i).toFixed(1)} 170 ${y(j).toFixed(1)} ${right} ${y(j).toFixed(1)}" ` +
    `stroke-width="${(9 * weights[i][j]).toFixed(2)}"/>`;
  const every = (i, kind) => weights[i].map((weight, j) => (weight >= 0.02 ? line(i, j, kind) : "")).join("");
  const others = tokens.map((_, i) => (i === query ? "" : every(i, "edge faint"))).join("");
  const asks = tokens.map((token, i) => text(left - 8, y(i) + 4, bare(token), i === query ? "name end" : "end"));
  const asked = tokens.map((token, j) => text(right + 8, y(j) + 4, bare(token), row[j] >= 0.1 ? "name start" : "start"));
  const numbers = largest.map((j) => text(WIDTH - 4, y(j) + 4, share(row[j]), "number end"));
  const said = largest.map((j) => `${bare(tokens[j])} ${share(row[j])}`).join(", ");
  return {
    name: "lines",
    title: `${headName(Number(head))}: who looks at whom`,
    width: WIDTH,
    height: HEIGHT,
    says: `The token ${bare(tokens[query])} looks at ${said}.`,
    body: others + every(query, "edge") + asks.join("") + asked.join("") + numbers.join(""),
  };
}

const tile = (k) => [4 + (k % HEADS) * 84, 26 + Math.floor(k / HEADS) * 132];
const SIDE = 76;

function small(tokens, weights, head, { query }) {
  const n = tokens.length;
  const cell = SIDE / n;
  const drawn = weights.map((table, k) => {
    const [x, y] = tile(k);
    const squares = table.flatMap((row, i) =>
      row.map((weight, j) => {
        if (weight < 0.05) return "";
        return `<rect x="${(x + j * cell).toFixed(1)}" y="${(y + i * cell).toFixed(1)}" width="${cell.toFixed(1)}" height="${cell.toFixed(1)}" fill-opacity="${weight.toFixed(2)}"/>`;
      }),
    );
    const line = `<path class="edge faint" stroke-width="1" d="M${x} ${(y + (query + 0.5) * cell).toFixed(1)}h${SIDE}"/>`;
    const frame = `<rect class="cell${k === head ? " framed" : ""}" x="${x}" y="${y}" width="${SIDE}" height="${SIDE}"/>`;
    return `${frame}<g class="weights">${squares.join("")}</g>${line}${text(x + SIDE / 2, y + SIDE + 16, `head ${1 + (k % HEADS)}`, "small")}`;
  });
  const layers = [0, 1].map((l) => text(4, tile(HEADS * l)[1] - 8, `layer ${l + 1}`, "small start"));
  return {
    name: "heads",
    title: "all eight heads: each row is a token that looks",
    width: WIDTH,
    height: 270,
    says: `Eight tables of weights for ${n} tokens, four heads in each of two layers; ${headName(head)} is chosen.`,
    body: drawn.join("") + layers.join(""),
  };
}

export const table = ({ state, values, data }) => {
  const { tokens, weights } = data.sentences[Number(state.sentence)];
  const table = weights[Number(state.head)];
  return {
    head: ["token", "looks most at", "weight", "at itself"],
    body: tokens.map((token, i) => {
      const j = table[i].indexOf(Math.max(...table[i]));
      return [bare(token), bare(tokens[j]), print(table[i][j]), print(table[i][i])];
    }),
  };
};

export function say({ state, values, data }) {
  const { tokens } = data.sentences[Number(state.sentence)];
  const [first, ...more] = values.largest.map((j) => `“${bare(tokens[j])}” (${share(values.row[j])})`);
  const also = more.length ? `, then at ${more.join(" and ")}` : "";
  return `In ${headName(Number(state.head))}, “${bare(tokens[values.query])}” looks most at ${first}${also}.`;
}

export const drag = {
  lines: ([, y], state, { sentences }) => {
    const n = sentences[Number(state.sentence)].tokens.length;
    const step = placed(n)(1) - placed(n)(0);
    return { word: Math.min(n, Math.max(1, Math.floor((y - 18) / step) + 1)) };
  },
  heads: ([x, y], { head }, { sentences }) => {
    const at = sentences[0].weights.findIndex((_, k) => {
      const [left, top] = tile(k);
      return x >= left && x < left + 84 && y >= top - 4 && y < top + 100;
    });
    return { head: at < 0 ? head : String(at) };
  },
};

// A sentence of one's own

export const below = ({ megabytes }) => `<div class="own-sentence">
<button type="button" class="load">Type your own sentence: fetch the model, ${megabytes} MB</button>
<label hidden>Your own sentence <input type="text" maxlength="400" autocomplete="off" spellcheck="false"></label>
<span role="status"></span></div>`;

export function wake(root, { data, change }) {
  const own = root.querySelector(".own-sentence");
  const [button, label, status] = [".load", "label", "[role=status]"].map((part) => own.querySelector(part));
  const input = label.querySelector("input");
  const choice = root.querySelector("select[data-name=sentence]");
  let encoder, model, pause;
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      encoder ??= await import("../sentence-encoder.js");
      const address = new URL("../models/sentence_encoder/", import.meta.url);
      model = await encoder.load(address, (bytes) => (status.textContent = `${print(bytes / 1e6, 1)} of ${data.megabytes} MB`));
    } catch {
      button.disabled = false;
      status.textContent = "The model could not be fetched. Try again when you are on line.";
      return;
    }
    [button.hidden, label.hidden, status.textContent] = [true, false, "The model is in your browser. From now on nothing is sent or fetched."];
    input.value = data.sentences[Number(choice.value)].text;
    input.focus();
    input.select();
  });
  input.addEventListener("input", (event) => {
    event.stopPropagation(); // this input is no control
    clearTimeout(pause);
    pause = setTimeout(() => show(input.value.trim()), 150);
  });
  function show(sentence) {
    const tokens = encoder.tokens(model, sentence);
    status.textContent = !sentence
      ? "Type a sentence, in English if the heads are to make sense of it."
      : tokens.length > SHOWN_AT_MOST
        ? `That is ${tokens.length} tokens; there is room for ${SHOWN_AT_MOST}.`
        : "";
    if (status.textContent) return;
    const { weights } = encoder.run(model, sentence);
    const number = choice.options.length;
    if (!data.own) {
      data.own = String(number);
      choice.add(new Option("your own", data.own));
    }
    data.sentences[Number(data.own)] = { text: sentence, tokens: tokens.map(([piece]) => piece), weights };
    change({ sentence: data.own });
  }
}
