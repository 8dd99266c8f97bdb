"""A headless browser for the report's tests, or a word on why there is none."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from report.samples import double_pendulum
from report.walker import walker
from torseur.report.page import write_report

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE_GRAPHICS = ("--disable-gpu", "--enable-unsafe-swiftshader")
ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars")


def wait_until(page: Any, condition: str, seconds: float = 15.0) -> None:
    """Ask until a condition holds; the page's own policy forbids the driver's way of waiting, which needs eval."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"still not true: {condition}"
        page.wait_for_timeout(20)


def executable() -> str:
    """The browser to drive; the test is skipped where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install torseur[test]")
    found = os.environ.get("TORSEUR_BROWSER") or next(filter(None, map(shutil.which, CANDIDATES)), None)
    if found is None:
        pytest.skip("no Chromium found: install Debian's package chromium or set TORSEUR_BROWSER")
    return found


@pytest.fixture(scope="session")
def launch() -> Iterator[Callable[..., Any]]:
    """Starts a browser with a fresh profile and the given switches."""
    path = executable()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield lambda *switches: driver.chromium.launch(executable_path=path, args=[*ARGUMENTS, *switches])


@pytest.fixture(scope="session")
def browser(launch: Callable[..., Any]) -> Iterator[Any]:
    """One browser for all tests that need WebGL."""
    started = launch(*SOFTWARE_GRAPHICS)
    yield started
    started.close()


@pytest.fixture(scope="session")
def pendulum_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The double pendulum's report."""
    return write_report(double_pendulum(), tmp_path_factory.mktemp("report") / "pendulum.html")


@pytest.fixture(scope="session")
def walker_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of 20 bodies."""
    return write_report(walker(), tmp_path_factory.mktemp("report") / "walker.html")


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a report; fails if the page reports an error or asks for anything outside itself."""
    contexts, complaints = [], []

    def open_file(path: Path, width: int = 1400, height: int = 900, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: complaints.append(request.url) if not is_inside(request.url) else None)
        page.goto(path.as_uri())
        wait_until(page, "window.report !== undefined")
        return page

    def is_inside(address: str) -> bool:
        return address.startswith(("file:", "data:", "blob:"))

    yield open_file
    for context in contexts:
        context.close()
    assert not complaints


@pytest.fixture(scope="session")
def picture() -> Callable[..., bytes]:
    """Takes a screenshot once the scene is finely drawn and keeps it among the build products."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)

    def take(page: Any, name: str, **options: Any) -> bytes:
        wait_until(page, "window.report.scene.drawn !== 'draft' || !window.report.scene.canvas.clientWidth")
        return bytes(page.screenshot(path=SCREENSHOTS / f"{name}.png", **options))

    return take
