"""From a mechanism to the numbers of its loops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from torseur.algebra.graph import Expr, constant_value
from torseur.algebra.graph import scalar as s
from torseur.algebra.spatial import Transform, Vec3
from torseur.derivation.loops.assembly.projection import random_states
from torseur.derivation.loops.closure.closure_tolerance import chosen_tolerance, closure_tolerance
from torseur.derivation.loops.closure.relation_model import RelationModel
from torseur.derivation.loops.closure.relations import Relation, UserEquation
from torseur.derivation.loops.model.cycles import JointGraph, short_cycles
from torseur.derivation.loops.model.dimensions import floats, parameter_values
from torseur.derivation.loops.model.joint_chains import chain, number_slots, stack_chains
from torseur.derivation.loops.model.loop_system import LoopSystem
from torseur.derivation.loops.model.motion_amounts import amounts_of
from torseur.derivation.loops.model.skeleton import BALL, Edge, Skeleton, skeleton
from torseur.derivation.tree import spanning_tree
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.description.mechanism import TIME, Mechanism, require_mechanism


def _normalise(axis: Vec3) -> Vec3:
    unit: Vec3 = axis / s.sqrt(axis.dot(axis))
    return unit


def loop_system(mechanism: Mechanism, time: float = 0.0, length: float | None = None,
                named: Sequence[str] = ()) -> LoopSystem:  # fmt: skip
    """The closure of a mechanism's loops at a time, in numbers; `length` is the unit of lengths, by default its own.

    Coordinates that are `named` are freedoms of their own, also where they are angles of a ball.
    """
    require_mechanism(mechanism)
    frame = skeleton(mechanism, named)
    numbers = partial(_numbers, mechanism, time)
    edges = with_numbers(frame, numbers)
    carried = {branch.joint.name for branch in spanning_tree(mechanism).branches if not branch.closes}
    tree = {k for k, edge in enumerate(edges) if edge.joint in carried}
    cycles = tuple(short_cycles(edges, tree))
    slots = number_slots(frame)
    length = length_unit(edges) if length is None else length
    chains = stack_chains([chain(edges, slots, cycle.passages) for cycle in cycles], length)
    amounts = amounts_of(frame, slots.step, slots.count, length, time, numbers)
    relations = RelationModel(frame, edges, slots, JointGraph(edges, sorted(tree)), length, time, amounts.units)
    balls = tuple(step.freedoms[0] for edge in frame.edges for step in edge.steps if step.kind == BALL)
    system = LoopSystem(frame, tuple(edges), cycles, chains, amounts, relations.all(), balls, slots.count, length, time)
    scaled = tuple(_scale(system, relation) for relation in system.relations)
    return replace(system, relations=scaled, tolerance=_tolerance(mechanism, length))


def _tolerance(mechanism: Mechanism, length: float) -> float:
    """What loops may stay open by, in units of length: the largest that somebody chose, or what the digits tell."""
    values = {symbol: constant_value(value) for symbol, value in parameter_values(mechanism).items()}
    chosen = [chosen_tolerance(closing, values) for closing in (*mechanism.joints, *mechanism.constraints)]
    return max([limit / length for limit in chosen if limit is not None] or [closure_tolerance(mechanism, length)])


def _scale(system: LoopSystem, relation: Relation) -> Relation:
    """A user's equation divided by the size of its gradient at a few states, so that its unit plays no role."""
    if not isinstance(relation, UserEquation):
        return relation
    # A fixed seed: the same mechanism is scaled in the same way wherever it is examined.
    states = random_states(system, 16, np.random.default_rng(1))
    values = system.amounts.values(states.x)
    rows = system.relation_rows(relation.position(states.x, values, states.balls), states)
    speeds = system.relation_rows(relation.velocity(states.x, values, states.balls), states)
    sizes = np.linalg.norm(np.concatenate([rows, speeds], axis=1), axis=2)
    typical = float(np.median(sizes)) or float(np.max(sizes, initial=0.0))
    return replace(relation, scale=typical) if np.isfinite(typical) and typical > 0 else relation


def _numbers(mechanism: Mechanism, time: float, expressions: Sequence[Expr]) -> list[float]:
    return floats(mechanism, expressions, {TIME: time})


def with_numbers(frame: Skeleton, numbers: Any, measure: Callable[[Vec3], Vec3] = _normalise) -> list[Edge]:
    """The edges with numbers of any kind in place of constant expressions; amounts stay expressions.

    `measure` brings axes to the length they are used with.
    """
    constants = [[[step.before, step.axis] for step in e.steps] + [e.last] for e in frame.edges]
    # All constants in one evaluation: they share nodes, and exact numbers are dear.
    leaves = flatten(constants)
    results = iter(numbers([leaf for leaf in leaves if isinstance(leaf, Expr)]))
    known = rebuild(constants, iter([next(results) if isinstance(leaf, Expr) else leaf for leaf in leaves]))
    edges = []
    for edge, (*steps, last) in zip(frame.edges, known, strict=True):
        renewed = [
            replace(step, before=before, axis=measure(axis))
            for step, (before, axis) in zip(edge.steps, steps, strict=True)
        ]
        edges.append(replace(edge, steps=tuple(renewed), last=last))
    return edges


def length_unit(edges: Sequence[Edge]) -> float:
    """A length of the mechanism's own size: the mean offset between steps, rounded to a power of two.

    Dividing by a power of two rounds nothing.
    """
    places: list[Transform] = [place for edge in edges for place in (*(step.before for step in edge.steps), edge.last)]
    sizes = [math.sqrt(sum(float(c) ** 2 for c in place.position)) for place in places]
    present = [size for size in sizes if size > 0]
    if not present:
        return 1.0
    return 2.0 ** round(math.log2(sum(present) / len(present)))
