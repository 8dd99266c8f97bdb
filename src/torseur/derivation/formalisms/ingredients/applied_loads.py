"""The loads as formalisms take them: wrenches on links, forces along speeds, and the part that has a potential."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import NO_FORCE, Force
from torseur.derivation.dynamics import load_sum
from torseur.derivation.dynamics.loads.load_wrenches import LoadSum, is_constant
from torseur.derivation.formalisms.ingredients.placements import now
from torseur.derivation.tree import Tree
from torseur.description.mechanism import Bushing, CoordinateSpring, JointWrench, Load, PointSpring


@dataclass(frozen=True)
class AppliedLoads:
    """What the loads do at the state of the tree's own symbols; gravity is not among them.

    `wrenches` act on links, at their origins and in their axes; `generalised` along the speeds; `energy` is
    what springs store.
    """

    wrenches: dict[int, Force]
    generalised: list[Expr]
    energy: Expr

    def wrench(self, link: int) -> Force:
        return self.wrenches.get(link, NO_FORCE)


def applied_loads(tree: Tree) -> AppliedLoads:
    """All loads."""
    return _as_applied_loads(tree, load_sum(now(tree)))


def loads_between_bodies(tree: Tree) -> AppliedLoads:
    """The loads less those that act in a joint, from its parent on its child."""
    loads = tuple(load for load in tree.mechanism.loads if not isinstance(load, JointWrench))
    return applied_loads(replace(tree, mechanism=replace(tree.mechanism, loads=loads)))


def loads_without_potential(tree: Tree) -> AppliedLoads:
    """The loads less the elastic forces that `energy` accounts for: those derive from a potential.

    Springs of constant stiffness keep only their damping; `energy` is still the energy of the whole.
    """
    everything = load_sum(now(tree))
    loads = [_without_potential(load, everything) for load in tree.mechanism.loads]
    # By the mechanism without its springs' stiffness, not by subtracting their forces: nothing is left to cancel.
    rest = load_sum(now(replace(tree, mechanism=replace(tree.mechanism, loads=tuple(loads)))))
    return replace(_as_applied_loads(tree, rest), energy=as_expr(everything.energy))


def _as_applied_loads(tree: Tree, total: LoadSum) -> AppliedLoads:
    generalised = [as_expr(total.generalised.get(k, 0)) for k in range(len(tree.layout.speeds))]
    return AppliedLoads(total.wrenches, generalised, as_expr(total.energy))


def _without_potential(load: Load, total: LoadSum) -> Load:
    """The load less its elastic part, where that part is counted in the stored energy."""
    none = as_expr(0)
    if isinstance(load, Bushing) and is_constant(total, *load.stiffness):
        return replace(load, stiffness=(none,) * 6)
    if isinstance(load, CoordinateSpring) and is_constant(total, load.stiffness, load.rest):
        return replace(load, stiffness=none)
    if isinstance(load, PointSpring) and load.law is None and is_constant(total, load.stiffness, load.rest):
        return replace(load, stiffness=none)
    return load
