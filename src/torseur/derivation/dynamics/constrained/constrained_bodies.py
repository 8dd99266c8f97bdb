"""Accelerations under constraints by articulated bodies: M v' + Cᵀ λ = f, C v' = γ, link by link.

Neither M nor C M⁻¹ Cᵀ is ever formed. Joints are eliminated inward, as in forward dynamics, and the multipliers of the
constraints that are not complete yet are carried along (in linear time, as Baraff 1996 for trees). At a link, with
everything it carries eliminated, what is left is linear in its acceleration A and the multipliers still open:

    force that the link needs   I A + p + Σ P_c λ_c            I  articulated inertia      p  force at A = 0
    rows of the constraints     Σ S_cd λ_d = h_c + P_c · A     P  force per multiplier     S  C M⁻¹ Cᵀ so far

A constraint is complete at the link that carries all joints it ties. There its multipliers are eliminated, which adds
P S⁻¹ Pᵀ to the inertia: from then on the loop is part of an articulated body like any other. So each loop of a chain
or a tree of loops costs as much as a single one. Where many loops are complete at the same link (at the earth, for
linkages side by side), S is eliminated there with little fill-in, rows with the fewest neighbours first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.graph.semidefinite import Exchange
from torseur.algebra.spatial import NO_INERTIA, REST, Force, Motion, Vec3
from torseur.algebra.spatial.articulated_inertia import (
    ArticulatedInertia,
    articulated_inertia,
    articulated_to_parent,
    eliminate_screw,
)
from torseur.derivation.dynamics.constrained.elimination_order import by_degree, complete_at
from torseur.derivation.dynamics.constrained.elimination_steps import (
    NO_FORCE,
    Pivots,
    RowElimination,
    RowScaling,
    RowStep,
    ScrewElimination,
)
from torseur.derivation.dynamics.constrained.right_sides import RightSides, Solution
from torseur.derivation.dynamics.mass_matrix_factors import moving_inertia, scale_force
from torseur.derivation.tree import GROUND, Tree

_ZERO = as_expr(0)


@dataclass
class _Open:
    """The multipliers that are not eliminated yet."""

    matrix: dict[int, dict[int, Expr]]
    lengths: dict[int, Expr]
    pushes: list[dict[int, Force]]
    at_earth: dict[int, Force] = field(default_factory=dict)

    def at(self, link: int) -> dict[int, Force]:
        return self.at_earth if link == GROUND else self.pushes[link]

    def add(self, c: int, d: int, value: Expr) -> None:
        if not value.is_zero:
            self.matrix[c][d] = self.matrix[c].get(d, _ZERO) + value
            if c != d:
                self.matrix[d][c] = self.matrix[c][d]

    def neighbours(self, group: Sequence[int]) -> set[int]:
        return {d for c in group for d in self.matrix[c]} - set(group)


class ConstrainedBodies:
    """The factors of a mechanism's mass matrix and constraints; `solve` uses them for any right side.

    `rows` are those of C, `groups` the numbers of rows that belong together: those of one joint.
    """

    def __init__(
        self, tree: Tree, rows: Sequence[Sequence[Expr]], groups: Sequence[Sequence[int]], pivots: Pivots
    ) -> None:
        self.tree, self.pivots, self.constraint_rows = tree, pivots, rows
        self.links = tree.at(tree.layout.coordinates).links
        self.screws: list[list[ScrewElimination]] = [[] for _ in self.links]
        self.rows: dict[int, list[RowStep]] = {}
        # Of the second and further screws of joints: the inertia along each with the others held, and with them free.
        self.later_pivots: list[tuple[Expr, Expr]] = []
        columns = _columns(rows, len(tree.layout.speeds))
        complete = complete_at(tree, rows, groups)
        count = range(len(rows))
        opened = _Open({c: {} for c in count}, dict.fromkeys(count, _ZERO), [{} for _ in self.links])
        inertias = [articulated_inertia(link.inertia) for link in self.links]
        for i in tree.inward():
            inertia = self._eliminate_rows(i, complete.get(i, []), opened, inertias[i])
            parent = tree.parent(i)
            inertia = self._eliminate_joint(i, columns, opened, inertia)
            transform = self.links[i].motion.transform
            if parent != GROUND:
                inertias[parent] = inertias[parent] + articulated_to_parent(transform, inertia)
                for c, push in opened.pushes[i].items():
                    opened.pushes[parent][c] = opened.pushes[parent].get(c, NO_FORCE) + transform.force_to_parent(push)
        # The earth does not move: nothing is carried to it, and its inertia is nothing's.
        self._eliminate_rows(GROUND, complete.get(GROUND, []), opened, articulated_inertia(NO_INERTIA))

    def _eliminate_joint(
        self, i: int, columns: Sequence[dict[int, Expr]], opened: _Open, inertia: ArticulatedInertia
    ) -> ArticulatedInertia:
        """The inertia of a link seen through its joint; its screws one after the other, as in forward dynamics."""
        pushes = opened.pushes[i]
        slots = range(*self.tree.links[i].v.indices(len(columns)))
        whole = inertia
        for k, screw in zip(slots, self.links[i].motion.screws, strict=True):
            # The screw's own row is D v' = rest - needed · A - Σ pull_c λ_c with D = screw · needed. Put in for v', it
            # takes from
            #
            #     | I    P |            | needed |
            #     | Pᵀ  -S |   the part | pull   | [needed pull] / D,
            #
            # so that I loses needed neededᵀ/D, P_c needed pull_c/D, and S, which stands with the other sign, gains
            # pull_c pull_d/D.
            needed = inertia @ screw
            pivot = as_expr(moving_inertia(screw.dot(needed), self.tree, i))
            if inertia is not whole:
                self.later_pivots.append((as_expr(screw.dot(whole @ screw)), pivot))
            inverse = 1 / pivot
            gain = scale_force(needed, inverse)
            pulls = {c: as_expr(screw.dot(push)) for c, push in pushes.items()}
            for c, entry in columns[k].items():
                pulls[c] = pulls.get(c, _ZERO) + entry
            pulls = {c: pull for c, pull in sorted(pulls.items()) if not pull.is_zero}
            for c, pull in pulls.items():
                share = pull * inverse
                opened.lengths[c] = opened.lengths[c] + pull * share
                for d, other in pulls.items():
                    if d <= c:
                        opened.add(c, d, other * share)
                pushes[c] = pushes.get(c, NO_FORCE) - scale_force(gain, pull)
            inertia = eliminate_screw(inertia, gain, needed)
            self.screws[i].append(ScrewElimination(k, screw, inverse, gain, pulls))
        return inertia

    def _eliminate_rows(
        self, i: int, groups: Sequence[Sequence[int]], opened: _Open, inertia: ArticulatedInertia
    ) -> ArticulatedInertia:
        """The inertia of a link with the constraints among what it carries; those with few neighbours first."""
        steps = self.rows.setdefault(i, [])
        for group in by_degree(groups, lambda g: len(opened.neighbours(g))):
            inertia = self._eliminate_group(i, group, opened, inertia, steps)
        return inertia

    def _eliminate_group(
        self,
        i: int,
        group: Sequence[int],
        opened: _Open,
        inertia: ArticulatedInertia,
        steps: list[RowStep],
    ) -> ArticulatedInertia:
        pushes, matrix = opened.at(i), opened.matrix
        for c in group:
            factor = self.pivots.scale(c, opened.lengths[c])
            for d in matrix[c]:
                # Row and column: the diagonal entry takes the factor twice.
                matrix[c][d] = matrix[c][d] * factor
                matrix[d][c] = matrix[c][d] * factor if d == c else matrix[c][d]
            if c in pushes:
                pushes[c] = scale_force(pushes[c], factor)
            steps.append(RowScaling(c, factor))
        for k, c in enumerate(group):
            if self.pivots.has_exchanges:
                for other in group[k + 1 :]:
                    self._exchange(c, other, opened, pushes, steps)
            inverse = self.pivots.inverse(c, matrix[c].get(c, _ZERO), opened.lengths[c])
            own = matrix.pop(c)
            own.pop(c, None)
            push = pushes.pop(c, NO_FORCE)
            # Sorted: sums of floats depend on their order, and generated code is to be the same in every process.
            shares = {d: entry * inverse for d, entry in sorted(own.items())}
            for d in shares:
                matrix[d].pop(c)
            for d, share in shares.items():
                for e in shares:
                    if e <= d:
                        opened.add(d, e, -(share * own[e]))
                pushes[d] = pushes.get(d, NO_FORCE) - scale_force(push, share)
            # eliminate_screw takes away; P S⁻¹ Pᵀ is added, hence the sign of the gain.
            inertia = eliminate_screw(inertia, scale_force(push, -inverse), push)
            steps.append(RowElimination(c, inverse, push, shares))
        return inertia

    def _exchange(
        self,
        c: int,
        other: int,
        opened: _Open,
        pushes: dict[int, Force],
        steps: list[RowStep],
    ) -> None:
        """Brings the larger of two pivots to place c, with its row and column."""
        matrix = opened.matrix
        exchange = Exchange.larger_first(c, other, matrix[c].get(c, _ZERO), matrix[other].get(other, _ZERO))
        if exchange is None:
            return
        a, b = exchange.pair(matrix[c].get(c, _ZERO), matrix[other].get(other, _ZERO))
        matrix[c][c], matrix[other][other] = a, b
        for d in sorted(opened.neighbours([c, other])):
            x, y = exchange.pair(matrix[c].get(d, _ZERO), matrix[other].get(d, _ZERO))
            matrix[c][d] = matrix[d][c] = x
            matrix[other][d] = matrix[d][other] = y
        if c in pushes or other in pushes:
            first, second = pushes.get(c, NO_FORCE), pushes.get(other, NO_FORCE)
            pairs = [exchange.pair(as_expr(x), as_expr(y)) for x, y in zip(_six(first), _six(second), strict=True)]
            pushes[c], pushes[other] = _force([x for x, _ in pairs]), _force([y for _, y in pairs])
        self.pivots.exchanged(exchange)
        steps.append(exchange)

    def solve(
        self,
        forces: Sequence[Expr],
        gammas: Sequence[Expr],
        is_held: Callable[[int, Expr], Expr] | None = None,
        beyond_held: Sequence[Expr] = (),
    ) -> Solution:
        """v' and λ for M v' + Cᵀ λ = f and C v' = γ.

        Rows for which `is_held(row, 1 / S_cc)` is 1 take the accelerations across them from elsewhere: `beyond_held`
        is γ less C times these accelerations.
        """
        inward = RightSides(list(forces), [-as_expr(g) for g in gammas], is_held, list(beyond_held))
        inward.run(self)
        return self._outward(inward)

    def _outward(self, inward: RightSides) -> Solution:
        tree = self.tree
        # What was eliminated last is solved first: the multipliers of a link before the screws of what it carries.
        multipliers: list[Expr] = [_ZERO] * len(inward.right)
        vdot: list[Expr] = [_ZERO] * len(tree.layout.speeds)
        accelerations: list[Motion] = []
        self._solve_rows(GROUND, REST, inward.reduced, multipliers)
        for i in tree.outward():
            parent, motion = tree.parent(i), self.links[i].motion
            acceleration = REST if parent == GROUND else motion.transform.motion_to_child(accelerations[parent])
            for step in reversed(self.screws[i]):
                rate = inward.free[step.slot] - as_expr(acceleration.dot(step.gain))
                rate = rate - _sum(pull * multipliers[c] for c, pull in step.pulls.items()) * step.inverse
                acceleration = acceleration + step.screw * rate
                vdot[step.slot] = rate
            self._solve_rows(i, acceleration, inward.reduced, multipliers)
            accelerations.append(acceleration)
        return Solution(vdot, multipliers, inward.reduced, inward.sizes)

    def _solve_rows(self, i: int, acceleration: Motion, reduced: dict[int, Expr], multipliers: list[Expr]) -> None:
        for step in reversed(self.rows.get(i, [])):
            if isinstance(step, RowScaling):
                multipliers[step.row] = multipliers[step.row] * step.factor
            elif isinstance(step, Exchange):
                step.apply(multipliers)
            else:
                own = reduced[step.row] + (_ZERO if i == GROUND else as_expr(acceleration.dot(step.push)))
                others = _sum(share * multipliers[d] for d, share in step.shares.items())
                multipliers[step.row] = own * step.inverse - others

    def product(self, accelerations: Sequence[Expr], multipliers: Sequence[Expr]) -> tuple[list[Expr], list[Expr]]:
        """M v' + Cᵀ λ and C v', from the bodies as they are."""
        tree, links = self.tree, self.links
        moved: list[Motion] = []
        for i in tree.outward():
            motion = links[i].motion
            moved.append(REST if tree.parent(i) == GROUND else motion.transform.motion_to_child(moved[tree.parent(i)]))
            for screw, rate in zip(motion.screws, accelerations[tree.links[i].v], strict=True):
                moved[i] = moved[i] + screw * rate
        # M v' is inverse dynamics without velocities and weights.
        forces = [link.inertia @ motion for link, motion in zip(links, moved, strict=True)]
        needed = [_ZERO] * len(accelerations)
        for i in tree.inward():
            screws, parent = links[i].motion.screws, tree.parent(i)
            needed[tree.links[i].v] = [as_expr(screw.dot(forces[i])) for screw in screws]
            if parent != GROUND:
                forces[parent] = forces[parent] + links[i].motion.transform.force_to_parent(forces[i])
        across = [_ZERO] * len(multipliers)
        for c, row in enumerate(self.constraint_rows):
            for k, entry in enumerate(row):
                if not entry.is_zero:
                    needed[k] = needed[k] + entry * multipliers[c]
                    across[c] = across[c] + entry * accelerations[k]
        return needed, across

    def multipliers_without_motion(self, starts: Sequence[Expr]) -> list[Expr]:
        """Multipliers, in units of their rows' scales, that start from values of their own and accelerate nothing."""
        # The substitution of `_solve_rows` with A = 0 and starts in place of right sides: where a pivot is zero the
        # start stays.
        multipliers: list[Expr] = [_ZERO] * len(starts)
        scaled = list(multipliers)
        for i in (GROUND, *self.tree.outward()):
            for step in reversed(self.rows.get(i, [])):
                if isinstance(step, RowScaling):
                    scaled[step.row] = multipliers[step.row]
                    multipliers[step.row] = multipliers[step.row] * step.factor
                elif isinstance(step, Exchange):
                    step.apply(multipliers)
                else:
                    others = _sum(share * multipliers[d] for d, share in step.shares.items())
                    multipliers[step.row] = starts[step.row] - others
        return scaled


def _columns(rows: Sequence[Sequence[Expr]], count: int) -> list[dict[int, Expr]]:
    """C by columns, zeros left out."""
    columns: list[dict[int, Expr]] = [{} for _ in range(count)]
    for c, row in enumerate(rows):
        for k, entry in enumerate(row):
            if not entry.is_zero:
                columns[k][c] = entry
    return columns


def _six(force: Force) -> tuple[object, ...]:
    return (*force.moment, *force.force)


def _force(entries: Sequence[Expr]) -> Force:
    return Force(Vec3(*entries[:3]), Vec3(*entries[3:]))


def _sum(terms: Iterable[Expr]) -> Expr:
    return sum(terms, _ZERO)
