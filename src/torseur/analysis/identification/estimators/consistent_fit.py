"""The best parameters that real bodies can have: one convex fit for regressors, segments and persons.

minimise ½ |R β - c|² + ½ |A π - b|² with β = C π, subject to S(π) ⪰ 0 for every rigid group and density limit, a π ≤ b
and known values. β are the combinations that the data feel; what no force feels is free: β is possible as soon as some
π with C π = β is. Nothing but the data (and a prior, where one is asked for) weighs in the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from torseur.algebra.arrays import Array
from torseur.errors import IdentificationError, UnsupportedError
from torseur.extras import install_command

# The free part ν of the parameters is chosen nearest to the reference by ½ (_TIE |ν|)², in squared deviations of the
# noise: it decides between parameters that fit equally well, and moves the fit by less than _GAP.
_TIE = 1e-5
# Of a certificate: gap in squared deviations, a condition missed by the size of its body, and what the fit still wants
# to move; then rounding of a condition that counts as met, and the room that tie-breaking gets.
_GAP, _OUTSIDE, _UNBALANCED, _ROUNDING, _ROOM = 1e-2, 1e-6, 1e-2, 1e-11, 1e-8


@dataclass(frozen=True, eq=False)
class Family:
    """All parameters π with the same identified combinations β = C π: the one nearest to a reference, and the rest.

    `metric` S makes distances: |S⁻¹ (π - reference)|. With C S = [L 0] [Q₁ Q₂]ᵀ
      π = nearest(β) + S Q₂ ν,  ν = 0 at the nearest.
    """

    combination: Array
    reference: Array
    metric: Array

    @cached_property
    def _split(self) -> tuple[Array, Array]:
        """H with nearest(β) = reference + H (β - C reference), and the directions that no force feels."""
        C = self.combination @ self.metric
        left, values, right = np.linalg.svd(C)
        rank = len(C)
        # With C S = U Σ V₁ᵀ the least change of |S⁻¹ Δπ| with C Δπ = Δβ is S V₁ Σ⁻¹ Uᵀ Δβ, and S V₂ changes nothing.
        return self.metric @ (right[:rank].T / values) @ left.T, self.metric @ right[rank:].T

    @property
    def identified_directions(self) -> Array:
        return self._split[0]

    @property
    def free_directions(self) -> Array:
        return self._split[1]

    def nearest(self, values: Array) -> Array:
        """The parameters nearest to the reference that have these combinations."""
        return self.reference + self.identified_directions @ (values - self.combination @ self.reference)


@dataclass(frozen=True, eq=False)
class Cone:
    """S(π) = base + Σ derivatives_k π_k ⪰ 0 over some columns, said in units in which S is about one."""

    name: str
    base: Array
    derivatives: Array  # (columns here, rows, rows)
    columns: Sequence[int] | slice

    def at(self, pi: Array) -> Array:
        return self.base + np.tensordot(pi[self.columns], self.derivatives, axes=1)

    def smallest(self, pi: Array) -> float:
        return float(np.linalg.eigvalsh(self.at(pi))[0])

    def enter(self, pi: Array) -> Array:
        """Parameters whose S has no negative eigenvalue, not even one of the solver's rounding.

        Only where any symmetric S has its parameters; a limit of density is kept to the solver's precision.
        """
        values, vectors = np.linalg.eigh(self.at(pi))
        # Nearest matrix without negative eigenvalues: those below zero become zero. Solving back needs ten parameters
        # for the ten entries of a symmetric 4x4 matrix.
        rows = self.rows(len(pi))[:, self.columns]
        if values[0] >= 0 or rows.shape[0] != rows.shape[1] or np.any(self.base):
            return pi
        entered = pi.copy()
        entered[self.columns] = np.linalg.solve(rows, triangle_of((vectors * np.maximum(values, 0.0)) @ vectors.T))
        return entered

    def rows(self, width: int) -> Array:
        """The linear part of S by all columns, stacked as the solver stacks symmetric matrices."""
        rows = np.zeros((len(self.base) * (len(self.base) + 1) // 2, width))
        rows[:, self.columns] = np.stack([triangle_of(D) for D in self.derivatives], axis=1)
        return rows


@dataclass(frozen=True, eq=False)
class LinearLimits:
    """Rows with rows π ≤ right, or = right, and what each is called."""

    rows: Array
    right: Array
    names: tuple[str, ...]

    @staticmethod
    def none(width: int) -> LinearLimits:
        return LinearLimits(np.zeros((0, width)), np.zeros(0), ())


@dataclass(frozen=True, eq=False)
class ConsistentProblem:
    """Data |R β - c|² in units of their noise over a family of parameters, with what these must be.

    `prior` holds A and b of |A π - b|², empty unless one was asked for.
    """

    R: Array
    c: Array
    family: Family
    cones: tuple[Cone, ...]
    bounds: LinearLimits
    known: LinearLimits
    prior: tuple[Array, Array]

    @cached_property
    def expansion(self) -> tuple[Array, Array]:
        """π = offset + spread (z, ν): deviations z from the data's best fit, in units of their noise, and what is free.

        In z the data weigh one whatever their precision and condition.
        """
        best: Array = np.linalg.solve(self.R, self.c).astype(np.float64)
        return self.family.nearest(best), np.hstack(
            [self.family.identified_directions @ np.linalg.inv(self.R), self.family.free_directions]
        )

    @cached_property
    def squares(self) -> tuple[Array, Array]:
        """M and m of the cost ½ |M x - m|² in x = (z, ν), without the tie-break."""
        offset, spread = self.expansion
        A, b = self.prior
        # [ 1          0 ]  data
        # [ A · spread   ]  prior
        M = np.vstack([np.eye(len(self.c), len(offset)), A @ spread])
        return M, np.concatenate([np.zeros(len(self.c)), b - A @ offset])

    @cached_property
    def tie_break(self) -> Array:
        """Curvature of the tie-break over x: of the free part alone, so that it never pulls at the data."""
        return np.concatenate([np.zeros(len(self.c)), np.full(len(self.family.reference) - len(self.c), _TIE**2)])

    def cost(self, x: Array) -> float:
        """Squared deviations beyond those of the best fit without conditions."""
        M, m = self.squares
        return float(np.sum((M @ x - m) ** 2))


@dataclass(frozen=True)
class Certificate:
    """How far a consistent fit is proven to be the best one, computed from the result itself.

    gap            squared deviations of the noise by which a better fit may exist (complementarity and tie-break)
    smallest       the smallest eigenvalue of a condition, by the size of its body: not below zero
    stationarity   by how many deviations of the noise the fit still wants to move (a part of the conditions' own pull
                   where that is stronger)
    excess         squared deviations that the conditions cost
    binding        conditions that hold the fit
    """

    gap: float
    smallest: float
    stationarity: float
    excess: float
    binding: tuple[str, ...] = ()
    iterations: int = 0

    @property
    def holds(self) -> bool:
        scale = 1 + self.excess
        return abs(self.gap) <= _GAP * scale and self.smallest >= -_OUTSIDE and self.stationarity <= _UNBALANCED

    def __str__(self) -> str:
        held = f"; held by {', '.join(self.binding)}" if self.binding else ""
        return (
            f"gap {self.gap:.2g}, smallest eigenvalue {self.smallest:.2g}, stationarity {self.stationarity:.2g}, "
            f"conditions cost {self.excess:.3g} squared deviations{held}"
        )


@dataclass(frozen=True, eq=False)
class ConsistentFit:
    """Parameters of real bodies, and the proof that they are the best ones."""

    parameters: Array
    certificate: Certificate


# Why one convex problem with free directions: docs/decisions/0041-one-consistent-fit.md.
def fit_consistent(problem: ConsistentProblem) -> ConsistentFit:
    """The parameters that fit best among those of real bodies, with their certificate; an error where that fails."""
    offset, spread = problem.expansion
    M, m = problem.squares
    x: Array = np.linalg.solve(M.T @ M + np.diag(problem.tie_break), M.T @ m).astype(np.float64)
    # Where the best fit without conditions meets all of them it is the answer, exact and without a solver.
    if _meets(problem, offset + spread @ x):
        return _certify(problem, x, np.zeros(_size(problem)), 0)
    fits = []
    for stress in _STRESSES:
        x, multipliers, iterations = _solve(problem, stress)
        fits.append(_certify(problem, _enter(problem, x), multipliers, iterations))
        if fits[-1].certificate.holds:
            # Among equally good ones the nearest to the reference, where that is one.
            nearer = _enter(problem, _break_ties(problem, x))
            settled = _certify(problem, nearer, multipliers, iterations)
            return settled if settled.certificate.holds else fits[-1]
    nearest = min((fit.certificate for fit in fits), key=lambda c: abs(c.gap) / (1 + c.excess))
    raise IdentificationError(
        f"the consistent fit did not converge ({nearest}). Leave out parameters that the motion hardly excites, or "
        "give values or limits of the bodies."
    )


def _enter(problem: ConsistentProblem, x: Array) -> Array:
    """x with every body exactly one, not only to the solver's rounding."""
    offset, spread = problem.expansion
    pi = offset + spread @ x
    for cone in problem.cones:
        pi = cone.enter(pi)
    # `spread` is square: as many deviations and free directions as parameters.
    return np.asarray(np.linalg.solve(spread, pi - offset))


