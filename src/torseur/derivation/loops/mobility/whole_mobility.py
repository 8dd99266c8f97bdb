"""Mobility of a whole mechanism from that of its independent parts."""

from __future__ import annotations

from itertools import islice, product

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.configuration import Branch, ClosedConfiguration, Mobility, closed_configuration
from torseur.derivation.loops.mobility.mobility import dimensions_text, part_mobility
from torseur.derivation.loops.model.loop_parts import LoopPart, loop_parts
from torseur.derivation.loops.model.loop_system import State

# Branches of parts multiply: six parts with two each are as many.
MOST_BRANCHES = 64


def mobility(here: ClosedConfiguration, seed: int = 0) -> Mobility:
    """Rank, infinitesimal and finite mobility at a closed configuration, and the branches through a singular one.

    Parts that share no freedom are examined one by one, each with random numbers of its own, so that none changes what
    is said of another.
    """
    parts, free = loop_parts(here.system)
    # The part is the whole, in its own unit: no detour, and the caller's random numbers.
    if len(parts) == 1 and not free and np.all(parts[0].scale == 1.0):
        return part_mobility(here)
    verdicts = [_verdict(here, part, seed) for part in parts]
    rank, nearby = sum(v.rank for v in verdicts), sum(v.nearby_rank for v in verdicts)
    finite = [v.finite for v in verdicts if v.finite is not None]
    # A sum with an unknown term is unknown.
    total = sum(finite) + len(free) if len(finite) == len(verdicts) else None
    tangent = _side_by_side(here, parts, [v.tangent for v in verdicts], free)
    branches = _branches(here, parts, verdicts, free)
    proof = "; ".join(dict.fromkeys(v.proof for v in verdicts if v.branches))
    proven = all(v.proof for v in verdicts if v.branches)
    reason = _reason(verdicts, branches)
    return Mobility(rank, here.system.n - rank, total, nearby, reason, tangent, branches, proof if proven else "")


def _verdict(here: ClosedConfiguration, part: LoopPart, seed: int) -> Mobility:
    return part_mobility(closed_configuration(part, part.enter(here.state), np.random.default_rng(seed)))


def _reason(verdicts: list[Mobility], branches: tuple[Branch, ...]) -> str:
    """The reason of the part that cannot be decided, or does not move as first order says; else of the first."""
    if not verdicts:
        return "no closure equations"
    undecided = [v.reason for v in verdicts if v.finite is None]
    if undecided or not branches:
        stopped = [v.reason for v in verdicts if v.finite != v.infinitesimal]
        return (undecided or stopped or [v.reason for v in verdicts])[0]
    return dimensions_text(branches)


def _side_by_side(here: ClosedConfiguration, parts: list[LoopPart], tangents: list[Array], free: list[int]) -> Array:
    """Tangents of parts (n_part, k) and free directions as columns over all freedoms, orthonormal."""
    blocks = [part.widen(tangent.T).T / part.scale[:, None] for part, tangent in zip(parts, tangents, strict=True)]
    whole = np.concatenate([*blocks, np.eye(here.system.n)[:, free]], axis=1)
    # Another unit of length makes columns of a part oblique.
    return whole if all(np.all(part.scale == 1.0) for part in parts) else np.linalg.qr(whole)[0]


def _branches(
    here: ClosedConfiguration, parts: list[LoopPart], verdicts: list[Mobility], free: list[int]
) -> tuple[Branch, ...]:
    """Every choice of a branch in each singular part, the other parts moving as they do."""
    if not any(v.branches for v in verdicts) or any(v.finite is None for v in verdicts):
        return ()
    choices = [v.branches or (Branch(v.finite or 0, v.tangent, part.enter(here.state)),)
               for part, v in zip(parts, verdicts, strict=True)]  # fmt: skip
    made = []
    for chosen in islice(product(*choices), MOST_BRANCHES):
        state = here.state
        for part, branch in zip(parts, chosen, strict=True):
            state = _with_part(state, part, part.leave(branch.point))
        tangent = _side_by_side(here, parts, [b.tangent for b in chosen], free)
        made.append(Branch(sum(b.dimension for b in chosen) + len(free), tangent, state))
    return tuple(made)


def _with_part(state: State, part: LoopPart, own: State) -> State:
    """A state with the freedoms of a part as in another one."""
    columns = list(part.columns)
    x = state.x.copy()
    x[:, columns] = own.x[:, columns]
    balls = state.balls.copy()
    for b, k in enumerate(part.ball_freedoms):
        if k in part.columns:
            balls[:, b] = own.balls[:, b]
    return State(x, balls)
