// The formulas of course_lib that the figures need; tests compare the two in a browser.

export const sum = (row) => row.reduce((total, x) => total + x, 0);
export const dot = (a, b) => sum(a.map((x, i) => x * b[i]));
export const distance = (a, b) => Math.hypot(...a.map((x, i) => x - b[i]));
export const range = (n, from = 0, to = 1) => Array.from({ length: n + 1 }, (_, i) => from + ((to - from) * i) / n);

/** Unit vector at so many degrees. */
export const onTheDial = (angle) => [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];

/** softmax(x)_j = exp(x_j - m) / sum_i exp(x_i - m) with m = max x */
export function softmax(scores) {
  const largest = Math.max(...scores);
  const raised = scores.map((x) => Math.exp(x - largest));
  const total = sum(raised);
  return raised.map((x) => x / total);
}

/** sum_j p_j v_j */
export const average = (weights, values) =>
  values[0].map((_, e) => sum(weights.map((weight, j) => weight * values[j][e])));

/** -sum_j p_j log2 p_j */
export const entropyInBits = (weights) => 0 - sum(weights.map((p) => (p === 0 ? 0 : p * Math.log2(p))));

/** The scaled scores of the four keys for the needle: sharpness times cosine. */
export const islandScores = (angle, sharpness, { keys }) => {
  const needle = onTheDial(angle);
  return keys.map((key) => sharpness * dot(needle, key));
};
