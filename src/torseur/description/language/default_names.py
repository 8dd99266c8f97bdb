"""Names for everything that the text did not name; reader and printer share these rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence


class Names:
    """Hands out names that are not taken: the wanted one, or the same with a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._next: Counter[str] = Counter()

    def unique(self, wanted: str) -> str:
        name = wanted
        while name in self.taken:
            self._next[wanted] += 1
            name = f"{wanted}_{self._next[wanted] + 1}"
        self.taken.add(name)
        return name


def joint_name(parent: str, child: str) -> str:
    return f"{parent}_{child}"


def qualified_coordinates(joints: Sequence[tuple[str, Sequence[str]]]) -> list[list[str]]:
    """Full names of the coordinates, given each joint's qualifier and the names written in it.

    A name that one joint alone uses stays as it is, and so does a name with a dot; others are put behind the
    qualifier: `x` in a joint to `arm` becomes `arm.x`.
    """
    uses = Counter(name for _, written in joints for name in written)
    names = Names(name for name, count in uses.items() if count == 1 or "." in name)
    return [
        [name if uses[name] == 1 or "." in name else names.unique(f"{qualifier}.{name}") for name in written]
        for qualifier, written in joints
    ]


def joint_load(joint: str, what: str, coordinate: str = "") -> str:
    """Name of a load given as an option of a joint: main.torque, or carriage.x.spring for one of its coordinates."""
    return f"{joint}.{coordinate}.{what}" if coordinate else f"{joint}.{what}"


def wrench_name(kinds: Sequence[str], on: str) -> str:
    return f"{'_'.join(kinds)}_on_{on}"


def between(kind: str, first: str, second: str) -> str:
    return f"{kind}_{first}_{second}"
