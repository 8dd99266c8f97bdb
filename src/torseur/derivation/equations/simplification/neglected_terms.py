"""Terms that a box of states does not need: dropped, or held constant, with the error that makes and its proof.

Every equation is a sum of terms, each the product of factors. The bound of a term over the box is the product of the
bounds of its factors, by interval arithmetic (a proof) or by sampling (an observation). Terms are dropped, least first,
while their bounds add up to less than the tolerance times the largest term of the same equation; then factors that
depend on positions are held at their middle while the errors of all changes stay below it. The sum of these bounds is
the certificate; the rounding of the numbers themselves, some 1e-15 of the largest term, comes on top.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr, as_expr, evaluate, symbols_of
from torseur.algebra.graph.expr import Number
from torseur.derivation.equations.equations import Equations
from torseur.derivation.equations.simplification.intervals import Interval, bounds, power, product, up
from torseur.derivation.equations.simplification.simplified_model import state_model
from torseur.derivation.equations.simplification.state_box import Box
from torseur.derivation.equations.terms.origins import LOAD, Share, Shares
from torseur.derivation.equations.terms.polynomial import Monomial, Polynomial, TooManyTerms, expand, single
from torseur.derivation.equations.terms.trigonometry import shorten_by_trigonometry
from torseur.description.mechanism import Mechanism
from torseur.errors import TorseurError, UnsupportedError

Array = NDArray[np.float64]
MOST_TERMS, MOST_LOAD_TERMS = 6000, 400  # of one body's or one load's share of one equation
SAMPLES = 512
SAFETY = 1.25  # a sampled bound is widened by this
METHODS = ("interval", "sampling")


@dataclass(frozen=True)
class Piece:
    """One term of one equation, with the body or load it comes from."""

    row: int
    share: Share
    monomial: Monomial
    coefficient: Number

    @property
    def expression(self) -> Expr:
        value = as_expr(self.coefficient)
        for factor, exponent in self.monomial:
            value = value * factor**exponent
        return value


@dataclass(frozen=True)
class Change:
    """A term dropped, or held: its factors `held` replaced by `value`; the error is at most `bound`."""

    piece: Piece
    bound: float
    held: Monomial = ()
    value: float = 0.0

    @property
    def kind(self) -> str:
        return "held" if self.held else "dropped"

    @property
    def expression(self) -> Expr:
        """What stands in the place of the term."""
        if not self.held:
            return as_expr(0)
        rest = tuple(pair for pair in self.piece.monomial if pair not in self.held)
        return self.value * Piece(self.piece.row, self.piece.share, rest, self.piece.coefficient).expression


@dataclass(frozen=True)
class Certificate:
    """How large the error of each equation is at most, how that is known, and what was seen at random states.

    `scales` are the largest terms of the equations in the box, `bounds` the certified errors, `seen` the largest
    errors at `samples` random states, all in the equations' own units.
    """

    method: str
    tolerance: float
    scales: tuple[float, ...]
    bounds: tuple[float, ...]
    seen: tuple[float, ...]
    samples: int

    @property
    def proven(self) -> bool:
        return self.method == "interval"


@dataclass(frozen=True)
class SimplifiedEquations:
    """Equations with fewer terms: residual = 0 within the certificate's bounds in the box.

    `complete` are the equations that they were made of, `mechanism` the model of what is left.
    """

    complete: Equations
    box: Box
    pieces: tuple[Piece, ...]
    changes: tuple[Change, ...]
    certificate: Certificate

    @cached_property
    def residual(self) -> tuple[Expr, ...]:
        """The simplified rows of M v' + b - Q + Cᵀ λ."""
        changed = {change.piece: change.expression for change in self.changes}
        rows = [as_expr(0)] * len(self.complete.layout.speeds)
        for piece in self.pieces:
            rows[piece.row] = rows[piece.row] + changed.get(piece, piece.expression)
        return tuple(rows)

    @cached_property
    def mechanism(self) -> Mechanism:
        """A model that computes with the terms that are left: states, of which q1_rate is the speed q1'.

        It simulates, differentiates, sweeps, generates and reports like any mechanism.
        """
        return state_model(self.complete, self.residual, self.box)

    def share_of(self, share: Share, row: int) -> Expr:
        """What is left of one body's or load's share of one row."""
        return self._share_rows.get((share.kind, share.owner, row), as_expr(0))

    @cached_property
    def _share_rows(self) -> dict[tuple[str, str, int], Expr]:
        changed = {change.piece: change.expression for change in self.changes}
        rows: dict[tuple[str, str, int], Expr] = {}
        for piece in self.pieces:
            key = (piece.share.kind, piece.share.owner, piece.row)
            rows[key] = rows.get(key, as_expr(0)) + changed.get(piece, piece.expression)
        return rows

    @property
    def kept(self) -> tuple[Piece, ...]:
        """The terms that are not dropped, each with the body or load it comes from."""
        gone = {change.piece for change in self.dropped}
        return tuple(piece for piece in self.pieces if piece not in gone)

    @property
    def dropped(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind == "dropped")

    @property
    def held(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind == "held")

    def errors(self, states: Mapping[Expr, Array]) -> list[float]:
        """The largest difference to the complete equations at given states, by equation."""
        return _differences(self.complete.residual, self.residual, states)