def _meets(problem: ConsistentProblem, pi: Array) -> bool:
    bounds, known = problem.bounds, problem.known
    return (
        all(cone.smallest(pi) >= -_ROUNDING for cone in problem.cones)
        and bool(np.all(bounds.rows @ pi <= bounds.right))
        and bool(np.all(np.abs(known.rows @ pi - known.right) <= _ROUNDING))
    )


def _constraints(problem: ConsistentProblem) -> tuple[Array, Array]:
    """G and h with h - G π in the cones, in the solver's order: bounds, known values, matrices."""
    width = len(problem.family.reference)
    rows = [problem.bounds.rows, problem.known.rows, *(-cone.rows(width) for cone in problem.cones)]
    right = [problem.bounds.right, problem.known.right, *(triangle_of(cone.base) for cone in problem.cones)]
    return np.vstack(rows), np.concatenate(right)


def _size(problem: ConsistentProblem) -> int:
    triangles = (len(cone.base) * (len(cone.base) + 1) // 2 for cone in problem.cones)
    return len(problem.bounds.right) + len(problem.known.right) + sum(triangles)


# How much the cost weighs beside the conditions in the solver's numbers. Where every body is at the edge of what bodies
# can be (point masses, exact data) one weight ends where another stalls; the certificate says which result is one.
_STRESSES = (1e3, 1e2, 1e4, 10.0, 1.0, 1e6)


def _solve(problem: ConsistentProblem, stress: float) -> tuple[Array, Array, int]:
    """The minimum, the multipliers of the conditions, and the iterations."""
    offset, spread = problem.expansion
    M, m = problem.squares
    G, h = _constraints(problem)
    # Precise data feel changes of 1e-7 of a body, and the solver's own scaling ends at 1e-4: deviations are counted in
    # steps that change a body noticeably, and the cost by the square of these. The minimum is the same.
    felt = np.linalg.norm((G @ spread)[:, : len(problem.c)], axis=0)
    steps = np.concatenate([1 / np.maximum(felt, 1e-300), np.ones(len(offset) - len(felt))])
    steps[: len(felt)] = np.maximum(steps[: len(felt)], 1.0)
    size = float(np.median(steps[: len(felt)])) / np.sqrt(stress)
    P = steps[:, None] * (M.T @ M + np.diag(problem.tie_break)) * steps / size**2
    q = -steps * (M.T @ m) / size**2
    solution = _run(problem, P, q, G @ spread * steps, h - G @ offset)
    # Whether the numbers are good the certificate says, not the solver; it alone knows that there are none.
    if "Infeasible" in str(solution.status):
        raise IdentificationError(
            f"no parameters satisfy the conditions (the solver says {solution.status}). Widen the limits of masses, "
            "ellipsoids or densities, or check that they and the known values belong to the bodies they are given for."
        )
    return steps * np.array(solution.x), size**2 * np.array(solution.z), int(solution.iterations)


def _break_ties(problem: ConsistentProblem, x: Array) -> Array:
    """x with the free part nearest to the reference, the fit to the data held as it is."""
    held, (offset, spread), (G, h) = len(problem.c), problem.expansion, _constraints(problem)
    width = len(x) - held
    if not width or len(problem.prior[1]):
        return x
    # Where conditions hold the fit, its neighbours are all impossible; a hair's room lets the solver work inside.
    start = len(problem.bounds.right) + len(problem.known.right)
    room = np.concatenate([np.zeros(start), *(_ROOM * triangle_of(np.eye(len(c.base))) for c in problem.cones)])
    right = h - G @ (offset + spread[:, :held] @ x[:held]) + room
    solution = _run(problem, np.eye(width), np.zeros(width), G @ spread[:, held:], right)
    return np.concatenate([x[:held], np.array(solution.x)])


def _run(problem: ConsistentProblem, P: Array, q: Array, G: Array, h: Array) -> Any:
    """The solver's word on min ½ xᵀ P x + qᵀ x with h - G x in the cones."""
    clarabel, sparse = _solver()
    cones = [clarabel.NonnegativeConeT(len(problem.bounds.right)), clarabel.ZeroConeT(len(problem.known.right))]
    cones += [clarabel.PSDTriangleConeT(len(cone.base)) for cone in problem.cones]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    matrices = sparse.csc_matrix(np.triu(P)), q, sparse.csc_matrix(G), h
    return clarabel.DefaultSolver(*matrices, cones, settings).solve()


def _solver() -> tuple[Any, Any]:
    try:
        import clarabel
    except ImportError as problem:
        raise UnsupportedError(
            f"physically consistent identification needs clarabel: {install_command('identification')}."
        ) from problem
    from scipy import sparse

    return clarabel, sparse


def _certify(problem: ConsistentProblem, x: Array, multipliers: Array, iterations: int) -> ConsistentFit:
    """The fit at x with its certificate, from x and the multipliers of the conditions alone (Karush, Kuhn, Tucker)."""
    offset, spread = problem.expansion
    M, m = problem.squares
    G, h = _constraints(problem)
    pi = offset + spread @ x
    # ∇f + (G spread)ᵀ y = 0 and yᵀ (h - G π) = 0 with y in the dual cones: then x is the minimum. The tie-break adds
    # what it may have cost: f(x) - f* ≤ yᵀ s + |tie ν|².
    pull = M.T @ (M @ x - m) + problem.tie_break * x
    held = (G @ spread).T @ multipliers
    stationarity = float(np.max(np.abs(pull + held), initial=0.0) / max(1.0, np.max(np.abs(held), initial=0.0)))
    slack = h - G @ pi
    gap = float(multipliers @ slack) + float(problem.tie_break @ x**2)
    smallest = min((cone.smallest(pi) for cone in problem.cones), default=0.0)
    least = -np.max(problem.bounds.rows @ pi - problem.bounds.right, initial=0.0)
    # What the prior alone costs at the best fit without conditions is no cost of the conditions.
    free: Array = np.linalg.lstsq(M, m, rcond=None)[0].astype(np.float64)
    excess = max(problem.cost(x) - problem.cost(free), 0.0)
    # Without conditions nothing fits better than by the excess, which bounds the gap as well.
    gap = min(gap, excess)
    certificate = Certificate(
        gap, min(smallest, float(least)), stationarity, excess, _binding(problem, multipliers), iterations
    )
    return ConsistentFit(pi, certificate)


def _binding(problem: ConsistentProblem, multipliers: Array) -> tuple[str, ...]:
    """Names of the conditions whose multiplier is not nothing."""
    weights = np.abs(multipliers)
    names = [*problem.bounds.names, *problem.known.names]
    binding = [name for name, weight in zip(names, weights, strict=False) if weight > _UNBALANCED]
    start = len(names)
    for cone in problem.cones:
        stop = start + len(cone.base) * (len(cone.base) + 1) // 2
        binding += [cone.name] if float(np.max(weights[start:stop])) > _UNBALANCED else []
        start = stop
    return tuple(binding)


def triangle_of(S: Array) -> Array:
    """A symmetric matrix as the solver stacks it: the upper triangle by columns, √2 off the diagonal."""
    columns, rows = np.tril_indices(len(S))
    return S[rows, columns] * np.where(rows == columns, 1.0, np.sqrt(2.0))
