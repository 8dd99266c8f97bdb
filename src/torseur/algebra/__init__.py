"""The mathematics below everything; and `ts.algebra`: symbolic linear algebra to use by itself.

Elimination with cases, ranks, standard bases and syzygies, quaternions, vectors without components, brackets
of motions. The public names are listed in __init__.pyi and imported when first used.
"""

from __future__ import annotations

from typing import Any

from torseur.edges.public_names import load_public, public_names

_NAMES = public_names(__file__)
__all__ = sorted(_NAMES)


def __getattr__(name: str) -> Any:
    value = globals()[name] = load_public(__name__, _NAMES, name)
    return value


def __dir__() -> list[str]:
    return __all__
