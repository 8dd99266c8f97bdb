"""Components of vectors and matrices: as people give them, as arrays, in SymPy, and as columns of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from numbers import Number
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, as_expr, directional_derivative, from_sympy, symbols_of, to_sympy
from torseur.algebra.spatial.vector import Matrix3, Scalar, Symmetric3, Vec3
from torseur.edges.arguments import ArgumentError

Components = Vec3 | Iterable[Scalar]
"""Three numbers or expressions: a Vec3, a list, a NumPy array, a SymPy column."""
SixArray = np.ndarray[Any, np.dtype[Any]]


def as_scalar(value: Any, what: str) -> Scalar:
    """A number or an expression as it is; anything else is refused by name."""
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "__expr__") and not isinstance(value, Expr):
        return as_expr(value)
    # The class of x(t) has no module of its own, those that it comes from have.
    packages = {(kind.__module__ or "").partition(".")[0] for kind in type(value).__mro__}
    is_matrix = getattr(value, "shape", None) not in (None, ())
    if isinstance(value, bool) or is_matrix or not (isinstance(value, Expr | Number) or packages & {"sympy", "mpmath"}):
        raise ArgumentError(f"{what}: {_text(value)} is neither a number nor an expression (ts.symbol, SymPy).")
    if isinstance(value, complex) or (isinstance(value, float) and not isfinite(value)):
        raise ArgumentError(f"{what}: {value!r} is not a finite real number.")
    return value


def _text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def as_vector(value: Components, what: str) -> Vec3:
    """Three components; a row or a column of a matrix will do."""
    if type(value) is Vec3:
        return value
    if hasattr(value, "tolist"):  # arrays and matrices, SymPy's too, of one row or one column
        value = [x for row in value.tolist() for x in (row if isinstance(row, list) else [row])]
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ArgumentError(f"{what}: expected three components, such as [0, 0, 1]; got {_text(value)}.")
    parts = [*value]
    if len(parts) != 3:
        raise ArgumentError(f"{what}: expected three components, such as [0, 0, 1]; got {len(parts)}.")
    x, y, z = (as_scalar(part, what) for part in parts)
    return Vec3(x, y, z)


def as_rows(value: Any, what: str) -> tuple[Vec3, Vec3, Vec3]:
    """The rows of a 3x3 matrix: nested lists, a NumPy array or a SymPy matrix."""
    if isinstance(value, Matrix3 | Symmetric3):
        return value.rows
    rows = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(rows, str) or not isinstance(rows, Sequence) or len(rows) != 3:
        raise ArgumentError(f"{what}: expected a 3x3 matrix by rows, such as [[1, 0, 0], [0, 1, 0], [0, 0, 1]].")
    a, b, c = (as_vector(row, f"{what}, row {k + 1}") for k, row in enumerate(rows))
    return a, b, c


def is_number(value: Scalar) -> bool:
    """Whether a scalar is a plain number, with no symbol and no exact root in it."""
    return isinstance(value, Number) or (isinstance(value, Expr) and value.is_constant)


def array(entries: Sequence[Any]) -> SixArray:
    """An array of floats where all entries are numbers, of expressions otherwise."""
    rows = [[*entry] if isinstance(entry, list | tuple | Vec3) else [entry] for entry in entries]
    numeric = all(is_number(x) for row in rows for x in row)
    made = np.empty((len(rows), len(rows[0])), dtype=float if numeric else object)
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            made[i, j] = float(x.value if isinstance(x, Expr) else x) if numeric else x
    return made if isinstance(entries[0], list | tuple | Vec3) else made[:, 0]


def blocks(corners: Sequence[Sequence[Matrix3]]) -> SixArray:
    """A 6x6 array from four 3x3 blocks."""
    return array([[*a, *b] for left, right in corners for a, b in zip(left.rows, right.rows, strict=True)])


def in_sympy(entries: Iterable[Any]) -> list[Any]:
    """Entries in SymPy; floats keep their digits."""
    import sympy as sp

    return [to_sympy(x) if isinstance(x, Expr) else sp.sympify(x) for x in entries]


def differentiate(entries: Sequence[Scalar], by: Any, what: str) -> list[Scalar]:
    """Derivatives of components by a symbol, or along the rates {symbol: rate} of several."""
    # Along rates: one forward sweep for d/dt, instead of one for each coordinate and their sum.
    rates = by if isinstance(by, Mapping) else {by: 1}
    if not rates:
        raise ArgumentError(f"{what}: no symbol to differentiate by.")
    if all(isinstance(symbol, Expr) or hasattr(symbol, "__expr__") for symbol in rates):
        direction = {as_expr(symbol): rate for symbol, rate in rates.items()}
        if foreign := [x for x in entries if not (is_number(x) or isinstance(x, Expr))]:
            raise ArgumentError(f"{what}: {foreign[0]} is SymPy's, and the symbol is ours; use one kind.")
        return [*directional_derivative([as_expr(x) for x in entries], direction)]
    if foreign := [x for x in entries if isinstance(x, Expr) and not x.is_constant]:
        raise ArgumentError(f"{what}: {foreign[0]} is an expression of ts.symbol; differentiate by such a symbol.")
    import sympy as sp

    if wrong := [symbol for symbol in rates if not getattr(symbol, "_diff_wrt", False)]:
        raise ArgumentError(f"{what}: {_text(wrong[0])} is not a symbol of torseur or SymPy.")
    return [sum(sp.diff(x, symbol) * rate for symbol, rate in rates.items()) for x in in_sympy(entries)]


def shortened(value: Scalar) -> Scalar:
    """The same value with sums of sines and cosines of one angle shortened."""
    if is_number(value):
        return value
    import sympy as sp

    if isinstance(value, Expr):
        ours = {str(node.name): node for node in symbols_of([value])}
        return from_sympy(sp.trigsimp(sp.expand(to_sympy(value))), ours)
    return sp.trigsimp(sp.expand(value))


def text(value: Scalar) -> str:
    """A component as people write it: few digits, no negative zero."""
    if isinstance(value, Number) and not isinstance(value, int):
        return f"{float(value) + 0.0:.6g}"  # type: ignore[arg-type]
    return str(value)


def bracketed(rows: Sequence[Sequence[Scalar]], ruled: bool = False) -> str:
    """Rows between the brackets of a matrix, columns aligned; `ruled` sets its 3x3 blocks apart."""
    cells = [[text(x) for x in row] for row in rows]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    lines = []
    for i, row in enumerate(cells):
        parts = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        if ruled and len(parts) == 6:
            parts = [*parts[:3], "|", *parts[3:]]
        if ruled and i == 3:
            lines.append("| " + "-" * (sum(map(len, parts)) + 2 * len(parts) - 2) + " |")
        lines.append("| " + "  ".join(parts) + " |")
    return "\n".join(lines)


def latex_column(names: Sequence[Scalar]) -> str:
    """A column or matrix for notebooks."""
    import sympy as sp

    entries = [in_sympy(row if isinstance(row, list | tuple) else [row]) for row in names]
    return f"$\\displaystyle {sp.latex(sp.Matrix(entries))}$"
