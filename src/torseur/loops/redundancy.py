"""Redundant constraints in words: what is already imposed, and by which other joints.

Rows are what joints forbid. Taken joint by joint, a row that depends on earlier ones is redundant. A combination of few
rows that shows it is found by minimising a weighted sum of absolute values (reweighted L1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torseur.loops.gaps import loop_name
from torseur.loops.joint_constraints import JointRow, joint_rows
from torseur.loops.rank import numerical_rank
from torseur.loops.spot import Spot
from torseur.loops.system import LoopSystem

Floats = np.ndarray[Any, np.dtype[np.float64]]

_DEPENDENT = 1e-6
_SMALL = 1e-7
_LONG = 12
_MANY_FREEDOMS = 120
_MANY_ROWS = 100


@dataclass(frozen=True)
class Redundancy:
    """A forbidden motion of a joint that other joints forbid already.

    `own` are forbidden motions of the same joint that take part. `special` marks combinations of so many rows that only
    the dimensions explain them. A constraint that loops impose already has no joint.
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
        if self.special:
            return f"{where} is already imposed by special dimensions ({len(self.joints)} joints take part)"
        together = f" (together with its own {' and '.join(self.own)})" if self.own else ""
        return f"{where} is already imposed by {', '.join(self.joints)}{together}"


def redundancies(here: Spot) -> list[Redundancy]:
    """What is redundant at a closed configuration; the joints of very large nets are left out."""
    jacobian = here.system.linearised(here.state)[1][0]
    return [*_of_joints(here, jacobian), *_of_relations(here.system, jacobian)]


def _of_joints(here: Spot, jacobian: Floats) -> list[Redundancy]:
    system = here.system
    if system.n > _MANY_FREEDOMS or here.rank.rank == system.rows:
        return []
    closures = 6 * len(system.cycles)
    expected = closures - numerical_rank(jacobian[:closures]).rank
    rows, matrix = joint_rows(system, here.state)
    order = _joint_order(system, rows)
    rows, matrix = [rows[i] for i in order], matrix[order]
    around: Floats = np.asarray(np.linalg.pinv(_incidence(system)), float)
    return [_worded(system, rows, found.row, _explained(system, rows, matrix, found), around)
            for found in _dependent(matrix, expected)]  # fmt: skip


def _explained(system: LoopSystem, rows: list[JointRow], matrix: Floats, found: _Dependent) -> Floats:
    """A vanishing combination of few rows up to a dependent one, in the loops through its joint before everywhere."""
    row = found.row
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
        chosen[[*found.basis, row]] = [*-_cleaned(found.weights), 1.0]
    return chosen


def _moved_bodies(matrix: Floats) -> Floats:
    """The columns that are not zero: the bodies that rows are about."""
    return matrix[:, np.any(matrix, axis=0)]


def _depends(rows: Floats, row: Floats) -> bool:
    weights = np.linalg.lstsq(rows.T, row, rcond=1e-9)[0]
    return bool(np.linalg.norm(row - weights @ rows) < _DEPENDENT * np.linalg.norm(row))


def _of_relations(system: LoopSystem, jacobian: Floats) -> list[Redundancy]:
    """Constraints besides joints that closures and earlier constraints impose already."""
    found, row = [], 6 * len(system.cycles)
    for relation in system.relations:
        for part in relation.parts:
            before, this = jacobian[:row], jacobian[row]
            weights = np.linalg.lstsq(before.T, this, rcond=1e-9)[0] if row else np.zeros(0)
            if np.linalg.norm(this - weights @ before) < _DEPENDENT * max(float(np.linalg.norm(this)), _SMALL):
                found.append(Redundancy(_imposing(system, weights), "", f"{relation.name} ({part})", (), (), False))
            row += 1
    return found


def _imposing(system: LoopSystem, weights: Floats) -> tuple[str, ...]:
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
    """A row that is a sum of independent rows before it, with weights."""

    row: int
    basis: list[int]
    weights: Floats


