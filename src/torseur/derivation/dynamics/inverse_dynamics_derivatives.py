"""Derivatives of inverse dynamics, by a recursion of their own.

With composite bodies, as Singh, Russell and Wensing (2022) have them in earth axes; here every quantity stays in the
axes of its own body, where it is sparse. S are a joint's screws, V and A the motion of its parent seen from its frame:

    Ψ' = V x S,   Ψ'' = A x S + V x Ψ',   S' = (V + V_J) x S.

For a body i and an ancestor j (forces carried from i to j), with the composite inertia I, force F, and Coriolis
operator B of what joint i carries:

    ∂τ_j/∂v_i = S_j · (2 B S_i + I (Ψ'_i + S'_i))        ∂τ_i/∂v_j = 2 Bᵀ S_i · S_j + I S_i · (Ψ'_j + S'_j)
    ∂τ_j/∂q_i = S_j · (2 B Ψ'_i + I Ψ''_i + S_i x* F)     ∂τ_i/∂q_j = 2 Bᵀ S_i · Ψ'_j + I S_i · Ψ''_j

and M_ji = S_j · I S_i comes with them. ∂/∂q is along the speeds: the change with a displacement that a unit of the
speed makes, for a coordinate whose rate is the speed the ordinary derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.spatial import Force, Inertia, Motion, Scalar, Symmetric3, Transform, Vec3, point_tensor
from torseur.derivation.dynamics.fixed_screws import Step, StepMotion, step_motions, steps_at
from torseur.derivation.dynamics.recursion import inertial_force
from torseur.derivation.tree import GROUND, Tree
from torseur.derivation.tree.transformations.limb_batching import sum_over_copies


@dataclass(frozen=True)
class Composite:
    """Everything a joint carries, as if frozen: its inertia, force and Coriolis operator.

    The Coriolis operator is 2 B = [Y - L̃, 0; -2 f̃, 0]: Y is the rate of the inertia matrix at the origin that its
    motion causes, L the angular momentum and f the momentum.
    """

    inertia: Inertia
    force: Force
    spread: Symmetric3
    spin: Vec3
    momentum: Vec3

    def __add__(self, other: Composite) -> Composite:
        return Composite(
            self.inertia + other.inertia,
            self.force + other.force,
            self.spread + other.spread,
            self.spin + other.spin,
            self.momentum + other.momentum,
        )

    def to_parent(self, transform: Transform) -> Composite:
        """The same at the parent's origin and axes."""
        rotation, p = transform.rotation, transform.position
        f = rotation.to_parent(self.momentum)
        spread = rotation.tensor_to_parent(self.spread) + point_tensor(p, f)
        return Composite(
            transform.inertia_to_parent(self.inertia),
            transform.force_to_parent(self.force),
            spread,
            rotation.to_parent(self.spin) + p.cross(f),
            f,
        )

    def coriolis(self, motion: Motion) -> Force:
        """2 B applied to a motion."""
        w = motion.angular
        return Force(self.spread @ w - self.spin.cross(w), w.cross(self.momentum) * 2)

    def coriolis_back(self, motion: Motion) -> Vec3:
        """2 Bᵀ applied to a motion: its moment; it has no force."""
        w = motion.angular
        return self.spread @ w + self.spin.cross(w) + self.momentum.cross(motion.linear) * 2


def composites(steps: Sequence[Step], motions: Sequence[StepMotion]) -> list[Composite]:
    """For each step, the composite of all it carries, in its own frame."""
    total = [_single(step.inertia, motion) for step, motion in zip(steps, motions, strict=True)]
    for i in range(len(steps) - 1, -1, -1):
        parent = steps[i].parent
        if parent != GROUND:
            total[parent] = total[parent] + sum_over_copies(steps[i].copies, total[i].to_parent(steps[i].transform))
    return total


def _single(inertia: Inertia, motion: StepMotion) -> Composite:
    w, v, h = motion.link.w, motion.v, inertia.moment
    # For one body 2 B = [Y - L̃, 0; -2 f̃, 0] with Y = ω̃ I - I ω̃ plus what the origin's velocity does to I.
    momentum = inertia @ Motion(w, v)
    spread = _rate(inertia.matrix, w) + point_tensor(h, v)
    return Composite(inertia, inertial_force(inertia, motion.link), spread, momentum.moment, momentum.force)


def _rate(a: Symmetric3, w: Vec3) -> Symmetric3:
    """w̃ A - A w̃: the rate of an inertia matrix that turns at w."""
    x, y, z = w
    return Symmetric3(
        (a.xz * y - a.xy * z) * 2,
        (a.xy * z - a.yz * x) * 2,
        (a.yz * x - a.xz * y) * 2,
        (a.xx - a.yy) * z - a.xz * x + a.yz * y,
        (a.zz - a.xx) * y - a.yz * z + a.xy * x,
        (a.yy - a.zz) * x - a.xy * y + a.xz * z,
    )


Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class InverseDynamicsDerivatives:
    """τ, its derivatives by displacements along the speeds and by the speeds, and the mass matrix: those by vdot."""

    tau: list[Scalar]
    by_displacement: Matrix
    by_speed: Matrix
    mass_matrix: Matrix


@dataclass(frozen=True)
class _Screw:
    """A screw S with Ψ', Ψ'' and Ψ' + S', and the tree's speeds that drive it."""

    screw: Motion
    rate: Motion
    bend: Motion
    both: Motion
    shares: tuple[tuple[int, Scalar], ...]


