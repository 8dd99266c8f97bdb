"""Singular configurations: where the rank drops, a driven coordinate stops, or inputs and outputs lose each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.assembly import closed_state, free_mask
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.model.angle_joints import is_of_the_mechanism
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_parts import related_freedoms
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at, wrap_angles
from torseur.derivation.loops.rank.numerical_rank import ranks
from torseur.derivation.loops.singularities.rank_drop import rank_drop
from torseur.derivation.loops.singularities.road import Road
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import MechanismError, unknown_name

_SAME = 1e-3
_NOTHING = 1e-7  # what Newton's method leaves of a coordinate that vanishes
_VANISHED = 1e-3  # of a determinant's usual size, which falls like the root of the distance to a limit
_PER_RADIAN = 30  # steps of a drive: two singular configurations nearer than 2 degrees may be taken for one
_SEARCHED = 12  # places at which a range in which nothing closes is looked at
_WORDS = {
    "limit": "limit of the drive",
    "type 1": "type 1, the outputs rest",
    "type 2": "type 2, free though inputs are locked",
}


@dataclass(frozen=True)
class Singularity:
    """A configuration where something changes: coordinates (SI), rank and mobility there.

    `infinitesimal` counts the motions that held coordinates leave. kind "closure": the rank of the closures drops, so
    motions branch or stop. kind "limit": the driven coordinate can go no further (a dead centre of another drive).
    "type 1": outputs rest while inputs move; "type 2": something moves while all inputs rest. `family` is the dimension
    of the curve or surface of such configurations that it is a point of, where it was looked for; 0 where it is
    alone.
    """

    kind: str
    coordinates: Mapping[str, float]
    rank: int
    infinitesimal: int
    family: int = 0

    def __str__(self) -> str:
        values = {name: 0.0 if abs(value) < _NOTHING else value for name, value in self.coordinates.items()}
        shown = ", ".join(f"{name} = {value:.6g}" for name, value in list(values.items())[:8])
        what = _WORDS.get(self.kind, f"rank drops to {self.rank}")
        family = {0: "", 1: ", one of a curve", 2: ", one of a surface"}
        of = family.get(self.family, f", one of a family of dimension {self.family}")
        return f"{what} (infinitesimal mobility {self.infinitesimal}{of}) at {shown}"


@dataclass(frozen=True)
class Drive:
    """What was met while a coordinate was driven: singular configurations, and the ranges (SI) in which loops close.

    A range that begins where the one before ended is gone through in another assembly.
    """

    coordinate: str
    asked: tuple[float, float]
    singularities: tuple[Singularity, ...]
    closed: tuple[tuple[float, float], ...]

    @property
    def notes(self) -> list[str]:
        """Where the loops do not close within the range that was asked for, or only in another assembly, in words."""
        start, stop = self.asked
        sign = 1.0 if stop >= start else -1.0
        edge, notes = start, []
        for low, high in (*self.closed, (stop, stop)):
            if sign * (low - edge) > _SAME * max(abs(stop - start), 1e-300):
                notes.append(f"the loops do not close with {self.coordinate} between {edge:.6g} and {low:.6g}")
            elif (low, high) in self.closed[1:]:
                notes.append(f"beyond {self.coordinate} = {low:.6g} the loops close in another assembly")
            edge = high if sign * (high - edge) > 0 else edge
        return notes


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
        found += [_singularity_on(road, state, "limit") for state in piece.limits if road.is_turning_back(state)]
        for kind, names in (("type 2", inputs), ("type 1", outputs)):
            rows = [slot_of(system, name) for name in names]
            found += [*_at_limits(road, piece, rows, kind), *_crossings(road, piece.states, rows, kind)]
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
            locked: Sequence[str], named: Sequence[str] = ()) -> tuple[Road, list[_Piece]]:  # fmt: skip
    names = coordinates_of(mechanism, locked)
    system = loop_system(mechanism, named=[coordinate, *names, *named])
    slot = slot_of(system, coordinate)
    held = tuple(slot_of(system, name) for name in names)
    state = closed_state(system, at)
    part = related_freedoms(system, [slot, *(slot_of(system, name) for name in named)])
    road = Road(system, slot, held, free_mask(system, [coordinate, *names]), part)
    _require_motion(mechanism, coordinate, names, road, state)
    count = max(8, int(abs(stop - start) / road.unit * _PER_RADIAN))
    require_memory(count, NUMBER * system.n, f"the drive of '{coordinate}' from {start:g} to {stop:g}")
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
        edge = pieces[-1].ends[1] if pieces else float(targets[0])
        piece, k = _piece(road, begun, targets, k, missed, edge)
        missed = k
        pieces.append(piece)
        state = piece.states[-1]
    if not pieces:
        where = f"between {start:.6g} and {stop:.6g}"
        kept = f" and {', '.join(names)} held" if names else ""
        raise MechanismError(f"mechanism '{mechanism.name}': the loops do not close with {coordinate} {where}{kept}.")
    return road, pieces


def _require_motion(mechanism: Mechanism, coordinate: str, names: Sequence[str], road: Road, state: State) -> None:
    if coordinate in names:
        raise MechanismError(f"mechanism '{mechanism.name}': {coordinate} cannot be both locked and driven.")
    # At rest at first order it may still move, at a dead point; where nothing moves it cannot.
    if names and not np.any(np.abs(road.motions(state)[road.part]) > _SAME):
        raise MechanismError(
            f"mechanism '{mechanism.name}': with {', '.join(names)} locked nothing is left that could move "
            f"{coordinate}; lock fewer coordinates."
        )


def _begin(road: Road, state: State, value: float) -> State | None:
    """The state moved to the first value in small steps, so that it stays on its branch."""
    here = float(state.x[0, road.slot])
    for target in np.linspace(here, value, max(2, int(abs(value - here) * _PER_RADIAN)))[1:]:
        moved = road.step(state, float(target))
        if moved is None:
            return None
        state = moved
    return road.step(state, value)


def _piece(road: Road, state: State, targets: Array, k: int, missed: int, edge: float) -> tuple[_Piece, int]:
    """A piece of the drive from a state at target k on, and the number of the first target that it does not reach.

    `missed` is the last target at which nothing closed, `edge` the value up to which the range was done before.
    """
    states, limits = [state], []
    if missed >= 0:
        # Taken up after a gap: it begins somewhere between this target and where the loops closed last.
        back = state
        for target in targets[missed + 1 : k][::-1]:
            moved = road.step(back, float(target))
            if moved is None:
                break
            back = moved
            states.insert(0, back)
        whole = road.step(back, edge)
        # Closing all the way back it is another assembly, in which this range has no gap.
        limits += [] if whole is not None else [road.limit(back, edge)]
        states.insert(0, limits[-1] if whole is None else whole)
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


def coordinates_of(mechanism: Mechanism, names: Sequence[str]) -> list[str]:
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


def _drops(road: Road, states: list[State], values: Array) -> list[Singularity]:
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
    return different(
        [_singularity_on(road, state, "closure") for state in here if is_of_the_mechanism(system, state)], ""
    )


def _on_road(road: Road, states: list[State], state: State) -> bool:
    held = list(road.held)
    return bool(np.max(np.abs(state.x[0, held] - states[0].x[0, held])) < _SAME)


def _crossings(road: Road, states: list[State], rows: list[int], kind: str) -> list[Singularity]:
    """States between which the determinant of some rows of the motions changes sign, where it vanishes."""
    bases = [road.own_motions(state) for state in states]
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


def _at_limits(road: Road, piece: _Piece, rows: list[int], kind: str) -> list[Singularity]:
    """Limits at which the determinant of some rows of the motions vanishes, too: it does not change its sign there."""
    bases = [road.own_motions(state) for state in [*piece.states, *piece.limits]]
    if not rows or any(basis.shape[1] != len(rows) for basis in bases):
        return []
    sizes = [abs(float(np.linalg.det(basis[rows]))) for basis in bases]
    usual, count = float(np.median(sizes[: len(piece.states)])), len(piece.states)
    return [_singularity_on(road, state, kind) for state, size in zip(piece.limits, sizes[count:], strict=True)
            if size < _VANISHED * usual and is_of_the_mechanism(road.system, state, rows)]  # fmt: skip


def _align(before: Array, basis: Array) -> Array:
    """A basis turned to be nearest to an earlier one, so that determinants keep their sign."""
    left, _, right = np.linalg.svd(basis.T @ before)
    turned: Array = basis @ (left @ right)
    return turned


def _vanishing(road: Road, first: tuple[State, Array], second: tuple[State, Array], rows: list[int],
               kind: str) -> list[Singularity]:  # fmt: skip
    basis = _align(first[1], second[1])
    signs = [float(np.linalg.det(b[rows])) for b in (first[1], basis)]
    if signs[0] * signs[1] >= 0:
        return []
    low, high = first, (second[0], basis)
    free = np.ones(road.system.n)
    free[list(road.held)] = 0.0
    for _ in range(50):
        step = road.system.difference(low[0], high[0]) / 2
        closed = project(road.system, road.system.move(low[0], step), free=free, steps=60)
        motions = road.own_motions(closed.state)
        if motions.shape[1] != basis.shape[1]:
            return []
        middle = (closed.state, _align(low[1], motions))
        if float(np.linalg.det(middle[1][rows])) * signs[0] > 0:
            low = middle
        else:
            high = middle
    return [_singularity_on(road, low[0], kind)] if is_of_the_mechanism(road.system, low[0], rows) else []


def _close(system: LoopSystem, first: State, second: State) -> bool:
    return bool(np.max(np.abs(system.difference(first, second))) < 0.2)


def singularity(system: LoopSystem, driven: int, state: State, kind: str,
                held: Sequence[int] = ()) -> Singularity:  # fmt: skip
    """A singular state by its coordinates: one as it was driven, other angles within half a turn."""
    jacobian = system.linearise(state)[1]
    rank = int(ranks(jacobian)[0]) if system.rows else 0
    left = int(ranks(np.concatenate([jacobian[0], np.eye(system.n)[list(held)]])[None])[0]) if held else rank
    values = coordinates_at(system, state)
    name = system.frame.freedoms[driven].name
    others = {other: value for other, value in wrap_angles(system, values).items() if other != name}
    return Singularity(kind, {name: values[name], **others}, rank, system.n - left)


def _singularity_on(road: Road, state: State, kind: str) -> Singularity:
    return singularity(road.system, road.slot, state, kind, road.held)


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
