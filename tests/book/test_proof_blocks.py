"""A proof is built in the page by keyboard, mouse or finger, and marked as in the notebook."""

import json
from random import Random

import pytest

from autograder.exercises.assignment import ProofBlocks, load_course
from course_lib.checking.judge import judge_proof
from tests.book.built_pages import soup

pytestmark = pytest.mark.browser

PROOFS = {
    exercise.name: exercise
    for assignment in load_course()
    for exercise in assignment.exercises
    if isinstance(exercise, ProofBlocks)
}
ORDERS = 100
MANY_KEYS = 200
every_proof = pytest.mark.parametrize("name", PROOFS)
MARK = """async ([orders, data]) => {
  const {firstFault, share} = await import("./_static/marking.js");
  const fault = order => firstFault(data, order)?.words ?? null;
  return orders.map(order => [fault(order), data.points * share(data, order)]);
}"""

KEY_TOWARDS = """label => {
  const here = document.activeElement, there = document.querySelector(`[aria-label="${label}"]`);
  if (here === there) return null;
  const ahead = here.compareDocumentPosition(there) & Node.DOCUMENT_POSITION_FOLLOWING;
  return ahead ? "Tab" : "Shift+Tab";
}"""


def page_of(exercise: ProofBlocks) -> str:
    return f"chapters/{exercise.folder.parent.name}.html"


@pytest.fixture
def visit(browser, address):
    contexts = []

    def open_page(exercise, **options):
        contexts.append(browser.new_context(**options))
        tab = contexts[-1].new_page()
        tab.goto(f"{address}/{page_of(exercise)}")
        if options.get("java_script_enabled", True):
            tab.locator(".proof-blocks.ready").first.wait_for()
        return tab

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def softmax():
    return PROOFS["what_softmax_forgets"]


def built(tab) -> list[str]:
    return tab.locator(".proof-blocks .built > li").evaluate_all(
        "all => all.map(l => l.dataset.letter)"
    )


def check(tab) -> None:
    tab.locator(".proof-blocks .check-proof").click()


def some_orders(exercise: ProofBlocks) -> list[list[str]]:
    """Proofs, proofs begun, proofs with a few changes, and whatever chance gives."""
    chance, letters = Random(exercise.name), exercise.blocks.letters
    orders = [list(order) for order, _ in zip(exercise.blocks.proofs(), range(20), strict=False)]
    orders += [orders[0][:lines] for lines in range(1, len(orders[0]))]
    while len(orders) < ORDERS:
        order = list(chance.choice(orders[:20]))
        for _ in range(chance.randrange(1, 5)):
            letter = chance.choice(letters)
            if letter in order and len(order) > 1:
                order.remove(letter)
            if chance.random() < 0.8 and letter not in order:
                order.insert(chance.randrange(len(order) + 1), letter)
        orders.append(order)
        orders.append(chance.sample(letters, chance.randrange(1, len(letters) + 1)))
    return orders


@pytest.fixture(scope="module")
def short_page(browser, address):
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(f"{address}/search.html")
        yield tab


@every_proof
def test_the_page_marks_as_the_notebook_does(name, short_page):
    exercise = PROOFS[name]
    data, orders = exercise.marked_by, some_orders(exercise)
    expected = [judge_proof(name, order, data) for order in orders]
    marked = short_page.evaluate(MARK, [orders, data])
    assert [fault for fault, _ in marked] == [fault for fault, _ in expected]
    assert [points for _, points in marked] == pytest.approx([points for _, points in expected])
    kinds = ["does not hold", "not there yet", "every line follows"]
    for kind in kinds + ["interrupts"] * bool(exercise.blocks.part):
        assert any(fault and kind in fault for fault, _ in expected)
    assert (None, exercise.points) in expected


@every_proof
def test_the_page_holds_what_the_notebook_marks_by(name, site):
    exercise = PROOFS[name]
    box = soup(site, page_of(exercise)).find(id=f"ex-{exercise.slug}").find(class_="proof-blocks")
    data = exercise.marked_by
    data.pop("text")
    assert json.loads(box.script.text) == json.loads(json.dumps(data))
    assert box["data-exercise"] == f"{exercise.folder.parent.name}/{name}"


@every_proof
def test_a_proof_is_built_by_keyboard_alone(name, visit):
    exercise = PROOFS[name]
    tab = visit(exercise)

    def focus(label):
        for _ in range(MANY_KEYS):
            key = tab.evaluate(KEY_TOWARDS, label)
            if key is None:
                return
            tab.keyboard.press(key)
        pytest.fail(f"{label} cannot be reached by keyboard")

    tab.evaluate("id => { location.hash = id; }", f"ex-{exercise.slug}")  # as a link leads there
    for letter in exercise.solution:
        focus(f"Add line {letter} to the proof")
        tab.keyboard.press("Space")
    assert built(tab) == exercise.solution
    assert tab.locator(".proof-blocks [data-step]").count() == 0, "no verdict before Check"
    tab.locator(".proof-blocks .check-proof").press("Enter")
    assert "A proof. Every line follows" in tab.locator(".proof-blocks .verdict").text_content()
    assert (
        f"{exercise.points:g} of {exercise.points:g} points"
        in tab.locator(".proof-blocks [role=status]").inner_text()
    )
    for _ in range(MANY_KEYS):
        tab.keyboard.press("Tab")
        if not tab.evaluate("document.activeElement.closest('.proof-blocks')"):
            break
    else:
        pytest.fail("the keyboard does not lead out again")
    key = f"attention:exercise:{exercise.folder.parent.name}/{name}"
    assert json.loads(tab.evaluate("key => localStorage[key]", key))["value"]["state"] == "solved"


