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
from torseur.report.reading.read_graph import named, readable
from torseur.report.reading.recursion import lines

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
    return [
        _statement("M", equations.mass_matrix, "matrix"),
        _statement("b", [(entry,) for entry in equations.bias], "vector"),
        _statement("Q", [(entry,) for entry in equations.loads], "vector"),
        *_constraints(equations),
        *_rates(equations),
    ]


def _constraints(equations: Equations) -> list[Statement]:
    """C and γ of C v' = γ, with Cᵀ λ on the right of the equations of motion."""
    if not equations.constraints:
        return []
    rows = [constraint.row for constraint in equations.constraints]
    gammas = [(constraint.gamma,) for constraint in equations.constraints]
    return [_statement("C", rows, "table"), _statement("gamma", gammas, "vector")]


def _rates(equations: Equations) -> list[Statement]:
    """q' where it is not the speeds themselves."""
    pairs = zip(equations.layout.rates, equations.rates, strict=True)
    return [_scalar(str(rate.name), value) for rate, value in pairs if rate is not value]


def _scalar_level(equations: Equations) -> list[Statement]:
    rows = zip(equations.layout.speed_names, equations.residual, strict=True)
    found = [_scalar(f"R_{name.rstrip(chr(39))}", row) for name, row in rows]
    return [*(replace(one, vanishes=True) for one in found), *_rates(equations)]


def _recursive_level(equations: Equations) -> list[Statement]:
    names = {"tau": [f"tau_{name.rstrip(chr(39))}" for name in equations.layout.speed_names]}
    listed = lines(program_of(equations, ["inverse_dynamics"]), names)
    return [Statement(line.left, ((line.right,),), "scalar") for line in listed]


_LEVELS: dict[str, Callable[[Equations], list[Statement]]] = {
    "matrix": _matrix_level,
    "scalar": _scalar_level,
    "recursive": _recursive_level,
}


def _statement(name: str, rows: Sequence[Sequence[Expr]], shape: str) -> Statement:
    entries = tuple(tuple(row) for row in rows)
    return Statement(Name(name, bold=True), tuple(tuple(readable(e) for e in row) for row in entries), shape, entries)


def _scalar(name: str, value: Expr) -> Statement:
    return Statement(named(name), ((readable(value),),), "scalar", ((value,),))


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
