"""What every value of an initial state comes from: given, guessed, following from constraints, or free."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import Equations

GIVEN, GUESSED, FOLLOWS, FREE = "given", "guessed", "follows", "free"
MOST_NAMES = 6  # in the note of a tree
SILENT = 1e-9  # move of a value, of its size or of 1, that is not worth a word


@dataclass(frozen=True)
class StartValue:
    """A coordinate or speed at the start: its value, its origin and how far it was moved from what was stated.

    `reason` says where it comes from where the origin alone does not.
    """

    name: str
    value: float
    origin: str
    moved: float = 0.0
    reason: str = ""

    @property
    def is_moved(self) -> bool:
        return abs(self.moved) > SILENT * max(1.0, abs(self.value))

    @property
    def words(self) -> str:
        """The origin in words."""
        if self.reason:
            return self.reason
        if self.origin == GUESSED:
            return f"guessed, moved by {self.moved:.3g}" if self.is_moved else "guessed, not moved"
        if self.origin == GIVEN:
            return f"given, moved by {self.moved:.3g} within its digits" if self.is_moved else "given"
        if self.origin == FOLLOWS:
            return "follows from constraints"
        return "free, set to zero" if self.value == 0.0 else "free, kept near zero"

    def __str__(self) -> str:
        shift = f" (moved by {self.moved:.3g})" if self.is_moved else ""
        return f"{self.name} = {self.value:.6g}{shift}"


@dataclass(frozen=True)
class Consistent:
    """A state on the constraints, what has to be said about it, and what each of its values comes from."""

    y: Vector
    notes: tuple[str, ...] = ()
    account: tuple[StartValue, ...] = ()


def origin_of(name: str, given: Collection[str], guesses: Collection[str], is_free: bool) -> str:
    """Where the value of a name comes from."""
    if name in given:
        return GIVEN
    if name in guesses:
        return GUESSED
    return FREE if is_free else FOLLOWS


def quoted(names: Sequence[str]) -> str:
    """Names in quotes, as messages list them."""
    return ", ".join(f"'{name}'" for name in names)


def account_notes(values: Sequence[StartValue]) -> tuple[str, ...]:
    """The account in words, a sentence per origin."""
    by_origin = {origin: [v for v in values if v.origin == origin] for origin in (GIVEN, GUESSED, FOLLOWS, FREE)}
    zero = [v.name for v in by_origin[FREE] if v.value == 0.0]
    chosen = [v for v in by_origin[FREE] if v.value != 0.0]
    sentences = [
        ("given: ", by_origin[GIVEN]),
        ("guessed: ", by_origin[GUESSED]),
        ("following from the constraints: ", by_origin[FOLLOWS]),
        ("free, kept near zero: ", chosen),
    ]
    parts = [words + ", ".join(map(str, some)) for words, some in sentences if some]
    parts += [f"free and set to zero: {', '.join(zero)}"] if zero else []
    return (f"Initial state: {'; '.join(parts)}.",) if parts else ()


def tree_account(
    equations: Equations, y: Sequence[float], exact: Collection[str], guesses: Collection[str]
) -> tuple[StartValue, ...]:
    """What each value comes from where there are no constraints: nothing moves, and what nobody states is zero."""
    reasons: dict[str, str] = {}
    for link in equations.tree.links:
        coordinates = [str(q.name) for q in link.symbols.coordinates]
        turning = {str(q.name) for q in link.symbols.quaternion or ()}
        if turning & {*exact, *guesses}:
            reasons |= dict.fromkeys(turning, "completes the quaternion to length one")
        elif turning:
            reasons |= dict.fromkeys(turning, "free, without rotation")
        speeds = [str(v.name) for v in link.symbols.speeds]
        if any(f"{name}'" in {*exact, *guesses} and f"{name}'" not in speeds for name in coordinates):
            reasons |= dict.fromkeys(speeds, "follows from the given rates")
    layout, values = equations.layout, []
    for name, value in zip([*layout.coordinate_names, *layout.speed_names], y, strict=True):
        is_stated, reason = name in exact or name in guesses, reasons.get(name, "")
        is_free = not reason or reason.startswith("free")
        values.append(
            StartValue(name, value, origin_of(name, exact, guesses, is_free), reason="" if is_stated else reason)
        )
    return tuple(values)


def unstated_notes(values: Sequence[StartValue]) -> tuple[str, ...]:
    """What nobody stated and is zero, or no rotation, in a sentence; nothing where everything is stated."""
    names = [v.name for v in values if v.origin == FREE]
    if not names:
        return ()
    shown = names if len(names) <= MOST_NAMES else [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    zero = "zero" if all(v.value == 0.0 for v in values if v.origin == FREE) else "zero and no rotation"
    return (f"Initial state: not given, and set to {zero}: {', '.join(shown)}.",)
