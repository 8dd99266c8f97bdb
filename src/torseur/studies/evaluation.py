"""Criteria of one motion after another: compiled once, then only numbers change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from torseur.codegen import compile_program
from torseur.equations import motion_values
from torseur.errors import TorseurError
from torseur.graph import Input, Program, symbol, symbols_of, vector
from torseur.sensitivity.by_direct import by_direct
from torseur.sensitivity.choice import Choice
from torseur.sensitivity.course import Course
from torseur.sensitivity.criteria import ReadCriterion, read_criterion
from torseur.sensitivity.preparation import prepare
from torseur.sensitivity.study import Study
from torseur.simulation import Quantity, System, memory
from torseur.simulation.binding import Binding
from torseur.simulation.failure import failure_message
from torseur.simulation.from_equations import as_system
from torseur.simulation.initial import initial_state
from torseur.simulation.integrator import Integrator
from torseur.simulation.problem import Problem, absolute_tolerance, checked_rtol, longest_step
from torseur.studies.axes import Vector
from torseur.studies.study import SweepStudy

MOST_STEPS = 1_000_000


@dataclass(frozen=True)
class Evaluated:
    """Criteria of some points, a row each, nan where a motion failed, and what the failures said by row."""

    values: Vector
    failures: dict[int, str]


class Evaluator:
    """Motions of one study. Trees with criteria at the end of the motion run wholly in compiled code."""

    def __init__(self, study: SweepStudy) -> None:
        self.study = study
        self.system = as_system(study.equations, study.values, study.initial)
        self.criteria = [read_criterion(criterion, self.system) for criterion in study.criteria]

    def __call__(self, points: Vector) -> Evaluated:
        """The criteria at points, one row of the axes' values each."""
        values, failures = np.full((len(points), len(self.criteria)), np.nan), {}
        compute = self._compiled if self._is_plain else self._in_general
        for row, point in enumerate(points):
            try:
                values[row] = compute(point)
            except TorseurError as problem:
                failures[row] = str(problem)
        return Evaluated(values, failures)

    @property
    def units(self) -> list[str]:
        return [criterion.unit for criterion in self.criteria]

    @cached_property
    def _is_plain(self) -> bool:
        own = [value for _, value in self.study.mechanism.initial]
        return (
            self.system.constrained is None
            and not self.system.laws
            and isinstance(self.system.rhs, Program)
            and all(criterion.kind in ("value", "integral") for criterion in self.criteria)
            and not symbols_of(own)
        )

    def _in_general(self, point: Vector) -> list[float]:
        """Any mechanism and any criterion."""
        values, initial = self._named(point)
        study = self.study
        ready = prepare(study.equations, [study.axes[0].name], values, initial, {}, 0.0)
        still = replace(ready, varied=())
        criteria = tuple(read_criterion(criterion, still.system) for criterion in study.criteria)
        course = Course(0.0, study.until, np.array([study.until]), study.rtol)
        found = by_direct(Study(still, criteria, course), Choice("direct", ""))
        return [float(response.values[-1]) for response in found.responses]

    def _named(self, point: Vector) -> tuple[dict[str, float], dict[str, float]]:
        """Values of parameters and initial values by name."""
        values, initial = dict(self.study.values), dict(self.study.initial)
        for axis, number in zip(self.study.axes, point.tolist(), strict=True):
            if axis.name.endswith("(0)"):
                initial[axis.name.removesuffix("(0)")] = number
            else:
                values[axis.name] = number
        return values, initial

    def _compiled(self, point: Vector) -> list[float]:
        plain = self._plain
        y, p = plain.start(point)
        problem = replace(plain.problem, initial=y, parameters=p, atol=plain.tolerance(y))
        run = plain.integrator.run(problem)
        if run.answer not in (memory.DONE, memory.STOPPED):
            raise run.error or TorseurError(failure_message(run, problem, plain.system))
        return plain.criteria_at(run.y, p)

    @cached_property
    def _plain(self) -> _Plain:
        return _Plain(self.study, self.system, self.criteria)


