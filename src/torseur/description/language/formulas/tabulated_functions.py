"""Functions given by points: in the text, or in a file beside it."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from torseur.algebra.graph import Table
from torseur.description.language.formulas.dimensions import dimension_of
from torseur.description.language.formulas.name_scope import Context, Function
from torseur.description.language.formulas.scalar_formulas import Term
from torseur.description.language.reading.reading_context import Workshop
from torseur.description.language.syntax import syntax_nodes as x
from torseur.edges.budgets import bounded_text

LARGEST_FILE = 10_000_000
MOST_ROWS = 100_000
LARGEST_TILT = math.radians(80)
Rows = npt.NDArray[np.float64]


def declare_table(statement: x.TableIs, shop: Workshop) -> None:
    """Makes a tabulated function known under its name."""
    name = statement.name.text
    if not shop.define(statement.name, "table", shop.scope.functions):
        return
    unit = "1" if statement.unit is None else shop.formulas.unit(statement.unit) or "1"
    degree = _degree(statement, shop)
    rows = _written_rows if not isinstance(statement.points, x.Text) else _file_rows
    build = rows(statement, shop)
    file = f", {statement.points.text}" if isinstance(statement.points, x.Text) else ""
    place = f"{shop.place(statement.name)}{file}"

    @lru_cache(maxsize=1)
    def table() -> Table:
        points = build()
        empty = Table(name, (0.0, 1.0, 2.0, 3.0), (0.0,) * 4)
        columns = tuple(points[:, 0].tolist()), tuple(points[:, 1].tolist())
        return shop.attempt(statement.name, lambda: Table(name, *columns, degree, unit, place=place), empty)

    shop.scope.functions[name] = Function((None,), dimension_of(unit), table)


def _degree(statement: x.TableIs, shop: Workshop) -> int:
    if statement.degree is None or statement.degree.text in ("3", "5"):
        return 3 if statement.degree is None else int(statement.degree.text)
    shop.scope.fault(statement.degree, "the order of a table's spline is 3 or 5.")
    return 3


def _written_rows(statement: x.TableIs, shop: Workshop) -> Callable[[], Rows]:
    """Points `[x, y]` of the text: plain numbers in SI."""
    pairs: list[tuple[Term, Term]] = []
    assert not isinstance(statement.points, x.Text)
    for point in statement.points:
        if not isinstance(point, x.Bracket) or len(point.components) != 2 or point.unit is not None:
            shop.scope.fault(point, "a point of a table is [x, y].")
            continue
        first, second = (shop.formulas.read(c, None, Context(statement.name.text)) for c in point.components)
        pairs.append((first, second))

    def build() -> Rows:
        numbers = [[_value(term, shop) for term in pair] for pair in pairs]
        return np.array(numbers, dtype=float).reshape(-1, 2)

    return build


def _value(term: Term, shop: Workshop) -> float:
    """A number of a table; the sign of a zero is kept, since tables are equal to the last bit."""
    node = term.node
    if isinstance(node, x.Negative) and isinstance(node.operand, x.Number) and node.operand.unit is None:
        return -float(node.operand.text)
    return shop.attempt(node, lambda: float(term.build()), 0.0)


def _file_rows(statement: x.TableIs, shop: Workshop) -> Callable[[], Rows]:
    assert isinstance(statement.points, x.Text)
    rows = read_rows(statement.points, 2, shop)
    return lambda: np.zeros((0, 2)) if rows is None else rows


def read_rows(file: x.Text, columns: int, shop: Workshop) -> Rows | None:
    """The numbers of a file beside the text; None after noting what is wrong with it."""
    path = _path_of(file, shop)
    if path is None:
        return None
    try:
        if path.stat().st_size > LARGEST_FILE:
            shop.scope.fault(file, f"table '{file.text}' is larger than {LARGEST_FILE} bytes.")
            return None
        lines = bounded_text(path, LARGEST_FILE).splitlines()
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not text"
        shop.scope.fault(file, f"table '{file.text}' cannot be read: {reason}.")
        return None
    return _numbers(lines, columns, file, shop)


def _path_of(file: x.Text, shop: Workshop) -> Path | None:
    """The file's path, which must lie in the folder of the text."""
    if shop.directory is None:
        shop.scope.fault(file, f"table '{file.text}' cannot be found: this text has no folder. Load it from a file.")
        return None
    root = shop.directory.resolve()
    try:
        path = (root / file.text).resolve()
    except (OSError, ValueError, RuntimeError):
        path = Path("/")
    if not file.text or not path.is_relative_to(root) or path == root:
        shop.scope.fault(file, f"table '{file.text}' must lie in the folder of the description.")
        return None
    return path


