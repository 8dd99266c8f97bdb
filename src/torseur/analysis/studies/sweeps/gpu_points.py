"""Points of a study on a GPU, a thread each: all kinds of criteria with derivatives, outputs at even times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion
from torseur.analysis.studies.batch import BatchResults, Starts
from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.problem import SMALLEST_ATOL, longest_step
from torseur.computation.simulation.rollouts.rollouts import Judged, Rollouts
from torseur.derivation.equations import Equations
from torseur.errors import UnsupportedError

ADAPTIVE = "dopri5"
SAMPLE = 256  # points whose tolerances are looked at
WHOLE = 1e-9  # part of a step by which the end may miss a whole number of steps


@dataclass(frozen=True, eq=False)
class DeviceMotions:
    """Motions of a study through `Rollouts`."""

    study: SweepStudy
    starts: Starts
    criteria: tuple[ReadCriterion, ...]
    outputs: tuple[ReadCriterion, ...]

    def __post_init__(self) -> None:
        study, variation = self.study, self.starts.variation
        if not isinstance(study.model, Equations):
            raise UnsupportedError(
                f"'{study.path}': {study.name} is a system of the library, and backend 'cuda' needs a mechanism. "
                "Use backend 'cpu'."
            )
        if study.integration.integrator != "auto":
            raise UnsupportedError(
                f"'{study.path}': integrator: backend 'cuda' does not have {study.integration.integrator}. Leave it "
                "out and say [gpu] method, or use backend 'cpu'."
            )
        constrained = variation.system.constrained
        if constrained is not None and constrained.numbers is not None and constrained.numbers.play is not None:
            raise UnsupportedError(
                f"'{study.path}': the loops of {study.name} are shaky and move with a play, which backend 'cuda' does "
                "not keep. Use backend 'cpu'."
            )
        for name in study.differentiate_by:
            if name not in self._differentiable:
                raise UnsupportedError(
                    f"'{study.path}': derivatives: backend 'cuda' takes parameters and initial values one by one, not "
                    f"'{name}'. Use backend 'cpu', or declare a parameter for it."
                )
        _ = self.steps

    @property
    def _differentiable(self) -> set[str]:
        system = self.starts.variation.system
        return {q.name for q in system.parameters} | {f"{q.name}(0)" for q in system.states}

    def __call__(self, points: Vector) -> BatchResults:
        """Criteria, derivatives and outputs of points."""
        starting = points[:1] if self.starts.are_the_same else points
        given = self.starts.parameters(starting)
        rows = self.starts.states(starting, given)
        parameters, count = self._parameters(points), self.starts.variation.system.coordinates
        states = np.ascontiguousarray(rows.T)
        step, steps, every = self.steps
        integration, until = self.study.integration, self.study.until
        rollouts = self._rollouts(
            states[:count], states[count:], step=step, steps=steps, every=every, parameters=parameters,
            changes=self._tangents(starting, given, rows), rtol=integration.rtol, atol=self._tolerances(rows),
            max_step=longest_step(integration.max_step, 0.0, until),
        )  # fmt: skip
        nothing = np.empty((1 + len(self.study.differentiate_by), 0, len(points)))
        return self._arrange(rollouts if self.criteria else Judged(rollouts, nothing), states, parameters)

    def _parameters(self, points: Vector) -> dict[str, Any]:
        """Values by name, an array for what varies."""
        system = self.starts.variation.system
        varied = {axis.name: points[:, k] for k, axis in enumerate(self.study.all_axes)}
        named = zip(system.parameters, system.values, strict=True)
        return {quantity.name: varied.get(quantity.name, value) for quantity, value in named}

    def why(self, point: Vector, values: Vector) -> str:
        """Why a motion has no results, from those that it has."""
        if self.starts.variation.system.constrained is not None:
            problem = self.starts.problem(point)
            if problem:
                return problem
        is_missing = np.isnan(values)
        missed = [criterion for criterion, missing in zip(self.criteria, is_missing, strict=True) if missing]
        if missed and all(criterion.when is not None for criterion in missed):
            labels = ", ".join(criterion.label for criterion in missed)
            return f"the event of {labels} did not happen until t = {self.study.until:g} s, or not often enough."
        return "the motion on the GPU has no finite end. Backend 'cpu' may say more."

    def _tolerances(self, rows: Vector) -> list[float]:
        """Absolute tolerances of states and integrals, the finest that some of the points would have by themselves."""
        # One tolerance for all threads: the finest of a sample of the points.
        some = rows[:: max(1, len(rows) // SAMPLE)]
        finite = some[np.isfinite(some).all(axis=1)]
        own = self.starts.tolerances(finite if len(finite) else np.zeros((1, rows.shape[1]))).min(axis=0)
        count = sum(criterion.kind == "integral" for criterion in self.criteria)
        integrals = [self.study.integration.rtol * self.study.until] * count
        return np.maximum([*own.tolist(), *integrals], SMALLEST_ATOL).tolist()

    def _tangents(self, points: Vector, given: Vector, rows: Vector) -> Vector | None:
        """Tangents of the start states by parameters: (parameter, state, point)."""
        columns = self.starts.variation.columns
        if not columns:
            return None
        flat = self.starts.tangents(points, given, rows)
        return flat.reshape(len(points), -1, columns)[:, : rows.shape[1]].transpose(2, 1, 0)

    def _arrange(self, rollouts: Judged, states: Vector, parameters: dict[str, Any]) -> BatchResults:
        """What an evaluator wants of criteria (value or derivative, criterion, point) and of records likewise."""
        judged = np.asarray(rollouts.criteria, dtype=float)
        judged = judged if judged.ndim == 3 else judged[None]
        values, derivatives = judged[0].T, judged[1:].transpose(2, 1, 0)
        kept = np.empty((len(values), 0, 0))
        if self.outputs:
            records = np.asarray(rollouts.records, dtype=float)
            later = (records[:, 0] if self.study.differentiate_by else records).transpose(2, 1, 0)
            kept = np.concatenate([self._at_start(states, parameters, len(values))[:, :, None], later], axis=2)
            kept = kept[:, :, : len(self.study.samples)]
        is_good = (
            np.isfinite(values).all(axis=1)
            & np.isfinite(derivatives).all(axis=(1, 2))
            & np.isfinite(kept).all(axis=(1, 2))
        )
        return BatchResults(values, derivatives, kept, is_good)

    def _at_start(self, states: Vector, parameters: dict[str, Any], count: int) -> Vector:
        """The outputs where motions start, as formulas of many points at once."""
        from torseur.algebra.graph import evaluate
        from torseur.description.mechanism import TIME

        rhs = self.starts.variation.rhs
        bound = dict(zip(self.starts.variation.states, states, strict=True)) | {TIME: 0.0}
        bound |= dict(zip(rhs.input("p").nodes, parameters.values(), strict=True))
        formulas = self._rollouts.programs.without_unknowns([output.formula for output in self.outputs])
        columns = evaluate(formulas, bound)
        return np.column_stack([np.broadcast_to(value, count) for value in columns])

    @cached_property
    def _rollouts(self) -> Rollouts:
        device, study = self.study.device, self.study
        assert isinstance(study.model, Equations)
        return Rollouts(
            study.model, device.method, device.precision, outputs=[output.formula for output in self.outputs],
            sensitivities=study.differentiate_by, criteria=[_with_formulas(criterion) for criterion in self.criteria],
        )  # fmt: skip

    @cached_property
    def steps(self) -> tuple[float, int, int]:
        """Length and number of steps, and how many lie between samples (0 where only the end is kept)."""
        study, parts = self.study, max(len(self.study.samples) - 1, 1)
        even = np.linspace(0.0, study.until, parts + 1)
        if study.outputs and not np.allclose(study.samples, even, rtol=0.0, atol=WHOLE * study.until):
            raise UnsupportedError(
                f"'{study.path}': samples: backend 'cuda' keeps outputs at even times from 0 to the end."
            )
        if study.device.method == ADAPTIVE:
            return study.until / parts, parts, int(bool(study.outputs))
        if not study.device.step > 0.0:
            raise UnsupportedError(
                f"'{study.path}': gpu: give the length of a step, step = '1 ms', or method = '{ADAPTIVE}'."
            )
        steps = round(study.until / study.device.step)
        if steps < 1 or abs(steps * study.device.step - study.until) > WHOLE * study.until or steps % parts:
            raise UnsupportedError(
                f"'{study.path}': gpu.step: {study.device.step:g} s does not divide the time between samples, "
                f"{study.until / parts:g} s, into whole steps."
            )
        return study.device.step, steps, steps // parts if study.outputs else 0


def _with_formulas(read: ReadCriterion) -> Criterion:
    """The criterion with expressions in place of names."""
    return replace(read.criterion, formula=read.formula, when="" if read.when is None else read.when)
