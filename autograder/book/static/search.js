// What Sphinx's search has found: each place once, the one that was meant first.

const KINDS = {
  chapter: 9, symbol: 8, statement: 7, word: 6, exercise: 5, section: 4, equation: 3, page: 2,
};
const KIND_AND_NUMBER = /^(?:(?:exercise|equation|definition|theorem|lemma|corollary) )?(?:\d+ )+/;
const LISTS = ["chapters/exercises", "chapters/statements"]; // they only lead on
const APART = " > "; // what Sphinx puts between a page and its section

/** Bare words; of one and of many is the same. */
const inWords = (text) => {
  const words = text.replace(/<[^>]*>/g, "").toLowerCase().split(/[^\p{L}\p{N}_]+/u);
  return words.filter(Boolean).map((word) => word.replace(/(?<=...)s$/, "")).join(" ");
};

/** How near a name is to what was typed, from 0 to 100. */
function nearness(name, where, wanted) {
  const bare = name.replace(KIND_AND_NUMBER, "");
  if ([name, bare].includes(wanted)) return 100;
  if ([name, bare].some((one) => one.startsWith(`${wanted} `))) return 80;
  if (` ${name} `.includes(` ${wanted} `)) return 60;
  const words = `${name} ${where}`.split(" ");
  const begins = (some) =>
    words.some((word) => word === some || (some.length > 1 && word.startsWith(some)));
  return wanted.split(" ").every(begins) ? 40 : 0;
}

function kindOf([, title, anchor, described]) {
  if (described) return described.split(",")[0];
  if (anchor) return "section";
  return title.includes("section-number") ? "chapter" : "page";
}

/** Nothing for what has the words by chance only: a symbol with one of its letters. */
function scoreOf(result, wanted) {
  const [docname, title, anchor, described] = result;
  const near = nearness(inWords(title.split(APART).at(-1)), inWords(described ?? ""), wanted);
  if (described && !near) return 0;
  const chapter = parseInt(inWords(title)) || 0; // of two alike the earlier comes first
  return (LISTS.includes(docname) && anchor ? 0 : near) + KINDS[kindOf(result)] - chapter / 100;
}

/** The title of a page is a section of it, too. */
function asPage([docname, title, anchor, ...rest]) {
  const [page, section] = title.split(APART);
  const isWhole = section && inWords(page).replace(/^\d+ /, "") === inWords(section);
  return isWhole ? [docname, page, "", ...rest] : [docname, title, anchor, ...rest];
}

const found = Search._performSearch;
Search._performSearch = (query, ...words) => {
  const wanted = inWords(query);
  const seen = new Set();
  return found(query, ...words)
    .reverse() // Sphinx has the last shown first
    .map(asPage)
    .map((result) => ({ result, place: result[0] + result[2], score: scoreOf(result, wanted) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .filter(({ place }) => !seen.has(place) && seen.add(place))
    .map(({ result }) => result)
    .reverse();
};

// a stem, such as "entropi", is not in the text; a word is
const { makeSearchSummary } = Search;
Search.makeSearchSummary = (html, _, anchor) =>
  makeSearchSummary(html, inWords(document.getElementById("words").value).split(" "), anchor);

Object.assign(Documentation.TRANSLATIONS, {
  "Search finished, found ${resultCount} page(s) matching the search query.":
    "${resultCount} found, the nearest first.",
  "Your search did not match any documents. Please make sure that all words are spelled correctly and that you've selected enough categories.":
    "No page has all of these words. Fewer words find more.",
});

// a formula stands three times in a page: for eyes, for ears, and as it was written
const { htmlToText } = Search;
Search.htmlToText = (html, anchor) => {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const copy of page.querySelectorAll(".katex-html, annotation")) copy.remove();
  return htmlToText(page.documentElement.outerHTML, anchor);
};
