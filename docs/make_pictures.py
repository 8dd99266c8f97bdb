"""Makes the pictures of the documentation in a headless Chromium: python docs/make_pictures.py [NAME ...]"""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import torseur as ts
from torseur.description import library
from torseur.description.readers import read_robot
from torseur.presentation.report.compose.make_report import Occasion, content_of
from torseur.presentation.report.page.report_page import write_report
from torseur.presentation.scene.make_scene import Take
from torseur.presentation.scene.pictures.picture_files import Shot

PICTURES = Path(__file__).resolve().parent / "pictures"
SWITCHES = ("--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--hide-scrollbars")

# Length of the motion and the instant shown, in seconds.
SHOWN = {
    "antenna_satellite": (20.0, 2.0),
    "ball_on_turntable": (11.0, 4.0),
    "cardan": (4.0, 0.3),
    "cart_pendulum": (6.0, 0.9),
    "chaplygin_sleigh": (6.0, 2.0),
    "double_pendulum": (10.0, 3.0),
    "double_wishbone": (1.0, 0.05),
    "four_bar": (5.0, 0.6),
    "free_body": (20.0, 8.0),
    "mass_spring_damper": (6.0, 0.0),
    "pendulum": (6.0, 0.2),
    "pendulum_chain?n=20": (5.0, 1.1),
    "puma560": (3.0, 0.35),
    "quadruped": (2.0, 0.15),
    "rolling_disc": (4.0, 1.2),
    "slider_crank": (4.0, 1.5),
    "spinning_top": (3.0, 0.5),
    "vehicle": (3.0, 1.2),
}


# Robots of the package example-robot-data, with where their joints start.
ROBOTS = {
    "solo12": {f"{leg}_{joint}": sign * angle for leg, sign in (("FL", 1), ("FR", 1), ("HL", -1), ("HR", -1))
               for joint, angle in (("HFE", 0.8), ("KFE", -1.6))},
}  # fmt: skip


def robot_page(name: str, folder: Path) -> Path:
    """The report of a robot with its meshes."""
    package = importlib.metadata.distribution("example-robot-data")
    file = next(file for file in package.files or () if file.name == f"{name}.urdf")
    robot = read_robot(str(package.locate_file(file)))
    content = content_of(robot.mechanism, Occasion(until=1.0, initial=ROBOTS[name], rtol=1e-7), robot)
    return write_report(content, folder / f"{name}.html")


def page_of(name: str, folder: Path) -> Path:
    """The report of a library mechanism that opens at the instant shown."""
    until, start = SHOWN[name]
    content = content_of(library.load(name), Occasion(until=until, rtol=1e-7))
    content = replace(content, view=replace(content.view, start=start))
    return write_report(content, folder / f"{name.partition('?')[0]}.html")


def person_page(folder: Path) -> Path:
    """The page of a person's trial, a computed walk."""
    from torseur.analysis.biomechanics.person import analyse_person
    from torseur.analysis.biomechanics.person_model.human36 import human36
    from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking
    from torseur.presentation.report.person.person_page import person_content

    model = human36(1.78, 74.0, "de_leva_male")
    trial = simulated_trial(model, walking(model), noise=0.0005, name="walk")
    content = person_content(analyse_person(trial, height=1.78, mass=74.0))
    return write_report(replace(content, view=replace(content.view, start=1.62)), folder / "person.html")


def take(browser: Any, page: Path, width: int, height: int, part: str | None, target: Path) -> None:
    """A picture of a page, or of one part of it."""
    window = browser.new_page(viewport={"width": width, "height": height})
    window.goto(page.as_uri())
    window.wait_for_timeout(1500)
    (window.locator(part).first if part else window).screenshot(path=target)
    window.close()
    print(f"{target.relative_to(PICTURES.parent)}: {target.stat().st_size // 1000} kB")


def take_levels(browser: Any, page: Path) -> None:
    """The equations at every level of detail, two definitions of the intrinsic one unfolded, one folded."""
    for level in ("intrinsic", "recursive", "matrix", "scalar"):
        window = browser.new_page(viewport={"width": 1280, "height": 900})
        window.goto(page.as_uri())
        window.locator(f".levels button[data-level={level}]").click()
        chips = window.locator(f".block[data-level={level}] .chip")
        for place in {"intrinsic": (1, 6), "scalar": ()}.get(level, (0, 2)):
            chips.nth(place).click()
        if level == "intrinsic":
            window.locator(".block[data-level=intrinsic] .term mo", has_text="×").nth(1).click()
        window.mouse.move(5, 5)
        window.wait_for_timeout(700)
        target = PICTURES / f"level_{level}.png"
        window.locator(f".block[data-level={level}]").screenshot(path=target)
        window.close()
        print(f"{target.relative_to(PICTURES.parent)}: {target.stat().st_size // 1000} kB")


def take_thesis() -> None:
    """Figures of the thesis: basis of the adjoint system (2.4.4), surfaces over time (2.4.2, 2.4.3), overshoot (14)."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    oscillator = library.load("mass_spring_damper")
    ts.adjoint_solution(oscillator, "x", until=2.0, samples=81).plot(PICTURES / "thesis_basis.png", of_basis=True)
    stiffness = {"k": [float(k) for k in range(10, 61, 5)]}
    surface = ts.sensitivity_surface(oscillator, "x", "c", stiffness, until=2.0, samples=61, verify=False)
    surface.plot_over_time(PICTURES / "thesis_over_time.png", "c", "per_percent")
    soft = {"k": [float(k) for k in range(1, 11)]}
    start, damped = {"x": 0.0, "x'": 5.0}, {"c": 1.0}
    surface = ts.sensitivity_surface(
        oscillator, "x", "k", soft, until=10.0, samples=101, values=damped, initial=start, verify=False
    )
    surface.plot_over_time(PICTURES / "thesis_motion_over_time.png", "x")
    surface.plot_over_time(PICTURES / "thesis_derivative_over_time.png", "k")
    speeds = [float(v) for v in range(10, 41, 2)]
    figure, axes = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    for steering, style in ((0.05, "-"), (0.15, ":")):
        moving = [ts.published_studies.vehicle.transient(speed=v, steering=steering) for v in speeds]
        shown = [one.overshoot("r", "C2") for one in moving]
        axes.plot(speeds, shown, style, lw=1 + 20 * steering, label=f"steering {steering} rad")
    axes.set(xlabel="speed [m/s]", ylabel="overshoot of dr/dC2 [%]")
    axes.legend(frameon=False)
    figure.savefig(PICTURES / "thesis_overshoot.png", dpi=100)


def take_car() -> None:
    """The picture that moves, of the README: the car of the library drives into a turn."""
    shown = Take(5.0, {"steer": 1.5})
    ts.animate(library.load("car"), PICTURES / "car.gif", take=shown, shot=Shot(480, 280, 10.0))


def main(names: list[str]) -> None:
    """All pictures, or those named."""
    if names in (["thesis"], ["car.gif"]):
        {"thesis": take_thesis, "car.gif": take_car}[names[0]]()
        return
    browser_path = os.environ.get("TORSEUR_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=list(SWITCHES))
        for name in names or [*SHOWN, *ROBOTS, "person"]:
            if name == "person":
                take(browser, person_page(Path(folder)), 1280, 860, None, PICTURES / "person.png")
                continue
            page = (robot_page if name in ROBOTS else page_of)(name, Path(folder))
            take(browser, page, 1000, 700, ".picture", PICTURES / f"{page.stem}.png")
            if name == "double_pendulum":
                take(browser, page, 1280, 960, None, PICTURES / "report.png")
                take_levels(browser, page)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
