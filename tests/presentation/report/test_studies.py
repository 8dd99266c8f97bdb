"""Pages of studies: what they say is what was computed, and they work in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from browsing import SCREENSHOTS
from torseur.analysis.studies import optimise, read_study, summarise, sweep
from torseur.errors import TorseurError
from torseur.presentation.report.drawing.study_axes import Frame, tick_labels, ticks
from torseur.presentation.report.studies import write_optimisation_page, write_sweep_page

SAMPLED = """
mechanism = "library:mass_spring_damper"
until = "2 s"
samples = 21
[tolerances]
m = "5 %"
k = { plus_minus = "5 N/m", distribution = "uniform" }
[design]
kind = "KIND"
count = 64
[[operating_points]]
name = "<b>worn</b>"
c = "0.4 N*s/m"
[[operating_points]]
name = "new"
c = "0.6 N*s/m"
[criteria]
place = "x"
lowest = { minimum = "x" }
[outputs]
motion = "x"
[constraints]
place = { at_least = "3 cm" }
"""
GRID = """
mechanism = "library:mass_spring_damper"
until = "2 s"
[vary]
m = { from = "0.5 kg", to = "2 kg", count = 6 }
k = { from = "30 N/m", to = "50 N/m", count = 5 }
[criteria]
place = "x"
"""
SPRING = """
mechanism = "library:mass_spring_damper"
until = "1 s"
objective = "miss"
starts = 2
[vary]
k = { from = "10 N/m", to = "35 N/m" }
[criteria]
miss = "(x - 0.05)^2"
place = "x"
[constraints]
place = { at_most = "5 cm" }
"""


def swept(folder: Path, text: str) -> Any:
    (folder / "s.toml").write_text(text)
    return sweep(folder / "s.toml").store


@pytest.mark.slow
def test_a_page_says_what_was_computed(tmp_path: Path) -> None:
    store = swept(tmp_path, SAMPLED.replace("KIND", "saltelli"))
    text = write_sweep_page(store, tmp_path / "s.html").read_text()
    for spread in summarise(store).spreads:
        assert f"{spread.highest:.4g}" in text
    assert "&lt;b&gt;worn&lt;/b&gt;" in text and "<b>worn" not in text
    titles = re.findall(r"<h2>(.*?)</h2>", text)
    wanted = ["Criteria", "Yield", "Operating points compared", "Distributions", "Response surfaces", "Along time"]
    assert set(wanted) <= set(titles) and any("Sobol" in title for title in titles)
    assert "http" not in re.sub(r"http-equiv", "", text)


def test_pages_of_other_designs(tmp_path: Path) -> None:
    text = write_sweep_page(swept(tmp_path, GRID), tmp_path / "s.html").read_text()
    assert "Comparison" in text and "Interpolated between the points of the grid" in text
    with pytest.raises(TorseurError, match="No such file or directory"):
        write_sweep_page(sweep(tmp_path / "s.toml").store, tmp_path / "nowhere" / "s.html")


def test_the_page_of_an_optimisation(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SPRING)
    found = optimise(tmp_path / "s.toml")
    text = write_optimisation_page(found, read_study(tmp_path / "s.toml"), tmp_path / "o.html").read_text()
    assert f"{found.point['k']:.9g}" in text and "at most 0.05" in text and "Distance to the best" in text


def test_ticks_are_round_and_inside() -> None:
    for low, high in ((0.0, 1.0), (-3.2e-7, 4.1e-7), (1e5, 1.2e6), (0.26, 0.27)):
        found = ticks(low, high)
        assert 3 <= len(found) <= 11 and found[0] >= low - 1e-12 * abs(low) and found[-1] <= high * (1 + 1e-9)
        assert len(set(tick_labels(found))) == len(found)
    frame = Frame((0.0, 2.0), (10.0, 20.0))
    assert frame.at_x(0.0) == frame.left and frame.at_y(10.0) == frame.height - frame.bottom


@pytest.mark.browser
def test_pages_in_a_browser(open_page: Callable[..., Any], tmp_path: Path) -> None:
    store = swept(tmp_path, SAMPLED.replace("KIND", "morris"))
    page = open_page(write_sweep_page(store, tmp_path / "s.html"))
    bottoms = page.evaluate(
        "[...document.querySelectorAll('svg.study-plot')].map((s) => s.getBoundingClientRect().height)"
    )
    assert len(bottoms) >= 6 and min(bottoms) > 40
    wide = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert wide
    before = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != before
    narrow = open_page(tmp_path / "s.html", width=390, height=844)
    assert narrow.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / "study_sweep.png", full_page=True)
    narrow.screenshot(path=SCREENSHOTS / "study_sweep_narrow.png", full_page=True)


@pytest.mark.browser
def test_cells_of_tables_stay_apart_on_a_phone(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(write_sweep_page(swept(tmp_path, GRID), tmp_path / "s.html"), width=400, height=900)
    shown = page.evaluate(
        "[...document.querySelectorAll('table.data :is(td, th)')].map((one) => getComputedStyle(one).display)"
    )
    assert shown and set(shown) == {"table-cell"}
