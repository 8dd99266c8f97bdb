"""The intrinsic level as statements: balances of forces and moments of vectors, then what defines them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.polynomial import TooManyTerms
from torseur.derivation.equations.terms.short_sum import written_size
from torseur.errors import UnsupportedError
from torseur.presentation.levels.statement import Remark, Statement, terms_of
from torseur.presentation.typesetting.formula_tree import Node, Number, Sum
from torseur.presentation.typesetting.read_graph import read_name, readable_form
from torseur.presentation.typesetting.read_sympy import read_intrinsic

LONGEST_FORMULA = 300  # operations of a load that is written out
MOST_SYMBOLS = 20_000  # of an expanded level; beyond, nobody reads it


def intrinsic_statements(equations: Equations, steps: int = 0) -> list[Statement]:
    """Forces = inertia for what every joint carries, with the definitions of the first `steps` put in."""
    level = intrinsic_level(equations, steps)
    size = sum(_size(level, balance, steps) for balance in level.balances)
    if size > MOST_SYMBOLS:
        raise UnsupportedError(
            f"the intrinsic level of '{equations.mechanism.name}' has {size} symbols after {steps} steps, more "
            f"than the {MOST_SYMBOLS} that can be read; take fewer steps, or the recursive level."
        )
    return _statements(level, level.balances, steps)


def first_statements(equations: Equations, symbols: int) -> tuple[list[Statement], int]:
    """As much of the level as a number of symbols allows, and how many balances are left out."""
    level = intrinsic_level(equations, 0)
    chosen = []
    for balance in level.balances:
        symbols -= _size(level, balance, 0)
        if symbols < 0:
            break
        chosen.append(balance)
    return _statements(level, chosen, 0) if chosen else [], len(level.balances) - len(chosen)


def intrinsic_level(equations: Equations, steps: int) -> Any:
    """The balances of a mechanism; raises where there are not that many steps."""
    from torseur.derivation.equations.intrinsic.balance import STEPS, IntrinsicEquations

    if not 0 <= steps <= STEPS:
        raise UnsupportedError(f"the intrinsic level expands in 0 to {STEPS} steps, not {steps}.")
    return IntrinsicEquations(equations)


def _size(level: Any, balance: Any, steps: int) -> int:
    return sum(level.size(term.expression, steps) for term in (*balance.forces, *balance.inertia))


def _statements(level: Any, balances: Sequence[Any], steps: int) -> list[Statement]:
    statements = [_balance(b, [_side(level, terms, steps) for terms in (b.forces, b.inertia)]) for b in balances]
    definitions = [_definition(one) for one in level.definitions if one.step > steps]
    return [*statements, *definitions, *_constants(level), *_unread(level)]


def _side(level: Any, terms: Sequence[Any], steps: int) -> tuple[tuple[Any, ...], Node, tuple[Remark, ...]]:
    """The terms in SymPy, their sum as a neutral expression, and the origin of each term."""
    expanded = [level.expanded(term.expression, steps) for term in terms]
    nodes: tuple[Node, ...] = ()
    origins: tuple[Remark, ...] = ()
    for e, term in zip(expanded, terms, strict=True):
        parts = terms_of(read_intrinsic(e))
        nodes += parts
        origins += (Remark(term.sentence, "", term.bodies, term.joints),) * len(parts)
    node = Number(Fraction(0)) if not nodes else nodes[0] if len(nodes) == 1 else Sum(nodes)
    return tuple(expanded), node, origins


def _balance(balance: Any, sides: Sequence[tuple[tuple[Any, ...], Node, tuple[Remark, ...]]]) -> Statement:
    (forces, left, left_origins), (inertia, right, origins) = sides
    name = balance.title.replace(" ", "_").replace(",", "").lower()
    return Statement(
        name,
        left,
        ((right,),),
        "scalar",
        title=balance.title,
        summands=(forces, inertia),
        left_origins=left_origins,
        origins=origins,
    )


def _definition(one: Any) -> Statement:
    remark = Remark(one.meaning, "", one.bodies, one.joints)
    left, right = read_intrinsic(one.symbol), read_intrinsic(one.expression)
    return Statement(
        str(one.symbol),
        left,
        ((right,),),
        "scalar",
        auxiliary=True,
        remark=remark,
        summands=((one.symbol,), (one.expression,)),
    )


def _constants(level: Any) -> list[Statement]:
    """The fixed vectors, with their components where these are plain."""
    constants = []
    for symbol, constant in level.catalogue.fixed.items():
        left, components = read_intrinsic(symbol), constant.components
        entries = [_short(as_expr(x)) for x in components] if components is not None else [None]
        where = f", in the axes of {constant.axes}" if constant.axes else ""
        remark = Remark(constant.meaning + where)
        if any(entry is None for entry in entries):
            constants.append(Statement(str(symbol), left, ((left,),), "name", auxiliary=True, remark=remark))
        else:
            rows = tuple((entry,) for entry in entries if entry is not None)
            constants.append(Statement(str(symbol), left, rows, "components", auxiliary=True, remark=remark))
    return constants


def _unread(level: Any) -> list[Statement]:
    """The scalars of formulas: what loads and constraints bring, and amounts that are not plain coordinates."""
    return [_scalar(text, value, meaning) for text, value, meaning in _scalars(level)]


def _scalars(level: Any) -> Iterator[tuple[str, Expr, str]]:
    coordinates = set(level.equations.layout.coordinate_names)
    for symbol, value in level.catalogue.components.items():
        if hasattr(symbol, "shape"):
            continue
        if symbol.is_Function and str(symbol.func) not in coordinates:
            yield str(symbol.func), value, "amount of a motion"
        elif symbol.is_Symbol and symbol.name.startswith("Q_"):
            yield symbol.name, value, "generalised force"
        elif symbol.is_Symbol and symbol.name.startswith("k_"):
            yield symbol.name, value, "rate per unit of speed"


def _scalar(text: str, value: Expr, meaning: str) -> Statement:
    """By its formula where that is short, otherwise by name."""
    node = _short(value) if written_size(value) <= LONGEST_FORMULA else None
    right, shape = (read_name(text), "name") if node is None else (node, "scalar")
    return Statement(text, read_name(text), ((right,),), shape, ((value,),), auxiliary=True, remark=Remark(meaning))


def _short(value: Expr) -> Node | None:
    try:
        return readable_form(value)
    except TooManyTerms:
        return None
