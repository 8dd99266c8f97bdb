"""Faults as a person makes them: a sign, a comparison, an index, a function, a forgotten term."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.MatMult: ast.Add,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
NAMES = {"sin": "cos", "cos": "sin", "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
NAMES |= {"any": "all", "all": "any", "parent": "child", "child": "parent", "transpose": "copy"}


@dataclass(frozen=True)
class Mutation:
    """A place in a module and what is wrong there."""

    line: int
    column: int
    number: int  # among the faults that this place may have
    text: str


def mutations(source: str) -> list[Mutation]:
    """All faults that can be put into a module, in the order of its lines."""
    return [
        Mutation(node.lineno, node.col_offset, number, text) for node, number, text, _ in _faults(ast.parse(source))
    ]


def mutated(source: str, wanted: Mutation) -> str:
    """The module with one fault in it."""
    tree = ast.parse(source)
    for node, number, text, change in _faults(tree):
        if (node.lineno, node.col_offset, number, text) == (wanted.line, wanted.column, wanted.number, wanted.text):
            change()
            return ast.unparse(ast.fix_missing_locations(tree))
    raise LookupError(f"line {wanted.line} has no such fault: {wanted.text}")


def _faults(tree: ast.Module) -> Iterator[tuple[ast.expr | ast.stmt, int, str, Callable[[], None]]]:
    """Every place, the number of a fault there, what it is, and what makes it."""
    for node in _reachable(tree):
        for number, (text, change) in enumerate(_changes(node)):
            yield node, number, text, change


def _reachable(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    """Code within functions, without annotations, docstrings, messages of errors and defaults of arguments."""
    waiting: list[ast.AST] = [tree]
    inside = {id(part) for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) for part in ast.walk(one)}
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.JoinedStr | ast.arguments):
            continue
        if isinstance(node, ast.expr | ast.stmt) and id(node) in inside:
            yield node
        hidden = [getattr(node, "returns", None), getattr(node, "annotation", None)]
        hidden += getattr(node, "decorator_list", [])
        waiting += [child for child in ast.iter_child_nodes(node) if not any(child is one for one in hidden)]


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[], None]]]:
    if isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        other = OPERATORS[type(node.op)]
        yield f"{type(node.op).__name__} becomes {other.__name__}", lambda: setattr(node, "op", other())
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in OPERATORS:
        other = OPERATORS[type(node.ops[0])]
        yield f"{type(node.ops[0]).__name__} becomes {other.__name__}", lambda: node.ops.__setitem__(0, other())
    elif isinstance(node, ast.BoolOp):
        other = OPERATORS[type(node.op)]
        yield f"{type(node.op).__name__} becomes {other.__name__}", lambda: setattr(node, "op", other())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        plain = ast.UAdd() if isinstance(node.op, ast.USub) else None
        if plain is not None:
            yield "a minus is lost", lambda: setattr(node, "op", plain)
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value = node.value
        yield f"{value} becomes {value + 1}", lambda: setattr(node, "value", value + 1)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} becomes {not node.value}", lambda: setattr(node, "value", not node.value)
    elif isinstance(node, ast.Name | ast.Attribute):
        field = "id" if isinstance(node, ast.Name) else "attr"
        name = getattr(node, field)
        if name in NAMES and isinstance(node.ctx, ast.Load):
            yield f"{name} becomes {NAMES[name]}", lambda: setattr(node, field, NAMES[name])
    elif isinstance(node, ast.If | ast.IfExp):
        test = node.test
        yield "a condition is turned round", lambda: setattr(node, "test", ast.UnaryOp(ast.Not(), test))
    elif isinstance(node, ast.Call) and len(node.args) == 2 and not any(isinstance(a, ast.Starred) for a in node.args):
        yield "two arguments change places", lambda: node.args.reverse()
