"""The loop examples of the source document through the symbolic closure equations.

Oracle: tests/oracles/loops.json (ranks of the printed constraint matrices, computed exactly).
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import torseur.description.mechanism as tm
from derivation.loops import mechanisms as m
from torseur.algebra.graph import evaluate
from torseur.algebra.graph import scalar as s
from torseur.derivation.loops import constraint_equations, loops
from torseur.derivation.tree import build_tree
from torseur.description import library

ORACLE = json.loads((Path(__file__).parents[2] / "oracles" / "loops.json").read_text())


def matrix(mechanism, at):
    """(residuals, constraint matrix) at named coordinates."""
    tree = build_tree(mechanism)
    values = {q: at[q.name] for q in tree.layout.coordinates}
    equations = constraint_equations(tree)
    rows = np.array([evaluate(list(e.row), values) for e in equations], float)
    return np.array(evaluate([e.residual for e in equations], values), float), rows


def rank(rows):
    return np.linalg.matrix_rank(rows, tol=1e-9)


def fold() -> tm.Mechanism:
    """The printed closure of the salt-cellar as equations between its three angles."""
    bodies = [tm.body(n, mass=1, centre=(0, 0, 0), inertia=0) for n in ("fold", "left", "right")]
    q = [tm.Coordinate(f"a{k}") for k in (1, 2, 3)]
    joints = [tm.revolute("crease", tm.EARTH, bodies[0], q[0], m.X), tm.revolute("left", bodies[0], bodies[1], q[1], m.Y),
              tm.revolute("right", tm.EARTH, bodies[2], q[2], m.Y)]  # fmt: skip
    a1, a2, a3 = (c.symbol for c in q)
    closure = (s.cos(a2) - s.cos(a3), s.sin(a1) * s.sin(a2), s.cos(a1) * s.sin(a2) - s.sin(a3))
    ties = [tm.Equation(f"closure{k}", e) for k, e in enumerate(closure, 1)]
    return tm.Mechanism("fold", bodies=bodies, joints=joints, constraints=ties)


BRANCHES = {
    "a1=0,a2=a3 (flat pair)": {"a1": 0, "a2": 0.4, "a3": 0.4},
    "a1=pi,a3=-a2": {"a1": np.pi, "a2": 0.4, "a3": -0.4},
    "a2=a3=0, a1 free": {"a1": 0.7, "a2": 0, "a3": 0},
    "a2=a3=pi, a1 free": {"a1": 0.7, "a2": np.pi, "a3": np.pi},
    "all zero (intersection)": {"a1": 0, "a2": 0, "a3": 0},
    "a1=pi,a2=a3=0 (intersection)": {"a1": np.pi, "a2": 0, "a3": 0},
}


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("make", [fold, m.saliere])
def test_paper_fold_has_the_printed_ranks_on_its_branches(branch, make):
    expected = ORACLE["saliere"]["branches"][branch]
    residual, rows = matrix(make(), BRANCHES[branch])
    assert np.allclose(residual, 0, atol=1e-15)
    assert rank(rows) == expected["rank"]
    assert rows.shape[1] - rank(rows) == expected["dof local"]


def test_paper_fold_has_full_rank_where_it_is_open():
    _, rows = matrix(fold(), {"a1": 0.3, "a2": 0.8, "a3": 1.1})
    assert rank(rows) == ORACLE["saliere"]["generic (unconstrained) rank"]


def test_doctor_reads_the_printed_closure_of_the_fold():
    found = loops(fold())
    assert (found.rank, found.infinitesimal, found.finite, found.branches) == (1, 2, 1, (1, 1))
    assert loops(fold(), {"a1": 0.7}).rank == 2


def test_simplest_is_a_triangle_with_the_motions_of_a_body():
    _, rows = matrix(m.simplest(), {"x": 0, "y": 0, "a1": 0, "q_P": 0, "q_Q": 0, "q_R": 0})
    assert rows.shape[1] == ORACLE["simplest"]["cols"]
    assert rank(rows) == ORACLE["simplest"]["generic rank"]
    assert loops(m.simplest()).finite == ORACLE["simplest"]["my closed triangle (x,y,a1,a2,a3)"]["dof"]


def test_slider_crank_and_four_bar():
    for make, key in ((m.slider_crank, "bielle"), (m.four_bar, "fourbar")):
        at = dict.fromkeys([c.name for joint in make().joints for c in joint.coordinates], 0.0)
        residual, rows = matrix(make(), at)
        assert np.allclose(residual, 0)
        assert (rank(rows), rows.shape[1] - rank(rows)) == (ORACLE[key]["generic rank"], ORACLE[key]["dof"])
    _, flat = matrix(m.flat_parallelogram(), dict.fromkeys(("q_A", "q_B", "q_C", "q_D"), 0.0))
    assert rank(flat) == 1


def test_constant_velocity_joint_has_rank_four():
    aligned = {"alpha1": 0.3, "beta2": 0, "gamma2": 0, "alpha4": 0.3, "z": 1}
    residual, rows = matrix(m.constant_velocity(), aligned)
    expected = ORACLE["homocinetique"]["aligned (beta2=gamma2=0,alpha4=alpha1)"]
    assert np.allclose(residual, 0, atol=1e-15)
    assert (rank(rows), rows.shape[1] - rank(rows)) == (expected["rank"], expected["dof"])


@pytest.mark.parametrize("pose", ["symmetric folded", "unsymmetric folded"])
def test_antenna_mesh_has_rank_five_where_it_is_closed(pose):
    """The oracle's angles are those of flat struts; ours start from a folded pose, so only the ranks are compared."""
    expected = ORACLE["antenna mesh"][pose]
    start = {} if pose == "symmetric folded" else {"q_s0_1a": 0.2, "q_s0_1m": -0.3, "q_s1_2a": -0.1}
    found = loops(m.antenna_strip(1), start)
    assert (found.rank, found.infinitesimal) == (expected["rank"], expected["infinitesimal dof"])
    assert found.generic_rank == ORACLE["antenna mesh"]["random (non admissible) rank"] > found.rank


@pytest.mark.slow
def test_antenna_mesh_is_shaky_where_it_lies_flat():
    """All hinges at zero: a singular configuration with two freedoms more."""
    mesh, expected = library.load("antenna_mesh"), ORACLE["antenna mesh"]["flat deployed"]
    names = [coordinate.name for joint in mesh.joints for coordinate in joint.coordinates]
    found = loops(mesh, dict.fromkeys(names, 0.0))
    assert (found.rank, found.infinitesimal) == (expected["rank"], expected["infinitesimal dof"])


def test_double_antenna_mesh():
    expected = ORACLE["antenna mesh"]["double mesh (4 nodes,5 struts,15 hinges, 2 loops)"]
    found = loops(m.antenna_strip(2))
    assert (found.freedoms, found.rank, found.generic_rank) == (
        expected["joints"],
        expected["rank admissible"],
        expected["rank random"],
    )
