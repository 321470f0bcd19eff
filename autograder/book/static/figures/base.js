// What every moving figure shares. A figure is a module that exports
//   controls(data)         what can be moved: numbers, choices, switches, buttons
//   compute(state, data)   the numbers, by the formulas of course_lib (tests compare them)
//   panels(now, before), table(now), say(now, before)   its picture, its table, its sentence
//                          (before: as the last sentence left it; there is none at the beginning)
//   drag                   by the name of a panel: where a pointer is, as a change of the state
// and `now` is { state, values, data }. A panel is one drawing of the picture:
//   name, title            how `drag` calls it; the line above it
//   width, height          of the drawing, in its own units (box: another viewBox than 0 0 w h)
//   body                   the drawing, text of SVG; drawn anew at each change
//   says                   the drawing in words, for those who do not see it
//   grips                  if it is dragged: [[name, x, y], ...], always as many
// A figure that has more below its controls exports below(data), HTML, and wake(root, { data, change }).
// Only box and grips may be missing; without another the figure is refused when the book is built.
// The picture is text: it is drawn once while the book is built, so that it stands there without
// JavaScript, and again whenever the reader moves something.

import { keep, kept } from "../keep.js";

const MINUS = "\u2212";
const PAUSE = 250; // ms without a change before the sentence is said
const GLIDE = 600;

/** A number as a page prints it: a true minus sign, no minus zero. */
export function print(number, digits = 2) {
  if (!Number.isFinite(number)) return Number.isNaN(number) ? "nan" : number < 0 ? `${MINUS}∞` : "∞";
  const text = Math.abs(number).toFixed(digits);
  return (number < 0 && Number(text) ? MINUS : "") + text;
}

export const share = (weight) => (weight > 0 && weight < 0.005 ? "<0.01" : print(weight));
export const point = (place, digits = 2) => `(${place.map((x) => print(x, digits)).join(", ")})`;
export const curve = (places, kind) =>
  `<polyline class="${kind}" points="${places.map((p) => p.map((x) => x.toFixed(2))).join(" ")}"/>`;
export const text = (x, y, words, kind = "") =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" class="${kind}">${escaped(words)}</text>`;
const escaped = (words) => String(words).replace(/&/g, "&amp;").replace(/</g, "&lt;");

/** The whole figure as HTML, before anything has been moved. */
export function markup(name, figure, data) {
  const now = at(figure, beginning(figure, data), data);
  const controls = figure.controls(data);
  const fields = (...kinds) =>
    controls.filter(({ kind = "number" }) => kinds.includes(kind)).map((control) => field(name, control)).join("\n");
  return `<div class="moving-figure" data-figure="${name}">
<fieldset disabled><legend class="visually-hidden">Figure that moves</legend>
<div class="panels">${fields("grid")}${figure.panels(now).map(panel).join("\n")}</div>
<p class="said" role="status">${figure.say(now, null)}</p>
<div class="controls">${fields("number", "choice", "switch")}</div>${figure.below?.(data) ?? ""}
<div class="buttons">${fields("button")}<button type="button" class="back">Back to the beginning</button></div></fieldset>
<noscript><p class="needs-javascript">To move it, allow JavaScript.</p></noscript>
<details class="values"><summary>All values as a table</summary><div><table>${rows(figure.table(now))}</table></div></details>
<script type="application/json">${JSON.stringify(data)}</script>
</div>`;
}

