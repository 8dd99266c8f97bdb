"""Public names from a stub, imported when first used, so that importing a package costs little.

Why a stub and late imports: docs/decisions/0034-public-names-in-a-stub.md.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any


def public_names(file: str) -> dict[str, tuple[str, str]]:
    """Public name -> (module, name there), from lines "from MODULE import NAME as PUBLIC" of the stub beside a file."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    lines = re.findall(r"^from (\S+) import \(?\s*(\w+) as (\w+)", stub, re.MULTILINE)
    return {public: (module, name) for module, name, public in lines}


def load_name(package: str, names: Mapping[str, tuple[str, str]], name: str) -> Any:
    """The value of a name that the stub of a package lists."""
    if name not in names:
        raise AttributeError(f"module '{package}' has no attribute '{name}'")
    module, there = names[name]
    owner = import_module(module)
    # A package may be public as a whole (library, algebra): it is no name inside of another module.
    if module == package or not hasattr(owner, there):
        return import_module(f"{module}.{there}")
    return getattr(owner, there)


def late_names(package: str, file: str) -> Callable[[str], Any]:
    """`__getattr__` of a room whose modules are loaded when one of its names is first used.

    For rooms of which a command needs a corner only: a tree without loops moves without the loop doctor.
    """
    names = public_names(file)

    def load(name: str) -> Any:
        value = sys.modules[package].__dict__[name] = load_name(package, names, name)
        return value

    return load


def load_public(package: str, names: Mapping[str, tuple[str, str]], name: str) -> Any:
    """The value of a public name of a package; functions and classes explain what is wrong with their arguments."""
    from torseur.edges.arguments import explain

    return explain(load_name(package, names, name))
