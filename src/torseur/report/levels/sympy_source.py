"""Equations as Python text that builds them in SymPy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torseur.equations import Equations
from torseur.graph import Expr, substitute, symbol, symbols_of
from torseur.graph.sympy_bridge import to_sympy
from torseur.report.expression import Call, Name, Node, Number, inside, made_of, names_in
from torseur.report.levels.statement import Statement
from torseur.report.reading.plain_text import plain

RESERVED = {"M", "b", "Q", "sympy", "lambda", "in", "is", "as", "if", "or", "and", "not", "I", "E", "S", "N", "pi"}

# Functions by their names in SymPy; comparisons and choices are built from its own.
SAME_NAME = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "sign"}
SAME_NAME |= {"floor", "abs"}
MEANINGS = {
    "both": "And",
    "invert": "Not",
    "min": "Min",
    "max": "Max",
    "where": "lambda condition, a, b: Piecewise((a, condition), (b, True))",
}


def source(equations: Equations, listed: Sequence[Statement]) -> str:
    """A Python program that defines every statement as a SymPy matrix or expression."""
    if any(statement.summands for statement in listed):
        return _vectors(listed)
    if all(statement.expressions for statement in listed):
        return _from_graph(equations, listed)
    return _from_lines(listed)


def _from_graph(equations: Equations, listed: Sequence[Statement]) -> str:
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
    left = _identifier(statement.name).rstrip("_")
    rows = [[str(e) for e in to_sympy(substitute(row, names), called)] for row in statement.expressions]
    if statement.shape == "scalar":
        return f"{left} = {rows[0][0]}"
    return f"{left} = {_matrix(rows)}"


def _matrix(rows: Sequence[Sequence[str]]) -> str:
    inside = ",\n    ".join(f"[{', '.join(row)}]" for row in rows)
    return f"Matrix([\n    {inside},\n])" if rows else "Matrix(0, 0, [])"


def _from_lines(listed: Sequence[Statement]) -> str:
    """Named intermediates as assignments, each before it is used."""
    entries = [entry for statement in listed for row in statement.rows for entry in row]
    defined = {statement.name for statement in listed}
    used = dict.fromkeys(name for entry in entries for name in _names(entry))
    lines = ["from sympy import *", ""]
    free = [one for one in used if one.text not in defined and one.text != "pi"]
    lines += [
        f"{_identifier(n.text + chr(39) * n.dots)} = Symbol({n.text + chr(39) * n.dots!r}, real=True)" for n in free
    ]
    functions = dict.fromkeys(call for entry in entries for call in _calls(entry))
    lines += [f"{_identifier(f)} = {_function(f)}" for f in functions if f not in SAME_NAME]
    lines.append("")
    return "\n".join([*lines, *map(_assigned, _in_order(listed))])


def _function(name: str) -> str:
    """What a function of the equations is in SymPy: one of its own, or undetermined."""
    return MEANINGS.get(name, f"Function({name!r})")


def _in_order(listed: Sequence[Statement]) -> list[Statement]:
    """The statements with what they use before them."""
    by_name = {one.name: one for one in listed if one.auxiliary}
    found: dict[str, Statement] = {}

    def add(one: Statement) -> None:
        if one.name not in found:
            for name in {name for row in one.rows for entry in row for name in names_in(entry)} & by_name.keys():
                add(by_name[name])
            found[one.name] = one

    for one in listed:
        add(one)
    return list(found.values())


def _assigned(one: Statement) -> str:
    if one.shape == "scalar":
        return f"{_identifier(one.name)} = {_python(one.right)}"
    return f"{_identifier(one.name).rstrip('_')} = {_matrix([[*map(_python, row)] for row in one.rows])}"


def _names(node: Node) -> Iterable[Name]:
    if isinstance(node, Name):
        yield node
    for inner in inside(node):
        yield from _names(inner)


def _calls(node: Node) -> Iterable[str]:
    if isinstance(node, Call):
        yield node.function
    for inner in inside(node):
        yield from _calls(inner)


def _python(node: Node) -> str:
    return plain(_for_python(node)).replace("^", "**")


def _for_python(node: Node) -> Node:
    """The expression with names Python accepts and exact fractions."""
    match node:
        case Name():
            return Name(_identifier(node.text + "'" * node.dots)) if node.text != "pi" else node
        case Number(value=value) if not isinstance(value, float) and value.denominator != 1:
            return Name(f"Rational({value.numerator}, {value.denominator})")
        case Call():
            return Call(_identifier(node.function), tuple(map(_for_python, node.arguments)))
    return made_of(node, tuple(map(_for_python, inside(node))))


def _vectors(listed: Sequence[Statement]) -> str:
    """Balances as pairs of expressions of declared vectors; definitions as a dictionary to substitute."""
    given = [(statement, sides) for statement in listed if (sides := statement.intrinsic) is not None]
    writer = _VectorWriter([side for _, sides in given for side in sides])
    lines = [
        "from sympy import *",
        "from torseur.equations.intrinsic import *",
        "",
        *writer.declarations(),
        "",
        "balances = {",
    ]
    lines += [f"    {s.title!r}: ({writer.code(a)}, {writer.code(b)})," for s, (a, b) in given if not s.auxiliary]
    lines += ["}", "definitions = {"]
    lines += [f"    {writer.code(a)}: {writer.code(b)}," for s, (a, b) in given if s.auxiliary]
    return "\n".join([*lines, "}"])


class _VectorWriter:
    """Python code of intrinsic expressions."""

    def __init__(self, expressions: Sequence[Any]) -> None:
        from sympy import Basic

        self.leaves: dict[Any, str] = {}
        for e in expressions:
            for leaf in Basic.atoms(e) | _declared(e) if isinstance(e, Basic) else ():
                if leaf not in self.leaves and (hasattr(leaf, "properties") or leaf.is_Symbol):
                    self.leaves[leaf] = _identifier(f"{leaf.name}{chr(39) * getattr(leaf, 'dots', 0)}")

    def declarations(self) -> list[str]:
        """Every symbol by what it is."""
        scalars = [leaf for leaf in self.leaves if not hasattr(leaf, "properties") and str(leaf) != "t"]
        lines = ["t = Symbol('t')"]
        lines += [f"{self.leaves[x]} = Symbol({x.name!r})" for x in sorted(scalars, key=str)]
        for leaf in sorted((x for x in self.leaves if hasattr(x, "properties")), key=str):
            kind = "vector" if tuple(map(int, leaf.shape)) == (3, 1) else "matrix"
            options = "".join(f", {word}=True" for word in sorted(leaf.properties))
            options += f", dots={leaf.dots}" if leaf.dots else ""
            lines.append(f"{self.leaves[leaf]} = {kind}({leaf.name!r}{options})")
        return lines

    def code(self, e: Any) -> str:
        """An expression as it is typed."""
        from sympy import Add, Derivative, Mul, sympify
        from sympy.core.function import AppliedUndef
        from sympy.matrices.expressions import MatAdd, MatMul, ZeroMatrix

        from torseur.equations.intrinsic import Cross, Dot

        e = sympify(e)
        if e in self.leaves:
            return self.leaves[e]
        if isinstance(e, Cross | Dot):
            return f"{type(e).__name__}({', '.join(map(self.code, e.args))})"
        if isinstance(e, MatAdd | Add):
            return "(" + " + ".join(map(self.code, e.args)) + ")"
        if isinstance(e, MatMul | Mul):
            return "*".join(map(self.code, e.args))
        if isinstance(e, ZeroMatrix):
            return "ZeroMatrix(3, 1)"
        if isinstance(e, Derivative):
            return f"Derivative({self.code(e.expr)}, (t, {e.derivative_count}))"
        return f"Function({e.func.__name__!r})(t)" if isinstance(e, AppliedUndef) else str(e)


def _declared(e: Any) -> set[Any]:
    return {x for x in e.atoms(type(e)) | set(e.find(lambda x: hasattr(x, "properties")))}
