// The model answer of an exercise, where the edition has it: it opens when it can do no harm.

const TRIES = 3;
export const HOLDS_OPEN = "A model answer is open below, to compare with.";
export const THREE_TRIES = "That was the third attempt: a model answer can be seen below.";

export class ModelAnswer {
  #fold;
  #failed = new Set();

  constructor(box) {
    this.#fold = box.closest(".exercise")?.querySelector("details.model-answer");
  }

  /** Count an attempt; true when it has opened the model answer. */
  tried(answer, holds) {
    if (!holds) this.#failed.add(answer.trim());
    if (!this.#fold || this.#fold.open || !(holds || this.#failed.size >= TRIES)) return false;
    this.#fold.open = true;
    return true;
  }
}
