"""`optimise`: the parameters within bounds that make a criterion smallest, under limits on others.

Gradients are exact, from the sensitivities of the motion. Every step is written to a log; a run that was stopped goes
on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from torseur.errors import TorseurError, unknown_name
from torseur.language.quantities import quantity
from torseur.sensitivity import sensitivity
from torseur.studies.axes import Vector
from torseur.studies.design import Design
from torseur.studies.study import SweepStudy, read_study

ALGORITHMS = ("SLSQP", "L-BFGS-B", "trust-constr")
MOST_ITERATIONS = 200
PRECISION = 1e-12
"""Change of the objective, relative to its first value, at which a search ends."""

Progress = Callable[[int, int, float], None]
"""Is called with the start, the iteration and the objective."""


@dataclass(frozen=True)
class Iterate:
    """A step of the search: the start it belongs to, the values of the axes, and the criteria there."""

    start: int
    point: tuple[float, ...]
    criteria: tuple[float, ...]


@dataclass(frozen=True)
class Optimum:
    """The best of all starts, and every iterate on the way."""

    point: dict[str, float]
    criteria: dict[str, float]
    objective: float
    feasible: bool
    messages: tuple[str, ...]
    iterates: tuple[Iterate, ...]


@dataclass(frozen=True)
class Limit:
    """A criterion that must stay below or above a number."""

    criterion: int
    bound: float
    sign: float


class Problem:
    """Objective and limits of a study as functions of x, the axes scaled to between 0 and 1."""

    def __init__(self, study: SweepStudy) -> None:
        self.study = study
        self.names = [axis.name for axis in study.axes]
        for axis in study.axes:
            if axis.shape != "uniform":
                raise TorseurError(
                    f"'{study.path}': vary.{axis.name}: an optimisation needs from and to, without count."
                )
        if not study.axes:
            raise TorseurError(f"'{study.path}': vary: nothing varies.")
        self.low = np.array([axis.numbers[0] for axis in study.axes])
        self.span = np.array([axis.numbers[1] - axis.numbers[0] for axis in study.axes])
        self.labels = [criterion.label for criterion in study.criteria]
        self.objective, self.sign = self._goal()
        self.limits = self._limits()
        self._last: tuple[Vector, Vector, Vector] | None = None

    def _goal(self) -> tuple[int, float]:
        given = self.study.tables.get("objective")
        if isinstance(given, str):
            return self._index(given, "objective"), 1.0
        if isinstance(given, Mapping) and len(given) == 1 and next(iter(given)) in ("minimise", "maximise"):
            ((way, name),) = given.items()
            return self._index(str(name), f"objective.{way}"), 1.0 if way == "minimise" else -1.0
        raise TorseurError(
            f"'{self.study.path}': objective: expected the name of a criterion, or {{ maximise = \"NAME\" }}."
        )

    def _index(self, name: str, where: str) -> int:
        if name not in self.labels:
            raise TorseurError(unknown_name("criterion", name, self.labels, f"'{self.study.path}': {where}: "))
        return self.labels.index(name)

    def _limits(self) -> list[Limit]:
        table, found = self.study.tables.get("constraints", {}), []
        for name, bounds in table.items():
            where = f"'{self.study.path}': constraints.{name}"
            index = self._index(name, "constraints")
            if not isinstance(bounds, Mapping) or not bounds or set(bounds) - {"at_most", "at_least"}:
                raise TorseurError(f"{where}: expected {{ at_most = ... }}, {{ at_least = ... }} or both.")
            for way, given in bounds.items():
                bound = quantity(given, where)[0]
                found.append(Limit(index, bound, -1.0 if way == "at_most" else 1.0))
        return found

    def values(self, x: Vector) -> Vector:
        """All criteria."""
        return self._evaluated(x)[0]

    def gradients(self, x: Vector) -> Vector:
        """Slopes of all criteria by x, a row each."""
        return self._evaluated(x)[1]

    def point(self, x: Vector) -> dict[str, float]:
        return dict(zip(self.names, (self.low + self.span * x).tolist(), strict=True))

    def _evaluated(self, x: Vector) -> tuple[Vector, Vector]:
        if self._last is None or not np.array_equal(self._last[0], x):
            study, values, initial = self.study, dict(self.study.values), dict(self.study.initial)
            for name, number in self.point(x).items():
                if name.endswith("(0)"):
                    initial[name.removesuffix("(0)")] = number
                else:
                    values[name] = number
            found = sensitivity(
                study.equations, study.criteria, self.names, until=study.until, values=values, initial=initial,
                rtol=study.rtol,
            )  # fmt: skip
            numbers = np.array([float(r.values[-1]) for r in found.responses])
            slopes = np.array([np.asarray(r.slopes)[-1] * self.span for r in found.responses])
            self._last = (x.copy(), numbers, slopes)
        return self._last[1:]

    def violation(self, values: Vector) -> float:
        """How far the worst limit is missed, zero when all hold."""
        missed = [-limit.sign * (values[limit.criterion] - limit.bound) for limit in self.limits]
        return max([0.0, *missed])


def optimise(
    study: SweepStudy | str | Path, log: str | Path | None = None, *, progress: Progress | None = None
) -> Optimum:
    """The optimum of a study, from several starts; the log beside its file (or `log`) keeps every step."""
    study = study if isinstance(study, SweepStudy) else read_study(study)
    problem, journal = Problem(study), _Journal(Path(log) if log else study.path.with_suffix(".optimum.jsonl"), study)
    algorithm = study.tables.get("algorithm", "SLSQP" if problem.limits else "L-BFGS-B")
    if algorithm not in ALGORITHMS:
        raise TorseurError(unknown_name("algorithm", str(algorithm), ALGORITHMS, f"'{study.path}': "))
    starts = int(study.tables.get("starts", 1))
    messages = []
    for number, x in enumerate(_starting_points(len(problem.names), starts)):
        messages.append(journal.ended.get(number) or _search(problem, algorithm, number, x, journal, progress))
    return _best(problem, journal.iterates, messages)


def _starting_points(dimensions: int, count: int) -> list[Vector]:
    """The middle of the box, then points spread over it."""
    if count < 2:
        return [np.full(dimensions, 0.5)]
    return [np.full(dimensions, 0.5), *Design("latin_hypercube", count - 1, 1).parts(dimensions)]


def _search(
    problem: Problem, algorithm: str, number: int, x: Vector, journal: _Journal, progress: Progress | None
) -> str:
    from scipy import optimize

    minimize: Any = optimize.minimize

    def keep(x: Vector, *rest: Any) -> None:
        values = problem.values(x)
        journal.add(Iterate(number, tuple(x.tolist()), tuple(values.tolist())))
        if progress is not None:
            progress(number, len([i for i in journal.iterates if i.start == number]), float(values[problem.objective]))

    limits = [
        {
            "type": "ineq",
            "fun": lambda x, c=limit: c.sign * (problem.values(x)[c.criterion] - c.bound),
            "jac": lambda x, c=limit: c.sign * problem.gradients(x)[c.criterion],
        }
        for limit in problem.limits
    ]
    # Criteria come in all sizes; the algorithms stop by changes of the objective relative to 1.
    scale = problem.sign / max(abs(problem.values(x)[problem.objective]), 1e-300)
    begun = [iterate for iterate in journal.iterates if iterate.start == number]
    found = minimize(
        lambda x: scale * problem.values(x)[problem.objective],
        np.array(begun[-1].point) if begun else x,
        jac=lambda x: scale * problem.gradients(x)[problem.objective],
        method=algorithm,
        bounds=[(0.0, 1.0)] * len(problem.names),
        constraints=limits if algorithm != "L-BFGS-B" else (),
        callback=keep,
        options={"maxiter": MOST_ITERATIONS, ("gtol" if algorithm == "trust-constr" else "ftol"): PRECISION},
    )
    keep(np.clip(np.asarray(found.x, dtype=float), 0.0, 1.0))
    journal.end(number, str(found.message))
    return str(found.message)


class _Journal:
    """The iterates of a study in a file of lines; one of another study is begun anew under another name."""

    def __init__(self, path: Path, study: SweepStudy) -> None:
        self.path = path
        self.iterates: list[Iterate] = []
        self.ended: dict[int, str] = {}
        if path.is_file():
            self._read(study)
        else:
            self._write({"study": study.digest})

    def _read(self, study: SweepStudy) -> None:
        whole = self.path.read_text(encoding="utf-8").rpartition("\n")[0]  # a last line without an end was cut off
        self.path.write_text(whole + "\n", encoding="utf-8")
        lines = [json.loads(line) for line in whole.splitlines()]
        if not lines or lines[0].get("study") != study.digest:
            raise TorseurError(f"'{self.path}' belongs to another study, or this one before it was changed. Remove it.")
        for line in lines[1:]:
            if "message" in line:
                self.ended[line["start"]] = line["message"]
            else:
                self.iterates.append(Iterate(line["start"], tuple(line["point"]), tuple(line["criteria"])))

    def add(self, iterate: Iterate) -> None:
        self.iterates.append(iterate)
        self._write({"start": iterate.start, "point": iterate.point, "criteria": iterate.criteria})

    def end(self, start: int, message: str) -> None:
        self.ended[start] = message
        self._write({"start": start, "message": message})

    def _write(self, document: dict[str, Any]) -> None:
        try:
            with self.path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(document) + "\n")
        except OSError as problem:
            raise TorseurError(f"'{self.path}': {problem.strerror or problem}.") from problem


def _best(problem: Problem, iterates: list[Iterate], messages: list[str]) -> Optimum:
    allowed = 1e-6

    def rank(iterate: Iterate) -> tuple[float, float]:
        missed = problem.violation(np.array(iterate.criteria))
        return (missed if missed > allowed else 0.0, problem.sign * iterate.criteria[problem.objective])

    best = min(iterates, key=rank)
    return Optimum(
        problem.point(np.array(best.point)),
        dict(zip(problem.labels, best.criteria, strict=True)),
        best.criteria[problem.objective],
        problem.violation(np.array(best.criteria)) <= allowed,
        tuple(messages),
        tuple(iterates),
    )
