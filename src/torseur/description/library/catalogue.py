"""The catalogue: which mechanisms there are, and how a name such as "pendulum_chain?n=20" leads to one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from torseur.description.library.antennas import antenna_chain, antenna_grid
from torseur.description.library.chains import cart_pendulum, four_bar_chain, pendulum_chain
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, unknown_name

PREFIX = "library:"
_TITLE = re.compile(r'^mechanism\s+\w+\s+"([^"]*)"', re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A mechanism of the library: a text, or a function of whole numbers that makes one."""

    name: str
    title: str
    file: Traversable | None = None
    make: Callable[..., Mechanism] | None = None
    arguments: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)  # name: (default, least, greatest)

    @property
    def usage(self) -> str:
        """How it is asked for: library:name, with its arguments and their defaults."""
        given = "&".join(f"{name}={default}" for name, (default, _, _) in self.arguments.items())
        return f"{PREFIX}{self.name}" + (f"?{given}" if given else "")


_MADE = (
    Entry("antenna_chain", "strip of n antenna meshes", make=antenna_chain, arguments={"n": (2, 1, 200)}),
    Entry("antenna_grid", "grid of 2 x width x height antenna meshes", make=antenna_grid,
          arguments={"width": (2, 1, 20), "height": (2, 1, 20)}),
    Entry("pendulum_chain", "chain of n equal pendulums", make=pendulum_chain, arguments={"n": (3, 1, 200)}),
    Entry("four_bar_chain", "row of n four-bar linkages", make=four_bar_chain, arguments={"n": (2, 1, 100)}),
    Entry("cart_pendulum", "chain of n pendulums on a cart", make=cart_pendulum, arguments={"n": (1, 1, 200)}),
)  # fmt: skip


# Equations that are no bodies and joints: studies take them by name. A module of a higher room makes each, by a
# function of the same name; here they stand so that there is one list of names.
SYSTEMS: Mapping[str, tuple[str, str]] = {
    "roll_yaw_vehicle": (
        "torseur.analysis.published_studies.vehicle",
        "roll, yaw and sideslip of a vehicle, as equations",
    ),
}


@cache
def entries() -> tuple[Entry, ...]:
    """Everything there is, by name."""
    texts = [f for f in files("torseur.description.library").joinpath("lsd").iterdir() if f.name.endswith(".lsd")]
    written = [Entry(f.name.removesuffix(".lsd"), _title(f), file=f) for f in texts]
    return tuple(sorted([*written, *_MADE], key=lambda entry: entry.name))


@cache
def linkages() -> tuple[Entry, ...]:
    """Linkages of the literature, for questions about loops, by name: `library:linkages/goldberg`."""
    texts = [f for f in files("torseur.description.library").joinpath("linkages").iterdir() if f.name.endswith(".lsd")]
    written = [Entry(f"linkages/{f.name.removesuffix('.lsd')}", _title(f), file=f) for f in texts]
    return tuple(sorted(written, key=lambda entry: entry.name))


def _title(file: Traversable) -> str:
    title = _TITLE.search(file.read_text(encoding="utf-8"))
    return title[1] if title else ""


def find(name: str) -> tuple[Entry, dict[str, int]]:
    """The entry a name asks for, and its arguments: "pendulum_chain?n=20", with or without "library:"."""
    bare, _, query = name.removeprefix(PREFIX).partition("?")
    known = {entry.name: entry for entry in (*entries(), *linkages())}
    if bare in SYSTEMS:
        raise TorseurError(
            f"{PREFIX}{bare} is a system of equations without bodies: studies take it (torseur sweep, "
            "torseur optimise), nothing else does."
        )
    if bare not in known:
        raise TorseurError(unknown_name("library mechanism", bare, known))
    return known[bare], _arguments(known[bare], query)


def _arguments(entry: Entry, query: str) -> dict[str, int]:
    values = {name: default for name, (default, _, _) in entry.arguments.items()}
    for part in query.split("&") if query else []:
        name, _, text = part.partition("=")
        if name not in values:
            raise TorseurError(unknown_name("argument", name, values, f"{PREFIX}{entry.name}: "))
        _, least, greatest = entry.arguments[name]
        if not text.isdecimal() or not least <= int(text) <= greatest:
            where = f"{PREFIX}{entry.name}: "
            raise TorseurError(f"{where}{name} is a whole number from {least} to {greatest}, not '{text}'.")
        values[name] = int(text)
    return values


def load(name: str) -> Mechanism:
    """The mechanism of that name."""
    from torseur.description.language import parse

    entry, arguments = find(name)
    if entry.make is not None:
        return entry.make(**arguments)
    assert entry.file is not None
    return parse(entry.file.read_text(encoding="utf-8"), f"{PREFIX}{entry.file.name}")


def source_of(name: str) -> str:
    """The mechanism as LSD text."""
    from torseur.description.language import to_text

    entry, arguments = find(name)
    if entry.make is not None:
        return to_text(entry.make(**arguments))
    assert entry.file is not None
    return entry.file.read_text(encoding="utf-8")
