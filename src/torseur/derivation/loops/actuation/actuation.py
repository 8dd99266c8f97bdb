"""Inputs and outputs at a pose: singularities by their kinds, and how well inputs move outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.assembly.projection import CLOSED, project
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.loops.rank.numerical_rank import numerical_rank, ranks
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError, counted, unknown_name

TYPE_1, TYPE_2, CLOSURE = "type 1", "type 2", "increased mobility"
MEANINGS = {
    TYPE_1: "the outputs rest while inputs move (dead point)",
    TYPE_2: "the outputs move while all inputs are locked (gain of freedom)",
    CLOSURE: "the loops leave more motions than around (constraint singularity)",
}
_SINGULAR = 1e-6


@dataclass(frozen=True)
class ActuationReport:
    """How inputs move outputs at a closed pose.

    `jacobian` is speeds of outputs per speed of inputs (SI), None where inputs do not determine the motion. Qualities
    lie between 0, singular, and 1: the smallest singular value of the rows of inputs (outputs) in an orthonormal basis
    of motions, angles in rad and lengths in the unit `length` (m), which is of the mechanism's own size. `conditions`
    are condition numbers of the jacobian: of outputs that are lengths, of those that are angles, and of all with
    lengths in that unit; `manipulability` is the square root of det(J Jᵀ), likewise.
    """

    mechanism: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    mobility: int
    usual_mobility: int
    kinds: tuple[str, ...]
    left_free: int
    input_quality: float
    output_quality: float
    jacobian: Array | None
    conditions: Mapping[str, float]
    manipulability: float | None
    length: float
    pose: Mapping[str, float]

    def __str__(self) -> str:
        singular = [f"  singular, {kind}: {MEANINGS[kind]}" for kind in self.kinds]
        fewer = self.usual_mobility - len(self.inputs)
        counts = f"{counted(len(self.inputs), 'input')} for mobility {self.usual_mobility}"
        if fewer:
            counts += f": {abs(fewer)} {'missing' if fewer > 0 else 'too many'}"
        lines = [
            f"actuated by {', '.join(self.inputs)}: {counts}",
            *(singular or ["  no singularity at this pose"]),
            f"  quality (0 singular, 1 best): inputs {self.input_quality:.3g}, outputs {self.output_quality:.3g}",
        ]
        if self.conditions:
            shown = ", ".join(f"{name} {value:.4g}" for name, value in self.conditions.items())
            unit = f"unit of length {self.length:.4g} m"
            lines.append(f"  condition numbers of {', '.join(self.outputs)} per input: {shown} ({unit})")
        if self.manipulability is not None:
            lines.append(f"  manipulability {self.manipulability:.4g}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "inputs": list(self.inputs), "outputs": list(self.outputs), "mobility": self.mobility,
            "usual_mobility": self.usual_mobility, "kinds": list(self.kinds), "left_free": self.left_free,
            "input_quality": self.input_quality, "output_quality": self.output_quality,
            "jacobian": None if self.jacobian is None else self.jacobian.tolist(), "conditions": dict(self.conditions),
            "manipulability": self.manipulability, "length": self.length, "pose": dict(self.pose),
        }  # fmt: skip


def actuation(mechanism: Mechanism, inputs: Sequence[str], outputs: Sequence[str] = (), *,
              at: Mapping[str, float] | None = None, time: float = 0.0, seed: int = 0) -> ActuationReport:  # fmt: skip
    """How inputs move outputs (coordinates by name, all others by default) at the closed pose near `at`."""
    system = loop_system(mechanism, time, named=[*inputs, *outputs])
    return actuation_at(system, closed_state(system, at, seed), inputs, outputs, usual_mobility(system, at, seed))


def usual_mobility(system: LoopSystem, at: Mapping[str, float] | None, seed: int = 0) -> int:
    """Mobility of the configurations around a closed pose: the least that is met there."""
    state = closed_state(system, at, seed)
    if not system.rows:
        return system.n
    rng = np.random.default_rng(seed)
    around = system.move(state.repeat(12), 0.05 * rng.normal(size=(12, system.n)))
    closed = project(system, around, steps=150)
    good = closed.state.lanes(closed.gap < system.open_limit(CLOSED))
    both = State(np.concatenate([good.x, state.x]), np.concatenate([good.balls, state.balls]))
    return system.n - int(np.max(ranks(system.linearise(both)[1])))


def coordinate_rows(system: LoopSystem, names: Sequence[str], what: str) -> list[int]:
    """Numbers of the freedoms with these names."""
    known = [freedom.name for freedom in system.frame.freedoms]
    for name in names:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known, f"{what}: "))
    return [known.index(name) for name in names]


def actuation_at(system: LoopSystem, state: State, inputs: Sequence[str], outputs: Sequence[str],
                 usual: int) -> ActuationReport:  # fmt: skip
    """The report at a closed state."""
    given = coordinate_rows(system, inputs, "inputs")
    others = [f.name for i, f in enumerate(system.frame.freedoms) if i not in given and f.symbol is not None]
    wanted = coordinate_rows(system, outputs or others, "outputs")
    motions = numerical_rank(system.linearise(state)[1][0]).motions
    count = motions.shape[1]
    into, out = motions[given], motions[wanted]
    left_free = count - _rank(into)
    at_rest = count - _rank(out)
    kinds = [CLOSURE] if count > usual else []
    # Fewer inputs than motions leave some free at every pose: that is no singularity.
    kinds += [TYPE_2] if left_free > max(0, usual - len(given)) and not kinds else []
    kinds += [TYPE_1] if at_rest > max(0, usual - len(wanted)) and CLOSURE not in kinds else []
    regular = left_free == 0 and len(given) == count
    jacobian = out @ np.linalg.inv(into) if regular else None
    units = system.amounts.units
    return ActuationReport(
        mechanism=system.frame.mechanism.name,
        inputs=tuple(inputs),
        outputs=tuple(system.frame.freedoms[i].name for i in wanted),
        mobility=count,
        usual_mobility=usual,
        kinds=tuple(kinds),
        left_free=left_free,
        input_quality=_least(into, min(len(given), usual)),
        output_quality=_least(out, min(len(wanted), usual)),
        jacobian=None if jacobian is None else jacobian * units[wanted][:, None] / units[given],
        conditions={} if jacobian is None else _conditions(system, jacobian, wanted),
        manipulability=None if jacobian is None else _manipulability(jacobian),
        length=system.length,
        pose=coordinates_at(system, state),
    )


def _rank(rows: Array) -> int:
    return int(np.sum(np.linalg.svd(rows, compute_uv=False) > _SINGULAR)) if rows.size else 0


def _least(rows: Array, count: int) -> float:
    """The last singular value that counts."""
    values = np.linalg.svd(rows, compute_uv=False) if rows.size else np.zeros(0)
    return float(values[count - 1]) if 0 < count <= len(values) else 0.0


def _conditions(system: LoopSystem, jacobian: Array, outputs: list[int]) -> dict[str, float]:
    """Condition numbers of the rows that are lengths, of those that are angles, and of all."""
    lengths = [k for k, i in enumerate(outputs) if system.frame.freedoms[i].unit == "m"]
    angles = [k for k in range(len(outputs)) if k not in lengths]
    parts = {"lengths": lengths, "angles": angles} if lengths and angles else {}
    return {name: _condition(jacobian[rows]) for name, rows in {**parts, "all": list(range(len(outputs)))}.items()}


def _condition(matrix: Array) -> float:
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 1e-14 * values[0] else float("inf")


def _manipulability(jacobian: Array) -> float:
    # Yoshikawa's measure; with more outputs than inputs of Jᵀ J.
    values = np.linalg.svd(jacobian, compute_uv=False)
    return float(np.prod(values))
