"""Boltzmann-Hamel: Lagrange's equations for quasi-velocities v = Y q' + y, q' = W v + w.

Principle (Boltzmann, Hamel): Lagrange's equations hold in speeds that are not rates of coordinates, if it is
counted that virtual displacements δπ = Y δq and motions do not commute:

    d/dt ∂T/∂v_k - Σ_i W_ik ∂T/∂q_i - Σ_r γ_rk ∂T/∂v_r = Q_k,      γ_rk = Σ_s c^r_sk v_s + c^r_0k

    T(q, v, t)  kinetic energy in the speeds                          `kinetic_energy`
    ∂T/∂v       momenta of the speeds                                 `momenta`
    W_k         column k of W: the vector field of speed k            `Rates`
    c^r_sk      components of the bracket [W_s, W_k] = Σ_r c^r_sk W_r  `transpositional_coefficients`
    c^r_0k      those of [w + ∂/∂t, W_k]                              there with s = MOTION

The c vanish where speeds are rates of coordinates, and are the structure constants of rigid motions where speeds are
components of a velocity in body axes: those of the cross product for an angular velocity (Euler's equations). M =
∂²T/∂v∂v; b is everything else on the left at constant v, with the potential of gravity; Q the loads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torseur.algebra.graph import Expr, as_expr, directional_derivative, gradient, jacobian
from torseur.algebra.spatial import NULL, UNIT, Motion
from torseur.derivation.dynamics import link_velocities
from torseur.derivation.equations.formulation import Formulation
from torseur.derivation.formalisms.ingredients.coordinate_rates import Rates, components, moves_in_own_axes
from torseur.derivation.formalisms.ingredients.energies import Energies
from torseur.derivation.formalisms.ingredients.matrices import coefficients, dot, hessian
from torseur.derivation.formalisms.ingredients.placements import now
from torseur.derivation.tree import Link

MOTION = -1
"""The index s of what moves when all speeds are zero: w + ∂/∂t."""


@dataclass(frozen=True)
class BoltzmannHamel(Formulation):
    """The kinetic energy in the speeds of the mechanism, with the brackets of its joints."""

    @property
    def name(self) -> str:
        return "boltzmann_hamel"

    @cached_property
    def _rates(self) -> Rates:
        return Rates(self.tree)

    @cached_property
    def _energies(self) -> Energies:
        return Energies(self.tree)

    @cached_property
    def kinetic_energy(self) -> Expr:
        """T(q, v, t) from the twists of the links."""
        total = as_expr(0)
        for link, velocity in zip(self.tree.links, link_velocities(now(self.tree)), strict=True):
            total = total + velocity.dot(link.inertia @ velocity)
        return total / 2

    @cached_property
    def momenta(self) -> list[Expr]:
        """∂T/∂v."""
        return gradient(self.kinetic_energy, self.tree.layout.speeds)

    @cached_property
    def transpositional_coefficients(self) -> dict[tuple[int, int, int], Expr]:
        """c^r_sk by slots (r, s, k), where they are not zero; s is MOTION for what moves without speeds."""
        gamma: dict[tuple[int, int, int], Expr] = {}
        for link in self.tree.links:
            gamma |= self._of_joint(link)
        return gamma

    def _of_joint(self, link: Link) -> dict[tuple[int, int, int], Expr]:
        speeds, start = link.symbols.speeds, link.v.start
        if speeds == link.symbols.natural:
            # Rates of coordinates commute with everything, turns about the axes of a quaternion do not.
            # ω in the axes that turn: [e_x, e_y] = e_z, whatever the coordinates; the joint's other rates commute.
            turns = [Motion(axis, NULL) for axis in UNIT] if link.symbols.quaternion else []
            return _structure_constants(turns, link.v.stop - len(turns))
        if moves_in_own_axes(link):
            return _structure_constants(link.motion.screws, start)
        brackets = [self._bracket(link, k) for k in range(len(speeds))]
        if all(entry.is_zero for bracket in brackets for entry in bracket):
            return {}
        # Components along the fields W_r: the rows of Y are dual to the columns of W.
        forms = jacobian(self._rates.definitions(link), link.symbols.rates)
        named: dict[tuple[int, int, int], Expr] = {}
        for k, bracket in enumerate(brackets):
            components = [as_expr(0)] * len(speeds)
            for (r, i), form in forms.items():
                components[r] = components[r] + form * bracket[i]
            # The bracket is linear in the speeds that make q', and what does not hold any is that of time.
            by_speed, rest = coefficients(components, speeds)
            for r, row in enumerate(by_speed):
                named |= {(start + r, start + s, start + k): entry for s, entry in enumerate(row)}
                named[start + r, MOTION, start + k] = rest[r]
        return {key: value for key, value in named.items() if not value.is_zero}

    def _bracket(self, link: Link, k: int) -> list[Expr]:
        """[V, W_k] with V = q' at constant speeds: the change of W_k along V less that of V along W_k."""
        rates = [as_expr(rate) for rate in link.motion.rates]
        field = [gradient(rate, [link.symbols.speeds[k]])[0] for rate in rates]
        # Brackets of fields on the configuration: [V, W]_i = Σ_j V_j ∂W_i/∂q_j - W_j ∂V_i/∂q_j.
        along_field = directional_derivative(rates, dict(zip(link.symbols.coordinates, field, strict=True)))
        return [a - b for a, b in zip(self._rates.change(field), along_field, strict=True)]

    def mass_matrix(self) -> list[list[Expr]]:
        """∂²T/∂v∂v."""
        return hessian(self.momenta, self.tree.layout.speeds)

    def bias(self) -> list[Expr]:
        """The rate of ∂T/∂v at constant speeds, less ∂T/∂q and plus ∂V/∂q along W, less the terms of the brackets."""
        q = self.tree.layout.joint_coordinates
        gradients = zip(gradient(self._energies.gravity, q), gradient(self.kinetic_energy, q), strict=True)
        along = self._rates.along([potential - kinetic for potential, kinetic in gradients])
        total = [a + b for a, b in zip(self._rates.change(self.momenta), along, strict=True)]
        for (r, s, k), coefficient in self.transpositional_coefficients.items():
            speed = as_expr(1) if s == MOTION else self.tree.layout.speeds[s]
            total[k] = total[k] - coefficient * speed * self.momenta[r]
        return total

    def loads(self) -> list[Expr]:
        return self._energies.generalised_forces(self._rates)

    def objects(self) -> Mapping[str, Any]:
        names = self.tree.layout.speed_names
        labels = {s: name for s, name in enumerate(names)} | {MOTION: "time"}
        return {
            "kinetic energy": self.kinetic_energy,
            "momenta": dict(zip(names, self.momenta, strict=True)),
            "transpositional coefficients": {
                (names[r], labels[s], names[k]): value for (r, s, k), value in self.transpositional_coefficients.items()
            },
        }


def _structure_constants(screws: Sequence[Motion], start: int) -> dict[tuple[int, int, int], Expr]:
    """Components of the brackets of unit screws in body axes: (ω_s, v_s) x (ω_k, v_k) along each screw r."""
    columns = [components(screw) for screw in screws]
    constants: dict[tuple[int, int, int], Expr] = {}
    for s, first in enumerate(screws):
        for k, second in enumerate(screws):
            along = components(first.cross(second))
            constants |= {(start + r, start + s, start + k): dot(column, along) for r, column in enumerate(columns)}
    return {key: value for key, value in constants.items() if not value.is_zero}
