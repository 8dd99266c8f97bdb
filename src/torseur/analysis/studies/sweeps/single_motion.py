"""One motion of a study by itself: mechanisms with constraints, stiff motions, and what failing ones have to say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion, read_criterion
from torseur.analysis.sensitivity.criteria_derivatives import by_direct
from torseur.analysis.sensitivity.extended_loop import Course
from torseur.analysis.sensitivity.method_choice import Choice
from torseur.analysis.sensitivity.model.preparation import Prepared, prepare
from torseur.analysis.sensitivity.sensitivity_study import Study
from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.computation.simulation import Output, Quantity, System, simulate

INITIAL = "(0)"


def named_values(study: SweepStudy, point: Vector) -> tuple[dict[str, float], dict[str, float]]:
    """Values of parameters and initial values by name, at a point of all axes."""
    values, initial = dict(study.values), dict(study.initial)
    for axis, number in zip(study.all_axes, point.tolist(), strict=True):
        if axis.name.endswith(INITIAL):
            initial[axis.name.removesuffix(INITIAL)] = number
        else:
            values[axis.name] = number
    return values, initial


class SingleMotion:
    """Criteria with their derivatives, and outputs, of one motion."""

    def __init__(self, study: SweepStudy) -> None:
        self.study = study

    def __call__(self, point: Vector) -> tuple[Vector, Vector]:
        """The columns and the outputs at a point."""
        ready = self._ready(point)
        criteria = [read_criterion(criterion, ready.system) for criterion in self.study.criteria]
        outputs = [read_criterion(output, ready.system) for output in self.study.outputs]
        plain = all(criterion.kind in ("value", "integral") for criterion in criteria)
        if plain and not ready.varied and ready.system.constrained is None:
            return self._simulate(ready.system, criteria, outputs)
        return self._differentiate(ready, criteria, outputs)

    def _ready(self, point: Vector) -> Prepared:
        values, initial = named_values(self.study, point)
        asked = [*self.study.differentiate_by] or [self.study.all_axes[0].name]
        ready = prepare(self.study.model, asked, values, initial, {}, 0.0)
        return ready if self.study.differentiate_by else replace(ready, varied=())

    @property
    def _times(self) -> Vector:
        """The samples, and the end behind them."""
        samples, until = self.study.samples, self.study.until
        return np.array(samples if samples and samples[-1] == until else [*samples, until])

    def _differentiate(
        self, ready: Prepared, criteria: list[ReadCriterion], outputs: list[ReadCriterion]
    ) -> tuple[Vector, Vector]:
        """By the loop that carries tangents and finds events."""
        study = self.study
        course = Course(0.0, study.until, self._times, **vars(study.integration))
        responses = by_direct(Study(ready, (*criteria, *outputs), course), Choice("direct", "")).responses
        values = np.array([float(response.values[-1]) for response in responses[: len(criteria)]])
        derivatives = np.array([np.asarray(response.derivatives)[-1] for response in responses[: len(criteria)]])
        kept = [response.values[: len(study.samples)] for response in responses[len(criteria) :]]
        return np.concatenate([values, derivatives.ravel()]), np.array(kept).reshape(len(outputs), len(study.samples))

    def _simulate(
        self, system: System, criteria: list[ReadCriterion], outputs: list[ReadCriterion]
    ) -> tuple[Vector, Vector]:
        """By an ordinary simulation, which goes on implicitly where the system is stiff."""
        study = self.study
        integrals = [criterion for criterion in criteria if criterion.kind == "integral"]
        longer = _with_integrals(system, integrals)
        formulas = [c for c in (*criteria, *outputs) if c.kind == "value"]
        wanted = [Output(f"kept {k}", c.formula) for k, c in enumerate(formulas)]
        settings = study.integration
        motion = simulate(
            longer, study.until, samples=self._times, outputs=wanted, rtol=settings.rtol,
            atol=dict(settings.atol) if isinstance(settings.atol, dict) else settings.atol, max_step=settings.max_step,
            method=settings.integrator,
        )  # fmt: skip
        columns = {id(c): motion[f"kept {k}"] for k, c in enumerate(formulas)}
        columns |= {id(c): motion[_name(k)] for k, c in enumerate(integrals)}
        values = np.array([float(columns[id(c)][-1]) for c in criteria])
        kept = [columns[id(c)][: len(study.samples)] for c in outputs]
        return values, np.array(kept).reshape(len(outputs), len(study.samples))


def _name(k: int) -> str:
    return f"integral {k}"


def _with_integrals(system: System, integrals: list[ReadCriterion]) -> System:
    """The system with a state for each integral."""
    rhs = system.rhs
    assert isinstance(rhs, Program)
    if not integrals:
        return replace(system, resolve=None)
    # An integral criterion is one more state, whose rate is the formula: the integrator controls its error as well.
    sums = tuple(symbol(_name(k)) for k in range(len(integrals)))
    rates = [*rhs.outputs[0].entries, *(criterion.formula for criterion in integrals)]
    project = system.project
    if project is not None:
        project = Program("project", _longer(project, sums), (vector("out", [*project.outputs[0].entries, *sums]),))
    return replace(
        system,
        states=(*system.states, *(Quantity(_name(k), c.unit) for k, c in enumerate(integrals))),
        initial=(*system.initial, *[0.0] * len(integrals)),
        rhs=Program("rhs", _longer(rhs, sums), (vector("dy", rates),)),
        project=project,
        programs=None,
        scales=None if system.scales is None else (*system.scales, *[1.0] * len(integrals)),
        resolve=None,
        explain=None if system.explain is None else partial(_explain, system.explain, len(system.states)),
    )


def _explain(explain: Callable[[float, Vector], str | None], states: int, t: float, y: Vector) -> str | None:
    return explain(t, y[:states])


def _longer(program: Program, states: tuple[object, ...]) -> tuple[Input, ...]:
    """The inputs of a program with more states."""
    return tuple(Input("y", (*g.nodes, *states)) if g.name == "y" else g for g in program.inputs)  # type: ignore[arg-type]
