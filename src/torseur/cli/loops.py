"""`torseur loops`."""

from __future__ import annotations

from torseur.cli.options import SourceArgument


def loops(source: SourceArgument) -> None:
    """loops"""
