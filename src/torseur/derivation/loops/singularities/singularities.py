"""Singular configurations: where the rank drops, a driven coordinate stops, or inputs and outputs lose each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.assembly import closed_state, free_mask
from torseur.derivation.loops.assembly.projection import CLOSED, project
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at, wrap_angles
from torseur.derivation.loops.rank.numerical_rank import numerical_rank, ranks
from torseur.derivation.loops.singularities.rank_drop import rank_drop
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError, unknown_name

_SAME = 1e-3
_PER_RADIAN = 30  # steps of a drive: two singular configurations nearer than 2 degrees may be taken for one
_SEARCHED = 12  # places at which a range in which nothing closes is looked at
_TRIES = 8  # starts from which a range that was lost is looked for again
_WORDS = {
    "limit": "limit of the drive",
    "type 1": "type 1, the outputs rest",
    "type 2": "type 2, free though inputs are locked",
}


@dataclass(frozen=True)
class Singularity:
    """A configuration where something changes: coordinates (SI), rank and mobility there.

    kind "closure": the rank of the closures drops, so motions branch or stop. kind "limit": the driven coordinate
    can go no further (a dead centre of another drive). "type 1": outputs rest while inputs move; "type 2": something
    moves while all inputs rest.
    """

    kind: str
    coordinates: Mapping[str, float]
    rank: int
    infinitesimal: int

    def __str__(self) -> str:
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in list(self.coordinates.items())[:8])
        what = _WORDS.get(self.kind, f"rank drops to {self.rank}")
        return f"{what} (infinitesimal mobility {self.infinitesimal}) at {shown}"


@dataclass(frozen=True)
class Drive:
    """What was met while a coordinate was driven: singular configurations, and the ranges (SI) in which loops close."""

    coordinate: str
    asked: tuple[float, float]
    singularities: tuple[Singularity, ...]
    closed: tuple[tuple[float, float], ...]

    @property
    def notes(self) -> list[str]:
        """Where the loops do not close within the range that was asked for, in words."""
        start, stop = self.asked
        sign = 1.0 if stop >= start else -1.0
        edge, notes = start, []
        for low, high in (*self.closed, (stop, stop)):
            if sign * (low - edge) > _SAME * max(abs(stop - start), 1e-300):
                notes.append(f"the loops do not close with {self.coordinate} between {edge:.6g} and {low:.6g}")
            edge = high if sign * (high - edge) > 0 else edge
        return notes


@dataclass(frozen=True)
class _Road:
    """A coordinate to drive in a system, with others held; values in the units of the system."""

    system: LoopSystem
    slot: int
    held: tuple[int, ...]
    free: Array

    @property
    def unit(self) -> float:
        return float(self.system.amounts.units[self.slot])

    def step(self, state: State, value: float) -> State | None:
        """The closed state with the driven coordinate at a value; None when it cannot be reached without a jump."""
        motions = self.motions(state)
        # The predictor follows the first-order motion that moves the driven coordinate as asked with least |dq|.
        change = value - float(state.x[0, self.slot])
        row = motions[self.slot]
        size = float(row @ row)
        step = motions @ row * (change / size) if size > 1e-12 else np.zeros(self.system.n)
        step = step * min(1.0, 0.5 / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        guess = self.system.move(state, step[None])
        guess.x[0, self.slot] = value
        closed = project(self.system, guess, free=self.free, steps=60)
        far = np.max(np.abs(self.system.difference(state, closed.state))) > 1.0
        return None if closed.gap[0] > self.system.open_limit(CLOSED) or far else closed.state

    def motions(self, state: State) -> Array:
        """First-order motions with the held coordinates at rest."""
        rows = np.eye(self.system.n)[list(self.held)]
        return numerical_rank(np.concatenate([self.system.linearise(state)[1][0], rows])).motions

    def find(self, near: State, value: float, rng: np.random.Generator) -> State | None:
        """A closed state with the driven coordinate at a value, the nearest of a few."""
        tries = near.repeat(_TRIES)
        nudges = rng.normal(size=(_TRIES, self.system.n)) * np.linspace(0, 1.5, _TRIES)[:, None] * self.free
        moved = self.system.move(tries, nudges)
        moved.x[:, self.slot] = value
        closed = project(self.system, moved, free=self.free, steps=80)
        good = np.flatnonzero(closed.gap < self.system.open_limit(CLOSED))
        return closed.state.lane(int(good[0])) if len(good) else None

    def limit(self, state: State, value: float) -> State:
        """The last state that can be reached on the way to a value, by bisection."""
        for _ in range(40):
            middle = (float(state.x[0, self.slot]) + value) / 2
            moved = self.step(state, middle)
            if moved is None:
                value = middle
            else:
                state = moved
        return state


def singularities_along(mechanism: Mechanism, coordinate: str, start: float, stop: float, *,
                        at: Mapping[str, float] | None = None, locked: Sequence[str] = (), inputs: Sequence[str] = (),
                        outputs: Sequence[str] = ()) -> list[Singularity]:  # fmt: skip
    """Singular configurations met when a coordinate is driven from one value to another (SI), the others following.

    `locked` coordinates or joints stay where they are; with `inputs` and `outputs` named, singularities of type 2 and 1
    are among them. Raises where the loops close nowhere in the range; `drive` tells which parts of it they close in.
    """
    met = drive(mechanism, coordinate, start, stop, at=at, locked=locked, inputs=inputs, outputs=outputs)
    return list(met.singularities)


def drive(mechanism: Mechanism, coordinate: str, start: float, stop: float, *, at: Mapping[str, float] | None = None,
          locked: Sequence[str] = (), inputs: Sequence[str] = (),
          outputs: Sequence[str] = ()) -> Drive:  # fmt: skip
    """What is met while a coordinate is driven over a range: beyond a limit it is taken up where the loops close."""
    road, pieces = _pieces(mechanism, coordinate, start, stop, at, locked, [*inputs, *outputs])
    system, found = road.system, list[Singularity]()
    for piece in pieces:
        values = np.array([_singular_values(system, state) for state in piece.states])
        found += _drops(road, piece.states, values)
        found += [singularity(road.system, road.slot, state, "limit") for state in piece.limits]
        for kind, names in (("type 2", inputs), ("type 1", outputs)):
            found += _crossings(road, piece.states, [slot_of(system, name) for name in names], kind)
    ranges = tuple((piece.ends[0] * road.unit, piece.ends[1] * road.unit) for piece in pieces)
    return Drive(coordinate, (start, stop), tuple(different(found, coordinate)), ranges)


def driven_states(mechanism: Mechanism, coordinate: str, start: float, stop: float, *,
                  at: Mapping[str, float] | None = None,
                  locked: Sequence[str] = ()) -> tuple[LoopSystem, list[State]]:  # fmt: skip
    """The system and its closed states while a coordinate is driven."""
    road, pieces = _pieces(mechanism, coordinate, start, stop, at, locked)
    return road.system, [state for piece in pieces for state in piece.states]


@dataclass(frozen=True)
class _Piece:
    """States of a drive without a gap, its first and last values, and the states at which it can go no further."""

    states: list[State]
    limits: list[State]
    ends: tuple[float, float]


def _pieces(mechanism: Mechanism, coordinate: str, start: float, stop: float, at: Mapping[str, float] | None,
            locked: Sequence[str], named: Sequence[str] = ()) -> tuple[_Road, list[_Piece]]:  # fmt: skip
    names = _coordinates_of(mechanism, locked)
    system = loop_system(mechanism, named=[coordinate, *names, *named])
    slot = slot_of(system, coordinate)
    held = tuple(slot_of(system, name) for name in names if name != coordinate)
    state = closed_state(system, at)
    road = _Road(system, slot, held, free_mask(system, [coordinate, *names]))
    count = max(8, int(abs(stop - start) / road.unit * _PER_RADIAN))
    targets = np.linspace(start, stop, count + 1) / road.unit
    rng, pieces, k, missed = np.random.default_rng(0), list[_Piece](), 0, -1
    # Where nothing closes the range is searched in larger steps; what is found there is followed back to its limit.
    stride = max(1, count // _SEARCHED)
    while k < len(targets):
        begun = _begin(road, state, targets[k]) if not pieces else None
        begun = begun or road.find(state, targets[k], rng)
        if begun is None:
            missed, k = k, k + (stride if k + stride < len(targets) or k == len(targets) - 1 else len(targets) - 1 - k)
            continue
        piece, k = _piece(road, begun, targets, k, missed)
        missed = k
        pieces.append(piece)
        state = piece.states[-1]
    if not pieces:
        where = f"between {start:.6g} and {stop:.6g}"
        kept = f" and {', '.join(names)} held" if names else ""
        raise MechanismError(f"mechanism '{mechanism.name}': the loops do not close with {coordinate} {where}{kept}.")
    return road, pieces


def _begin(road: _Road, state: State, value: float) -> State | None:
    """The state moved to the first value in small steps, so that it stays on its branch."""
    here = float(state.x[0, road.slot])
    for target in np.linspace(here, value, max(2, int(abs(value - here) * _PER_RADIAN)))[1:]:
        moved = road.step(state, float(target))
        if moved is None:
            return None
        state = moved
    return road.step(state, value)


def _piece(road: _Road, state: State, targets: Array, k: int, missed: int) -> tuple[_Piece, int]:
    """A piece of the drive from a state at target k on, and the number of the first target that it does not reach."""
    states, limits = [state], []
    if missed >= 0:
        # Taken up after a gap: it begins somewhere between this target and the last at which nothing closed.
        back = state
        for target in targets[missed + 1 : k][::-1]:
            moved = road.step(back, float(target))
            if moved is None:
                break
            back = moved
            states.insert(0, back)
        limits.append(road.limit(back, float(targets[max(missed, 0)])))
        states.insert(0, limits[0])
    begin = float(states[0].x[0, road.slot])
    for following in range(k + 1, len(targets)):
        moved = road.step(state, float(targets[following]))
        if moved is None:
            limits.append(road.limit(state, float(targets[following])))
            states.append(limits[-1])
            return _Piece(states, limits, (begin, float(limits[-1].x[0, road.slot]))), following
        state = moved
        states.append(state)
    return _Piece(states, limits, (begin, float(targets[-1]))), len(targets)


def _coordinates_of(mechanism: Mechanism, names: Sequence[str]) -> list[str]:
    """Coordinates by name, or those of joints by the names of these."""
    known = {joint.name: [c.name for c in joint.coordinates] for joint in mechanism.joints}
    single = {c: [c] for listed in known.values() for c in listed}
    for name in names:
        if name not in known and name not in single:
            raise MechanismError(unknown_name("coordinate or joint", name, [*single, *known], "locked: "))
    return [c for name in names for c in (single.get(name) or known[name])]


def slot_of(system: LoopSystem, coordinate: str) -> int:
    """The number of a coordinate's freedom."""
    names = [f.name for f in system.frame.freedoms]
    if coordinate not in names:
        raise MechanismError(unknown_name("coordinate", coordinate, names))
    return names.index(coordinate)


