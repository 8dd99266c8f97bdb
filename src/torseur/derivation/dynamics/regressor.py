"""The regressor: generalised forces are linear in the inertial parameters."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.spatial import Inertia, Scalar, Symmetric3, Vec3
from torseur.derivation.dynamics.recursion import inertial_force, link_motions
from torseur.derivation.tree import GROUND, Tree

# At the link's origin forces are linear in these ten; about the mass centre they would not be.
PARAMETERS = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def unit_inertias() -> list[Inertia]:
    """The ten inertias with one parameter 1 and the others 0, in the order of PARAMETERS."""
    matrix_order = ("xx", "yy", "zz", "xy", "xz", "yz")
    units = []
    for k, name in enumerate(PARAMETERS):
        matrix = Symmetric3(*(int(name == f"I{c}") for c in matrix_order))
        units.append(Inertia(int(k == 0), Vec3(*(int(k == i) for i in (1, 2, 3))), matrix))
    return units


def regressor(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar], t: Scalar | None = None
) -> list[list[Scalar]]:
    """Y with τ = Y π, where π stacks each link's (m, m c, I at the link's origin) in the order of PARAMETERS.

    Column by column the Newton-Euler recursion with a unit inertia on one link: only its ancestors feel it.
    """
    now = tree.at(q, v, t)
    links, motions = now.links, link_motions(now, vdot, now.gravity)
    rows: list[list[Scalar]] = [[0] * (10 * len(tree)) for _ in tree.layout.speeds]
    # τ = Y π column by column: 10 columns per link, and only the rows of its ancestors are not zero.
    for i in tree.outward():
        for k, unit in enumerate(unit_inertias()):
            force, j = inertial_force(unit, motions[i]), i
            while True:
                for row, screw in zip(tree.links[j].slots, links[j].motion.screws, strict=True):
                    rows[row][10 * i + k] = rows[row][10 * i + k] + screw.dot(force)
                if tree.parent(j) == GROUND:
                    break
                force, j = links[j].motion.transform.force_to_parent(force), tree.parent(j)
    return rows
