"""Newton-Euler: every link alone, with the reactions of its joints, then the reactions eliminated.

Principle (Newton, Euler): the momentum of a body changes at the rate of the forces on it, its angular momentum at the
rate of their moments. Link i feels gravity, the loads, the reaction of the joint that carries it, and the opposite of
the reaction of every joint it carries. At the link's origin and in its axes, which turn at ω and move at v,

    P' + ω x P = f        N' + ω x N + v x P = m

    P, N      linear momentum, angular momentum at the origin      `momenta`
    f, m      force and moment on the link, at the origin
    R_i       reaction of joint i, six unknowns                    `reaction_symbols`
    S_ik      screw of speed k of joint i: the motion it allows    `link.motion.screws`

Six equations per link determine its reaction, from the outermost links inward: R_i = (P', N') - weight - loads +
Σ_children R_c. A joint is ideal: its reaction has no power along S_ik except what loads put there. S_ik · R_i, linear
in v', is M v' + b: M its coefficients, b the rest; the same sum over the wrenches of the loads is Q.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import NO_FORCE, Force, Motion, Vec3
from torseur.derivation.dynamics import link_poses, link_velocities
from torseur.derivation.equations.formulation import Formulation, as_expressions
from torseur.derivation.equations.multipliers import multiplier_of
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads, loads_between_bodies
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.matrices import coefficients
from torseur.derivation.formalisms.ingredients.placements import now
from torseur.derivation.formalisms.ingredients.released_joint import ReleasedJoint
from torseur.derivation.tree import GROUND, Layout


@dataclass(frozen=True)
class NewtonEuler(Formulation):
    """Free bodies, each in its own axes."""

    @property
    def name(self) -> str:
        return "newton_euler"

    @cached_property
    def velocities(self) -> list[Motion]:
        """Angular velocity and velocity of the origin of every link."""
        return link_velocities(now(self.tree))

    @cached_property
    def momenta(self) -> list[Force]:
        """Angular momentum at the origin (`moment`) and linear momentum (`force`) of every link."""
        return [link.inertia @ velocity for link, velocity in zip(self.tree.links, self.velocities, strict=True)]

    @cached_property
    def momentum_rates(self) -> list[Force]:
        """The rates of the momenta in fixed directions, linear in the symbols v'."""
        rates, momentum_rates = Rates(self.tree), []
        for momentum, velocity in zip(self.momenta, self.velocities, strict=True):
            # Components in axes that turn and move: (N', P') + V x* (N, P) is the rate in fixed directions at a fixed
            # point.
            change = rates.full_change([*momentum.moment, *momentum.force])
            momentum_rates.append(Force(Vec3(*change[:3]), Vec3(*change[3:])) + velocity.cross_force(momentum))
        return momentum_rates

    @cached_property
    def weights(self) -> list[Force]:
        """Gravity on every link, at its origin."""
        weights = []
        for link, pose in zip(self.tree.links, link_poses(now(self.tree)), strict=True):
            down, inertia = pose.rotation.to_child(self.tree.gravity), link.inertia
            weights.append(Force(inertia.moment.cross(down), down * inertia.mass))
        return weights

    def _eliminate_reactions(self, needed: list[Force]) -> list[Force]:
        """Reactions that give every link the force it needs: from the outermost links, which carry nothing, inward."""
        # needed[i] is what link i itself takes; a joint also passes on what the joints beyond it pass on.
        reactions = list(needed)
        for i in self.tree.inward():
            if self.tree.parent(i) != GROUND:
                carried = self.tree.links[i].motion.transform.force_to_parent(reactions[i])
                reactions[self.tree.parent(i)] = reactions[self.tree.parent(i)] + carried
        return reactions

    def _along_free_directions(self, reactions: list[Force]) -> list[Expr]:
        along: list[Expr] = [as_expr(0)] * len(self.tree.layout.speeds)
        for link, reaction in zip(self.tree.links, reactions, strict=True):
            for k, screw in zip(link.slots, link.motion.screws, strict=True):
                along[k] = along[k] + screw.dot(reaction)
        return along

    @cached_property
    def _power(self) -> tuple[list[list[Expr]], list[Expr]]:
        """Coefficients of v' and the rest in the reactions along the free directions."""
        needed = [rate - weight for rate, weight in zip(self.momentum_rates, self.weights, strict=True)]
        along = self._along_free_directions(self._eliminate_reactions(needed))
        return coefficients(along, self.tree.layout.accelerations)

    def mass_matrix(self) -> list[list[Expr]]:
        return self._power[0]

    def bias(self) -> list[Expr]:
        return self._power[1]

    def loads(self) -> list[Expr]:
        applied = applied_loads(self.tree)
        if not applied.wrenches:
            return applied.generalised
        wrenches = [applied.wrenches.get(i, NO_FORCE) for i in self.tree.outward()]
        along = self._along_free_directions(self._eliminate_reactions(wrenches))
        return [a + b for a, b in zip(applied.generalised, along, strict=True)]

    def reactions(self) -> dict[str, Force]:
        """By joint, moment and force of the parent on the child in its joint frame, with v' and λ as symbols."""
        own = self.constraint_forces
        return {joint: force + own[joint] if joint in own else force for joint, force in self.passed_on().items()}

    @cached_property
    def constraint_forces(self) -> dict[str, Force]:
        """By joint, what the constraints with their multipliers λ take of everything beyond it."""
        if not (self.tree.loops or self.tree.mechanism.constraints):
            return {}
        forces: dict[str, Force] = {}
        for link in self.tree.links:
            # Rows of a released joint come as force, moment; `Force` takes the moment first.
            total = [as_expr(0)] * 6
            for constraint, rows in ReleasedJoint(self.tree, link.joint.name).constraint_efforts():
                total = [a + multiplier_of(constraint) * row for a, row in zip(total, rows, strict=True)]
            forces[link.joint.name] = Force(Vec3(*total[3:]), Vec3(*total[:3]))
        return forces

    def passed_on(self) -> dict[str, Force]:
        """By joint, what the motion, weight and loads of everything beyond it take.

        Forces that act in the joint are part of it.
        """
        applied = loads_between_bodies(self.tree)
        needed = [
            rate - weight - applied.wrench(i)
            for i, (rate, weight) in enumerate(zip(self.momentum_rates, self.weights, strict=True))
        ]
        names = [link.joint.name for link in self.tree.links]
        return dict(zip(names, self._eliminate_reactions(needed), strict=True))

    def free_bodies(self) -> dict[str, list[Expr]]:
        """By link, its six equations (moment x y z, force x y z), zero along a motion, with reactions as unknowns."""
        applied = loads_between_bodies(self.tree)
        equations: dict[str, list[Expr]] = {}
        for i, link in enumerate(self.tree.links):
            # Children by a search through all links: free bodies are for reading, and mechanisms that are read are
            # small.
            balance = self.momentum_rates[i] - self.weights[i] - applied.wrench(i) - self._unknown(link.joint.name)
            for child in self.tree.links:
                if child.parent == i:
                    balance = balance + child.motion.transform.force_to_parent(self._unknown(child.joint.name))
            equations[link.name] = as_expressions([*balance.moment, *balance.force])
        return equations

    def _unknown(self, joint: str) -> Force:
        """The unknown reaction of a joint, less what constraints take of it."""
        return (
            reaction_symbols(joint, self.tree.layout) - self.constraint_forces[joint]
            if joint in self.constraint_forces
            else reaction_symbols(joint, self.tree.layout)
        )

    def objects(self) -> Mapping[str, Any]:
        links = [link.name for link in self.tree.links]
        return {
            "momenta": dict(zip(links, self.momenta, strict=True)),
            "equations of free bodies": self.free_bodies(),
            "reactions": self.reactions(),
        }


def reaction_symbols(joint: str, layout: Layout) -> Force:
    """The unknown reaction of a joint."""
    moment = [layout.fresh_symbol(f"{joint}.N{axis}", "N*m", f"reaction moment in joint {joint}") for axis in "xyz"]
    force = [layout.fresh_symbol(f"{joint}.R{axis}", "N", f"reaction force in joint {joint}") for axis in "xyz"]
    return Force(Vec3(*moment), Vec3(*force))
