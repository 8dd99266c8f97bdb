"""The spanning tree of a mechanism: numbering, layout of the state, joint kinematics."""

from torseur.derivation.tree.build_tree import build_tree
from torseur.derivation.tree.definitions import resolve
from torseur.derivation.tree.joints.elementary_chain import Elementary, is_fixed, steps_of
from torseur.derivation.tree.joints.joint_kinematics import JointKinematics, JointSymbols
from torseur.derivation.tree.joints.lower_pairs import Pair, pair_of
from torseur.derivation.tree.spanning_tree import spanning_tree, with_stated
from torseur.derivation.tree.state_rates import CoupledStates, coupled_states
from torseur.derivation.tree.transformations.reframing import reframe
from torseur.derivation.tree.transformations.regrouping import regroup
from torseur.derivation.tree.tree import GROUND, Layout, Link, Moving, Snapshot, Tree, far_side

__all__ = [
    "GROUND",
    "CoupledStates",
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
    "coupled_states",
    "far_side",
    "is_fixed",
    "pair_of",
    "reframe",
    "regroup",
    "resolve",
    "spanning_tree",
    "steps_of",
    "with_stated",
]
