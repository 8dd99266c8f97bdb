"""The studio in Firefox: what a user does there, as in the tests of the other browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from browsing import SCREENSHOTS, frames, wait_until, without_steps
from firefox import Firefox, FirefoxPage, Visit
from presentation.studio.test_browser import TOPS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

IDLE = (
    "Boolean(window.studio && studio.shown.text !== null && studio.shown.text === studio.good && "
    "studio.curves.plots.length > 0 && studio.good === studio.state.text && !studio.desk.isBusy && !studio.keeping)"
)
WORDS = "(selector) => document.querySelector(selector).textContent"
COUNT = "(selector) => document.querySelectorAll(selector).length"
CURVE = "[...studio.curves.plots[0].curves[0].values]"
SELECT = """(old) => {
  const { text, view } = studio.editor, at = text.indexOf(old);
  view.focus();
  view.dispatch({ selection: { anchor: at, head: at + old.length }, scrollIntoView: true });
  return at;
}"""


@pytest.fixture
def visit(firefox: Firefox, tmp_path: Path) -> Iterator[Visit]:
    """Shows a studio of its own; what the page complains about fails the test."""
    pytest.importorskip("uvicorn", reason="the studio's libraries are not installed: pip install torseur[studio]")
    from torseur.presentation.studio.serving import running

    with ExitStack() as open_ones:

        def go(file: str = "library:double_pendulum") -> FirefoxPage:
            page = FirefoxPage(firefox)
            page.set_viewport_size({"width": 1440, "height": 900})
            page.goto(open_ones.enter_context(running(file, folder=tmp_path / "state")))
            return ready(page)

        firefox.complaints.clear()
        yield go
        FirefoxPage(firefox).goto("about:blank")
        assert firefox.complaints == []


def ready(page: FirefoxPage) -> FirefoxPage:
    wait_until(page, IDLE, 240.0)
    return page


def rewrite(page: FirefoxPage, old: str, new: str) -> None:
    """Select a piece of the text and type over it, as a user does."""
    assert page.evaluate(SELECT, old) >= 0, f"not in the text: {old}"
    page.type(new)


def keep_picture(page: FirefoxPage, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(SCREENSHOTS / f"firefox_{name}.png")


def test_it_opens_with_everything_in_its_place(visit):
    page = visit()
    assert page.evaluate(WORDS, "#title") == "Orthogonal double pendulum"
    assert page.evaluate(COUNT, "#panel-equations .term") > 10
    assert page.evaluate(COUNT, ".handle:not(.hand)") == 2
    assert page.evaluate(COUNT, "#curves .plot") == 3
    wait_until(page, "document.querySelectorAll('#derivatives .influence tbody tr').length === 5")
    frames(page)
    keep_picture(page, "double_pendulum")


def test_the_picture_is_three_dimensional(visit):
    """WebGL in software, where Firefox has a screen; drawn, and not one colour."""
    page = visit()
    if not page.evaluate("Boolean(document.createElement('canvas').getContext('webgl2'))"):
        pytest.skip("this Firefox has no WebGL: install Debian's package xvfb to give it a screen")
    drawn = page.evaluate(
        """() => {
          studio.show.theatre.scene.draw("fine");
          const { gl } = studio.show.theatre.scene, pixels = new Uint8Array(4 * 64 * 64);
          gl.readPixels(gl.drawingBufferWidth / 2 - 32, gl.drawingBufferHeight / 2 - 32, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
          return new Set(pixels).size;
        }"""
    )
    assert drawn > 8


def test_an_edit_and_a_fault(visit):
    page = visit()
    before, curve = page.evaluate(WORDS, "#panel-equations"), page.evaluate(CURVE)
    rewrite(page, "gravity = [0, -g, 0]", "gravity = [0, -2*g, 0]")
    wait_until(page, "studio.good === studio.state.text && studio.state.text.includes('-2*g')")
    ready(page)
    assert page.evaluate(WORDS, "#panel-equations") != before and page.evaluate(CURVE) != curve
    rewrite(page, "blade.frame as", "blde.frame as")
    wait_until(page, "!studio.desk.busy.has('describe') && document.querySelectorAll('#text .fault').length > 0")
    marked = page.evaluate("[...document.querySelectorAll('.cm-line.wrong .fault')].map((one) => one.textContent)")
    assert any(text.startswith("blde") for text in marked)
    assert "Did you mean 'blade'?" in page.evaluate(WORDS, "#faults")
    keep_picture(page, "wrong_text")
    for _ in range(20):
        page.press("Control+z")
        if "blade.frame as" in page.evaluate("studio.state.text"):
            break
    ready(page)
    assert page.evaluate("studio.state.text.includes('blade.frame as')")


def test_numbers_stand_beside_their_lines(visit):
    page = visit("library:quadruped")
    lines, numbers = page.evaluate(TOPS)
    assert len(lines) > 10 and lines == numbers
    keep_picture(page, "quadruped")


def test_sliders_and_handles_are_dragged(visit):
    page = visit()
    before = page.evaluate(CURVE)
    x, y = page.centre("#slider-l2")
    page.drag([(x, y), (x + 10, y), (x + 30, y), (x + 50, y)])
    wait_until(page, "studio.state.values.l2 > 2.3 && !studio.desk.isBusy")
    assert page.evaluate(CURVE) != before
    x, y = page.centre("[data-handle=q1]")
    rx, ry = page.evaluate("() => studio.show.handles.reach(studio.show.handles.marks.get('q1'))")
    size = (rx * rx + ry * ry) ** 0.5
    page.drag([(x + part * rx / size, y + part * ry / size) for part in (0, 10, 20, 30)])
    wait_until(page, "'q1' in studio.state.initial && !studio.desk.isBusy")
    ready(page)
    value = page.evaluate("studio.state.initial.q1")
    assert value > 0.8 and abs(page.evaluate(CURVE)[0] - value) < 1e-5
    keep_picture(page, "handles")


def test_formalisms_levels_and_folding(visit):
    page = visit()
    for level in ("recursive", "intrinsic", "matrix"):
        page.select_option("#level", level)
        wait_until(page, f"document.querySelector('#panel-equations .block')?.dataset.level === '{level}'")
        keep_picture(page, f"level_{level}")
    wait_until(page, "document.querySelectorAll('#panel-equations .chip').length > 2")
    wait_until(page, "!document.querySelector('#panel-equations .later')")
    frames(page)
    page.click("#panel-equations .chip")
    assert page.evaluate(COUNT, "#panel-equations .chip[aria-expanded=true]") == 1
    page.select_option("#level", "scalar")
    wait_until(page, "document.querySelector('#panel-equations .block')?.dataset.level === 'scalar'")
    terms = without_steps(page.evaluate(WORDS, "#panel-equations"))
    page.click("#panel-equations .term msup, #panel-equations .term mrow")
    wait_until(page, "document.querySelectorAll('#panel-equations .folded').length > 0")
    page.select_option("#formalism", "lagrange")
    frames(page)
    ready(page)
    assert page.evaluate(COUNT, "#panel-equations .folded") > 0, "what was folded stays folded"
    page.evaluate("document.querySelector('#panel-equations .fold').click()")
    assert without_steps(page.evaluate(WORDS, "#panel-equations")) == terms, "lagrange writes the same equations"


def test_pointing_at_a_term_lights_its_body(visit):
    page = visit()
    page.hover("#panel-equations .term")
    assert 1 in page.evaluate("studio.store.state.pointed.bodies")  # a gathered term may be of several
    assert "arm" in page.evaluate(WORDS, "#tip")


def test_loops_graph_and_export(visit, firefox):
    page = visit("library:four_bar")
    page.click("#tab-loops")
    wait_until(page, "document.getElementById('panel-loops').innerText.includes('infinitesimal mobility')")
    keep_picture(page, "four_bar")
    page.click("#tab-graph")
    assert page.evaluate("document.querySelector('#panel-graph svg').getBoundingClientRect().width") > 50
    keep_picture(page, "graph")
    page.click("#export")
    page.press("Enter")
    end = time.monotonic() + 60
    while not [one for one in firefox.downloads.glob("four_bar*.html") if one.stat().st_size > 10_000]:
        assert time.monotonic() < end, "the report did not arrive"
        page.wait_for_timeout(100)


def test_it_plays_and_is_there_after_a_reload(visit):
    page = visit()
    page.click("#play")
    wait_until(page, "studio.store.state.time > 0.2")
    page.click("#play")
    rewrite(page, "m1 = 4 kg", "m1 = 7 kg")
    page.evaluate("document.getElementById('slider-m2').focus()")
    page.press("ArrowRight")
    page.select_option("#level", "matrix")
    wait_until(page, "studio.state.values.m2 > 2")
    ready(page)
    page.reload()
    ready(page)
    assert "m1 = 7 kg" in page.evaluate("studio.editor.text")
    assert page.evaluate("studio.state.values.m2") > 2.0
    assert page.evaluate("document.getElementById('level').value") == "matrix"


def test_large_type_and_dark(visit):
    page = visit("library:slider_crank")
    page.click("#larger")
    page.click("#theme")
    wait_until(page, "getComputedStyle(document.documentElement).getPropertyValue('--ink').trim() === '#e6e9ec'")
    frames(page)
    keep_picture(page, "large_and_dark")
    page.click("#theme")
    page.click("#larger")
