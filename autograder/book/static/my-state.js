// The page of all exercises: what this reader has done, and what comes next.

import { kept } from "./keep.js";

const PREFIX = "attention:";
const SAYS = { tried: "tried", solved: "✓ solved" };
const box = document.querySelector(".my-state");
const status = box.querySelector("[role=status]");
const all = [...document.querySelectorAll("[data-exercise]")];

const stateOf = (line) => kept(`${PREFIX}exercise:${line.dataset.exercise}`)?.state;

function show() {
  for (const line of all) {
    line.dataset.state = stateOf(line) ?? "";
    line.querySelector(".state").textContent = SAYS[line.dataset.state] ?? "";
  }
  const solved = all.filter((line) => line.dataset.state === "solved").length;
  const tried = all.filter((line) => line.dataset.state === "tried").length;
  box.querySelector(".my-progress").textContent =
    `You have solved ${solved} of ${all.length} exercises` +
    (tried ? ` and begun ${tried} more.` : ".");
  sayNext(all.filter((line) => line.dataset.state !== "solved"));
  box.classList.remove("waiting");
}

/** What was begun comes first, then the required path, then the rest. */
function sayNext(open) {
  const begun = open.find((line) => line.dataset.state === "tried");
  const next = begun ?? open.find((line) => "required" in line.dataset) ?? open[0];
  const place = box.querySelector(".my-next");
  place.textContent = next ? (begun ? "To finish: " : "Next: ") : "All are solved.";
  if (next) place.append(next.querySelector("a").cloneNode(true), `, ${next.dataset.minutes} minutes.`);
}

function everything() {
  try {
    return Object.fromEntries(Object.entries(localStorage).filter(([key]) => key.startsWith(PREFIX)));
  } catch {
    return {};
  }
}

box.querySelector(".save-state").addEventListener("click", () => {
  const file = new Blob([JSON.stringify(everything(), null, 1)], { type: "application/json" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = "attention-state.json";
  link.click();
  URL.revokeObjectURL(link.href);
});

box.querySelector(".load-state input").addEventListener("change", async (event) => {
  try {
    const saved = Object.entries(JSON.parse(await event.target.files[0].text()));
    if (!saved.every(([key, value]) => key.startsWith(PREFIX) && JSON.parse(value).version)) throw 0;
    for (const [key, value] of saved) localStorage.setItem(key, value);
    status.textContent = `Taken in: ${saved.length} entries.`;
    show();
  } catch {
    status.textContent = "Nothing was taken in: this is not a file saved here, or this browser keeps nothing.";
  }
  event.target.value = "";
});

box.querySelector(".clear-state").addEventListener("click", () => {
  if (!confirm("Forget everything that you have done in these pages? It cannot be undone.")) return;
  for (const key of Object.keys(everything())) localStorage.removeItem(key);
  status.textContent = "Forgotten.";
  show();
});

show();
