// What a reader has done, kept by the reader's own browser and told to nobody.
// Where the browser refuses to keep anything, it lasts as long as the page is open.

const VERSION = 1;
const untilThePageCloses = new Map();

export const exerciseKey = (chapter, name) => `attention:exercise:${chapter}/${name}`;

/** Keep a value that JSON can hold; false when it is lost with the page. */
export function keep(key, value) {
  untilThePageCloses.set(key, value);
  try {
    localStorage.setItem(key, JSON.stringify({ version: VERSION, value }));
    return true;
  } catch {
    return false;
  }
}

/** What was kept under the key, or null. */
export function kept(key) {
  try {
    const { version, value } = JSON.parse(localStorage.getItem(key)) ?? {};
    if (version === VERSION) return value;
  } catch {
    // refused, or not ours
  }
  return untilThePageCloses.get(key) ?? null;
}
