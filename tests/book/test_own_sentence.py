"""The published sentence encoder in the page computes what course_lib computes, and stays calm."""

import json
import subprocess

import numpy as np
import pytest

from autograder.book.figures import MODULES
from autograder.book.page_models import FILES, megabytes
from autograder.typeset.katex import node_binary
from course_lib.pretrained import FOLDER
from course_lib.sentence_encoder import SOURCE, SentenceEncoder
from tests.course_lib.sentences import ENGLISH, SCRIPTS, SIGNS

MODEL = MODULES.parent / "sentence-encoder.js"
RUN = """
import { readFileSync } from "node:fs";
const { model, run } = await import(process.argv[1]);
const [weights, vocabulary, sentences] = process.argv.slice(2).map((file) => readFileSync(file));
const buffer = weights.buffer.slice(weights.byteOffset, weights.byteOffset + weights.length);
const encoder = model(buffer, JSON.parse(vocabulary));
const runs = JSON.parse(sentences).map((sentence) => run(encoder, sentence));
process.stdout.write(JSON.stringify(runs));
"""
FIGURE = ".moving-figure[data-figure=sentence_heads]"
MEGABYTES_AT_MOST = 7.5


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder.load()


def test_the_page_computes_what_course_lib_computes(encoder, tmp_path):
    lines = [*ENGLISH, *SCRIPTS, *SIGNS]
    chosen = lines[::3]
    assert len(chosen) >= 20
    (tmp_path / "sentences").write_text(json.dumps(chosen))
    options = ["--disable-warning=MODULE_TYPELESS_PACKAGE_JSON", "--input-type=module"]
    files = [*(FOLDER / SOURCE.name / name for name in FILES), tmp_path / "sentences"]
    done = subprocess.run(
        [str(node_binary()), *options, "-e", RUN, MODEL.as_uri(), *map(str, files)],
        capture_output=True,
        text=True,
        check=True,
    )
    for sentence, got in zip(chosen, json.loads(done.stdout), strict=True):
        run = encoder.run(sentence)
        assert tuple(got["tokens"]) == run.tokens
        weights = np.reshape(got["weights"], run.weights.shape)
        np.testing.assert_allclose(weights, run.weights, atol=1e-5)


def test_the_model_is_as_small_as_was_promised():
    assert megabytes(SOURCE) <= MEGABYTES_AT_MOST


@pytest.mark.browser
def test_a_reader_sees_the_heads_on_a_sentence_of_his_own(browser, address, encoder):
    sentence = "The nurse thanked the boy because he was kind."
    with browser.new_context() as context:
        tab = context.new_page()
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(f"{address}/chapters/welcome.html")
        figure = tab.locator(f"{FIGURE}[data-started]")
        figure.wait_for()
        assert not [url for url in asked if "models" in url]
        figure.locator(".own-sentence .load").click()
        own = figure.locator(".own-sentence input")
        own.wait_for()
        asked.clear()
        own.fill(sentence)
        run = encoder.run(sentence)
        choice = figure.locator("select[data-name=sentence]")
        tab.wait_for_function("select => select.value === '3'", arg=choice.element_handle())
        rows = figure.locator(".values tbody tr")
        weights = run.weights[1, 3]
        for i, row in enumerate(rows.all()):
            cells = [cell.strip() for cell in row.locator("th, td").all_text_contents()]
            j = int(weights[i].argmax())
            names = [run.tokens[k].replace("▁", "") for k in (i, j)]
            assert cells[:2] == names
            assert float(cells[2]) == pytest.approx(weights[i, j], abs=0.006)
        assert rows.count() == len(run.tokens)

        said = figure.locator(".own-sentence [role=status]")
        before = figure.locator(".values table").inner_text()
        own.fill("word " * 60)
        tab.wait_for_function("said => said.textContent.includes('60')", arg=said.element_handle())
        own.fill("")
        tab.wait_for_function("said => !said.textContent.includes('60')", arg=said.element_handle())
        assert said.text_content()
        assert figure.locator(".values table").inner_text() == before
        own.fill("( [ 🙂 <b>")
        tab.wait_for_function("said => said.textContent === ''", arg=said.element_handle())
        assert asked == [], "once the model is here, nothing is fetched"


@pytest.mark.browser
def test_a_model_that_does_not_come_is_told_and_can_be_asked_for_again(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.route("**/*.safetensors", lambda route: route.abort())
        tab.goto(f"{address}/chapters/welcome.html")
        figure = tab.locator(f"{FIGURE}[data-started]")
        figure.wait_for()
        button = figure.locator(".own-sentence .load")
        button.click()
        said = figure.locator(".own-sentence [role=status]")
        tab.wait_for_function("said => said.textContent", arg=said.element_handle())
        assert button.is_enabled()
