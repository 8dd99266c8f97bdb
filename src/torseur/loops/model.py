"""From a mechanism to the numbers of its loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from torseur.graph import Expr
from torseur.loops.amounts import amounts_of
from torseur.loops.chains import chain, number_slots, stacked
from torseur.loops.cycles import JointGraph, short_cycles
from torseur.loops.numbers import floats
from torseur.loops.relation_model import RelationModel
from torseur.loops.skeleton import BALL, Edge, Skeleton, skeleton
from torseur.loops.system import LoopSystem
from torseur.mechanism import TIME, Mechanism
from torseur.spatial import Transform
from torseur.tree import spanning_tree
from torseur.tree.flatten import flatten, rebuild


def loop_system(mechanism: Mechanism, time: float = 0.0) -> LoopSystem:
    """The closure of a mechanism's loops at a time, in numbers."""
    frame = skeleton(mechanism)
    numbers = partial(_numbers, mechanism, time)
    edges = with_numbers(frame, numbers)
    carried = {branch.joint.name for branch in spanning_tree(mechanism).branches if not branch.closes}
    tree = {k for k, edge in enumerate(edges) if edge.joint in carried}
    cycles = tuple(short_cycles(edges, tree))
    slots = number_slots(frame)
    length = length_unit(edges)
    chains = stacked([chain(edges, slots, cycle.passages) for cycle in cycles], length)
    amounts = amounts_of(frame, slots.step, slots.count, length, time, numbers)
    relations = RelationModel(frame, edges, slots, JointGraph(edges, sorted(tree)), length, time, amounts.units)
    balls = tuple(step.freedoms[0] for edge in frame.edges for step in edge.steps if step.kind == BALL)
    return LoopSystem(
        frame, cycles, chains, amounts, relations.all(), balls, slots.count, length, time
    )  # fmt: skip


def _numbers(mechanism: Mechanism, time: float, expressions: Sequence[Expr]) -> list[float]:
    return floats(mechanism, expressions, {TIME: time})


def with_numbers(frame: Skeleton, numbers: Any) -> list[Edge]:
    """The edges with numbers of any kind in place of constant expressions; amounts stay expressions."""
    constants = [[[s.before, s.axis] for s in e.steps] + [e.last] for e in frame.edges]
    leaves = flatten(constants)
    results = iter(numbers([leaf for leaf in leaves if isinstance(leaf, Expr)]))
    known = rebuild(constants, iter([next(results) if isinstance(leaf, Expr) else leaf for leaf in leaves]))
    edges = []
    for edge, (*steps, last) in zip(frame.edges, known, strict=True):
        renewed = [replace(s, before=before, axis=axis) for s, (before, axis) in zip(edge.steps, steps, strict=True)]
        edges.append(replace(edge, steps=tuple(renewed), last=last))
    return edges


def length_unit(edges: Sequence[Edge]) -> float:
    """A length of the mechanism's own size: the mean offset between steps, rounded to a power of two.

    Dividing by a power of two rounds nothing.
    """
    places: list[Transform] = [place for edge in edges for place in (*(s.before for s in edge.steps), edge.last)]
    sizes = [math.sqrt(sum(float(c) ** 2 for c in place.position)) for place in places]
    present = [size for size in sizes if size > 0]
    if not present:
        return 1.0
    return 2.0 ** round(math.log2(sum(present) / len(present)))
