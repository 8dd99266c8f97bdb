"""Jumps of the state that a user wrote: where a formula changes sign, states take new values.

With constraints only speeds can be given. The others follow from the constraints, by the impulses along them and along
what is given that change the motion least:

    M (v₊ - v) + Cᵀ μ + Sᵀ ν = 0,   C v₊ + drift = 0,   S v₊ = given
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from torseur.algebra.graph import Expr, as_expr, symbol
from torseur.algebra.graph.scalar import sqrt
from torseur.analysis.sensitivity.criteria.motion_formulas import read_formula
from torseur.analysis.sensitivity.events.event_crossing import Crossing, Landing, explicit_crossing
from torseur.analysis.sensitivity.model.motion_derivatives import MotionDerivatives, constraints_in_force
from torseur.computation.simulation.constrained.contacts.friction_rows import LEAST_SQUARE
from torseur.computation.simulation.model.system import Vector
from torseur.derivation.loops import ConstraintEquation
from torseur.errors import TorseurError, UnsupportedError, unknown_name


@dataclass(frozen=True)
class Jump:
    """Where the formula `when` changes sign, states take new values: {"z'": "-e * z'"} is a bounce.

    `direction` +1 or -1 asks for rising or falling changes of sign. Formulas are in the names of the mechanism.
    """

    when: str
    becomes: Mapping[str, str]
    direction: int = 0

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise TorseurError(f"jump where {self.when} = 0: direction is {self.direction}, expected -1, 0 or 1.")

    @property
    def label(self) -> str:
        return f"jump where {self.when} = 0"


@dataclass(frozen=True, eq=False)
class JumpRules:
    """A jump with its formulas read: its event function, and new values by number of the state."""

    jump: Jump
    derivatives: MotionDerivatives
    when: Expr
    becomes: Mapping[int, Expr]

    @property
    def direction(self) -> int:
        return self.jump.direction

    def land(self, t: float, x: Vector, u: Vector, settings: Vector) -> Landing:
        """What the jump makes of a state and its tangents."""
        crossing = self._crossing(settings)
        met = crossing.crossing_at(t, x, settings, x[: crossing.kept])
        return Landing(crossing, met, u, self.derivatives.at(t, met.z[: crossing.kept], settings), settings.copy())

    def _crossing(self, settings: Vector) -> Crossing:
        # Contacts come and go along a motion, so that a jump has a crossing per set of constraints in force.
        rows = tuple(constraints_in_force(self.derivatives.variation, settings).tolist())
        if rows not in self._crossings:
            self._crossings[rows] = self._without_constraints() if not rows else self._with_impulses(rows)
        return self._crossings[rows]

    @cached_property
    def _crossings(self) -> dict[tuple[int, ...], Crossing]:
        return {}

    def _without_constraints(self) -> Crossing:
        states = self.derivatives.variation.states
        values = [self.becomes.get(k, node) for k, node in enumerate(states)]
        return explicit_crossing(self.derivatives, self.jump.label, self.when, values)

    def _with_impulses(self, rows: tuple[int, ...]) -> Crossing:
        programs = self.derivatives.variation.system.programs
        assert programs is not None
        coordinates = self.derivatives.variation.system.coordinates
        given = {k - coordinates: value for k, value in self.becomes.items()}
        lasting = [(programs.constraints[row], as_expr(0)) for row in rows]
        return impulsive_crossing(self.derivatives, self.jump.label, self.when, lasting, given)


def impulsive_crossing(
    derivatives: MotionDerivatives,
    name: str,
    when: Expr,
    rows: list[tuple[ConstraintEquation, Expr]],
    given: Mapping[int, Expr],
    rubbing: Sequence[Rubbing] = (),
) -> Crossing:
    """Speeds after impulses along constraints, whose rates become what is said, and along speeds that are given."""
    programs = derivatives.variation.system.programs
    assert programs is not None
    layout, variation = programs.equations.layout, derivatives.variation
    coordinates = variation.states[: variation.system.coordinates]
    q = tuple(symbol(f"new {node.name}") for node in coordinates)
    v = tuple(symbol(f"new {node.name}") for node in layout.speeds)
    impulses = tuple(symbol(f"impulse {k}") for k in range(len(rows) + len(given)))
    jumps_of_speed = [new - old for new, old in zip(v, layout.speeds, strict=True)]
    #     [M  Cᵀ Sᵀ] [v₊ - v]   [0            ]      rows of C: constraints, with the rates that they are to have
    #     [C  0  0 ] [  μ   ] = [target - rate]      rows of S: speeds that are given
    #     [S  0  0 ] [  ν   ]   [given - v    ]
    #
    # Written as equations of v₊ rather than solved: the crossing differentiates them (see event_crossing.py).
    balance = []
    for i, row in enumerate(programs.equations.mass_matrix):
        total = sum((m * d for m, d in zip(row, jumps_of_speed, strict=True)), as_expr(0))
        total = sum((c.row[i] * e for (c, _), e in zip(rows, impulses, strict=False)), total)
        total = sum((own.row[i] * e for own, e in _friction_impulses(rubbing, v, rows, impulses)), total)
        balance.append(sum((e for k, e in zip(given, impulses[len(rows) :], strict=True) if k == i), total))
    rates = [sum((a * new for a, new in zip(c.row, v, strict=True)), c.drift) - target for c, target in rows]
    taken = [v[k] - value for k, value in given.items()]
    equations = (*(a - b for a, b in zip(q, coordinates, strict=True)), *balance, *rates, *taken)
    return Crossing(name, derivatives, when, (*q, *v, *impulses), equations, len(q) + len(v))


@dataclass(frozen=True)
class Rubbing:
    """Friction that slides in an impact: its rows, its coefficient, and the contact that presses it."""

    rows: tuple[ConstraintEquation, ...]
    coefficient: Expr
    pressing: ConstraintEquation


def _friction_impulses(
    rubbing: Sequence[Rubbing],
    v: Sequence[Expr],
    rows: Sequence[tuple[ConstraintEquation, Expr]],
    impulses: Sequence[Expr],
) -> list[tuple[ConstraintEquation, Expr]]:
    """Impulses along rows of friction: the coefficient times what presses, along the slip that is left."""
    result = []
    for element in rubbing:
        pressing = [e for (c, _), e in zip(rows, impulses, strict=False) if c is element.pressing]
        slips = [as_expr(sum((a * new for a, new in zip(c.row, v, strict=True)), c.drift)) for c in element.rows]
        size = sqrt(sum((slip * slip for slip in slips), as_expr(LEAST_SQUARE)))
        for row, slip in zip(element.rows, slips, strict=True):
            # What presses has a negative multiplier.
            result += [(row, -element.coefficient * e * slip / size) for e in pressing]
    return result


def read_jump(jump: Jump, derivatives: MotionDerivatives) -> JumpRules:
    """The jump with its names resolved."""
    system = derivatives.variation.system
    names = [quantity.name for quantity in system.states]
    for name in jump.becomes:
        if name not in names:
            raise TorseurError(unknown_name("state", name, names, f"{jump.label}: "))
        if system.constrained is not None and names.index(name) < system.coordinates:
            raise UnsupportedError(
                f"{jump.label}: '{name}' is a position of {system.name}, which is constrained: impulses change speeds "
                "only, positions would have to break the constraints."
            )
    becomes = {names.index(name): read_formula(text, system).value for name, text in jump.becomes.items()}
    return JumpRules(jump, derivatives, read_formula(jump.when, system).value, becomes)
