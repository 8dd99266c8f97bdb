"""Python that builds an expression in SymPy, from a neutral expression tree or from the intrinsic algebra."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from torseur.presentation.typesetting.formula_tree import Call, Name, Node, Number, children, rebuild
from torseur.presentation.typesetting.plain_text import plain_text

PRIME = "'"
# Names that `from sympy import *`, Python or the program itself gives a meaning.
RESERVED = {"M", "b", "Q", "sympy", "lambda", "in", "is", "as", "if", "or", "and", "not", "I", "E", "S", "N", "pi"}

# Functions by their names in SymPy; comparisons and choices are built from its own.
SAME_NAME = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "sqrt", "exp", "log", "sign"}
SAME_NAME |= {"floor", "abs", "transpose"}
MEANINGS = {
    "both": "And",
    "invert": "Not",
    "min": "Min",
    "max": "Max",
    "integral": "lambda p, x, a, b: Integral(p, (x, a, b))",
    "where": "lambda condition, a, b: Piecewise((a, condition), (b, True))",
}


def sympy_code(node: Node) -> str:
    """The expression as Python that builds it in SymPy."""
    return plain_text(_with_identifiers(node)).replace("^", "**")


def _with_identifiers(node: Node) -> Node:
    """The expression with names Python accepts and exact fractions."""
    match node:
        case Name():
            return Name(identifier(node.text + PRIME * node.dots)) if node.text != "pi" else node
        # 1/2 would be a float in Python.
        case Number(value=value) if not isinstance(value, float) and value.denominator != 1:
            return Name(f"Rational({value.numerator}, {value.denominator})")
        # The writer of text sets transposes as A^T.
        case Call(function="transpose", arguments=(Name() as base,)):
            return Name(f"{identifier(base.text + PRIME * base.dots)}.T")
        case Call():
            return Call(identifier(node.function), tuple(map(_with_identifiers, node.arguments)))
    return rebuild(node, tuple(map(_with_identifiers, children(node))))


def identifier(name: str) -> str:
    """A name Python accepts: q1' is q1_d, arm.mass is arm_mass."""
    bare = name.rstrip("'")
    dots = len(name) - len(bare)
    text = re.sub(r"\W", "_", bare) + ("_" + "d" * dots if dots else "")
    return f"{text}_" if text in RESERVED or text[:1].isdigit() else text


def matrix(rows: Sequence[Sequence[str]]) -> str:
    """A matrix of code."""
    lines = ",\n    ".join(f"[{', '.join(row)}]" for row in rows)
    return f"Matrix([\n    {lines},\n])" if rows else "Matrix(0, 0, [])"


def declarations(entries: Sequence[Node], defined: Collection[str]) -> list[str]:
    """A line for every name and function that the entries use and nothing defines."""
    used = dict.fromkeys(name for entry in entries for name in _names(entry))
    free = [f"{one.text}{PRIME * one.dots}" for one in used if one.text not in defined and one.text != "pi"]
    functions = dict.fromkeys(call for entry in entries for call in _calls(entry))
    return [
        *(f"{identifier(name)} = Symbol({name!r}, real=True)" for name in free),
        *(f"{identifier(name)} = {_function(name)}" for name in functions if name not in SAME_NAME),
    ]


def _function(name: str) -> str:
    """What a function of the equations is in SymPy: one of its own, or undetermined."""
    return MEANINGS.get(name, f"Function({name!r})")


def dotted_names(node: Node) -> list[str]:
    """The names an expression is made of, with their time derivatives: q1', A'."""
    return [f"{one.text}{PRIME * one.dots}" for one in _names(node)]


def _names(node: Node) -> Iterable[Name]:
    if isinstance(node, Name):
        yield node
    for inner in children(node):
        yield from _names(inner)


def _calls(node: Node) -> Iterable[str]:
    if isinstance(node, Call):
        yield node.function
    for inner in children(node):
        yield from _calls(inner)


class VectorCode:
    """Python code of expressions of the intrinsic algebra, in vectors and matrices that it declares."""

    def __init__(self, expressions: Sequence[Any]) -> None:
        from sympy import Basic

        self.leaves: dict[Any, str] = {}
        for e in expressions:
            # A side of a balance that is empty is the number 0, which is no expression of SymPy.
            for leaf in Basic.atoms(e) | _symbols(e) if isinstance(e, Basic) else ():
                if leaf not in self.leaves and (hasattr(leaf, "properties") or leaf.is_Symbol):
                    self.leaves[leaf] = identifier(f"{leaf.name}{PRIME * getattr(leaf, 'dots', 0)}")

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

        from torseur.algebra.intrinsic import Cross, Dot

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


def _symbols(e: Any) -> set[Any]:
    """The declared vectors and matrices of an expression, which SymPy does not count among its atoms."""
    return set(e.find(lambda x: hasattr(x, "properties")))
