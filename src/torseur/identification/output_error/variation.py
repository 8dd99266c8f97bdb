"""Motions that carry their derivatives: variational and adjoint systems of a mechanism without constraints.

With y' = f(y, p, t) and outputs z = h(y, p, t):
direct   S' = f_y S + f_p, S(0) = ∂y₀/∂p, dz/dp = h_y S + h_p: one motion gives the derivatives of every sample
adjoint  λ' = -f_yᵀ λ backward in time, λ += h_yᵀ r at each sample with weighted residual r, gradient = ∫ λᵀ f_p dt:
         one backward motion gives the gradient of the whole cost, whatever the number of parameters
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from torseur.codegen import Kernel, compile_program
from torseur.errors import IdentificationError, UnsupportedError, unknown_name
from torseur.graph import (
    Expr,
    Input,
    Program,
    as_expr,
    dense_jacobian,
    directional_derivative,
    matrix,
    symbol,
    vector,
    weighted_gradient,
)
from torseur.identification.arrays import Array
from torseur.mechanism import TIME
from torseur.simulation.from_equations import Model, as_system
from torseur.simulation.simulate import simulate
from torseur.simulation.system import Quantity, System


@dataclass(frozen=True)
class Variation:
    """A system with the symbols of its state and parameters, the unknown ones, and the outputs that were recorded."""

    system: System
    unknown: tuple[str, ...]
    outputs: tuple[str, ...]

    @staticmethod
    def of(model: Model, unknown: Sequence[str], outputs: Sequence[str]) -> Variation:
        system = as_system(model)
        if system.constrained is not None or not isinstance(system.rhs, Program) or system.laws:
            raise UnsupportedError(
                f"{system.name}: output-error fits differentiate motions of open mechanisms with known laws; loops are "
                "identified through the regressor."
            )
        names = [q.name for q in (*system.parameters, *system.states)]
        for name in unknown:
            if name not in names:
                raise IdentificationError(unknown_name("parameter or initial state", name, names))
        return Variation(system, tuple(unknown), tuple(outputs))

    @property
    def _rhs(self) -> Program:
        assert isinstance(self.system.rhs, Program)
        return self.system.rhs

    @cached_property
    def states(self) -> tuple[Expr, ...]:
        return self._rhs.input("y").nodes

    @cached_property
    def slopes(self) -> tuple[Expr, ...]:
        return self._rhs.outputs[0].entries

    @cached_property
    def parameters(self) -> tuple[Expr, ...]:
        return tuple(node for group in self._rhs.inputs if group.name == "p" for node in group.nodes)

    @cached_property
    def formulas(self) -> list[Expr]:
        """The outputs as expressions of state and parameters."""
        known = {q.name: x for q, x in zip(self.system.states, self.states, strict=True)}
        found = []
        for name in self.outputs:
            if name in known:
                found.append(known[name])
            elif name in self.system.quantities:
                found.append(self.system.quantities[name][1])
            else:
                raise IdentificationError(unknown_name("quantity", name, [*known, *self.system.quantities]))
        return found

    @cached_property
    def _unknown_symbols(self) -> list[Expr | None]:
        """Symbols of the unknown parameters, None for initial states."""
        by_name = {str(p.name): p for p in self.parameters}
        return [by_name.get(name) for name in self.unknown]

    @cached_property
    def _kernel(self) -> Kernel:
        """Outputs and their derivatives by state and unknown parameters."""
        unknown = [s for s in self._unknown_symbols if s is not None]
        by_state, by_unknown = (dense_jacobian(self.formulas, x) for x in (self.states, unknown))
        outputs = [vector("z", self.formulas), matrix("by_state", by_state)]
        outputs += [matrix("by_unknown", by_unknown)] if unknown else []
        inputs = [Input("t", (TIME,)), Input("y", self.states)]
        inputs += [Input("p", self.parameters)] if self.parameters else []
        return compile_program(Program("outputs_and_derivatives", tuple(inputs), tuple(outputs)))

    def observed(self, t: float, y: Array, p: Array) -> tuple[Array, Array, Array]:
        """Outputs, their derivatives by the state, and by the unknowns (zero for initial states)."""
        given = {"p": p} if self.parameters else {}
        found = self._kernel(t=np.array([t]), y=np.ascontiguousarray(y), **given)
        direct = np.zeros((len(self.formulas), len(self.unknown)))
        slots = [k for k, s in enumerate(self._unknown_symbols) if s is not None]
        if slots:
            direct[:, slots] = found["by_unknown"]
        return found["z"], found["by_state"], direct

    @cached_property
    def direct_system(self) -> System:
        """The motion with S beside it, one column per unknown."""
        n = len(self.states)
        columns = [[symbol(f"d{y.name}/d{name}") for y in self.states] for name in self.unknown]
        slopes = list(self.slopes)
        for column, parameter in zip(columns, self._unknown_symbols, strict=True):
            direction = dict(zip(self.states, column, strict=True))
            slopes += directional_derivative(self.slopes, direction | ({parameter: 1} if parameter is not None else {}))
        start = np.zeros((len(self.unknown), n))
        names = [q.name for q in self.system.states]
        for k, name in enumerate(self.unknown):
            if name in names:
                start[k, names.index(name)] = 1.0
        carried = tuple(x for column in columns for x in column)
        return self._with(carried, slopes, tuple(start.ravel().tolist()))

    @cached_property
    def adjoint_system(self) -> System:
        """The motion with λ and the gradient's integral beside it, to be run backward."""
        costates = [symbol(f"lambda of {y.name}") for y in self.states]
        sums = [symbol(f"gradient by {name}") for name in self.unknown]
        by_state = weighted_gradient(self.slopes, costates, self.states)
        wanted = [s for s in self._unknown_symbols if s is not None]
        found = iter(weighted_gradient(self.slopes, costates, wanted))
        by_unknown = [as_expr(0) if s is None else -next(found) for s in self._unknown_symbols]
        slopes = [*self.slopes, *(-x for x in by_state), *by_unknown]
        return self._with((*costates, *sums), slopes, (0.0,) * (len(costates) + len(sums)))

    def _with(self, carried: Sequence[Expr], slopes: Sequence[Expr], initial: tuple[float, ...]) -> System:
        inputs = [Input("t", (TIME,)), Input("y", (*self.states, *carried)), Input("p", self.parameters)]
        quantities = tuple(Quantity(str(x.name)) for x in carried)
        return replace(
            self.system,
            states=(*self.system.states, *quantities),
            initial=(*self.system.initial, *initial),
            rhs=Program("variation", tuple(inputs), (vector("dy", list(slopes)),)),
            project=None,
            quantities={},
            programs=None,
            explain=None,
            resolve=None,
            scales=None,
        )

    def outputs_with_derivatives(
        self, times: Array, parameters: dict[str, float], initial: dict[str, float], rtol: float
    ) -> tuple[Array, Array]:
        """z (samples, outputs) and dz/dp (samples, outputs, unknowns) by the direct method."""
        motion = simulate(
            self.direct_system, float(times[-1]), start=float(times[0]), samples=times, initial=initial,
            parameters=parameters, rtol=rtol,
        )  # fmt: skip
        n, p = len(self.states), self._parameter_vector(parameters)
        z, dz = [], []
        for t, row in zip(times, motion.values, strict=True):
            value, by_state, by_unknown = self.observed(float(t), row[:n], p)
            S = row[n:].reshape(len(self.unknown), n).T
            z.append(value)
            dz.append(by_state @ S + by_unknown)
        return np.array(z), np.array(dz)

    def _parameter_vector(self, parameters: dict[str, float]) -> Array:
        return np.array([parameters.get(q.name, value) for q, value in
                         zip(self.system.parameters, self.system.values, strict=True)])  # fmt: skip

    def cost_gradient(
        self, times: Array, recorded: Array, weights: Array, parameters: dict[str, float], initial: dict[str, float],
        rtol: float,
    ) -> tuple[float, Array, Array]:  # fmt: skip
        """½ Σ |w (z - recorded)|², its gradient by the adjoint method, and the outputs z."""
        states = simulate(
            self.system, float(times[-1]), start=float(times[0]), samples=times, initial=initial, parameters=parameters,
            rtol=rtol,
        ).values  # fmt: skip
        n, p, system = len(self.states), self._parameter_vector(parameters), self.adjoint_system
        costate, gradient, outputs, cost = np.zeros(n), np.zeros(len(self.unknown)), [], 0.0
        for k in range(len(times) - 1, -1, -1):
            z, by_state, by_unknown = self.observed(float(times[k]), states[k], p)
            residual = weights * (z - recorded[k])
            cost += 0.5 * float(residual @ residual)
            costate = costate + by_state.T @ (weights * residual)
            gradient = gradient + by_unknown.T @ (weights * residual)
            outputs.append(z)
            if k > 0:
                start = replace(system, initial=(*states[k], *costate, *gradient), values=tuple(p))
                back = simulate(start, float(times[k - 1]), start=float(times[k]), samples=times[k - 1 : k], rtol=rtol)
                costate, gradient = back.values[-1, n : 2 * n], back.values[-1, 2 * n :]
        return cost, self._with_initial(gradient, costate), np.array(outputs[::-1])

    def _with_initial(self, gradient: Array, costate: Array) -> Array:
        """The gradient with the costate at the start where initial states are unknown."""
        names = [q.name for q in self.system.states]
        for k, name in enumerate(self.unknown):
            if name in names:
                gradient[k] += costate[names.index(name)]
        return gradient
