// "Try it here": a cell in the box of an exercise. No Python is loaded before it is asked for.

import { button, columnsIn, editPython, make, picture } from "./editor.js";
import { exerciseKey, keep, kept } from "./keep.js";
import { HOLDS_OPEN, ModelAnswer, THREE_TRIES } from "./model-answer.js";
import { endOf, ON_ITS_WAY, python } from "./python.js";

const opened = new Map(); // cells by name, in the order in which they were opened

const NOT_KEPT =
  "This browser keeps nothing for this page: take your work along before you close it.";
const STARTER_IS_BACK = "The starter is back. Undo reset brings your text back.";
class Cell {
  constructor(box) {
    this.box = box;
    [this.chapter, this.name] = box.dataset.exercise.split("/");
    this.key = exerciseKey(this.chapter, this.name);
    this.starter = box.querySelector("pre").textContent.trimEnd() + "\n";
    this.seconds = Number(box.dataset.seconds);
    this.hintsShown = 0;
    this.answer = new ModelAnswer(box);
    this.found = ""; // what the last check said; a hint stands below it
    this.#build();
  }

  #build() {
    const { number } = this.box.dataset;
    const id = `try-${this.name}`;
    this.text = make("textarea", {
      id, spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off",
      value: kept(this.key)?.answer ?? this.starter,
    });
    this.text.setAttribute("aria-describedby", `${id}-keys`);
    editPython(this.text, { run: () => this.run(), check: () => this.check() });
    this.text.addEventListener("input", () => this.#edited());
    this.buttons = {
      check: button("Check", () => this.check()),
      run: button("Run", () => this.run()),
      stop: button("Stop", () => python.stop("stopped")),
      hint: button("Hint", () => this.hint()),
      reset: button("Reset", () => this.reset()),
      take: button("Take it along", () => this.take()),
    };
    this.buttons.check.classList.add("first");
    this.buttons.stop.hidden = true;
    this.status = make("p", { className: "try-status" });
    this.warning = make("p", { className: "try-status" });
    this.arrived = make("progress", { value: 0, hidden: true });
    this.arrived.setAttribute("aria-label", "How much of Python has come");
    for (const line of [this.status, this.warning]) line.setAttribute("role", "status");
    this.result = make("pre", { className: "try-result" });
    this.result.setAttribute("role", "log");
    this.result.setAttribute("aria-label", `What came out of exercise ${number}`);
    this.drawn = make("div", { className: "try-drawn" });
    const label = make("label", { htmlFor: id, textContent: `Your answer to exercise ${number}` });
    const keys = make("p", {
      id: `${id}-keys`, className: "try-keys",
      textContent: "Shift+Enter runs, Ctrl+Enter checks. Tab indents; to leave with Tab, press Escape first.",
    });
    const row = make("div", { className: "try-buttons" });
    row.append(...Object.values(this.buttons));
    this.box.replaceChildren(label, this.text, keys, row, this.warning, this.status, this.arrived, this.result, this.drawn);
    this.#fit();
  }

