"""Statements as a Python program that builds them in SymPy."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.presentation.levels.statement import Statement
from torseur.presentation.typesetting.formula_tree import Call, Product, Sum, is_bold, names_in
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.sympy_code import (
    VectorCode,
    declarations,
    dotted_names,
    identifier,
    matrix,
    sympy_code,
)


def source(listed: Sequence[Statement]) -> str:
    """A Python program that defines every statement as a SymPy matrix or expression."""
    remarks = [f"# {plain_text(one.left)}: {one.remark.text}" for one in listed if one.shape == "name"]
    if any(statement.summands for statement in listed):
        scalars = [one for one in listed if one.summands is None and one.shape == "scalar"]
        below = [_from_lines(scalars).removeprefix("from sympy import *")] if scalars else []
        return "\n".join([_vectors(listed), *below, *remarks])
    equal = [statement for statement in listed if statement.shape != "name"]
    return "\n".join([_from_lines(equal), *remarks])


def _from_lines(listed: Sequence[Statement]) -> str:
    """Named intermediates as assignments, each before it is used."""
    entries = [entry for statement in listed for row in statement.rows for entry in row]
    entries += [own for one in listed if isinstance(one.left, Call) for own in one.left.arguments]
    entries += [one.left for one in listed if _has_two_sides(one)]
    defined = {statement.name for statement in listed}
    lines = ["from sympy import *", "", *declarations(entries, defined), ""]
    return "\n".join([*lines, *map(_assignment, _in_order(listed))])


def _in_order(listed: Sequence[Statement]) -> list[Statement]:
    """The statements with what they use before them."""
    by_name = {one.name: one for one in listed if one.auxiliary}
    ordered: dict[str, Statement] = {}

    def add(one: Statement) -> None:
        if one.name not in ordered:
            nodes = [*(entry for row in one.rows for entry in row), *([one.left] if _has_two_sides(one) else [])]
            used = {name for node in nodes for name in (*names_in(node), *dotted_names(node))}
            for name in by_name:  # not `used`: the order of a set of names differs from run to run
                if name in used:
                    add(by_name[name])
            ordered[one.name] = one

    for one in listed:
        add(one)
    return list(ordered.values())


def _has_two_sides(one: Statement) -> bool:
    """Whether it is an equation whose left side is a formula, not a name or zero."""
    return one.shape == "scalar" and isinstance(one.left, Sum | Product)


def _assignment(one: Statement) -> str:
    said = f"  # {one.remark.text}" if one.remark.text else ""
    if one.shape == "scalar" and is_bold(one.right) and not is_bold(one.left):
        # Numbers and products of a row and a column stand in one sum here, which SymPy does not add.
        return f"# {plain_text(one.left)} = {plain_text(one.right)}{said}"
    if one.shape == "scalar":
        code = sympy_code(one.right)
        if _has_two_sides(one):
            code = sympy_code(one.left) + (f" - ({code})" if code != "0" else "")
        if isinstance(one.left, Call):
            arguments = "".join(f"{sympy_code(own)}, " for own in one.left.arguments)
            code = f"Lambda(({arguments}), {code})"
        return f"{identifier(one.name)} = {code}{said}"
    # M, b and Q keep their names; lambda has one that Python accepts.
    name = identifier(one.name) if one.name.startswith("lambda") else identifier(one.name).rstrip("_")
    return f"{name} = {matrix([[*map(sympy_code, row)] for row in one.rows])}{said}"


def _vectors(listed: Sequence[Statement]) -> str:
    """Balances as pairs of expressions of declared vectors; definitions as a dictionary to substitute."""
    given = [(statement, sides) for statement in listed if (sides := statement.intrinsic) is not None]
    writer = VectorCode([side for _, sides in given for side in sides])
    lines = [
        "from sympy import *",
        "from torseur.algebra.intrinsic import *",
        "",
        *writer.declarations(),
        "",
        "balances = {",
    ]
    lines += [f"    {s.title!r}: ({writer.code(a)}, {writer.code(b)})," for s, (a, b) in given if not s.auxiliary]
    lines += ["}", "definitions = {"]
    lines += [f"    {writer.code(a)}: {writer.code(b)}," for s, (a, b) in given if s.auxiliary]
    return "\n".join([*lines, "}"])
