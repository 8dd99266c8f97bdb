"""The loop doctor's findings as content of a report."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.errors import TorseurError
from torseur.loops import LoopReport
from torseur.loops import loops as examine
from torseur.mechanism import Mechanism
from torseur.report.content import Fact, LoopRing, Loops

MOST_JOINTS = 120  # a page does not wait for the examination of larger nets
MOST_COLUMNS, MOST_ROWS = 8, 40


def loops_of(mechanism: Mechanism, values: Mapping[str, float], start: Mapping[str, float] | None) -> Loops:
    """What the loops leave free at the start of the motion, or why it is not known."""
    if len(mechanism.joints) > MOST_JOINTS:
        return Loops(facts=(), remarks=(f"{len(mechanism.joints)} joints: `torseur loops` examines them.",))
    try:
        found = examine(mechanism.with_values(**values), start)
    except TorseurError as problem:
        return Loops(facts=(), remarks=(str(problem),))
    shown = len(found.partition.independent) <= MOST_COLUMNS and len(found.partition.freedoms) <= MOST_ROWS
    return Loops(
        facts=tuple(_facts(found)),
        rings=tuple(LoopRing(f"loop {k}", path.joints) for k, path in enumerate(found.outline.loops, 1)),
        places=found.outline.places,
        branches=tuple(str(way) for way in found.ways),
        redundant=tuple(str(item) for item in found.redundancies),
        remarks=found.remarks,
        independent=found.partition.independent if shown else (),
        freedoms=found.partition.freedoms if shown else (),
        passage=tuple(tuple(map(float, row)) for row in found.partition.passage) if shown else (),
    )


def _facts(found: LoopReport) -> list[Fact]:
    finite = "undecided" if found.finite is None else str(found.finite)
    closing = ", ".join(found.cut.closing)
    return [
        Fact("loops", str(len(found.cut.loops)), f"cut at {closing}" if closing else ""),
        Fact("freedoms", str(found.freedoms), f"of all joints; {found.equations} closure and constraint equations"),
        Fact("mobility by count", str(found.count), f"{found.count_by_order} by the order of the loops"),
        Fact("generic rank", str(found.generic_rank), "at a random open point; depends on how closure is written"),
        Fact("rank", str(found.rank), "where the loops are closed, at the start of the motion"),
        Fact("infinitesimal mobility", str(found.infinitesimal), "motions at first order"),
        Fact("finite mobility", finite, found.reason),
        Fact("redundant", str(found.redundant), "constraints that others impose already"),
        Fact("independent", str(len(found.partition.independent)), _independent(found)),
    ]


def _independent(found: LoopReport) -> str:
    names = found.partition.independent
    if not names:
        return "nothing moves"
    verb = "determines" if len(names) == 1 else "determine"
    return f"{', '.join(names)} {verb} the motion, quality {found.partition.quality:.2f} of 1"
