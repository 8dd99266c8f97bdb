"""A studio in the background, and a headless browser that looks at it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SWITCHES = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
)
SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A studio with a double pendulum, for tests that leave it as it is."""
    pytest.importorskip("uvicorn", reason="the studio's libraries are not installed: pip install torseur[studio]")
    from torseur.studio.serving import running

    with running("library:double_pendulum", folder=tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser; the test is skipped where there is none."""
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install torseur[test]")
    path = os.environ.get("TORSEUR_BROWSER") or next(filter(None, map(shutil.which, CANDIDATES)), None)
    if path is None:
        pytest.skip("no Chromium found: install Debian's package chromium or set TORSEUR_BROWSER")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield started
        started.close()


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page of its own on a studio of its own; what the page complains about fails the test."""
    from contextlib import ExitStack

    from torseur.studio.serving import running

    with ExitStack() as open_ones:
        complaints: list[str] = []

        def go(file: str | Path = "library:double_pendulum", **options: Any) -> Any:
            found = open_ones.enter_context(running(file, folder=tmp_path / "state"))
            window = browser.new_page(viewport={"width": 1440, "height": 900}, **options)
            open_ones.callback(window.close)
            window.on("pageerror", lambda problem: complaints.append(str(problem)))
            window.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
            window.goto(found)
            window.complaints = complaints
            return window

        yield go
        assert complaints == []
