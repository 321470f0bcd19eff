// How a proof that is built from lines is marked: course_lib/checking/blocks.py, for the page.
// A test gives both the same answers and wants the same words and the same share.

/** Every order in which each line follows what it rests on and no part is interrupted. */
function* proofs(blocks, proof = []) {
  const left = Object.keys(blocks.after).filter((letter) => !proof.includes(letter));
  if (!left.length) yield proof;
  const openPart = blocks.part[proof.at(-1)];
  const goesOn = left.filter((letter) => openPart && blocks.part[letter] === openPart);
  for (const letter of goesOn.length ? goesOn : left) {
    if (blocks.after[letter].every((before) => proof.includes(before))) {
      yield* proofs(blocks, [...proof, letter]);
    }
  }
}

/** The length of the longest common subsequence. */
function commonLength(one, other) {
  const lengths = new Array(other.length + 1).fill(0);
  for (const a of one) {
    let previous = 0;
    other.forEach((b, j) => {
      const before = lengths[j + 1];
      lengths[j + 1] = a === b ? previous + 1 : Math.max(before, lengths[j]);
      previous = before;
    });
  }
  return lengths.at(-1);
}

/** Full marks for any valid proof, none when half of the lines would have to move. */
export function share(blocks, answer) {
  const lines = Object.keys(blocks.after).length;
  if (answer.length > 2 * lines) return 0;
  let longest = 0;
  for (const proof of proofs(blocks)) longest = Math.max(longest, commonLength(answer, proof));
  const moves = Math.max(answer.length, lines) - longest;
  return Math.max(0, 1 - (2 * moves) / lines);
}

/** What is wrong with the first line that does not follow; `line` is null where lines are missing. */
export function firstFault(blocks, answer) {
  const seen = [];
  for (const letter of answer) {
    const why = whyNot(blocks, seen, letter);
    if (why) return { line: letter, words: why };
    seen.push(letter);
  }
  const missing = Object.keys(blocks.after).length - seen.length;
  if (!missing) return null;
  const belong = missing === 1 ? "belongs" : "belong";
  const words = `so far every line follows; ${missing} more ${belong} to the proof`;
  return { line: null, words };
}

function whyNot(blocks, seen, letter) {
  if (letter in blocks.why_not) return `line ${letter} does not hold here: ${blocks.why_not[letter]}`;
  const missing = blocks.after[letter].filter((before) => !seen.includes(before)).length;
  if (missing) {
    const lines = missing === 1 ? "one line" : `${missing} lines`;
    return `line ${letter} uses something that is not there yet: it rests on ${lines} still to come`;
  }
  const part = blocks.part[seen.at(-1)];
  const unfinished = Object.keys(blocks.after).some(
    (name) => !seen.includes(name) && blocks.part[name] === part,
  );
  if (part && unfinished && blocks.part[letter] !== part) {
    return `line ${letter} interrupts part ${part}: finish one part before the next`;
  }
  return null;
}
