"""The programs of a constrained mechanism as numbers at single states, for what is done once per motion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, Program, evaluate
from torseur.computation.functions.row_units import GEOMETRIC
from torseur.computation.simulation.model.force_laws import LawFunction, call_user_function, law_function
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.equations import Equations
from torseur.derivation.loops.closure.closure_tolerance import (
    LEAST,
    ROUNDED_ROWS,
    chosen_tolerance,
    closure_tolerance,
)
from torseur.description.mechanism import TIME
from torseur.errors import SimulationError

TINY = 1e-300
NEARLY_NOTHING = 1e-14
NEGATIVE = 1e-9  # eigenvalue of the mass matrix, in units of its trace, beyond what rounding makes of zero
WITHOUT_INERTIA = 1e-12  # smallest eigenvalue of the mass matrix, its diagonal scaled to one, that counts as none
CANCELLED = 1e-11  # entries of a geometric constraint, in units of moves and residuals, that are rounding


@dataclass(frozen=True)
class StateNumbers:
    """A constrained mechanism at single states, for given parameters and laws.

    Moves are counted along the speeds, in units of `scales`: 1 rad, or the size of the mechanism. Residuals of the
    constraints likewise, in units of `row_scales`. `play` is what they are left open by, nothing unless it is given.
    `guesses` are the names of initial values that constraints may move.
    """

    programs: MechanismPrograms
    parameters: Vector
    laws: Mapping[str, LawFunction]
    length: float
    play: Vector | None = None
    guesses: tuple[str, ...] = ()

    @property
    def equations(self) -> Equations:
        return self.programs.equations

    @property
    def coordinates(self) -> int:
        return len(self.equations.layout.coordinates)

    @cached_property
    def scales(self) -> Vector:
        units = [v.data.unit for v in self.equations.layout.speeds]
        return np.array([self.length if unit.startswith("m") else 1.0 for unit in units])

    @cached_property
    def row_scales(self) -> Vector:
        return np.array([self.length if c.unit.startswith("m") else 1.0 for c in self.programs.constraints])

    @cached_property
    def tolerances(self) -> Vector:
        """By how much each constraint may stay open where nothing closes it better, in units of `row_scales`."""
        mechanism, layout = self.equations.mechanism, self.equations.layout
        values = dict(zip(layout.parameters, self.parameters.tolist(), strict=True))
        usual = closure_tolerance(mechanism, self.length, {str(x.name): v for x, v in values.items()})
        chosen = {f"joint '{j.name}'": chosen_tolerance(j, values) for j in mechanism.joints}
        chosen |= {f"constraint '{c.name}'": chosen_tolerance(c, values) for c in mechanism.constraints}
        limits = [chosen.get(c.owner) for c in self.programs.constraints]
        # A tolerance is a length even for the rotations that a joint forbids: over the mechanism's size it is an angle.
        units = [
            self.length if c.owner.startswith("joint") else s
            for c, s in zip(self.programs.constraints, self.row_scales, strict=True)
        ]
        return np.array([usual if limit is None else limit / unit for limit, unit in zip(limits, units, strict=True)])

    def negligible(self, part: float) -> float:
        """A part of the constraints that counts as none: what is usual, or what rounded dimensions make of it."""
        rounded = float(self.tolerances.max(initial=0.0))
        return part if rounded <= LEAST else max(part, ROUNDED_ROWS * rounded)

    @cached_property
    def is_geometric(self) -> NDArray[np.bool_]:
        """Whether what the entries of each constraint can be is known: of joints, distances and rolling wheels."""
        return np.array([c.unit in GEOMETRIC for c in self.programs.constraints], dtype=bool)

    def of(self, program: Program, t: float, y: Vector, **more: Vector) -> dict[str, Vector]:
        """Outputs of a program at a state, in their shapes; rows of constraints without those that are rounding."""
        values = {"t": [t], "y": y.tolist(), "p": self.parameters.tolist()}
        values |= {name: array.tolist() for name, array in more.items()}
        values |= {group.name: self._law_values(group.nodes, t, y) for group in program.inputs if group.name == "u"}
        outputs = self.programs.evaluator(program)({group.name: values[group.name] for group in program.inputs})
        if "rows" in outputs:
            outputs["rows"] = self._without_rounding(outputs["rows"])
        return outputs

    @cached_property
    def rounding_of_rows(self) -> Vector:
        """Entries of each constraint up to which its row is rounding, in units of moves and residuals; -1 for none.

        Beside other rows such rows are small; but a door on two hinges has no others. So they are compared with what
        their geometry allows: 1 rad or the size of the mechanism for each unit of a move.
        """
        rounded = np.where(self.tolerances > LEAST, ROUNDED_ROWS * self.tolerances, 0.0)
        return np.where(self.is_geometric, np.maximum(CANCELLED, rounded), -1.0)

    def _without_rounding(self, rows: Vector) -> Vector:
        """C with zeros for the rows in which everything cancels but the rounding of numbers and dimensions."""
        sizes = np.abs(rows * self.scales / self.row_scales[:, None]).max(axis=1, initial=0.0)
        return np.where((sizes <= self.rounding_of_rows)[:, None], 0.0, rows)

    def _law_values(self, nodes: Sequence[Expr], t: float, y: Vector) -> list[float]:
        layout = self.equations.layout
        symbols = (*layout.coordinates, *layout.speeds, *layout.parameters, TIME)
        bound = dict(zip(symbols, [*y.tolist(), *self.parameters.tolist(), t], strict=True))
        values = []
        for node in nodes:
            arguments = [float(a) for a in evaluate(list(node.args), bound)]
            values.append(call_user_function(f"law '{node.data.name}'", t, law_function(node, self.laws), *arguments))
        return values

    def closure(self, t: float, y: Vector) -> tuple[Vector, Vector]:
        """Residuals of the holonomic constraints and their derivatives by moves, both scaled."""
        found, count = self.of(self.programs.velocities, t, y), self.programs.holonomic
        scale = self.row_scales[:count]
        residual = found["phi"][:count] - (self.play[:count] if self.play is not None else 0.0)
        return residual / scale, found["rows"][:count] * self.scales / scale[:, None]

    def half_turned(self, t: float, y: Vector) -> tuple[str, ...]:
        """Joints whose residuals vanish because their sides meet the wrong way round: the rotation is half a turn."""
        names = self.programs.aligned_joints
        cosines = self.of(self.programs.alignments, t, y)["cosines"] if names else ()
        return tuple(name for name, cosine in zip(names, cosines, strict=True) if cosine < 0.0)

    def moved(self, t: float, y: Vector, move: Vector) -> Vector:
        """The state with its coordinates moved along the speeds, quaternions of length one."""
        q = self.of(self.programs.displaced, t, y, w=move * self.scales)["q"]
        result = np.concatenate([q, y[self.coordinates :]])
        for quaternion in self.programs.quaternions:
            slots = [self.equations.layout.coordinates.index(x) for x in quaternion]
            result[slots] /= np.linalg.norm(result[slots])
        return result

    def reach(self, t: float, y: Vector) -> Vector:
        """How far each coordinate (row) goes with a unit move along each speed (column)."""
        if self.programs.is_plain:
            return np.diag(self.scales)
        still = self.of(self.programs.displaced, t, y, w=np.zeros(len(self.scales)))["q"]
        moved = [self.of(self.programs.displaced, t, y, w=move)["q"] for move in np.diag(self.scales)]
        return (np.array(moved).reshape(len(moved), len(still)) - still).T

    def metric(self, t: float, y: Vector, rows: Vector) -> Vector:
        """A positive definite metric of scaled moves: M, completed by the constraints where bodies have no mass."""
        mass = self.mass(t, y)
        if not is_massless(mass):
            return mass
        if np.diag(mass).min() < 0.0 or np.linalg.eigvalsh(mass)[0] < -NEGATIVE * np.trace(mass):
            raise SimulationError(
                f"{self.equations.mechanism.name}: some motion has negative inertia, and forces of constraints need "
                "one that is positive. Check masses and inertias; `torseur check` names bodies that cannot exist."
            )
        weight = np.trace(mass) / max(np.sum(rows * rows), TINY)
        completed: Vector = mass + weight * rows.T @ rows
        return completed + max(NEARLY_NOTHING * np.trace(completed), TINY) * np.eye(len(mass))

    def mass(self, t: float, y: Vector) -> Vector:
        """M in units of scaled moves."""
        lower = self.of(self.programs.positions, t, y)["mass"]
        full: Vector = (lower + np.tril(lower, -1).T) * np.outer(self.scales, self.scales)
        return full


def is_massless(mass: Vector) -> bool:
    """Whether some motion has no inertia."""
    size = np.sqrt(np.maximum(np.diag(mass), TINY))
    return bool(np.linalg.eigvalsh(mass / np.outer(size, size)).min(initial=1.0) < WITHOUT_INERTIA)
