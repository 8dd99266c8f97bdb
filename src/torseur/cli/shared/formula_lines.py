"""Named formulas as lines to read; long ones are broken up by named intermediates, which come first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from torseur.algebra.graph import Expr
from torseur.algebra.spatial import Force, Motion
from torseur.derivation.equations.terms.polynomial import TooManyTerms
from torseur.presentation.typesetting.formula_tree import Node
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import readable_form, written_size
from torseur.presentation.typesetting.recursion import definitions

WORTH_TRYING = 1000  # operations of a formula, written out, up to which it may become short when multiplied out


def formula_texts(formulas: Mapping[str, Expr]) -> dict[str, str]:
    """The formulas by name as text, intermediates among them."""
    short = {name: node for name, value in formulas.items() if (node := _short(value)) is not None}
    long = [name for name in formulas if name not in short]
    listed, nodes = definitions([formulas[name] for name in long])
    written = short | dict(zip(long, nodes, strict=True))
    lines = {plain_text(line.left): plain_text(line.right) for line in listed}
    return lines | {name: plain_text(written[name]) for name in formulas}


def _short(formula: Expr) -> Node | None:
    if written_size(formula) > WORTH_TRYING:
        return None
    try:
        return readable_form(formula)
    except TooManyTerms:
        return None


def components(name: str, thing: Any) -> Iterator[tuple[str, Expr]]:
    """Every formula of a structure of matrices, motions, forces and tables, with its name; zeros are left out."""
    if isinstance(thing, Expr):
        if not thing.is_zero:
            yield name, thing
        return
    for key, part in _parts(thing):
        yield from components(f"{name}{key}", part)


def _parts(thing: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(thing, Motion | Force):
        words = ("angular", "linear") if isinstance(thing, Motion) else ("moment", "force")
        for word in words:
            yield from ((f".{word}.{axis}", part) for axis, part in zip("xyz", getattr(thing, word), strict=True))
    elif isinstance(thing, Mapping):
        yield from ((f"[{_key(key)}]", part) for key, part in thing.items())
    elif isinstance(thing, Sequence):
        for i, part in enumerate(thing, 1):
            inside = isinstance(part, Sequence)
            yield from ((f"[{i},{j}]", entry) for j, entry in enumerate(part, 1)) if inside else [(f"[{i}]", part)]


def _key(key: Any) -> str:
    return ", ".join(key) if isinstance(key, tuple) else str(key)
