"""The studio in a real browser: what a user does, and what the page then shows."""

from __future__ import annotations

import io
import re
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from browsing import SCREENSHOTS, frames, wait_until, without_steps

pytestmark = [pytest.mark.browser, pytest.mark.slow]

MOVED = "studio.shown.text !== null && studio.shown.text === studio.good && studio.curves.plots.length > 0"
TEXT = "studio.editor.text"
# Where each line of the text in view, and its number, begins.
TOPS = """() => [".cm-line", ".cm-lineNumbers .cm-gutterElement"].map((selector) =>
  [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect()).filter(({ height }) => height)
    .map(({ top }) => Math.round(top)))"""
IDLE = f"window.studio && {MOVED} && studio.good === studio.state.text && !studio.desk.isBusy && !studio.keeping"


def ready(page: Any) -> Any:
    wait_until(page, IDLE, 240.0)
    return page


def keep_picture(page: Any, name: str) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"studio_{name}.png")


def rewrite(page: Any, old: str, new: str) -> None:
    """Select a piece of the text and type over it, as a user does."""
    page.evaluate(
        """(old) => {
          const { text, view } = studio.editor, at = text.indexOf(old);
          if (at < 0) throw new Error("not in the text: " + old);
          view.focus();
          view.dispatch({ selection: { anchor: at, head: at + old.length }, scrollIntoView: true });
        }""",
        old,
    )
    page.keyboard.type(new)


def write_over(page: Any, text: str) -> None:
    """Replace the whole text as a user does: all of it selected, then typed over.

    The driver's `fill` inserts before the editor has heard of the selection, which then may be lost.
    """
    page.focus("#text")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def words(page: Any, selector: str) -> str:
    """What one reads there, rows that are out of view included: they are laid out last."""
    wait_until(page, "!document.querySelector('.panel .later')")
    return page.locator(selector).inner_text()


def curve(page: Any, plot: int = 0, number: int = 0) -> list[float]:
    return page.evaluate("([p, c]) => [...studio.curves.plots[p].curves[c].values]", [plot, number])


def test_it_opens_with_everything_in_its_place(visit):
    page = ready(visit())
    assert words(page, "#title") == "Orthogonal double pendulum"
    assert page.locator("#panel-equations .term").count() > 10
    assert page.locator(".handle:not(.hand)").count() == 2
    assert page.locator("#parameters input[type=range]").count() == 5
    assert page.locator("#curves .plot").count() == 3
    wait_until(page, "document.querySelectorAll('#derivatives .influence tbody tr').length === 5")
    drawn = page.evaluate(
        """() => {
          studio.show.theatre.scene.draw("fine");
          const { gl } = studio.show.theatre.scene, pixels = new Uint8Array(4 * 64 * 64);
          gl.readPixels(gl.drawingBufferWidth / 2 - 32, gl.drawingBufferHeight / 2 - 32, 64, 64, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
          return new Set(pixels).size;
        }"""
    )
    assert drawn > 8, "the picture is empty"
    keep_picture(page, "double_pendulum")
    page.set_viewport_size({"width": 360, "height": 800})
    page.evaluate(
        "document.querySelector('#title').textContent = 'A mechanism whose title is longer than a telephone is wide'"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_an_edit_shows_its_equations_and_its_motion(visit):
    page = ready(visit())
    before, x = words(page, "#panel-equations"), curve(page)
    rewrite(page, "gravity = [0, -g, 0]", "gravity = [0, -2*g, 0]")
    wait_until(page, "studio.good === studio.state.text && studio.state.text.includes('-2*g')")
    ready(page)
    assert words(page, "#panel-equations") != before and "2" in words(page, "#panel-equations")
    assert curve(page) != x
    assert words(page, "#faults") == ""


def test_a_fault_is_shown_at_its_place_and_the_last_good_model_stays(visit):
    page = ready(visit())
    rewrite(page, "blade.frame as", "blde.frame as")
    wait_until(page, "!studio.desk.busy.has('describe') && document.querySelectorAll('#text .fault').length > 0")
    marked = page.evaluate("[...document.querySelectorAll('.cm-line.wrong .fault')].map((one) => one.textContent)")
    assert any(text.startswith("blde") for text in marked)
    assert "Did you mean 'blade'?" in words(page, "#faults")
    assert page.locator("#panel-equations .term").count() > 10
    keep_picture(page, "wrong_text")
    page.locator("#faults button", has_text="blde").click()
    assert page.evaluate("getSelection().toString()").startswith("blde")
    assert page.evaluate("document.activeElement.id") == "text"
    before = curve(page)
    page.focus("#slider-m2")
    page.keyboard.press("ArrowRight")
    wait_until(page, f"Object.keys(studio.state.values).length === 1 && {MOVED} && !studio.desk.isBusy")
    assert curve(page) != before
    rewrite(page, "blde.frame as", "blade.frame as")
    wait_until(page, "document.querySelectorAll('#text .fault').length === 0")
    ready(page)


def test_numbers_stand_beside_their_lines(visit):
    """Also where lines break, and after the type has grown."""
    page = ready(visit())
    for _ in range(2):
        frames(page)
        lines, numbers = page.evaluate(TOPS)
        assert len(lines) > 10 and lines == numbers
        assert max(b - a for a, b in pairwise(lines)) > 30, "no line breaks"
        page.click("#larger")


def test_a_slider_moves_the_motion_and_its_sensitivities(visit):
    page = ready(visit())
    wait_until(page, "document.querySelectorAll('#derivatives .influence tbody tr').length === 5")
    before, table = curve(page), words(page, "#derivatives")
    box = page.locator("#slider-l2").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], middle, steps=8)
    wait_until(page, "studio.state.values.l2 > 2.5 && !studio.desk.isBusy")
    page.mouse.up()
    ready(page)
    assert curve(page) != before
    wait_until(page, f"document.getElementById('derivatives').innerText !== {table!r}")
    length = page.evaluate("() => studio.state.values.l2")
    points = page.evaluate("() => studio.show.stage.bodies[2].shapes.filter((one) => one.end).map((one) => one.end)")
    assert any(abs(point[0] + length) < 1e-3 for point in points), "the blade is drawn as long as it is"
    page.locator("#reset-values").click()
    ready(page)
    assert curve(page) == before


