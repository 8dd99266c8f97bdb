"""Rank on the closed configurations over a finite field: the largest over several points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, evaluate
from torseur.algebra.spatial import Transform, Vec3
from torseur.derivation.loops.model.dimensions import fractions, parameter_values, require_values
from torseur.derivation.loops.model.joint_chains import Chain, chain, number_slots
from torseur.derivation.loops.model.loop_model import with_numbers
from torseur.derivation.loops.model.loop_system import LoopSystem
from torseur.derivation.loops.model.skeleton import BALL, TURN
from torseur.derivation.loops.rank.modular_loops import (
    FiniteField,
    Integers,
    ModularCycle,
    ModularElement,
    Point,
    effort,
    solutions,
)
from torseur.description.mechanism import TIME, Mechanism
from torseur.errors import UnsupportedError

# Small, so that half a loop of six joints can be listed (p³ places), and not so small that random points are often
# singular: about one in p of them is.
PRIMES = (43, 37, 61, 59, 53, 47, 41, 67, 71, 73, 79, 83, 89, 97)


class NoSquareRoot(Exception):
    """A square root that a dimension needs does not exist modulo this prime: try another."""


def exact_numbers(mechanism: Mechanism, expressions: Sequence[Expr], time: float) -> list[Any]:
    """Expressions without symbols as exact SymPy numbers; decimals are fractions."""
    import sympy as sp

    given = parameter_values(mechanism)
    known: dict[Expr, Any] = {TIME: sp.Rational(repr(time))}
    decimals = fractions(mechanism, [*given.values(), *expressions])
    known.update({node: sp.Rational(f.numerator, f.denominator) for node, f in decimals.items()})
    known.update(zip(given, evaluate(list(given.values()), known), strict=True))
    require_values(mechanism, expressions, known)
    return [sp.sympify(value) for value in evaluate(list(expressions), known)]


def residue(number: Any, prime: int) -> int:
    """An exact number modulo a prime."""
    import sympy as sp

    if number.is_Rational:
        return int(number.p) * pow(int(number.q), -1, prime) % prime
    if isinstance(number, sp.Add):
        return sum(residue(term, prime) for term in number.args) % prime
    if isinstance(number, sp.Mul):
        product = 1
        for factor in number.args:
            product = product * residue(factor, prime) % prime
        return product
    if isinstance(number, sp.Pow) and number.exp.is_Rational:
        return _power(number.base, number.exp, prime)
    simpler = sp.simplify(sp.expand_trig(number))
    if simpler == number or simpler.has(sp.sin, sp.cos, sp.tan):
        raise UnsupportedError(f"the dimension {number} is not algebraic, so it does not exist modulo a prime.")
    return residue(simpler, prime)


def _power(base: Any, exponent: Any, prime: int) -> int:
    if exponent.is_Integer:
        return pow(residue(base, prime), int(exponent), prime)
    if exponent.q != 2 or not base.is_Rational or base < 0:
        raise UnsupportedError(f"the dimension {base}**({exponent}) does not exist modulo a prime.")
    return pow(_root(int(base.p), prime) * pow(_root(int(base.q), prime), -1, prime), int(exponent.p), prime)


def _root(number: int, prime: int) -> int:
    """A square root, the product of those of the prime factors, so that roots of products agree."""
    import sympy as sp

    product = 1
    for factor, times in sp.factorint(number).items():
        root = sp.sqrt_mod(factor, prime) if times % 2 else 1
        if root is None:
            raise NoSquareRoot
        product = product * pow(factor, times // 2, prime) * int(root) % prime
    return product


# Singular points, about one in p, have a lower rank than those around them: the largest of a few is meant.
_POINTS = 6
_EFFORT = 8_000_000  # places walked to before a prime is given up
_ROUNDS = 6
_PRIMES_TRIED = 2


@dataclass(frozen=True)
class ModularRank:
    """The largest rank met, the prime, and how many points had which rank."""

    rank: int
    prime: int
    points: Counter[int]


def modular_rank(system: LoopSystem, rng: np.random.Generator) -> ModularRank:
    """The rank over a prime field; raises UnsupportedError where no points can be had."""
    _require_simple(system)
    tried = 0
    for prime in PRIMES:
        try:
            cycles = _cycles(system, prime)
        # ValueError: the prime divides the denominator of a dimension, which then has no residue.
        except (NoSquareRoot, ValueError):
            continue
        field = FiniteField(prime)
        points = Counter(_rank(field, cycles, point, system.slots) for point in _points(field, cycles, rng))
        if points:
            return ModularRank(max(points), prime, points)
        tried += 1
        if tried == _PRIMES_TRIED:
            break
    if tried == 0:
        raise UnsupportedError("the square roots in its dimensions do not exist modulo small primes.")
    raise UnsupportedError("no closed configurations were found modulo small primes.")


def _require_simple(system: LoopSystem) -> None:
    balls = any(step.kind == BALL for edge in system.frame.edges for step in edge.steps)
    # A turn's number is the tangent of half its angle: of two turns that one coordinate drives with different factors
    # the numbers are not proportional, so that they cannot be drawn for the coordinate.
    shared = np.any(np.count_nonzero(system.amounts.matrix, axis=0) > 1) or not system.amounts.is_affine
    if system.relations or balls or shared:
        raise UnsupportedError(
            "modular points cover loops of turns and moves with a coordinate each, without balls and constraints."
        )


def _cycles(system: LoopSystem, prime: int) -> list[ModularCycle]:
    """The loops with their dimensions modulo a prime."""
    mechanism = system.frame.mechanism

    def numbers(expressions: list[Expr]) -> list[Any]:
        import flint

        return [flint.nmod(residue(v, prime), prime) for v in exact_numbers(mechanism, expressions, system.time)]

    edges = with_numbers(system.frame, numbers, lambda axis: axis)
    slots = number_slots(system.frame)
    return [_modular_cycle(chain(edges, slots, cycle.passages)) for cycle in system.cycles]


def _modular_cycle(whole: Chain) -> ModularCycle:
    elements = tuple(
        ModularElement(*_place(e.before), _vector(e.axis), e.motion == TURN, e.slot, e.sign) for e in whole.elements
    )
    return ModularCycle(elements, *_place(whole.last))


def _place(transform: Transform) -> tuple[Integers, Integers]:
    rows = [[int(c) for c in row] for row in transform.rotation.matrix.rows]
    return np.array(rows), _vector(transform.position)


def _vector(vector: Vec3) -> Integers:
    return np.array([int(c) for c in vector])


def _points(field: FiniteField, cycles: list[ModularCycle], rng: np.random.Generator) -> list[Point]:
    """Configurations that close all loops, one loop after the other, those with the fewest new joints first."""
    # Depth first with a few solutions per loop: a later loop may have none with the joints that are known by then.
    order = _solving_order(cycles)
    left = _EFFORT

    def extend(k: int, known: Point) -> Point | None:
        nonlocal left
        if k == len(order):
            return known
        left -= effort(field, order[k], known)
        for values in solutions(field, order[k], known, rng, 4) if left > 0 else []:
            whole = extend(k + 1, {**known, **values})
            if whole is not None:
                return whole
        return None

    points: list[Point] = []
    for _ in range(_ROUNDS):
        starts = solutions(field, order[0], {}, rng, _POINTS)
        points += [whole for start in starts if (whole := extend(1, start)) is not None]
        if len(points) >= _POINTS or left <= 0:
            break
    return points[:_POINTS]


def _solving_order(cycles: list[ModularCycle]) -> list[ModularCycle]:
    left, known, order = list(cycles), set[int](), []
    while left:
        # The loop with the fewest unknown joints next: its search is smallest, and where it cannot close with what is
        # known this shows before the larger searches.
        cycle = min(left, key=lambda c: (len(set(c.slots) - known), len(c.slots)) if known else (len(c.slots), 0))
        left.remove(cycle)
        order.append(cycle)
        known |= set(cycle.slots)
    return order


def _rank(field: FiniteField, cycles: list[ModularCycle], point: Point, slots: int) -> int:
    import flint

    rows = [_screws(field, cycle, point, slots) for cycle in cycles]
    matrix = np.concatenate(rows) % field.prime
    entries = [[int(x) for x in row] for row in matrix]
    return int(flint.nmod_mat(entries, field.prime).rank())


def _screws(field: FiniteField, cycle: ModularCycle, point: Point, slots: int) -> Integers:
    """The screws around a loop at a point, (6, slots)."""
    #                turn        move
    #     rows[:3]   a           0      angular
    #     rows[3:]   p × a       a      at the loop's origin
    rows = np.zeros((6, slots), np.int64)
    values = {slot: np.array(point[slot]) for slot in cycle.slots}
    for k, element in enumerate(cycle.elements):
        # The place just before the joint moves: a turn leaves its own axis where it is.
        before = field.then(field.walk(cycle.elements[:k], values, 1), element.turn, element.shift)
        axis = before.turn[0] @ element.axis * element.sign % field.prime
        if element.turns:
            rows[:3, element.slot] = axis
            rows[3:, element.slot] = np.cross(before.shift[0], axis) % field.prime
        else:
            rows[3:, element.slot] = axis
    return rows
