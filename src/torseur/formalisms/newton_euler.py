"""Newton-Euler: every link alone, with the reactions of its joints, then the reactions eliminated.

Link i feels gravity, the loads, the reaction R_i of the joint that carries it, and the opposite of the reaction
of every joint it carries. Its momentum (N, P), taken at its origin and in its axes, changes at the rate of that
sum:

    P' + ω x P = f        N' + ω x N + v x P = m

Six equations per link, six unknown components per reaction. A joint is ideal: the reaction has no power along
its free directions except what loads put there, which gives one equation per speed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.dynamics import link_poses, link_velocities
from torseur.equations.equations import multiplier_of
from torseur.equations.formulation import Formulation, as_expressions
from torseur.formalisms.applied import applied_loads, loads_between_bodies
from torseur.formalisms.linear import coefficients
from torseur.formalisms.placements import now
from torseur.formalisms.rates import Rates
from torseur.formalisms.release import ReleasedJoint
from torseur.graph import Expr, as_expr, symbol
from torseur.spatial import NO_FORCE, Force, Motion, Vec3
from torseur.tree import GROUND


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
        rates, found = Rates(self.tree), []
        for momentum, velocity in zip(self.momenta, self.velocities, strict=True):
            change = rates.full_change([*momentum.moment, *momentum.force])
            found.append(Force(Vec3(*change[:3]), Vec3(*change[3:])) + velocity.cross_force(momentum))
        return found

    @cached_property
    def weights(self) -> list[Force]:
        """Gravity on every link, at its origin."""
        found = []
        for link, pose in zip(self.tree.links, link_poses(now(self.tree)), strict=True):
            down, inertia = pose.rotation.to_child(self.tree.gravity), link.inertia
            found.append(Force(inertia.moment.cross(down), down * inertia.mass))
        return found

    def _eliminated(self, needed: list[Force]) -> list[Force]:
        """Reactions that give every link the force it needs: from the outermost links, which carry nothing, inward."""
        reactions = list(needed)
        for i in self.tree.inward():
            if self.tree.parent(i) != GROUND:
                carried = self.tree.links[i].motion.transform.force_to_parent(reactions[i])
                reactions[self.tree.parent(i)] = reactions[self.tree.parent(i)] + carried
        return reactions

    def _along_free_directions(self, reactions: list[Force]) -> list[Expr]:
        links = zip(self.tree.links, reactions, strict=True)
        return as_expressions([screw.dot(reaction) for link, reaction in links for screw in link.motion.screws])

    @cached_property
    def _power(self) -> tuple[list[list[Expr]], list[Expr]]:
        """Coefficients of v' and the rest in the reactions along the free directions."""
        needed = [rate - weight for rate, weight in zip(self.momentum_rates, self.weights, strict=True)]
        along = self._along_free_directions(self._eliminated(needed))
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
        along = self._along_free_directions(self._eliminated(wrenches))
        return [a + b for a, b in zip(applied.generalised, along, strict=True)]

    def reactions(self) -> dict[str, Force]:
        """By joint, moment and force of the parent on the child in its joint frame, with v' and λ as symbols."""
        held = self.held
        return {joint: force + held[joint] if joint in held else force for joint, force in self.passed_on().items()}

    @cached_property
    def held(self) -> dict[str, Force]:
        """By joint, what the constraints with their multipliers λ take of everything beyond it."""
        if not (self.tree.loops or self.tree.mechanism.constraints):
            return {}
        found: dict[str, Force] = {}
        for link in self.tree.links:
            total = [as_expr(0)] * 6
            for constraint, rows in ReleasedJoint(self.tree, link.joint.name).constraint_efforts():
                total = [a + multiplier_of(constraint) * row for a, row in zip(total, rows, strict=True)]
            found[link.joint.name] = Force(Vec3(*total[3:]), Vec3(*total[:3]))
        return found

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
        return dict(zip(names, self._eliminated(needed), strict=True))

    def free_bodies(self) -> dict[str, list[Expr]]:
        """By link, its six equations (moment x y z, force x y z), zero along a motion, with reactions as unknowns."""
        applied = loads_between_bodies(self.tree)
        found: dict[str, list[Expr]] = {}
        for i, link in enumerate(self.tree.links):
            balance = self.momentum_rates[i] - self.weights[i] - applied.wrench(i) - self._unknown(link.joint.name)
            for child in self.tree.links:
                if child.parent == i:
                    balance = balance + child.motion.transform.force_to_parent(self._unknown(child.joint.name))
            found[link.name] = as_expressions([*balance.moment, *balance.force])
        return found

    def _unknown(self, joint: str) -> Force:
        """The unknown reaction of a joint, less what constraints take of it."""
        return reaction_symbols(joint) - self.held[joint] if joint in self.held else reaction_symbols(joint)

    def objects(self) -> Mapping[str, Any]:
        links = [link.name for link in self.tree.links]
        return {
            "momenta": dict(zip(links, self.momenta, strict=True)),
            "equations of free bodies": self.free_bodies(),
            "reactions": self.reactions(),
        }


def reaction_symbols(joint: str) -> Force:
    """The unknown reaction of a joint."""
    moment = [symbol(f"{joint}.N{axis}", "N*m", f"reaction moment in joint {joint}") for axis in "xyz"]
    force = [symbol(f"{joint}.R{axis}", "N", f"reaction force in joint {joint}") for axis in "xyz"]
    return Force(Vec3(*moment), Vec3(*force))
