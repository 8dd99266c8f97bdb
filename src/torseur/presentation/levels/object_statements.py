"""What a formalism computes on its way, and other named formulas, as statements in every format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr
from torseur.algebra.spatial import Force, Motion
from torseur.derivation.equations.terms.equal_values import merge_equal_values
from torseur.derivation.equations.terms.polynomial import TooManyTerms
from torseur.derivation.equations.terms.short_sum import written_size
from torseur.presentation.levels.statement import Statement
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, Power, Product
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import readable_form
from torseur.presentation.typesetting.recursion import definitions

WORTH_TRYING = 1000  # operations of a formula, written out, up to which it may become short when multiplied out
# The letters that textbooks write for what formalisms compute; what is not here is written by its name.
LETTERS = {
    "kinetic energy": "T",
    "potential energy": "V",
    "Lagrangian": "L",
    "Hamiltonian": "H",
    "Gibbs function": "S",
    "momenta": "p",
    "rates of the momenta": "p'",
    "generalised forces": "Q",
    "generalised active forces": "F",
    "generalised inertia forces": "F_inertia",
    "conserved momenta": "p",
}
GRADIENT = "gradient of the Lagrangian"
RATES = "rates of the coordinates"


def object_statements(objects: Mapping[str, Any]) -> list[Statement]:
    """Every formula of the objects, group after group; vanishing ones are left out."""
    groups = ((group, dict(components(group, thing))) for group, thing in objects.items())
    return [one for group, formulas in groups for one in named_statements(formulas, group)]


def named_statements(formulas: Mapping[str, Expr], group: str = "") -> list[Statement]:
    """name = formula; long ones are broken up by named intermediates, which come first."""
    merged = dict(zip(formulas, merge_equal_values(list(formulas.values())), strict=True))
    present = {name: value for name, value in merged.items() if not value.is_zero}
    short = {name: node for name, value in present.items() if (node := _short(value)) is not None}
    long = [name for name in present if name not in short]
    lines, nodes = definitions([present[name] for name in long])
    written = short | dict(zip(long, nodes, strict=True))
    intermediate = [Statement(line.name, line.left, ((line.right,),), "scalar", auxiliary=True) for line in lines]
    results = [
        Statement(name, _left_side(name, group), ((written[name],),), "scalar", ((value,),))
        for name, value in present.items()
    ]
    return [*intermediate, *results]


def formula_texts(formulas: Mapping[str, Expr]) -> dict[str, str]:
    """The formulas by name as text, intermediates among them."""
    listed = named_statements(formulas)
    texts = {plain_text(one.left) if one.auxiliary else one.name: plain_text(one.right) for one in listed}
    return texts | {name: "0" for name in formulas if name not in texts}


def _short(formula: Expr) -> Node | None:
    if written_size(formula) > WORTH_TRYING:
        return None
    try:
        return readable_form(formula)
    except TooManyTerms:
        return None


def _left_side(name: str, group: str) -> Node:
    """The left side: p_x for the momentum of x, ∂L/∂x, x', or the name itself."""
    key = name.removeprefix(group).strip("[]")
    if group == GRADIENT:
        return Product((Name("∂L"), Power(Name(f"∂{key}"), Number(Fraction(-1)))))
    if group == RATES:
        return Name(key, dots=1)
    letter = LETTERS.get(group)
    if letter is None:
        return Name(name)
    bare = letter.rstrip("'")
    return Name("_".join(part for part in (bare, key.rstrip("'")) if part), dots=len(letter) - len(bare))


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
