"""What is open where loops do not close: which loop, by how much, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.closure.relations import Relation, UserEquation
from torseur.derivation.loops.model.loop_system import LoopSystem, State

# In units of the mechanism. Above what a closed loop keeps (1e-9), below any gap that a user could have meant.
_OPEN = 1e-7


@dataclass(frozen=True)
class Gap:
    """What is left open of a loop or constraint: metres, radians, or the number an equation of mixed units gives (SI).

    `joint` is the joint that closes the loop, empty for a constraint.
    """

    loop: str
    joint: str
    distance: float
    angle: float
    number: float = 0.0

    @property
    def size(self) -> str:
        """How much is open, in words."""
        parts = [f"{self.distance:.3g} m"] if self.distance else []
        parts += [f"{np.degrees(self.angle):.3g} deg"] if self.angle else []
        parts += [f"{self.number:.3g}"] if self.number else []
        return " and ".join(parts) or "nothing"

    def __str__(self) -> str:
        if self.joint:
            return f"{self.loop} is open by {self.size} at joint '{self.joint}'"
        if np.isnan(self.number):
            return (
                f"{self.loop} has no value there: it divides by zero or leaves the range of a function, as at a pole "
                "of angles, where two axes of a joint align; start beside it, or describe the joint by a quaternion"
            )
        return f"{self.loop} is off by {self.size}"


def loop_name(system: LoopSystem, cycle: int) -> str:
    """A loop by its joints: "loop A-B-C-D"; long ones by their first joints and their number."""
    names = [system.frame.edges[p.edge].joint for p in system.cycles[cycle].passages]
    shown = names if len(names) <= 10 else [*names[:3], f"... ({len(names)} joints)"]
    return f"loop {'-'.join(shown)}"


def gaps(system: LoopSystem, state: State) -> list[Gap]:
    """What is open at a state, largest first."""
    residual = system.residual(state)[0]
    sizes_and_gaps = []
    for c, cycle in enumerate(system.cycles):
        # Six rows per cycle: rotation vector, then displacement.
        angle, shift = (float(np.linalg.norm(residual[k : k + 3])) for k in (6 * c, 6 * c + 3))
        sizes = (_above_rounding(shift) * system.length, _above_rounding(angle))
        sizes_and_gaps.append(
            (shift + angle, Gap(loop_name(system, c), system.frame.edges[cycle.closing].joint, *sizes))
        )
    start = 6 * len(system.cycles)
    for relation in system.relations:
        size = float(np.linalg.norm(residual[start : start + len(relation.parts)]))
        sizes_and_gaps.append((size, _relation_gap(system, relation, _above_rounding(size))))
        start += len(relation.parts)
    open_ones = [(size, gap) for size, gap in sizes_and_gaps if gap.distance or gap.angle or gap.number]
    return [gap for _, gap in sorted(open_ones, key=lambda pair: -pair[0])]


def _above_rounding(size: float) -> float:
    """What is open; what rounding leaves counts as closed."""
    return 0.0 if size <= _OPEN else size


def _relation_gap(system: LoopSystem, relation: Relation, size: float) -> Gap:
    """A relation's gap in its own unit."""
    if not isinstance(relation, UserEquation):
        return Gap(relation.name, "", size * system.length, 0.0)
    value = size * relation.scale
    by_unit = {"m": (value, 0.0, 0.0), "rad": (0.0, value, 0.0)}
    return Gap(relation.name, "", *by_unit.get("" if np.isnan(value) else relation.unit, (0.0, 0.0, value)))


def explain(system: LoopSystem, best: State, free: Array, rng: np.random.Generator) -> str:
    """Why nothing closes, in words: the loops that cannot close by themselves, or the locked coordinates."""
    if np.any(free == 0):
        # With everything free, to tell a wrong value from wrong dimensions.
        loose = project(system, random_states(system, 20, rng), steps=200)
        if np.any(loose.gap < system.open_limit(CLOSED)):
            names = [f.name for f, m in zip(system.frame.freedoms, free, strict=True) if m == 0]
            return (
                f"the loops close, but not with {_name_list(names)} held: {_first(gaps(system, best))}. "
                "Free one of them or change its value."
            )
    # Each loop alone: one that cannot close by itself is the fault to report, not the loops it pulls open with it.
    guilty = [part for part in _alone(system) if not _closes(part, rng)]
    if guilty:
        texts = [_first(gaps(part, _nearest(part, rng))) for part in guilty[:3]]
        return f"cannot close: at best, over all positions, {'; '.join(texts)}. Check the dimensions and axes there."
    left = gaps(system, best)
    names = [gap.loop for gap in left[:4]]
    contradiction = all(not gap.joint for gap in left)
    does = "contradict each other" if contradiction else "do not close together"
    return f"cannot close: {_name_list(names)} {does}, though each can be met alone: at best {_first(left)}."


def _first(listed: list[Gap]) -> str:
    return str(listed[0]) if listed else "a gap of rounding size is left"


def _name_list(names: list[str]) -> str:
    quoted = [name if " " in name else f"'{name}'" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted or ["the loops"])


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
    return bool(np.any(project(part, random_states(part, 20, rng), steps=200).gap < part.open_limit(CLOSED)))


def _nearest(part: LoopSystem, rng: np.random.Generator) -> State:
    closed = project(part, random_states(part, 20, rng), steps=300)
    return closed.state.lane(int(np.argmin(closed.gap)))