def _singular_values(system: LoopSystem, state: State) -> Array:
    values: Array = np.linalg.svd(system.linearise(state)[1][0], compute_uv=False)
    return values


def _drops(road: _Road, states: list[State], values: Array) -> list[Singularity]:
    """Rank drops near the states where the last singular value that counts is least."""
    system = road.system
    if len(states) < 3 or not system.rows:
        return []
    # The rank along the drive: the median is not misled by the few states near a singular one.
    rank = int(np.median(np.sum(values > 1e-5 * np.maximum(values[:, :1], 1.0), axis=1)))
    last = values[:, rank - 1]
    dips = [k for k in range(len(last)) if last[k] == np.min(last[max(0, k - 1) : k + 2])]
    drops = [rank_drop(system, states[k], rank) for k in dips]
    near = [
        state for k, state in zip(dips, drops, strict=True) if state is not None and _close(system, states[k], state)
    ]
    # What Newton's method finds with held coordinates elsewhere does not lie on this drive.
    here = [state for state in near if not road.held or _on_road(road, states, state)]
    return different([singularity(road.system, road.slot, state, "closure") for state in here], "")


def _on_road(road: _Road, states: list[State], state: State) -> bool:
    held = list(road.held)
    return bool(np.max(np.abs(state.x[0, held] - states[0].x[0, held])) < _SAME)


