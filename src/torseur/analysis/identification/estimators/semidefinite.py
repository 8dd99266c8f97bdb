"""Parameters that a real mechanism can have: positive definite pseudo-inertias, by semidefinite programming.

minimise |R π - c|² + |A π - b|² (data and prior) subject to J(π_i) ⪰ 0 for every body, tr(J Q) ≥ 0 for bounding
ellipsoids, J ⪯ J_full for greatest densities, and non-negative rotors, friction and stiffness; solved by clarabel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.analysis.identification.model.linear_model import LinearModel
from torseur.analysis.identification.model.pseudo_inertia import BASIS, Limits
from torseur.errors import IdentificationError, UnsupportedError, unknown_name

NON_NEGATIVE = ("rotor", "viscous", "coulomb", "stiffness")
_ROOT = np.sqrt(2.0)
_UPPER = [(i, j) for j in range(4) for i in range(j + 1)]  # the solver's order: the upper triangle by columns


@dataclass(frozen=True, eq=False)
class ConeProblem:
    """|R β - c|² for the identified combinations β of a model's parameters, with a prior and limits of the bodies.

    β = combination π leads with the entries `columns` of π. `prior` holds A and b of |A π - b|². `margin` is the
    smallest eigenvalue demanded of a pseudo-inertia, as a part of the body's expected size. `known` are parameters with
    the values they must have.
    """

    model: LinearModel
    columns: tuple[int, ...]
    combination: Array
    R: Array
    c: Array
    prior: tuple[Array, Array]
    limits: Mapping[str, Limits] = field(default_factory=dict)
    known: Mapping[str, float] = field(default_factory=dict)
    margin: float = 1e-9

    def __post_init__(self) -> None:
        for owner in self.limits:
            if owner not in self.model.bodies:
                raise IdentificationError(unknown_name("body", owner, self.model.bodies, "limits: "))
        for name in self.known:
            if name not in self.model.names:
                raise IdentificationError(unknown_name("parameter", name, self.model.names, "known values: "))

    def fullest(self, owner: str) -> Array | None:
        """J that a body must stay below, where its density is limited."""
        return self.limits[owner].fullest if owner in self.limits else None

    @cached_property
    def others(self) -> list[int]:
        """Columns that do not lead a combination."""
        led = set(self.columns)
        return [c for c in range(len(self.model.columns)) if c not in led]

    @cached_property
    def best(self) -> Array:
        """β that fits the data best, before any condition."""
        return np.asarray(np.linalg.solve(self.R, self.c))

    @cached_property
    def reach(self) -> Array:
        """L with |R β - c|² = |z|² + constant for β = best + L z."""
        return np.asarray(np.linalg.inv(self.R))

    @cached_property
    def sizes(self) -> Array:
        """Typical sizes of the other columns' parameters."""
        expected = np.ones(len(self.model.columns))
        A = self.prior[0]
        stiffness = np.linalg.norm(A, axis=0) if len(A) else np.zeros(len(expected))
        return np.where(stiffness > 0, 1 / np.where(stiffness > 0, stiffness, 1.0), expected)[self.others]

    def expansion(self) -> tuple[Array, Array]:
        """π = offset + spread (z, ν): deviations z of the data's best fit, in units of their noise, and what it leaves.

        In these unknowns the data weigh one whatever their precision, so that a weak prior still counts.
        """
        width, led = len(self.model.columns), list(self.columns)
        offset, spread = np.zeros(width), np.zeros((width, width))
        offset[led] = self.best
        spread[led, : len(led)] = self.reach
        spread[self.others, len(led) :] = np.diag(self.sizes)
        spread[led, len(led) :] = -self.combination[:, self.others] * self.sizes
        return offset, spread

    def quadratic(self) -> tuple[Array, Array, Array, Array]:
        """M and m of |M x - m|² in the unknowns x of the expansion, with the expansion itself."""
        offset, spread = self.expansion()
        A, b = self.prior
        # Rows of M over the unknowns (z, ν):
        #   [ 1   0 ]    data, in units of their noise
        #   [ A · spread ]    prior
        #   [ 0   ε ]    a faint pull where neither says anything, so that the solution is unique
        data = np.eye(len(self.columns), len(offset))
        faint = 1e-6 * np.eye(len(offset))[len(self.columns) :]
        M = np.vstack([data, A @ spread, faint])
        m = np.concatenate([np.zeros(len(data)), b - A @ offset, np.zeros(len(faint))])
        return M, m, offset, spread


