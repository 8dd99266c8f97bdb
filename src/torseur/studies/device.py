"""Points of a study on a GPU, a thread for each motion: values at the end, with slopes, and outputs at even times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.equations import Equations
from torseur.errors import UnsupportedError
from torseur.sensitivity.criteria import ReadCriterion
from torseur.simulation.rollouts import Rollouts
from torseur.studies.axes import Vector
from torseur.studies.batch import Found, Starts
from torseur.studies.study import SweepStudy

ADAPTIVE = "dopri5"
WHOLE = 1e-9  # part of a step by which the end may miss a whole number of steps
ATOL = 1e-8


@dataclass(frozen=True, eq=False)
class DeviceMotions:
    """Motions of a study through `Rollouts`; `make` makes these, which tests replace by an emulation."""

    study: SweepStudy
    starts: Starts
    criteria: tuple[ReadCriterion, ...]
    outputs: tuple[ReadCriterion, ...]
    make: Callable[..., Any] = Rollouts

    def __post_init__(self) -> None:
        study, system = self.study, self.starts.variation.system
        if not isinstance(study.model, Equations):
            raise UnsupportedError(
                f"'{study.path}': {study.name} is a system of the library, and backend 'cuda' needs a mechanism."
            )
        if system.constrained is not None:
            raise UnsupportedError(
                f"'{study.path}': {study.name} has closed loops, assembled on the CPU. Use backend 'cpu'."
            )
        for criterion in self.criteria:
            if criterion.kind != "value":
                raise UnsupportedError(
                    f"'{study.path}': criteria.{criterion.label}: backend 'cuda' knows values at the end, not the "
                    f"{criterion.kind} of a formula. Use backend 'cpu'."
                )
        if study.slopes and self.starts.depends_on_parameters:
            raise UnsupportedError(
                f"'{study.path}': slopes: initial values follow from parameters, which backend 'cuda' does not "
                "differentiate. Use backend 'cpu'."
            )
        _ = self.steps

    def __call__(self, points: Vector) -> Found:
        """Criteria, slopes and outputs of points."""
        given = self.starts.parameters(points)
        states = self.starts.states(points, given).T
        coordinates = self.starts.variation.system.coordinates
        names = [quantity.name for quantity in self.starts.variation.system.parameters]
        varied = {axis.name for axis in self.study.all_axes}
        parameters = {n: given[:, k] if n in varied else float(given[0, k]) for k, n in enumerate(names)}
        step, steps, every = self.steps
        found = self._rollouts(
            np.ascontiguousarray(states[:coordinates]), np.ascontiguousarray(states[coordinates:]), step=step,
            steps=steps, every=every, parameters=parameters, rtol=self.study.integration.rtol, atol=self._atol,
        )  # fmt: skip
        records = found if self.study.slopes else found[:, None]
        return self._sorted(np.asarray(records, dtype=float), states, parameters)

    def _sorted(self, records: Vector, states: Vector, parameters: dict[str, Any]) -> Found:
        """From (record, value or slope, output, point) to what an evaluator wants; the first sample is the start."""
        count, last = len(self.criteria), records[-1]
        values, slopes = last[0, :count].T, last[1:, :count].transpose(2, 1, 0)
        kept = records[:, 0, count:].transpose(2, 1, 0)
        if self.outputs:
            kept = np.concatenate([self._at_start(states, parameters)[:, :, None], kept], axis=2)
        is_good = (
            np.isfinite(values).all(axis=1) & np.isfinite(slopes).all(axis=(1, 2)) & np.isfinite(kept).all(axis=(1, 2))
        )
        return Found(values, slopes, kept[:, :, : len(self.study.samples)], is_good)

    def _at_start(self, states: Vector, parameters: dict[str, Any]) -> Vector:
        """The outputs where motions start, as formulas of many points at once."""
        from torseur.graph import evaluate
        from torseur.mechanism import TIME

        rhs = self.starts.variation.rhs
        bound = dict(zip(self.starts.variation.states, states, strict=True)) | {TIME: 0.0}
        bound |= dict(zip(rhs.input("p").nodes, parameters.values(), strict=True))
        found = evaluate([output.formula for output in self.outputs], bound)
        return np.column_stack([np.broadcast_to(value, states.shape[1]) for value in found])

    @cached_property
    def _rollouts(self) -> Any:
        device = self.study.device
        formulas = [criterion.formula for criterion in (*self.criteria, *self.outputs)]
        return self.make(
            self.study.model, device.method, device.precision, outputs=formulas, sensitivities=self.study.slopes
        )

    @property
    def _atol(self) -> float:
        atol = self.study.integration.atol
        return atol if isinstance(atol, float) else ATOL

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