def test_a_line_is_moved_up_and_down_and_out_by_keyboard(softmax, visit):
    tab = visit(softmax)
    for letter in "jae":
        tab.locator(f"[data-letter={letter}] .move-in").press("Enter")
    tab.keyboard.press("Enter")  # e has the focus, on "up"
    assert built(tab) == ["j", "e", "a"]
    status = tab.locator(".proof-blocks [role=status]")
    assert status.inner_text() == "Line e is step 2 of 3."
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    assert built(tab) == ["j", "a", "e"]
    tab.locator("[data-letter=a] .move-out").press("Enter")
    assert built(tab) == ["j", "e"]
    assert status.inner_text().startswith("Line a is back among the lines offered.")
    assert tab.evaluate("document.activeElement.ariaLabel") == "Add line a to the proof"
    offered = tab.locator(".proof-blocks .offered > li > strong").all_text_contents()
    assert offered == sorted(offered)


def test_a_wrong_step_says_why_it_does_not_follow(softmax, visit):
    tab = visit(softmax)
    letter, why = next(iter(softmax.blocks.why_not.items()))
    tab.locator(f"[data-letter={letter}] .move-in").click()
    check(tab)
    reason = tab.locator(f"[data-letter={letter}] .reason").inner_text()
    assert reason == f"Line {letter} does not hold here: {why}"
    assert "0 of 7 points" in tab.locator(".proof-blocks .verdict").text_content()


def test_a_proof_opens_after_three_different_attempts_or_when_it_is_built(softmax, visit):
    tab = visit(softmax)
    fold = tab.locator(f"#ex-{softmax.slug} details.model-answer")
    for letter in softmax.solution[1:3]:
        tab.locator(f"[data-letter={letter}] .move-in").click()
        check(tab)
        check(tab)
        assert fold.get_attribute("open") is None
    tab.locator(f"[data-letter={softmax.solution[3]}] .move-in").click()
    check(tab)
    assert fold.get_attribute("open") is not None


def middle(line) -> tuple[float, float]:
    box = line.bounding_box()
    return box["x"] + 14, box["y"] + box["height"] / 2


STILL = ".bd-article section { content-visibility: visible !important }"
"""Sections drawn late would move the lines away from the pointer of a test."""


def test_lines_are_dragged_by_mouse(softmax, visit):
    tab = visit(softmax, viewport={"width": 1280, "height": 1400})
    tab.add_style_tag(content=STILL)
    proof = tab.locator(".proof-blocks .built")
    for letter in reversed(softmax.solution):  # each to the top of the proof
        line = tab.locator(f"[data-letter={letter}]")
        proof.scroll_into_view_if_needed()
        line.locator(".line").hover()
        tab.mouse.down()
        tab.mouse.move(*middle(proof), steps=3)
        box = proof.bounding_box()  # the list above it is now one line shorter
        tab.mouse.move(box["x"] + 40, box["y"] + 3, steps=3)
        tab.mouse.up()
    assert built(tab) == softmax.solution
    line = tab.locator(f"[data-letter={softmax.solution[0]}]")
    line.locator(".line").hover()
    tab.mouse.down()
    tab.mouse.move(*middle(tab.locator(".proof-blocks .offered")), steps=4)
    tab.mouse.up()
    assert built(tab) == softmax.solution[1:]


def test_a_line_is_dragged_by_finger_and_the_page_scrolls_beside_its_grip(softmax, visit):
    tab = visit(softmax, viewport={"width": 390, "height": 1600}, has_touch=True)
    tab.add_style_tag(content=STILL)
    tab.locator(".proof-blocks .built").scroll_into_view_if_needed()
    finger = tab.context.new_cdp_session(tab)

    def touch(kind, *points):
        points = [{"x": x, "y": y} for x, y in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def drag(start):
        end = middle(tab.locator(".proof-blocks .built"))
        touch("touchStart", start)
        for share in (0.1, 0.4, 0.7, 1):
            touch("touchMove", [a + share * (b - a) for a, b in zip(start, end, strict=True)])
        touch("touchEnd")

    drag(middle(tab.locator("[data-letter=j] .grip")))
    assert built(tab) == ["j"]
    text = tab.locator("[data-letter=b] .line").bounding_box()
    drag((text["x"] + 20, text["y"] + 10))
    assert built(tab) == ["j"]


def test_a_proof_begun_is_there_again_after_a_reload(softmax, visit):
    tab = visit(softmax)
    for letter in softmax.solution[:3]:
        tab.locator(f"[data-letter={letter}] .move-in").click()
    tab.reload()
    tab.locator(".proof-blocks.ready").wait_for()
    assert built(tab) == softmax.solution[:3]
    check(tab)
    assert "4 more belong to the proof" in tab.locator(".proof-blocks .verdict").text_content()


def test_without_javascript_the_lines_stand_as_a_list(softmax, visit):
    tab = visit(softmax, java_script_enabled=False)
    lines = tab.locator(".proof-blocks .offered > li")
    assert lines.locator("strong").all_text_contents() == list(softmax.blocks.letters)
    assert lines.last.is_visible()
    assert not tab.locator(".proof-blocks .built").is_visible()
