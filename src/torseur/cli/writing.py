"""Equations at a level of detail, and their spelling in each format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from torseur.equations import Equations, program_of
from torseur.graph import Expr
from torseur.report import mathml
from torseur.report.expression import Name, Node, Number
from torseur.report.reading import latex
from torseur.report.reading.plain_text import plain
from torseur.report.reading.polynomial import TooManyTerms
from torseur.report.reading.read_graph import named, readable
from torseur.report.reading.recursion import definitions, lines

RESIDUAL = "R_"
Rows = tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Statement:
    """name = matrix, vector or expression; `expressions` are the same entries in the graph, where there are any.

    A statement that `vanishes` is an equation 0 = expression, and its name only a label.
    """

    name: Name
    rows: Rows
    shape: str  # "matrix" (symmetric), "table", "vector" or "scalar"
    expressions: tuple[tuple[Expr, ...], ...] = ()
    vanishes: bool = False
    auxiliary: bool = False  # defines an intermediate of the statements that follow

    @property
    def left(self) -> Node:
        return Number(Fraction(0)) if self.vanishes else self.name

    def document(self, form: str) -> dict[str, object]:
        """The statement as plain data."""
        spell = _SPELL.get(form, plain)
        entries = [[spell(entry) for entry in row] for row in self.rows]
        if self.shape == "scalar":
            return {"name": plain(self.name), "value": entries[0][0]}
        return {"name": plain(self.name), "value": [row[0] for row in entries] if self.shape == "vector" else entries}


def statements(equations: Equations, level: str) -> list[Statement]:
    """The equations at a level."""
    return _LEVELS[level](equations)


def _matrix_level(equations: Equations) -> list[Statement]:
    constraints = equations.constraints
    parts: list[tuple[str, Sequence[Sequence[Expr]], str]] = [
        ("M", equations.mass_matrix, "matrix"),
        ("b", [(entry,) for entry in equations.bias], "vector"),
        ("Q", [(entry,) for entry in equations.loads], "vector"),
    ]
    if constraints:
        # C v' = γ, with Cᵀ λ on the right of the equations of motion.
        parts.append(("C", [constraint.row for constraint in constraints], "table"))
        parts.append(("gamma", [(constraint.gamma,) for constraint in constraints], "vector"))
    return _statements([*parts, *_rates(equations)])


def _rates(equations: Equations) -> list[tuple[str, Sequence[Sequence[Expr]], str]]:
    """q' where it is not the speeds themselves."""
    pairs = zip(equations.layout.rates, equations.rates, strict=True)
    return [(str(rate.name), [(value,)], "scalar") for rate, value in pairs if rate is not value]


def _scalar_level(equations: Equations) -> list[Statement]:
    rows = zip(equations.layout.speed_names, equations.residual, strict=True)
    labelled = [(f"{RESIDUAL}{name.rstrip(chr(39))}", [(row,)], "scalar") for name, row in rows]
    found = _statements([*labelled, *_rates(equations)])
    return [replace(one, vanishes=one.name.text.startswith(RESIDUAL)) for one in found]


def _statements(parts: Sequence[tuple[str, Sequence[Sequence[Expr]], str]]) -> list[Statement]:
    """Readable entries; those that are long in any writing are broken up by named intermediates, which come first."""
    entries = [entry for _, rows, _ in parts for row in rows for entry in row]
    short = {entry: node for entry in entries if (node := _short(entry)) is not None}
    long = list(dict.fromkeys(entry for entry in entries if entry not in short))
    listed, nodes = definitions(long)
    written_as = {**short, **dict(zip(long, nodes, strict=True))}
    found = [Statement(line.left, ((line.right,),), "scalar", auxiliary=True) for line in listed]
    for name, rows, shape in parts:
        left = named(name) if shape == "scalar" else Name(name, bold=True)
        given = tuple(tuple(row) for row in rows)
        found.append(Statement(left, tuple(tuple(written_as[e] for e in row) for row in given), shape, given))
    return found


def _short(entry: Expr) -> Node | None:
    try:
        return readable(entry)
    except TooManyTerms:
        return None


def _recursive_level(equations: Equations) -> list[Statement]:
    names = {"tau": [f"tau_{name.rstrip(chr(39))}" for name in equations.layout.speed_names]}
    listed = lines(program_of(equations, ["inverse_dynamics"]), names)
    return [Statement(line.left, ((line.right,),), "scalar") for line in listed]


_LEVELS: dict[str, Callable[[Equations], list[Statement]]] = {
    "matrix": _matrix_level,
    "scalar": _scalar_level,
    "recursive": _recursive_level,
}


def written(equations: Equations, listed: Sequence[Statement], form: str) -> str:
    """All statements in one format."""
    if form == "sympy":
        from torseur.cli.sympy_source import source

        return source(equations, listed)
    return "\n".join(_WRITERS[form](statement) for statement in listed)


def _text(statement: Statement) -> str:
    name = plain(statement.left)
    if statement.shape == "scalar":
        return f"{name} = {plain(statement.rows[0][0])}"
    found = [(i, j, plain(entry)) for i, row in enumerate(statement.rows, 1) for j, entry in enumerate(row, 1)]
    if statement.shape == "vector":
        return "\n".join(f"{name}[{i}] = {text}" for i, _, text in found)
    triangle = statement.shape == "matrix"
    shown = [f"{name}[{i},{j}] = {text}" for i, j, text in found if text != "0" and not (triangle and j < i)]
    how = "symmetric; " if triangle else ""
    size = f"{len(statement.rows)} x {len(statement.rows[0])}"
    return "\n".join([f"{name}: {size}, {how}entries not listed are 0", *shown])


def _latex(statement: Statement) -> str:
    if statement.shape == "scalar":
        right = latex.latex(statement.rows[0][0])
    else:
        right = latex.matrix(tuple(tuple(latex.latex(entry) for entry in row) for row in statement.rows))
    return rf"\[ {latex.latex(statement.left)} = {right} \]"


def _mathml(statement: Statement) -> str:
    if statement.shape == "scalar":
        right = mathml.mathml(statement.rows[0][0])
    else:
        right = mathml.matrix(tuple(tuple(mathml.mathml(entry) for entry in row) for row in statement.rows))
    body = mathml.mathml(statement.left) + mathml.operator("=") + right
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">{body}</math>'


_WRITERS: dict[str, Callable[[Statement], str]] = {"text": _text, "latex": _latex, "mathml": _mathml}
_SPELL: dict[str, Callable[[Node], str]] = {"latex": latex.latex, "mathml": mathml.mathml}
