"""Motions with the derivatives of what was recorded along them.

direct   the slopes dz/dp of every sample, by the direct method of `torseur.sensitivity`
adjoint  the gradient of the whole cost by one way back through the motion, whatever the number of parameters
Both cover loops and rolling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from torseur.codegen import Kernel, compile_program
from torseur.errors import IdentificationError, UnsupportedError, unknown_name
from torseur.graph import Expr, Input, Program, dense_jacobian, matrix, vector
from torseur.identification.arrays import Array
from torseur.identification.output_error.sampled_adjoint import sampled_motion
from torseur.mechanism import TIME
from torseur.sensitivity.analysis import sensitivity
from torseur.simulation.from_equations import Model, as_system
from torseur.simulation.system import System


@dataclass(frozen=True)
class Variation:
    """A system with the symbols of its state and parameters, the unknown ones, and the outputs that were recorded."""

    model: Model
    system: System
    unknown: tuple[str, ...]
    outputs: tuple[str, ...]

    @staticmethod
    def of(model: Model, unknown: Sequence[str], outputs: Sequence[str]) -> Variation:
        system = as_system(model)
        if system.laws:
            laws = ", ".join(f"'{law.name}'" for law in system.laws)
            raise UnsupportedError(f"{system.name}: the laws {laws} are undetermined. Give their formulas first.")
        names = [q.name for q in (*system.parameters, *system.states)]
        for name in unknown:
            if name not in names:
                raise IdentificationError(unknown_name("parameter or initial state", name, names))
        known = [q.name for q in system.states]
        for name in outputs:
            if name not in known and name not in system.quantities:
                raise IdentificationError(unknown_name("quantity", name, [*known, *system.quantities]))
        return Variation(model, system, tuple(unknown), tuple(outputs))

    @property
    def _rhs(self) -> Program:
        assert isinstance(self.system.rhs, Program)
        return self.system.rhs

    @cached_property
    def states(self) -> tuple[Expr, ...]:
        return self._rhs.input("y").nodes

    @cached_property
    def parameters(self) -> tuple[Expr, ...]:
        return tuple(node for group in self._rhs.inputs if group.name == "p" for node in group.nodes)

    @cached_property
    def formulas(self) -> list[Expr]:
        """The outputs as expressions of state and parameters."""
        known = {q.name: x for q, x in zip(self.system.states, self.states, strict=True)}
        return [known[name] if name in known else self.system.quantities[name][1] for name in self.outputs]

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of the outputs."""
        known = {q.name: q.unit for q in self.system.states}
        return tuple(known[n] if n in known else self.system.quantities[n][0].unit for n in self.outputs)

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

    def outputs_with_derivatives(
        self, times: Array, parameters: dict[str, float], initial: dict[str, float], rtol: float
    ) -> tuple[Array, Array]:
        """z (samples, outputs) and dz/dp (samples, outputs, unknowns) by the direct method."""
        named = self._named
        found = sensitivity(
            self.model, list(self.outputs), named, until=float(times[-1]), start=float(times[0]), samples=times,
            method="direct", values=parameters, initial=initial, rtol=rtol,
        )  # fmt: skip
        order = [found.column(name) for name in named]
        z = np.column_stack([found[name].values for name in self.outputs])
        return z, np.stack([found[name].slopes[:, order] for name in self.outputs], axis=1)

    def _parameter_vector(self, parameters: dict[str, float]) -> Array:
        return np.array([parameters.get(q.name, value) for q, value in
                         zip(self.system.parameters, self.system.values, strict=True)])  # fmt: skip

    def cost_gradient(
        self, times: Array, recorded: Array, weights: Array, parameters: dict[str, float], initial: dict[str, float],
        rtol: float,
    ) -> tuple[float, Array, Array]:  # fmt: skip
        """½ Σ |w (z - recorded)|², its gradient by the adjoint method, and the outputs z."""
        motion = sampled_motion(self.model, self._named, times, parameters, initial, rtol)
        p, outputs = self._parameter_vector(parameters), np.zeros_like(recorded)

        def observed(k: int, state: Array) -> tuple[Array, Array]:
            outputs[k], by_state, by_unknown = self.observed(float(times[k]), state, p)
            pull = weights**2 * (outputs[k] - recorded[k])
            return by_state.T @ pull, by_unknown.T @ pull

        gradient = motion.gradient(observed)
        residual = weights * (outputs - recorded)
        return 0.5 * float(np.sum(residual**2)), gradient, outputs

    @property
    def _named(self) -> list[str]:
        """The unknowns as studies of sensitivity name them."""
        states = {q.name for q in self.system.states}
        return [f"{name}(0)" if name in states else name for name in self.unknown]
