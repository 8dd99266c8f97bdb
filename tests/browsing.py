"""A headless browser for the tests that look at pages, or a word on why there is none.

There is one driver for the whole run: two of them in one process do not go together.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

SCREENSHOTS = Path(__file__).parents[1] / "build" / "screenshots"
CANDIDATES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SOFTWARE_GRAPHICS = ("--disable-gpu", "--enable-unsafe-swiftshader")
ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars")


def wait_until(page: Any, condition: str, seconds: float = 90.0) -> None:
    """Ask until a condition holds; the page's own policy forbids the driver's way of waiting, which needs eval."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"still not true: {condition}"
        page.wait_for_timeout(20)


def frames(page: Any, count: int = 3) -> None:
    """Wait until the page was drawn a few times: layouts are done then, and what observes sizes was told."""
    page.evaluate(
        """(count) => new Promise((done) => {
          const next = (left) => (left ? requestAnimationFrame(() => next(left - 1)) : done(true));
          next(count);
        })""",
        count,
    )


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


def without_steps(panel: str) -> str:
    """The words of a panel of equations without the card of a formalism's own steps, which stands before the generation."""
    return re.sub(r"Derivation(?=\s*steps of).*?(?=Generation)", "", panel, flags=re.DOTALL)
