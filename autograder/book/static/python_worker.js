// Python in a worker, so that a page stays alive whatever its cells do. It is told which chapter it
// serves, and then answers one question after the other.

const PRINTED_AT_MOST = 20_000;
const plainFetch = self.fetch;
let python, page, packed;
let printed = 0;
let pictures = null;

// Pyodide waits for ever for some files that did not come, and does not name the others; and it
// does not know that a packed file is to be unpacked
self.fetch = async (...request) => {
  const name = String(request[0]?.url ?? request[0]).split("/").pop();
  const wasm = name.endsWith(".wasm"); // packed, too, which Pyodide does not know
  if (wasm) request = [`${request[0]?.url ?? request[0]}.packed`];
  try {
    const answer = await plainFetch(...request);
    if (!answer.ok) postMessage({ died: `${name} (${answer.status})` });
    else tell(answer.clone().body);
    if (!answer.ok || !(wasm || name.endsWith(".packed"))) return answer;
    const unpacked = new Response(answer.body.pipeThrough(new DecompressionStream("gzip")));
    const headers = wasm ? { "Content-Type": "application/wasm" } : {};
    // a file that breaks off is named here, too
    return new Response(await unpacked.arrayBuffer(), { headers });
  } catch (error) {
    postMessage({ died: name });
    throw error;
  }
};

/** How much has come; on a slow line it is long on its way. */
function tell(body) {
  const write = ({ length }) => postMessage({ arrived: length });
  body.pipeTo(new WritableStream({ write })).catch(() => {}); // who reads the answer says what broke
}

const archive = async (address) => (await fetch(address)).arrayBuffer();

function print(line) {
  if (printed > PRINTED_AT_MOST) return;
  printed += line.length + 1;
  const cut = printed > PRINTED_AT_MOST ? "\n... and more, which is not shown" : "";
  postMessage({ printed: `${line}\n${cut}` });
}

async function start({ files, chapter }) {
  packed = (name) => `${files}${name}.packed`;
  const archives = Promise.all(
    ["libraries", "course_lib", ...(chapter ? [chapter] : [])].map((name) => archive(packed(name))),
  );
  const { loadPyodide } = await import(`${files}pyodide.mjs`);
  python = await loadPyodide({
    stdLibURL: packed("standard"), stdout: print, stderr: print, env: { MPLBACKEND: "agg" },
  });
  const [, library] = await archives;
  python.unpackArchive(library, "zip", { extractDir: "/library" });
  // what a chapter brings takes the place of what refuses there
  for (const each of await archives) python.unpackArchive(each, "zip", { extractDir: "/course" });
  python.runPython(
    'import os, sys; os.chdir("/course"); sys.path.insert(0, "/course"); sys.path.append("/library")',
  );
  page = python.pyimport("course_lib.checking.page");
  printed = 0;
}

/** Matplotlib comes with the first source that draws. */
async function fetchWhatIsUsed(source) {
  if (pictures || !page.draws(source)) return;
  postMessage({ loading: "pictures" });
  python.unpackArchive(await archive(packed("pictures")), "zip", { extractDir: "/course" });
  pictures = true;
}

function run(name, source, columns) {
  const outcome = page.run(name, source, columns);
  const [held, drawn] = outcome.toJs();
  outcome.destroy();
  return { held, drawn: drawn.map(([png, alt]) => ({ png, alt })) };
}

const answers = {
  start,
  run: async ({ cells, columns }) => {
    await fetchWhatIsUsed(cells.at(-1)[1]);
    return run(...cells.at(-1), columns);
  },
  check: ({ name, cells }) => page.check(name, python.toPy(cells)),
  hints: ({ name }) => page.hints(name).toJs(),
};

self.onmessage = async ({ data: { ask, ...given } }) => {
  try {
    printed = 0;
    postMessage({ answer: await answers[ask](given) });
  } catch (error) {
    postMessage({ died: String(error.message ?? error) });
  }
};