def simplify(
    equations: Equations, box: Box, tolerance: float, *, method: str = "interval", hold: bool = True, seed: int = 0
) -> SimplifiedEquations:
    """The equations without the terms whose contribution over the box is below a tolerance.

    `tolerance` is a fraction of the largest term of the same equation. `method` "interval" proves the bound, "sampling"
    observes it (for functions without intervals). `hold` also replaces factors that hardly vary by constants.
    """
    if method not in METHODS:
        raise TorseurError(f"method '{method}' is unknown; take 'interval' (a proof) or 'sampling' (an observation).")
    if not 0 <= tolerance < 1:
        raise TorseurError(f"tolerance {tolerance:g} is not a fraction of the largest term; take 0 <= tolerance < 1.")
    if not equations.layout.speeds:
        raise UnsupportedError(
            f"'{equations.mechanism.name}' has states alone: terms are neglected in balances along speeds, and "
            "equations of states stay as they are written."
        )
    pieces = _pieces(equations)
    work = _Bounds(pieces, box, method, seed)
    changes: list[Change] = []
    spent: list[float] = []
    # Dropped terms and held factors of one row share its tolerance: `used` passes from the one to the other.
    for row in range(len(equations.layout.speeds)):
        # The scale is the largest term at samples, which is a lower bound of the largest: the tolerance is never larger
        # than it says.
        allowed = tolerance * work.scale(row)
        own, used = _drop_terms(work, row, allowed)
        if hold:
            gone = {change.piece for change in own}
            kept, used = _hold_factors(work, [p for p in work.by_row(row) if p not in gone], allowed, used)
            own += kept
        changes += own
        spent.append(used)
    # What is seen at other random states than those of `method` sampling: a check from outside, and no part of the
    # bound.
    draft = SimplifiedEquations(equations, box, tuple(pieces), tuple(changes), _NOTHING)
    seen = draft.errors(box.samples(SAMPLES, seed + 1))
    scales = tuple(work.scale(row) for row in range(len(spent)))
    certificate = Certificate(method, tolerance, scales, tuple(spent), tuple(seen), SAMPLES)
    return SimplifiedEquations(equations, box, tuple(pieces), tuple(changes), certificate)


_NOTHING = Certificate("", 0.0, (), (), (), 0)


def _pieces(equations: Equations) -> list[Piece]:
    """The terms of every equation; a share that is too long to be multiplied out is one term by itself."""
    pieces = []
    for share in Shares(equations).all:
        limit = MOST_LOAD_TERMS if share.kind == LOAD else MOST_TERMS
        for row, expression in enumerate(share.rows):
            pieces += [Piece(row, share, monomial, c) for monomial, c in _terms(expression, limit).items()]
    return pieces


def _terms(expression: Expr, limit: int) -> Polynomial:
    try:
        return shorten_by_trigonometry(expand(expression, limit))
    except TooManyTerms:
        return single(expression)


