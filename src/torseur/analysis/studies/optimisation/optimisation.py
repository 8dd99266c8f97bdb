"""`optimise`: the parameters within bounds that make a criterion smallest, under limits on others.

Gradients are exact, from the sensitivities of the motion. Every step is written to a log; a run that was stopped goes
on from there.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from torseur.analysis.sensitivity import sensitivity
from torseur.analysis.studies.definition.axes import Vector
from torseur.analysis.studies.definition.design import Design
from torseur.analysis.studies.definition.goals import goal_of, limits_of, violation
from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.definition.study_file import read_study
from torseur.analysis.studies.optimisation.optimisation_journal import Iterate, Journal
from torseur.analysis.studies.sweeps.evaluation import Evaluator
from torseur.analysis.studies.sweeps.result_store import lock
from torseur.analysis.studies.sweeps.single_motion import INITIAL
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.edges.processes import available_cores, end_with_parent
from torseur.errors import TorseurError, unknown_name


class Problem:
    """Criteria and their gradients at x, a row per operating point; the last x is remembered."""

    def __init__(self, study: SweepStudy) -> None:
        self.study = study
        self._refuse_other_axes()
        self.names = [axis.name for axis in study.axes]
        self.low = np.array([axis.numbers[0] for axis in study.axes])
        self.span = np.array([axis.numbers[1] - axis.numbers[0] for axis in study.axes])
        self.labels = [criterion.label for criterion in study.criteria]
        self.goal = goal_of(study)
        middle = np.concatenate([study.operating.rows[0], self.low + 0.5 * self.span])
        columns = Evaluator(study, middle).columns[: len(self.labels)]
        self.limits = limits_of(study, [column.unit for column in columns])
        self.units = {axis.name: axis.unit for axis in study.axes} | {c.label: c.unit for c in columns}
        self._last: tuple[Vector, Vector, Vector] | None = None

    def _refuse_other_axes(self) -> None:
        study = self.study
        for axis in study.axes:
            if axis.shape != "uniform" or axis.name in study.tables.get("tolerances", {}):
                raise TorseurError(
                    f"'{study.path}': vary.{axis.name}: an optimisation needs from and to, without count."
                )
            if not axis.numbers[1] > axis.numbers[0]:
                raise TorseurError(f"'{study.path}': vary.{axis.name}: 'to' must be more than 'from'.")
        if not study.axes:
            raise TorseurError(f"'{study.path}': vary: nothing varies.")

    def objective(self, values: Vector) -> float:
        """The mean over the operating points, from all criteria."""
        return float(self.table(values)[:, self.goal.criterion].mean())

    def objective_gradient(self, x: Vector) -> Vector:
        gradient: Vector = self.gradients(x)[:, self.goal.criterion].mean(axis=0)
        return gradient

    def table(self, values: Sequence[float] | Vector) -> Vector:
        """Criteria as rows of operating points."""
        return np.asarray(values, dtype=float).reshape(len(self.study.operating), len(self.labels))

    def values(self, x: Vector) -> Vector:
        """All criteria, a row per operating point."""
        return self._evaluate(x)[0]

    def gradients(self, x: Vector) -> Vector:
        """Derivatives of all criteria by x (operating point, criterion, axis)."""
        return self._evaluate(x)[1]

    def point(self, x: Vector) -> dict[str, float]:
        return dict(zip(self.names, (self.low + self.span * x).tolist(), strict=True))

    def _evaluate(self, x: Vector) -> tuple[Vector, Vector]:
        # SciPy asks for value, gradient and each constraint at the same x one after another: one motion serves all.
        if self._last is None or not np.array_equal(self._last[0], x):
            motions = [self._motion(x, row) for row in self.study.operating.rows]
            self._last = (x.copy(), np.array([v for v, _ in motions]), np.array([s for _, s in motions]))
        return self._last[1:]

    def _motion(self, x: Vector, operating: tuple[float, ...]) -> tuple[Vector, Vector]:
        """Criteria and gradients of the motion at one operating point."""
        study, values, initial = self.study, dict(self.study.values), dict(self.study.initial)
        named = dict(zip([axis.name for axis in study.operating.axes], operating, strict=True))
        for name, number in {**named, **self.point(x)}.items():
            if name.endswith(INITIAL):
                initial[name.removesuffix(INITIAL)] = number
            else:
                values[name] = number
        settings = study.integration
        results = sensitivity(
            study.model, study.criteria, self.names, until=study.until, values=values, initial=initial,
            rtol=settings.rtol, atol=settings.atol, max_step=settings.max_step,
            integrator=settings.integrator, verify=False,
        )  # fmt: skip
        numbers = np.array([float(response.values[-1]) for response in results.responses])
        gradients = np.array([np.asarray(response.derivatives)[-1] * self.span for response in results.responses])
        return numbers, gradients


ALGORITHMS = ("SLSQP", "L-BFGS-B", "trust-constr")
MOST_ITERATIONS = 200
# What SciPy's algorithms say at their end (in lower case, as far as it is characteristic), and what it means.
ENDS = {
    "projected gradient": "converged: no direction within the bounds improves the objective",
    "relative reduction of f": "converged: further steps change the objective by rounding only",
    "optimization terminated successfully": "converged",
    "`gtol` termination": "converged: no direction within the constraints improves the objective",
    "`xtol` termination": "converged: further steps change the parameters by rounding only",
    "iteration limit": f"not converged: stopped after {MOST_ITERATIONS} iterations",
    "iterations reached limit": f"not converged: stopped after {MOST_ITERATIONS} iterations",
    "maximum number of": f"not converged: stopped after {MOST_ITERATIONS} iterations",
    "abnormal": "not converged: no better point was found along the direction of search",
    "positive directional derivative": "not converged: no better point was found along the direction of search",
    "constraints incompatible": "not converged: the constraints contradict each other near this point",
}
PRECISION = 1e-12
"""Change of the objective, relative to its first value, at which a search ends."""
FEASIBLE = 1e-6
"""Part of a limit, or of 1, by which it may be missed."""
LOOK_SECONDS = 0.2
WORTH_PROCESSES = 8.0  # seconds of searching left from which starting processes pays

Progress = Callable[[int, int, float], None]
"""Is called with the start, the iteration and the objective."""


@explain_methods
@dataclass(frozen=True, repr=False)
class Optimum(Displayed):
    """The best of all starts, and every iterate on the way; `units` are those of the axes, then of the criteria."""

    point: dict[str, float]
    criteria: dict[str, float]
    objective: float
    feasible: bool
    messages: tuple[str, ...]
    iterates: tuple[Iterate, ...]
    units: dict[str, str]
    goal: str
    damage: tuple[str, ...] = ()
    """What of the log was not as it had been written; it is searched again."""

    def __repr__(self) -> str:
        point = ", ".join(f"{name} = {value:.6g}" for name, value in self.point.items())
        kept = "" if self.feasible else "; no point satisfies all constraints"
        return f"Optimum: {self.goal} = {self.objective:.6g} at {point}, after {len(self.iterates)} steps{kept}"


def optimise(
    study: SweepStudy | str | Path,
    log: str | Path | None = None,
    *,
    cores: int | None = None,
    progress: Progress | None = None,
) -> Optimum:
    """The optimum of a study, from several starts at once; the log beside its file (or `log`) keeps every step.

    The objective is the mean over the operating points; limits hold in each of them.
    """
    study = study if isinstance(study, SweepStudy) else read_study(study)
    problem = Problem(study)
    algorithm = study.tables.get("algorithm", "SLSQP" if problem.limits else "L-BFGS-B")
    if algorithm not in ALGORITHMS:
        raise TorseurError(unknown_name("algorithm", str(algorithm), ALGORITHMS, f"'{study.path}': "))
    if algorithm == "L-BFGS-B" and problem.limits:
        raise TorseurError(f"'{study.path}': L-BFGS-B cannot handle constraints. Use SLSQP or trust-constr.")
    journal = Journal(Path(log) if log else study.path.with_suffix(".optimum.jsonl"), study.digest)
    starts = list(enumerate(_starting_points(len(problem.names), _starts(study))))
    with lock(journal.path, "optimisation"):
        damage = journal.begin()
        ended = journal.end_messages
        todo = [(number, x) for number, x in starts if number not in ended]
        _search_all(problem, str(algorithm), todo, journal, cores or available_cores(), progress)
    messages = journal.end_messages
    best = _best(problem, journal.iterates, [messages[number] for number, _ in starts])
    return replace(best, damage=damage)


def _starts(study: SweepStudy) -> int:
    count = study.tables.get("starts", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise TorseurError(f"'{study.path}': starts: expected a whole number from 1 on, got {count!r}.")
    return count


def _starting_points(dimensions: int, count: int) -> list[Vector]:
    """The middle of the box, then points spread over it."""
    if count < 2:
        return [np.full(dimensions, 0.5)]
    return [np.full(dimensions, 0.5), *Design("latin_hypercube", count - 1, 1).parts(dimensions, 0, count - 1)]


def _search_all(
    problem: Problem,
    algorithm: str,
    starts: list[tuple[int, Vector]],
    journal: Journal,
    cores: int,
    progress: Progress | None,
) -> None:
    """Searches one after the other, and at once in processes where one takes long enough to pay for these."""
    began = time.perf_counter()
    for done, (number, x) in enumerate(starts):
        search(problem, algorithm, number, x, journal, progress)
        left = starts[done + 1 :]
        if cores > 1 and len(left) * (time.perf_counter() - began) / (done + 1) > WORTH_PROCESSES:
            _search_at_once(problem, algorithm, left, journal, cores, progress)
            return


def _search_at_once(
    problem: Problem,
    algorithm: str,
    starts: list[tuple[int, Vector]],
    journal: Journal,
    cores: int,
    progress: Progress | None,
) -> None:
    # Spawned, not forked: threads of compiled libraries do not survive a fork.
    packed = pickle.dumps(problem.study)
    with ProcessPoolExecutor(min(cores, len(starts)), get_context("spawn"), end_with_parent) as pool:
        running = {pool.submit(_search_apart, packed, algorithm, n, x, journal) for n, x in starts}
        known = len(journal.iterates)
        while running:
            finished, running = wait(running, LOOK_SECONDS, FIRST_COMPLETED)
            for future in finished:
                future.result()
            known = _tell(problem, journal, known, progress)


def _search_apart(study: bytes, algorithm: str, number: int, x: Vector, journal: Journal) -> None:
    """Runs in a process of its own."""
    search(Problem(pickle.loads(study)), algorithm, number, x, journal, None)


def _tell(problem: Problem, journal: Journal, known: int, progress: Progress | None) -> int:
    """Reports the steps that were added to the log since."""
    if progress is None:
        return known
    iterates = journal.iterates
    for place in range(known, len(iterates)):
        own = [i for i in iterates[: place + 1] if i.start == iterates[place].start]
        progress(iterates[place].start, len(own), problem.objective(np.array(iterates[place].criteria)))
    return len(iterates)


def search(
    problem: Problem, algorithm: str, number: int, x: Vector, journal: Journal, progress: Progress | None
) -> None:
    """One search to its end, from its last step in the log or from x; a motion that fails ends it."""
    begun = [iterate for iterate in journal.iterates if iterate.start == number]
    steps = [len(begun)]

    def keep(x: Vector, *rest: Any) -> None:
        values = problem.values(x)
        journal.add(Iterate(number, tuple(x.tolist()), tuple(values.ravel().tolist())), steps[0])
        steps[0] += 1
        if progress is not None:
            progress(number, steps[0], problem.objective(values))

    try:
        first = np.array(begun[-1].point) if begun else x
        if not begun:
            keep(first)
        optimum = _minimise(problem, algorithm, first, keep)
        keep(np.clip(np.asarray(optimum.x, dtype=float), 0.0, 1.0))
        journal.end(number, steps[0], _how_it_ended(str(optimum.message)))
    except TorseurError as failure:
        journal.end(number, steps[0], f"a motion failed: {failure}")


def _how_it_ended(message: str) -> str:
    """The message of an algorithm in plain words; one that is not known stays as it is."""
    return next((words for sign, words in ENDS.items() if sign in message.lower()), message)


def _minimise(problem: Problem, algorithm: str, x: Vector, keep: Callable[..., None]) -> Any:
    from scipy import optimize

    minimize: Any = optimize.minimize
    # Criteria come in all sizes; the algorithms stop by changes of the objective relative to 1.
    size = max(abs(problem.objective(problem.values(x))), float(np.abs(problem.objective_gradient(x)).max()))
    scale = problem.goal.sign / (size or 1.0)
    return minimize(
        lambda x: scale * problem.objective(problem.values(x)),
        x,
        jac=lambda x: scale * problem.objective_gradient(x),
        method=algorithm,
        bounds=[(0.0, 1.0)] * len(problem.names),
        constraints=_limits(problem) if algorithm != "L-BFGS-B" else (),
        callback=keep,
        options={"maxiter": MOST_ITERATIONS, ("gtol" if algorithm == "trust-constr" else "ftol"): PRECISION},
    )


def _limits(problem: Problem) -> list[dict[str, Any]]:
    """The limits as SciPy takes them: margins that stay positive or zero, in parts of the limit."""
    return [
        {
            "type": "ineq" if limit.sign else "eq",
            "fun": lambda x, c=limit: (c.sign or 1.0) * (problem.values(x)[:, c.criterion] - c.bound) / c.size,
            "jac": lambda x, c=limit: (c.sign or 1.0) * problem.gradients(x)[:, c.criterion] / c.size,
        }
        for limit in problem.limits
    ]


def _best(problem: Problem, iterates: tuple[Iterate, ...], messages: list[str]) -> Optimum:
    """The best of all steps that keep the limits, or the one that comes nearest to them."""
    if not iterates:
        raise TorseurError(f"'{problem.study.path}': no start has a motion. {messages[0]}")

    def rank(iterate: Iterate) -> tuple[float, float]:
        values = problem.table(iterate.criteria)
        missed = violation(problem.limits, values)
        return (missed if missed > FEASIBLE else 0.0, problem.goal.sign * problem.objective(values))

    best = min(iterates, key=rank)
    values = problem.table(best.criteria)
    return Optimum(
        point=problem.point(np.array(best.point)),
        criteria=dict(zip(problem.labels, values.mean(axis=0).tolist(), strict=True)),
        objective=problem.objective(values),
        feasible=violation(problem.limits, values) <= FEASIBLE,
        messages=tuple(messages),
        iterates=iterates,
        units=problem.units,
        goal=problem.labels[problem.goal.criterion],
    )
