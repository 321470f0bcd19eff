"""The same walk through a chapter in three engines, on the plainest server, in a folder of it."""

import json
import re
import subprocess
import sys
from contextlib import closing

import pytest

from autograder.exercises.assignment import load_course
from tests.book.engines import ENTER, PATIENCE, Chromium, Firefox, WebKit
from tests.waiting import wait_until

pytestmark = pytest.mark.browser

CHAPTER = "chapters/03_softmax.html"
(CHAPTER_3,) = (assignment for assignment in load_course() if assignment.number == 3)
SOFTMAX, PROOF = CHAPTER_3["softmax"], CHAPTER_3["what_softmax_forgets"]


@pytest.fixture(scope="session")
def plain_host(site, tmp_path_factory):
    """`python -m http.server`, with no compression and no headers; the book in a folder of it."""
    host = tmp_path_factory.mktemp("host")
    (host / "courses").mkdir()
    (host / "courses" / "attention").symlink_to(site.folder)
    command = [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(command, cwd=host, **pipes) as serving:
        port = re.search(r"port (\d+)", serving.stdout.readline())[1]
        yield f"http://127.0.0.1:{port}/courses/attention"
        serving.terminate()


class Walk:
    """A reader's way through chapter 3."""

    def __init__(self, engine, address: str):
        self.engine, self.address = engine, address

    def wait_for(self, claim: str) -> None:
        wait_until(lambda: self.engine.run(f"return Boolean({claim})"), PATIENCE)

    def press(self, element: str, keys: str) -> None:
        """Keys at an element; what stands in it is written over."""
        self.engine.run(f"const one = $({json.dumps(element)}); one.focus(); one.select?.();")
        self.engine.press(keys)

    def opens(self, page: str) -> None:
        self.engine.open(f"{self.address}/{page}")
        self.engine.run("window.$ = selector => document.querySelector(selector)")

    def formulas_are_set(self) -> None:
        set_in = self.engine.run("""
            const formula = $(".katex-display .katex-html");
            formula.scrollIntoView();  // far away it has no height yet
            await document.fonts.ready;
            const loaded = [...document.fonts].filter(one => one.status === "loaded");
            return [getComputedStyle(formula).fontFamily, loaded.length];
        """)
        assert "KaTeX_Main" in set_in[0]
        assert set_in[1] > 0
        self.wait_for("$('.katex-display .katex-html').offsetHeight > 15")

    def turns_dark_and_light(self) -> None:
        before = self.engine.run("return getComputedStyle(document.body).backgroundColor")
        self.press(".colours", ENTER)
        dark = self.engine.run("return getComputedStyle(document.body).backgroundColor")
        self.press(".colours", ENTER)
        assert before != dark
        assert self.engine.run("return getComputedStyle(document.body).backgroundColor") == before

    def a_figure_answers_to_a_number(self) -> None:
        self.engine.run("$('.moving-figure').scrollIntoView()")
        self.wait_for("$('.moving-figure[data-started]')")
        sentence = self.engine.run("return $('.moving-figure .said').textContent")
        self.press(".moving-figure input[type=number][data-name=angle]", "180" + ENTER)
        self.wait_for(f"$('.moving-figure .said').textContent !== {json.dumps(sentence)}")
        assert (
            self.engine.run("return $('.moving-figure input[type=range][data-name=angle]').value")
            == "180"
        )

    def a_question_opens(self) -> None:
        answer = "$('.question:has(.choices) > .answer').checkVisibility()"
        assert not self.engine.run(f"return {answer}")
        self.press(".question .choices input", " ")
        self.wait_for(answer)

    def a_proof_is_built(self) -> None:
        self.wait_for("$('.proof-blocks.ready')")
        for letter in PROOF.solution:
            self.press(f".proof-blocks [data-letter={letter}] .move-in", ENTER)
        self.press(".proof-blocks .check-proof", ENTER)
        verdict = self.engine.run("return $('.proof-blocks .verdict').textContent")
        assert f"{PROOF.points:g} of {PROOF.points:g} points" in verdict

    def python_checks_an_answer(self) -> None:
        box = f"#ex-{SOFTMAX.slug} .try"
        self.press(f"{box} .try-open", ENTER)
        self.wait_for(
            f"$('{box} .try-status:last-of-type').textContent.includes('ready')"
            f" || $('{box} .try-result').textContent"
        )
        self.engine.run(
            f"$('{box} textarea').select();"
            f"document.execCommand('insertText', false, {json.dumps(SOFTMAX.solution)})"
        )
        self.press(f"{box} .try-buttons .first", ENTER)
        self.wait_for(f"$('{box} .try-result').dataset.verdict")
        result = f"const {{textContent, dataset}} = $('{box} .try-result');"
        text, verdict = self.engine.run(f"{result} return [textContent, dataset.verdict]")
        assert verdict == "holds", text

    def search_finds(self, word: str) -> None:
        self.opens("search.html")
        self.press("#words", word + ENTER)
        self.wait_for("location.search && document.querySelector('#search-results li a')")

    def whole(self) -> None:
        self.opens(CHAPTER)
        assert self.engine.errors == []
        self.formulas_are_set()
        self.turns_dark_and_light()
        self.a_figure_answers_to_a_number()
        self.a_question_opens()
        self.a_proof_is_built()
        self.python_checks_an_answer()
        assert self.engine.errors == []
        self.search_finds("entropy")


def test_the_walk_in_chromium(browser, plain_host):
    with closing(Chromium(browser)) as engine:
        Walk(engine, plain_host).whole()


@pytest.mark.slow
def test_the_walk_in_firefox(plain_host, tmp_path):
    with closing(Firefox(tmp_path)) as engine:
        Walk(engine, plain_host).whole()


@pytest.mark.slow
def test_the_walk_in_webkit(plain_host):
    with closing(WebKit()) as engine:
        Walk(engine, plain_host).whole()
