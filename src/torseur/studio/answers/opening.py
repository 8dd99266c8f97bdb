"""The text of a mechanism of the library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from torseur.errors import TorseurError
from torseur.library import source_of
from torseur.studio.messages import Request, text_message


def open_entry(request: Request, folder: Path | None) -> Iterator[bytes]:
    """The text that `what` names, such as pendulum_chain?n=7."""
    try:
        yield text_message("opened", request.number, text=source_of(request.what), name=request.what)
    except TorseurError as problem:
        yield text_message("refusal", request.number, reason=str(problem))
