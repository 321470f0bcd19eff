// What a prediction covers, shown when the reader asks for it, here or always.

import { keep } from "./keep.js";

const KEY = "attention:predictions"; // the theme reads it, too, before anything is drawn
const { dataset } = document.documentElement;

for (const covered of document.querySelectorAll(".covered")) {
  const on = (name, act) => covered.querySelector(name).addEventListener("click", act);
  on(".cover-show", () => {
    covered.classList.add("shown");
    covered.tabIndex = -1;
    covered.focus();
  });
  on(".cover-none", () => {
    dataset.predictions = "open";
    keep(KEY, "open");
    covered.querySelector(".cover-again").focus();
  });
  on(".cover-again", () => {
    delete dataset.predictions;
    keep(KEY, "covered");
    for (const other of document.querySelectorAll(".covered.shown")) other.classList.remove("shown");
    covered.querySelector(".cover-show").focus();
  });
}
