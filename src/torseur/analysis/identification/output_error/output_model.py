"""Motions with the derivatives of what was recorded along them.

direct   the derivatives dz/dp of every sample, by the direct method of `torseur.analysis.sensitivity`
adjoint  the gradient of the whole cost by one way back through the motion, whatever the number of parameters
Both cover loops and rolling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.graph import Expr, Input, Program, dense_jacobian, matrix, vector
from torseur.analysis.sensitivity.adjoint.backward_routines import repeat_steps
from torseur.analysis.sensitivity.adjoint.discrete_adjoint import Backward
from torseur.analysis.sensitivity.adjoint.step_recording import record
from torseur.analysis.sensitivity.direct.direct_method import require_done
from torseur.analysis.sensitivity.extended_loop import Course, integrator_of_course, routine_of
from torseur.analysis.sensitivity.model.preparation import prepare
from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity
from torseur.analysis.sensitivity.sensitivity_study import Study
from torseur.computation.codegen import Kernel, compile_program
from torseur.computation.codegen.kernels.compiled_routine import CompiledRoutine
from torseur.computation.simulation.loop import memory
from torseur.computation.simulation.model.first_order_form import Model, as_system
from torseur.computation.simulation.model.system import System
from torseur.description.mechanism import TIME, require_continuous
from torseur.errors import IdentificationError, UnsupportedError, unknown_name

SampleAdjoints = Callable[[int, Array], tuple[Array, Array]]
"""From a sample's number and state to adjoints of the state and of the unknowns there."""


@dataclass(frozen=True, eq=False)
class SampledMotion:
    """A motion in parts from sample to sample, each kept so that the discrete adjoint can go back through it.

    Back through the steps of each part, the adjoints λ of the state at a sample become adjoints of the state at the
    sample before, where h_yᵀ r is added for outputs h with weighted residual r. Loops are as in
    `torseur.analysis.sensitivity`: through the accelerations solved at each stage, and the states brought back on their
    constraints.
    """

    study: Study
    parts: tuple[Backward, ...]

    @property
    def states(self) -> Array:
        """The state at every sample."""
        ends = [part.recording.end for part in self.parts]
        return np.array([self.study.variation.initial, *ends])

    def gradient(self, observed: SampleAdjoints) -> Array:
        """Gradient of the cost by the unknowns, from the adjoints that samples give their states and the unknowns."""
        states = self.states
        # From the last sample backward: λ ← (∂y_k+1/∂y_k)ᵀ λ + h_yᵀ r_k.
        adjoints, gradient = observed(len(states) - 1, states[-1])
        for k in range(len(self.parts) - 1, -1, -1):
            back, along = self.parts[k].back(adjoints[None, :], gradient[None, :])
            own, direct = observed(k, states[k])
            adjoints, gradient = back[0] + own, along[0] + direct
        return gradient + adjoints @ self.study.variation.initial_tangents


def sampled_motion(
    model: Model,
    unknown: Sequence[str],
    times: Array,
    parameters: Mapping[str, float],
    initial: Mapping[str, float],
    rtol: float,
) -> SampledMotion:
    """The motion of a model through the samples; `unknown` names parameters ("m1") and initial values ("q1(0)")."""
    ready = prepare(model, list(unknown), parameters, initial, {}, float(times[0]))
    study = Study(ready, (), Course(float(times[0]), float(times[-1]), np.empty(0), rtol))
    if len(study.discontinuities):
        raise UnsupportedError(
            f"{ready.system.name}: loads, contacts or friction switch along the motion, and the adjoint of a sampled "
            'cost does not go back through that. The method "gauss_newton" follows it.'
        )
    routines, variation, course = study.routines, study.variation, study.course
    problem = course.problem(variation, False, np.empty(0), memory.KEEP_STAGES)
    loop = integrator_of_course(routines, variation.size, routines.statics, routines.forward, course)
    repeat = partial(routine_of, repeat_steps, variation.size, routines.statics, routines.backward, course.backend)
    parts: list[Backward] = []
    ways_back: dict[tuple[int, str], CompiledRoutine] = {}
    state = variation.initial
    for start, until in zip(times[:-1].tolist(), times[1:].tolist(), strict=True):
        # Part by part, because the cost adds adjoints at each sample: steps must end there.
        here = replace(problem, initial=state, start=start, until=until, max_step=until - start)
        recording = record(loop, repeat, here, course.most_bytes)
        require_done(recording.run, here, variation.system)
        parts.append(Backward(routines, replace(course, start=start, until=until), recording, ways_back))
        state = recording.end
    return SampledMotion(study, tuple(parts))


