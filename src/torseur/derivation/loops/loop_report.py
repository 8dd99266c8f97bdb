"""The loop doctor's report: readable by a person, and as plain data for machines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.derivation.loops.mobility.mobility_check import MobilityCheck
from torseur.derivation.loops.mobility.partition import Partition
from torseur.derivation.loops.model.loop_system import LoopSystem, State
from torseur.derivation.loops.model.poses import body_poses
from torseur.derivation.loops.reasons.reasons import Reason
from torseur.derivation.loops.redundancy.redundancy import Redundancy
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.errors import counted

Point = tuple[float, float, float]


@dataclass(frozen=True)
class LoopPath:
    """A loop walked once around: `bodies[k]` is between `joints[k]` and the next."""

    joints: tuple[str, ...]
    bodies: tuple[str, ...]


@dataclass(frozen=True)
class Outline:
    """The loops, and the place of every joint in the earth's axes (m)."""

    loops: tuple[LoopPath, ...]
    places: dict[str, Point]


def outline(system: LoopSystem, state: State) -> Outline:
    """The outline at a closed state."""
    return Outline(tuple(_path(system, c) for c in range(len(system.cycles))), joint_places(system, state))


def _path(system: LoopSystem, cycle: int) -> LoopPath:
    passages = system.cycles[cycle].passages
    edges = [system.frame.edges[p.edge] for p in passages]
    after = [e.end if p.forward else e.start for e, p in zip(edges, passages, strict=True)]
    return LoopPath(tuple(e.joint for e in edges), tuple(after))


def joint_places(system: LoopSystem, state: State) -> dict[str, Point]:
    """The place of every joint in the earth's axes (m)."""
    poses = body_poses(system, state)
    places: dict[str, Point] = {}
    for edge in system.edges:
        # A joint is drawn where its first step is, seen from the body it starts at.
        offset = edge.steps[0].before if edge.steps else edge.last
        local = np.array([float(c) for c in offset.position])
        x, y, z = poses.position[edge.start] * system.length + poses.rotation[edge.start] @ local
        places[edge.joint] = (float(x), float(y), float(z))
    return places


_MOST_SHOWN = 12


@dataclass(frozen=True)
class Cut:
    """What was done to open the loops: joints that carry bodies, joints that close loops, loops by their joints.

    `kept` are the closing joints whose coordinates are needed besides; `constraints` stand beside the joints.
    """

    tree: tuple[str, ...]
    closing: tuple[str, ...]
    kept: tuple[str, ...]
    loops: tuple[str, ...]
    constraints: tuple[str, ...]


@dataclass(frozen=True)
class RankFinding:
    """The rank on the closed configurations, by which method, and what supports it; None when undecided.

    Where it is not that of `here`, the configuration examined, it is the largest over all closed configurations,
    complex ones included, which may be larger than at any real one.
    """

    method: str
    rank: int | None
    support: str
    here: bool = True


@dataclass(frozen=True)
class OtherConfiguration:
    """Another kind of closed configuration met from random starts."""

    rank: int
    infinitesimal: int
    starts: int


@dataclass(frozen=True)
class Way:
    """A branch of motion through a singular configuration: its dimension and the freedoms it moves.

    On a curve they have rates, the largest 1; on a larger family 1 marks what moves. `basis` spans the directions in
    which the branch leaves, each by the freedoms that it moves (SI), its own independent one by 1. `rank` and
    `redundant` hold all along the branch but for special positions. `motion` are configurations on a way into it.
    """

    dimension: int
    rates: Mapping[str, float]
    basis: Mapping[str, Mapping[str, float]]
    rank: int
    redundant: int
    motion: tuple[Mapping[str, float], ...]

    def __str__(self) -> str:
        return "\n      ".join(self.lines())

    def lines(self) -> list[str]:
        """What moves, and for larger families the directions that span it."""
        along = f"rank {self.rank}, {counted(self.redundant, 'redundant constraint')}"
        if self.dimension <= 1:
            return [f"dimension {self.dimension}: {_rates_text(self.rates)} ({along})"]
        head = f"dimension {self.dimension}: {', '.join(self.rates)} move ({along}); spanned by"
        return [head, *(_rates_text(direction) for direction in self.basis.values())]


def _rates_text(rates: Mapping[str, float]) -> str:
    shown = [f"{name} {rate:+.3g}" for name, rate in list(rates.items())[:_MOST_SHOWN]]
    return ", ".join(shown) + (f" and {len(rates) - _MOST_SHOWN} more" if len(rates) > _MOST_SHOWN else "")


