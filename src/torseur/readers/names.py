"""Names of a file made fit for a mechanism: any name is kept that can be, and every change is recorded."""

from __future__ import annotations

from torseur.mechanism import EARTH_NAME

LONGEST = 80
# What nothing in a description can be called: these mean something of their own.
RESERVED = (EARTH_NAME, "t", "pi")
_SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")


class Names:
    """Hands out unique names of one kind (bodies, joints, coordinates, loads, ...) and remembers what they were."""

    def __init__(self, kind: str, taken: tuple[str, ...] = RESERVED) -> None:
        self.kind = kind
        self.taken = {*taken}
        self.changed: list[tuple[str, str, str]] = []
        self._next: dict[str, int] = {}

    def keep(self, name: str, kind: str = "") -> str:
        """The name itself where possible, otherwise the nearest one, which is recorded."""
        given = self.fresh(name)
        if given != name:
            self.changed.append((kind or self.kind, name, given))
        return given

    def fresh(self, wanted: str) -> str:
        """A new name like the wanted one."""
        clean = speakable(wanted, self.kind)
        name = clean
        while name in self.taken:
            self._next[clean] = self._next.get(clean, 1) + 1
            name = f"{clean}_{self._next[clean]}"
        self.taken.add(name)
        return name


def speakable(name: str, kind: str) -> str:
    """The name with what no description can hold replaced: back quotes, control characters, excessive length."""
    clean = "".join(c if c.isprintable() and c != "`" else "_" for c in name)
    if not clean.strip():
        return kind
    clean = clean[:LONGEST]
    return clean[:-1] + "_" if clean.endswith("'") else clean


def coordinate_names() -> Names:
    """Names of coordinates; the length of a spring also stands in formulas."""
    return Names("coordinate", (*RESERVED, "length"))


def reserve_speeds(coordinates: Names, joint: str) -> None:
    """Takes the names that the speeds of a freely turning joint get by themselves."""
    coordinates.taken.update(f"{joint}.{speed}" for speed in _SPEEDS)