/** Bring a figure that was drawn by `markup` to life. */
export function start(root, figure) {
  const data = JSON.parse(root.querySelector("script").textContent);
  const controls = figure.controls(data);
  const inputs = root.querySelector("fieldset");
  const named = (wanted) => controls.find(({ name }) => name === wanted) ?? {};
  let now = at(figure, beginning(figure, data), data);
  let before = now; // as the last sentence left it
  let pause, frame;

  function change(patch, source) {
    now = at(figure, { ...now.state, ...patch }, data);
    figure.panels(now, before).forEach(({ body, grips = [], says }, i) => {
      const svg = root.querySelectorAll("svg")[i];
      svg.setAttribute("aria-label", says);
      svg.firstElementChild.innerHTML = body;
      grips.forEach(([, x, y], k) => place(svg.querySelectorAll(".grip")[k], x, y));
    });
    root.querySelector(".values table").innerHTML = rows(figure.table(now));
    for (const control of controls) tell(inputs, control, now.state, source);
    clearTimeout(pause);
    pause = setTimeout(() => {
      root.querySelector(".said").textContent = `${news(controls, before, now)}${figure.say(now, before)}`;
      before = now;
    }, PAUSE);
  }

  /** Move to another state so that the eye can follow, unless the reader wants no motion. */
  function glide(goal) {
    cancelAnimationFrame(frame);
    const from = now.state;
    const moving = Object.keys(goal).filter((key) => typeof goal[key] === "number");
    if (!moving.length || matchMedia("(prefers-reduced-motion: reduce)").matches) return change(goal);
    const begun = performance.now();
    const step = (time) => {
      const part = Math.min(1, Math.max(0, (time - begun) / GLIDE));
      const eased = part * part * (3 - 2 * part);
      const between = (key) => [key, partWay(from[key], goal[key], eased, named(key))];
      change(part < 1 ? { ...goal, ...Object.fromEntries(moving.map(between)) } : goal);
      if (part < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  }

  inputs.addEventListener("input", ({ target }) => {
    cancelAnimationFrame(frame);
    const value = read(target, named(target.dataset.name), now.state);
    if (value !== undefined) change({ [target.dataset.name]: value }, target);
  });
  inputs.addEventListener("focusout", () => controls.forEach((c) => tell(inputs, c, now.state)));
  inputs.addEventListener("keydown", walk);
  inputs.addEventListener("click", ({ target }) => {
    if (target.matches(".back")) glide(beginning(figure, data));
    else if (target.matches("button")) glide(named(target.dataset.name).press(now.state, data));
  });
  root.querySelectorAll("svg").forEach((svg) => {
    const to = figure.drag?.[svg.dataset.panel];
    if (to) follow(svg, (at, grip) => change(to(at, now.state, data, grip)));
  });
  remember(root.closest("figure"), root.dataset.figure, (goal) => glide({ ...beginning(figure, data), ...goal }));
  figure.wake?.(root, { data, change });
  inputs.disabled = false;
  root.dataset.started = "";
}

const at = (figure, state, data) => ({ state, values: figure.compute(state, data), data });

const beginning = (figure, data) => ({
  ...Object.fromEntries(figure.controls(data).filter((c) => "value" in c).map((c) => [c.name, c.value])),
  ...figure.more?.(data),
});

/** Which controls were moved, and to where. */
function news(controls, before, now) {
  const moved = controls.filter(({ kind, name }) => kind !== "button" && now.state[name] !== before.state[name]);
  const words = moved.map((control) => {
    const value = now.state[control.name];
    if (control.kind === "grid") return "Painted anew";
    if (control.kind === "switch") return `${control.label}: ${value ? "yes" : "no"}`;
    if (control.kind === "choice") return `${control.label}: ${control.options.find(([is]) => is === value)[1]}`;
    return `${control.label} ${shown(value, control).replace("-", MINUS)}${control.unit ?? ""}`;
  });
  return words.length ? `${words.join(", ")}. ` : "";
}

// A grip is never drawn anew: a finger that holds it would lose it.
function panel(drawing) {
  for (const part of ["name", "title", "width", "height", "body", "says"])
    if (drawing[part] === undefined)
      throw new TypeError(`its panel "${drawing.name}" has no ${part}: give it one in what panels() returns`);
  const { name, title, width, height, box = `0 0 ${width} ${height}`, body, grips = [], says } = drawing;
  const held = grips.map(([grip, x, y]) => `<circle class="grip" data-grip="${grip}" cx="${x}" cy="${y}" r="22"/>`);
  return (
    `<div class="panel"><p class="panel-title">${title}</p><svg viewBox="${box}" ` +
    `role="img" data-panel="${name}" aria-label="${escaped(says)}"><g>${body}</g>${held.join("")}</svg></div>`
  );
}

function place(grip, x, y) {
  grip.setAttribute("cx", x);
  grip.setAttribute("cy", y);
}

function rows({ head, body }) {
  const cells = (row) => row.map((cell, i) => (i ? `<td>${escaped(cell)}</td>` : `<th scope="row">${escaped(cell)}</th>`));
  const line = (row) => `<tr>${cells(row).join("")}</tr>`;
  const top = head.map((cell) => `<th scope="col">${escaped(cell)}</th>`).join("");
  return `<thead><tr>${top}</tr></thead><tbody>${body.map(line).join("")}</tbody>`;
}

// controls

function field(figure, control) {
  const { name, label, kind, value, options, min, max, step, unit = "" } = control;
  const id = `${figure}-${name}`;
  if (kind === "button") return `<button type="button" data-name="${name}">${label}</button>`;
  if (kind === "switch")
    return `<label class="control"><input type="checkbox" data-name="${name}"${value ? " checked" : ""}> ${label}</label>`;
  if (kind === "grid") return grid(control);
  if (kind === "choice") {
    const offered = options.map(
      ([is, words]) => `<option value="${is}"${is === value ? " selected" : ""}>${words}</option>`,
    );
    return `<label class="control">${label} <select data-name="${name}">${offered.join("")}</select></label>`;
  }
  const [low, high, here] = [min, max, value].map((x) => onSlider(x, control));
  const notch = control.powers ? 1 : control.log ? (high - low) / 120 : step;
  return `<div class="control number"><label for="${id}">${label}</label>
<input type="range" id="${id}" data-name="${name}" min="${low}" max="${high}" step="${notch}" value="${here}" aria-valuetext="${shown(value, control)}${unit}">
<span><input type="number" data-name="${name}" aria-label="${label}, typed" min="${min}" max="${max}" step="${step}" value="${shown(value, control)}">${unit}</span></div>`;
}

/** Square cells to be painted; the state holds a row of 0 and 1. */
function grid({ name, label, value, cell }) {
  const n = Math.sqrt(value.length);
  const box = (k) =>
    `<td><input type="checkbox" data-name="${name}" data-cell="${k}" tabindex="${k ? -1 : 0}" ` +
    `aria-label="${cell(1 + Math.floor(k / n), 1 + (k % n))}"${value[k] === "1" ? " checked" : ""}></td>`;
  const line = (_, i) => `<tr><th scope="row">${i + 1}</th>${Array.from({ length: n }, (_, j) => box(i * n + j)).join("")}</tr>`;
  const top = Array.from({ length: n }, (_, j) => `<th scope="col">${j + 1}</th>`).join("");
  return `<div class="panel"><p class="panel-title">${label}</p><table class="grid" aria-label="${label}"><tr><td></td>${top}</tr>${Array.from({ length: n }, line).join("")}</table></div>`;
}

/** In a grid of cells the arrow keys lead from one to the next. */
function walk(event) {
  const { name, cell } = event.target.dataset;
  const way = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!cell || !way) return;
  const cells = [...event.currentTarget.querySelectorAll(`[data-name="${name}"]`)];
  const next = cells[Number(cell) + way * (/Up|Down/.test(event.key) ? Math.sqrt(cells.length) : 1)];
  event.preventDefault();
  if (!next) return;
  event.target.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

const rounded = (value, { powers, whole }) =>
  powers ? 2 ** Math.round(Math.log2(value)) : whole ? Math.round(value) : value;

/** Between two values of a control: round the dial the short way, by factors on a log slider. */
function partWay(from, to, part, control) {
  if (control.log) return rounded(from * (to / from) ** part, control);
  const way = control.turns ? ((to - from + 900) % 360) - 180 : to - from;
  return rounded(from + part * way, control);
}

const onSlider = (value, { log }) => (log ? Math.log2(value) : value);
const shown = (value, { digits = 2 }) => String(Number(value.toFixed(digits)));

/** What a reader has put in; undefined for a number that is not one, or not yet. */
function read(input, control, state) {
  const cell = Number(input.dataset.cell);
  if (control.kind === "grid")
    return [...state[control.name]].map((is, k) => (k === cell ? Number(input.checked) : is)).join("");
  if (input.type === "checkbox") return input.checked;
  if (!["range", "number"].includes(input.type)) return input.value;
  if (input.value === "") return undefined;
  let value = Number(input.value);
  if (input.type === "range" && control.log) value = 2 ** value;
  value = rounded(value, control);
  if (control.turns && Number.isFinite(value)) return ((value % 360) + 360) % 360;
  return value >= control.min && value <= control.max ? value : undefined;
}

/** Let the inputs of a control say what the state says; not the one that says it just now. */
function tell(inputs, control, state, source) {
  if (control.kind === "button") return;
  for (const input of inputs.querySelectorAll(`[data-name="${control.name}"]`)) {
    const value = state[control.name];
    if (control.kind === "grid") input.checked = value[input.dataset.cell] === "1";
    else if (input.type === "checkbox") input.checked = value;
    else if (input.matches("select")) input.value = value;
    else if (input.type === "range") {
      input.value = onSlider(value, control);
      input.setAttribute("aria-valuetext", shown(value, control) + (control.unit ?? ""));
    } else if (input !== source) input.value = shown(value, control);
  }
}

// A mouse may take hold anywhere, a finger only at the grip: elsewhere it scrolls the page or taps.
function follow(svg, to) {
  let grip = null;
  const where = ({ clientX, clientY }) => {
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [x, y];
  };
  svg.addEventListener("pointerdown", (event) => {
    const held = event.target.closest(".grip");
    if (event.pointerType === "touch" && !held) return;
    event.preventDefault();
    svg.setPointerCapture(event.pointerId);
    grip = held?.dataset.grip ?? "";
    to(where(event), grip);
  });
  const hold = (event) => event.target.closest(".grip") && event.preventDefault();
  svg.addEventListener("touchstart", hold, { passive: false }); // touch-action is deaf inside an SVG
  svg.addEventListener("pointermove", (event) => grip !== null && to(where(event), grip));
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (grip = null));
  svg.addEventListener("click", (event) => event.pointerType === "touch" && to(where(event), ""));
}

/** The prediction of a figure stays made when the page is opened again. */
function remember(figure, name, glide) {
  const key = `attention:figure:${name}`;
  const choices = [...(figure?.querySelectorAll(".choices input") ?? [])];
  const made = choices[kept(key)];
  if (made && !choices.some((choice) => choice.checked)) made.checked = true;
  choices.forEach((choice, i) => choice.addEventListener("change", () => keep(key, i)));
  figure?.querySelectorAll("[data-show]").forEach((button) => {
    button.disabled = false;
    button.addEventListener("click", () => glide(JSON.parse(button.dataset.show)));
  });
}
