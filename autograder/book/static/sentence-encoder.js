// The published sentence encoder in plain JavaScript: course_lib/sentence_encoder.py, the same
// formulas in the same order (a test compares them). Weights come as bytes with a scale for each
// row and column, in the files that autograder/book/page_models.py puts beside the pages.

const HEADS = 4;
const LONGEST = 128;
const RESERVED = 6;
const WORD = "\u2581"; // a word begins
const KINDS = { I8: Int8Array, F16: Uint16Array, F32: Float32Array };

/** The model in a folder; `told` hears how many bytes of it have come. */
export async function load(folder, told = () => {}) {
  const [weights, vocabulary] = await Promise.all([
    bytes(new URL("int8.safetensors", folder), told),
    fetched(new URL("vocabulary.json", folder)).then((answer) => answer.json()),
  ]);
  return model(weights, vocabulary);
}

async function fetched(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  return answer;
}

async function bytes(address, told) {
  const parts = [];
  let come = 0;
  for (const reader = (await fetched(address)).body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    told((come += value.length));
  }
  return new Blob(parts).arrayBuffer();
}

/** The model in the bytes of a safetensors file; each array begins where it can be mapped. */
export function model(buffer, vocabulary) {
  const begin = 8 + Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, begin - 8)));
  const read = (name) => {
    const { dtype, shape, data_offsets } = header[name];
    const [rows = 1, columns = 1] = shape;
    const mapped = new KINDS[dtype](buffer, begin + data_offsets[0], rows * columns);
    return { rows, columns, x: dtype === "F16" ? Float32Array.from(mapped, half) : mapped };
  };
  const matrix = (name) => {
    const { rows, columns, x } = read(name);
    if (!header[`${name}.rows`]) return { rows, columns, x };
    const [down, across] = [read(`${name}.rows`).x, read(`${name}.columns`).x];
    return { rows, columns, x: Float32Array.from(x, (value, k) => value * down[Math.floor(k / columns)] * across[k % columns]) };
  };
  const projection = (W, b) => ({ W: matrix(W), b: read(b).x });
  const norm = (name) => ({ gain: read(`${name}.gain`).x, bias: read(`${name}.bias`).x, eps: read(`${name}.eps`).x[0] });
  const layer = (name) => ({
    ...Object.fromEntries([..."QKVO"].map((m) => [m, projection(`${name}.attention.W_${m}`, `${name}.attention.b_${m}`)])),
    inner: projection(`${name}.feed_forward.W_1`, `${name}.feed_forward.b_1`),
    outer: projection(`${name}.feed_forward.W_2`, `${name}.feed_forward.b_2`),
    norms: [norm(`${name}.norm_1`), norm(`${name}.norm_2`)],
  });
  return {
    vocabulary,
    pieces: new Map(vocabulary.slice(RESERVED).map(([piece, score], k) => [piece, [k + RESERVED, score]])),
    longest: Math.max(...vocabulary.map(([piece]) => [...piece].length)),
    embedding: matrix("embedding.tokens"),
    frequencies: read("embedding.frequencies").x,
    widen: projection("widen.W", "widen.b"),
    layers: [layer("layer_0"), layer("layer_1")],
  };
}

/** A float of 16 bits; not every browser has an array of these. */
function half(bits) {
  const [sign, power, part] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  return sign * (power ? 2 ** (power - 15) * (1 + part / 1024) : 2 ** -14 * (part / 1024));
}

/** The tokens of a sentence, and its weights: one table for each of the eight heads. */
export function run(model, sentence) {
  const split = tokens(model, sentence);
  if (!split.length) throw new RangeError("nothing");
  if (split.length > LONGEST) throw new RangeError(`${split.length} tokens`);
  let stream = embed(model, split.map(([, number]) => number));
  const weights = [];
  model.layers.forEach((layer, l) => {
    const normed = layerNorm(stream, layer.norms[0]);
    const attended = attention(normed, layer, weights);
    stream = added(l ? stream : project(stream, model.widen), attended);
    const inner = project(layerNorm(stream, layer.norms[1]), layer.inner);
    for (let k = 0; k < inner.x.length; k++) if (inner.x[k] < 0) inner.x[k] = 0;
    stream = added(stream, project(inner, layer.outer));
  });
  return { tokens: split.map(([piece]) => piece), weights };
}

