"""Points and arrows of the animation, axes in percent, and bands around curves."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from browsing import wait_until
from presentation.report.samples import double_pendulum
from torseur.errors import TorseurError
from torseur.presentation.report.page.report_content import Curve, Plot
from torseur.presentation.report.page.report_page import render
from torseur.presentation.scene.overlays import MISSING, Arrows, Dots, pack_places
from torseur.presentation.scene.palette import Colour

RED = Colour("#ff0000", "#ff8888")


def with_overlays(content):
    count = len(content.motion.times)
    rng = np.random.default_rng(0)
    seen = 0.5 * rng.normal(size=(count, 2, 3))
    seen[3, 1] = np.nan
    dots = Dots("Markers", seen, ("A", "B"), 0.1, RED)
    arrows = Arrows("Forces", seen[:, :1], 0.5 * seen[:, :1], ("ground",), 0.1, RED)
    return replace(content, overlays=(dots, arrows))


def test_places_come_back_from_sixteen_bits():
    rng = np.random.default_rng(1)
    places = rng.normal(size=(7, 4, 3))
    places[2, 3] = np.nan
    packed = pack_places(places)
    steps = np.frombuffer(base64.b64decode(packed["steps"]), dtype="<i2").reshape(7, 4, 3)
    back = np.array(packed["origin"]) + packed["scale"] * steps
    missing = np.isnan(places).any(axis=2)
    assert (steps[missing] == MISSING).all()
    assert np.abs(back - places)[~missing].max() <= 0.51 * packed["scale"]


def test_page_holds_overlays_and_their_buttons():
    text = render(with_overlays(double_pendulum()))
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert [overlay["kind"] for overlay in data["overlays"]] == ["dots", "arrows"]
    assert text.count("data-overlay=") == 2 and "--overlay-1:#ff0000" in text


def test_overlays_of_another_length_are_refused():
    content = double_pendulum()
    short = Dots("Markers", np.zeros((3, 1, 3)), ("A",), 0.01, RED)
    with pytest.raises(TorseurError, match="Markers: shape"):
        replace(content, overlays=(short,))


def test_bands_and_percent_reach_the_page():
    percent = np.linspace(0, 100, 11)
    curve = Curve("mean", np.sin(percent), band=np.full(11, 0.1))
    text = render(replace(double_pendulum(), plots=(Plot("p", "", percent, (curve,), across="%", clock=(0.0, 1.0)),)))
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["plots"][0]["across"] == "%" and data["plots"][0]["clock"] == [0.0, 1.0]
    assert data["plots"][0]["curves"][0]["band"]


@pytest.mark.slow
def test_overlays_are_drawn_and_hidden(browser, tmp_path):
    """Oracle: pixels of the overlays' colour in the picture, and none after their buttons were pressed."""
    path = tmp_path / "page.html"
    path.write_text(render(with_overlays(double_pendulum())), encoding="utf-8")
    page = browser.new_page(viewport={"width": 1200, "height": 800})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    wait_until(page, "window.report?.scene && !window.report.scene.waiting")
    count = """() => { const s = report.scene; s.draw('fine'); const gl = s.gl, w = s.canvas.width, h = s.canvas.height;
        const p = new Uint8Array(4 * w * h); gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, p); let n = 0;
        for (let k = 0; k < p.length; k += 4) if (p[k] > 120 && p[k + 1] < 70 && p[k + 2] < 70) n++; return n; }"""
    shown = page.evaluate(count)
    for button in page.query_selector_all("[data-overlay]"):
        button.evaluate("b => b.click()")
    assert shown > 50 and page.evaluate(count) < shown / 5
    assert not errors
    page.close()
