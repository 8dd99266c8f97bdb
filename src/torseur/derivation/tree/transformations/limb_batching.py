"""Limbs that differ in numbers only, taken as one: the legs of a quadruped, the two arms of a humanoid.

The recursions run over one limb for all of them, its symbols and those of its constants that differ standing for
packed values (see algebra/graph/simd_batching.py); parameters count as constants. What limbs pass on to the link that
carries them is their sum.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from torseur.algebra.graph import OPERATIONS, Expr, as_expr, live_nodes, substitute, symbol
from torseur.algebra.graph.simd_batching import lane, packed, total
from torseur.algebra.spatial import AxisTurn, Scalar
from torseur.derivation.tree import GROUND, Layout, Link, Tree, is_fixed
from torseur.derivation.tree.flatten import flatten, rebuild

WIDEST = 8
"""Lanes of the longest vector; more limbs than that are not taken as one."""


def sum_over_copies(copies: int, thing: Any) -> Any:
    """What reaches the parent of a link: the sum over the links that it stands for."""
    if copies == 1:
        return thing
    return rebuild(thing, iter([total(leaf, copies) for leaf in flatten(thing)]))


# Why one limb is computed for all that are like it: docs/decisions/0011-simd-batched-limbs.md.
@dataclass(frozen=True)
class BatchedTree:
    """A tree in which one limb stands for several.

    Of a trunk T with two like legs A, B the whole tree's mass matrix is read from the batched one, whose leg entries
    hold a vector of two lanes (0: A, 1: B); between legs it is zero, because only the trunk couples them:

        whole      T    A    B          batched    T       L
           T      TT   TA   TB             T      TT      TL[A, B]
           A      AT   AA    0             L      LT[..]  LL[A, B]
           B      BT    0   BB

    `leaves` says what its symbols stand for; `seats[i]` gives, for speed i of the whole tree, the speed in its place
    here and its lane; `limbs` numbers the limb of each speed, None in the trunk.
    """

    tree: Tree
    accelerations: tuple[Expr, ...]
    leaves: dict[Expr, Expr]
    seats: tuple[tuple[int, int], ...]
    limbs: tuple[tuple[int, int] | None, ...]

    @property
    def present(self) -> list[int]:
        """The speeds that this tree has."""
        return sorted({seat for seat, _ in self.seats})

    def entry(self, values: Sequence[Scalar], i: int) -> Expr:
        """Entry i of the whole tree's vector."""
        seat, k = self.seats[i]
        return self._lane(values[seat], k, self.limbs[i] is not None)

    def entry_of(self, rows: Sequence[Sequence[Scalar]], i: int, j: int) -> Expr:
        """Entry i, j of the whole tree's matrix; zero between limbs."""
        limbs = {limb for limb in (self.limbs[i], self.limbs[j]) if limb is not None}
        if len(limbs) > 1:
            return as_expr(0)
        (row, k), (column, other) = self.seats[i], self.seats[j]
        # The trunk sits in lane 0, so the larger lane is that of the limb, if one of the two is in a limb.
        return self._lane(rows[row][column], max(k, other), bool(limbs))

    @staticmethod
    def _lane(value: Scalar, k: int, is_limb: bool) -> Expr:
        return lane(value, k) if is_limb else as_expr(value)


def batch_limbs(tree: Tree) -> BatchedTree | None:
    """The tree with limbs that are alike taken as one; None where there are none."""
    groups = _groups(tree, GROUND)
    if not groups:
        return None
    batching = _Batching(tree)
    for group in groups:
        batching.merge_limbs(group)
    return batching.result()