@explain_methods
@dataclass(frozen=True, repr=False)
class LoopReport(Displayed):
    """The doctor's findings at one closed configuration.

    Freedoms are the scalar freedoms of all joints, equations six per loop and one per further constraint. Mobilities
    are numbers of independent motions: by count, at first order (`infinitesimal`), and over a finite distance
    (`finite`, None when undecided). `velocity` is what constraints on velocities leave of the first-order motions.
    """

    mechanism: str
    cut: Cut
    freedoms: int
    equations: int
    count: int
    count_by_order: int
    generic_rank: int
    ranks: tuple[RankFinding, ...]
    infinitesimal: int
    velocity: int
    finite: int | None
    reason: str
    singular: bool
    nearby_rank: int
    ways: tuple[Way, ...]
    ways_proof: str
    reasons: tuple[Reason, ...]
    redundancies: tuple[Redundancy, ...]
    redundant: int
    partition: Partition
    configuration: Mapping[str, float]
    others: tuple[OtherConfiguration, ...]
    remarks: tuple[str, ...]
    outline: Outline
    check: MobilityCheck | None = None

    @property
    def trusted(self) -> bool:
        """Whether an independent check agrees with the mobility."""
        return self.check is not None and self.check.agrees

    def __repr__(self) -> str:
        finite = "undecided" if self.finite is None else str(self.finite)
        return (
            f"LoopReport of '{self.mechanism}': mobility {self.count} by count, {self.infinitesimal} at first order, "
            f"{finite} over a finite distance; {counted(self.redundant, 'redundant constraint')}"
        )

    @property
    def rank(self) -> int | None:
        """The rank at the configuration examined, by the most exact of the methods asked for that tell it."""
        return [finding for finding in self.ranks if finding.here][-1].rank

    @property
    def branches(self) -> tuple[int, ...]:
        """Dimensions of the branches through a singular configuration."""
        return tuple(way.dimension for way in self.ways)

    @property
    def ways_note(self) -> str:
        """How many branches there are, and whether the list is known to be complete; empty where there are none."""
        if not self.ways:
            return ""
        if self.ways_proof:
            return f"{len(self.ways)}, and no more: {self.ways_proof}"
        return (
            f"at least {len(self.ways)}; the list may be incomplete, because it comes from configurations sampled "
            "around this one, and second order does not bound their number"
        )

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data: numbers, strings, lists and dictionaries."""
        return {
            "mechanism": self.mechanism,
            "cut": {"tree": list(self.cut.tree), "closing": list(self.cut.closing), "kept": list(self.cut.kept),
                    "loops": list(self.cut.loops), "constraints": list(self.cut.constraints)},
            "freedoms": self.freedoms,
            "equations": self.equations,
            "mobility": {"by_count": self.count, "by_order": self.count_by_order, "infinitesimal": self.infinitesimal,
                         "velocity": self.velocity, "finite": self.finite, "reason": self.reason},
            "rank": {"generic": self.generic_rank, "admissible": self.rank, "nearby": self.nearby_rank,
                     "findings": [{"method": r.method, "rank": r.rank, "support": r.support,
                                   "of": "this configuration" if r.here else "all closed configurations"}
                                  for r in self.ranks]},
            "singular": self.singular,
            "branches": [{"dimension": way.dimension, "rates": dict(way.rates), "rank": way.rank,
                          "redundant": way.redundant, "basis": {q: dict(d) for q, d in way.basis.items()},
                          "motion": [dict(pose) for pose in way.motion]} for way in self.ways],
            "branches_complete": bool(self.ways_proof),
            "branches_note": self.ways_note,
            "redundant": self.redundant,
            "reasons": [{"loops": list(r.loops), "joints": list(r.joints), "kind": r.kind, "redundant": r.redundant,
                         "group": r.group, "text": r.text} for r in self.reasons],
            "redundancies": [_redundancy(r) for r in self.redundancies],
            "independent": list(self.partition.independent),
            "passage": {"freedoms": list(self.partition.freedoms), "N": self.partition.passage.tolist(),
                        "bodies": list(self.partition.body_names), "Psi": self.partition.bodies.tolist(),
                        "quality": self.partition.quality},
            "configuration": dict(self.configuration),
            "other_configurations": [{"rank": o.rank, "infinitesimal": o.infinitesimal, "starts": o.starts}
                                     for o in self.others],
            "remarks": list(self.remarks),
            "check": self.check.to_dict() if self.check is not None else None,
            "trusted": self.trusted,
            "outline": {"loops": [{"joints": list(p.joints), "bodies": list(p.bodies)} for p in self.outline.loops],
                        "places": {joint: list(place) for joint, place in self.outline.places.items()}},
        }  # fmt: skip


def _redundancy(r: Redundancy) -> dict[str, Any]:
    return {"text": str(r), "loops": list(r.loops), "joint": r.joint, "motion": r.motion, "by": list(r.joints),
            "special_dimensions": r.special}  # fmt: skip


def _lines(r: LoopReport) -> list[str]:
    if not r.cut.loops and not r.equations:
        return [f"{r.mechanism}: no loops, mobility {r.freedoms}."]
    return [
        f"{r.mechanism}: finite mobility {_number_text(r.finite)}, infinitesimal {r.infinitesimal} ({r.reason})",
        *_cut_lines(r.cut),
        f"  examined at {_values_text(r.configuration)}",
        f"  freedoms {r.freedoms}, equations {r.equations}; mobility by count {r.count}, "
        f"by the order of the loops {r.count_by_order}",
        f"  rank at a random open point {r.generic_rank} (depends on how closure is written)",
        *(line for finding in r.ranks for line in _rank_lines(finding, r.nearby_rank)),
        *_singular_lines(r),
        *_velocity_lines(r),
        *_redundancy_lines(r),
        _independent_line(r.partition),
        *(f"  also met from random starts ({o.starts}): rank {o.rank}, infinitesimal mobility {o.infinitesimal}"
          for o in r.others),
        *(f"  remark: {remark}" for remark in r.remarks),
        *([f"  {r.check}"] if r.check is not None else []),
    ]  # fmt: skip


def _number_text(number: int | None) -> str:
    return "undecided" if number is None else str(number)


def _rank_lines(f: RankFinding, nearby: int) -> list[str]:
    if f.here:
        return [f"  rank where the loops are closed: {_number_text(f.rank)} by {f.method} ({f.support})"]
    lines = [f"  largest rank of all closed configurations: {_number_text(f.rank)} by {f.method} ({f.support})"]
    if f.rank is not None and f.rank != nearby:
        lines.append(f"    not {nearby} as around here: other configurations, or only complex ones, have it")
    return lines


def _cut_lines(cut: Cut) -> list[str]:
    lines = [f"  {counted(len(cut.loops), 'loop')}, cut at {', '.join(cut.closing)}" if cut.loops else "  no loops"]
    if cut.kept:
        lines.append(f"  coordinates kept at the cut of {', '.join(cut.kept)}")
    shown = cut.loops[:_MOST_SHOWN]
    lines += [f"    {name}" for name in shown]
    if len(cut.loops) > len(shown):
        lines.append(f"    and {len(cut.loops) - len(shown)} more")
    if cut.constraints:
        lines.append(f"  constraints besides: {', '.join(cut.constraints)}")
    return lines


def _values_text(values: Mapping[str, float]) -> str:
    shown = [f"{name} = {value + 0.0:.5g}" for name, value in list(values.items())[:_MOST_SHOWN]]
    return ", ".join(shown) + (f" and {len(values) - _MOST_SHOWN} more" if len(values) > _MOST_SHOWN else "")


def _independent_line(partition: Partition) -> str:
    if not partition.independent:
        return "  independent coordinates: none, nothing can move"
    quality = f"(conditioning {partition.quality:.2f}, at best 1)"
    return f"  independent coordinates: {', '.join(partition.independent)} {quality}"


def _singular_lines(r: LoopReport) -> list[str]:
    if not r.singular:
        return []
    lines = [f"  this configuration is singular: the rank is {r.nearby_rank} on the configurations around it"]
    if r.ways:
        lines.append(f"  branches through it: {r.ways_note}")
    return [*lines, *(f"    {way}" for way in r.ways)]


def _velocity_lines(r: LoopReport) -> list[str]:
    if r.velocity == r.infinitesimal:
        return []
    return [f"  constraints on velocities leave {r.velocity} of the {r.infinitesimal} motions at each instant"]


def _redundancy_lines(r: LoopReport) -> list[str]:
    if not r.redundant:
        return ["  no redundant constraint"]
    plural = "s" if r.redundant != 1 else ""
    lines = [f"  {r.redundant} redundant constraint{plural} at first order"]
    if r.finite is not None and r.finite < r.infinitesimal and not r.singular:
        lines.append(f"    (together they still stop {r.infinitesimal - r.finite} of the first-order motions)")
    if not r.redundancies:
        lines.append("    (too many joints to name them one by one)")
    lines += [f"    because {item}" for item in r.reasons[:_MOST_SHOWN]]
    lines += [f"    {item}" for item in r.redundancies[:20]]
    if len(r.redundancies) > 20:
        lines.append(f"    and {len(r.redundancies) - 20} more")
    return lines
