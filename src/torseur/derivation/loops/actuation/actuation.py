"""Inputs and outputs at a pose: singularities by their kinds, and how well inputs move outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_parts import in_own_unit, related_freedoms
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.rank.numerical_rank import numerical_rank, ranks
from torseur.derivation.loops.redundancy.joint_constraints import joint_screws
from torseur.description.mechanism import Mechanism
from torseur.errors import MechanismError, counted, unknown_name

TYPE_1, TYPE_2, CLOSURE = "type 1", "type 2", "increased mobility"
MEANINGS = {
    TYPE_1: "the outputs rest while inputs move (dead point)",
    TYPE_2: "the outputs move while all inputs are locked (gain of freedom)",
    CLOSURE: "the loops leave more motions than around (constraint singularity)",
}
_SINGULAR = 1e-6
_NOTHING = 1e-12  # singular values of a jacobian, with lengths in the unit of the mechanism, that are rounding


@dataclass(frozen=True)
class ActuationReport:
    """How inputs move outputs at a closed pose.

    `jacobian` is speeds of outputs per speed of inputs (SI), None where inputs do not determine the motion. Qualities
    lie between 0, singular, and 1: the smallest singular value of the rows of inputs (outputs) in an orthonormal basis
    of motions, angles in rad and lengths in the unit `length` (m), which is of the mechanism's own size. `conditions`
    are condition numbers of the jacobian: of outputs that are lengths, of those that are angles, and of all with
    lengths in that unit; `manipulability` is the square root of det(J Jᵀ), likewise. Mobilities and outputs are
    those of the parts with inputs or named outputs; `apart` are coordinates of other parts that move. All coordinates
    that are no inputs may rest while a platform moves: type 1 is looked for with outputs that were `chosen` alone.
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
    apart: tuple[str, ...] = ()
    chosen: bool = True

    def __str__(self) -> str:
        singular = [f"  singular, {kind}: {MEANINGS[kind]}" for kind in self.kinds]
        fewer = self.usual_mobility - len(self.inputs)
        counts = f"{counted(len(self.inputs), 'input')} for mobility {self.usual_mobility}"
        if fewer:
            counts += f": {abs(fewer)} {'missing' if fewer > 0 else 'too many'}"
        if self.apart:
            counts += f"; no input moves {', '.join(self.apart)} of other parts"
        lines = [
            f"actuated by {', '.join(self.inputs)}: {counts}",
            *(singular or ["  no singularity at this pose"]),
            f"  quality (0 singular, 1 best): inputs {self.input_quality:.3g}"
            + (f", outputs {self.output_quality:.3g}" if self.chosen else ""),
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
            "apart": list(self.apart),
        }  # fmt: skip


def actuation(mechanism: Mechanism, inputs: Sequence[str], outputs: Sequence[str] = (), *,
              at: Mapping[str, float] | None = None, time: float = 0.0, seed: int = 0) -> ActuationReport:  # fmt: skip
    """How inputs move outputs (coordinates by name, all others by default) at the closed pose near `at`."""
    system = loop_system(mechanism, time, named=[*inputs, *outputs])
    named = [*coordinate_rows(system, inputs, "inputs"), *coordinate_rows(system, outputs, "outputs")]
    part = related_freedoms(system, named or range(system.n))
    system = in_own_unit(system, part)
    state = closed_state(system, at, seed)
    _require_regular_angles(system, state, named)
    return _actuation_at(system, state, inputs, outputs, part,
                         usual_mobility(system, part, at, seed))  # fmt: skip


def _require_regular_angles(system: LoopSystem, state: State, named: Sequence[int]) -> None:
    """Refuses poses at which the angles of a joint with named coordinates are singular, as Euler angles of a ball are
    where two axes coincide: rates of its coordinates say nothing of its motions there."""
    elsewhere = random_states(system, 1, np.random.default_rng(0))
    joints = {system.frame.freedoms[i].joint for i in named}
    for k, edge in enumerate(system.edges):
        if edge.joint not in joints:
            continue
        here, usual = (
            numerical_rank(joint_screws(system, s, k, body_poses(system, s))).rank for s in (state, elsewhere)
        )
        if here < usual:
            raise MechanismError(
                f"joint '{edge.joint}': two of the axes that its angles turn about coincide at this pose, where rates "
                "of these angles do not tell its motions. Examine another pose (--init, `at`), or give the joint "
                "another sequence of angles."
            )