def _groups(tree: Tree, link: int) -> list[list[list[int]]]:
    """Limbs that are alike, as lists of links; from the earth outward, the first branching that has some."""
    children = [i for i in tree.outward() if tree.parent(i) == link]
    sorts: list[list[list[int]]] = []
    for child in children:
        limb = tree.subtrees[child]
        same = next((s for s in sorts if len(s) < WIDEST and _are_alike(tree, s[0], limb)), None)
        if same is None:
            sorts.append([limb])
        else:
            same.append(limb)
    groups = [limbs for limbs in sorts if len(limbs) > 1]
    # A batched limb is not searched again: its values are vectors already.
    for limbs in sorts:
        if len(limbs) == 1:
            groups += _groups(tree, limbs[0][0])
    return groups


def _are_alike(tree: Tree, first: list[int], other: list[int]) -> bool:
    if len(first) != len(other) or _is_tied(tree, first) or _is_tied(tree, other):
        return False
    for a, b in zip(first, other, strict=True):
        inner = a != first[0] and first.index(tree.parent(a)) != other.index(tree.parent(b))
        if inner or not _same_shape(tree.links[a], tree.links[b], set(tree.layout.parameters)):
            return False
    return True


def _is_tied(tree: Tree, limb: list[int]) -> bool:
    """Whether a speed moves a joint of the limb and one elsewhere or another in it: lanes are independent."""
    return any(len(tree.moved_by[k]) > 1 for i in limb for k in tree.links[i].slots)


def _same_shape(a: Link, b: Link, parameters: Collection[Expr]) -> bool:
    """Whether two links move in the same way, their constants apart."""
    if not (is_fixed(a) and is_fixed(b)) or len(a.symbols.speeds) != len(b.symbols.speeds):
        return False
    if _turns(a) != _turns(b) or len(a.symbols.coordinates) != len(b.symbols.coordinates):
        return False
    own, others = _scalars(a), _scalars_in_symbols_of(b, a)
    return len(own) == len(others) and all(_match(x, y, parameters) for x, y in zip(own, others, strict=True))


def _match(x: Expr, y: Expr, parameters: Collection[Expr]) -> bool:
    """Whether two expressions are the same, their constants apart."""
    if x is y or (_is_steady(x, parameters) and _is_steady(y, parameters)):
        return True
    same = x.op == y.op and len(x.args) == len(y.args) > 0 and x.data == y.data
    return same and all(_match(a, b, parameters) for a, b in zip(x.args, y.args, strict=True))


def _is_steady(x: Expr, parameters: Collection[Expr]) -> bool:
    """Whether an expression is a number once the parameters are given."""
    if x.is_constant or x in parameters:
        return True
    leaves = [node for node in live_nodes([x]) if not node.args] if parameters else [x]
    return all(leaf.is_constant or leaf.op == "pi" or leaf in parameters for leaf in leaves)


def _turns(link: Link) -> list[object]:
    """The kinds of rotations that place a link."""
    factors = link.motion.transform.rotation.factors
    return [factor.axis if isinstance(factor, AxisTurn) else type(factor) for factor in factors]


def _scalars(link: Link) -> list[Expr]:
    return [as_expr(leaf) for leaf in flatten((link.motion, link.inertia))]


def _scalars_in_symbols_of(link: Link, model: Link) -> list[Expr]:
    """The scalars of a link under the symbols of another."""
    own = (*link.symbols.coordinates, *link.symbols.speeds)
    others = (*model.symbols.coordinates, *model.symbols.speeds)
    scalars = _scalars(link)
    varying = [x for x in scalars if not x.is_constant]
    exchanged = iter(substitute(varying, dict(zip(own, others, strict=True))))
    return [x if x.is_constant else next(exchanged) for x in scalars]