def _crossings(road: _Road, states: list[State], rows: list[int], kind: str) -> list[Singularity]:
    """States between which the determinant of some rows of the motions changes sign, where it vanishes."""
    bases = [numerical_rank(road.system.linearise(state)[1][0]).motions for state in states]
    usual = int(np.median([basis.shape[1] for basis in bases])) if bases else 0
    if not rows or len(rows) != usual:
        return []
    found, before = [], None
    for state, basis in zip(states, bases, strict=True):
        if basis.shape[1] != usual:
            before = None
            continue
        if before is not None:
            found += _vanishing(road, before, (state, basis), rows, kind)
            basis = _align(before[1], basis)
        before = (state, basis)
    return found


def _align(before: Array, basis: Array) -> Array:
    """A basis turned to be nearest to an earlier one, so that determinants keep their sign."""
    left, _, right = np.linalg.svd(basis.T @ before)
    turned: Array = basis @ (left @ right)
    return turned


def _vanishing(road: _Road, first: tuple[State, Array], second: tuple[State, Array], rows: list[int],
               kind: str) -> list[Singularity]:  # fmt: skip
    basis = _align(first[1], second[1])
    signs = [float(np.linalg.det(b[rows])) for b in (first[1], basis)]
    if signs[0] * signs[1] >= 0:
        return []
    low, high = first, (second[0], basis)
    for _ in range(50):
        step = road.system.difference(low[0], high[0]) / 2
        closed = project(road.system, road.system.move(low[0], step), steps=60)
        motions = numerical_rank(road.system.linearise(closed.state)[1][0]).motions
        if motions.shape[1] != basis.shape[1]:
            return []
        middle = (closed.state, _align(low[1], motions))
        if float(np.linalg.det(middle[1][rows])) * signs[0] > 0:
            low = middle
        else:
            high = middle
    return [singularity(road.system, road.slot, low[0], kind)]


