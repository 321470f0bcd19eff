// A proof that is built in the page: lines go from one list into the other by drag or by buttons.

import { keep, kept } from "./keep.js";
import { HOLDS_OPEN, ModelAnswer, THREE_TRIES } from "./model-answer.js";
import { firstFault, share } from "./marking.js";

const MOVES = [
  { name: "in", sign: "Add", says: (letter) => `Add line ${letter} to the proof` },
  { name: "up", sign: "↑", says: (letter) => `Move line ${letter} up` },
  { name: "down", sign: "↓", says: (letter) => `Move line ${letter} down` },
  { name: "out", sign: "×", says: (letter) => `Take line ${letter} out of the proof` },
];
const FIRST = "Add the line that comes first.";
const TO_CHECK = "Press Check when the proof is complete, or when you want to know where it stands.";
const NOT_KEPT = "It is lost with this page: this browser keeps nothing.";
const A_CLICK = 4; // pixels; a pointer that moves less is not dragging

class ProofBlocks {
  constructor(box) {
    this.box = box;
    this.key = `attention:exercise:${box.dataset.exercise}`;
    this.blocks = JSON.parse(box.querySelector("script").textContent);
    this.offered = box.querySelector(".offered");
    this.built = box.querySelector(".built");
    this.verdict = box.querySelector(".verdict");
    this.inNotebook = box.querySelector(".in-notebook");
    this.spoken = box.querySelector("[role=status]");
    this.lines = new Map();
    for (const line of this.offered.children) {
      this.lines.set(line.dataset.letter, line);
      line.append(this.buttons(line.dataset.letter), reasonBelow());
    }
    this.answer = new ModelAnswer(box);
    this.button = Object.assign(document.createElement("button"), {
      type: "button", className: "check-proof", textContent: "Check",
    });
    this.button.addEventListener("click", () => this.check());
    this.verdict.before(this.button);
    box.addEventListener("pointerdown", (event) => this.drag(event));
    const { order = [] } = kept(this.key) ?? {};
    this.built.append(...order.map((letter) => this.lines.get(letter)).filter(Boolean));
    this.arrange();
    box.classList.add("ready");
  }

  get order() {
    return [...this.built.children].map((line) => line.dataset.letter);
  }

