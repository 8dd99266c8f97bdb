"""The report in a real browser: equations, plots and animation are there and react."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from browsing import frames, wait_until
from presentation.report.samples import double_pendulum, run
from torseur.description import library
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_page import write_report

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def scene(page: Any) -> bytes:
    """The animation's pixels, finely drawn, without the rounded corners."""
    wait_until(page, "!window.report.scene.waiting && window.report.scene.drawn === 'fine'")
    box = page.locator("#scene").bounding_box()
    inner = {"x": box["x"] + 10, "y": box["y"] + 10, "width": box["width"] - 20, "height": box["height"] - 20}
    return bytes(page.screenshot(clip=inner))


def state(page: Any, key: str) -> Any:
    return page.evaluate(f"window.report.store.state.{key}")


def set_time(page: Any, time: float) -> None:
    page.evaluate(f"window.report.store.set({{ time: {time} }})")


# What is there


@pytest.mark.slow
def test_pictures_of_every_kind(
    open_page: Open, picture: Callable[..., bytes], pendulum_file: Path, walker_file: Path
) -> None:
    for name, path in (("pendulum", pendulum_file), ("walker", walker_file)):
        picture(open_page(path), f"{name}_light")
        picture(open_page(path, color_scheme="dark"), f"{name}_dark")
        picture(open_page(path), f"{name}_whole_page", full_page=True)
        picture(open_page(path, width=390, height=844), f"{name}_narrow", full_page=True)


