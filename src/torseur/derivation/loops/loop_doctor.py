"""The loop doctor: what a mechanism with closed loops can do, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from torseur.algebra.arrays import Array
from torseur.algebra.spatial import Transform
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.assembly.held_coordinates import hold_coordinates
from torseur.derivation.loops.assembly.open_loops import loop_name
from torseur.derivation.loops.assembly.projection import CLOSED, project, random_states
from torseur.derivation.loops.configuration import Branch, ClosedConfiguration, Mobility, closed_configuration
from torseur.derivation.loops.loop_report import Cut, LoopReport, OtherConfiguration, RankFinding, Way, outline
from torseur.derivation.loops.mobility.branch_motion import branch_motion, branch_tangent
from torseur.derivation.loops.mobility.mobility import count_mobility, count_mobility_by_order
from torseur.derivation.loops.mobility.mobility_check import check_mobility
from torseur.derivation.loops.mobility.partition import partition
from torseur.derivation.loops.mobility.whole_mobility import mobility
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.model.loop_system import LoopSystem
from torseur.derivation.loops.model.named_coordinates import coordinates_at
from torseur.derivation.loops.model.skeleton import TURN, Edge
from torseur.derivation.loops.rank.numerical_rank import numerical_rank, ranks
from torseur.derivation.loops.rank.rank_methods import METHODS, numeric_finding
from torseur.derivation.loops.reasons.reasons import reasons
from torseur.derivation.loops.redundancy.redundancy import redundancies
from torseur.derivation.tree import spanning_tree
from torseur.description.mechanism import CoordinateForce, Mechanism
from torseur.errors import MechanismError, TorseurError, unknown_name

_SAME_PLACE = 1e-9
_CHANGED = 1e-6
_FORCED = 1e-10  # what stays open, in units of the mechanism, that is worth a word


def remarks(here: ClosedConfiguration, given: Mapping[str, float]) -> list[str]:
    """Remarks on a configuration: links without length, and given coordinates that closing the loops has changed."""
    return [*_links_without_length(here), *_coordinates_not_kept(here, given), *_forced_closures(here)]


def _forced_closures(here: ClosedConfiguration) -> list[str]:
    """Loops that rounded dimensions leave open, taken as closed."""
    size = float(np.linalg.norm(here.system.residual(here.state)[0]))
    if size <= _FORCED:
        return []
    length = here.system.length
    limit = here.system.open_limit(CLOSED) * length
    return [f"the loops stay open by {size * length:.2g} m, within {limit:.2g} m: they were taken as closed"]


def _coordinates_not_kept(here: ClosedConfiguration, given: Mapping[str, float]) -> list[str]:
    closed = coordinates_at(here.system, here.state, given)
    other = [name for name, value in given.items() if abs(closed[name] - value) > _CHANGED * max(1.0, abs(value))]
    return [f"the loops do not close with {name} = {given[name]:.6g}; here it is {closed[name]:.6g}" for name in other]


def _links_without_length(here: ClosedConfiguration) -> Iterator[str]:
    """Bodies all of whose joints turn about one axis through one point: nothing lies between them."""
    edges = here.system.edges
    for body in here.system.frame.mechanism.bodies:
        own = [edge for edge in edges if body.name in (edge.start, edge.end)]
        if len(own) < 2 or any(len(edge.steps) != 1 or edge.steps[0].kind != TURN for edge in own):
            continue
        places = [_place(edge, body.name) for edge in own]
        if all(_same_axis(places[0], place, here.system.length) for place in places[1:]):
            joints = " and ".join(f"'{edge.joint}'" for edge in own)
            yield f"body '{body.name}' has no length: its joints {joints} turn about the same axis at the same point"


def _place(edge: Edge, body: str) -> tuple[Array, Array]:
    """(point, axis) of a joint in one of the bodies it joins."""
    step = edge.steps[0]
    offset: Transform = step.before if edge.start == body else edge.last.inverse
    axis = offset.rotation.to_parent(step.axis)
    return np.array([float(c) for c in offset.position]), np.array([float(c) for c in axis])


def _same_axis(first: tuple[Array, Array], second: tuple[Array, Array], length: float) -> bool:
    apart = np.linalg.norm(first[0] - second[0]) > _SAME_PLACE * length
    across = np.linalg.norm(np.cross(first[1], second[1])) > _SAME_PLACE
    return not (apart or across)


_GENERIC = 1e-6
_LARGE = 40  # freedoms beyond which no other configurations are looked for
_MOVES = 0.02  # parts of the largest step below which a freedom does not count as moved


def loops(mechanism: Mechanism, at: Mapping[str, float] | None = None, *, method: str | Sequence[str] = "numeric",
          preferred: Sequence[str] = (), locked: Sequence[str] = (), time: float = 0.0, seed: int = 0,
          verify: bool = True) -> LoopReport:  # fmt: skip
    """Rank, mobility, redundancy and independent coordinates of a mechanism at a closed configuration.

    `at` is a rough configuration (coordinates by name, SI), by default the description's initial state; the closed one
    nearest to it is examined. `method` is how the rank is decided, or several: "numeric", "precise" (a hundred
    digits), "modular" (points over a finite field) or "exact" (Gröbner bases). `preferred` coordinates become
    independent where they can; `locked` ones, or joints, are held where they are. `verify` compares the first-order
    motions with differences of the loops themselves: the report's `check`.
    """
    methods = [method] if isinstance(method, str) else list(method)
    for name in methods:
        if name not in METHODS:
            raise TorseurError(unknown_name("method", name, METHODS))
    subject, start = hold_coordinates(mechanism, at, locked, time, seed) if locked else (mechanism, at)
    system = loop_system(subject, time, named=preferred)
    _require_freedoms(system, preferred)
    here = closed_configuration(system, closed_state(system, start, seed), np.random.default_rng(seed))
    findings = [numeric_finding(here.rank), *(METHODS[name](here) for name in methods if name != "numeric")]
    report = _report(here, mobility(here, seed), findings, [*preferred, *_actuated_coordinates(mechanism)])
    check = check_mobility(here) if verify else None
    return replace(report, remarks=tuple(remarks(here, at or {})), check=check)


def _require_freedoms(system: LoopSystem, names: Sequence[str]) -> None:
    known = [freedom.name for freedom in system.frame.freedoms]
    for name in names:
        if name not in known:
            raise MechanismError(unknown_name("coordinate", name, known, "preferred: "))


def _actuated_coordinates(mechanism: Mechanism) -> list[str]:
    return [load.coordinate for load in mechanism.loads if isinstance(load, CoordinateForce)]


def _report(
    here: ClosedConfiguration, verdict: Mobility, findings: list[RankFinding], preferred: Sequence[str]
) -> LoopReport:
    """Everything put together; redundancies and coordinates are those of the regular configurations around."""
    system = here.system
    # At a singular configuration the rank is that of one point; redundancy and partition must hold along the motion.
    regular = closed_configuration(system, verdict.branches[0].point, here.rng) if verdict.branches else here
    explained = reasons(regular, verdict.finite)
    return LoopReport(
        mechanism=system.frame.mechanism.name,
        cut=_cut_of(system),
        freedoms=system.n,
        equations=system.rows,
        count=count_mobility(system),
        count_by_order=count_mobility_by_order(system, here.state),
        generic_rank=_generic_rank(here),
        ranks=tuple(findings),
        infinitesimal=verdict.infinitesimal,
        velocity=_velocity_mobility(here),
        finite=verdict.finite,
        reason=verdict.reason,
        singular=verdict.is_singular,
        nearby_rank=verdict.nearby_rank,
        ways=tuple(_way(here, branch) for branch in verdict.branches),
        reasons=tuple(explained),
        ways_proof=verdict.proof,
        redundancies=tuple(redundancies(regular, explained)),
        redundant=system.rows - regular.rank.rank,
        partition=partition(regular, preferred),
        configuration=coordinates_at(system, here.state),
        others=_others(here),
        remarks=(),
        outline=outline(system, here.state),
    )


def _way(here: ClosedConfiguration, branch: Branch) -> Way:
    """A branch by what it moves: the direction in which a curve leaves, the directions of a larger family."""
    system = here.system
    rows, directions = branch_tangent(here, branch)
    onto = here.steps_to(branch.point)[0]
    if branch.dimension == 0:
        step = onto
    elif branch.dimension == 1:
        step = directions[:, 0] * np.sign(onto @ directions[:, 0])
    else:
        # On a family any one direction would be arbitrary: what moves at all is told.
        step = np.linalg.norm(branch.tangent, axis=1)
    rates = step * system.amounts.units
    sizes = np.abs(step) / np.max(np.abs(step))
    largest = rates[int(np.argmax(sizes))]
    shown = {f.name: float(rates[i] / largest) if branch.dimension <= 1 else 1.0
             for i, f in enumerate(system.frame.freedoms) if sizes[i] > _MOVES}  # fmt: skip
    regular = numerical_rank(system.linearise(branch.point)[1][0]).rank
    motion = tuple(coordinates_at(system, state) for state in branch_motion(here, branch))
    return Way(branch.dimension, shown, _basis(here, rows, directions), regular, system.rows - regular, motion)


def _basis(here: ClosedConfiguration, rows: list[int], directions: Array) -> dict[str, dict[str, float]]:
    """Directions that span a branch where it starts, by its independent freedoms (SI)."""
    names, units = [f.name for f in here.system.frame.freedoms], here.system.amounts.units
    scaled = directions * units[:, None] / units[rows]
    return {names[row]: {names[i]: float(x) for i, x in enumerate(scaled[:, k]) if x != 0.0}
            for k, row in enumerate(rows)}  # fmt: skip


def _velocity_mobility(here: ClosedConfiguration) -> int:
    """Motions at first order that constraints on velocities leave."""
    # Rolling and the like restrict speeds only: they take motions away at each instant, not configurations.
    rows = here.system.velocity_rows(here.state)[0] @ here.rank.motions
    return here.count - numerical_rank(rows).rank


def _cut_of(system: LoopSystem) -> Cut:
    spanning = spanning_tree(system.frame.mechanism)
    tree = tuple(b.joint.name for b in spanning.branches if not b.closes)
    kept = tuple(b.joint.name for b in spanning.branches if b.closes)
    names = tuple(loop_name(system, c) for c in range(len(system.cycles)))
    constraints = tuple(c.name for c in system.frame.mechanism.constraints)
    return Cut(tree, tuple(joint.name for joint in spanning.loops), kept, names, constraints)


def _generic_rank(here: ClosedConfiguration) -> int:
    return int(max(ranks(here.system.screw_rows(random_states(here.system, 2, here.rng)), _GENERIC)))


def _others(here: ClosedConfiguration) -> tuple[OtherConfiguration, ...]:
    """Kinds of closed configurations with another rank, met from a few random starts."""
    system = here.system
    if system.n > _LARGE or not system.rows:
        return ()
    projection = project(system, random_states(system, 12, here.rng), steps=150)
    states = projection.state.lanes(np.flatnonzero(projection.gap < system.open_limit(CLOSED)))
    if not len(states):
        return ()
    hits = Counter(int(r) for r in ranks(system.linearise(states)[1]))
    return tuple(OtherConfiguration(r, system.n - r, k) for r, k in sorted(hits.items()) if r != here.rank.rank)
