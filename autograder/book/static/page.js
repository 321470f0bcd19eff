// What a page does by itself: colours, copies of code, the section being read, keys for what scrolls.

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const storage = {
  get() { try { return localStorage.getItem("theme"); } catch { return null; } },
  set(theme) {
    try {
      if (theme) localStorage.setItem("theme", theme);
      else localStorage.removeItem("theme");
    } catch { /* storage refused: the choice holds for this page */ }
  },
};

const colours = document.querySelector(".colours");
const show = (theme) => {
  root.dataset.theme = theme;
  colours.setAttribute("aria-pressed", String(theme === "dark"));
};
const ofSystem = () => (system.matches ? "dark" : "light");
colours.hidden = false;
show(root.dataset.theme);
colours.addEventListener("click", () => {
  const theme = root.dataset.theme === "dark" ? "light" : "dark";
  storage.set(theme === ofSystem() ? null : theme);
  show(theme);
});
system.addEventListener("change", () => storage.get() || show(ofSystem()));

// a menu has done its work when a section has been chosen
for (const menu of document.querySelectorAll("nav[popover]")) {
  menu.addEventListener("click", (event) => {
    if (event.target.closest("a") && menu.matches(":popover-open")) menu.hidePopover();
  });
}

if (navigator.clipboard) {
  for (const code of document.querySelectorAll(".cell_input .highlight pre, .highlight-python pre")) {
    const button = document.createElement("button");
    Object.assign(button, {type: "button", className: "copy", textContent: "Copy"});
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent.replace(/\n$/, ""));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    code.parentElement.append(button);
  }
}

// what is wider than the column scrolls, also by the arrow keys
const scrolling = ".katex-display, .bd-article pre, .wide, .values > div";
const reach = new ResizeObserver((boxes) => {
  for (const {target} of boxes) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
document.querySelectorAll(scrolling).forEach((box) => reach.observe(box));

const links = [...document.querySelectorAll("#sections a[href*='#']")];
const title = document.querySelector("h1");
const places = links.map((link) => link.hash ? document.getElementById(link.hash.slice(1)) : title);
const near = new Set();
const reading = new IntersectionObserver((changes) => {
  for (const {target, isIntersecting} of changes) near[isIntersecting ? "add" : "delete"](target);
  const here = near.has(title) ? title : places.findLast((place) => near.has(place));
  if (here) links.forEach((link, k) => link.toggleAttribute("data-here", places[k] === here));
}, {rootMargin: "0px 0px -70% 0px"});
for (const place of places) if (place) reading.observe(place);