@dataclass(frozen=True)
class OutputModel:
    """A system with the symbols of its state and parameters, the unknown ones, and the outputs that were recorded."""

    model: Model
    system: System
    unknown: tuple[str, ...]
    outputs: tuple[str, ...]

    @staticmethod
    def of(model: Model, unknown: Sequence[str], outputs: Sequence[str]) -> OutputModel:
        system = as_system(model)
        if system.programs is not None:
            require_continuous(system.programs.equations.mechanism, "a fit of recorded motions")
        if system.laws:
            laws = ", ".join(f"'{law.name}'" for law in system.laws)
            raise UnsupportedError(f"{system.name}: the force laws {laws} are undetermined. Give their formulas first.")
        names = [q.name for q in (*system.parameters, *system.states)]
        for name in unknown:
            if name not in names:
                raise IdentificationError(unknown_name("parameter or initial state", name, names))
        known = [q.name for q in system.states]
        for name in outputs:
            if name not in known and name not in system.quantities:
                raise IdentificationError(unknown_name("quantity", name, [*known, *system.quantities]))
        return OutputModel(model, system, tuple(unknown), tuple(outputs))

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

    def observe(self, t: float, y: Array, p: Array) -> tuple[Array, Array, Array]:
        """Outputs, their derivatives by the state, and by the unknowns (zero for initial states)."""
        given = {"p": p} if self.parameters else {}
        results = self._kernel(t=np.array([t]), y=np.ascontiguousarray(y), **given)
        direct = np.zeros((len(self.formulas), len(self.unknown)))
        slots = [k for k, s in enumerate(self._unknown_symbols) if s is not None]
        if slots:
            direct[:, slots] = results["by_unknown"]
        return results["z"], results["by_state"], direct

    def outputs_with_derivatives(
        self, times: Array, parameters: dict[str, float], initial: dict[str, float], rtol: float
    ) -> tuple[Array, Array]:
        """z (samples, outputs) and dz/dp (samples, outputs, unknowns) by the direct method."""
        named = self._study_names
        sensitivities = sensitivity(
            self.model, list(self.outputs), named, until=float(times[-1]), start=float(times[0]), samples=times,
            method="direct", values=parameters, initial=initial, rtol=rtol, verify=False,
        )  # fmt: skip
        order = [sensitivities.column(name) for name in named]
        z = np.column_stack([sensitivities[name].values for name in self.outputs])
        return z, np.stack([sensitivities[name].derivatives[:, order] for name in self.outputs], axis=1)

    def _parameter_vector(self, parameters: dict[str, float]) -> Array:
        return np.array([parameters.get(q.name, value) for q, value in
                         zip(self.system.parameters, self.system.values, strict=True)])  # fmt: skip

    def cost_gradient(
        self, times: Array, recorded: Array, weights: Array, parameters: dict[str, float], initial: dict[str, float],
        rtol: float,
    ) -> tuple[float, Array, Array]:  # fmt: skip
        """½ Σ |w (z - recorded)|², its gradient by the adjoint method, and the outputs z."""
        motion = sampled_motion(self.model, self._study_names, times, parameters, initial, rtol)
        p, outputs = self._parameter_vector(parameters), np.zeros_like(recorded)

        def observe(k: int, state: Array) -> tuple[Array, Array]:
            outputs[k], by_state, by_unknown = self.observe(float(times[k]), state, p)
            # ∂/∂z of ½ |w (z - recorded)|², carried to the state and the unknowns by the chain rule.
            pull = weights**2 * (outputs[k] - recorded[k])
            return by_state.T @ pull, by_unknown.T @ pull

        gradient = motion.gradient(observe)
        residual = weights * (outputs - recorded)
        return 0.5 * float(np.sum(residual**2)), gradient, outputs

    @property
    def _study_names(self) -> list[str]:
        """The unknowns as studies of sensitivity name them."""
        states = {q.name for q in self.system.states}
        return [f"{name}(0)" if name in states else name for name in self.unknown]
