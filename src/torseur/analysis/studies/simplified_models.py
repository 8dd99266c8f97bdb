"""Models of decreasing size of one mechanism, each with the error of its motion and of a criterion beside its bound."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from torseur.algebra.graph import Expr, live_nodes
from torseur.analysis.sensitivity.criteria.criteria import as_criteria, read_criterion
from torseur.computation.simulation.model.criterion import Criterion
from torseur.computation.simulation.model.first_order_form import as_system
from torseur.computation.simulation.model.outputs_and_events import Output
from torseur.computation.simulation.model.system import Vector
from torseur.computation.simulation.output.trajectory import Trajectory
from torseur.computation.simulation.simulate import simulate
from torseur.derivation.equations import Equations
from torseur.derivation.equations.simplification import Box, SimplifiedEquations, box_of, simplify
from torseur.derivation.equations.simplification.simplified_model import in_states, state_names
from torseur.derivation.formalisms import derive
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError

TOLERANCES = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
KINDS = ("value", "integral", "maximum", "minimum")
# What the complete equations are solved for: its formula would bring terms back that the model has not.
_SOLVED_FOR = re.compile(r"''|\.(?:angular_)?acceleration|\.(?:force|moment|torque)\b|\blambda\b|power")


@dataclass(frozen=True, eq=False)
class SimplifiedModel:
    """A simplification, how long it is, and how far its motion is from that of the complete equations.

    `bound` is the certified error of the equations, as a fraction of the largest term, the largest over the equations.
    `motion_error` is the largest difference of a coordinate along the motion over the size of its change, and
    `criterion_error` that of the criterion over its size; infinite where the motion ends early.
    """

    simplified: SimplifiedEquations
    tolerance: float
    terms: int
    operations: int
    bound: float
    motion_error: float
    criterion: float
    criterion_error: float
    seconds: float
    leaves_box: tuple[str, ...]
    refusal: str = ""

    @property
    def mechanism(self) -> Mechanism:
        """The model, to compute with."""
        return self.simplified.mechanism


@dataclass(frozen=True, eq=False)
class SimplifiedModels:
    """Models of one mechanism from the complete one on, in the order of their tolerances."""

    criterion: Criterion
    models: tuple[SimplifiedModel, ...]
    complete: float
    """The criterion by the complete equations, and `seconds` of their motion."""
    seconds: float

    def choose(self, allowed: float) -> SimplifiedModel:
        """The model with the fewest terms whose criterion is within an error allowed, a fraction of its size."""
        if not allowed >= 0:
            raise TorseurError(f"an allowed error of {allowed:g} is none: give a fraction, such as 0.01 for 1 %.")
        good = [model for model in self.models if model.criterion_error <= allowed]
        if not good:
            least = min(model.criterion_error for model in self.models)
            raise TorseurError(
                f"no model keeps '{self.criterion.label}' within {allowed:.3g} of its size: the best of these has "
                f"{least:.3g}. Take smaller tolerances, or a box that the motion does not leave."
            )
        return min(good, key=lambda model: (model.terms, len(model.simplified.held), model.tolerance))

    def table(self) -> str:
        """One line per model: tolerance, terms, operations, bound, errors, time."""
        head = (
            f"{'tolerance':>10} {'terms':>6} {'operations':>10} {'bound':>9} {'motion':>9} {'criterion':>9} {'time':>9}"
        )
        lines = [head]
        for m in self.models:
            errors = f"{m.bound:9.2%} {m.motion_error:9.2%} {m.criterion_error:9.2%} {m.seconds * 1e3:6.1f} ms"
            lines.append(f"{m.tolerance:10.3g} {m.terms:6d} {m.operations:10d} {errors}{_remark(m)}")
        return "\n".join(lines)


def _remark(model: SimplifiedModel) -> str:
    if model.refusal:
        return f"    (* {model.refusal} *)"
    return f"    (* leaves the box: {', '.join(model.leaves_box)} *)" if model.leaves_box else ""


def simplified_models(
    model: Mechanism | Equations,
    box: Mapping[str, tuple[float, float]] | Box,
    criterion: str | Criterion,
    *,
    until: float,
    tolerances: Sequence[float] = TOLERANCES,
    method: str = "interval",
    hold: bool = True,
    initial: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    samples: int = 501,
) -> SimplifiedModels:
    """Models of decreasing size, each simulated beside the complete equations; `choose` takes one by an error allowed.

    The criterion is a formula over the motion without accelerations and reactions: its value (the largest difference
    along the motion counts), integral, maximum or minimum. The box is that of `simplify`, its ranges by name or kind.
    """
    equations = model if isinstance(model, Equations) else derive(model)
    (wanted,) = as_criteria(criterion)
    if wanted.kind not in KINDS:
        raise UnsupportedError(
            f"criterion '{wanted.label}': models are compared by {', '.join(KINDS)}, not {wanted.kind}."
        )
    if isinstance(wanted.formula, str) and (solved := _SOLVED_FOR.search(wanted.formula)):
        raise UnsupportedError(
            f"criterion '{wanted.formula}': '{solved[0]}' is solved for by the complete equations; give a formula of "
            "positions and speeds."
        )
    ranges = box if isinstance(box, Box) else box_of(equations, box, parameters)
    formula = read_criterion(wanted, as_system(equations, parameters, initial)).formula
    course = _Course(parameters or {}, initial or {}, until, samples)
    study = _Study(wanted, formula, course, course.run(equations, {}, formula))
    simplifications = (simplify(equations, ranges, x, method=method, hold=hold) for x in sorted(tolerances))
    models = tuple(map(study.model, simplifications))
    return SimplifiedModels(wanted, models, _number(wanted, study.reference), study.reference.seconds)


@dataclass(frozen=True)
class _Course:
    """What every motion of the study has in common."""

    parameters: Mapping[str, float]
    initial: Mapping[str, float]
    until: float
    samples: int

    def run(
        self, model: Mechanism | Equations, names: Mapping[str, str], formula: Expr, first: Trajectory | None = None
    ) -> _Run:
        """The motion of a model whose states have these names, with a formula along it.

        It starts where `first` does, whose loops were closed, or with the values given.
        """
        given = self.initial if first is None else {name: float(first[name][0]) for name in names}
        start = {names.get(name, name): value for name, value in given.items()}
        outputs = [Output(_CURVE, formula)]

        def motion(samples: int) -> Trajectory:
            return simulate(
                model, self.until, samples=samples, outputs=outputs, parameters=self.parameters, initial=start
            )

        motion(2)  # compiled before its time is taken
        begun = time.perf_counter()
        return _Run(motion(self.samples), time.perf_counter() - begun)


_CURVE = "criterion of the study"


@dataclass(frozen=True, eq=False)
class _Run:
    """One motion, and the time that it took."""

    motion: Trajectory
    seconds: float

    @property
    def curve(self) -> Vector:
        return np.asarray(self.motion[_CURVE], dtype=float)


def _number(criterion: Criterion, run: _Run) -> float:
    curve = run.curve
    if criterion.kind == "integral":
        return float(np.trapezoid(curve, run.motion.time))
    return float({"value": curve[-1], "maximum": curve.max(), "minimum": curve.min()}[criterion.kind])


@dataclass(frozen=True, eq=False)
class _Study:
    """A criterion with its formula, and the motion of the complete equations."""

    criterion: Criterion
    formula: Expr
    course: _Course
    reference: _Run

    def model(self, simplified: SimplifiedEquations) -> SimplifiedModel:
        """The simplification with what its own motion says of it."""
        equations, certificate = simplified.complete, simplified.certificate
        relative = [b / s if s else 0.0 for b, s in zip(certificate.bounds, certificate.scales, strict=True)]
        operations = sum(1 for node in live_nodes(list(simplified.residual)) if node.args)
        size = (certificate.tolerance, len(simplified.kept), operations, max(relative, default=0.0))
        states = {str(x.name): state.name for x, state in state_names(equations).items()}
        (formula,) = in_states(equations, [self.formula])
        try:
            first = self.reference.motion if equations.constraints else None
            own = self.course.run(simplified.mechanism, states, formula, first)
        except TorseurError as problem:
            return SimplifiedModel(simplified, *size, np.inf, np.nan, np.inf, 0.0, (), _reason(problem, simplified))
        if len(own.motion.time) < len(self.reference.motion.time):
            return SimplifiedModel(simplified, *size, np.inf, np.nan, np.inf, own.seconds, (), "its motion ends early")
        names = equations.layout.coordinate_names
        errors = [_relative(self.reference.motion[name], own.motion[states[name]], spread=True) for name in names]
        value, left = _number(self.criterion, own), _outside(simplified, own, states)
        return SimplifiedModel(
            simplified, *size, max(errors, default=0.0), value, self._criterion_error(own), own.seconds, left
        )

    def _criterion_error(self, own: _Run) -> float:
        if self.criterion.kind == "value":
            return _relative(self.reference.curve, own.curve)
        return _relative([_number(self.criterion, self.reference)], [_number(self.criterion, own)])


def _reason(problem: TorseurError, simplified: SimplifiedEquations) -> str:
    """The first sentence of a refusal, without the name of the model."""
    name = f"{simplified.complete.mechanism.name}_simplified: "
    return str(problem).removeprefix(name).split(". ")[0]


def _relative(complete: ArrayLike, simple: ArrayLike, spread: bool = False) -> float:
    """The largest difference over the size of the first, or over the size of its change."""
    first, second = np.asarray(complete, dtype=float), np.asarray(simple, dtype=float)
    size = float(np.ptp(first) if spread else np.max(np.abs(first)))
    difference = float(np.max(np.abs(first - second)))
    return difference / size if size else (0.0 if difference == 0.0 else float("inf"))


def _outside(simplified: SimplifiedEquations, own: _Run, states: Mapping[str, str]) -> tuple[str, ...]:
    """Coordinates and speeds whose motion leaves the box, where the bound proves nothing."""
    layout = simplified.complete.layout
    left = []
    for x in (*layout.coordinates, *layout.speeds):
        known = simplified.box.ranges.get(x)
        curve = np.asarray(own.motion[states[str(x.name)]])
        if known is not None and (curve.min() < known.low or curve.max() > known.high):
            left.append(str(x.name))
    return tuple(left)