def _numbers(lines: list[str], columns: int, file: x.Text, shop: Workshop) -> Rows | None:
    """Rows of numbers between commas, semicolons or spaces; a first line of words and what follows # are skipped."""
    rows: list[list[float | None]] = []
    for number, line in enumerate(lines, 1):
        fields = line.partition("#")[0].replace(",", " ").replace(";", " ").split()
        values = [_float(entry) for entry in fields]
        if not fields or (not rows and all(value is None for value in values)):
            continue
        if len(values) != columns or any(value is None for value in values):
            shop.scope.fault(
                file, f"table '{file.text}', line {number}: expected {columns} numbers, got '{line[:40]}'."
            )
            return None
        rows.append(values)
        if len(rows) > MOST_ROWS:
            shop.scope.fault(file, f"table '{file.text}' has more than {MOST_ROWS} rows.")
            return None
    return np.array(rows, dtype=float).reshape(-1, columns)


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def screw_tables(file: x.Text, joint: str, shop: Workshop) -> list[Table] | None:
    """Six tables of a measured joint: position x, y, z and Bryant angles about x, y, z.

    The file holds the coordinate, the position and the rotation vector. Rotation vectors are turned into Bryant angles
    point by point, so the joint passes through every measured position and rotation exactly and is
    twice differentiable between them.
    """
    rows = read_rows(file, 7, shop)
    if rows is None:
        return None
    angles = bryant_angles(rows[:, 4:7])
    if np.any(np.abs(angles[:, 1]) > LARGEST_TILT):
        shop.scope.fault(
            file, f"table '{file.text}' tilts by more than 80 deg about y, where its angles are not defined."
        )
        return None
    columns = [*rows[:, 1:4].T, *angles.T]
    names = ("x", "y", "z", "about_x", "about_y", "about_z")
    points = tuple(float(v) for v in rows[:, 0])

    def make() -> list[Table] | None:
        return [
            Table(f"{joint}.{name}", points, tuple(float(v) for v in column), 3, "m" if len(name) == 1 else "rad")
            for name, column in zip(names, columns, strict=True)
        ]

    return shop.attempt(file, make, None)


def bryant_angles(vectors: Rows) -> Rows:
    """Angles (a, b, c) with Rx(a) Ry(b) Rz(c) the rotation of each rotation vector, continuous from row to row."""
    size = np.linalg.norm(vectors, axis=1)
    # Two sinc functions keep Rodrigues' formula regular at zero rotation.
    first = np.sinc(size / np.pi)
    second = 0.5 * np.sinc(size / (2 * np.pi)) ** 2
    x_, y_, z_ = vectors.T
    cosine = 1 - second * size**2
    tilt = np.arcsin(np.clip(first * y_ + second * x_ * z_, -1.0, 1.0))
    about_x = np.arctan2(first * x_ - second * y_ * z_, cosine + second * z_ * z_)
    about_z = np.arctan2(first * z_ - second * x_ * y_, cosine + second * x_ * x_)
    return np.column_stack([np.unwrap(about_x), tilt, np.unwrap(about_z)])
