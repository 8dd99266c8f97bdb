"""Undetermined functions f(x, x') with formal derivatives, and tabulated ones (splines)."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.graph.expr import Expr, ExprLike, as_expr, intern
from torseur.errors import TorseurError, counted

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class UndeterminedFunction:
    """A function known only by name and arguments; its partial derivatives are functions too."""

    name: str
    arity: int
    unit: str = "1"
    meaning: str = ""

    def __call__(self, *arguments: ExprLike) -> Expr:
        if len(arguments) != self.arity:
            raise TorseurError(f"function '{self.name}' takes {self.arity} arguments, got {len(arguments)}.")
        orders = (0,) * self.arity
        return intern("apply", tuple(as_expr(a) for a in arguments), Application(self, orders))


@dataclass(frozen=True)
class Application:
    """Data of an "apply" node: which function, differentiated how often by each argument."""

    function: UndeterminedFunction
    orders: tuple[int, ...]

    def partial(self, index: int) -> Application:
        orders = tuple(n + (i == index) for i, n in enumerate(self.orders))
        return Application(self.function, orders)

    @property
    def name(self) -> str:
        """f for the function itself, f_1_2 for its derivative once by argument 0 and twice by argument 1."""
        return self.function.name + ("" if not any(self.orders) else "".join(f"_{n}" for n in self.orders))


@dataclass(frozen=True, eq=False)
class Table:
    """A function given by points: a spline of degree 3 (twice differentiable) or 5 (four times).

    Beyond the ends the boundary polynomial continues. Two tables are equal when their name, unit, degree and
    numbers are.
    """

    name: str
    points: tuple[float, ...]
    values: tuple[float, ...]
    degree: int = 3
    unit: str = "1"
    content: str = field(init=False, repr=False, default="")
    """A hash of the numbers, which decides what generated code computes."""
    place: str = field(repr=False, default="")
    """Where a text says it, with the file that it names; no part of what the table is."""

    def __post_init__(self) -> None:
        x, y = self._column("points"), self._column("values")
        _check(f"table '{self.name}'", x, y, self.degree)
        object.__setattr__(self, "points", tuple(x.tolist()))
        object.__setattr__(self, "values", tuple(y.tolist()))
        # What generated code may keep: name and unit play no part in the numbers.
        content = np.concatenate([x, y, [self.degree]]).tobytes()
        object.__setattr__(self, "content", hashlib.sha256(content).hexdigest())

    def _column(self, which: str) -> Floats:
        try:
            return np.asarray(getattr(self, which), dtype=float)
        except (TypeError, ValueError):
            raise TorseurError(f"table '{self.name}': the {which} must be numbers.") from None

    @property
    def _identity(self) -> tuple[str, str, str]:
        return self.name, self.unit, self.content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __call__(self, argument: ExprLike) -> Expr:
        return intern("table", (as_expr(argument),), TableLookup(self, 0))

    @property
    def knots(self) -> Floats:
        """Interval boundaries, increasing."""
        return self._pieces[0]

    @property
    def coefficients(self) -> Floats:
        """Row k: polynomial on interval k in powers of (x - knots[k]), constant first."""
        return self._pieces[1]

    @cached_property
    def _pieces(self) -> tuple[Floats, Floats]:
        from scipy.interpolate import PPoly, make_interp_spline

        # Not-a-knot at both ends: no slope or curvature is invented that the points do not show.
        spline = make_interp_spline(np.asarray(self.points), np.asarray(self.values), k=self.degree)
        pieces = PPoly.from_spline(spline.tck)
        # SciPy repeats the end knots, and its polynomials stand in columns, highest power first.
        keep = np.flatnonzero(np.diff(pieces.x) > 0)
        return np.append(pieces.x[keep], pieces.x[keep[-1] + 1]), pieces.c[::-1, keep].T.copy()

    def value(self, x: Any, order: int = 0) -> Any:
        """The spline's derivative of the given order at x (any number, or an array)."""
        place = x if isinstance(x, np.ndarray) else float(x)
        # Clipped: beyond the ends the first and last polynomials go on, as generated code does it.
        interval = np.clip(np.searchsorted(self.knots, place, side="right") - 1, 0, len(self.knots) - 2)
        local = x - self.knots[interval]
        rows = self.coefficients[interval]
        # Horner's rule on the derivative, dⁿ xᵏ/dxⁿ = k!/(k-n)! xᵏ⁻ⁿ, in the scalar of x.
        result = 0 * local
        for power in range(self.degree, order - 1, -1):
            result = result * local + rows[..., power] * math.perm(power, order)
        return result


def _check(where: str, x: Floats, y: Floats, degree: int) -> None:
    if degree not in (3, 5):
        raise TorseurError(f"{where}: the degree must be 3 or 5, got {degree}.")
    if x.shape != y.shape or x.ndim != 1:
        raise TorseurError(f"{where} has {x.size} points but {y.size} values.")
    if x.size <= degree:
        raise TorseurError(f"{where} has {counted(x.size, 'point')}; degree {degree} needs at least {degree + 1}.")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        raise TorseurError(f"{where} holds a value that is not finite.")
    if not np.all(np.diff(x) > 0):
        at = int(np.flatnonzero(np.diff(x) <= 0)[0])
        raise TorseurError(f"{where} is not increasing: point {at + 2} ({x[at + 1]:g}) follows {x[at]:g}.")


@dataclass(frozen=True)
class TableLookup:
    """Data of a "table" node: which table, differentiated how often."""

    table: Table
    order: int

    @property
    def name(self) -> str:
        return self.table.name + "_d" * self.order
