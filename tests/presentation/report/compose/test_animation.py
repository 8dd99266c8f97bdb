"""Composed reports in a real browser: they open without complaint, move, and say where terms come from."""

from __future__ import annotations

import pytest

from browsing import wait_until
from torseur.description import library
from torseur.presentation.report.compose.make_report import Occasion, report

pytestmark = pytest.mark.browser


def pixels(page) -> bytes:
    wait_until(page, "!window.report.scene.waiting && window.report.scene.drawn === 'fine'")
    return bytes(page.locator("#scene").screenshot())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["double_pendulum", "slider_crank", "spinning_top", "pendulum_chain?n=20"])
def test_the_picture_moves_with_time(name, open_page, tmp_path):
    page = open_page(report(library.load(name), tmp_path / "page.html", Occasion(until=3.0, rtol=1e-7)))
    before = pixels(page)
    page.evaluate("window.report.store.set({ time: 0.8 })")
    assert pixels(page) != before


@pytest.mark.slow
def test_pointing_at_a_weight_names_its_body(open_page, tmp_path):
    page = open_page(report(library.load("double_pendulum"), tmp_path / "page.html", Occasion(until=2.0)))
    page.locator(".term:visible", has_text="g").first.hover()
    wait_until(page, "!document.getElementById('tip').hidden")
    assert "Weight of arm" in page.locator("#tip").inner_text()


@pytest.mark.slow
def test_a_page_without_motion_opens(open_page, tmp_path):
    page = open_page(report(library.load("satellite"), tmp_path / "page.html"))
    assert page.locator("#scene").count() == 1  # as it stands, with the reason below
    assert "No motion" in page.locator(".warning").last.inner_text()