def _dependent(matrix: Floats, count: int) -> list[_Dependent]:
    """The rows that depend on earlier ones (Gram-Schmidt; the rows kept are a triangle times an orthonormal set)."""
    from scipy.linalg import solve_triangular

    space, triangle = np.zeros((0, matrix.shape[1])), np.zeros((len(matrix), len(matrix)))
    kept: list[int] = []
    found: list[_Dependent] = []
    for i, row in enumerate(matrix):
        along = space @ row
        again = space @ (row - along @ space)
        along, rest = along + again, row - (along + again) @ space
        size, rank = np.linalg.norm(rest), len(kept)
        if size > _DEPENDENT * np.linalg.norm(row):
            triangle[rank, : rank + 1] = [*along, size]
            space = np.vstack([space, rest / size])
            kept.append(i)
        elif len(found) < count:
            weights = solve_triangular(triangle[:rank, :rank].T, along) if rank else along
            found.append(_Dependent(i, list(kept), np.asarray(weights)))
    return found


def _sparse(matrix: Floats) -> Floats:
    """Coefficients of a vanishing combination of rows, 1 for the last, few of the others not zero."""
    left = _left_null(matrix)
    weights, best = np.ones(len(matrix)), None
    for _ in range(4):
        tried = _weighted(left, weights)
        if tried is None:
            break
        if best is None or np.count_nonzero(tried) < np.count_nonzero(best):
            best = tried
        weights = 1 / (np.abs(tried) / np.max(np.abs(tried)) + 1e-3)
    return best if best is not None else _cleaned(left @ left[-1] / (left[-1] @ left[-1]))


def _left_null(matrix: Floats) -> Floats:
    left, values, _ = np.linalg.svd(matrix)
    rank = int(np.sum(values > _DEPENDENT * values[0]))
    return left[:, rank:]


def _cleaned(values: Floats) -> Floats:
    largest = np.max(np.abs(values), initial=0.0)
    return np.where(np.abs(values) < _SMALL * max(float(largest), 1.0), 0.0, values)


def _weighted(left: Floats, weights: Floats) -> Floats | None:
    """min Σ w |L a| with the last entry 1."""
    from scipy.optimize import linprog

    count, free = left.shape
    cost = np.concatenate([np.zeros(free), weights])
    bounds = [(None, None)] * free + [(0, None)] * count
    above = np.block([[left, -np.eye(count)], [-left, -np.eye(count)]])
    one = np.concatenate([left[-1], np.zeros(count)])[None]
    solved = linprog(cost, A_ub=above, b_ub=np.zeros(2 * count), A_eq=one, b_eq=[1.0], bounds=bounds, method="highs")
    return _cleaned(left @ np.asarray(solved.x)[:free]) if solved.status == 0 else None


def _worded(system: LoopSystem, rows: list[JointRow], row: int, combination: Floats, around: Floats) -> Redundancy:
    used = [int(i) for i in np.flatnonzero(combination)]
    edges = system.frame.edges
    joint = rows[row].joint
    others = list(dict.fromkeys(edges[rows[i].joint].joint for i in used if rows[i].joint != joint))
    own = [rows[i].name for i in used if rows[i].joint == joint and i != row]
    wrenches = np.zeros((len(edges), 6))
    for i in used:
        wrenches[rows[i].joint] += combination[i] * rows[i].wrench
    loops = _carrying(system, around @ wrenches)
    return Redundancy(tuple(loops), edges[joint].joint, rows[row].name, tuple(others), tuple(own), len(used) > _LONG)


def _incidence(system: LoopSystem) -> Floats:
    """Which joints each loop passes, and which way (joints, loops)."""
    matrix = np.zeros((len(system.frame.edges), len(system.cycles)))
    for c, cycle in enumerate(system.cycles):
        for passage in cycle.passages:
            matrix[passage.edge, c] = 1.0 if passage.forward else -1.0
    return matrix


def _carrying(system: LoopSystem, around: Floats) -> list[str]:
    """The loops that wrenches run around."""
    sizes = np.linalg.norm(around, axis=1)
    return [loop_name(system, int(c)) for c in np.flatnonzero(sizes > _DEPENDENT * np.max(sizes, initial=1e-300))]
