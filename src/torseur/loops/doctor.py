"""The loop doctor: what a mechanism with closed loops can do, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from torseur.errors import TorseurError, unknown_name
from torseur.loops.assembly import closed_state
from torseur.loops.coordinates import coordinates_at
from torseur.loops.gaps import loop_name
from torseur.loops.mobility import mobility
from torseur.loops.model import loop_system
from torseur.loops.order import ordered_count, spatial_count
from torseur.loops.partition import partition
from torseur.loops.projection import project, random_states
from torseur.loops.rank import numerical_rank, ranks
from torseur.loops.rank_methods import METHODS, numeric_finding
from torseur.loops.redundancy import redundancies
from torseur.loops.report import Cut, LoopReport, OtherConfiguration, RankFinding
from torseur.loops.spot import Mobility, Spot, spot
from torseur.loops.system import LoopSystem
from torseur.mechanism import CoordinateForce, Mechanism
from torseur.tree import spanning_tree

_GENERIC = 1e-6
_LARGE = 40


def loops(mechanism: Mechanism, at: Mapping[str, float] | None = None, *, method: str = "numeric",
          preferred: Sequence[str] = (), time: float = 0.0, seed: int = 0) -> LoopReport:  # fmt: skip
    """Rank, mobility, redundancy and independent coordinates of a mechanism at a closed configuration.

    `at` is a rough configuration (coordinates by name, SI), by default the description's initial state; the closed one
    nearest to it is examined. `method` is how the rank is decided: "numeric", "precise" (a hundred digits), "modular"
    (points over a finite field) or "exact" (Gröbner bases). `preferred` coordinates become independent where they can.
    """
    if method not in METHODS:
        raise TorseurError(unknown_name("method", method, METHODS))
    system = loop_system(mechanism, time)
    here = spot(system, closed_state(system, at, seed), np.random.default_rng(seed))
    findings = [numeric_finding(here.rank)]
    if method != "numeric":
        findings.append(METHODS[method](here))
    return _report(here, mobility(here), findings, [*preferred, *_actuated(mechanism)])


def _actuated(mechanism: Mechanism) -> list[str]:
    return [load.coordinate for load in mechanism.loads if isinstance(load, CoordinateForce)]


def _report(here: Spot, found: Mobility, findings: list[RankFinding], preferred: Sequence[str]) -> LoopReport:
    """Everything put together; redundancies and coordinates are those of the regular configurations around."""
    system = here.system
    regular = spot(system, found.branches[0].point, here.rng) if found.branches else here
    return LoopReport(
        mechanism=system.frame.mechanism.name,
        cut=_cut(system),
        freedoms=system.n,
        equations=system.rows,
        count=spatial_count(system),
        count_by_order=ordered_count(system, here.state),
        generic_rank=_generic_rank(here),
        ranks=tuple(findings),
        infinitesimal=found.infinitesimal,
        velocity=_velocity_mobility(here),
        finite=found.finite,
        reason=found.reason,
        singular=found.is_singular,
        nearby_rank=found.nearby_rank,
        branches=tuple(branch.dimension for branch in found.branches),
        redundancies=tuple(redundancies(regular)),
        redundant=system.rows - regular.rank.rank,
        partition=partition(regular, preferred),
        configuration=coordinates_at(system, here.state),
        others=_others(here),
    )


def _velocity_mobility(here: Spot) -> int:
    """Motions at first order that constraints on velocities leave."""
    rows = here.system.velocity_rows(here.state)[0] @ here.rank.motions
    return here.count - numerical_rank(rows).rank


def _cut(system: LoopSystem) -> Cut:
    spanning = spanning_tree(system.frame.mechanism)
    tree = tuple(b.joint.name for b in spanning.branches if not b.closes)
    kept = tuple(b.joint.name for b in spanning.branches if b.closes)
    names = tuple(loop_name(system, c) for c in range(len(system.cycles)))
    return Cut(tree, tuple(joint.name for joint in spanning.loops), kept, names)


def _generic_rank(here: Spot) -> int:
    return int(max(ranks(here.system.screw_rows(random_states(here.system, 2, here.rng)), _GENERIC)))


def _others(here: Spot) -> tuple[OtherConfiguration, ...]:
    """Kinds of closed configurations with another rank, met from a few random starts."""
    system = here.system
    if system.n > _LARGE or not system.rows:
        return ()
    met = project(system, random_states(system, 12, here.rng), steps=150)
    states = met.state.lanes(np.flatnonzero(met.closed))
    if not len(states):
        return ()
    counted = Counter(int(r) for r in ranks(system.linearised(states)[1]))
    return tuple(OtherConfiguration(r, system.n - r, k) for r, k in sorted(counted.items()) if r != here.rank.rank)