class _Plain:
    """A tree whose criteria are values and integrals at the end: integrals are further states."""

    def __init__(self, study: SweepStudy, system: System, criteria: list[ReadCriterion]) -> None:
        self.study, self.bare, self.criteria = study, system, criteria
        self.integrals = [criterion for criterion in criteria if criterion.kind == "integral"]
        self.system = _with_integrals(system, self.integrals)
        self.integrator: Integrator = Binding(self.system, None).integrator_for("auto", study.rtol, (), "auto")
        names = [q.name for q in system.parameters]
        self.parameter_slots = [(k, names.index(a.name)) for k, a in enumerate(study.axes) if a.name in names]
        self.moved_starts = [axis.name for axis in study.axes if axis.name.endswith("(0)")]
        self.values = [criterion for criterion in criteria if criterion.kind == "value"]
        self.problem = self._problem()

    def _problem(self) -> Problem:
        study, y = self.study, np.array(self.system.initial)
        return Problem(
            initial=y, parameters=np.array(self.system.values), start=0.0, until=study.until,
            rtol=checked_rtol(study.rtol), atol=absolute_tolerance(None, study.rtol, self.system, y),
            times=np.empty(0), keep=memory.KEEP_NOTHING, max_steps=MOST_STEPS,
            max_step=longest_step(None, 0.0, study.until),
        )  # fmt: skip

    def start(self, point: Vector) -> tuple[Vector, Vector]:
        """Initial state and parameters of a point."""
        p = self.problem.parameters.copy()
        for column, slot in self.parameter_slots:
            p[slot] = point[column]
        if not self.moved_starts:
            return self.problem.initial.copy(), p
        initial = dict(self.study.initial)
        for axis, number in zip(self.study.axes, point.tolist(), strict=True):
            if axis.name.endswith("(0)"):
                initial[axis.name.removesuffix("(0)")] = number
        equations = self.study.equations
        values = motion_values(equations, self.study.values)
        state = initial_state(equations, values, initial)
        return np.array([*state, *[0.0] * len(self.integrals)]), p

    def tolerance(self, y: Vector) -> Vector:
        if not self.moved_starts:
            return self.problem.atol
        return absolute_tolerance(None, self.study.rtol, self.system, y)

    def criteria_at(self, y: Vector, p: Vector) -> list[float]:
        states = len(self.bare.states)
        found = iter(self._observe(y[:states], p))
        sums = iter(y[states:].tolist())
        return [next(sums) if criterion.kind == "integral" else next(found) for criterion in self.criteria]

    def _observe(self, y: Vector, p: Vector) -> list[float]:
        if not self.values:
            return []
        given: dict[str, Any] = {"t": [self.study.until], "y": y, "p": p}
        kernel = self._kernel
        found = kernel(*[given[group.name] for group in kernel.program.inputs])["values"]
        return [float(value) for value in found]

    @cached_property
    def _kernel(self) -> Any:
        rhs = self.bare.rhs
        assert isinstance(rhs, Program)
        entries = [criterion.formula for criterion in self.values]
        return compile_program(Program("values", rhs.inputs, (vector("values", entries),)))


def _with_integrals(system: System, integrals: list[ReadCriterion]) -> System:
    """The system with a state for each integral."""
    if not integrals:
        return system
    rhs = system.rhs
    assert isinstance(rhs, Program)
    sums = tuple(symbol(f"integral {k}") for k in range(len(integrals)))
    inputs = tuple(Input("y", (*g.nodes, *sums)) if g.name == "y" else g for g in rhs.inputs)
    slopes = [*rhs.outputs[0].entries, *(criterion.formula for criterion in integrals)]
    project = system.project
    if project is not None:
        settled = [*project.outputs[0].entries, *sums]
        kept = tuple(Input("y", (*g.nodes, *sums)) if g.name == "y" else g for g in project.inputs)
        project = Program("project", kept, (vector("out", settled),))
    return replace(
        system,
        states=(*system.states, *(Quantity(criterion.label, criterion.unit) for criterion in integrals)),
        initial=(*system.initial, *[0.0] * len(integrals)),
        rhs=Program("rhs", inputs, (vector("dy", slopes),)),
        project=project,
        scales=None if system.scales is None else (*system.scales, *[1.0] * len(integrals)),
    )