def test_symbols_beside_sliders_are_whole(visit):
    """`x` with the index "force on satellite" is wider than its column, and gets a line of its own."""
    page = visit("library:satellite")
    wait_until(page, "document.querySelector('.slider.long')")

    def cut_off() -> list[str]:
        frames(page)  # sizes are observed after the layout
        return page.evaluate("""[...document.querySelectorAll(".slider > :first-child")]
            .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth).map((one) => one.title)""")

    assert cut_off() == []
    unknown = page.locator("#parameters input[type=range]").first
    assert unknown.get_attribute("aria-valuetext") == "no value"
    assert unknown.evaluate("(one) => Number(one.value) === (Number(one.min) + Number(one.max)) / 2")
    keep_picture(page, "long_symbols")
    page.click("#larger")
    assert cut_off() == []
    page.set_viewport_size({"width": 1100, "height": 800})
    assert cut_off() == []
    page.locator("details:has(#start) > summary").click()
    assert cut_off() == []
    assert page.locator("#start .slider.long").count() > 0
    keep_picture(page, "long_symbols_large")


def test_a_handle_sets_the_start(visit):
    page = ready(visit())
    ring = page.locator("[data-handle=q1]")
    box = ring.bounding_box()
    x, y = page.evaluate("() => studio.show.handles.reach(studio.show.handles.marks.get('q1'))")
    way = [30 * x / (x * x + y * y) ** 0.5, 30 * y / (x * x + y * y) ** 0.5]
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 10 + way[0], box["y"] + 10 + way[1], steps=10)
    page.mouse.up()
    wait_until(page, "'q1' in studio.state.initial && !studio.desk.isBusy")
    ready(page)
    value = page.evaluate("() => studio.state.initial.q1")
    assert abs(value - 0.785) > 0.02 and abs(curve(page)[0] - value) < 1e-5
    after = ring.bounding_box()
    assert abs(after["x"] - box["x"] - way[0]) < 6 and abs(after["y"] - box["y"] - way[1]) < 6
    ring.focus()
    page.keyboard.press("ArrowRight")
    wait_until(page, f"studio.state.initial.q1 > {value} + 0.01")
    ready(page)


def test_a_definition_unfolds_and_stays_unfolded(visit):
    page = ready(visit())
    page.select_option("#level", "matrix")
    wait_until(page, "document.querySelectorAll('#panel-equations .chip').length > 2")
    chip = page.locator("#panel-equations .chip").first
    chip.click()
    entry = page.locator(f"#{chip.get_attribute('aria-controls')}")
    assert entry.is_visible()
    rewrite(page, "m1 = 4 kg", "m1 = 5 kg")
    ready(page)
    assert page.locator("#panel-equations .chip[aria-expanded=true]").count() == 1
    page.locator("#panel-equations summary").first.click()
    assert page.locator("#panel-equations details[open]").count() == 0


def test_formalisms_and_levels_are_chosen(visit):
    page = ready(visit())
    for level in ("recursive", "intrinsic", "scalar"):
        page.select_option("#level", level)
        wait_until(page, f"document.querySelector('#panel-equations .block')?.dataset.level === '{level}'")
    wait_until(page, "!document.querySelector('#panel-equations .later')")
    scalar = without_steps(words(page, "#panel-equations"))
    page.select_option("#formalism", "lagrange")
    frames(page)
    ready(page)
    wait_until(page, "!document.querySelector('#panel-equations .later')")
    assert without_steps(words(page, "#panel-equations")) == scalar, "lagrange writes the same equations"
    page.select_option("#formalism", "boltzmann_hamel")
    ready(page)
    assert words(page, "#panel-equations")