def test_equations_are_typeset_with_the_embedded_font(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    assert page.evaluate("document.fonts.ready.then(() => document.fonts.check('16px \"Report Math\"'))")
    shown = "[...document.querySelectorAll('.term:not([hidden] .term) math')]"
    sizes = page.evaluate(f"{shown}.map((formula) => formula.getBoundingClientRect().height)")
    assert len(sizes) == 13
    assert min(sizes) > 15


def test_a_dot_stands_above_its_letter(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    boxes = "[...document.querySelector('mover').children].map((e) => e.getBoundingClientRect())"
    letter, dot = page.evaluate(f"{boxes}.map((box) => [box.x + box.width / 2, box.y])")
    assert dot[1] <= letter[1]
    assert abs(dot[0] - letter[0]) < 6


def test_equations_wrap_and_the_page_never_scrolls_sideways(open_page: Open, pendulum_file: Path) -> None:
    for width, rows in ((1400, 2), (390, 4)):
        page = open_page(pendulum_file, width=width)
        tops = page.evaluate(
            "[...document.querySelectorAll('.block')][1].querySelectorAll('.equation')[0].querySelectorAll('.term')"
            ".values().map((t) => Math.round(t.getBoundingClientRect().bottom)).toArray()"
        )
        assert len(set(tops)) >= rows
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_equation_has_a_label_in_words(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    label = page.locator(".equation").nth(6).get_attribute("aria-label")
    assert label.startswith("0 equals m 2 l 2 squared q 2 double dot plus")


def test_entries_of_the_matrix_unfold(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    chip = page.locator(".chip").first
    entry = page.locator("#" + chip.get_attribute("aria-controls"))
    assert not entry.is_visible()
    chip.click()
    assert entry.is_visible()
    assert chip.get_attribute("aria-expanded") == "true"


# Pointing


@pytest.mark.slow
def test_pointing_at_a_term_lights_its_body_everywhere(
    open_page: Open, picture: Callable[..., bytes], pendulum_file: Path
) -> None:
    page = open_page(pendulum_file)
    before = scene(page)
    page.locator(".chip").first.click()
    page.locator(".block").nth(1).locator(".term").nth(1).hover()
    assert state(page, "pointed.bodies") == [2]
    assert "lit" in page.locator(".boxes [data-body='2']").get_attribute("class")
    assert "lit" not in page.locator(".boxes [data-body='1']").get_attribute("class")
    assert page.locator("path.faint").count() == 2
    assert "Inertia of the blade" in page.locator("#tip").inner_text()
    assert scene(page) != before
    picture(page, "pendulum_hover")
    page.mouse.move(5, 5)
    assert state(page, "pointed.bodies") == []
    assert page.locator("#tip").is_hidden()


def test_the_tip_tells_what_the_term_is_worth_now(open_page: Open, pendulum_file: Path) -> None:
    """Oracle: the term m1 r2^2 q1'' of the closed form."""
    page = open_page(pendulum_file)
    set_time(page, 2.0)
    page.locator(".block").nth(1).locator(".term").first.hover()
    shown = re.search(r"([−\d.]+) N m at 2.00 s", page.locator("#tip").inner_text())
    assert shown is not None
    expected = 4 * 5**2 * run(end=2.0, samples=3).vdot[-1, 0]
    assert float(shown[1].replace("−", "-")) == pytest.approx(expected, rel=1e-3)


@pytest.mark.slow
def test_pointing_at_a_body_in_the_scene(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    box = page.locator("#scene").bounding_box()
    found = set()
    for step in range(1, 20):
        page.mouse.move(box["x"] + box["width"] * 0.52, box["y"] + box["height"] * step / 20)
        found |= set(state(page, "pointed.bodies"))
    assert found == {0, 1, 2}


def test_terms_are_walked_by_keyboard(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    page.locator(".block").nth(1).locator(".term").first.focus()
    assert state(page, "pointed.bodies") == [1]
    page.keyboard.press("ArrowRight")
    assert state(page, "pointed.bodies") == [2]


# Animation


@pytest.mark.slow
def test_playing_moves_the_picture_and_pausing_stops_it(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    before, start = scene(page), state(page, "time")
    page.locator("#play").click()
    wait_until(page, f"window.report.store.state.time > {start} + 0.2")
    page.locator("#play").click()
    stopped = state(page, "time")
    assert stopped > start + 0.2
    assert scene(page) != before
    frames(page)
    assert state(page, "time") == stopped


def test_scrubbing(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    before = scene(page)
    page.locator("#time").fill("7.5")
    assert state(page, "time") == pytest.approx(7.5)
    assert page.locator("#clock").inner_text() == "7.50 s"
    assert scene(page) != before


@pytest.mark.slow
def test_the_scene_turns_moves_and_zooms(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    home = scene(page)
    box = page.locator("#scene").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    views = {home}
    for prepare in (None, "Shift"):
        page.mouse.move(x, y)
        if prepare:
            page.keyboard.down(prepare)
        page.mouse.down()
        page.mouse.move(x + 80, y + 30, steps=3)
        page.mouse.up()
        if prepare:
            page.keyboard.up(prepare)
        page.mouse.move(5, 5)
        views.add(scene(page))
    page.mouse.move(x, y)
    page.mouse.wheel(0, -300)
    page.mouse.move(5, 5)
    views.add(scene(page))
    page.locator("#scene").focus()
    page.keyboard.press("ArrowLeft")
    views.add(scene(page))
    assert len(views) == 5
    page.keyboard.press("0")
    page.evaluate("document.activeElement.blur()")
    assert scene(page) == home


@pytest.mark.slow
def test_views_and_paths_can_be_chosen(open_page: Open, walker_file: Path) -> None:
    page = open_page(walker_file)
    page.locator("#scene").hover()
    views = {scene(page)}
    for name in ("front", "side", "top", "home"):
        page.locator(f"[data-view={name}]").click()
        views.add(scene(page))
    assert len(views) >= 4
    page.locator("#trace").select_option("1")
    assert state(page, "trace") == 1


def test_a_mechanism_that_travels_is_followed(open_page: Open, walker_file: Path) -> None:
    page = open_page(walker_file)
    assert page.locator("#follow").get_attribute("aria-pressed") == "true"
    start = page.evaluate("window.report.stage.camera.target")
    set_time(page, 9.0)
    end = page.evaluate("window.report.stage.camera.target")
    assert end[0] - start[0] == pytest.approx(0.35 * 9, abs=0.2)


# Plots


def test_curves_are_drawn(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    lengths = page.evaluate("[...document.querySelectorAll('.drawing path')].map((p) => p.getTotalLength())")
    assert len(lengths) == 7
    assert min(lengths) > 300


def test_the_legend_reads_the_curves_at_the_cursor(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    set_time(page, 4.0)
    shown = [float(text.replace("−", "-")) for text in page.locator(".plot").first.locator("output").all_inner_texts()]
    assert shown == pytest.approx(list(run(end=4.0, samples=3).q[-1]), abs=6e-4)


@pytest.mark.slow
def test_pointing_at_a_plot_moves_time(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    box = page.locator(".area").first.bounding_box()
    page.mouse.move(box["x"] + 54 + (box["width"] - 66) / 2, box["y"] + 40)
    assert state(page, "time") == pytest.approx(10, abs=0.1)


def test_zoom_by_dragging_pan_and_reset(open_page: Open, picture: Callable[..., bytes], pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    box = page.locator(".area").first.bounding_box()
    y = box["y"] + 60
    page.mouse.move(box["x"] + 150, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, y, steps=4)
    page.mouse.up()
    first, last = state(page, "span")
    seconds = 20 / (box["width"] - 66)
    assert last - first == pytest.approx(150 * seconds, rel=0.02)
    picture(page, "pendulum_zoomed")
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 300, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, y, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    moved = state(page, "span")
    assert moved[0] > first
    assert moved[1] - moved[0] == pytest.approx(last - first)
    page.locator("[data-tool=reset]").first.click()
    assert state(page, "span") is None


def test_zoom_by_wheel_and_keys(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    area = page.locator(".area").first
    area.focus()
    page.keyboard.press("+")
    first = state(page, "span")
    area.hover()
    page.mouse.wheel(0, -200)
    wait_until(page, f"window.report.store.state.span[0] !== {first[0]}")
    second = state(page, "span")
    assert second[1] - second[0] < first[1] - first[0] < 20
    page.keyboard.press("0")
    assert state(page, "span") is None


def test_curves_can_be_hidden(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    plot = page.locator(".plot").nth(2)
    plot.locator(".key").first.click()
    assert plot.locator("path").count() == 2
    assert plot.locator(".key").first.get_attribute("aria-pressed") == "false"


@pytest.mark.slow
def test_many_curves_are_chosen_from_a_list(open_page: Open, picture: Callable[..., bytes], walker_file: Path) -> None:
    page = open_page(walker_file)
    plot = page.locator(".plot").first
    assert plot.locator("path").count() == 6
    plot.locator("[data-choose=list]").click()
    plot.locator("input[type=search]").fill("tail")
    assert plot.locator(".key:visible").count() == 3
    plot.locator("[data-choose=all]").click()
    assert plot.locator("path").count() == 9
    picture(page, "walker_chooser")


def test_a_plot_is_saved_as_numbers(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    page.locator(".plot").first.hover()
    with page.expect_download() as saving:
        page.locator(".plot").first.locator("[data-tool=csv]").click()
    rows = list(csv.reader(io.StringIO(Path(saving.value.path()).read_text())))
    assert rows[0] == ["t [s]", "q1 [rad]", "q2 [rad]"]
    assert saving.value.suggested_filename == "joint_angles.csv"
    numbers = np.array(rows[1:], dtype=float)
    assert numbers[:, 1:] == pytest.approx(run().q, rel=1e-6, abs=1e-6)


def test_a_plot_is_saved_as_pictures(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    plot = page.locator(".plot").nth(2)
    plot.hover()
    with page.expect_download() as saving:
        plot.locator("[data-tool=svg]").click()
    root = ElementTree.parse(saving.value.path()).getroot()
    paths = root.findall(".//{http://www.w3.org/2000/svg}path")
    assert len(paths) == 3
    assert all(path.get("stroke", "").startswith("rgb") for path in paths)
    with page.expect_download() as saving:
        plot.locator("[data-tool=png]").click()
    assert Path(saving.value.path()).read_bytes().startswith(b"\x89PNG")


# Theme, print, and browsers that can do less


@pytest.mark.slow
def test_the_theme_changes_every_view(open_page: Open, pendulum_file: Path) -> None:
    page = open_page(pendulum_file)
    light, paper = scene(page), page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.locator("#theme").click()
    page.mouse.move(5, 5)
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != paper
    assert scene(page) != light
    page.locator("#theme").click()
    page.mouse.move(5, 5)
    assert scene(page) == light


def test_print_shows_everything_and_leaves_the_page_as_it_was(
    open_page: Open, picture: Callable[..., bytes], pendulum_file: Path
) -> None:
    page = open_page(pendulum_file, color_scheme="dark")
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.locator(".still").count() == 0
    assert not page.locator("#reproduce details").get_attribute("open")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 720, "height": 1000})
    assert page.locator(".still").is_visible()
    assert page.locator("#entry-0-0").is_visible()
    assert page.locator("#play").is_hidden()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    picture(page, "pendulum_print", full_page=True)


def test_without_webgl_the_mechanism_is_still_drawn_and_moves(
    launch: Open, picture: Callable[..., bytes], pendulum_file: Path
) -> None:
    started = launch("--disable-3d-apis")
    try:
        page = started.new_page(viewport={"width": 1400, "height": 900})
        page.goto(pendulum_file.as_uri())
        assert page.evaluate("window.report.scene.constructor.name") == "FlatScene"
        before = bytes(page.locator("#scene").screenshot())
        set_time(page, 5.0)
        frames(page)
        assert bytes(page.locator("#scene").screenshot()) != before
        picture(page, "pendulum_without_webgl")
    finally:
        started.close()


def test_without_scripts_a_still_drawing_is_shown(
    open_page: Open, picture: Callable[..., bytes], browser: Any, pendulum_file: Path
) -> None:
    context = browser.new_context(java_script_enabled=False, viewport={"width": 1400, "height": 900})
    page = context.new_page()
    page.goto(pendulum_file.as_uri())
    assert page.locator(".poster").is_visible()
    assert page.locator("#scene").is_hidden()
    page.screenshot(path=Path(__file__).parents[3] / "build/screenshots/pendulum_without_scripts.png")
    context.close()


def test_hostile_names_run_nothing(open_page: Open, tmp_path: Path) -> None:
    names = (
        "</script><img src=x onerror=alert(1)>",
        "<svg onload=alert(2)>",
        "'\"><script>alert(3)</script>",
    )
    page = open_page(write_report(double_pendulum(names), tmp_path / "hostile.html"))
    page.locator(".block").nth(1).locator(".term").first.hover()
    page.locator("#scene").hover()
    frames(page)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2
    assert names[1] in page.locator(".legend").inner_text()


@pytest.mark.slow
def test_branches_play_in_the_picture_and_end_with_the_motion(open_page: Open, tmp_path: Path) -> None:
    content = content_of(library.load("flat_parallelogram"), Occasion(until=0.1, certificate=False))
    page = open_page(write_report(content, tmp_path / "branches.html"))
    first, second = page.locator("[data-branch]").all()
    clock = "window.report.stage.clock"
    first.click()
    wait_until(page, f"{clock} > 0.2")
    assert state(page, "time") == 0
    second.click()
    assert (first.text_content(), second.text_content()) == ("Play", "Stop")
    wait_until(page, f"{clock} > 0.2")
    set_time(page, 0.05)
    assert page.evaluate(clock) is None
    assert page.evaluate("window.report.stage.motion === window.report.stage.whole")
    assert second.text_content() == "Play"