@dataclass
class _Batching:
    """The links of a tree, some of them replaced."""

    tree: Tree
    links: dict[int, Link] = field(default_factory=dict)
    leaves: dict[Expr, Expr] = field(default_factory=dict)
    symbols: dict[Expr, Expr] = field(default_factory=dict)
    seats: list[tuple[int, int]] = field(default_factory=list)
    limbs: list[tuple[int, int] | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.links = dict(enumerate(self.tree.links))
        n = len(self.tree.layout.speeds)
        self.seats, self.limbs = [(i, 0) for i in range(n)], [None] * n

    def merge_limbs(self, limbs: list[list[int]]) -> None:
        """Puts the first of some limbs in the place of all."""
        number = limbs[0][0]
        for places in zip(*limbs, strict=True):
            alike = [self.tree.links[i] for i in places]
            self._name_state(alike)
            count = len(alike) if places[0] == number else 1
            self.links[places[0]] = self._merge(alike, count)
            for k, (i, link) in enumerate(zip(places, alike, strict=True)):
                if k:
                    del self.links[i]
                self._seat(link, alike[0], (number, k))

    def _seat(self, link: Link, model: Link, limb: tuple[int, int]) -> None:
        n = len(self.seats)
        for i, seat in zip(range(*link.v.indices(n)), range(*model.v.indices(n)), strict=True):
            self.seats[i], self.limbs[i] = (seat, limb[1]), limb

    def _name_state(self, alike: list[Link]) -> None:
        """Symbols for the coordinates, speeds and accelerations of all these links."""
        layout, n = self.tree.layout, len(self.seats)
        rows = [link.symbols.coordinates + layout.speeds[link.v] for link in alike]
        rows = [r + layout.accelerations[slice(*k.v.indices(n))] for r, k in zip(rows, alike, strict=True)]
        for values in zip(*rows, strict=True):
            model = values[0]
            stand_in = symbol(f"{model.name} and alike", model.data.unit, f"{model.name} of all limbs like this")
            self.symbols[model] = stand_in
            self.leaves[stand_in] = packed(values)

    def _merge(self, alike: list[Link], count: int) -> Link:
        """One link for several: constants that differ become symbols."""
        model = alike[0]
        columns = zip(_scalars(model), *[_scalars_in_symbols_of(link, model) for link in alike[1:]], strict=True)
        shape = (model.motion, model.inertia)
        merged = []
        for old, values in zip(flatten(shape), columns, strict=True):
            same = all(value is values[0] for value in values)
            # Integers are exact zeros and numbers of axes, and stay what they are.
            merged.append(old if same and isinstance(old, int) else self._unify(values))
        results = iter(substitute([x for x in merged if isinstance(x, Expr)], self.symbols))
        motion, inertia = rebuild(shape, iter([next(results) if isinstance(x, Expr) else x for x in merged]))
        own = {name: tuple(self.symbols.get(x, x) for x in xs) for name, xs in vars(model.symbols).items()}
        return replace(model, motion=motion, inertia=inertia, symbols=replace(model.symbols, **own), copies=count)

    def _unify(self, values: tuple[Expr, ...]) -> Expr:
        """One expression for several that match, symbols for the constants in which they differ."""
        first = values[0]
        if all(value is first for value in values):
            return first
        if all(_is_steady(value, self.tree.layout.parameters) for value in values):
            return self._constant(values)
        parts = [self._unify(arguments) for arguments in zip(*[value.args for value in values], strict=True)]
        return as_expr(OPERATIONS[first.op].value(*parts))

    def _constant(self, values: tuple[Expr, ...]) -> Expr:
        stand_in = symbol(f"constant {len(self.leaves)} of limbs")
        self.leaves[stand_in] = packed(values)
        return stand_in

    def result(self) -> BatchedTree:
        order = sorted(self.links)
        number = {old: new for new, old in enumerate(order)} | {GROUND: GROUND}
        links = tuple(replace(self.links[i], parent=number[self.links[i].parent]) for i in order)
        layout = self.tree.layout
        exchanged = {
            name: tuple(self.symbols.get(x, x) for x in getattr(layout, name)) for name in ("coordinates", "speeds")
        }
        own = Layout(exchanged["coordinates"], layout.rates, exchanged["speeds"], layout.parameters, layout.state_count)
        accelerations = tuple(self.symbols.get(x, x) for x in layout.accelerations)
        tree = replace(self.tree, links=links, layout=own)
        return BatchedTree(tree, accelerations, self.leaves, tuple(self.seats), tuple(self.limbs))
