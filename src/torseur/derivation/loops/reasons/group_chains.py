"""Chains between two bodies that lie in groups of motions whose sum is not everything, in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.reasons.motion_groups import (
    common_screws,
    direction_words,
    generated_algebra,
    motion_group,
)

Links = Sequence[tuple[str, Array]]
"""What a chain is made of: names, and the screws (k, 6) that go with each."""


def chains_in_groups(ways: Iterable[Sequence[Links]], rank: int) -> str:
    """How chains lie in groups that explain the rank, for the way to see them with the smallest groups; "" if none."""
    best: tuple[int, Sequence[Links], list[Array]] | None = None
    for chains in ways:
        spaces = [generated_algebra(np.vstack([screws for _, screws in chain])) for chain in chains]
        # Closing needs V_1 = V_2 = ...: the rank is at most the sum of the chains' dimensions less what is common.
        size = sum(len(space) for space in spaces)
        if size - len(common_screws(spaces)) == rank and (best is None or size < best[0]):
            best = (size, chains, spaces)
    if best is None:
        return ""
    _, chains, spaces = best
    parts = [f"{'-'.join(name for name, _ in chain)} ({motion_group(space).text})"
             for chain, space in zip(chains, spaces, strict=True)]  # fmt: skip
    common = common_screws(spaces)
    shared = motion_group(generated_algebra(common)).text if len(common) else "no motion"
    return f"its chains {' and '.join(parts)} have in common {shared}"


def cuts(around: Links) -> list[list[Links]]:
    """A ring seen as two chains, cut at every two places."""
    whole = list(around)
    return [[whole[i:j], whole[j:] + whole[:i]] for i, j in combinations(range(len(whole)), 2)]


def axis_by_axis(chain: Links) -> Links:
    """A chain in which every axis of a joint stands for itself: those of a universal joint may lie in two groups."""
    return [
        (name if len(screws) == 1 else f"{name} about {direction_words(screw)}", screw[None])
        for name, screws in chain
        for screw in screws
    ]
