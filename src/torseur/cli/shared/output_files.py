"""Output files: never replaced unasked, never half written; and what they record of how they were made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from torseur.cli.shared.exits import CommandError

if TYPE_CHECKING:
    from torseur.presentation.report.page.report_content import Reproduction


def version() -> str:
    """The version of this package as installed; "not installed" when the sources are run from their folder."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("torseur")
    except PackageNotFoundError:
        return "(not installed)"


def require_free(path: Path, force: bool) -> None:
    """Refuses, before any work is done, a place where nothing can be or should be written."""
    if path.is_dir():
        raise CommandError(f"'{path}' is a folder; give the name of a file in it.")
    if path.exists() and not force:
        raise CommandError(f"'{path}' exists already. Give another name, or --force to replace it.")
    if not path.parent.is_dir():
        raise CommandError(f"cannot write '{path}': there is no folder '{path.parent}'.")
    if not os.access(path.parent, os.W_OK):
        raise CommandError(f"cannot write '{path}': the folder '{path.parent}' is not open to writing.")


def require_outputs(force: bool, *places: tuple[Path | None, tuple[str, ...]]) -> None:
    """Refuses output files that cannot be written, each with the suffixes it may have, before any work is done."""
    for path, suffixes in places:
        if path is not None:
            require_free(path, force)
            require_suffix(path, suffixes)


def require_suffix(path: Path, suffixes: tuple[str, ...]) -> None:
    """Refuses a name whose suffix is no known format."""
    if path.suffix not in suffixes:
        raise CommandError(f"'{path}': unknown format; expected a name that ends in one of {', '.join(suffixes)}.")


def write_text(path: Path, text: str) -> Path:
    """Writes a file; it appears under its name only when it is complete."""
    # In the same folder, because a rename is whole only within one file system.
    draft = path.with_name(f".{path.name}-{uuid4().hex}")
    try:
        draft.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def reproduction(source: str = "", text: str = "") -> Reproduction:
    """How a page is made again: this very command, what it reads, and the versions of what computed it."""
    import sys

    import numpy as np

    from torseur.presentation.report.page.report_content import Reproduction

    versions = (("torseur", version()), ("python", sys.version.split()[0]), ("numpy", np.__version__))
    return Reproduction((command_line(),), source, text, versions)


def command_line() -> str:
    """What was typed, to be typed again; the permission to overwrite is left out."""
    import shlex
    import sys

    return shlex.join(["torseur", *(word for word in sys.argv[1:] if word != "--force")])
