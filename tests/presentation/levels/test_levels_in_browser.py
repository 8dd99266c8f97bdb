"""The four levels of a real report in a browser: one click apart, terms unfold what defines them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from torseur.description import library
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_page import write_report

pytestmark = pytest.mark.browser
LEVELS = ["intrinsic", "recursive", "matrix", "scalar"]


@pytest.fixture(scope="session")
def levels_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    content = content_of(library.load("double_pendulum"), Occasion(until=0.5, rtol=1e-6))
    return write_report(content, tmp_path_factory.mktemp("levels") / "pendulum.html")


def shown(page: Any) -> list[str]:
    cards = page.locator(".block[data-level]")
    return [cards.nth(k).get_attribute("data-level") for k in range(cards.count()) if cards.nth(k).is_visible()]


def test_levels_are_one_click_apart(open_page: Callable[..., Any], levels_file: Path) -> None:
    page = open_page(levels_file)
    assert shown(page) == LEVELS
    for level in LEVELS:
        page.locator(f".levels button[data-level={level}]").click()
        assert shown(page) == [level]
        assert page.locator(f".block[data-level={level}] > div").is_visible()
    page.locator(".levels button[data-level='']").click()
    assert shown(page) == LEVELS


def test_a_term_unfolds_and_folds_its_definition(open_page: Callable[..., Any], levels_file: Path) -> None:
    page = open_page(levels_file)
    page.locator(".levels button[data-level=intrinsic]").click()
    card = page.locator(".block[data-level=intrinsic]")
    term = card.locator(".term[aria-label*='a of G blade']").first
    entry = page.locator("#" + term.get_attribute("data-opens").split()[0])
    assert not entry.is_visible()
    term.click()
    assert entry.is_visible()
    assert "Inertia of blade" in page.locator("#tip").inner_text()
    term.click()
    assert not entry.is_visible()


def test_terms_keep_the_colour_of_their_body(open_page: Callable[..., Any], levels_file: Path) -> None:
    page = open_page(levels_file)
    page.locator(".levels button[data-level=intrinsic]").click()
    first = page.locator(".block[data-level=intrinsic] .equation").first.locator(".term")
    bodies = [first.nth(k).get_attribute("data-body") for k in range(first.count())]
    assert bodies == [None, "1", "2", "1", "2"]
