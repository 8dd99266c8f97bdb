"""Loops that share joints, seen as chains of joints between bodies, with the screws of the joints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.projection import project
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.reasons.group_chains import Links
from torseur.derivation.loops.redundancy.joint_constraints import joint_screws


@dataclass(frozen=True)
class Block:
    """Loops that share joints: numbers of the cycles and of the edges they pass."""

    cycles: tuple[int, ...]
    edges: tuple[int, ...]


def blocks(system: LoopSystem) -> list[Block]:
    """The loops in sets that share no joint with each other, in the order of their first loops."""
    sets: list[tuple[list[int], set[int]]] = []
    for c, cycle in enumerate(system.cycles):
        cycles, edges = [c], {passage.edge for passage in cycle.passages}
        for known in [known for known in sets if known[1] & edges]:
            sets.remove(known)
            cycles, edges = known[0] + cycles, known[1] | edges
        sets.append((cycles, edges))
    return [
        Block(tuple(sorted(cycles)), tuple(sorted(edges))) for cycles, edges in sorted(sets, key=lambda s: min(s[0]))
    ]


def parallel_chains(system: LoopSystem, block: Block) -> list[list[list[int]]]:
    """Ways to see a block as chains of joints between two bodies: one where it branches, every cut of a ring."""
    if len(block.cycles) == 1:
        around = [p.edge for p in system.cycles[block.cycles[0]].passages]
        return [[around[i:j], around[j:] + around[:i]] for i, j in combinations(range(len(around)), 2)]
    ends = [(system.edges[k].start, system.edges[k].end) for k in block.edges]
    degree: dict[str, int] = {}
    for body in (body for pair in ends for body in pair):
        degree[body] = degree.get(body, 0) + 1
    hubs = [body for body, count in degree.items() if count > 2]
    if len(hubs) != 2:
        return []
    chains, left = [], dict(zip(block.edges, ends, strict=True))
    for first in [k for k, pair in left.items() if hubs[0] in pair]:
        chain, body = [], hubs[0]
        step: int | None = first
        while step is not None:
            pair = left.pop(step)
            chain.append(step)
            body = pair[1] if pair[0] == body else pair[0]
            step = None if body in hubs else next((k for k, pair in left.items() if body in pair), None)
        chains.append(chain)
    return [chains] if not left else []


def links_of(system: LoopSystem, chain: list[int], screws: dict[int, Array]) -> Links:
    return [(system.edges[k].joint, screws[k]) for k in chain]


def along(system: LoopSystem, chain: list[int], body: str, screws: dict[int, Array]) -> Links:
    """The joints of a chain that begins at a body, with their axes in the order in which the chain passes them."""
    links = []
    for k in chain:
        edge = system.edges[k]
        forward = edge.start == body
        body = edge.end if forward else edge.start
        links.append((edge.joint, screws[k] if forward else screws[k][::-1]))
    return links


def screws_at(system: LoopSystem, state: State, edges: Iterable[int]) -> dict[int, Array]:
    poses = body_poses(system, state)
    return {k: joint_screws(system, state, k, poses) for k in edges}


def further_position(here: ClosedConfiguration) -> State:
    """Another closed position, reached along the first motions."""
    direction = here.rank.motions @ here.rng.normal(size=here.count)
    step = 0.1 * direction / max(float(np.linalg.norm(direction)), 1e-300)
    return project(here.system, here.system.move(here.state, step[None]), steps=100).state
