"""What a rollout computes: motion, what is recorded, the way back to constraints; all with sensitivities if asked.

Sensitivities to parameters and initial values are columns of the state: d(q, v)/dθ follows its own equations, which are
the derivative of the motion's along the column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.equations import Equations
from torseur.equations.functions import all_inputs, outputs_of
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.graph import Expr, Input, Program, as_expr, directional_derivative, substitute, symbol, vector
from torseur.simulation.programs import MechanismPrograms
from torseur.simulation.quantities import NamedQuantities


@dataclass(frozen=True)
class RolloutPrograms:
    """Programs of the augmented state; `outputs` are names or formulas, `parameters` what is differentiated by."""

    equations: Equations
    outputs: tuple[str | Expr, ...]
    parameters: tuple[str, ...]

    def __post_init__(self) -> None:
        if self.equations.undetermined:
            names = ", ".join(node.data.name for node in self.equations.undetermined)
            raise UnsupportedError(f"rollout: no formula is given for {names}; a GPU cannot call Python functions.")
        known = [*self.equations.layout.parameter_names, *self._initial_names]
        for name in self.parameters:
            if name not in known:
                raise TorseurError(unknown_name("parameter or initial value", name, known, "rollout: "))

    @cached_property
    def motion(self) -> Program:
        """Rates and accelerations."""
        return self._program("motion", rates=self.equations.rates, vdot=self._accelerations)

    @cached_property
    def observe(self) -> Program:
        """What is recorded: values, then their derivatives by each parameter."""
        return Program("observe", self.inputs, (vector("seen", self._with_columns(self._seen)),))

    @cached_property
    def settle(self) -> Program | None:
        """Changes that bring a state back to the constraints; None without constraints."""
        if not self.equations.is_constrained:
            return None
        places, speeds = outputs_of(self.equations, "constraint_corrections")
        return self._program("correction", q_correction=places.entries, v_correction=speeds.entries)

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """t, q, v, tau, p: coordinates and speeds with their columns behind them."""
        layout = self.equations.layout
        longer = {"q": self._augmented(layout.coordinates, 0), "v": self._augmented(layout.speeds, 1)}
        groups = [group for group in all_inputs(self.equations) if group.name in ("t", "q", "v", "tau", "p")]
        return tuple(Input(g.name, longer.get(g.name, g.nodes)) for g in groups if len(g) or g.name in longer)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is recorded, by name."""
        wanted = self.outputs or self._state_names
        return tuple(item if isinstance(item, str) else f"output {k + 1}" for k, item in enumerate(wanted))

    def start(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Initial states with their columns, which are zero but for the initial values differentiated by."""
        n = q.shape[1]
        columns = [np.zeros((len(state), n)) for _ in self.parameters for state in (q, v)]
        for k, name in enumerate(self.parameters):
            if name in self._initial_names:
                slot = self._initial_names.index(name)
                part, entry = (0, slot) if slot < len(q) else (1, slot - len(q))
                columns[2 * k + part][entry] = 1.0
        return np.concatenate([q, *columns[0::2]]), np.concatenate([v, *columns[1::2]])

    @cached_property
    def _state_names(self) -> tuple[str, ...]:
        layout = self.equations.layout
        return (*layout.coordinate_names, *layout.speed_names)

    @cached_property
    def _initial_names(self) -> tuple[str, ...]:
        """Initial values as parameters: q1(0)."""
        return tuple(f"{name}(0)" for name in self._state_names)

    @cached_property
    def _accelerations(self) -> Sequence[Expr]:
        constrained = self.equations.is_constrained
        function = "constrained_forward_dynamics" if constrained else "forward_dynamics"
        return outputs_of(self.equations, function)[0].entries

    @cached_property
    def _seen(self) -> list[Expr]:
        """Formulas of what is recorded, accelerations put in."""
        layout = self.equations.layout
        if not self.outputs:
            return [*layout.coordinates, *layout.speeds]
        formulas = [self._formula(item) for item in self.outputs]
        return substitute(formulas, dict(zip(layout.accelerations, self._accelerations, strict=True)))

    def _formula(self, wanted: str | Expr) -> Expr:
        if not isinstance(wanted, str):
            return as_expr(wanted)
        layout = self.equations.layout
        states = dict(zip(self._state_names, (*layout.coordinates, *layout.speeds), strict=True))
        if wanted in states:
            return states[wanted]
        if wanted not in self._quantities:
            raise TorseurError(unknown_name("output", wanted, [*states, *self._quantities], "rollout: "))
        formula = self._quantities[wanted][1]
        if wanted in self._quantities.undetermined:
            raise UnsupportedError(f"rollout: {wanted}: {self._quantities.undetermined[wanted]}")
        return formula

    @cached_property
    def _quantities(self) -> NamedQuantities:
        return NamedQuantities(MechanismPrograms(self.equations))

    def _augmented(self, nodes: Sequence[Expr], part: int) -> tuple[Expr, ...]:
        return (*nodes, *(column for columns in self._columns for column in columns[part]))

    @cached_property
    def _columns(self) -> list[tuple[list[Expr], list[Expr]]]:
        """Symbols of d q / dθ and d v / dθ, by parameter."""
        layout = self.equations.layout
        return [(_changes(layout.coordinates, name), _changes(layout.speeds, name)) for name in self.parameters]

    def _directions(self) -> list[dict[Expr, Expr]]:
        layout = self.equations.layout
        own = dict(zip(layout.parameter_names, layout.parameters, strict=True))
        found = []
        for name, (places, speeds) in zip(self.parameters, self._columns, strict=True):
            direction = dict(zip((*layout.coordinates, *layout.speeds), (*places, *speeds), strict=True))
            found.append(direction | ({own[name]: as_expr(1)} if name in own else {}))
        return found

    def _with_columns(self, entries: Sequence[Expr]) -> list[Expr]:
        """Entries, then their derivatives along each column."""
        return [*entries, *(x for direction in self._directions() for x in directional_derivative(entries, direction))]

    def _program(self, name: str, **parts: Sequence[Expr]) -> Program:
        outputs = [vector(part, self._with_columns(list(entries))) for part, entries in parts.items()]
        return Program(name, self.inputs, tuple(outputs))


def _changes(nodes: Sequence[Expr], name: str) -> list[Expr]:
    return [symbol(f"d {node.name} / d {name}") for node in nodes]
