"""The strict reduced model: a constrained mechanism in terms of independent coordinates only.

    direct    (Nᵀ M N) v'_in = Nᵀ (f + Q - M a),      v' = N v'_in + a
    inverse   τ = (Nᵀ M N) v'_in + Nᵀ (M a - f)

with N = [-C_de⁻¹ C_in; 1] and a = [C_de⁻¹ γ; 0], which is N' v_in where nothing depends on time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from torseur.computation.simulation.constrained.solver.constrained_setup import mechanism_size
from torseur.computation.simulation.constrained.solver.speed_partition import choose_partition, speeds_named
from torseur.computation.simulation.constrained.start.consistent_state import consistent_state
from torseur.computation.simulation.constrained.start.constraint_numbers import StateNumbers
from torseur.computation.simulation.constrained.start.regularity import neighbours, selected_by, whitened
from torseur.computation.simulation.model.force_laws import LawFunction
from torseur.computation.simulation.model.initial_state import initial_state, stated_values
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.system import Quantity, System, Vector
from torseur.derivation.equations import Equations, parameter_values
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism, require_smooth
from torseur.errors import TorseurError

_DEAD = 1e-9  # parts of the largest singular value below which the dependent speeds are not determined


def dead_point(mechanism: str, names: Sequence[str]) -> str:
    """What is said where independent coordinates do not determine the motion."""
    rest = f"{names[0]} does" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} do"
    return (
        f"{mechanism}: this is a dead point of {', '.join(names)}: the mechanism can move while {rest} not, so that "
        "other coordinates must describe the motion. Start elsewhere, or choose others with independent=[...]."
    )


@dataclass(frozen=True, eq=False, repr=False)
class ReducedModel:
    """A mechanism seen through its independent speeds, which are as many as its degrees of freedom.

    Full states y = (q, v) go in; `state` makes one from independent values.
    """

    numbers: StateNumbers
    independent: tuple[int, ...]
    dependent: tuple[int, ...]
    rows: tuple[int, ...]

    def __repr__(self) -> str:
        mechanism = self.numbers.equations.mechanism.name
        return f"ReducedModel of '{mechanism}' in {', '.join(self.names)} ({len(self.rows)} independent constraints)"

    @property
    def names(self) -> list[str]:
        """The independent speeds."""
        return [self.numbers.equations.layout.speed_names[k] for k in self.independent]

    def state(self, values: Mapping[str, float], near: Vector | None = None, t: float = 0.0) -> Vector:
        """The full state with the given coordinates and rates; the rest follows from the constraints.

        What is not given starts from the state `near`, or keeps the mechanism's own initial values.
        """
        equations = self.numbers.equations
        if near is None:
            parameters = dict(zip(equations.layout.parameter_names, self.numbers.parameters.tolist(), strict=True))
            start = np.array(initial_state(equations, parameters, values))
            given, guesses = stated_values(equations.mechanism, values)
        else:
            names = [*equations.layout.coordinate_names, *equations.layout.speed_names]
            start = np.array([values.get(name, y) for name, y in zip(names, near, strict=True)])
            given, guesses = frozenset(values), ()
        return consistent_state(replace(self.numbers, guesses=guesses), t, start, given).y

    def reduction(self, y: Vector, t: float = 0.0) -> tuple[Vector, Vector]:
        """N and a of v' = N v'_in + a."""
        dynamics = self.numbers.of(self.numbers.programs.dynamics, t, y)
        rows, gamma = dynamics["rows"][list(self.rows)], dynamics["gamma"][list(self.rows)]
        reduction = np.zeros((len(self.numbers.scales), len(self.independent)))
        particular = np.zeros(len(self.numbers.scales))
        reduction[list(self.independent)] = np.eye(len(self.independent))
        if self.rows:
            #     [C_de  C_in] [v'_de; v'_in] = γ   =>   v'_de = -C_de⁻¹ C_in v'_in + C_de⁻¹ γ
            dependent = rows[:, self.dependent]
            # Rows in metres and in radians are compared by their own largest entries; at a dead point C_de is singular
            # whatever units.
            sizes = np.linalg.svd(
                dependent / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300), compute_uv=False
            )
            if sizes[-1] < _DEAD * sizes[0]:
                raise TorseurError(dead_point(self.numbers.equations.mechanism.name, self.names))
            solved = np.linalg.solve(dependent, np.column_stack([-rows[:, self.independent], gamma]))
            reduction[list(self.dependent)], particular[list(self.dependent)] = solved[:, :-1], solved[:, -1]
        return reduction, particular

    def mass_matrix(self, y: Vector, t: float = 0.0) -> Vector:
        """Nᵀ M N."""
        reduction, _ = self.reduction(y, t)
        result: Vector = reduction.T @ self._mass(y, t) @ reduction
        return result

    def forward(self, y: Vector, efforts: Sequence[float] | Vector = (), t: float = 0.0) -> Vector:
        """All accelerations v' under the loads and efforts along the independent speeds."""
        reduction, particular = self.reduction(y, t)
        mass, force = self._mass(y, t), self._force(y, t)
        pushed = reduction.T @ (force - mass @ particular)
        if len(efforts):
            pushed = pushed + np.asarray(efforts, dtype=float)
        answer = np.linalg.solve(reduction.T @ mass @ reduction, pushed)
        return reduction @ answer + particular

    def inverse(self, y: Vector, accelerations: Sequence[float] | Vector, t: float = 0.0) -> Vector:
        """Efforts along the independent speeds, besides the loads, that give these their accelerations."""
        reduction, particular = self.reduction(y, t)
        whole = reduction @ np.asarray(accelerations, dtype=float) + particular
        result: Vector = reduction.T @ (self._mass(y, t) @ whole - self._force(y, t))
        return result

    def _mass(self, y: Vector, t: float) -> Vector:
        lower = self.numbers.of(self.numbers.programs.positions, t, y)["mass"]
        full: Vector = lower + np.tril(lower, -1).T
        return full

    def _force(self, y: Vector, t: float) -> Vector:
        return self.numbers.of(self.numbers.programs.dynamics, t, y)["force"]

    def system(self, values: Mapping[str, float]) -> System:
        """The mechanism in strict parametrisation: only independent coordinates and speeds are states.

        The dependent coordinates are closed anew at each evaluation, starting from the last ones. A Python function:
        good to check other ways, slow.
        """
        layout, places = self.numbers.equations.layout, self._places()
        names = [layout.coordinate_names[k] for k in places]
        states = [layout.coordinates[k] for k in places] + [layout.speeds[k] for k in self.independent]
        last = [self.state(values)]
        count, slots = len(names), list(self.independent)

        def rates(t: float, y: Vector, p: Vector) -> Vector:
            given = dict(zip([*names, *self.names], y.tolist(), strict=True))
            # From the last closed state: loops have several assemblies, and the nearest is that of the motion.
            last[0] = self.state(given, last[0], t)
            return np.concatenate([y[count:], self.forward(last[0], (), t)[slots]])

        start = last[0]
        begin = [*start[places], *start[[len(layout.coordinates) + k for k in slots]]]
        quantities = tuple(Quantity(x.data.name, x.data.unit, x.data.meaning) for x in states)
        return System(quantities, tuple(map(float, begin)), rates, count, name=self.numbers.equations.mechanism.name)

    def _places(self) -> list[int]:
        """The coordinates whose rates are the independent speeds."""
        equations = self.numbers.equations
        rates = list(equations.rates)
        for k, name in zip(self.independent, self.names, strict=True):
            if equations.layout.speeds[k] not in rates:
                raise TorseurError(
                    f"{equations.mechanism.name}: the speed '{name}' is not the rate of a coordinate and cannot stand "
                    "for one in the strict parametrisation. Choose others with independent=[...]."
                )
        return [rates.index(equations.layout.speeds[k]) for k in self.independent]


