// Python in a worker, so that a page stays alive whatever its cells do. It is told which chapter it
// serves, and then answers one question after the other.

const PRINTED_AT_MOST = 20_000;
const plainFetch = self.fetch;
let python, page;
let printed = 0;

// Pyodide waits for ever for some files that did not come, and does not name the others; and it
// does not know that a packed file is to be unpacked
self.fetch = async (...request) => {
  const name = String(request[0]?.url ?? request[0]).split("/").pop();
  try {
    const answer = await plainFetch(...request);
    if (!answer.ok) postMessage({ died: `${name} (${answer.status})` });
    else tell(answer.clone().body);
    if (!answer.ok || !name.endsWith(".packed")) return answer;
    const unpacked = new Response(answer.body.pipeThrough(new DecompressionStream("gzip")));
    return new Response(await unpacked.arrayBuffer()); // a file that breaks off is named here, too
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
  const packed = (name) => `${files}${name}.packed`;
  const archives = Promise.all([archive(packed("libraries")), archive(packed(chapter))]);
  const { loadPyodide } = await import(`${files}pyodide.mjs`);
  python = await loadPyodide({ stdLibURL: packed("standard"), stdout: print, stderr: print });
  for (const each of await archives) python.unpackArchive(each, "zip", { extractDir: "/course" });
  python.runPython('import os, sys; os.chdir("/course"); sys.path.insert(0, "/course")');
  page = python.pyimport("course_lib.checking.page");
  printed = 0;
}

const answers = {
  start,
  run: ({ cells, columns }) => page.run(...cells.at(-1), columns),
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
