"""Kane: generalised inertia forces and active forces are the bodies' forces dotted with partial velocities.

Principle (Kane and Levinson, Dynamics, 1985): F_r + F*_r = 0 for every speed r. The angular velocity of every link
and the velocity of its origin are linear in the speeds; their coefficients are the partial velocities.

    ω, v_O              velocities of a link, in its axes             `velocities`
    ∂ω/∂v_r, ∂v_O/∂v_r  partial velocities                            `partial_velocities`
    α, a                accelerations at constant speeds             `accelerations`
    F_r                 generalised active force: Σ ∂ω/∂v_r · moment + ∂v_O/∂v_r · force
    F*_r                the same of the inertia forces               `inertia_force`

F*_r is linear in v': M_rs = -∂F*_r/∂v_s', b_r = -F*_r at constant speeds less the weights' F_r, Q_r = F_r of the
loads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, jacobian
from torseur.algebra.spatial import Force, Inertia, Motion, Vec3
from torseur.derivation.dynamics import link_poses, link_velocities
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.applied_loads import applied_loads
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates
from torseur.derivation.formalisms.ingredients.placements import now


@dataclass(frozen=True)
class Kane(Formulation):
    """Vectors in the axes of each link; forces are reduced at the link's origin."""

    @property
    def name(self) -> str:
        return "kane"

    @cached_property
    def velocities(self) -> list[Motion]:
        """Angular velocity and velocity of the origin of every link."""
        return link_velocities(now(self.tree))

    @cached_property
    def partial_velocities(self) -> list[dict[int, Motion]]:
        """Per link and speed slot, ∂ω/∂v_r and ∂v_O/∂v_r where they are not zero."""
        return [_partials(velocity, self.tree.layout.speeds) for velocity in self.velocities]

    @cached_property
    def accelerations(self) -> list[Motion]:
        """Angular acceleration and acceleration of the origin at constant speeds: a = dv/dt + ω x v in turning axes."""
        rates = Rates(self.tree)
        changes = []
        for velocity in self.velocities:
            change = rates.change([*velocity.angular, *velocity.linear])
            # No such term for ω: ω x ω = 0.
            turning = velocity.angular.cross(velocity.linear)
            changes.append(Motion(Vec3(*change[:3]), Vec3(*change[3:]) + turning))
        return changes

    def mass_matrix(self) -> list[list[Expr]]:
        """-∂F*_r/∂v_s': the inertia force of partial velocity s, dotted with partial velocity r."""
        n = len(self.tree.layout.speeds)
        total = [[as_expr(0)] * n for _ in range(n)]
        for link, partials in zip(self.tree.links, self.partial_velocities, strict=True):
            for s, partial in partials.items():
                # I ∂V/∂v_s is the momentum that a unit of speed s has, and the inertia force that a unit of its rate
                # takes.
                force = link.inertia @ partial
                for r in partials:
                    if r <= s:
                        total[r][s] = total[s][r] = total[r][s] + partials[r].dot(force)
        return total

    def bias(self) -> list[Expr]:
        """-F*_r at constant speeds, less the active force of the weights."""
        poses = link_poses(now(self.tree))
        forces = []
        for i, link in enumerate(self.tree.links):
            inertial = inertia_force(link.inertia, self.velocities[i].angular, self.accelerations[i])
            forces.append(inertial - weight(link.inertia, poses[i].rotation.to_child(self.tree.gravity)))
        return self._generalised_forces(dict(enumerate(forces)))

    def loads(self) -> list[Expr]:
        """F_r of the loads."""
        applied = applied_loads(self.tree)
        active = self._generalised_forces(applied.wrenches)
        return [a + b for a, b in zip(applied.generalised, active, strict=True)]

    def _generalised_forces(self, forces: Mapping[int, Force]) -> list[Expr]:
        """Σ over links of ∂ω/∂v_r · moment + ∂v_O/∂v_r · force."""
        total = [as_expr(0)] * len(self.tree.layout.speeds)
        for i, force in forces.items():
            for r, partial in self.partial_velocities[i].items():
                total[r] = total[r] + partial.dot(force)
        return total

    def objects(self) -> Mapping[str, Any]:
        names = self.tree.layout.speed_names
        partials = {
            (link.name, names[r]): partial
            for link, row in zip(self.tree.links, self.partial_velocities, strict=True)
            for r, partial in row.items()
        }
        links = [link.name for link in self.tree.links]
        accelerations = self.tree.layout.accelerations
        # b mixes what speeds take with the weights; without gravity it is the first alone, and the difference is the
        # second.
        still = replace(self, tree=replace(self.tree, gravity=Vec3(0, 0, 0)))
        weights = [weightless - b for weightless, b in zip(still.bias(), self.bias(), strict=True)]
        inertia = [
            -sum((m * a for m, a in zip(row, accelerations, strict=True)), as_expr(b))
            for row, b in zip(self.mass_matrix(), still.bias(), strict=True)
        ]
        return {
            "velocities": dict(zip(links, self.velocities, strict=True)),
            "partial velocities": partials,
            "generalised active forces": {
                name: load + own for name, load, own in zip(names, self.loads(), weights, strict=True)
            },
            "generalised inertia forces": dict(zip(names, inertia, strict=True)),
        }


def inertia_force(inertia: Inertia, w: Vec3, acceleration: Motion) -> Force:
    """What an acceleration takes: force m a + α x h + ω x (ω x h), moment I α + ω x I ω + h x a."""
    h, alpha, a = inertia.moment, acceleration.angular, acceleration.linear
    force = a * inertia.mass + alpha.cross(h) + w.cross(w.cross(h))
    return Force(inertia.matrix @ alpha + w.cross(inertia.matrix @ w) + h.cross(a), force)


def weight(inertia: Inertia, gravity: Vec3) -> Force:
    """Gravity on a link, at its origin, with gravity in the link's axes."""
    return Force(inertia.moment.cross(gravity), gravity * inertia.mass)


def _partials(velocity: Motion, speeds: tuple[Expr, ...]) -> dict[int, Motion]:
    components = [as_expr(c) for c in (*velocity.angular, *velocity.linear)]
    columns: dict[int, list[Expr]] = {}
    for (row, r), entry in jacobian(components, speeds).items():
        columns.setdefault(r, [as_expr(0)] * 6)[row] = entry
    return {r: Motion(Vec3(*column[:3]), Vec3(*column[3:])) for r, column in sorted(columns.items())}
