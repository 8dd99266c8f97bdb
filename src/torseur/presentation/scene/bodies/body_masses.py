"""A body's mass, mass centre and principal inertia in numbers, and whether a real body could have them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from torseur.algebra.graph import Expr
from torseur.algebra.graph.printing import excerpt
from torseur.algebra.spatial import Inertia
from torseur.derivation.tree import resolve
from torseur.derivation.tree.body_constants import body_inertia
from torseur.derivation.tree.flatten import flatten, rebuild
from torseur.description.mechanism import Body
from torseur.presentation.scene.bodies.known_numbers import Numbers

Matrix = NDArray[np.float64]
ROUNDING = 1e-9  # relative error of moments that counts as rounding


@dataclass(frozen=True, eq=False)
class BodyMass:
    """Mass (kg), mass centre (m, body frame) and inertia (kg m², at the mass centre, body axes), where known.

    `formula` is the mass as described.
    """

    name: str
    meaning: str
    mass: float | None
    centre: tuple[float, float, float] | None
    inertia: Matrix | None
    formula: str

    @property
    def principal(self) -> tuple[float, float, float] | None:
        """Principal moments, least first."""
        if self.inertia is None or not self.is_finite:
            return None
        least, middle, largest = np.linalg.eigvalsh(self.inertia)
        return float(least), float(middle), float(largest)

    @property
    def is_finite(self) -> bool:
        """Whether its inertia, where known, is within what numbers can hold."""
        return self.inertia is None or bool(np.all(np.isfinite(self.inertia)))

    @property
    def is_massless(self) -> bool:
        return self.mass == 0 and self.inertia is not None and not np.any(self.inertia)

    def fault(self, felt: Matrix) -> str | None:
        """Why no real body has this inertia: a negative moment, or one larger than the sum of the others.

        `felt` are the directions about which it turns. Where they do not span space, the moments about the others
        are nobody's business: a body in the plane may be said by diag(0, 0, J).
        """
        if self.mass is not None and self.mass < 0:
            return f"its mass is negative ({self.mass:.6g} kg)"
        if not self.is_finite:
            return "its inertia is larger than numbers can be"
        if self.principal is None or self.inertia is None:
            return None
        if len(felt) < 3:
            # Any block without negative eigenvalues is that of a real body: a flat one across the third direction.
            block = felt @ self.inertia @ felt.T
            least = float(np.linalg.eigvalsh(block)[0]) if len(felt) else 0.0
            negative = least < -ROUNDING * np.abs(self.inertia).max()
            return f"it has a negative moment of inertia ({least:.6g} kg m²)" if negative else None
        least, middle, largest = self.principal
        listing = f"{least:.6g}, {middle:.6g}, {largest:.6g} kg m²"
        if least < -ROUNDING * max(largest, 1e-300):
            return f"it has a negative principal moment of inertia ({listing})"
        # I1 + I2 - I3 = 2 ∫ z² dm ≥ 0 for any body, whatever its density.
        if largest > (least + middle) * (1 + ROUNDING) + 1e-300:
            return f"its principal moments ({listing}) break the triangle inequality: one exceeds the sum of the others"
        return None


def body_mass(body: Body, numbers: Numbers) -> BodyMass:
    """The mass account of one body."""
    described = resolved_inertia(body, numbers)
    inertia = numbers.of(described)
    mass = float(inertia.mass) if inertia is not None else numbers.of((described.mass,))
    formula = excerpt(described.mass, 80) if isinstance(described.mass, Expr) else str(described.mass)
    known = float(mass[0]) if isinstance(mass, tuple) else mass
    if inertia is None:
        return BodyMass(body.name, body.meaning, known, None, None, formula)
    centre = tuple(float(c) / known for c in inertia.moment) if known else None
    return BodyMass(body.name, body.meaning, known, centre, central_inertia(inertia), formula)  # type: ignore[arg-type]


def resolved_inertia(body: Body, numbers: Numbers) -> Inertia:
    """A body's inertia at its reference frame, dependent parameters expanded."""
    described = body_inertia(body)
    leaves = flatten(described)
    tree = numbers.tree
    results = iter(resolve(tree.mechanism, tree.definitions, [x for x in leaves if isinstance(x, Expr)]))
    complete: Inertia = rebuild(described, iter([next(results) if isinstance(x, Expr) else x for x in leaves]))
    return complete


def central_inertia(inertia: Inertia) -> Matrix:
    """The inertia matrix moved from the reference frame to the mass centre: I - m (c·c 1 - c cᵀ)."""
    m = inertia.matrix
    matrix = np.array([[m.xx, m.xy, m.xz], [m.xy, m.yy, m.yz], [m.xz, m.yz, m.zz]], dtype=float)
    moment = np.array([float(h) for h in inertia.moment])
    if not float(inertia.mass):
        return matrix
    # `moment` is m c, the first moment, so that m (c·c 1 - c cᵀ) = (h·h 1 - h hᵀ) / m.
    with np.errstate(over="ignore", invalid="ignore"):
        central = matrix - (moment @ moment * np.eye(3) - np.outer(moment, moment)) / float(inertia.mass)
    # A rod about its own axis has no inertia; what the subtraction leaves there would read as a tiny or negative one.
    central[np.abs(central) <= ROUNDING * np.abs(matrix).max(initial=0.0)] = 0.0
    result: Matrix = central
    return result
