// The one Python of a page: started when first asked for, ended when it does not come back.

const FILES = new URL("python/", import.meta.url).href;
const STALLED_AFTER = 60; // seconds in which nothing has come
const WHOLE = 17.1e6; // bytes, unpacked by the browser where the host has packed them

export class Python {
  #chapter;
  #worker = null;
  #started = null;
  #waiting = null;
  #queue = Promise.resolve();
  #arrived = 0;
  #tell;
  isThere = false;

  /** `tell` hears which share of it has come. */
  constructor(chapter, tell) {
    this.#chapter = chapter;
    this.#tell = tell;
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
    this.isThere = false;
    const { reject } = this.#waiting ?? {};
    this.#waiting = null;
    reject?.(Object.assign(new Error(detail), { how }));
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
        this.#worker = new Worker(new URL("python_worker.js", import.meta.url), { type: "module" });
      }
      this.#worker.onerror = (event) => this.stop("no start", event.message || "python_worker.js");
      this.#worker.onmessage = ({ data }) => {
        if ("printed" in data) print(data.printed);
        else if ("arrived" in data) {
          this.#arrived += data.arrived;
          this.#tell(Math.min(1, this.#arrived / WHOLE));
          wind();
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