/** The most probable split into pieces, by dynamic programming over log-probabilities. */
export function tokens({ pieces, longest, vocabulary }, sentence) {
  const normal = sentence.normalize("NFKC");
  const text = normal ? [...(WORD + normal.replaceAll(" ", WORD))] : [];
  const piece = (start, end) => pieces.get(text.slice(start, end).join(""));
  const begins = (start) => {
    for (let end = start + 1; end <= Math.min(text.length, start + longest); end++) if (piece(start, end)) return true;
    return false;
  };
  const best = new Array(text.length + 1).fill(0);
  const last = new Array(text.length + 1).fill(0);
  for (let end = 1; end <= text.length; end++) {
    for (let start = Math.max(0, end - longest); start < end; start++) {
      const [number, score] = piece(start, end) ?? [0, 0];
      if (!number && (end > start + 1 || begins(start))) continue;
      if (best[end] === 0 || best[start] + score >= best[end]) {
        best[end] = best[start] + score;
        last[end] = number;
      }
    }
  }
  const found = [];
  for (let end = text.length; end > 0; ) {
    const start = end - [...vocabulary[last[end]][0]].length;
    const words = text.slice(Math.max(0, start), end).join("");
    if (!last[end] && found.length && !found.at(-1)[1]) found.at(-1)[0] = words + found.at(-1)[0];
    else found.push([words, last[end]]);
    end = start;
  }
  return found.reverse();
}

function embed({ embedding, frequencies }, numbers) {
  const { columns, x } = embedding;
  const stream = table(numbers.length, columns);
  numbers.forEach((number, i) => {
    for (let e = 0; e < columns; e++) {
      const angle = i * frequencies[e % frequencies.length];
      const position = e < frequencies.length ? Math.sin(angle) : Math.cos(angle);
      stream.x[i * columns + e] = 2 * x[number * columns + e] + position;
    }
  });
  return stream;
}

/** Heads side by side, projected back; their weights are appended to `kept`. */
function attention(X, layer, kept) {
  const [Q, K, V] = [layer.Q, layer.K, layer.V].map((matrix) => project(X, matrix));
  const [n, d] = [X.rows, Q.columns / HEADS];
  const heads = table(n, V.columns);
  for (let h = 0; h < HEADS; h++) {
    const weights = [];
    for (let i = 0; i < n; i++) {
      const scores = new Float64Array(n);
      for (let j = 0; j < n; j++) {
        let dot = 0;
        for (let e = h * d; e < (h + 1) * d; e++) dot += Q.x[i * Q.columns + e] * K.x[j * K.columns + e];
        scores[j] = dot / Math.sqrt(d);
      }
      const largest = Math.max(...scores);
      const loudness = scores.map((score) => Math.exp(score - largest));
      const total = loudness.reduce((a, b) => a + b);
      weights.push(Array.from(loudness, (one) => one / total));
      for (let j = 0; j < n; j++)
        for (let e = h * d; e < (h + 1) * d; e++) heads.x[i * V.columns + e] += weights[i][j] * V.x[j * V.columns + e];
    }
    kept.push(weights);
  }
  return project(heads, layer.O);
}

const table = (rows, columns) => ({ rows, columns, x: new Float32Array(rows * columns) });

function project(X, { W, b }) {
  const Y = table(X.rows, W.columns);
  for (let i = 0; i < X.rows; i++) {
    const row = Y.x.subarray(i * W.columns, (i + 1) * W.columns);
    row.set(b);
    for (let e = 0; e < W.rows; e++) {
      const factor = X.x[i * W.rows + e];
      const from = e * W.columns;
      if (factor) for (let k = 0; k < row.length; k++) row[k] += factor * W.x[from + k];
    }
  }
  return Y;
}

function layerNorm(X, { gain, bias, eps }) {
  const Y = table(X.rows, X.columns);
  for (let i = 0; i < X.rows; i++) {
    const row = X.x.subarray(i * X.columns, (i + 1) * X.columns);
    const mean = row.reduce((a, b) => a + b) / X.columns;
    const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / X.columns;
    const scale = 1 / Math.sqrt(variance + eps);
    row.forEach((x, k) => (Y.x[i * X.columns + k] = (x - mean) * scale * gain[k] + bias[k]));
  }
  return Y;
}

function added(X, Y) {
  Y.x.forEach((y, k) => (Y.x[k] = y + X.x[k]));
  return Y;
}
