"""torseur: mechanics of multibody systems. Equations to read, code that runs at the machine's limit, motions.

The public names are listed in __init__.pyi and imported when first used, so that importing the package costs little.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from torseur.display import set_painter


# Why a stub and late imports: docs/decisions/0034-public-names-in-a-stub.md.
def _public_names() -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there), from the lines "from MODULE import NAME as PUBLIC" of the stub."""
    stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = re.findall(r"^from (\S+) import \(?\s*(\w+) as (\w+)", stub, re.MULTILINE)
    return {public: (module, name) for module, name, public in lines}


_NAMES = _public_names()
# `studio` is left to those who ask for it: it needs an extra, without which `from torseur import *` would fail.
__all__ = [*sorted(_NAMES.keys() - {"studio"}), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("torseur")
    if name not in _NAMES:
        raise AttributeError(f"module 'torseur' has no attribute '{name}'")
    module, there = _NAMES[name]
    owner = import_module(module)
    # Public folders (the library, biomechanics, ...) are packages, not names inside one.
    value = getattr(owner, there) if hasattr(owner, there) else import_module(f"{module}.{there}")
    if isinstance(value, FunctionType):
        from torseur.edges.arguments import explain_arguments

        value = explain_arguments(value)
    globals()[name] = value
    return value


def _paint(value: Any) -> dict[str, str]:
    """What a notebook shows of a value; drawn by the highest rooms, which are loaded only then."""
    contents: dict[str, str] = import_module("torseur.presentation.notebook.painters").paint(value)
    return contents


set_painter(_paint)


def __dir__() -> list[str]:
    return __all__
