"""A studio in the background, and a page that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A studio with a double pendulum, for tests that leave it as it is."""
    pytest.importorskip("uvicorn", reason="the studio's libraries are not installed: pip install torseur[studio]")
    from torseur.presentation.studio.serving import running

    with running("library:double_pendulum", folder=tmp_path_factory.mktemp("state")) as found:
        yield found


@pytest.fixture
def visit(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens a page of its own on a studio of its own; what the page complains about fails the test."""
    from contextlib import ExitStack

    from torseur.presentation.studio.serving import running

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
