// The code of a page runs where it stands. No Python is loaded before the first Run.

import { button, columnsIn, editPython, make, picture } from "./editor.js";
import { endOf, MEGABYTES, ON_ITS_WAY, python } from "./python.js";

const SECONDS = 120;
const DRAWS = /\bplots\.|\bplt\.|\bmatplotlib\b/;
const ON_YOUR_MACHINE = "This cell uses PyTorch or a published model, which run on your own machine:";
const TAKE_ALONG = "take this chapter along.";
const NO_WORDS = "The figure that your code draws; nothing describes it.";

class PageCell {
  constructor(number, box, { torch }) {
    this.name = String(number);
    this.torch = torch; // what of it runs without PyTorch
    this.box = box;
    this.code = box.querySelector(".cell_input > [class*=highlight]");
    this.printed = this.code.querySelector("pre").textContent.trimEnd();
    this.output = box.querySelector(".cell_output");
    if (torch === undefined) this.#build();
    else this.#sayWhere();
  }

  get source() {
    return this.text?.value ?? this.printed;
  }

  /** What of it has to run before a later cell can. */
  get needed() {
    return this.torch ?? this.source;
  }

  get edited() {
    return this.source !== this.printed;
  }

  #build() {
    this.buttons = {
      run: button("Run", () => this.run()),
      edit: button("Change", () => this.edit()),
      reset: button("Reset", () => this.reset()),
      stop: button("Stop", () => python.stop("stopped")),
    };
    this.tools = make("div", { className: "cell-tools" });
    this.tools.append(...Object.values(this.buttons));
    this.status = make("p", { className: "cell-status" });
    this.status.setAttribute("role", "status");
    this.arrived = make("progress", { value: 0, hidden: true });
    this.arrived.setAttribute("aria-label", "How much has come");
    this.code.after(this.tools, this.status, this.arrived);
    this.tools.addEventListener("focusin", () => this.saySize());
    this.box.addEventListener("pointerenter", () => this.saySize());
    this.#show({ running: false });
  }

  #sayWhere() {
    const line = make("p", { className: "cell-elsewhere", textContent: `${ON_YOUR_MACHINE} ` });
    const there = document.getElementById("take-along");
    if (there) line.append(make("a", { href: "#take-along", textContent: TAKE_ALONG }));
    else line.append(TAKE_ALONG);
    this.code.after(line);
  }

  /** The button says what the first Run costs. */
  saySize() {
    const upToHere = cells.slice(0, cells.indexOf(this) + 1);
    const draws = !python.hasPictures && upToHere.some((cell) => DRAWS.test(cell.needed));
    const size = (python.isThere ? 0 : MEGABYTES.python) + (draws ? MEGABYTES.pictures : 0);
    this.buttons.run.textContent = size ? `Run (loads ${size} MB, once)` : "Run";
  }

  #show({ running }) {
    this.buttons.stop.hidden = !running;
    this.buttons.run.hidden = running;
    this.buttons.edit.hidden = running || Boolean(this.text);
    this.buttons.reset.hidden = running || !(this.text || this.output?.dataset.fresh !== undefined);
    this.tools.classList.toggle("in-use", running || Boolean(this.text));
  }

  edit() {
    this.text = make("textarea", {
      value: this.printed, spellcheck: false, autocapitalize: "off", autocomplete: "off", wrap: "off",
      rows: this.printed.split("\n").length + 1,
    });
    this.text.setAttribute("aria-label", "Code of this cell");
    this.text.title = "Shift+Enter runs; Tab indents; Escape leaves";
    const run = () => this.run();
    editPython(this.text, { run, check: run, leave: () => this.buttons.run.focus() });
    this.text.addEventListener("input", () => {
      this.ranIn = null;
      this.text.rows = this.text.value.split("\n").length + 1;
    });
    this.code.hidden = true;
    this.code.before(this.text);
    this.#show({ running: false });
    this.text.focus();
  }

  /** The code and the output of the printed page. What it has defined stays in Python's memory. */
  reset() {
    this.text?.remove();
    this.text = null;
    this.ranIn = null;
    this.code.hidden = false;
    if (this.before !== undefined) {
      this.output.replaceWith(...(this.before ? [this.before] : []));
      this.output = this.before;
      this.before = undefined;
    }
    this.say("");
    this.#show({ running: false });
    this.buttons.run.focus();
  }

  /** Run what stands above, as far as it has not run, and then this cell. */
  async run() {
    if (running) return;
    running = this;
    this.box.closest(".covered")?.classList.add("shown"); // who runs it wants to see
    this.#show({ running: true });
    try {
      this.say(python.isThere ? "Python is at work." : ON_ITS_WAY.python);
      await python.start();
      for (const cell of cells.slice(0, cells.indexOf(this))) {
        if (cell.ranIn === python.session) continue;
        this.say("Running the cells above.");
        if (!(await cell.runQuietly(this))) {
          this.say("A cell above stops with an error; it stands there.");
          return;
        }
      }
      this.say("Python is at work.");
      await this.ask(this.source, this);
      this.say("");
    } catch ({ how, message }) {
      this.#place([result(endOf(how, message, SECONDS, "Run"))]);
      this.say("");
    } finally {
      running = null;
      this.#show({ running: false });
      this.saySize();
    }
  }

  /** Its printed output stays where its code is the printed one; an error is shown in any case. */
  async runQuietly(asker) {
    const source = this.needed;
    return !source || this.ask(source, asker, this.torch !== undefined || !this.edited);
  }

  async ask(source, asker, quietly = false) {
    const { session } = python;
    let printed = "";
    const shown = quietly ? null : result("");
    if (shown) this.#place([shown]);
    const columns = columnsIn(this.box, this.code.querySelector("pre"));
    const print = (words) => {
      printed += words;
      shown?.append(words);
    };
    const question = { ask: "run", cells: [[this.name, source]], columns };
    const { held, drawn } = await python.ask(question, SECONDS, print);
    if (quietly && !held) this.#place([result(printed)]);
    if (shown) this.#finish(shown, drawn, held);
    if (held) this.ranIn = session;
    return held;
  }

  #finish(shown, drawn, held) {
    if (!held) shown.classList.add("failed");
    shown.setAttribute("aria-label", held ? "Output" : "Error");
    const old = this.before?.querySelectorAll("img") ?? [];
    const figures = drawn.map(({ png, alt }, k) => {
      const image = picture(png, alt || (this.edited ? NO_WORDS : old[k]?.alt) || NO_WORDS);
      const caption = old[k]?.closest("figure")?.querySelector("figcaption");
      const figure = make("figure", {});
      figure.append(image, ...(caption ? [caption.cloneNode(true)] : []));
      for (const named of figure.querySelectorAll("[id], .headerlink")) named.remove();
      return figure;
    });
    const text = shown.textContent;
    if (!text && !figures.length && held) shown.textContent = "It ran, and printed nothing.";
    else if (!text) shown.hidden = true;
    this.output.append(...figures);
  }

  #place(children) {
    if (this.before === undefined) {
      this.before = this.output;
      const place = make("div", { className: "cell_output" });
      place.dataset.fresh = "";
      if (this.output) this.output.replaceWith(place);
      else this.box.append(place);
      this.output = place;
    }
    this.output.replaceChildren(...children);
  }

  say(words) {
    this.status.textContent = words;
    this.arrived.hidden = !Object.values(ON_ITS_WAY).includes(words);
  }
}

/** A cell that the page does not show, as its figures and the numbers in its text need it. */
class UnseenCell {
  constructor(number, source) {
    this.name = String(number);
    this.needed = source;
  }

  async runQuietly() {
    if (!this.needed) return true;
    const { session } = python;
    const question = { ask: "run", cells: [[this.name, this.needed]], columns: 80 };
    await python.ask(question, SECONDS); // what it asserts may be meant for another machine
    this.ranIn = session;
    return true;
  }
}

function result(words) {
  const shown = make("pre", { className: "cell-result", textContent: words });
  shown.setAttribute("role", "log");
  return shown;
}

let running = null;
const boxes = document.querySelectorAll("div.cell");
let seen = 0;
const cells = [];
JSON.parse(document.querySelector(".page-cells").textContent).forEach((told, k) => {
  const number = k + 1;
  cells.push("unseen" in told ? new UnseenCell(number, told.unseen) : new PageCell(number, boxes[seen++], told));
});
for (const cell of cells) if (cell.buttons) cell.saySize();
python.onArrival((share, what) => {
  if (!running) return;
  if (what === "pictures" && share < 1) running.say(ON_ITS_WAY.pictures);
  running.arrived.value = share;
});
