"""Assembly: closed configurations from rough ones, their branches, and what cannot close."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.open_loops import Gap, explain, gaps
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at, initial_coordinates, state_at
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.rank.numerical_rank import numerical_rank
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import NUMBER, require_memory
from torseur.errors import MechanismError, unknown_name

# Of rotation entries and positions in units of the mechanism. Closed to 1e-12, a place near a singular configuration is
# known to the root of that, 1e-6, which lies well below.
_SAME = 1e-4


@dataclass(frozen=True)
class Configuration:
    """A closed configuration: coordinates by name (SI), and how often the starts led to it."""

    coordinates: Mapping[str, float]
    hits: int
    state: State


@dataclass(frozen=True)
class Assembly:
    """Closed configurations, nearest to the start first.

    `isolated` says that the locked coordinates leave no freedom: then they are the branches of the assembly, and
    `estimated` (Chao 1984) guesses how many there are. `gaps` say what is open where nothing closes.
    """

    configurations: tuple[Configuration, ...]
    starts: int
    closed: int
    isolated: bool
    estimated: float | None
    gaps: tuple[Gap, ...]
    explanation: str

    @property
    def found(self) -> bool:
        return bool(self.configurations)


def assemble(mechanism: Mechanism, start: Mapping[str, float] | None = None, *, locked: Iterable[str] = (),
             time: float = 0.0, starts: int = 20, seed: int = 0) -> Assembly:  # fmt: skip
    """Closed configurations near a rough one, from several starts.

    What `start` leaves out is as in the description's initial state. Locked coordinates keep their start value. The
    rough configuration itself is the first start, then come others around it, wider and wider.
    """
    if starts < 1:
        raise MechanismError(f"mechanism '{mechanism.name}' is assembled from one start at least: starts = {starts}.")
    locked = tuple(locked)
    system = loop_system(mechanism, time, named=locked)
    require_memory(starts, NUMBER * system.n, f"starts = {starts}")
    rough = state_at(system, {**initial_coordinates(system), **(start or {})})
    free = free_mask(system, locked)
    rng = np.random.default_rng(seed)
    tried = _starts(system, rough, free, starts, rng)
    closed = project(system, tried, free=free, steps=200, tolerance=1e-12)
    good = np.flatnonzero(closed.gap < system.open_limit(CLOSED))
    if not len(good):
        best = closed.state.lane(int(np.argmin(closed.gap)))
        return Assembly((), starts, 0, False, None, tuple(gaps(system, best)), explain(system, best, free, rng))
    distinct = _distinct(system, rough, closed.state.lanes(good))
    jacobian = system.linearise(distinct[0].state)[1][0][:, free > 0]
    # Locked columns are left out: no motion of the others, no freedom.
    isolated = numerical_rank(jacobian).rank == jacobian.shape[1]
    estimate = _chao_bound([c.hits for c in distinct]) if isolated else None
    return Assembly(tuple(distinct), starts, len(good), isolated, estimate, (), "")


def free_mask(system: LoopSystem, locked: Iterable[str]) -> Array:
    """1 for freedoms that may move, 0 for locked ones; a locked joint name locks all its freedoms."""
    names = [f.name for f in system.frame.freedoms]
    joints = {f.joint for f in system.frame.freedoms}
    mask = np.ones(system.n)
    for name in locked:
        chosen = [i for i, f in enumerate(system.frame.freedoms) if name in (f.name, f.joint)]
        if not chosen:
            raise MechanismError(unknown_name("coordinate", name, [*names, *sorted(joints)], "locked: "))
        mask[chosen] = 0.0
    return mask


def _starts(system: LoopSystem, rough: State, free: Array, count: int, rng: np.random.Generator) -> State:
    """The rough state, then states around it in widening circles; locked freedoms stay."""
    angles = np.array([f.unit != "m" for f in system.frame.freedoms])
    # Widths grow quadratically, from none: half of the starts are within a quarter of the range.
    width = np.linspace(0.0, 1.0, count)[:, None] ** 2 * np.where(angles, np.pi, 1.0)
    return system.move(rough.repeat(count), rng.uniform(-1, 1, (count, system.n)) * width * free)


def _distinct(system: LoopSystem, rough: State, states: State) -> list[Configuration]:
    """States with different places of the bodies, with their number of hits, nearest first."""
    # Compared by where the bodies are, not by coordinates: an angle and that plus a turn are one configuration.
    signatures = [_signature(system, states.lane(k)) for k in range(len(states))]
    groups: list[list[int]] = []
    for k, signature in enumerate(signatures):
        for group in groups:
            if np.linalg.norm(signature - signatures[group[0]]) < _SAME * np.sqrt(len(signature)):
                group.append(k)
                break
        else:
            groups.append([k])
    distance = [float(np.linalg.norm(system.difference(rough, states.lane(group[0])))) for group in groups]
    ordered = [groups[i] for i in np.argsort(distance)]
    return [
        Configuration(coordinates_at(system, states.lane(g[0])), len(g), states.lane(g[0])) for g in ordered
    ]  # fmt: skip


def _signature(system: LoopSystem, state: State) -> Array:
    poses = body_poses(system, state)
    return np.concatenate([[*poses.rotation[name].ravel(), *poses.position[name]] for name in poses.rotation])


def _chao_bound(hits: list[int]) -> float:
    """Chao's lower bound on the number of kinds from how many were met once and twice."""
    once, twice = sum(h == 1 for h in hits), sum(h == 2 for h in hits)
    # Kinds seen + f₁ (f₁ - 1) / (2 (f₂ + 1)), the form that has a value where nothing was met twice.
    return len(hits) + once * (once - 1) / (2 * (twice + 1))


def closed_state(system: LoopSystem, start: Mapping[str, float] | None, seed: int = 0) -> State:
    """The closed configuration nearest to a rough one; raises with what is open when there is none.

    What `start` leaves out is as in the description's initial state. Coordinates that were given (those of the
    description where nothing else is) keep their values if the loops close with them, and are a first guess otherwise;
    guesses of the description (`about`) give way before exact values do.
    """
    described = initial_coordinates(system)
    given = described if start is None else dict(start)
    rough = state_at(system, {**described, **given})
    # First with the given coordinates held, then those that are no guesses, then free; from the rough state alone, then
    # from states around it; at last from anywhere. The order decides which branch a user gets who says little: the
    # nearest.
    guessed = set(system.frame.mechanism.guesses) if start is None else set()
    sets = [names for names in (set(given), set(given) - guessed) if names]
    rng = np.random.default_rng(seed)
    masks = [
        [0.0 if f.symbol is not None and f.name in names else 1.0 for f in system.frame.freedoms] for names in sets
    ]
    for free in map(np.array, dict.fromkeys(map(tuple, [*masks, [1.0] * system.n]))):
        # The first lane of twenty is the rough state again, the others stand around it.
        for count in (1, 20):
            closed = project(system, _starts(system, rough, free, count, rng), free=free, steps=300)
            good = np.flatnonzero(closed.gap < system.open_limit(CLOSED))
            if len(good):
                return closed.state.lane(int(good[0]))
    closed = project(system, random_states(system, 40, rng), steps=300)
    if np.min(closed.gap) < system.open_limit(CLOSED):
        return closed.state.lane(int(np.argmin(closed.gap)))
    best = closed.state.lane(int(np.argmin(np.nan_to_num(closed.gap, nan=np.inf))))
    raise MechanismError(f"mechanism '{system.frame.mechanism.name}' {explain(system, best, np.ones(system.n), rng)}")
