// The one Python of a page: started when first asked for, ended when it does not come back.

const FILES = new URL("python/", import.meta.url).href;
const STALLED_AFTER = 60; // seconds in which nothing has come
const BYTES = { python: 7.8e6, pictures: 4.1e6 };
export const MEGABYTES = { python: 8, pictures: 4 };
export const ON_ITS_WAY = {
  python: `Python is on its way: ${MEGABYTES.python} MB, the first time.`,
  pictures: `Matplotlib is on its way: ${MEGABYTES.pictures} MB, the first time.`,
};
const ENDS = {
  "slow": (again, _, seconds) =>
    `Stopped: Python had not come back after ${seconds} s. Is there a loop that never ends?\n` +
    `Your text is kept, and Python starts afresh when you press ${again}.`,
  "stopped": (again) =>
    `Stopped. Your text is kept, and Python starts afresh when you press ${again}.`,
  "died": (again, detail) =>
    `Python broke down: ${detail}.\nDoes a function call itself without end, or ask for too much ` +
    `memory?\nYour text is kept, and Python starts afresh when you press ${again}.`,
  "no start": (again, detail) =>
    `Python could not start, because something did not arrive: ${detail}.\nYour text is kept. Are you ` +
    `on line? Press ${again} to try again, or take your work along as a notebook.`,
  "stalled": (again) =>
    "Python could not start: for a minute nothing has come. Your text is kept.\n" +
    `Press ${again} to try again, or take your work along as a notebook.`,
};

/** What the reader is told when Python has ended; `again` names the buttons that start it. */
export function endOf(how, detail, seconds, again) {
  return ENDS[how](again, detail, seconds);
}

class Python {
  #chapter;
  #worker = null;
  #started = null;
  #waiting = null;
  #queue = Promise.resolve();
  #loading = "python";
  #arrived = 0;
  #listeners = [];
  isThere = false;
  hasPictures = false;
  /** Goes up with each start: what an earlier session has run is forgotten. */
  session = 0;

  constructor(chapter) {
    this.#chapter = chapter;
  }

  /** Tell `listener` which share has come, and of what: `python` or `pictures`. */
  onArrival(listener) {
    this.#listeners.push(listener);
  }

  /** Load it if it is not there; an end of the worker is an error with `how` it ended. */
  start() {
    this.#started ??= this.#ask(
      { ask: "start", files: FILES, chapter: this.#chapter }, STALLED_AFTER,
    ).then(() => (this.isThere = true));
    return this.#started;
  }

  /** Put one question; those that are put meanwhile wait for their turn. */
  ask(question, seconds, print) {
    const turn = this.#queue.then(async () => {
      await this.start();
      return this.#ask(question, seconds, print);
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }

  /** End it in the middle of whatever it does. The next question starts another. */
  stop(how, detail = "") {
    this.#worker?.terminate();
    this.#worker = this.#started = null;
    this.isThere = this.hasPictures = false;
    const { reject } = this.#waiting ?? {};
    this.#waiting = null;
    reject?.(Object.assign(new Error(detail), { how }));
  }

  #tell() {
    const share = Math.min(1, this.#arrived / BYTES[this.#loading]);
    for (const listener of this.#listeners) listener(share, this.#loading);
  }

  #ask(question, seconds, print = () => {}) {
    return new Promise((resolve, reject) => {
      const starting = question.ask === "start";
      let clock;
      const wind = () => {
        clearTimeout(clock);
        clock = setTimeout(() => this.stop(starting ? "stalled" : "slow"), seconds * 1000);
      };
      wind();
      this.#waiting = {
        reject(error) {
          clearTimeout(clock);
          reject(error);
        },
      };
      if (starting) {
        this.#arrived = 0;
        this.#loading = "python";
        this.session += 1;
        this.#worker = new Worker(new URL("python_worker.js", import.meta.url), { type: "module" });
      }
      this.#worker.onerror = (event) => this.stop("no start", event.message || "python_worker.js");
      this.#worker.onmessage = ({ data }) => {
        if ("printed" in data) print(data.printed);
        else if ("arrived" in data) {
          this.#arrived += data.arrived;
          this.#tell();
          wind();
        } else if ("loading" in data) {
          this.#loading = data.loading;
          this.#arrived = 0;
          this.hasPictures = true;
          this.#tell();
        } else if ("died" in data) this.stop(starting ? "no start" : "died", data.died);
        else {
          clearTimeout(clock);
          this.#waiting = null;
          resolve(data.answer);
        }
      };
      this.#worker.postMessage(question);
    });
  }
}

const exercise = document.querySelector(".try")?.dataset.exercise;
export const python = new Python(exercise?.split("/")[0] ?? null);