@dataclass(frozen=True, eq=False)
class ConeSolution:
    """Parameters, the solver's word on them, its iterations and its time."""

    parameters: Array
    status: str
    iterations: int
    seconds: float


def solve_cones(problem: ConeProblem) -> ConeSolution:
    """The parameters that fit best among those of real mechanisms."""
    clarabel, sparse = _solver()
    M, m, offset, spread = problem.quadratic()
    P = M.T @ M
    A, b, cones = _constraints(problem, clarabel)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    given = sparse.csc_matrix(np.triu(P)), -(M.T @ m), sparse.csc_matrix(A @ spread), b - A @ offset
    solution = clarabel.DefaultSolver(*given, cones, settings).solve()
    status = str(solution.status)
    if status not in ("Solved", "AlmostSolved"):
        raise unsatisfiable(f"the solver says {status}")
    parameters = offset + spread @ np.array(solution.x)
    return ConeSolution(parameters, status, int(solution.iterations), float(solution.solve_time))


def unsatisfiable(because: str) -> IdentificationError:
    """What is said when limits and known values leave nothing."""
    return IdentificationError(
        f"no parameters satisfy the conditions ({because}). Widen the limits of masses, ellipsoids or densities, or "
        "check that they and the known values belong to the bodies they are given for."
    )


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel
    except ImportError as problem:
        raise UnsupportedError(
            "physically consistent identification needs clarabel: pip install torseur[identification]. "
            "method='log_cholesky' does without it."
        ) from problem
    from scipy import sparse

    return clarabel, sparse


def _constraints(problem: ConeProblem, clarabel: Any) -> tuple[Array, Array, list[Any]]:
    """A π + s = b with s in cones."""
    signs = -np.eye(len(problem.model.columns))[non_negative(problem.model)]
    (limited, bounds), (fixed, values) = linear_limits(problem), known_rows(problem)
    rows, right = [signs, limited, fixed], [np.zeros(len(signs)), bounds, values]
    cones = [clarabel.NonnegativeConeT(len(signs) + len(limited)), clarabel.ZeroConeT(len(fixed))]
    for owner, where in problem.model.bodies.items():
        block = np.zeros((10, len(problem.model.columns)))
        # A π + s = b, s in the cone: s = J(π) - margin 1 of a body, and J_full - J(π) where its density is limited.
        block[:, where] = -_TRIANGLES
        rows.append(block)
        right.append(-problem.margin * triangle_of(np.eye(4)))
        cones.append(clarabel.PSDTriangleConeT(4))
        if (fullest := problem.fullest(owner)) is not None:
            rows.append(-block)
            right.append(triangle_of(fullest))
            cones.append(clarabel.PSDTriangleConeT(4))
    return np.vstack(rows), np.concatenate(right), cones


def non_negative(model: LinearModel) -> list[int]:
    """Columns of parameters that cannot be negative."""
    return [c for c, column in enumerate(model.columns) if column.kind in NON_NEGATIVE]


def linear_limits(problem: ConeProblem) -> tuple[Array, Array]:
    """Rows a π ≤ b: masses and ellipsoids."""
    model, rows, right = problem.model, [], []
    for owner, limits in problem.limits.items():
        where = model.bodies[owner]
        mass = np.eye(len(model.columns))[where.start]
        if limits.mass is not None:
            rows += [-mass, mass]
            right += [-limits.mass[0], limits.mass[1]]
        if (Q := limits.quadric) is not None:
            inside = np.zeros(len(model.columns))
            inside[where] = [-float(np.sum(B * Q)) for B in BASIS]
            rows.append(inside)
            right.append(0.0)
    return np.array(rows).reshape(-1, len(model.columns)), np.array(right)


def known_rows(problem: ConeProblem) -> tuple[Array, Array]:
    """Rows a π = b: parameters with known values."""
    slots = [problem.model.names.index(name) for name in problem.known]
    return np.eye(len(problem.model.columns))[slots], np.array(list(problem.known.values()))


def triangle_of(J: Array) -> Array:
    """A symmetric matrix as the solver stacks it: off-diagonal entries times √2."""
    return np.array([J[i, j] * (1.0 if i == j else _ROOT) for i, j in _UPPER])


_TRIANGLES = np.stack([triangle_of(B) for B in BASIS], axis=1)
