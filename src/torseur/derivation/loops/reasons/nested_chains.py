"""Why closures are redundant where chains stand side by side within chains, or in pairs of their own.

A parallelogram in the leg of a Delta robot is two chains between two bodies: together they are one link of the leg, and
what they allow lies in a group again, that of translations in a plane. Step by step such bundles become links, until
chains between two bodies are left whose groups explain the rest (Hervé and Sparacino 1991). Two chains of one plane
that make a ring, as the UPR legs of an Exechon machine do, are one link likewise; what is redundant between pairs may
be that they all turn about the same two directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.poses import Poses, body_poses
from torseur.derivation.loops.reasons.block_chains import Block, along, further_position, parallel_chains, screws_at
from torseur.derivation.loops.reasons.group_chains import axis_by_axis, chains_in_groups, cuts
from torseur.derivation.loops.reasons.motion_groups import (
    common_screws,
    direction_words,
    generated_algebra,
    motion_group,
    screw_basis,
)

_POSITIONS = 3
_NO_TURN = 1e-6


@dataclass(frozen=True)
class _Link:
    """A joint, or chains side by side that count as one: two bodies, a name, and screws (k, 6) at every position.

    `group` are screws here of the group that its motions stay in.
    """

    ends: tuple[str, str]
    name: str
    screws: tuple[Array, ...]
    group: Array


_Chain = list[_Link]


def nested_reason(here: ClosedConfiguration, block: Block, redundant: int) -> str:
    """How chains within chains explain what is redundant, in words; "" where they do not."""
    system = here.system
    states = [here.state, *(further_position(here) for _ in range(_POSITIONS))]
    poses = [body_poses(system, state) for state in states]
    links, texts = _joints(system, block, states), list[str]()
    while (bundle := _inner_bundle(links)) is not None:
        inner = _redundancy(bundle)
        because = chains_in_groups([[[(x.name, x.group) for x in chain] for chain in bundle]], _rank(bundle))
        if inner and not because:
            return ""
        merged = _side_by_side(bundle, poses)
        if inner:
            texts.append(f"{' and '.join(map(_name, bundle))} together allow {motion_group(merged.group).text}")
            redundant -= inner
        links = [x for x in links if not any(x is y for chain in bundle for y in chain)] + [merged]
    whole = _chains(links)
    # Without a bundle of its own a block has been looked at before.
    if not texts or len(whole) < 2 or len({frozenset(_chain_ends(chain)) for chain in whole}) > 1:
        return ""
    if _redundancy(whole) != redundant:
        return ""
    because = chains_in_groups([[[(x.name, x.group) for x in chain] for chain in whole]], _rank(whole))
    return f"{'; '.join(texts)}; {because}" if because else ""


def _joints(system: LoopSystem, block: Block, states: Sequence[State]) -> list[_Link]:
    screws = [screws_at(system, state, block.edges) for state in states]
    return [_Link((system.edges[k].start, system.edges[k].end), system.edges[k].joint, tuple(own[k] for own in screws),
                  screws[0][k]) for k in block.edges]  # fmt: skip


def _chains(links: Sequence[_Link]) -> list[_Chain]:
    """Links one after the other between bodies at which more than two meet."""
    at: dict[str, list[_Link]] = {}
    for link in links:
        for body in link.ends:
            at.setdefault(body, []).append(link)
    chains, used = [], set[int]()
    for hub in [body for body, own in at.items() if len(own) > 2]:
        for first in at[hub]:
            chain, body, link = [], hub, first
            while id(link) not in used:
                used.add(id(link))
                chain.append(link)
                body = link.ends[1] if link.ends[0] == body else link.ends[0]
                if len(at[body]) == 2:
                    link = next(x for x in at[body] if x is not link)
            if chain:
                chains.append(chain)
    return chains


def _chain_ends(chain: _Chain) -> tuple[str, str]:
    """The two bodies that a chain joins."""
    if len(chain) == 1:
        return chain[0].ends
    first, last = set(chain[0].ends) - set(chain[1].ends), set(chain[-1].ends) - set(chain[-2].ends)
    # Two links with both ends in common go out and back: a ring at one hub.
    return (min(first or chain[0].ends), min(last or chain[-1].ends))


def _inner_bundle(links: Sequence[_Link]) -> list[_Chain] | None:
    """Chains between the same two bodies that are not the whole of it."""
    chains = _chains(links)
    bundles: dict[frozenset[str], list[_Chain]] = {}
    for chain in chains:
        bundles.setdefault(frozenset(_chain_ends(chain)), []).append(chain)
    inner = [own for ends, own in bundles.items() if len(ends) == 2 and 1 < len(own) < len(chains)]
    # The smallest first: legs of one platform count as bundles too as long as others are not yet seen as legs.
    return min(inner, key=lambda own: sum(map(len, own)), default=None)


def _spaces(chains: Sequence[_Chain], position: int = 0) -> list[Array]:
    return [screw_basis(np.vstack([link.screws[position] for link in chain])) for chain in chains]


def _rank(chains: Sequence[_Chain]) -> int:
    """Of the closures V_1 = V_2 = ... of chains between two bodies."""
    spaces = _spaces(chains)
    return sum(len(space) for space in spaces) - len(common_screws(spaces))


def _redundancy(chains: Sequence[_Chain]) -> int:
    return 6 * (len(chains) - 1) - _rank(chains)


def _name(chain: _Chain) -> str:
    return "-".join(link.name for link in chain)


def _side_by_side(chains: Sequence[_Chain], poses: Sequence[Poses]) -> _Link:
    """Chains between two bodies as one link, with the group that their motions stay in."""
    first, second = sorted(_chain_ends(chains[0]))
    screws = tuple(common_screws(_spaces(chains, k)) for k in range(len(poses)))
    # Motions seen from the first body stay in the group that their screws in its own axes generate.
    own = [_in_body(screw, pose, first) for screw, pose in zip(screws, poses, strict=True)]
    group = generated_algebra(_in_earth(np.vstack(own), poses[0], first))
    return _Link((first, second), f"({', '.join(map(_name, chains))})", screws, group)


def _in_body(screws: Array, poses: Poses, body: str) -> Array:
    """Screws at the earth's origin as screws in a body's frame: w' = Rᵀ w, v' = Rᵀ (v + w x p)."""
    turned, place = poses.rotation[body], poses.position[body]
    linear = screws[:, 3:] + np.cross(screws[:, :3], place)
    return np.concatenate([screws[:, :3] @ turned, linear @ turned], axis=1)


def _in_earth(screws: Array, poses: Poses, body: str) -> Array:
    turned, place = poses.rotation[body], poses.position[body]
    angular = screws[:, :3] @ turned.T
    return np.concatenate([angular, screws[:, 3:] @ turned.T - np.cross(angular, place)], axis=1)


def paired_reason(here: ClosedConfiguration, block: Block, redundant: int) -> str:
    """How pairs of chains that make rings, and directions that all of them turn about, explain what is redundant."""
    system = here.system
    for chains in parallel_chains(system, block) if len(block.cycles) > 1 else []:
        screws = screws_at(system, here.state, block.edges)
        spaces, texts, left = list[Array](), list[str](), list(chains)
        while left:
            pair, texts_of_pair, count = _pair(system, left, screws)
            left = [chain for chain in left if not any(chain is one for one in pair)]
            spaces.append(common_screws([screw_basis(np.vstack([screws[k] for k in chain])) for chain in pair]))
            texts += texts_of_pair
            redundant -= count
        between = 6 * (len(spaces) - 1) - sum(map(len, spaces)) + len(common_screws(spaces))
        if not texts or between != redundant:
            continue
        if not between:
            return "; ".join(texts)
        if between == _without_turn(here, block):
            return "; ".join([*texts, f"all its joints turn about two directions alone, {_turned_about(screws)}"])
    return ""


def _pair(
    system: LoopSystem, chains: Sequence[list[int]], screws: dict[int, Array]
) -> tuple[list[list[int]], list[str], int]:
    """(chains, how, count): the first chain and another one that makes a ring with it; alone where none does."""
    first = chains[0]
    for second in chains[1:]:
        text, count = _ring(system, first, second, screws)
        if text:
            return [first, second], [text], count
    return [first], [], 0


def _ring(system: LoopSystem, first: list[int], second: list[int], screws: dict[int, Array]) -> tuple[str, int]:
    """(how, count): the closures of a ring of two chains that hold because of groups; ("", 0) where none do."""
    hubs = {system.edges[first[0]].start, system.edges[first[0]].end}
    begin = min(hubs & {system.edges[second[0]].start, system.edges[second[0]].end})
    out, back = (axis_by_axis(along(system, chain, begin, screws)) for chain in (first, second))
    ring = [*out, *reversed(back)]
    rank = len(screw_basis(np.vstack([screw for _, screw in ring])))
    text = chains_in_groups(cuts(ring), rank) if rank < 6 else ""
    names = " and ".join("-".join(system.edges[k].joint for k in chain) for chain in (first, second))
    return (f"{names} make a loop: {text}", 6 - rank) if text else ("", 0)


def _without_turn(here: ClosedConfiguration, block: Block) -> int:
    """Directions, here and elsewhere, about which no joint of a block turns."""
    counts = []
    for state in (here.state, further_position(here)):
        turns = np.vstack(list(screws_at(here.system, state, block.edges).values()))[:, :3]
        counts.append(3 - int(np.sum(np.linalg.svd(turns, compute_uv=False) > _NO_TURN)))
    return min(counts)


def _turned_about(screws: dict[int, Array]) -> str:
    """Two directions that joints turn about, in words."""
    turns = [row for own in screws.values() for row in own if np.linalg.norm(row[:3]) > _NO_TURN]
    pairs = ((a, b) for a, b in combinations(turns, 2) if np.linalg.norm(np.cross(a[:3], b[:3])) > _NO_TURN)
    a, b = next(pairs)
    return f"{direction_words(a)} and {direction_words(b)} here"
