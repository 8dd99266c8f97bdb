"""Reports and pages that show them, for the tests in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browsing import SCREENSHOTS, wait_until
from presentation.report.samples import double_pendulum
from presentation.report.walker import walker
from torseur.presentation.report.page.report_page import write_report


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