def test_rows_in_view_are_laid_out_first_and_all_of_them_soon(visit):
    page = ready(visit("library:pendulum_chain?n=7"))
    page.evaluate(
        """() => {
          const { equations } = studio, seen = equations.show;
          equations.show = function (...given) {
            seen.apply(this, given);
            const rows = [...this.panel.querySelectorAll(".equation")];
            window.rows = [rows[0], rows.at(-1)].map((row) => row.firstElementChild.getBoundingClientRect().height > 0);
          };
        }"""
    )
    page.select_option("#level", "intrinsic")
    wait_until(page, "document.querySelector('#panel-equations .block')?.dataset.level === 'intrinsic'")
    assert page.evaluate("window.rows") == [True, False]
    wait_until(page, "document.querySelectorAll('#panel-equations .later').length === 0")
    page.evaluate("[...document.querySelectorAll('#panel-equations .equation')].at(-1).scrollIntoView()")
    frames(page)
    rewrite(page, "m = 1 kg", "m = 1.5 kg")
    page.select_option("#formalism", "kane")
    ready(page)
    assert page.evaluate("document.getElementById('panel-equations').scrollTop") > 500, "one reads on at the same place"
    keep_picture(page, "last_row")


@pytest.mark.slow
def test_pointing_at_a_term_lights_its_body(visit):
    page = ready(visit())
    page.locator("#panel-equations .term").first.hover()
    assert 1 in page.evaluate("studio.store.state.pointed.bodies")  # a gathered term may be of several
    assert "arm" in words(page, "#tip")
    page.locator(".panel .legend [data-body='2']").hover()
    assert page.evaluate("studio.store.state.pointed.bodies") == [2]


def test_loops_and_graph_have_their_tabs(visit):
    page = ready(visit("library:four_bar"))
    page.click("#tab-loops")
    wait_until(page, "document.getElementById('panel-loops').innerText.includes('infinitesimal mobility')")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#panel-graph svg").first.is_visible()
    assert page.locator("#panel-loops").is_hidden()
    keep_picture(page, "four_bar")


@pytest.mark.parametrize(
    ("what", "ending"), [("Report", ".html"), ("Study", "_study.zip"), ("Text", ".lsd"), ("Code: c", "_c.zip")]
)
def test_exports_arrive(visit, what, ending):
    page = ready(visit())
    page.click("#export")
    with page.expect_download(timeout=120_000) as download:
        page.get_by_role("menuitem", name=re.compile(f"^{what}")).first.click()
    found = download.value
    content = Path(found.path()).read_bytes()
    assert found.suggested_filename == f"double_pendulum{ending}"
    if ending.endswith("zip"):
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    else:
        assert b"double_pendulum" in content or b"Orthogonal double pendulum" in content


def test_the_library_opens_and_undo_brings_the_text_back(visit):
    page = ready(visit())
    before = page.evaluate("studio.state.text")
    page.click("#library")
    page.fill("#seek", "slider")
    page.locator("[data-entry=slider_crank]").click()
    wait_until(page, "studio.good === studio.state.text && studio.state.text.includes('slider_crank')")
    ready(page)
    page.focus("#text")
    page.keyboard.press("Control+z")
    wait_until(page, "studio.state.text.includes('double_pendulum')")
    assert page.evaluate("studio.state.text") == before


def test_what_was_typed_is_there_after_a_reload(visit):
    page = ready(visit())
    rewrite(page, "m1 = 4 kg", "m1 = 7 kg")
    page.focus("#slider-m2")
    page.keyboard.press("ArrowRight")
    page.select_option("#level", "matrix")
    ready(page)
    page.reload()
    ready(page)
    assert "m1 = 7 kg" in page.evaluate(TEXT)
    assert page.evaluate("studio.state.values.m2") > 2.0
    assert page.evaluate("document.getElementById('level').value") == "matrix"


def test_a_file_is_saved_only_when_asked_and_never_over_a_stranger(visit, tmp_path):
    file = tmp_path / "mine.lsd"
    from torseur.description.library import source_of

    file.write_text(source_of("pendulum"), encoding="utf-8")
    page = ready(visit(file))
    rewrite(page, "l = 1 m", "l = 2 m")
    ready(page)
    assert "l = 1 m" in file.read_text()
    page.keyboard.press("Control+s")
    wait_until(page, "!document.getElementById('file').classList.contains('unsaved')")
    assert "l = 2 m" in file.read_text()
    file.write_text("(* theirs *)\n")
    rewrite(page, "l = 2 m", "l = 3 m")
    ready(page)
    page.click("#save")
    wait_until(page, "document.getElementById('question').open")
    page.click("#question button[value=no]")
    assert file.read_text() == "(* theirs *)\n"
    page.click("#save")
    wait_until(page, "document.getElementById('question').open")
    page.click("#question-yes")
    wait_until(page, "!document.getElementById('file').classList.contains('unsaved')")
    assert "l = 3 m" in file.read_text()


