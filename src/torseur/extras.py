"""Optional packages: what each set of them is for, whether it is there, and the command that installs it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version

PURPOSES = {
    "studio": "the local page (`torseur studio`)",
    "sweep": "stores of sweeps and clusters (`torseur sweep`)",
    "mocap": "writing C3D recordings",
    "plots": "pictures of small motions and studies as PNG",
    "pictures": "pictures as PNG, animations as MP4, WebM and GIF (`torseur animate`)",
    "identification": "physically consistent identification",
    "xacro": "robot files with macros (xacro)",
    "casadi": "functions for CasADi (`ts.casadi_function`) and optimal motions (`ts.OptimalMotion`)",
    "meshes": "mesh files of robots beyond STL and OBJ",
}
_NEEDED = re.compile(r"""^([A-Za-z0-9._-]+)(\[[^\]]*\])?([^;]*);.*extra == ['"](\w+)['"]""")


@dataclass(frozen=True)
class Extra:
    """A set of optional packages, as requirements, with the version of each that is installed."""

    name: str
    purpose: str
    packages: dict[str, str | None]
    requirements: tuple[str, ...]

    @property
    def is_there(self) -> bool:
        return all(self.packages.values())


def extras() -> tuple[Extra, ...]:
    """Every set, in the order of the table above; what this package's own metadata says they hold."""
    needed: dict[str, list[tuple[str, str]]] = {name: [] for name in PURPOSES}
    try:
        lines = requires("torseur") or []
    except PackageNotFoundError:  # run from a folder of sources: nothing says what the extras hold
        lines = []
    for line in lines:
        match = _NEEDED.match(line.replace(" (", "(").replace("(", "").replace(")", ""))
        if match and match[4] in needed and match[1] != "torseur":
            needed[match[4]].append((match[1], f"{match[1]}{match[2] or ''}{match[3].strip()}"))
    return tuple(
        Extra(name, PURPOSES[name], {p: _installed(p) for p, _ in pairs}, tuple(text for _, text in pairs))
        for name, pairs in needed.items()
    )


def install_command(name: str) -> str:
    """The command that installs a set: by its packages, so that it works from a clone, a wheel and an index alike."""
    found = next((extra for extra in extras() if extra.name == name and extra.requirements), None)
    if found is None:
        return f"pip install 'torseur[{name}]'"
    return f"pip install {' '.join(repr(requirement) for requirement in found.requirements)}"


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