def usual_mobility(system: LoopSystem, part: Sequence[int], at: Mapping[str, float] | None, seed: int = 0) -> int:
    """Mobility of some parts, given by their freedoms, around a closed pose: the least that is met there."""
    state = closed_state(system, at, seed)
    if not system.rows:
        return len(part)
    rng = np.random.default_rng(seed)
    around = system.move(state.repeat(12), 0.05 * rng.normal(size=(12, system.n)))
    closed = project(system, around, steps=150)
    good = closed.state.lanes(closed.gap < system.open_limit(CLOSED))
    both = State(np.concatenate([good.x, state.x]), np.concatenate([good.balls, state.balls]))
    return len(part) - int(np.max(ranks(system.linearise(both)[1][:, :, list(part)])))


def coordinate_rows(system: LoopSystem, names: Sequence[str], what: str) -> list[int]:
    """Numbers of the freedoms with these names, each once."""
    known = [freedom.name for freedom in system.frame.freedoms]
    for name in names:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known, f"{what}: "))
        if list(names).count(name) > 1:
            raise MechanismError(f"{what}: '{name}' is named {list(names).count(name)} times; once is enough.")
    return [known.index(name) for name in names]


def _actuation_at(system: LoopSystem, state: State, inputs: Sequence[str], outputs: Sequence[str],
                  part: Sequence[int], usual: int) -> ActuationReport:  # fmt: skip
    """The report at a closed state, of the part with these freedoms."""
    given = coordinate_rows(system, inputs, "inputs")
    named = [i for i, freedom in enumerate(system.frame.freedoms) if freedom.symbol is not None]
    others = [system.frame.freedoms[i].name for i in named if i in part and i not in given]
    wanted = coordinate_rows(system, outputs or others, "outputs")
    whole = numerical_rank(system.linearise(state)[1][0]).motions
    moving = [i for i in named if i not in part and np.max(np.abs(whole[i]), initial=0.0) > _SINGULAR]
    motions = _motions_of(whole, part)
    count = motions.shape[1]
    into, out = motions[given], motions[wanted]
    left_free = count - _rank(into)
    at_rest = count - _rank(out)
    kinds = [CLOSURE] if count > usual else []
    # Fewer inputs than motions leave some free at every pose: that is no singularity.
    kinds += [TYPE_2] if left_free > max(0, usual - len(given)) and not kinds else []
    kinds += [TYPE_1] if outputs and at_rest > max(0, usual - len(wanted)) and CLOSURE not in kinds else []
    regular = left_free == 0 and len(given) == count and bool(wanted)
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
        apart=tuple(system.frame.freedoms[i].name for i in moving),
        chosen=bool(outputs),
    )


def _motions_of(motions: Array, part: Sequence[int]) -> Array:
    """An orthonormal basis of the motions of a part, over all freedoms: parts share no equation, so that each moves as
    motions of the whole do."""
    own = np.zeros_like(motions)
    own[list(part)] = motions[list(part)]
    left, sizes, _ = np.linalg.svd(own, full_matrices=False)
    basis: Array = left[:, sizes > 0.5]  # sizes are 1 or 0
    return basis


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
    return float(values[0] / values[-1]) if values[-1] > max(_NOTHING, 1e-14 * values[0]) else float("inf")


def _manipulability(jacobian: Array) -> float:
    # Yoshikawa's measure; with more outputs than inputs of Jᵀ J.
    values = np.linalg.svd(jacobian, compute_uv=False)
    return float(np.prod(np.where(values > _NOTHING, values, 0.0)))
