"""`optimise`: the parameters within bounds that make a criterion smallest, under limits on others.

Gradients are exact, from the sensitivities of the motion. Every step is written to a log; a run that was stopped goes
on from there.
"""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import TorseurError, unknown_name
from torseur.studies.axes import Vector
from torseur.studies.design import Design
from torseur.studies.goals import violation
from torseur.studies.journal import Iterate, Journal
from torseur.studies.problem import Problem
from torseur.studies.reading import read_study
from torseur.studies.store import locked
from torseur.studies.study import SweepStudy

ALGORITHMS = ("SLSQP", "L-BFGS-B", "trust-constr")
MOST_ITERATIONS = 200
PRECISION = 1e-12
"""Change of the objective, relative to its first value, at which a search ends."""
FEASIBLE = 1e-6
"""Part of a limit, or of 1, by which it may be missed."""
LOOK_SECONDS = 0.2
WORTH_PROCESSES = 8.0  # seconds of searching left from which starting processes pays

Progress = Callable[[int, int, float], None]
"""Is called with the start, the iteration and the objective."""


@dataclass(frozen=True)
class Optimum:
    """The best of all starts, and every iterate on the way; `units` are those of the axes, then of the criteria."""

    point: dict[str, float]
    criteria: dict[str, float]
    objective: float
    feasible: bool
    messages: tuple[str, ...]
    iterates: tuple[Iterate, ...]
    units: dict[str, str]
    goal: str


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
        raise TorseurError(f"'{study.path}': L-BFGS-B keeps no constraints. Use SLSQP or trust-constr.")
    journal = Journal(Path(log) if log else study.path.with_suffix(".optimum.jsonl"))
    starts = list(enumerate(_starting_points(len(problem.names), _starts(study))))
    with locked(journal.path, "optimisation"):
        journal.begin(study.digest)
        ended = journal.ended
        todo = [(number, x) for number, x in starts if number not in ended]
        _search_all(problem, str(algorithm), todo, journal, cores or os.cpu_count() or 1, progress)
    messages = journal.ended
    return _best(problem, journal.iterates, [messages[number] for number, _ in starts])


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
    packed = pickle.dumps(problem.study)
    with ProcessPoolExecutor(min(cores, len(starts)), mp_context=get_context("spawn")) as pool:
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
        journal.add(Iterate(number, tuple(x.tolist()), tuple(values.ravel().tolist())))
        steps[0] += 1
        if progress is not None:
            progress(number, steps[0], problem.objective(values))

    try:
        first = np.array(begun[-1].point) if begun else x
        if not begun:
            keep(first)
        found = _minimised(problem, algorithm, first, keep)
        keep(np.clip(np.asarray(found.x, dtype=float), 0.0, 1.0))
        journal.end(number, str(found.message))
    except TorseurError as failure:
        journal.end(number, f"a motion failed: {failure}")


def _minimised(problem: Problem, algorithm: str, x: Vector, keep: Callable[..., None]) -> Any:
    from scipy import optimize

    minimize: Any = optimize.minimize
    # Criteria come in all sizes; the algorithms stop by changes of the objective relative to 1.
    size = max(abs(problem.objective(problem.values(x))), float(np.abs(problem.objective_slopes(x)).max()))
    scale = problem.goal.sign / (size or 1.0)
    return minimize(
        lambda x: scale * problem.objective(problem.values(x)),
        x,
        jac=lambda x: scale * problem.objective_slopes(x),
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
