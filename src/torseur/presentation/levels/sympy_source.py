"""Statements as a Python program that builds them in SymPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torseur.algebra.graph import Expr, substitute, symbol, symbols_of
from torseur.algebra.graph.sympy.sympy_bridge import to_sympy
from torseur.derivation.equations import Equations
from torseur.presentation.levels.statement import Statement
from torseur.presentation.typesetting.formula_tree import names_in
from torseur.presentation.typesetting.sympy_code import VectorCode, declarations, identifier, matrix, sympy_code


def source(equations: Equations, listed: Sequence[Statement]) -> str:
    """A Python program that defines every statement as a SymPy matrix or expression."""
    # Three sources, the richest first: vectors as SymPy has them, expressions of the graph, and at last the written
    # lines.
    if any(statement.summands for statement in listed):
        return _vectors(listed)
    if all(statement.expressions for statement in listed):
        return _from_graph(equations, listed)
    return _from_lines(listed)


def _from_graph(equations: Equations, listed: Sequence[Statement]) -> str:
    names = _identifiers([e for statement in listed for row in statement.expressions for e in row])
    lines = ["from sympy import *", ""]
    lines += [f"{new.name} = Symbol({old.name!r}, real=True)" for old, new in names.items()]
    functions = {node.data.function.name: identifier(node.data.function.name) for node in equations.undetermined}
    lines += [f"{new} = Function({old!r})" for old, new in functions.items()]
    return "\n".join([*lines, "", *(_definition(statement, names, functions) for statement in listed)])


def _identifiers(expressions: Sequence[Expr]) -> dict[Expr, Expr]:
    """For every symbol, one whose name Python accepts: q1' is q1_d, arm.mass is arm_mass."""
    renamed: dict[Expr, Expr] = {}
    taken: set[str] = set()
    for old in symbols_of(expressions):
        name = identifier(str(old.name))
        while name in taken:
            name += "_"
        taken.add(name)
        renamed[old] = symbol(name)
    return renamed


def _definition(statement: Statement, names: Mapping[Expr, Expr], functions: Mapping[str, str]) -> str:
    from sympy import Function

    called = {old: Function(new) for old, new in functions.items()}
    left = identifier(statement.name).rstrip("_")
    rows = [[str(e) for e in to_sympy(substitute(row, names), called)] for row in statement.expressions]
    if statement.shape == "scalar":
        return f"{left} = {rows[0][0]}"
    return f"{left} = {matrix(rows)}"


def _from_lines(listed: Sequence[Statement]) -> str:
    """Named intermediates as assignments, each before it is used."""
    entries = [entry for statement in listed for row in statement.rows for entry in row]
    defined = {statement.name for statement in listed}
    lines = ["from sympy import *", "", *declarations(entries, defined), ""]
    return "\n".join([*lines, *map(_assignment, _in_order(listed))])


def _in_order(listed: Sequence[Statement]) -> list[Statement]:
    """The statements with what they use before them."""
    by_name = {one.name: one for one in listed if one.auxiliary}
    ordered: dict[str, Statement] = {}

    def add(one: Statement) -> None:
        if one.name not in ordered:
            used = {name for row in one.rows for entry in row for name in names_in(entry)}
            for name in by_name:  # not `used`: the order of a set of names differs from run to run
                if name in used:
                    add(by_name[name])
            ordered[one.name] = one

    for one in listed:
        add(one)
    return list(ordered.values())


def _assignment(one: Statement) -> str:
    if one.shape == "scalar":
        return f"{identifier(one.name)} = {sympy_code(one.right)}"
    return f"{identifier(one.name).rstrip('_')} = {matrix([[*map(sympy_code, row)] for row in one.rows])}"


def _vectors(listed: Sequence[Statement]) -> str:
    """Balances as pairs of expressions of declared vectors; definitions as a dictionary to substitute."""
    given = [(statement, sides) for statement in listed if (sides := statement.intrinsic) is not None]
    writer = VectorCode([side for _, sides in given for side in sides])
    lines = [
        "from sympy import *",
        "from torseur.derivation.equations.intrinsic import *",
        "",
        *writer.declarations(),
        "",
        "balances = {",
    ]
    lines += [f"    {s.title!r}: ({writer.code(a)}, {writer.code(b)})," for s, (a, b) in given if not s.auxiliary]
    lines += ["}", "definitions = {"]
    lines += [f"    {writer.code(a)}: {writer.code(b)}," for s, (a, b) in given if s.auxiliary]
    return "\n".join([*lines, "}"])
