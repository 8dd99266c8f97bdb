"""What is open where loops do not close: which loop, by how much, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torseur.loops.projection import CLOSED, project, random_states
from torseur.loops.system import LoopSystem, State

Floats = np.ndarray[Any, np.dtype[np.float64]]

_OPEN = 1e-7


@dataclass(frozen=True)
class Gap:
    """What is left open of a loop or constraint: metres and radians."""

    loop: str
    joint: str
    distance: float
    angle: float

    def __str__(self) -> str:
        parts = []
        if self.distance > 0:
            parts.append(f"{self.distance:.3g} m")
        if self.angle > 0:
            parts.append(f"{np.degrees(self.angle):.3g} deg")
        return f"{self.loop}: {' and '.join(parts) or 'closed'} at {self.joint}"


def loop_name(system: LoopSystem, cycle: int) -> str:
    """A loop by its joints: "loop A-B-C-D"; long ones by their first joints and their number."""
    names = [system.frame.edges[p.edge].joint for p in system.cycles[cycle].passages]
    shown = names if len(names) <= 10 else [*names[:3], f"... ({len(names)} joints)"]
    return f"loop {'-'.join(shown)}"


def gaps(system: LoopSystem, state: State) -> list[Gap]:
    """What is open at a state, largest first."""
    residual = system.residual(state)[0]
    found = []
    for c, cycle in enumerate(system.cycles):
        angle, shift = residual[6 * c : 6 * c + 3], residual[6 * c + 3 : 6 * c + 6]
        joint = f"joint '{system.frame.edges[cycle.closing].joint}'"
        found.append(_gap(system, loop_name(system, c), joint, np.linalg.norm(shift), np.linalg.norm(angle)))
    start = 6 * len(system.cycles)
    for relation in system.relations:
        size = float(np.linalg.norm(residual[start : start + len(relation.parts)]))
        found.append(_gap(system, relation.name, "it", size, 0.0))
        start += len(relation.parts)
    opened = [g for g in found if g.distance > 0 or g.angle > 0]
    return sorted(opened, key=lambda g: -(g.distance / system.length + g.angle))


def _gap(system: LoopSystem, loop: str, joint: str, distance: Any, angle: Any) -> Gap:
    """A gap in metres and radians; what rounding leaves counts as closed."""
    metres = float(distance) * system.length if distance > _OPEN else 0.0
    return Gap(loop, joint, metres, float(angle) if angle > _OPEN else 0.0)


def explain(system: LoopSystem, best: State, free: Floats, rng: np.random.Generator) -> str:
    """Why nothing closes, in words: the loops that cannot close by themselves, or the locked coordinates."""
    if np.any(free == 0):
        loose = project(system, random_states(system, 20, rng), steps=200)
        if np.any(loose.gap < CLOSED):
            names = [f.name for f, m in zip(system.frame.freedoms, free, strict=True) if m == 0]
            return (
                f"the loops close, but not with {_listed(names)} held: {_first(gaps(system, best))}. "
                "Free one of them or change its value."
            )
    guilty = [part for part in _alone(system) if not _closes(part, rng)]
    if guilty:
        texts = [_first(gaps(part, _nearest(part, rng))) for part in guilty[:3]]
        return f"cannot close: {'; '.join(texts)}, at best over all positions. Check the dimensions and axes there."
    names = [g.loop for g in gaps(system, best)[:4]]
    return f"each loop closes alone, but {_listed(names)} do not close together: {_first(gaps(system, best))}."


def _first(found: list[Gap]) -> str:
    return str(found[0]) if found else "a small gap is left"


def _listed(names: list[str]) -> str:
    quoted = [name if " " in name else f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _alone(system: LoopSystem) -> list[LoopSystem]:
    """Each loop and each constraint as a system of its own."""
    parts = []
    for c, cycle in enumerate(system.cycles):
        lane = {name: getattr(system.chains, name)[c : c + 1] for name in system.chains.__dataclass_fields__}
        chains = replace(system.chains, **lane)
        parts.append(replace(system, cycles=(cycle,), chains=chains, relations=()))
    empty = {name: getattr(system.chains, name)[:0] for name in system.chains.__dataclass_fields__}
    for relation in system.relations:
        parts.append(replace(system, cycles=(), chains=replace(system.chains, **empty), relations=(relation,)))
    return parts


def _closes(part: LoopSystem, rng: np.random.Generator) -> bool:
    return bool(np.any(project(part, random_states(part, 20, rng), steps=200).gap < CLOSED))


def _nearest(part: LoopSystem, rng: np.random.Generator) -> State:
    found = project(part, random_states(part, 20, rng), steps=300)
    return found.state.lane(int(np.argmin(found.gap)))
