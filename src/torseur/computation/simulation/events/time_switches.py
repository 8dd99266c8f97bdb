"""Switches whose time is known: where a condition, a kink or a table of time alone changes the equations.

A force that `where` turns on for a millisecond is not seen by steps that are longer. Its times are functions of the
parameters, known before the motion is: one program gives the time to the next of them, and no step passes it.

    conditions   a < b, sign(a), |a|, min(a, b), max(a, b) change where w = a - b (or a) vanishes,
                 floor(a) where a is whole
    w linear or quadratic in t           closed forms
    w affine in sin θ, cos θ             θ = α t + β where they have the right value, twice a period
    w affine in t and floor θ            one root in each interval of floor θ (pulse trains)
    tables       of an argument that is affine in t: some of their knots

Where w itself has kinks, each of its branches is solved as if it held everywhere: a time too many costs a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from torseur.algebra.graph import (
    PI,
    Expr,
    Input,
    Program,
    as_expr,
    directional_derivative,
    live_nodes,
    substitute,
    symbol,
    symbols_of,
    vector,
)
from torseur.algebra.graph.scalar import acos, asin, both, floor, less, minimum, sqrt, where
from torseur.cache import Recent
from torseur.computation.simulation.model.system import System

NEVER = 1e300  # seconds
# A spline is smooth, so that steps need not end on its knots; but over many of them data between its stages would be
# passed by, and an order of 8 gains nothing.
KNOTS_PER_STEP = 4
kept_switches: Recent[tuple[Program, TimeSwitches]] = Recent(64)
_CHOICES: dict[str, Callable[[Expr], tuple[Expr, ...]]] = {
    "abs": lambda node: (node.args[0], -node.args[0]),
    "min": lambda node: node.args,
    "max": lambda node: node.args,
    "where": lambda node: node.args[1:],
    "sign": lambda node: (as_expr(1), as_expr(-1)),
}
MOST_BRANCHES = 64
_BENDS = ("lt", "le", "sign", "abs", "min", "max", "floor")


def conditions_of(formulas: Sequence[Expr]) -> dict[Expr, tuple[dict[Expr, int], dict[Expr, int]]]:
    """Conditions by the formula whose sign they ask for, with their values where it is negative and positive."""
    conditions: dict[Expr, tuple[dict[Expr, int], dict[Expr, int]]] = {}
    for node in live_nodes(formulas):
        if node.op not in ("lt", "le", "sign"):
            continue
        is_sign = node.op == "sign"
        when = node.args[0] if is_sign else node.args[0] - node.args[1]
        # Conditions that ask for the sign of the same formula switch together.
        values = (-1, 1) if is_sign else (1, 0)
        if -when in conditions:  # x < 0 and x > 0 change at the same instant
            when, values = -when, values[::-1]
        below, above = conditions.setdefault(when, ({}, {}))
        below[node], above[node] = values
    return conditions


@dataclass(frozen=True)
class TimeSwitches:
    """The next known time at which formulas switch, as a program, and the formulas whose times are not known."""

    program: Program | None
    unsolved: tuple[Expr, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"The equations switch with time where {when} = 0: when that is, is not known before the motion, and steps "
            "may pass over two such times at once. A shorter max_step helps."
            for when in self.unsolved
        )


def time_switches(formulas: Sequence[Expr], time: Expr, parameters: Sequence[Expr]) -> TimeSwitches:
    """Where formulas switch by time and parameters alone: `ahead`, the time to the next switch, from (t, d, p).

    `direction` d is 1 for motions forward in time and -1 for those backward.
    """
    known, direction = {time, *parameters}, symbol("direction of time")
    now = _Now(time, direction)
    ahead: list[Expr] = []
    unsolved: list[Expr] = []
    for when in _switching(formulas, time, known):
        roots = [list(_roots(branch, now)) for branch in _branches(when, time)]
        ahead += [root for found in roots for root in found]
        if not all(roots):
            unsolved.append(when)
    for node in live_nodes(formulas):
        if node.op == "table" and _is_known(node.args[0], time, known) and now.line(node.args[0]) is not None:
            knots = node.data.table.knots.tolist()
            ahead += [now.until(t) for knot in knots[::KNOTS_PER_STEP] for t in now.zeros(node.args[0] - knot)]
    if not ahead:
        return TimeSwitches(None, tuple(unsolved))
    nearest = list(dict.fromkeys(ahead))
    while len(nearest) > 1:  # in pairs: a chain of a thousand knots would be as deep as it is long
        pairs = zip(nearest[::2], nearest[1::2], strict=False)
        nearest = [minimum(a, b) for a, b in pairs] + ([nearest[-1]] if len(nearest) % 2 else [])
    inputs = (Input("t", (time,)), Input("direction", (direction,)), Input("p", tuple(parameters)))
    return TimeSwitches(Program("next_switch", inputs, (vector("ahead", nearest),)), tuple(unsolved))


def switches_of_system(system: System, integrands: Sequence[Expr] = ()) -> TimeSwitches:
    """The switches of a system's equations, and of what is integrated along its motion, whose time is known.

    They are kept for systems that differ in values only.
    """
    rhs = system.rhs
    if not isinstance(rhs, Program):
        return TimeSwitches(None)
    groups = {group.name: group.nodes for group in rhs.inputs}
    if not groups.get("t"):
        return TimeSwitches(None)
    formulas = [*(entry for output in rhs.outputs for entry in output.entries), *integrands]
    if system.programs is not None:
        formulas += [e for c in system.programs.constraints for e in (c.residual, c.drift)]

    def make() -> tuple[Program, TimeSwitches]:
        return rhs, time_switches(formulas, groups["t"][0], groups.get("p", ()))

    return kept_switches.get((id(rhs), id(system.programs), tuple(integrands)), make)[1]


def _switching(formulas: Sequence[Expr], time: Expr, known: set[Expr]) -> list[Expr]:
    """Formulas of time and parameters at whose zeros others switch; floor(a) stands for all its whole numbers."""
    switching: dict[Expr, None] = {}
    for node in live_nodes(formulas):
        if node.op not in _BENDS:
            continue
        when = node if node.op == "floor" else node.args[0] - node.args[1] if len(node.args) == 2 else node.args[0]
        if _is_known(when, time, known) and -when not in switching:
            switching[when] = None
    return list(switching)


def _is_known(formula: Expr, time: Expr, known: set[Expr]) -> bool:
    """Whether a formula depends on time, and besides it on parameters alone."""
    used = set(symbols_of([formula]))
    return time in used and used <= known and all(node.op != "apply" for node in live_nodes([formula]))


@dataclass(frozen=True)
class _Now:
    """The present time as a symbol, and the direction in which it goes."""

    time: Expr
    direction: Expr

    def until(self, t: Expr) -> Expr:
        """Time from now to t; NEVER when that is past, or not a number."""
        left = self.direction * (t - self.time)
        return where(less(0, left), left, as_expr(NEVER))

    def line(self, formula: Expr, variable: Expr | None = None) -> tuple[Expr, Expr] | None:
        """(a, b) of a formula that is a t + b, with a and b free of time; None for others.

        With a variable in place of t, a and b must not depend on it either.
        """
        x = self.time if variable is None else variable
        if any(node.op in _BENDS and x in symbols_of([node]) for node in live_nodes([formula])):
            return None
        a = directional_derivative([formula], {x: as_expr(1)})[0]
        (b,) = substitute([formula], {x: as_expr(0)})
        used = set(symbols_of([a]))
        return None if x in used or x in symbols_of([b]) else (a, b)

    def zeros(self, formula: Expr) -> list[Expr]:
        """The times at which a formula that is linear or quadratic in time vanishes."""
        line = self.line(formula)
        if line is not None:
            return [-line[1] / line[0]]
        rate = self.line(directional_derivative([formula], {self.time: as_expr(1)})[0])
        (c,) = substitute([formula], {self.time: as_expr(0)})
        if rate is None or self.time in symbols_of([c]) or self._bends(formula):
            return []
        twice_a, b = rate
        root = sqrt(b * b - 2 * twice_a * c)
        return [(-b - root) / twice_a, (-b + root) / twice_a]

    def _bends(self, formula: Expr) -> bool:
        return any(node.op in _BENDS and self.time in symbols_of([node]) for node in live_nodes([formula]))


def _branches(when: Expr, time: Expr) -> list[Expr]:
    """The formulas that a formula with kinks consists of, or itself where they are too many."""
    done: list[Expr] = []
    left = [when]
    while left:
        formula = left.pop()
        bends = [n for n in live_nodes([formula]) if n.op in _CHOICES and time in symbols_of([n])]
        if not bends:
            done.append(formula)
            continue
        left += [substitute([formula], {bends[0]: choice})[0] for choice in _CHOICES[bends[0].op](bends[0])]
        if len(left) + len(done) > MOST_BRANCHES:
            return [when]
    return [branch for branch in dict.fromkeys(done) if branch.op == "floor" or _moves(branch, time)]


def _moves(formula: Expr, time: Expr) -> bool:
    """Whether a formula changes with time between the jumps of its floors, which are switches of their own."""
    floors = [node for node in live_nodes([formula]) if node.op == "floor" and time in symbols_of([node])]
    (still,) = substitute([formula], {node: as_expr(0) for node in floors})
    return time in symbols_of([still])


def _roots(when: Expr, now: _Now) -> Iterator[Expr]:
    """Times from now to the next zeros of a formula; nothing where they are not known."""
    if when.op == "floor":
        yield from _whole_numbers(when.args[0], now)
        return
    zeros = now.zeros(when)
    if zeros:
        yield from (now.until(t) for t in zeros)
        return
    inner = [n for n in live_nodes([when]) if n.op in ("sin", "cos", "floor") and now.time in symbols_of([n])]
    if len(inner) != 1:
        return
    (node,) = inner
    mark = symbol("value of a periodic function")
    (outer,) = substitute([when], {node: mark})
    if node.op == "floor":
        yield from _pulses(outer, node.args[0], mark, now)
    elif now.time not in symbols_of([outer]):
        line = now.line(outer, mark)
        if line is not None:
            yield from _periods(node, -line[1] / line[0], now)


def _whole_numbers(argument: Expr, now: _Now) -> Iterator[Expr]:
    """The next time at which an argument that is affine in time is a whole number."""
    line = now.line(argument)
    if line is None:
        return
    a, b = line
    for step in (-1, 0, 1, 2):  # rounding may have the argument on either side of a whole number
        yield now.until((floor(argument) + step - b) / a)


def _periods(node: Expr, value: Expr, now: _Now) -> Iterator[Expr]:
    """The next times at which the sine or cosine of an angle that is affine in time has a value."""
    line = now.line(node.args[0])
    if line is None:
        return
    a, b = line
    first, second = (asin(value), PI - asin(value)) if node.op == "sin" else (acos(value), -acos(value))
    for angle in (first, second):
        turns = floor((node.args[0] - angle) / (2 * PI))
        for step in (-1, 0, 1, 2):
            yield now.until((angle + 2 * PI * (turns + step) - b) / a)


def _pulses(outer: Expr, argument: Expr, mark: Expr, now: _Now) -> Iterator[Expr]:
    """The next zeros of a formula that is affine in time and in floor(argument), one in each interval at most."""
    line, of_time, of_mark = now.line(argument), now.line(outer), now.line(outer, mark)
    if line is None or of_time is None or of_mark is None or mark in symbols_of([of_time[0]]):
        return
    a, b = of_time
    slope, offset = line
    for step in (-1, 0, 1):
        whole = floor(argument) + step
        (rest,) = substitute([b], {mark: whole})
        t = -rest / a
        # Beyond its own interval the floor has another value, and the zero is none.
        inside = slope * t + offset - whole
        left = now.direction * (t - now.time)
        close = 1e-9
        happens = both(both(less(-close, inside), less(inside, 1 + close)), less(0, left))
        yield where(happens, left, as_expr(NEVER))
