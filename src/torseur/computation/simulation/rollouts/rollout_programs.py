"""What a rollout computes: motion, what is recorded, the way back to constraints; all with sensitivities if asked.

Sensitivities to parameters and initial values are columns of the state: d(q, v)/dθ follows its own equations, which are
the derivative of the motion's along the column. Integrals of criteria are states behind these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.algebra.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    directional_derivative,
    substitute,
    symbol,
    symbols_of,
    vector,
)
from torseur.algebra.graph.scalar import sqrt
from torseur.computation.functions.mechanism_functions import all_inputs, outputs_of
from torseur.computation.simulation.events.time_switches import conditions_of, time_switches
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import system_without_values
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.computation.simulation.model.named_quantities import NamedQuantities
from torseur.derivation.equations import Equations
from torseur.description.mechanism import TIME
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.formula_texts import read_output


@dataclass(frozen=True)
class RolloutPrograms:
    """Programs of the augmented state; `outputs` are names or formulas, `parameters` what is differentiated by.

    `criteria` have names or expressions as their formulas; the integrals among them are states.
    """

    equations: Equations
    outputs: tuple[str | Expr, ...] = ()
    parameters: tuple[str, ...] = ()
    criteria: tuple[Criterion, ...] = ()

    def __post_init__(self) -> None:
        if self.equations.undetermined:
            names = ", ".join(node.data.name for node in self.equations.undetermined)
            raise UnsupportedError(f"rollout: no formula is given for {names}; a GPU cannot call Python functions.")
        known = [*self.equations.layout.parameter_names, *self._initial_names]
        for name in self.parameters:
            if name not in known:
                raise TorseurError(unknown_name("parameter or initial value", name, known, "rollout: "))
        self._require_smooth()

    def _require_smooth(self) -> None:
        """Refuses derivatives of motions whose equations switch: tangents jump there, which a thread does not do."""
        layout = self.equations.layout
        moving = {TIME, *layout.coordinates, *layout.speeds}
        formulas = [*self.equations.loads, *self.equations.rates] if self.parameters else []
        switching = [w for w in conditions_of(formulas) if moving & set(symbols_of([w]))]
        if switching:
            raise UnsupportedError(
                f"rollout: derivatives jump where {switching[0]} changes sign, which a GPU does not follow. Ask for "
                "them on the CPU, by `sensitivity`."
            )

    @cached_property
    def motion(self) -> Program:
        """Rates and accelerations, and what is integrated."""
        parts: dict[str, Sequence[Expr]] = {"rates": self.equations.rates, "vdot": self._accelerations}
        if self.integrands:
            parts["flow"] = self.integrands
        return self._program("motion", **parts)

    @cached_property
    def observe(self) -> Program | None:
        """What is recorded: values, then their derivatives by each parameter; None where nothing is."""
        if not self.names:
            return None
        return Program("observe", self.inputs, (vector("seen", self.with_columns(self._recorded_formulas)),))

    @cached_property
    def settle(self) -> Program | None:
        """Changes that bring a state back to constraints and quaternions to length one; None without either."""
        layout = self.equations.layout
        places = _normalising(layout.coordinates, [link.symbols.quaternion for link in self.equations.tree.links])
        speeds = [as_expr(0)] * len(layout.speeds)
        if self.equations.is_constrained:
            closing, slowing = outputs_of(self.equations, "constraint_corrections")
            places = [a + b for a, b in zip(places, closing.entries, strict=True)]
            speeds = list(slowing.entries)
        if all(change.is_zero for change in (*places, *speeds)):
            return None
        return self._program("correction", q_correction=places, v_correction=speeds)

    @cached_property
    def next_switch(self) -> Program | None:
        """The time to the next known switch of the equations; None where there is none."""
        formulas = [*self.equations.formulas, *self.integrands]
        return time_switches(formulas, TIME, self.equations.layout.parameters).program

    @cached_property
    def inputs(self) -> tuple[Input, ...]:
        """t, q, v, tau, p: coordinates and speeds with their columns behind them."""
        layout = self.equations.layout
        longer = {"q": self.augmented(layout.coordinates), "v": self.augmented(layout.speeds)}
        return tuple(Input(g.name, longer.get(g.name, g.nodes)) for g in self.base_inputs)

    @cached_property
    def base_inputs(self) -> tuple[Input, ...]:
        """The same without columns."""
        groups = [group for group in all_inputs(self.equations) if group.name in ("t", "q", "v", "tau", "p")]
        return tuple(group for group in groups if len(group) or group.name in ("q", "v"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is recorded, by name: all states where nothing is asked for."""
        wanted = self.outputs or (() if self.criteria else self._state_names)
        return tuple(item if isinstance(item, str) else f"output {k + 1}" for k, item in enumerate(wanted))

    def start(self, q: np.ndarray, v: np.ndarray, changes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Initial states with their columns, `changes` of shape (parameters, states, n).

        By default these are zero but for the initial values differentiated by.
        """
        if changes is None:
            changes = np.zeros((len(self.parameters), len(q) + len(v), 1))
            for k, name in enumerate(self.parameters):
                if name in self._initial_names:
                    changes[k, self._initial_names.index(name)] = 1.0
        n = max(q.shape[1], v.shape[1], changes.shape[2])
        parts = (q, *changes[:, : len(q)]), (v, *changes[:, len(q) :])
        places, speeds = (np.concatenate([np.broadcast_to(x, (len(x), n)) for x in part]) for part in parts)
        return places, speeds

    def spread(self, states: np.ndarray, integrals: np.ndarray, sizes: Sequence[float]) -> np.ndarray:
        """Tolerances of the augmented state, from those of states and integrals and the sizes of the parameters."""
        count = len(self.equations.layout.coordinates)
        parts = (states[:count], states[count:], integrals)
        # ∂y/∂p has the unit of y over that of p: tolerated is what a change of p by its own size would make of y's
        # tolerance.
        return np.concatenate([np.concatenate([part, *(part / size for size in sizes)]) for part in parts])

    @cached_property
    def integrands(self) -> list[Expr]:
        """Formulas of what is integrated, of the state alone."""
        return self.without_unknowns([self.formula(c.formula) for c in self.criteria if c.kind == "integral"])

    @cached_property
    def integrals(self) -> tuple[Expr, ...]:
        """Symbols of the integrals."""
        return tuple(symbol(f"integral {k + 1}") for k in range(len(self.integrands)))

    @cached_property
    def _state_names(self) -> tuple[str, ...]:
        layout = self.equations.layout
        return (*layout.coordinate_names, *layout.speed_names)

    @cached_property
    def _initial_names(self) -> tuple[str, ...]:
        """Initial values as parameters: q1(0)."""
        return tuple(f"{name}(0)" for name in self._state_names)

    @cached_property
    def _dynamics(self) -> tuple[list[Expr], dict[Expr, Expr]]:
        """Accelerations as formulas, and the multipliers by their symbols."""
        if not self.equations.is_constrained:
            return list(outputs_of(self.equations, "forward_dynamics")[0].entries), {}
        accelerations, multipliers = outputs_of(self.equations, "constrained_forward_dynamics")
        named = MechanismPrograms(self.equations)
        # The programs of a motion put holonomic constraints first, the equations keep the order of the description.
        order = [self.equations.constraints.index(c) for c in named.constraints]
        return list(accelerations.entries), {
            node: multipliers.entries[k] for node, k in zip(named.multipliers, order, strict=True)
        }

    @property
    def _accelerations(self) -> list[Expr]:
        return self._dynamics[0]

    def without_multipliers(self, formulas: Sequence[Expr]) -> list[Expr]:
        """Formulas with multipliers put in; accelerations stay symbols."""
        return substitute(list(formulas), self._dynamics[1]) if self._dynamics[1] else list(formulas)

    def without_unknowns(self, formulas: Sequence[Expr]) -> list[Expr]:
        """Formulas with accelerations and multipliers put in."""
        accelerations = dict(zip(self.equations.layout.accelerations, self._accelerations, strict=True))
        return substitute(list(formulas), accelerations | self._dynamics[1]) if formulas else []

    @cached_property
    def _recorded_formulas(self) -> list[Expr]:
        """Formulas of what is recorded."""
        layout = self.equations.layout
        if not self.outputs:
            return [*layout.coordinates, *layout.speeds]
        return self.without_unknowns([self.formula(item) for item in self.outputs])

    def formula(self, wanted: str | Expr) -> Expr:
        """What a name or a formula as text stands for; expressions as they are."""
        if not isinstance(wanted, str):
            return as_expr(wanted)
        layout = self.equations.layout
        states = dict(zip(self._state_names, (*layout.coordinates, *layout.speeds), strict=True))
        if wanted in states:
            return states[wanted]
        if wanted not in self._quantities:
            if wanted.isidentifier():
                raise TorseurError(unknown_name("output", wanted, [*states, *self._quantities], "rollout: "))
            return as_expr(read_output(wanted, system_without_values(self.equations)[1]).function)
        formula = self._quantities[wanted][1]
        if wanted in self._quantities.undetermined:
            raise UnsupportedError(f"rollout: {wanted}: {self._quantities.undetermined[wanted]}")
        return formula

    @cached_property
    def _quantities(self) -> NamedQuantities:
        return NamedQuantities(MechanismPrograms(self.equations))

    def augmented(self, nodes: Sequence[Expr]) -> tuple[Expr, ...]:
        """Nodes, then their changes by each parameter."""
        return (*nodes, *(change for name in self.parameters for change in _changes(nodes, name)))

    def directions(self, *more: Expr) -> list[dict[Expr, Expr]]:
        """By parameter, how the state and `more` nodes change with it, and what else does."""
        layout = self.equations.layout
        own = dict(zip(layout.parameter_names, layout.parameters, strict=True))
        nodes = (*layout.coordinates, *layout.speeds, *more)
        return [
            dict(zip(nodes, _changes(nodes, name), strict=True)) | ({own[name]: as_expr(1)} if name in own else {})
            for name in self.parameters
        ]

    def with_columns(self, entries: Sequence[Expr]) -> list[Expr]:
        """Entries, then their derivatives along each column."""
        return [*entries, *(x for direction in self.directions() for x in directional_derivative(entries, direction))]

    def _program(self, name: str, **parts: Sequence[Expr]) -> Program:
        outputs = [vector(part, self.with_columns(list(entries))) for part, entries in parts.items()]
        return Program(name, self.inputs, tuple(outputs))


def _changes(nodes: Sequence[Expr], name: str) -> list[Expr]:
    return [symbol(f"d {node.name} / d {name}") for node in nodes]


def _normalising(coordinates: Sequence[Expr], quaternions: Sequence[Sequence[Expr]]) -> list[Expr]:
    """Changes of coordinates that bring quaternions to length one."""
    rates = {node: as_expr(0) for node in coordinates}
    for quaternion in filter(None, quaternions):
        # A step leaves the unit sphere by its error; x/|x| is the nearest quaternion that is a rotation.
        length = sqrt(sum((x * x for x in quaternion), as_expr(0)))
        rates |= {x: x / length - x for x in quaternion}
    return list(rates.values())
