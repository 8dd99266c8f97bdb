"""SIMD-batched values: one expression for the same quantity of several limbs, computed in the lanes of a vector.

`pack` puts scalars side by side, `lane` takes one of them out, `total` adds them up; every other operation works on
packed values lane by lane. Only targets with vectors print such expressions; see Program.simd.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from torseur.algebra.graph.construction.folding import build
from torseur.algebra.graph.evaluation import live_nodes, with_arguments
from torseur.algebra.graph.expr import Expr, as_expr, intern
from torseur.algebra.graph.operations import OPERATIONS

# What vector lanes over limbs gain, and what was tried first: docs/decisions/0011-simd-batched-limbs.md.
PACK, LANE, TOTAL = "pack", "lane", "total"
_SCALAR_OF_PACKED = (PACK, LANE, TOTAL)
LANEWISE = ("add", "sub", "mul", "div", "neg")
"""Operations that are spelled for vectors as for numbers."""


def packed(values: Sequence[Expr]) -> Expr:
    """Scalars side by side; a scalar that all lanes share stays one."""
    return values[0] if all(value is values[0] for value in values) else intern(PACK, tuple(values))


def lane(x: object, k: int) -> Expr:
    """What lane k of a value holds."""
    node = as_expr(x)
    return node if node.is_constant else intern(LANE, (node,), k)


def total(x: object, count: int) -> Expr:
    """The sum over the lanes of a value."""
    node = as_expr(x)
    return node * count if node.is_constant else intern(TOTAL, (node,), count)


def vector_width(lanes: int) -> int:
    """The lanes of the vector that holds so many: a power of two, the last value filling it up."""
    return 1 << (lanes - 1).bit_length()


def widths(nodes: Iterable[Expr]) -> dict[Expr, int]:
    """How many lanes each node has, parents after children: 1 for scalars."""
    counts = dict.fromkeys(nodes, 1)
    wide: dict[Expr, int] = {node: len(node.args) for node in counts if node.op == PACK}
    # In order of evaluation one pass is enough: a node is as wide as the widest of its arguments.
    for node in counts if wide else ():
        if node.op not in _SCALAR_OF_PACKED:
            for argument in node.args:
                if argument in wide:
                    wide[node] = max(wide[argument], wide.get(node, 1))
    return counts | wide


def substitute_packed(
    outputs: Sequence[Expr], leaves: Mapping[Expr, Expr], parameters: Iterable[Expr] = ()
) -> list[Expr]:
    """The outputs with packed values, or numbers, put in for the symbols that stand for them.

    What depends on constants and parameters only is computed lane by lane, so that it can be prepared in scalars.
    """
    values = _PackedValues(dict.fromkeys(parameters, True))
    results: dict[Expr, Expr] = {}
    for node in live_nodes(outputs, leaves):
        if node in leaves or not node.args:
            value = leaves.get(node, node)
        else:
            value = values.rebuild(node, tuple([results[a] for a in node.args]))
        values.note(value)
        results[node] = value
    return [results[output] for output in outputs]


@dataclass(frozen=True)
class _PackedValues:
    """Values of which some are packed (`wide`); `steady` says whether one is known before any state is."""

    steady: dict[Expr, bool]
    wide: set[Expr] = field(default_factory=set)

    def note(self, value: Expr) -> None:
        """Keeps what is to be known about a value, and about what it was folded from."""
        if value in self.steady:
            return
        try:
            self._judge(value)
        except KeyError:  # of something that it was folded from nothing is known yet
            for node in live_nodes([value], self.steady):
                if node not in self.steady:
                    self._judge(node)

    def _judge(self, node: Expr) -> None:
        steady, wide = bool(node.args) or node.op in ("constant", "pi"), node.op == PACK
        for argument in node.args:
            if not self.steady[argument]:
                steady = False
            if argument in self.wide:
                wide = True
        self.steady[node] = steady
        if wide and node.op != LANE and node.op != TOTAL:
            self.wide.add(node)

    def rebuild(self, node: Expr, args: tuple[Expr, ...]) -> Expr:
        """An operation on other arguments."""
        op = node.op
        if op == LANE:
            return _take_lane(args[0], node.data) if args[0] in self.wide else args[0]
        if op == TOTAL:
            return self._sum_of_lanes(args[0], node.data) if args[0] in self.wide else args[0] * node.data
        if op == PACK:
            return packed(args)
        if args == node.args:
            return node
        for argument in args:
            if argument.op == PACK and all([self.steady[a] for a in args]):
                return _lane_by_lane(op, args)
        if op not in LANEWISE and any(a in self.wide for a in args):
            return self._one_by_one(op, args)
        return build(op, args) if op in LANEWISE else with_arguments(node, args)

    def _one_by_one(self, op: str, args: Sequence[Expr]) -> Expr:
        """A function that vectors lack (a sine, a root), of each lane by itself."""
        count = max(widths(live_nodes(args)).values())
        # Lane by lane, not vectors of sines: the sines of a program are computed together and first
        # (docs/decisions/0009-sines-first-in-vector-lanes.md).
        lanes = [[self._inside(a, k) for a in args] for k in range(count)]
        return packed([as_expr(OPERATIONS[op].value(*values)) for values in lanes])

    def _inside(self, x: Expr, k: int) -> Expr:
        """Lane k of a value; of a sum or product of packs, that of their lanes, as angles are."""
        if x not in self.wide:
            return x
        if x.op in LANEWISE and all(a.op == PACK or a not in self.wide for a in x.args):
            return as_expr(OPERATIONS[x.op].value(*[_take_lane(a, k) if a.op == PACK else a for a in x.args]))
        return _take_lane(x, k)

    def _sum_of_lanes(self, x: Expr, count: int) -> Expr:
        if not self.steady[x]:
            return total(x, count)
        sum_of_lanes = x.args[0]
        for other in x.args[1:]:
            sum_of_lanes = sum_of_lanes + other
        return sum_of_lanes


def _take_lane(x: Expr, k: int) -> Expr:
    return x.args[k] if x.op == PACK else lane(x, k)


def _lane_by_lane(op: str, args: Sequence[Expr]) -> Expr:
    count = max(len(a.args) for a in args if a.op == PACK)
    lanes = [[a.args[k] if a.op == PACK else a for a in args] for k in range(count)]
    return packed([as_expr(OPERATIONS[op].value(*values)) for values in lanes])
