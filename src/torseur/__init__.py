"""torseur: mechanics of multibody systems. Equations to read, code that runs at the machine's limit, motions.

The public names are listed in __init__.pyi and imported when first used, so that importing the package costs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from torseur.display import set_painter
from torseur.edges.public_names import load_public, public_names
from torseur.formula_texts import set_formula_reader

_NAMES = public_names(__file__)
# `studio` is left to those who ask for it: it needs an extra, without which `from torseur import *` would fail.
__all__ = [*sorted(_NAMES.keys() - {"studio"}), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("torseur")
    value = globals()[name] = load_public(__name__, _NAMES, name)
    return value


def _paint(value: Any) -> dict[str, str]:
    """What a notebook shows of a value; drawn by the highest rooms, which are loaded only then."""
    contents: dict[str, str] = import_module("torseur.presentation.notebook.painters").paint(value)
    return contents


set_painter(_paint)


def _read_output(text: str, system: Any) -> Any:
    """An output by its formula, in the language of descriptions."""
    return import_module("torseur.analysis.sensitivity.criteria.formula_outputs").formula_output(text, system)


set_formula_reader(_read_output)


def __dir__() -> list[str]:
    return __all__