def _close(system: LoopSystem, first: State, second: State) -> bool:
    return bool(np.max(np.abs(system.difference(first, second))) < 0.2)


def singularity(system: LoopSystem, driven: int, state: State, kind: str) -> Singularity:
    """A singular state by its coordinates: one as it was driven, other angles within half a turn."""
    rank = int(ranks(system.linearise(state)[1])[0]) if system.rows else 0
    values = coordinates_at(system, state)
    name = system.frame.freedoms[driven].name
    return Singularity(kind, {**wrap_angles(system, values), name: values[name]}, rank, system.n - rank)


def different(listed: list[Singularity], driven: str) -> list[Singularity]:
    """Those that are not met twice; angles count modulo a turn, but for the driven coordinate."""
    kept: list[Singularity] = []
    for item in listed:
        if all(item.kind != other.kind or _apart(item, other, driven) for other in kept):
            kept.append(item)
    return kept


def _apart(first: Singularity, second: Singularity, driven: str) -> bool:
    """Whether two configurations differ by more than Newton's method leaves; half a turn is the same both ways."""
    gaps = {name: abs(value - second.coordinates[name]) for name, value in first.coordinates.items()}
    return max(gap if name == driven else min(gap, abs(gap - 2 * np.pi)) for name, gap in gaps.items()) > _SAME
