"""Pages at every width, light and dark: no two texts overlap, nothing is cut off, nothing makes the page scroll sideways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import torseur as ts
from torseur.presentation.report.compose.make_report import Occasion, report

pytestmark = pytest.mark.browser
WIDTHS = (360, 420, 600, 768, 900, 1000, 1280, 1920)
FEW, MANY = (
    ("pendulum",),
    (
        "slider_crank",
        "double_wishbone",
        "jansen_leg",
        "four_bar",
        "stewart_platform",
        "rolling_disc",
        "puma560",
        "whipple_bicycle",
        "delta_robot",
    ),
)

# Texts that are shown, by the boxes of their lines. A text that scrolls within its part of the page, or that lies under
# something that is meant to be in front (the sticky picture on narrow pages), is not compared.
OVERLAPS = """() => {
  const found = [], texts = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.textContent.trim() || !parent.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (parent.closest("script, style, math, select, .stage, #tip, .labels")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      let shown = { left: box.left, right: box.right, top: box.top, bottom: box.bottom };
      for (let holder = parent; holder; holder = holder.parentElement) {
        if (["auto", "scroll", "hidden"].includes(getComputedStyle(holder).overflowX)) {
          const edge = holder.getBoundingClientRect();
          shown = { left: Math.max(shown.left, edge.left), right: Math.min(shown.right, edge.right), top: Math.max(shown.top, edge.top), bottom: Math.min(shown.bottom, edge.bottom) };
        }
      }
      if (shown.right - shown.left > 1 && shown.bottom - shown.top > 1) texts.push({ node, parent, text: node.textContent.trim().slice(0, 30), ...shown });
    }
  }
  const slack = 2.5;
  for (let i = 0; i < texts.length; i++) for (let j = i + 1; j < texts.length; j++) {
    const a = texts[i], b = texts[j];
    if (a.node === b.node || a.parent.contains(b.parent) || b.parent.contains(a.parent)) continue;
    if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > slack && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > slack) found.push(`${a.text} / ${b.text}`);
  }
  return found;
}"""
CUT_OFF = """() => [...document.querySelectorAll("h1, h2, h3, p, td, th, dt, dd, button, label, summary, svg text")].filter((one) => {
  if (!one.checkVisibility() || one.closest(".stage, #tip, .labels")) return false;
  const box = one.getBoundingClientRect();
  for (let holder = one.parentElement; holder; holder = holder.parentElement) if (["auto", "scroll"].includes(getComputedStyle(holder).overflowX)) return false;
  return box.width > 0 && (box.right > document.documentElement.clientWidth + 1 || box.left < -1);
}).map((one) => `${one.tagName} ${one.textContent.trim().slice(0, 40)}`)"""
BROKEN = """() => [...document.querySelectorAll("p, td, th, dt, dd, li, h1, h2")].filter((one) => {
  if (!one.checkVisibility() || one.children.length || one.textContent.trim().length < 8) return false;
  return one.getBoundingClientRect().width < 24;
}).map((one) => one.textContent.trim().slice(0, 40))"""
TICKS = """() => [...document.querySelectorAll(".plot .area svg")].filter((plot) => plot.checkVisibility()).map((plot) => {
  const numbers = [...plot.querySelectorAll("text")].filter((text) => /^[−-]?[\\d.]+(e[−-]?\\d+)?( ?%| s)?$/.test(text.textContent.trim()));
  const lines = new Set(numbers.map((text) => Math.round(text.getBoundingClientRect().bottom / 4)));
  const bottom = Math.max(...lines);
  const across = numbers.filter((text) => Math.abs(Math.round(text.getBoundingClientRect().bottom / 4) - bottom) <= 1).length;
  return [across, numbers.length - across];
}).filter(([across, up]) => across + up > 0)"""


def check(open_page: Callable[..., Any], folder: Path, name: str, themes: tuple[str, ...]) -> None:
    path = report(ts.library.load(name), folder / f"{name}.html", Occasion(until=2, certificate=False))
    page = open_page(path, width=WIDTHS[0], height=900, color_scheme=themes[0])
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in themes:
            page.emulate_media(color_scheme=theme)
            page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            where = f"{name} at {width} px, {theme}"
            assert page.evaluate(OVERLAPS) == [], where
            assert page.evaluate(CUT_OFF) == [], where
            assert page.evaluate(BROKEN) == [], where
            assert page.evaluate("document.documentElement.scrollWidth") <= width, where
            ticks = page.evaluate(TICKS)
            assert all(across >= 2 and up >= 2 for across, up in ticks), f"{where}: {ticks}"


@pytest.mark.parametrize("name", FEW)
def test_a_page_fits_every_width(open_page, tmp_path, name):
    check(open_page, tmp_path, name, ("dark",))


@pytest.mark.slow
@pytest.mark.parametrize("name", MANY)
def test_pages_of_the_library_fit_every_width(open_page, tmp_path, name):
    check(open_page, tmp_path, name, ("light", "dark"))
