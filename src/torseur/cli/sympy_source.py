"""Equations as Python text that builds them in SymPy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from torseur.cli.exits import USAGE, CommandError
from torseur.equations import Equations
from torseur.graph import Expr, substitute, symbol, symbols_of
from torseur.graph.sympy_bridge import to_sympy

if TYPE_CHECKING:
    from torseur.cli.writing import Statement

RESERVED = {"M", "b", "Q", "sympy", "lambda", "in", "is", "as", "if", "or", "and", "not", "I", "E", "S", "N", "pi"}


def source(equations: Equations, listed: Sequence[Statement]) -> str:
    """A Python program that defines every statement as a SymPy matrix or expression."""
    listed = [statement for statement in listed if not statement.auxiliary]
    if any(not statement.expressions for statement in listed):
        raise CommandError("the recursive level has no SymPy form; use --level matrix or scalar.", USAGE)
    names = _identifiers([e for statement in listed for row in statement.expressions for e in row])
    lines = ["from sympy import *", ""]
    lines += [f"{new.name} = Symbol({old.name!r}, real=True)" for old, new in names.items()]
    functions = {node.data.function.name: _identifier(node.data.function.name) for node in equations.undetermined}
    lines += [f"{new} = Function({old!r})" for old, new in functions.items()]
    return "\n".join([*lines, "", *(_definition(statement, names, functions) for statement in listed)])


def _identifiers(expressions: Sequence[Expr]) -> dict[Expr, Expr]:
    """For every symbol, one whose name Python accepts: q1' is q1_d, arm.mass is arm_mass."""
    found: dict[Expr, Expr] = {}
    taken: set[str] = set()
    for old in symbols_of(expressions):
        name = _identifier(str(old.name))
        while name in taken:
            name += "_"
        taken.add(name)
        found[old] = symbol(name)
    return found


def _identifier(name: str) -> str:
    bare = name.rstrip("'")
    dots = len(name) - len(bare)
    text = re.sub(r"\W", "_", bare) + ("_" + "d" * dots if dots else "")
    return f"{text}_" if text in RESERVED or text[:1].isdigit() else text


def _definition(statement: Statement, names: Mapping[Expr, Expr], functions: Mapping[str, str]) -> str:
    from sympy import Function

    called = {old: Function(new) for old, new in functions.items()}
    left = _identifier(statement.name.text + "'" * statement.name.dots).rstrip("_")
    rows = [[str(e) for e in to_sympy(substitute(row, names), called)] for row in statement.expressions]
    if statement.shape == "scalar":
        return f"{left} = {rows[0][0]}"
    inside = ",\n    ".join(f"[{', '.join(row)}]" for row in rows)
    return f"{left} = Matrix([\n    {inside},\n])"