  #edited() {
    this.#fit();
    this.before = null;
    this.buttons.reset.textContent = "Reset";
    this.#keep("tried");
  }

  #fit() {
    this.text.rows = Math.min(Math.max(this.text.value.split("\n").length + 1, 8), 40);
  }

  #keep(state) {
    // an answer that was solved stays solved while it is improved
    const solved = kept(this.key)?.state === "solved" || state === "solved";
    const value = { state: solved ? "solved" : "tried", answer: this.text.value };
    this.warning.textContent = keep(this.key, value) ? "" : NOT_KEPT;
  }

  async open() {
    this.text.focus();
    const again = kept(this.key) ? "Your text is as you left it. " : "";
    try {
      this.say(again + (python.isThere ? "" : ON_ITS_WAY.python));
      await python.start();
      this.say("Python is ready.");
    } catch ({ how, message }) {
      this.#end(how, message);
    }
  }

  run() {
    this.found = "";
    return this.#ask("run");
  }

  async check() {
    this.found = "";
    const holds = await this.#ask("check");
    if (holds === undefined) return;
    this.found = this.result.textContent.trimEnd();
    this.result.dataset.verdict = holds ? "holds" : "not yet";
    this.#keep(holds ? "solved" : "tried");
    if (!this.answer.tried(this.text.value, holds)) return;
    this.say(holds ? HOLDS_OPEN : THREE_TRIES);
  }

  async #ask(ask) {
    if (this.busy) return undefined;
    this.busy = true;
    opened.delete(this.name); // what is asked about comes last
    opened.set(this.name, this);
    const cells = [...opened.values()].map((cell) => [cell.name, cell.text.value]);
    this.result.textContent = "";
    delete this.result.dataset.verdict;
    this.say(python.isThere ? "Python is at work." : ON_ITS_WAY.python);
    this.buttons.stop.hidden = false;
    try {
      const print = (words) => {
        this.result.append(words);
        this.say("Python is at work.");
      };
      const question = { ask, name: this.name, cells, columns: columnsIn(this.text, this.result) };
      const answer = await python.ask(question, this.seconds, print);
      const { drawn = [] } = answer;
      this.drawn.replaceChildren(...drawn.map(({ png, alt }) => picture(png, alt)));
      const silent = ask === "run" && !this.result.textContent && !drawn.length;
      this.say(silent ? "It ran, and printed nothing." : "");
      return answer;
    } catch ({ how, message }) {
      this.#end(how, message);
      return undefined;
    } finally {
      this.busy = false;
      this.buttons.stop.hidden = true;
      const { scrollHeight, clientHeight } = this.result;
      this.result.tabIndex = scrollHeight > clientHeight ? 0 : -1; // to be scrolled by keyboard
    }
  }

  #end(how, detail) {
    this.say("");
    if (how === "died") this.result.textContent = ""; // nobody can use the stack of a dead Python
    this.result.append(endOf(how, detail, this.seconds, "Check or Run"));
  }

  async hint() {
    const hints = await this.#ask("hints");
    if (hints === undefined) return;
    if (!hints.length) hints.push("There is no further hint: Check asks you a question.");
    if (this.hintsShown === hints.length) this.say("That was the last hint.");
    this.hintsShown = Math.min(this.hintsShown + 1, hints.length);
    const shown = [this.found, ...hints.slice(0, this.hintsShown)].filter(Boolean);
    this.result.append(shown.join("\n\n"));
  }

  reset() {
    const now = this.text.value;
    this.text.value = this.before ?? this.starter;
    const before = this.before ? null : now;
    this.#edited();
    this.before = before;
    this.buttons.reset.textContent = before ? "Undo reset" : "Reset";
    this.say(before ? STARTER_IS_BACK : "Your text is back.");
  }

  /** The chapter's notebook with every answer that was begun here, for JupyterLab. */
  async take() {
    const notebook = await this.#notebook();
    if (!notebook) {
      this.say("The notebook did not arrive. Are you on line? Your text is kept.");
      return;
    }
    for (const { dataset } of document.querySelectorAll("[data-exercise]")) {
      const [chapter, name] = dataset.exercise.split("/");
      const { answer, order } = kept(exerciseKey(chapter, name)) ?? {};
      const cell = notebook.cells.find(({ id }) => id === name.replaceAll("_", "-"));
      const starter = [cell.source].flat().join("");
      if (answer && !starter.startsWith(answer.trimEnd())) cell.source = answer.trimEnd();
      if (order?.length) cell.source = starter.replace("...", JSON.stringify(order).slice(1, -1));
    }
    const file = new Blob([JSON.stringify(notebook, null, 1)], { type: "application/x-ipynb+json" });
    const link = make("a", { href: URL.createObjectURL(file), download: `${this.chapter}.ipynb` });
    link.click();
    URL.revokeObjectURL(link.href);
    this.say(
      `${link.download} holds all that you wrote in this chapter. ` +
      "Put it in the folder of the assignment, in place of the one there.",
    );
  }

  async #notebook() {
    try {
      const answer = await fetch(new URL(`python/${this.chapter}.ipynb`, import.meta.url));
      return answer.ok ? await answer.json() : null;
    } catch {
      return null;
    }
  }

  say(words) {
    this.status.textContent = words;
    this.arrived.hidden = !words.endsWith(ON_ITS_WAY.python);
  }
}

for (const box of document.querySelectorAll(".try")) {
  box.querySelector("button.try-open").addEventListener("click", () => {
    const cell = new Cell(box);
    opened.set(cell.name, cell);
    cell.open();
  });
}
python.onArrival((share, what) => {
  for (const cell of opened.values()) {
    if (what === "pictures" && cell.busy) cell.say(ON_ITS_WAY.pictures);
    cell.arrived.value = share;
  }
});
