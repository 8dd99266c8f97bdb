"""The programs of a batch: what criteria observe, and parameters prepared once per point for all programs together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, Input, Program, matrix, substitute, symbol, vector
from torseur.analysis.sensitivity.criteria.criteria import ReadCriterion
from torseur.analysis.sensitivity.criteria.formula_rates import Rates
from torseur.analysis.sensitivity.model.variation import Variation
from torseur.analysis.studies.batch.motion_points import EVENT, EVENT_TIME, MAXIMUM, MINIMUM, VALUE

KINDS = {"value": VALUE, "maximum": MAXIMUM, "minimum": MINIMUM, "event": EVENT, "event time": EVENT_TIME}
EXTREMUM_DIRECTIONS = {"maximum": -1, "minimum": 1}
PARAMETERS = "p"


@dataclass(frozen=True, eq=False)
class Observation:
    """The criteria that are formulas of a state, those with events first, and the event functions of their instants."""

    criteria: tuple[ReadCriterion, ...]
    variation: Variation

    @property
    def whens(self) -> list[Expr]:
        return [c.when for c in self.criteria if c.when is not None]

    @cached_property
    def _rates(self) -> Rates:
        return Rates(self.variation)

    def _event(self, criterion: ReadCriterion) -> tuple[Expr, int]:
        """The function that changes sign at the instant of a criterion, and in which direction."""
        if criterion.when is not None:
            return criterion.when, criterion.criterion.direction
        return self._rates.rate(criterion.formula), EXTREMUM_DIRECTIONS[criterion.kind]

    @cached_property
    def events(self) -> list[tuple[Expr, int]]:
        """Functions and directions, each once: several criteria may wait for the same event."""
        return list(dict.fromkeys(self._event(c) for c in self.criteria if c.kind != "value"))

    @property
    def event_numbers(self) -> list[int]:
        """For each criterion the number of its event, -1 where it has none."""
        return [-1 if c.kind == "value" else self.events.index(self._event(c)) for c in self.criteria]

    def externals(self) -> dict[str, Any]:
        externals: dict[str, Any] = {}
        if self.criteria:
            externals |= self._observe()
        if self.events:
            externals |= self._rates.externals([function for function, _ in self.events])
        return externals

    def _observe(self) -> dict[str, Program]:
        formulas, inputs = [*(c.formula for c in self.criteria), *self.whens], self.variation.rhs.inputs
        if not self.variation.columns:
            return {"observe": Program("observe", inputs, (vector("z", formulas),))}
        outputs = (
            vector("z", formulas),
            matrix("by_states", self.variation.by_states(formulas)),
            matrix("by_parameters", self.variation.by_parameters(formulas)),
            vector("rates", [self._rates.rate(formula) for formula in formulas]),
        )
        return {"observe_derivatives": Program("observe_derivatives", inputs, outputs)}


def share_preparation(externals: Mapping[str, Any], parameters: Input) -> dict[str, Any]:
    """The externals with all that depends on parameters only in one program, `prepare`."""
    taking = {name: e for name, e in externals.items() if isinstance(e, Program) and _takes_parameters(e)}
    needed: dict[Expr, None] = {}
    for program in taking.values():
        # What each program would prepare by itself, found as if it were alone; together they share equal expressions.
        plain = Program(program.name, program.inputs, program.outputs)
        needed |= dict.fromkeys(plain.split([PARAMETERS])[1].input("prepared").nodes)
    together = Input(PARAMETERS, tuple(needed))
    prepare = Program("prepare", (Input("given", parameters.nodes),), (vector(PARAMETERS, list(needed)),))
    rest = {name: _with_parameters(program, together) for name, program in taking.items()}
    return {**externals, **rest, "prepare": prepare}


def _takes_parameters(program: Program) -> bool:
    return any(group.name == PARAMETERS for group in program.inputs)


def _with_parameters(program: Program, parameters: Input) -> Program:
    inputs: Sequence[Input] = [parameters if group.name == PARAMETERS else group for group in program.inputs]
    return Program(program.name, tuple(inputs), program.outputs)


def widen(program: Program, lanes: int) -> Program:
    """The program of several motions side by side: entry k of lane l of a vector stands at k * lanes + l."""
    marks = {
        group.name: [[symbol(f"{group.name} {k} of {lane}") for lane in range(lanes)] for k in range(len(group))]
        for group in program.inputs
    }
    results = list(program.outputs[0].entries)
    columns = []
    for lane in range(lanes):
        # Lane by lane the same formulas over own symbols: the compiler sees eight equal operations, one vector.
        own = {node: marks[g.name][k][lane] for g in program.inputs for k, node in enumerate(g.nodes)}
        columns.append(substitute(results, own))
    inputs = tuple(Input(g.name, tuple(mark for row in marks[g.name] for mark in row)) for g in program.inputs)
    entries = [column[k] for k in range(len(results)) for column in columns]
    return Program(f"{program.name}_lanes", inputs, (vector(program.outputs[0].name, entries),))