class _Bounds:
    """Bounds of terms over the box: proven from the bounds of their factors, or observed at samples."""

    def __init__(self, pieces: Sequence[Piece], box: Box, method: str, seed: int) -> None:
        self.pieces = pieces
        factors = list({factor: None for piece in pieces for factor, _ in piece.monomial})
        self.samples = dict(zip(factors, _values(factors, box.samples(SAMPLES, seed)), strict=True))
        self.proven = method == "interval"
        self.bounds = {f: _factor_range(f, box) for f in factors} if self.proven else {}
        moving = set(box.varying())
        self.symbols = {f: {x for x in symbols_of([f]) if x in moving} for f in factors}

    def by_row(self, row: int) -> list[Piece]:
        return [piece for piece in self.pieces if piece.row == row]

    def scale(self, row: int) -> float:
        """The largest value that any term of a row takes at the samples."""
        return max(
            (float(np.max(np.abs(self.sampled_product(p.monomial, p.coefficient)))) for p in self.by_row(row)),
            default=0.0,
        )

    def sampled_product(self, monomial: Monomial, coefficient: Number = 1) -> Array:
        """A product of factors at the samples."""
        total = np.full(SAMPLES, float(coefficient))
        for factor, exponent in monomial:
            total = total * self.samples[factor] ** float(exponent)
        return total

    def interval(self, monomial: Monomial) -> Interval:
        """The range of a product of factors."""
        if not self.proven:
            values = self.sampled_product(monomial)
            return Interval(float(np.min(values)), float(np.max(values)))
        parts = [power(self.bounds[factor], exponent) for factor, exponent in monomial]
        return reduce(product, parts, Interval(1.0, 1.0))

    def largest(self, monomial: Monomial, coefficient: Number, spread: float = 1.0) -> float:
        """The largest magnitude of a term, times a spread; an observed one is widened."""
        if self.proven and any(math.isinf(self.bounds[factor].largest) for factor, _ in monomial):
            return math.inf
        bound = abs(float(coefficient)) * self.interval(monomial).largest * spread
        return up(bound) if self.proven else SAFETY * bound


def _factor_range(factor: Expr, box: Box) -> Interval:
    """The range of a factor; without end where no interval is known for what it is made of, so that it always stays."""
    try:
        return bounds([factor], box.ranges)[0]
    except UnsupportedError:
        return Interval(-math.inf, math.inf)


def _drop_terms(work: _Bounds, row: int, allowed: float) -> tuple[list[Change], float]:
    """The least terms, while their bounds together stay below what is allowed."""
    used, changes = 0.0, []
    sized = [(work.largest(p.monomial, p.coefficient), p) for p in work.by_row(row)]
    for bound, piece in sorted(sized, key=lambda pair: pair[0]):
        if used + bound > allowed:
            break
        used = up(used + bound)
        changes.append(Change(piece, bound))
    return changes, used


def _hold_factors(work: _Bounds, pieces: Sequence[Piece], allowed: float, used: float) -> tuple[list[Change], float]:
    """Factors of positions at the middle of their range, least error first."""
    candidates = [change for piece in pieces if (change := _hold_term(work, piece)) is not None]
    changes = []
    for change in sorted(candidates, key=lambda change: change.bound):
        if used + change.bound > allowed:
            break
        used = up(used + change.bound)
        changes.append(change)
    return changes, used


def _hold_term(work: _Bounds, piece: Piece) -> Change | None:
    """A term with its position-dependent factors held; None where it has none."""
    held = tuple((f, e) for f, e in piece.monomial if work.symbols[f] and all(_is_position(x) for x in work.symbols[f]))
    if not held or (work.proven and any(math.isinf(work.bounds[f].largest) for f, _ in piece.monomial)):
        return None
    rest = tuple(pair for pair in piece.monomial if pair not in held)
    span = work.interval(held)
    return Change(piece, work.largest(rest, piece.coefficient, span.radius), held, span.middle)


def _is_position(x: Expr) -> bool:
    return x.data.unit in ("rad", "m", "1")


def _values(expressions: Sequence[Expr], states: Mapping[Expr, Array]) -> list[Array]:
    count = len(next(iter(states.values()))) if states else 1
    values = evaluate(list(expressions), dict(states))
    return [np.broadcast_to(np.asarray(value, dtype=float), (count,)) for value in values]


def _differences(first: Sequence[Expr], second: Sequence[Expr], states: Mapping[Expr, Array]) -> list[float]:
    values = _values([*first, *second], states)
    n = len(first)
    return [float(np.max(np.abs(a - b))) for a, b in zip(values[:n], values[n:], strict=True)]
