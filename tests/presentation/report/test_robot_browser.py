"""Robots with meshes in a real browser: seen with and without WebGL, found under the pointer, followed when they fall."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browsing import frames, wait_until
from torseur.presentation.report.page.report_content import ReportContent
from torseur.presentation.report.page.report_page import write_report
from torseur.presentation.scene.scene import Body, Motion, View
from torseur.presentation.scene.shapes import Mesh, Sphere

pytestmark = pytest.mark.browser
CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
# Two triangles per face, anticlockwise seen from outside.
FACES = np.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6),
                  (0, 6, 4), (1, 5, 7), (1, 7, 3)])  # fmt: skip


def falling(distance: float) -> ReportContent:
    """A cube of triangles and a ball beside it that sink together."""
    times = np.linspace(0.0, 1.0, 20)
    drop = np.stack([0 * times, 0 * times, -distance * times**2], axis=1)
    positions = np.stack([drop, drop + np.array([0, 3, 0])], axis=1)
    turns = np.zeros((20, 2, 4))
    turns[:, :, 0] = 1
    bodies = (Body("cube", shapes=(Mesh(CORNERS, FACES),)), Body("ball", shapes=(Sphere((0, 0, 0), 0.5),)))
    motion = Motion(times, positions, turns)
    return ReportContent("Cube", bodies=bodies, motion=motion, view=View(azimuth=0.0, elevation=0.1))


def middle_of(page: Any, body: int) -> tuple[float, float]:
    """Where a body's origin is on the page."""
    box = page.locator("#scene").bounding_box()
    x, y, _, w = page.evaluate(
        f"""(() => {{ const s = window.report.stage ?? window.report.scene.stage, m = s.camera.matrix();
        const p = s.motion.pose({body}, s.time())[0];
        return [0, 1, 2, 3].map((i) => m[i] * p[0] + m[4 + i] * p[1] + m[8 + i] * p[2] + m[12 + i]); }})()"""
    )
    return box["x"] + (x / w * 0.5 + 0.5) * box["width"], box["y"] + (0.5 - y / w * 0.5) * box["height"]


def pixel(page: Any, place: tuple[float, float]) -> np.ndarray:
    from PIL import Image

    clip = {"x": place[0] - 1, "y": place[1] - 1, "width": 3, "height": 3}
    return np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB"))[1, 1].astype(int)


@pytest.mark.slow
def test_meshes_are_drawn_and_found(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(write_report(falling(0.5), tmp_path / "cube.html"))
    wait_until(page, "window.report.scene.drawn === 'fine'")
    colour = pixel(page, middle_of(page, 0))
    assert colour[2] > colour[0] + 30  # the first body is blue
    page.mouse.move(*middle_of(page, 0))
    wait_until(page, "window.report.store.state.pointed.bodies[0] === 0")
    page.mouse.move(*middle_of(page, 1))
    wait_until(page, "window.report.store.state.pointed.bodies[0] === 1")


@pytest.mark.slow
def test_a_fall_is_followed_without_a_floor(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(write_report(falling(100.0), tmp_path / "fall.html"))
    stage = "window.report.scene.stage"
    assert page.evaluate(f"{stage}.falling && {stage}.floor === null")
    before = middle_of(page, 0)
    page.evaluate("window.report.store.set({ time: 1.0 })")
    wait_until(page, "!window.report.scene.waiting")
    assert np.allclose(middle_of(page, 0), before, atol=2)


@pytest.mark.slow
def test_without_webgl_meshes_are_painted(launch: Callable[..., Any], tmp_path: Path) -> None:
    file = write_report(falling(0.5), tmp_path / "cube.html")
    browser = launch("--disable-gpu", "--disable-3d-apis")
    page = browser.new_page(viewport={"width": 1400, "height": 900})
    page.goto(file.as_uri())
    wait_until(page, "window.report !== undefined")
    frames(page)
    colour = pixel(page, middle_of(page, 0))
    assert colour[2] > colour[0] + 30
    browser.close()
