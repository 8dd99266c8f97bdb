"""Redundant constraints in words: what is already imposed, and by which other joints.

Rows are what joints forbid. Taken joint by joint, a row that depends on earlier ones is redundant. A combination of few
rows that shows it is found by minimising a weighted sum of absolute values (reweighted L1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torseur.algebra.arrays import Array
from torseur.derivation.loops.assembly.open_loops import loop_name
from torseur.derivation.loops.configuration import ClosedConfiguration
from torseur.derivation.loops.model.loop_system import LoopSystem
from torseur.derivation.loops.rank.numerical_rank import numerical_rank
from torseur.derivation.loops.reasons.reasons import Reason
from torseur.derivation.loops.redundancy.joint_constraints import JointRow, joint_rows

_DEPENDENT = 1e-6
_SMALL = 1e-7
_MANY_FREEDOMS = 120
_MANY_ROWS = 100


@dataclass(frozen=True)
class Redundancy:
    """A forbidden motion of a joint that other joints forbid already.

    `own` are forbidden motions of the same joint that take part. `special` marks what special dimensions impose, not
    the kinds and directions of the joints. A constraint that loops impose already has no joint.
    """

    loops: tuple[str, ...]
    joint: str
    motion: str
    joints: tuple[str, ...]
    own: tuple[str, ...]
    special: bool

    def __str__(self) -> str:
        if not self.joint:
            others = f"is already imposed by {', '.join(self.loops)}" if self.loops else "holds in every position"
            return f"{self.motion} {others}"
        where = f"{' + '.join(self.loops)} at joint '{self.joint}': {self.motion}"
        together = f" (together with its own {' and '.join(self.own)})" if self.own else ""
        dimensions = " through special dimensions" if self.special else ""
        return f"{where} is already imposed by {', '.join(self.joints)}{dimensions}{together}"


def redundancies(here: ClosedConfiguration, explained: Sequence[Reason]) -> list[Redundancy]:
    """What is redundant at a closed configuration, given the reasons of its loops; of very large nets no joints."""
    jacobian = here.system.linearise(here.state)[1][0]
    return [*_of_joints(here, jacobian, explained), *_of_relations(here.system, jacobian)]


def _of_joints(here: ClosedConfiguration, jacobian: Array, explained: Sequence[Reason]) -> list[Redundancy]:
    system = here.system
    if system.n > _MANY_FREEDOMS or here.rank.rank == system.rows:
        return []
    closures = 6 * len(system.cycles)
    expected = closures - numerical_rank(jacobian[:closures]).rank
    rows, matrix = joint_rows(system, here.state)
    # The joint that closes a loop comes last, so that redundancy is told of the joint a user can leave out.
    order = _joint_order(system, rows)
    rows, matrix = [rows[i] for i in order], matrix[order]
    # Wrenches at the joints of a vanishing combination balance on every body: they run around loops, as currents do.
    around: Array = np.asarray(np.linalg.pinv(_incidence(system)), float)
    reason_of = {joint: reason for reason in explained for joint in reason.joints}
    listed = []
    for dependent in _dependent(matrix, expected):
        combination = _explanation(system, rows, matrix, dependent)
        names = [system.frame.edges[rows[i].joint].joint for i in np.flatnonzero(combination)]
        reason = reason_of.get(system.frame.edges[rows[dependent.row].joint].joint)
        special = reason is not None and reason.is_special(rows[dependent.row].wrench, set(names))
        listed.append(_redundancy(system, rows, dependent.row, combination, around, special))
    return listed


def _explanation(system: LoopSystem, rows: list[JointRow], matrix: Array, dependent: _Dependent) -> Array:
    """A vanishing combination of few rows up to a dependent one, in the loops through its joint before everywhere."""
    row = dependent.row
    for cycle in system.cycles:
        joints = {passage.edge for passage in cycle.passages}
        if rows[row].joint not in joints:
            continue
        near = [i for i in range(row) if rows[i].joint in joints]
        part = _moved_bodies(matrix[[*near, row]])
        if _depends(part[:-1], part[-1]):
            chosen = np.zeros(len(rows))
            chosen[[*near, row]] = _sparse(part)
            return chosen
    chosen = np.zeros(len(rows))
    if row < _MANY_ROWS:
        chosen[: row + 1] = _sparse(_moved_bodies(matrix[: row + 1]))
    else:
        chosen[[*dependent.basis, row]] = [*-_without_rounding(dependent.coefficients), 1.0]
    return chosen


def _moved_bodies(matrix: Array) -> Array:
    """The columns that are not zero: the bodies that rows are about."""
    return matrix[:, np.any(matrix, axis=0)]


def _depends(rows: Array, row: Array) -> bool:
    weights = np.linalg.lstsq(rows.T, row, rcond=1e-9)[0]
    return bool(np.linalg.norm(row - weights @ rows) < _DEPENDENT * np.linalg.norm(row))


def _of_relations(system: LoopSystem, jacobian: Array) -> list[Redundancy]:
    """Constraints besides joints that closures and earlier constraints impose already."""
    redundant, row = [], 6 * len(system.cycles)
    for relation in system.relations:
        for part in relation.parts:
            before, this = jacobian[:row], jacobian[row]
            weights = np.linalg.lstsq(before.T, this, rcond=1e-9)[0] if row else np.zeros(0)
            if np.linalg.norm(this - weights @ before) < _DEPENDENT * max(float(np.linalg.norm(this)), _SMALL):
                redundant.append(Redundancy(_imposing(system, weights), "", f"{relation.name} ({part})", (), (), False))
            row += 1
    return redundant


def _imposing(system: LoopSystem, weights: Array) -> tuple[str, ...]:
    """Names of the loops and constraints that rows with weights belong to."""
    names = [loop_name(system, c) for c in range(len(system.cycles)) for _ in range(6)]
    names += [relation.name for relation in system.relations for _ in relation.parts]
    return tuple(dict.fromkeys(name for name, w in zip(names, weights, strict=False) if abs(w) > _DEPENDENT))


def _joint_order(system: LoopSystem, rows: list[JointRow]) -> list[int]:
    """Rows of the joints in the order written, those that close loops last."""
    closing = [cycle.closing for cycle in system.cycles]
    late = {joint: closing.index(joint) for joint in closing}
    return sorted(range(len(rows)), key=lambda i: (late.get(rows[i].joint, -1), rows[i].joint, i))


@dataclass(frozen=True)
class _Dependent:
    """A row that is a sum of independent rows before it, with coefficients."""

    row: int
    basis: list[int]
    coefficients: Array


def _dependent(matrix: Array, count: int) -> list[_Dependent]:
    """The rows that depend on earlier ones (Gram-Schmidt; the rows kept are a triangle times an orthonormal set)."""
    from scipy.linalg import solve_triangular

    space, triangle = np.zeros((0, matrix.shape[1])), np.zeros((len(matrix), len(matrix)))
    kept: list[int] = []
    dependent: list[_Dependent] = []
    for i, row in enumerate(matrix):
        along = space @ row
        # Twice is enough: a second pass restores what cancellation took of orthogonality (Kahan, in Parlett 1980).
        again = space @ (row - along @ space)
        along, rest = along + again, row - (along + again) @ space
        size, rank = np.linalg.norm(rest), len(kept)
        if size > _DEPENDENT * np.linalg.norm(row):
            triangle[rank, : rank + 1] = [*along, size]
            space = np.vstack([space, rest / size])
            kept.append(i)
        # No more than the Jacobian lacks in rank: a row that rounding makes look dependent is not told as one.
        elif len(dependent) < count:
            coefficients = solve_triangular(triangle[:rank, :rank].T, along) if rank else along
            dependent.append(_Dependent(i, list(kept), np.asarray(coefficients)))
    return dependent


def _sparse(matrix: Array) -> Array:
    """Coefficients of a vanishing combination of rows, 1 for the last, few of the others not zero."""
    left = _left_null(matrix)
    weights, best = np.ones(len(matrix)), None
    for _ in range(4):
        tried = _least_sum(left, weights)
        if tried is None:
            break
        if best is None or np.count_nonzero(tried) < np.count_nonzero(best):
            best = tried
        # Reweighting drives small coefficients to zero (Candès, Wakin and Boyd 2008).
        weights = 1 / (np.abs(tried) / np.max(np.abs(tried)) + 1e-3)
    return best if best is not None else _without_rounding(left @ left[-1] / (left[-1] @ left[-1]))


def _left_null(matrix: Array) -> Array:
    left, values, _ = np.linalg.svd(matrix)
    rank = int(np.sum(values > _DEPENDENT * values[0]))
    return left[:, rank:]


def _without_rounding(values: Array) -> Array:
    largest = np.max(np.abs(values), initial=0.0)
    return np.where(np.abs(values) < _SMALL * max(float(largest), 1.0), 0.0, values)


def _least_sum(left: Array, weights: Array) -> Array | None:
    """min Σ w |L a| with the last entry 1."""
    from scipy.optimize import linprog

    count, free = left.shape
    # Unknowns (a, s) with -s <= L a <= s: the linear programme of the weighted sum of absolute values,
    #     | L  -1 |       | 0 |
    #     |       | x <=  |   |      last row of L times a = 1
    #     | -L -1 |       | 0 |
    cost = np.concatenate([np.zeros(free), weights])
    bounds = [(None, None)] * free + [(0, None)] * count
    above = np.block([[left, -np.eye(count)], [-left, -np.eye(count)]])
    one = np.concatenate([left[-1], np.zeros(count)])[None]
    solved = linprog(cost, A_ub=above, b_ub=np.zeros(2 * count), A_eq=one, b_eq=[1.0], bounds=bounds, method="highs")
    return _without_rounding(left @ np.asarray(solved.x)[:free]) if solved.status == 0 else None


def _redundancy(system: LoopSystem, rows: list[JointRow], row: int, combination: Array, around: Array,
                special: bool) -> Redundancy:  # fmt: skip
    used = [int(i) for i in np.flatnonzero(combination)]
    edges = system.frame.edges
    joint = rows[row].joint
    others = list(dict.fromkeys(edges[rows[i].joint].joint for i in used if rows[i].joint != joint))
    own = [rows[i].name for i in used if rows[i].joint == joint and i != row]
    wrenches = np.zeros((len(edges), 6))
    for i in used:
        wrenches[rows[i].joint] += combination[i] * rows[i].wrench
    loops = _carrying(system, around @ wrenches)
    return Redundancy(tuple(loops), edges[joint].joint, rows[row].name, tuple(others), tuple(own), special)


def _incidence(system: LoopSystem) -> Array:
    """Which joints each loop passes, and which way (joints, loops)."""
    matrix = np.zeros((len(system.frame.edges), len(system.cycles)))
    for c, cycle in enumerate(system.cycles):
        for passage in cycle.passages:
            matrix[passage.edge, c] = 1.0 if passage.forward else -1.0
    return matrix


def _carrying(system: LoopSystem, around: Array) -> list[str]:
    """The loops that wrenches run around."""
    sizes = np.linalg.norm(around, axis=1)
    return [loop_name(system, int(c)) for c in np.flatnonzero(sizes > _DEPENDENT * np.max(sizes, initial=1e-300))]