  buttons(letter) {
    const group = document.createElement("span");
    group.className = "moves";
    for (const { name, sign, says } of MOVES) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: `move-${name}`, textContent: sign });
      button.setAttribute("aria-label", says(letter));
      button.addEventListener("click", () => this.move(letter, name));
      group.append(button);
    }
    return group;
  }

  move(letter, way) {
    const line = this.lines.get(letter);
    if (way === "in") this.built.append(line);
    if (way === "out") this.putBack(line);
    if (way === "up") line.previousElementSibling?.before(line);
    if (way === "down") line.nextElementSibling?.after(line);
    this.changed(letter);
    const next = line.parentElement === this.offered ? "in" : way === "in" ? "up" : way;
    this.focus(line, next);
  }

  /** A button that has just been used up gives the focus to its neighbour. */
  focus(line, way) {
    const wanted = line.querySelector(`.move-${way}`);
    (wanted.disabled ? line.querySelector(".moves > :enabled:not(.move-in)") : wanted).focus();
  }

  /** Offered lines stand in the order of their letters. */
  putBack(line) {
    const later = [...this.offered.children].find((o) => o.dataset.letter > line.dataset.letter);
    this.offered.insertBefore(line, later ?? null);
  }

  drag(start) {
    const line = start.target.closest("li[data-letter]");
    const byFinger = start.pointerType !== "mouse" && !start.target.closest(".grip");
    if (!line || start.button || start.target.closest("button") || byFinger) return;
    const before = this.order.join();
    let dragging = false;
    const controller = new AbortController();
    const on = (name, listen) =>
      addEventListener(name, listen, { signal: controller.signal, passive: false });
    const end = () => {
      controller.abort();
      line.classList.remove("dragged");
      this.box.classList.remove("dragging");
      if (line.parentElement === this.offered) this.putBack(line);
      if (this.order.join() !== before) this.changed(line.dataset.letter);
    };
    on("pointermove", (event) => {
      const way = Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY);
      if (!dragging && way < A_CLICK) return;
      dragging = true;
      event.preventDefault();
      line.classList.add("dragged");
      this.box.classList.add("dragging");
      this.carry(line, event);
    });
    on("pointerup", end);
    on("pointercancel", end);
    if (start.pointerType === "mouse") start.preventDefault(); // no selection of text
  }

  /** The line goes where the pointer is. */
  carry(line, { clientX, clientY }) {
    const list = document.elementFromPoint(clientX, clientY)?.closest(".offered, .built");
    if (!list || !this.box.contains(list)) return;
    const below = [...list.children].find((other) => {
      const { top, height } = other.getBoundingClientRect();
      return other !== line && clientY < top + height / 2;
    });
    if (line.parentElement === list && line.nextElementSibling === (below ?? null)) return;
    list.insertBefore(line, below ?? null);
  }

  changed(letter) {
    this.arrange();
    const order = this.order;
    const place = order.indexOf(letter) + 1;
    const where = place ? `is step ${place} of ${order.length}` : "is back among the lines offered";
    this.spoken.textContent = `Line ${letter} ${where}.`;
    this.keep(false);
  }

  keep(holds) {
    const solved = kept(this.key)?.state === "solved" || holds;
    const value = { state: solved ? "solved" : "tried", order: this.order };
    if (!keep(this.key, value)) this.verdict.append(" ", NOT_KEPT);
  }

  /** The lines as they stand, without a word on whether they follow. */
  arrange() {
    const { order } = this;
    for (const line of this.lines.values()) {
      delete line.dataset.step;
      line.querySelector(".reason").textContent = "";
    }
    order.forEach((letter, step) => {
      const line = this.lines.get(letter);
      line.querySelector(".move-up").disabled = step === 0;
      line.querySelector(".move-down").disabled = step === order.length - 1;
    });
    this.box.dataset.verdict = order.length ? "unchecked" : "empty";
    this.button.hidden = !order.length;
    this.verdict.textContent = order.length ? TO_CHECK : FIRST;
    this.showForNotebook(false);
  }

  showForNotebook(holds) {
    this.inNotebook.hidden = !holds;
    this.inNotebook.lastElementChild.textContent = JSON.stringify(this.order).replaceAll(",", ", ");
  }

  /** Mark the lines up to the first that does not follow, and say what the proof is worth. */
  check() {
    const { order, blocks } = this;
    const fault = firstFault(blocks, order);
    const sound = fault?.line ? order.indexOf(fault.line) : order.length;
    order.forEach((letter, step) => {
      const line = this.lines.get(letter);
      line.dataset.step = step < sound ? "follows" : step === sound ? "fault" : "open";
      line.querySelector(".reason").textContent = step === sound ? sentence(fault.words) : "";
    });
    this.box.dataset.verdict = fault ? "unfinished" : "proof";
    this.showForNotebook(!fault);
    const worth = this.worth(order);
    const said = fault ? sentence(fault.words) : "A proof. Every line follows from those above it.";
    // what is wrong with a line stands at the line
    this.verdict.textContent = fault?.line ? worth : `${said} ${worth}`;
    this.spoken.textContent = `${said} ${worth}`;
    this.keep(!fault);
    if (this.answer.tried(order.join(" "), !fault)) {
      this.verdict.append(` ${fault ? THREE_TRIES : HOLDS_OPEN}`);
    }
  }

  worth(order) {
    const points = Math.round(this.blocks.points * share(this.blocks, order) * 1e6) / 1e6;
    return `As it stands: ${points} of ${this.blocks.points} points.`;
  }
}

function reasonBelow() {
  const reason = document.createElement("span");
  reason.className = "reason";
  return reason;
}

function sentence(words) {
  return words[0].toUpperCase() + words.slice(1).replace(/\.?$/, ".");
}

for (const box of document.querySelectorAll(".proof-blocks")) new ProofBlocks(box);
