"""Expressions as one line of text, for messages and plain listings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from torseur.algebra.graph.expr import Expr

_SIGNS = {"add": " + ", "sub": " - ", "mul": "*", "div": "/", "lt": " < ", "le": " <= "}
_COMPARISON, _SUM, _SIGN, _PRODUCT, _POWER, _ATOM = range(6)
_PRECEDENCE = {
    "lt": _COMPARISON,
    "le": _COMPARISON,
    "add": _SUM,
    "sub": _SUM,
    "neg": _SIGN,
    "mul": _PRODUCT,
    "div": _PRODUCT,
    "pow": _POWER,
}


def to_text(expression: Expr, names: Mapping[Expr, str] | None = None) -> str:
    """The expression as text in the notation of the description language; nodes in `names` appear by name."""
    return "".join(_pieces(expression, names or {}))


def excerpt(expression: Expr, length: int = 500) -> str:
    """The beginning of the text: a shared graph written out can be longer than any memory."""
    text = ""
    for piece in _pieces(expression, {}):
        text += piece
        if len(text) > length:
            return text[:length] + " ..."
    return text


def _pieces(expression: Expr, names: Mapping[Expr, str]) -> Iterator[str]:
    """The text from left to right, without recursion: a chain of any length can be written."""
    pending: list[str | tuple[Expr, int]] = [(expression, _COMPARISON)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
            continue
        node, level = item
        parts: list[str | tuple[Expr, int]] = [names[node]] if node in names else _parts(node)
        if node not in names and _precedence(node) < level:
            parts = ["(", *parts, ")"]
        pending.extend(reversed(parts))


def _precedence(node: Expr) -> int:
    if node.op == "mul" and node.args[0] is node.args[1]:
        return _POWER
    if node.op == "constant":
        return _SIGN if node.data < 0 else _PRODUCT if isinstance(node.data, Fraction) else _ATOM
    return _PRECEDENCE.get(node.op, _ATOM)


def _parts(node: Expr) -> list[str | tuple[Expr, int]]:
    """Text and arguments in order of writing, each argument with the precedence that spares it brackets."""
    op, args, level = node.op, node.args, _precedence(node)
    if not args:
        return [_leaf_text(node)]
    if level == _POWER:
        return [(args[0], _ATOM), "^", "2" if op == "mul" else (args[1], _ATOM)]
    if op == "mul" and _precedence(args[0]) < _PRODUCT <= _precedence(args[1]):
        args = args[::-1]  # a bracket stands behind what it is multiplied by
    if op in _SIGNS:
        return [(args[0], level), _SIGNS[op], (args[1], level + (op in ("sub", "div", "lt", "le")))]
    if op == "neg":
        return ["-", (args[0], _PRODUCT)]
    commas: list[str | tuple[Expr, int]] = [part for a in args for part in (", ", (a, _COMPARISON))]
    name = node.data.name if op in ("apply", "table") else op
    return [f"{name}(", *commas[1:], ")"]


def _leaf_text(node: Expr) -> str:
    if node.op == "pi":
        return "pi"
    if node.op == "symbol":
        return str(node.data.name)
    return str(node.data) if isinstance(node.data, Fraction) else repr(node.data)
