"""The version of this package."""

from __future__ import annotations


def version() -> str:
    """As installed; "not installed" when the sources are run from their folder."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("torseur")
    except PackageNotFoundError:
        return "(not installed)"
