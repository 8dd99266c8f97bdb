"""Why joints around loops say the same thing twice, block by block.

A block is a set of loops that share joints. Hervé (1978) tells three kinds of redundancy: all joints of a block lie in
one group of motions (a plane four-bar); its chains lie in groups of which the sum is not everything (Sarrus); or the
dimensions are special (Bennett). The first two are found from the screws of the joints; of the third, symmetries and
known families.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.open_loops import loop_name
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.model.loop_system import LoopSystem
from torseur.derivation.loops.rank.numerical_rank import numerical_rank
from torseur.derivation.loops.reasons.block_chains import (
    Block,
    blocks,
    further_position,
    links_of,
    parallel_chains,
    screws_at,
)
from torseur.derivation.loops.reasons.group_chains import chains_in_groups
from torseur.derivation.loops.reasons.hinge_rings import hinge_family, hinge_ring
from torseur.derivation.loops.reasons.motion_groups import (
    MotionGroup,
    common_screws,
    generated_algebra,
    motion_group,
    screw_basis,
)
from torseur.derivation.loops.reasons.nested_chains import nested_reason, paired_reason
from torseur.derivation.loops.reasons.symmetric_rings import Symmetry, joint_axis, symmetries
from torseur.errors import counted

ONE_GROUP, GROUPS, FAMILY, POSITION = "one group", "groups of chains", "family", "position"
LINE, PLANE, LENGTHS, UNKNOWN = "line symmetry", "plane symmetry", "equal lengths", "unknown"
_MOST_JOINTS = 60
_EQUAL = 1e-9
_OUTSIDE = 1e-6


@dataclass(frozen=True)
class Reason:
    """Why closure equations of a block of loops hold by themselves: how many, the kind of reason, and it in words.

    `group` names the group of motions that all joints of the block lie in, empty where that is all motions. `algebras`
    are the groups of the block and of its loops: joints, and the screws (d, 6) that span them.
    """

    loops: tuple[str, ...]
    joints: tuple[str, ...]
    kind: str
    redundant: int
    text: str
    group: str
    algebras: tuple[tuple[frozenset[str], Array], ...] = field(repr=False, compare=False)

    def is_special(self, wrench: Array, joints: set[str]) -> bool:
        """Whether a constraint, given by its wrench, is imposed by joints through special dimensions alone."""
        if self.kind in (ONE_GROUP, GROUPS):
            return False
        # What forbids motions outside of the group is repeated by every joint of it, whatever the dimensions are.
        within = [algebra for members, algebra in self.algebras if joints <= members]
        return not any(np.max(np.abs(algebra @ wrench)) < _OUTSIDE for algebra in within)

    def __str__(self) -> str:
        where = (
            self.loops[0] if len(self.loops) == 1 else f"{len(self.loops)} loops through {', '.join(self.joints[:8])}"
        )
        more = ", ..." if len(self.loops) > 1 and len(self.joints) > 8 else ""
        return f"{where}{more}: {self.text}"


def reasons(here: ClosedConfiguration, finite: int | None) -> list[Reason]:
    """A reason for every block of loops with redundant closures; `finite` is the mobility of the whole, if known."""
    system = here.system
    if len(system.edges) > _MOST_JOINTS:
        return []
    jacobian = here.system.linearise(here.state)[1][0]
    reasons = [_block_reason(here, jacobian, block, finite) for block in blocks(system)]
    return [reason for reason in reasons if reason is not None]


def _block_reason(here: ClosedConfiguration, jacobian: Array, block: Block, finite: int | None) -> Reason | None:
    system = here.system
    rows = [6 * c + k for c in block.cycles for k in range(6)]
    rank = numerical_rank(jacobian[rows]).rank
    if rank == len(rows):
        return None
    screws = screws_at(system, here.state, block.edges)
    algebra = generated_algebra(np.vstack(list(screws.values())))
    names = tuple(loop_name(system, c) for c in block.cycles)
    joints = tuple(system.edges[k].joint for k in block.edges)
    group = motion_group(algebra)
    algebras = [(frozenset(joints), algebra), *(_loop_algebra(system, c, screws) for c in block.cycles)]
    reason = Reason(
        names, joints, UNKNOWN, len(rows) - rank, "", group.kind if len(algebra) < 6 else "", tuple(algebras)
    )
    by_group, because = _by_groups(names, [own for _, own in algebras[1:]], algebra)
    if by_group == len(rows) - rank:
        return replace(reason, kind=ONE_GROUP, text=_group_text(by_group, len(rows), because))
    deeper = (
        _in_groups(system, block, screws, rank, reason)
        or _in_allowed_motions(here, block, screws, reason)
        or _in_nested_chains(here, block, reason)
        or _in_dimensions(here, block, screws, reason, finite)
    )
    # Groups of chains explain all that is redundant, what the group of the whole does included.
    if not by_group or deeper.kind == GROUPS:
        return deeper
    return replace(deeper, text=f"{_group_text(by_group, len(rows), because)}; besides, {deeper.text}")


def _by_groups(names: tuple[str, ...], loops: list[Array], whole: Array) -> tuple[int, str]:
    """(count, why): closure equations that hold because joints of a loop lie in a group, of the block or its own."""
    count = sum(6 - len(algebra) for algebra in loops)
    if count == (6 - len(whole)) * len(loops):
        return count, f"all its joints allow only {motion_group(whole).text}"
    own = [f"{name} ({motion_group(algebra).text})" for name, algebra in zip(names, loops, strict=True)
           if len(algebra) < 6]  # fmt: skip
    return count, f"joints of {', '.join(own)} allow only such motions"


def _loop_algebra(system: LoopSystem, cycle: int, screws: dict[int, Array]) -> tuple[frozenset[str], Array]:
    around = [passage.edge for passage in system.cycles[cycle].passages]
    names = frozenset(system.edges[k].joint for k in around)
    return names, generated_algebra(np.vstack([screws[k] for k in around]))


def _group_text(count: int, rows: int, because: str) -> str:
    return f"{because}, so that {count} of its {rows} closure equations are satisfied automatically"


def _in_groups(system: LoopSystem, block: Block, screws: dict[int, Array], rank: int, reason: Reason) -> Reason | None:
    """The reason where chains between two bodies lie in groups whose sum is not everything."""
    ways = [[links_of(system, chain, screws) for chain in chains] for chains in parallel_chains(system, block)]
    text = chains_in_groups(ways, rank)
    return replace(reason, kind=GROUPS, text=f"{text}, so that {_satisfied_equations(reason)}") if text else None


def _in_nested_chains(here: ClosedConfiguration, block: Block, reason: Reason) -> Reason | None:
    """The reason where chains stand side by side within chains, or make rings two by two."""
    text = paired_reason(here, block, reason.redundant) or nested_reason(here, block, reason.redundant)
    return replace(reason, kind=GROUPS, text=f"{text}, so that {_satisfied_equations(reason)}") if text else None


def _satisfied_equations(reason: Reason) -> str:
    return f"{reason.redundant} closure " + (
        "equations are satisfied automatically" if reason.redundant != 1 else "equation is satisfied automatically"
    )


def _in_allowed_motions(
    here: ClosedConfiguration, block: Block, screws: dict[int, Array], reason: Reason
) -> Reason | None:
    """The reason where all chains between two bodies allow one group of motions, though they lie in no group.

    Kong and Gosselin (2004) call it the virtual chain. It is seen here and at another position, and with the joints
    moved to other places: their directions make it, no dimensions do.
    """
    system = here.system
    allowed = _allowed_group(system, block, screws)
    if allowed is None:
        return None
    chains, group = allowed
    elsewhere = _allowed_group(system, block, screws_at(system, further_position(here), block.edges))
    shifted = _allowed_group(system, block, _shifted(screws, here.rng))
    if any(other is None or other[1].text != group.text for other in (elsewhere, shifted)):
        return None
    parts = [f"{'-'.join(system.edges[k].joint for k in chain)}" for chain in chains]
    text = (f"each of its chains {', '.join(parts)} allows {group.text}, by the directions of its axes alone, "
            f"so that {_satisfied_equations(reason)}")  # fmt: skip
    return replace(reason, kind=GROUPS, text=text)


def _allowed_group(
    system: LoopSystem, block: Block, screws: dict[int, Array]
) -> tuple[list[list[int]], MotionGroup] | None:
    """Chains between two bodies, and the group of the motions that all of them allow; None where it is no group."""
    if len(block.cycles) == 1:
        return None  # of a ring every cut has its own motions: its reasons are groups, families and symmetries
    for chains in parallel_chains(system, block):
        common = common_screws([screw_basis(np.vstack([screws[k] for k in chain])) for chain in chains])
        if len(common) and len(generated_algebra(common)) == len(common):
            return chains, motion_group(common)
    return None


def _shifted(screws: dict[int, Array], rng: np.random.Generator) -> dict[int, Array]:
    """The screws with every joint moved to another place, its directions as they are."""
    moved = {}
    for k, own in screws.items():
        shift = rng.uniform(-0.5, 0.5, 3)
        moved[k] = np.concatenate([own[:, :3], own[:, 3:] + np.cross(shift, own[:, :3])], axis=1)
    return moved


def _in_dimensions(
    here: ClosedConfiguration, block: Block, screws: dict[int, Array], reason: Reason, finite: int | None
) -> Reason:
    """The reason where dimensions are special: a known family, a symmetry, equal lengths, or this position alone."""
    system = here.system
    if finite is None:
        text = "no reason was found: whether it holds beyond this position is undecided"
        return replace(reason, kind=UNKNOWN, text=text)
    if not finite:
        text = "its joints are dependent in this position only, where nothing more can move"
        return replace(reason, kind=POSITION, text=text)
    lengths = _equal_lengths(system, block, screws)
    if len(block.cycles) == 1:
        around = [p.edge for p in system.cycles[block.cycles[0]].passages]
        if all(joint_axis(screws[k]) is not None for k in around):
            special = _ring_reason(here, around, screws, reason)
            if special is not None:
                named = f" ({lengths})" if lengths and special.kind != LINE else ""
                return replace(special, text=special.text + named)
    if lengths:
        return replace(reason, kind=LENGTHS, text=f"special dimensions make it redundant; {lengths}")
    return replace(reason, kind=UNKNOWN, text="no reason was found in groups of motions, symmetries, known families or "
                   "equal lengths: it lies in the dimensions together")  # fmt: skip


def _ring_reason(
    here: ClosedConfiguration, around: list[int], screws: dict[int, Array], reason: Reason
) -> Reason | None:
    ring, freedoms = _ring_axes(screws, around), tuple(len(screws[k]) for k in around)
    hinges = (
        max(freedoms) == 1
        and bool(np.all(np.abs(np.sum(ring[:, :3] * ring[:, 3:], axis=1)) < 1e-9))
        and bool(np.all(np.linalg.norm(ring[:, :3], axis=1) > 1e-9))
    )
    family = hinge_family(hinge_ring(ring)) if hinges else None
    if family is not None:
        return replace(reason, kind=FAMILY, text=family)
    further = _ring_axes(screws_at(here.system, further_position(here), around), around)
    for symmetry in symmetries(ring, freedoms):
        kept = symmetry in symmetries(further, freedoms)
        # A symmetry explains as many motions as symmetric ones there are by count, if these are all.
        if kept and symmetry.mobility == sum(freedoms) - (6 - reason.redundant):
            kind = LINE if symmetry.kind == "line" else PLANE
            return replace(reason, kind=kind, text=_symmetry_text(here.system, around, symmetry, hinges))
    return None


def _symmetry_text(system: LoopSystem, around: list[int], symmetry: Symmetry, hinges: bool) -> str:
    names = [system.edges[k].joint for k in around]
    pairs = [f"{names[k]} and {names[p]}" for k, p in enumerate(symmetry.partners) if k < p]
    own = [names[k] for k, p in enumerate(symmetry.partners) if k == p]
    what = "a half-turn about a line" if symmetry.kind == "line" else "a reflection at a plane"
    conditions = 2 if symmetry.kind == "line" else 3
    named = " (Bricard)" if hinges and len(around) == 6 else ""
    kept = f" and keeps {' and '.join(own)}" if own else ""
    return (
        f"{symmetry.kind}-symmetric{named}: {what} exchanges {', '.join(pairs)}{kept} in every position, and "
        f"{counted(symmetry.freedoms, 'symmetric freedom')} less {conditions} conditions leave {symmetry.mobility}"
    )


def _ring_axes(screws: dict[int, Array], around: list[int]) -> Array:
    """Axes of the joints around a ring, as screws."""
    axes = [joint_axis(screws[k]) for k in around]
    return np.vstack([axis for axis in axes if axis is not None])


def _equal_lengths(system: LoopSystem, block: Block, screws: dict[int, Array]) -> str:
    """Distances between hinges of bodies that are equal, in words; empty where none are."""
    hinges = [k for k in block.edges if len(screws[k]) == 1 and np.linalg.norm(screws[k][0, :3]) > _EQUAL]
    spans: list[tuple[float, str]] = []
    for i, j in combinations(hinges, 2):
        pairs = [{system.edges[k].start, system.edges[k].end} for k in (i, j)]
        if pairs[0] & pairs[1]:
            length = float(hinge_ring(np.vstack([screws[i], screws[j]])).lengths[0]) * system.length
            if length > _EQUAL * system.length:
                spans.append((length, f"{system.edges[i].joint}-{system.edges[j].joint}"))
    groups: list[list[tuple[float, str]]] = []
    for span in sorted(spans):
        if groups and span[0] - groups[-1][0][0] < 1e-6 * span[0]:
            groups[-1].append(span)
        else:
            groups.append([span])
    order = [name for _, name in spans]
    named = [(sorted((name for _, name in group), key=order.index), group[0][0]) for group in groups]
    equal = [f"{' = '.join(names)} = {length:.4g} m" for names, length in named if len(names) > 1]
    return f"equal lengths: {'; '.join(equal)}" if equal else ""