def test_values_are_written_into_the_text(visit):
    page = ready(visit())
    page.locator("[data-name=m1] input[type=number]").fill("4.5")
    wait_until(page, "studio.state.values.m1 === 4.5")
    page.locator(".write.of-values").click()
    wait_until(page, "studio.state.text.includes('m1 = 4.5 kg')")
    assert page.evaluate("Object.keys(studio.state.values).length") == 0


def test_it_works_by_keyboard_alone(visit):
    """From the text with Escape and Tab to the picture, the handles, the tabs and the sliders."""
    page = ready(visit())
    page.focus("#text")
    page.keyboard.press("Escape")
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "document.activeElement.id || document.activeElement.dataset.handle || document.activeElement.className"
            )
        )
    for wanted in ("scene", "q1", "q2", "play", "time", "tab-equations", "slider-g", "slider-l2"):
        assert wanted in seen, f"{wanted} is not reached: {seen}"
    assert (
        seen.index("scene")
        < seen.index("q1")
        < seen.index("play")
        < seen.index("tab-equations")
        < seen.index("slider-g")
    )


@pytest.mark.slow
def test_it_plays(visit):
    page = ready(visit())
    page.click("#play")
    wait_until(page, "studio.store.state.time > 0.2")
    page.click("#play")
    assert not page.evaluate("studio.store.state.playing")


def test_large_type_and_dark(visit):
    page = ready(visit())
    size = page.evaluate("parseFloat(getComputedStyle(document.querySelector('.cm-line')).fontSize)")
    page.click("#larger")
    assert page.evaluate("parseFloat(getComputedStyle(document.querySelector('.cm-line')).fontSize)") > 1.25 * size
    page.click("#theme")
    ink = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--ink').trim()")
    assert ink == "#e6e9ec"
    frames(page)
    keep_picture(page, "large_and_dark")


def test_a_quadruped_stands(visit):
    page = ready(visit("library:quadruped"))
    assert page.locator(".handle:not(.hand)").count() == 18
    frames(page)
    keep_picture(page, "quadruped")


def test_undo_goes_back_through_typing_and_through_what_the_studio_wrote(visit):
    page = ready(visit())
    texts = [page.evaluate("studio.state.text")]
    rewrite(page, "m1 = 4 kg", "m1 = 5 kg")
    texts.append(page.evaluate("studio.state.text"))
    page.wait_for_timeout(900)  # what is typed within half a second is undone at once
    page.keyboard.type(" (* a *)")
    texts.append(page.evaluate("studio.state.text"))
    page.locator("[data-name=m2] input[type=number]").fill("3.25")
    page.locator(".write.of-values").click()
    wait_until(page, "studio.state.text.includes('m2 = 3.25 kg')")
    texts.append(page.evaluate("studio.state.text"))
    page.focus("#text")
    assert passed(page, "Control+z", len(texts) - 1, texts) == texts[-2::-1]
    assert passed(page, "Control+Shift+z", len(texts) - 1, texts) == texts[1:]
    assert page.evaluate(TEXT) == texts[-1]


def test_caret_and_undo_are_there_when_one_comes_back_to_the_text(visit):
    page = ready(visit())
    text = page.evaluate("studio.state.text")
    page.focus("#text")
    page.keyboard.press("Control+Home")
    page.keyboard.type("(* ab *)")
    page.focus("#level")
    page.focus("#text")
    page.keyboard.type("!")
    assert page.evaluate(TEXT) == f"(* ab *)!{text}"
    assert passed(page, "Control+z", 1, [text]) == [text]


def test_keys_in_the_text_are_the_text_s_own(visit):
    """A space is a letter and plays nothing; Tab writes four of them; Enter keeps the indent of its line."""
    page = ready(visit())
    text = page.evaluate("studio.state.text")
    page.focus("#text")
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    page.keyboard.type("a b")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate(TEXT) == f"    a b\n        {text}"
    assert not page.evaluate("studio.store.state.playing")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.id") != "text", "nobody is kept in"


def passed(page: Any, key: str, count: int, texts: list[str]) -> list[str]:
    """The next of these texts that a key leads to; what was typed at once may go in several steps."""
    found: list[str] = []
    for _ in range(100):
        if len(found) == count:
            break
        page.keyboard.press(key)
        if (text := page.evaluate("studio.state.text")) in texts:
            found.append(text)
    return found
