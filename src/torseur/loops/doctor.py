"""The loop doctor: what a mechanism with closed loops can do, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.errors import MechanismError, TorseurError, unknown_name
from torseur.loops.assembly import assemble, closed_state
from torseur.loops.coordinates import coordinates_at
from torseur.loops.couplings import driver
from torseur.loops.gaps import loop_name
from torseur.loops.mobility import mobility
from torseur.loops.model import loop_system
from torseur.loops.order import ordered_count, spatial_count
from torseur.loops.outline import outline
from torseur.loops.partition import partition
from torseur.loops.projection import project, random_states
from torseur.loops.rank import numerical_rank, ranks
from torseur.loops.rank_methods import METHODS, numeric_finding
from torseur.loops.redundancy import redundancies
from torseur.loops.remarks import remarks
from torseur.loops.report import Cut, LoopReport, OtherConfiguration, RankFinding, Way
from torseur.loops.spot import Branch, Mobility, Spot, spot
from torseur.loops.system import LoopSystem
from torseur.mechanism import CoordinateForce, Mechanism
from torseur.tree import spanning_tree

_GENERIC = 1e-6
_LARGE = 40
_MOVES = 0.02


def loops(mechanism: Mechanism, at: Mapping[str, float] | None = None, *, method: str | Sequence[str] = "numeric",
          preferred: Sequence[str] = (), locked: Sequence[str] = (), time: float = 0.0, seed: int = 0,
          ) -> LoopReport:  # fmt: skip
    """Rank, mobility, redundancy and independent coordinates of a mechanism at a closed configuration.

    `at` is a rough configuration (coordinates by name, SI), by default the description's initial state; the closed one
    nearest to it is examined. `method` is how the rank is decided, or several: "numeric", "precise" (a hundred
    digits), "modular" (points over a finite field) or "exact" (Gröbner bases). `preferred` coordinates become
    independent where they can; `locked` ones, or joints, are held where they are.
    """
    methods = [method] if isinstance(method, str) else list(method)
    for name in methods:
        if name not in METHODS:
            raise TorseurError(unknown_name("method", name, METHODS))
    examined, start = held(mechanism, at, locked, time, seed) if locked else (mechanism, at)
    system = loop_system(examined, time)
    _require_freedoms(system, preferred)
    here = spot(system, closed_state(system, start, seed), np.random.default_rng(seed))
    findings = [numeric_finding(here.rank), *(METHODS[name](here) for name in methods if name != "numeric")]
    found = _report(here, mobility(here), findings, [*preferred, *_actuated(mechanism)])
    return replace(found, remarks=tuple(remarks(here, at or {})))


def held(mechanism: Mechanism, at: Mapping[str, float] | None, locked: Sequence[str], time: float,
         seed: int) -> tuple[Mechanism, Mapping[str, float]]:  # fmt: skip
    """The mechanism with coordinates held where a closed configuration has them, and that configuration."""
    found = assemble(mechanism, at, locked=locked, time=time, seed=seed)
    if not found.found:
        raise MechanismError(f"mechanism '{mechanism.name}': {found.explanation}")
    where = found.configurations[0].coordinates
    chosen = [c for joint in mechanism.joints for c in joint.coordinates if {c.name, joint.name} & set(locked)]
    holds = [driver(f"{c.name} held", c, where[c.name]) for c in chosen]
    return replace(mechanism, constraints=(*mechanism.constraints, *holds)), where


def _require_freedoms(system: LoopSystem, names: Sequence[str]) -> None:
    known = [freedom.name for freedom in system.frame.freedoms]
    for name in names:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known, "preferred: "))


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
        ways=tuple(_way(here, branch) for branch in found.branches),
        redundancies=tuple(redundancies(regular)),
        redundant=system.rows - regular.rank.rank,
        partition=partition(regular, preferred),
        configuration=coordinates_at(system, here.state),
        others=_others(here),
        remarks=(),
        outline=outline(system, here.state),
    )


def _way(here: Spot, branch: Branch) -> Way:
    """A branch by what it moves: the step that leads onto a curve, the directions of a larger family."""
    system = here.system
    step = here.steps_to(branch.point)[0] if branch.dimension <= 1 else np.linalg.norm(branch.tangent, axis=1)
    rates = step * system.amounts.units
    sizes = np.abs(step) / np.max(np.abs(step))
    largest = rates[int(np.argmax(sizes))]
    shown = {f.name: float(rates[i] / largest) if branch.dimension <= 1 else 1.0
             for i, f in enumerate(system.frame.freedoms) if sizes[i] > _MOVES}  # fmt: skip
    return Way(branch.dimension, shown)


def _velocity_mobility(here: Spot) -> int:
    """Motions at first order that constraints on velocities leave."""
    rows = here.system.velocity_rows(here.state)[0] @ here.rank.motions
    return here.count - numerical_rank(rows).rank


def _cut(system: LoopSystem) -> Cut:
    spanning = spanning_tree(system.frame.mechanism)
    tree = tuple(b.joint.name for b in spanning.branches if not b.closes)
    kept = tuple(b.joint.name for b in spanning.branches if b.closes)
    names = tuple(loop_name(system, c) for c in range(len(system.cycles)))
    constraints = tuple(c.name for c in system.frame.mechanism.constraints)
    return Cut(tree, tuple(joint.name for joint in spanning.loops), kept, names, constraints)


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
