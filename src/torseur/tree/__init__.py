"""The spanning tree of a mechanism: numbering, layout of the state, joint kinematics."""

from torseur.tree.build import build_tree
from torseur.tree.definitions import resolve
from torseur.tree.elementary import Elementary, is_fixed, steps_of
from torseur.tree.joint_kinematics import JointKinematics, JointSymbols
from torseur.tree.layout import Layout
from torseur.tree.pairs import Pair, pair_of
from torseur.tree.reframing import reframed
from torseur.tree.regrouping import regrouped
from torseur.tree.spanning import spanning_tree
from torseur.tree.tree import GROUND, Link, Moving, Snapshot, Tree, far_side

__all__ = [
    "GROUND",
    "Elementary",
    "JointKinematics",
    "JointSymbols",
    "Layout",
    "Link",
    "Moving",
    "Pair",
    "Snapshot",
    "Tree",
    "build_tree",
    "far_side",
    "is_fixed",
    "pair_of",
    "reframed",
    "regrouped",
    "resolve",
    "spanning_tree",
    "steps_of",
]
