"""Assembly: closed configurations from rough ones, the branches found, and what cannot close."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.errors import MechanismError, unknown_name
from torseur.loops.coordinates import coordinates_at, given_coordinates, state_at
from torseur.loops.gaps import Gap, explain, gaps
from torseur.loops.model import loop_system
from torseur.loops.poses import body_poses
from torseur.loops.projection import CLOSED, project, random_states
from torseur.loops.rank import numerical_rank
from torseur.loops.system import LoopSystem, State
from torseur.mechanism import Mechanism

Floats = np.ndarray[Any, np.dtype[np.float64]]

_SAME = 1e-4


@dataclass(frozen=True)
class Configuration:
    """A closed configuration: coordinates by name (SI), and how often the starts led to it."""

    coordinates: Mapping[str, float]
    hits: int
    state: State


@dataclass(frozen=True)
class Assembly:
    """Closed configurations found, nearest to the start first.

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
    system = loop_system(mechanism, time)
    rough = state_at(system, {**given_coordinates(system), **(start or {})})
    free = free_mask(system, locked)
    rng = np.random.default_rng(seed)
    tried = _starts(system, rough, free, starts, rng)
    closed = project(system, tried, free=free, steps=200, tolerance=1e-12)
    good = np.flatnonzero(closed.gap < CLOSED)
    if not len(good):
        best = closed.state.lane(int(np.argmin(closed.gap)))
        opened = tuple(gaps(system, best))
        return Assembly((), starts, 0, False, None, opened, explain(system, best, free, rng))
    found = _distinct(system, rough, closed.state.lanes(good))
    jacobian = system.linearised(found[0].state)[1][0][:, free > 0]
    isolated = numerical_rank(jacobian).rank == jacobian.shape[1]
    guess = _estimated([c.hits for c in found]) if isolated else None
    return Assembly(tuple(found), starts, len(good), isolated, guess, (), "")


def free_mask(system: LoopSystem, locked: Iterable[str]) -> Floats:
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


def _starts(system: LoopSystem, rough: State, free: Floats, count: int, rng: np.random.Generator) -> State:
    """The rough state, then states around it in widening circles; locked freedoms stay."""
    angles = np.array([f.unit != "m" for f in system.frame.freedoms])
    width = np.linspace(0.0, 1.0, count)[:, None] ** 2 * np.where(angles, np.pi, 1.0)
    return system.moved(rough.repeated(count), rng.uniform(-1, 1, (count, system.n)) * width * free)


def _distinct(system: LoopSystem, rough: State, states: State) -> list[Configuration]:
    """States with different places of the bodies, with their number of hits, nearest first."""
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


def _signature(system: LoopSystem, state: State) -> Floats:
    poses = body_poses(system, state)
    return np.concatenate([[*poses.rotation[name].ravel(), *poses.position[name]] for name in poses.rotation])


def _estimated(hits: list[int]) -> float:
    """Chao's lower bound on the number of kinds from how many were met once and twice."""
    once, twice = sum(h == 1 for h in hits), sum(h == 2 for h in hits)
    return len(hits) + once * (once - 1) / (2 * (twice + 1))


def closed_state(system: LoopSystem, start: Mapping[str, float] | None, seed: int = 0) -> State:
    """The closed configuration nearest to a rough one; raises with what is open when there is none.

    What `start` leaves out is as in the description's initial state. Coordinates that were given (those of the
    description where nothing else is) keep their values if the loops close with them, and are a first guess otherwise.
    """
    described = given_coordinates(system)
    given = described if start is None else dict(start)
    rough = state_at(system, {**described, **given})
    held = np.array([0.0 if f.symbol is not None and f.name in given else 1.0 for f in system.frame.freedoms])
    rng = np.random.default_rng(seed)
    for free in (held, np.ones(system.n)) if given else (np.ones(system.n),):
        for count in (1, 20):
            found = project(system, _starts(system, rough, free, count, rng), free=free, steps=300)
            good = np.flatnonzero(found.gap < CLOSED)
            if len(good):
                return found.state.lane(int(good[0]))
    found = project(system, random_states(system, 40, rng), steps=300)
    if np.min(found.gap) < CLOSED:
        return found.state.lane(int(np.argmin(found.gap)))
    best = found.state.lane(int(np.argmin(np.nan_to_num(found.gap, nan=np.inf))))
    raise MechanismError(f"mechanism '{system.frame.mechanism.name}' {explain(system, best, np.ones(system.n), rng)}")
