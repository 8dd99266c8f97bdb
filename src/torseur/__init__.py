"""torseur: mechanics of multibody systems. Equations to read, code that runs at the machine's limit, motions.

The public names are listed in __init__.pyi and imported when first used, so that importing the package costs little.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any


def _public_names() -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there), from the lines "from MODULE import NAME as PUBLIC" of the stub."""
    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    words = [line.split() for line in lines if line.startswith("from ")]
    return {public: (module, name) for _, module, _, name, _, public in words}


_NAMES = _public_names()
__all__ = [*sorted(_NAMES), "__version__"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("torseur")
    if name not in _NAMES:
        raise AttributeError(f"module 'torseur' has no attribute '{name}'")
    module, there = _NAMES[name]
    found = import_module(module)
    # A package that bears the name itself (torseur.loops) is what it stands for.
    value = globals().get(name, getattr(found, there))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