@dataclass(frozen=True)
class _Column:
    """What a displacement along a screw takes: I S, 2 Bᵀ S, 2 B S + I (Ψ' + S'), 2 B Ψ' + I Ψ'' + S x* F."""

    momentum: Force
    back: Vec3
    by_speed: Force
    by_place: Force

    def to_parent(self, step: Step) -> _Column:
        """The same at the parent's origin and axes."""
        to_parent = step.transform.force_to_parent  # 2 Bᵀ S is a pure couple: it turns and needs no lever
        turned = step.transform.rotation.to_parent(self.back)
        return _Column(to_parent(self.momentum), turned, to_parent(self.by_speed), to_parent(self.by_place))


# Why composite bodies in body frames: docs/decisions/0010-derivatives-by-composite-bodies.md.
def inverse_dynamics_derivatives(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar], t: Scalar | None = None
) -> InverseDynamicsDerivatives:
    """∂τ/∂q along the speeds, ∂τ/∂v and M, for a tree whose joints are steps with fixed screws (fixed_screws.py)."""
    now = tree.at(q, v, t)
    steps = steps_at(now, vdot)
    motions = step_motions(steps, now.gravity)
    carried = composites(steps, motions)
    screws = [_screws(step, motion) for step, motion in zip(steps, motions, strict=True)]
    table = _Table(len(v))
    # Of the pairs (j, i) of steps only those with j an ancestor of i (or i itself) are not zero.
    for i in reversed(range(len(steps))):
        for k, screw in enumerate(screws[i]):
            _fill(table, steps, screws, i, k, _column(screw, carried[i]), carried[i].force)
            table.add_force(screw, carried[i].force)
    return InverseDynamicsDerivatives(table.tau, table.by_displacement, table.by_speed, table.mass)


def _screws(step: Step, motion: StepMotion) -> list[_Screw]:
    return [_screw(s, motion, shares) for s, shares in zip(step.screws, step.shares, strict=True)]


def _screw(s: Motion, motion: StepMotion, shares: tuple[tuple[int, Scalar], ...]) -> _Screw:
    """Ψ'' is written with the parent's U and classical acceleration: (U s_w; U s_v + a x s_w + 2 v x (w x s_w))."""
    w, v = motion.carried, motion.drift
    across = w.cross(s.angular)
    rate = Motion(across, w.cross(s.linear) + v.cross(s.angular))
    linear = motion.tensor @ s.linear + motion.push.cross(s.angular) + v.cross(across) * 2
    own = Motion(motion.link.w, motion.v).cross(s)
    return _Screw(s, rate, Motion(motion.tensor @ s.angular, linear), rate + own, shares)


def _column(screw: _Screw, body: Composite) -> _Column:
    s, inertia = screw.screw, body.inertia
    by_speed = body.coriolis(s) + inertia @ screw.both
    by_place = body.coriolis(screw.rate) + inertia @ screw.bend
    return _Column(inertia @ s, body.coriolis_back(s), by_speed, by_place)


def _fill(
    table: _Table, steps: Sequence[Step], screws: Sequence[list[_Screw]], i: int, k: int, column: _Column, force: Force
) -> None:
    """Entries of screw k of step i with its own step and with every ancestor."""
    own = screws[i][k]
    for other in screws[i]:
        table.add(other, own, column, within=True)
    # A displacement along a screw turns the forces of all it carries, S x* F; its own joint does not feel that, since
    # its screws turn along.
    column = _Column(column.momentum, column.back, column.by_speed, column.by_place + own.screw.cross_force(force))
    while steps[i].parent != GROUND:
        column, i = column.to_parent(steps[i]), steps[i].parent
        for other in screws[i]:
            table.add(other, own, column, within=False)


class _Table:
    """Derivatives collected by the tree's speeds: a screw's rate is a sum of speeds times constants."""

    def __init__(self, n: int) -> None:
        self.tau: list[Scalar] = [0] * n
        self.by_displacement: Matrix = [[0] * n for _ in range(n)]
        self.by_speed: Matrix = [[0] * n for _ in range(n)]
        self.mass: Matrix = [[0] * n for _ in range(n)]

    def add_force(self, screw: _Screw, force: Force) -> None:
        for j, share in screw.shares:
            self.tau[j] = self.tau[j] + share * screw.screw.dot(force)

    def add(self, other: _Screw, own: _Screw, column: _Column, within: bool) -> None:
        """Force along `other` by motion along `own`, and the reverse where `other` belongs to an ancestor."""
        self._add(self.mass, other, own, other.screw.dot(column.momentum))
        self._add(self.by_speed, other, own, other.screw.dot(column.by_speed))
        self._add(self.by_displacement, other, own, other.screw.dot(column.by_place))
        if within:
            return
        # Row own, column other: the other half of the symmetric M, and the ∂τ_i of the head of this file.
        self._add(self.mass, own, other, other.screw.dot(column.momentum))
        back, momentum = column.back, column.momentum
        self._add(self.by_speed, own, other, back.dot(other.screw.angular) + other.both.dot(momentum))
        self._add(self.by_displacement, own, other, back.dot(other.rate.angular) + other.bend.dot(momentum))

    def _add(self, matrix: Matrix, row: _Screw, column: _Screw, value: Scalar) -> None:
        for i, a in row.shares:
            for j, b in column.shares:
                matrix[i][j] = matrix[i][j] + (a * b) * value
