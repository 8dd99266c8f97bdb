"""Any part of a term folds to a named placeholder and opens again: by pointer, by keyboard, for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import torseur as ts
from browsing import wait_until
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_page import write_report

pytestmark = pytest.mark.browser
# Not in the library: an undetermined law with a fraction, brackets and functions inside one term.
SWING = """
mechanism swing "a bob on a spring that stiffens" ;
param m = 2 kg, l = 0.7 m, k = 3 N*m, a = 0.4 rad, b = 0.3, g = 9.81 m/s^2 ;
gravity = [0, 0, -g] ;
let bob = body mass = m, centre = [0, 0, -l], inertia = 0 end ;
join earth and bob.frame as pivot with revolute(q) about [0, 1, 0] end ;
apply torque -k*sin(q)/(b + cos(2*q - a)^2) on q as stiffener ;
"""
STATE = "JSON.stringify(window.report.folding.state.map(([term, part]) => [term, part]))"


@pytest.fixture(scope="module")
def swing_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    content = content_of(ts.parse(SWING), Occasion(until=0.5, rtol=1e-6))
    return write_report(content, tmp_path_factory.mktemp("folding") / "swing.html")


@pytest.fixture
def card(open_page: Callable[..., Any], swing_file: Path) -> Iterator[Any]:
    page = open_page(swing_file)
    page.locator(".levels button[data-level=scalar]").click()
    return page.locator(".block[data-level=scalar]")


def load_term(card: Any) -> Any:
    return card.locator(".term[data-why*=stiffener]")


def text(term: Any) -> str:
    """What one reads, invisible operators left out."""
    return str(term.locator("math").text_content()).replace("\u2061", "")


def parts(card: Any) -> list[str]:
    found = load_term(card).evaluate("(t) => window.report.folding.parts(t).map((p) => p.element.textContent)")
    return [one.replace("\u2061", "") for one in found]


def test_every_kind_of_part_is_one(card: Any) -> None:
    """The fraction, its numerator and denominator, functions and the argument in brackets."""
    assert parts(card) == ["ksinqb+cos2(2q−a)", "ksinq", "sinq", "b+cos2(2q−a)", "cos2(2q−a)", "2q−a", "2q"]


def test_a_click_folds_the_innermost_part_and_opens_it_again(card: Any) -> None:
    whole, term = text(load_term(card)), load_term(card)
    term.locator("mi", has_text="sin").click()
    assert text(term) == whole.replace("sinq", "P1")
    assert card.locator(".folds .fold").count() == 1
    assert "sin" in card.locator(".folds .fold").text_content()
    term.locator(".folded").click()
    assert text(term) == whole
    assert card.locator(".folds").count() == 0


def test_shift_folds_the_part_around_and_folds_stay_inside(card: Any) -> None:
    term = load_term(card)
    term.locator("mi", has_text="cos").click()
    term.locator(".folded").click(modifiers=["Shift"])
    assert "P2" in text(term) and "P1" not in text(term)
    assert [one.split("=")[0] for one in card.locator(".fold").all_text_contents()] == ["P2", "P1"]
    assert card.locator(".fold").first.text_content() == "P2=b+P1"
    card.locator(".open-all").click()
    assert card.locator(".folded").count() == 0


def test_by_keyboard(card: Any) -> None:
    page, term = card.page, load_term(card)
    whole = text(term)
    term.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "Enter"):  # the fraction, its numerator, its denominator
        page.keyboard.press(key)
    assert "P1" in text(term) and "cos" not in text(term)
    assert "folded" in term.get_attribute("aria-description")
    page.keyboard.press("Enter")
    assert text(term) == whole
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    assert "P2" in text(term) and "sin" not in text(term)


def test_folds_outlive_time_and_level(card: Any) -> None:
    page, term = card.page, load_term(card)
    term.locator("mi", has_text="sin").click()
    before = page.evaluate(STATE)
    page.evaluate("window.report.store.set({ time: 0.3 })")
    for level in ("matrix", "intrinsic", "", "scalar"):
        page.locator(f".levels button[data-level='{level}']").click()
    assert page.evaluate(STATE) == before != "[]"
    assert "P1" in text(term)


def test_a_folded_term_tells_where_it_comes_from(card: Any) -> None:
    page, term = card.page, load_term(card)
    term.locator("mi", has_text="sin").click()
    term.locator(".folded").hover()
    assert "stiffener" in page.locator("#tip").inner_text()
    assert "stiffener" in card.locator(".fold").get_attribute("title")
    card.locator(".fold").hover()
    assert page.evaluate("window.report.store.state.pointed.joints") == [0]


def test_equal_parts_have_one_name(card: Any) -> None:
    for term in (load_term(card), card.locator(".term[data-why*=Weight]")):
        term.locator("mi", has_text="sin").click()
    assert card.locator(".term .folded").all_text_contents() == ["P1", "P1"]
    assert card.locator(".fold").count() == 1


def test_a_page_written_anew_gets_its_folds_back(card: Any) -> None:
    """As in a page that replaces its equations: the state of one is restored in the other."""
    page, term = card.page, load_term(card)
    term.locator("mi", has_text="sin").click()
    state = page.evaluate("window.report.folding.state")
    page.reload()
    wait_until(page, "window.report !== undefined")
    assert page.locator(".folded").count() == 0
    page.evaluate("(state) => window.report.folding.restore(state)", state)
    assert page.locator(".term .folded").count() == 1 and page.evaluate(STATE) != "[]"