def reduced_model(
    model: Equations | Mechanism,
    independent: Sequence[str] = (),
    *,
    at: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    laws: Mapping[str, LawFunction] | None = None,
    t: float = 0.0,
) -> ReducedModel:
    """The strict reduced model with the given independent coordinates or speeds, completed by the best conditioned.

    The choice is made at the initial state, with some of its values replaced by `at`. Raises at dead points and at
    configurations where motions branch: no choice of speeds stands for them there.
    """
    reduced = reduced_by_rank(model, independent, at=at, parameters=parameters, laws=laws, t=t)
    numbers = reduced.numbers
    y = reduced.state(at or {}, t=t)
    around = [selected_by(numbers, whitened(numbers, t, state)) for state in neighbours(numbers, t, y)]
    usual = max(map(len, around), default=0)
    if len(reduced.rows) < usual:
        raise TorseurError(
            f"{numbers.equations.mechanism.name}: the rank of the constraints is {len(reduced.rows)} at this state and "
            f"{usual} around it: motions branch or stop here, and speeds do not determine them. Start elsewhere, e.g. "
            "with at={...}."
        )
    return reduced


def reduced_by_rank(
    model: Equations | Mechanism,
    independent: Sequence[str] = (),
    *,
    at: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    laws: Mapping[str, LawFunction] | None = None,
    t: float = 0.0,
) -> ReducedModel:
    """The same with as many independent speeds as the constraints leave at that very state, singular or not."""
    equations = derive(model) if isinstance(model, Mechanism) else model
    require_smooth(equations.mechanism, "a reduced model")
    programs = MechanismPrograms(equations)
    values = parameter_values(equations, parameters or {})
    given = np.array(list(values.values()))
    names, guesses = stated_values(equations.mechanism, at or {})
    numbers = StateNumbers(programs, given, dict(laws or {}), mechanism_size(programs, given), guesses=guesses)
    start = np.array(initial_state(equations, values, at or {}))
    y = consistent_state(numbers, t, start, names).y if programs.constraints else start
    preferred = speeds_named(numbers, independent)
    chosen = choose_partition(numbers, t, y, preferred)
    missing = [name for k, name in zip(preferred, independent, strict=True) if k not in chosen.independent]
    if missing:
        if len(independent) <= len(chosen.independent):
            raise TorseurError(dead_point(equations.mechanism.name, independent))
        raise TorseurError(
            f"{equations.mechanism.name}: '{missing[0]}' cannot be independent beside the others: the mechanism has "
            f"{len(chosen.independent)} degrees of freedom."
        )
    return ReducedModel(numbers, chosen.independent, chosen.dependent, chosen.rows)
