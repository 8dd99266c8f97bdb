"""Equations with parts folded: a part is written by a name, and a table under the equations says what it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torseur.errors import TorseurError, UnsupportedError
from torseur.presentation.levels.named_parts import NamedParts
from torseur.presentation.levels.statement import Remark, Statement, terms_of, unite
from torseur.presentation.levels.term_origins import PartOrigins
from torseur.presentation.typesetting.formula_tree import (
    ONE,
    Name,
    Node,
    Number,
    Power,
    Product,
    Sum,
    children,
    is_bold,
    names_in,
    product,
    rebuild,
    split_sign,
)
from torseur.presentation.typesetting.symbols import symbol

LETTERS = ("P", "S", "Z", "H", "K", "E", "Part")
WORTH_A_NAME = 2  # names in a part; a single one is its own name


# How pages find the same parts: docs/decisions/0052-foldable-parts-read-from-mathml.md.
@dataclass(frozen=True)
class Fold:
    """Which parts are folded: those deeper than `depth`, those of more than `size` symbols, and those of `names`.

    Depth 0 leaves one name on either side, 1 one name per term, 2 shows the factors of the terms, and so on. `names`
    gives a part, written as the equations write it, a name: {"A": "m2*l2^2"}. Parts in `opened` stay as they are.
    """

    depth: int | None = None
    size: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    opened: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise TorseurError(f"fold: the depth is {self.depth}; expected 0 (one name per side) or more.")
        if self.size is not None and self.size < WORTH_A_NAME:
            raise TorseurError(f"fold: the size is {self.size}; expected at least {WORTH_A_NAME} symbols.")


def fold_parts(listed: Sequence[Statement], fold: Fold, origins: PartOrigins) -> list[Statement]:
    """The statements with their parts folded, then what the names stand for and where these parts come from."""
    work = _Folding(fold, listed)
    shown = [work.statement(one) for one in listed]
    table = work.table(origins)
    work.require_used()
    return [*shown, *table]


class _Folding:
    """Names given so far, in the order of their first use."""

    def __init__(self, fold: Fold, listed: Sequence[Statement]) -> None:
        taken = {name for one in listed for node in _nodes(one) for name in names_in(node)}
        self.fold = fold
        self.named = NamedParts(fold.names, taken)
        # A letter that no quantity has, with any subscript: P_1 beside a parameter P2 would be taken for its kin.
        letters = {symbol(name).base for name in {*taken, *fold.names}}
        self.letter = next((letter for letter in LETTERS if letter not in letters), LETTERS[-1])
        self.names: dict[Node, str] = {}
        self.remarks: dict[Node, list[Remark]] = {}
        self.by_term: dict[Node, tuple[Remark, ...]] = {}  # origins of the terms of a side that is folded whole
        self.opened: set[str] = set()

    def statement(self, one: Statement) -> Statement:
        """Matrices and vectors entry by entry, equations side by side."""
        if one.shape == "name":
            return one
        left = one.left if one.auxiliary else self.side(one.left, one.left_origins or _origins(one))
        rows = tuple(tuple(self.side(entry, one.origins or _origins(one)) for entry in row) for row in one.rows)
        return replace(one, left=left, rows=rows, expressions=(), summands=None)

    def side(self, node: Node, origins: Sequence[Remark]) -> Node:
        """A sum with each term folded; a side that is folded whole comes from all its terms."""
        terms = terms_of(node)
        each = origins if len(origins) == len(terms) else [unite(origins)] * len(terms)
        if self.fold.depth == 0 and _is_worth_a_name(node):
            self.by_term[split_sign(node)[1]] = tuple(each)
            return self._whole(node, unite(each))
        shown = tuple(self._fold_term(t, self.fold.depth, o, outermost=True) for t, o in zip(terms, each, strict=True))
        whole = shown[0] if len(shown) == 1 else Sum(shown)
        return self._with_names(whole, unite(each))

    def _whole(self, node: Node, origin: Remark) -> Node:
        negative, size = split_sign(node)
        return _with_sign(negative, self._name(size, origin))

    def _fold_term(self, node: Node, depth: int | None, origin: Remark, outermost: bool = False) -> Node:
        negative, size = split_sign(node)
        return _with_sign(negative, self._part(size, None if depth is None else depth - 1, origin, outermost))

    def _part(self, node: Node, depth: int | None, origin: Remark, outermost: bool = False) -> Node:
        """A part as it is shown `depth` levels deep."""
        if isinstance(node, Power) and isinstance(node.exponent, Number):
            return Power(self._part(node.base, depth, origin), node.exponent)
        deep = depth is not None and depth <= 0
        large = self.fold.size is not None and _size(node) > self.fold.size and not outermost
        if (deep or large) and _is_worth_a_name(node):
            return self._name(node, origin)
        return self._with_names(self._content(node, depth, origin), origin)

    def _content(self, node: Node, depth: int | None, origin: Remark) -> Node:
        parts = children(node)
        origins = self.by_term.get(node, ())
        each = origins if len(origins) == len(parts) and isinstance(node, Sum) else (origin,) * len(parts)
        return rebuild(node, tuple(self._fold_term(one, depth, o) for one, o in zip(parts, each, strict=True)))

    def _with_names(self, node: Node, origin: Remark) -> Node:
        shown, used = self.named.replace_parts(node)
        for part, name in used:
            self.names.setdefault(part, name)
            self._remember(part, origin)
        return shown

    def _name(self, node: Node, origin: Remark) -> Node:
        """The name of a part, or the part itself where it is to stay open."""
        if node not in self.names:
            self.names[node] = f"{self.letter}{1 + sum(n.startswith(self.letter) for n in self.names.values())}"
        name = self.names[node]
        if name in self.fold.opened:
            self.opened.add(name)
            return self._content(node, self._next_depth, origin)
        self._remember(node, origin)
        return Name(name, bold=is_bold(node))

    @property
    def _next_depth(self) -> int | None:
        """How deep the content of a name is shown."""
        return None if self.fold.depth is None else max(self.fold.depth, 1)

    def _remember(self, node: Node, origin: Remark) -> None:
        known = self.remarks.setdefault(node, [])
        if origin not in known:
            known.append(origin)

    def table(self, origins: PartOrigins) -> list[Statement]:
        """What every name stands for, its own parts folded in the same way."""
        statements: list[Statement] = []
        done: set[Node] = set()
        # Writing what a name stands for may give names to its own parts, which then join the table.
        while waiting := [node for node in self.remarks if node not in done]:
            for node in waiting:
                done.add(node)
                remark = origins.of(node, self.remarks[node])
                name, content = self.names[node], self._content(node, self._next_depth, unite(self.remarks[node]))
                statements.append(
                    Statement(
                        name, Name(name, bold=is_bold(node)), ((content,),), "scalar", auxiliary=True, remark=remark
                    )
                )
        return statements

    def require_used(self) -> None:
        """Every name that was asked for must have been met."""
        self.named.require_used()
        if unknown := [name for name in self.fold.opened if name not in self.opened]:
            known = ", ".join(self.names.values()) or "none"
            raise TorseurError(f"fold: there is no part '{unknown[0]}' to leave open. parts: {known}.")


def require_foldable(level: str, form: str) -> None:
    """Raises where folded parts have no writing."""
    if level == "intrinsic" and form == "sympy":
        raise UnsupportedError(
            "the SymPy program of the intrinsic level builds whole expressions; fold it as text, latex, mathml or omml."
        )


def _with_sign(negative: bool, node: Node) -> Node:
    if not negative:
        return node
    factors = node.factors if isinstance(node, Product) else (node,)
    if isinstance(factors[0], Number):
        return product((Number(-factors[0].value), *factors[1:]))
    return Product((Number(-ONE.value), *factors))


def _is_worth_a_name(node: Node) -> bool:
    return len(_leaves(node)) >= WORTH_A_NAME


def _leaves(node: Node) -> list[Name]:
    return [node] if isinstance(node, Name) else [leaf for one in children(node) for leaf in _leaves(one)]


def _size(node: Node) -> int:
    """Names and numbers in an expression; an exponent that is a number belongs to its base."""
    match node:
        case Number():
            return 0 if node.value in (1, -1) else 1
        case Name():
            return 1
        case Power(base=base, exponent=Number()):
            return _size(base)
    return sum(map(_size, children(node)))


def _nodes(one: Statement) -> list[Node]:
    return [one.left, *(entry for row in one.rows for entry in row)]


def _origins(one: Statement) -> tuple[Remark, ...]:
    """Where a statement without origins of its terms comes from; what a row is along is no origin."""
    return (one.remark,) if one.auxiliary or one.remark.bodies or one.remark.joints else (Remark(),)
