// Keys of a text area in which Python is written.

const INDENT = "    ";

/** `keys` says what Run and Check do here; `leave` is called when the reader presses Escape. */
export function editPython(text, { run, check, leave = () => {} }) {
  let leaving = false;
  text.addEventListener("blur", () => (leaving = false));
  text.addEventListener("keydown", (event) => {
    const plain = !(event.altKey || event.metaKey || event.ctrlKey);
    if (event.key === "Escape") {
      leaving = true;
      leave();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      check();
    } else if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      run();
    } else if (event.key === "Enter" && plain) {
      event.preventDefault();
      newLine(text);
    } else if (event.key === "Tab" && plain && !leaving) {
      event.preventDefault();
      indent(text, event.shiftKey);
    } else if (event.key !== "Tab" && event.key !== "Shift") {
      leaving = false;
    }
  });
}

/** Characters in a line of output: NumPy is to break its rows, not the page. */
export function columnsIn(box, fontOf = box) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = getComputedStyle(fontOf).font;
  const { paddingLeft, paddingRight } = getComputedStyle(box);
  const width = box.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return Math.floor(width / pen.measureText("0").width) - 1;
}

export function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

export function button(words, act) {
  const made = make("button", { type: "button", textContent: words });
  made.addEventListener("click", act);
  return made;
}

function newLine({ value, selectionStart }) {
  const line = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
  const deeper = line.trimEnd().endsWith(":") ? INDENT : "";
  type(`\n${line.match(/^ */)[0]}${deeper}`);
}

function indent(text, back) {
  const { value, selectionStart, selectionEnd } = text;
  if (selectionStart === selectionEnd && !back) return type(INDENT);
  const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
  const lines = value.slice(from, selectionEnd);
  const moved = back ? lines.replace(/^ {1,4}/gm, "") : lines.replace(/^/gm, INDENT);
  text.setSelectionRange(from, selectionEnd);
  type(moved);
  text.setSelectionRange(from, from + moved.length);
}

/** As if typed, so that the browser can undo it. */
function type(words) {
  document.execCommand(words ? "insertText" : "delete", false, words);
}

export function picture(png, alt) {
  return make("img", { src: URL.createObjectURL(new Blob([png], { type: "image/png" })), alt });
}
