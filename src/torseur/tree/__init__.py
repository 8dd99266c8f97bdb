"""The spanning tree of a mechanism: numbering, layout of the state, joint kinematics."""

from torseur.tree.build import build_tree, resolve
from torseur.tree.joint_kinematics import JointKinematics, JointSymbols
from torseur.tree.layout import Layout
from torseur.tree.spanning import spanning_tree
from torseur.tree.tree import GROUND, Link, Moving, Snapshot, Tree

__all__ = [
    "GROUND",
    "JointKinematics",
    "JointSymbols",
    "Layout",
    "Link",
    "Moving",
    "Snapshot",
    "Tree",
    "build_tree",
    "resolve",
    "spanning_tree",
]
