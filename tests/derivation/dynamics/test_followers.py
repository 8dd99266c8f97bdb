"""Joints that follow coordinates of others: gears, cams, mimic joints and rotors without constraints.

Oracle: the same mechanism with a coordinate of its own for each of these joints, tied by constraints. There every
acceleration comes from M v' + b = Q + Cᵀ λ with matrices of the unconstrained tree, none of which knows of followers.
"""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
import torseur.derivation.dynamics as td
from torseur.algebra.graph import evaluate
from torseur.errors import TorseurError

BODIES = """
param g = 9.81 m/s^2 ; gravity = [0, -g, 0.3*g] ;
let a = body mass = 2 kg, centre = [0.1, 0.2, 0.3], inertia = [[3, 0.1, 0.2], [0.1, 3, 0.05], [0.2, 0.05, 1]] kg*m^2 end ;
let b = body mass = 1 kg, centre = [0.1, -0.2, 0.1], inertia = [[0.3, 0, 0.02], [0, 0.3, 0.05], [0.02, 0.05, 0.2]] kg*m^2 end ;
let c = body mass = 1.5 kg, centre = [0.3, -0.2, 0.1], inertia = diag(0.3, 0.2, 0.4) kg*m^2 end ;
let d = body mass = 0.5 kg, centre = [0.15, -0.2, 0.1], inertia = diag(0.1, 0.2, 0.25) kg*m^2 end ;
let w = body mass = 0, inertia = diag(0, 0, 0.7) kg*m^2 end ;
join earth and a.frame as ja with revolute(q1) about [0, 0.6, 0.8] end ;
join b.frame to [0.3, 0.1, 0.2] @ a as jb with revolute(q2) about [1, 0.2, 0] end ;
init q1 = 0.3, q2 = 0.4, s = 0.2, q1' = 1, s' = 0.5 ;
"""
# jb runs from its child: b is reached against the way it is written. jd follows two joints, one not linearly.
FOLLOWING = (
    BODIES
    + """
join [0.1, 0.5, -0.2] @ b and [0.1, 0, 0] @ c as jc with link() dof1 = 0.1 m along [0,1,0] dof2 = 2*q2 + 0.3 || [0,0,1] end ;
join [0.1, 0.5, -0.2] @ a and [0.1, 0, 0] @ d as jd
    with link(s) dof1 = 0.4 m*q1 + s along [0,1,1] dof2 = -2 1/m*q2*s || [0,1,1] end ;
join earth and w.frame as jw with link() dof = -3*q1 || [0,0,1] end ;
"""
)
TIED = (
    BODIES
    + """
join [0.1, 0.5, -0.2] @ b and [0.1, 0, 0] @ c as jc with link(u) dof1 = 0.1 m along [0,1,0] dof2 = u || [0,0,1] end ;
join [0.1, 0.5, -0.2] @ a and [0.1, 0, 0] @ d as jd with link(s, x, z) dof1 = x + s along [0,1,1] dof2 = z || [0,1,1] end ;
join earth and w.frame as jw with revolute(y) end ;
constrain u = 2*q2 + 0.3 ; constrain x = 0.4 m*q1 ; constrain z = -2 1/m*q2*s ; constrain y = -3*q1 ;
"""
)
Q = {"q1": 0.3, "q2": -0.7, "s": 0.4}
V = {"q1": 0.9, "q2": 1.1, "s": -0.6}
TAU = {"q1": 0.5, "q2": -0.2, "s": 0.8}


def by_name(layout, values):
    return [values[name] for name in layout.coordinate_names]


@pytest.fixture(scope="module")
def following():
    return ts.parse(FOLLOWING)


@pytest.fixture(scope="module")
def tree(following):
    return ts.build_tree(following).with_parameters({"g": 9.81})


@pytest.fixture(scope="module")
def accelerations():
    """q1'', q2'', s'' under TAU from the tied mechanism."""
    tied = ts.build_tree(ts.parse(TIED)).with_parameters({"g": 9.81})
    names = tied.layout.coordinate_names
    q1, q2, s = Q.values()
    p1, p2, r = V.values()
    q = Q | {"u": 2 * q2 + 0.3, "x": 0.4 * q1, "z": -2 * q2 * s, "y": -3 * q1}
    v = V | {"u": 2 * p2, "x": 0.4 * p1, "z": -2 * (p2 * s + q2 * r), "y": -3 * p1}
    state = [by_name(tied.layout, q), by_name(tied.layout, v)]
    matrix = np.array(td.mass_matrix(tied, state[0]), float)
    right = [TAU.get(n, 0.0) for n in names] - np.array(td.bias(tied, *state), float)
    rows, bindings = ts.constraint_equations(tied), tied.bindings(*state, 0.0)
    c = np.array([evaluate(list(row.row), bindings) for row in rows], float)
    gamma = [float(evaluate([row.gamma], bindings)[0]) for row in rows]
    system = np.block([[matrix, c.T], [c, np.zeros((len(rows), len(rows)))]])
    solution = dict(zip(names, np.linalg.solve(system, [*right, *gamma]), strict=False))
    return {name: solution[name] for name in Q}


def test_forward_and_inverse_dynamics(tree, accelerations):
    layout = tree.layout
    assert sorted(layout.coordinate_names) == sorted(Q) and tree.mechanism.constraints == ()
    q, v, tau, expected = (by_name(layout, part) for part in (Q, V, TAU, accelerations))
    np.testing.assert_allclose(np.array(td.forward_dynamics(tree, q, v, tau), float), expected, rtol=1e-12)
    np.testing.assert_allclose(np.array(td.inverse_dynamics(tree, q, v, expected), float), tau, rtol=1e-11)
    matrix = np.array(td.mass_matrix(tree, q), float)
    solved = td.mass_matrix_factors(tree, q).solve(list(matrix @ expected))
    np.testing.assert_allclose(np.array(solved, float), expected, rtol=1e-12)


def test_all_formalisms_agree(following):
    """Also with M, b and Q from the positions alone, differentiated without any recursion."""
    report = ts.certify(following)
    assert report.agrees, str(report)


def test_matrices_that_go_with_them(tree, accelerations):
    q, v, a = (by_name(tree.layout, part) for part in (Q, V, accelerations))
    tau, matrix = np.array(td.inverse_dynamics(tree, q, v, a), float), np.array(td.mass_matrix(tree, q), float)
    coriolis, weight = np.array(td.coriolis_matrix(tree, q, v), float), np.array(td.gravity_forces(tree, q), float)
    np.testing.assert_allclose(matrix @ a + coriolis @ v + weight, tau, rtol=1e-12)
    inertias = [link.inertia for link in tree.at(q, v).links]
    pi = [
        [i.mass, *i.moment, i.matrix.xx, i.matrix.xy, i.matrix.yy, i.matrix.xz, i.matrix.yz, i.matrix.zz]
        for i in inertias
    ]
    np.testing.assert_allclose(
        np.array(td.regressor(tree, q, v, a), float) @ np.array(pi, float).ravel(), tau, rtol=1e-11
    )
    momentum = td.centroidal_momentum(tree, q, v)
    columns = np.array([[*c.moment, *c.force] for c in td.momentum_matrix(tree, q)], float)
    np.testing.assert_allclose(columns.T @ v, np.array([*momentum.moment, *momentum.force], float), rtol=1e-12)
    frame = ts.Frame("d")
    moved = sum(
        (column * float(rate) for column, rate in zip(td.jacobian(tree, frame, q), v, strict=True)),
        td.velocity(tree, frame, q, [0.0] * 3),
    )
    speed = td.velocity(tree, frame, q, v)
    np.testing.assert_allclose([*map(float, moved.linear)], [*map(float, speed.linear)], atol=1e-13)


@pytest.mark.parametrize("linear", [True, False], ids=["by the recursion", "by differentiation"])
def test_derivatives(linear):
    """Central differences of the compiled function."""
    text = FOLLOWING.replace("-2 1/m*q2*s ||", "-2*q2 ||") if linear else FOLLOWING
    kernel = ts.compile(ts.derive(ts.parse(text)), ["inverse_dynamics", "inverse_dynamics/q", "inverse_dynamics/v"])
    rng = np.random.default_rng(3)
    state = dict(zip("qva", rng.uniform(-1, 1, (3, 3)), strict=True))
    given = {"q": state["q"], "v": state["v"], "vdot": state["a"], "p": [9.81]}
    for by in "qv":
        h = 1e-6
        for k in range(3):
            ends = [kernel(**given | {by: given[by] + sign * h * np.eye(3)[k]})["tau"] for sign in (1, -1)]
            column = kernel(**given)[f"dtau_d{by}"].reshape(3, 3)[:, k]
            np.testing.assert_allclose(column, (ends[0] - ends[1]) / (2 * h), atol=2e-8)


def test_reactions(following):
    """What a joint passes on, from free bodies and from virtual motions; both know of the force that a gear takes."""
    equations = ts.derive(following)
    layout = equations.layout
    values = dict(
        zip((*layout.coordinates, *layout.speeds, *layout.accelerations), np.linspace(0.2, 1.0, 9), strict=True)
    )
    values |= {layout.parameters[0]: 9.81}
    one, other = (ts.reactions(equations, method=method) for method in ("newton_euler", "multipliers"))
    for name, reaction in one.items():
        pair = [np.array(evaluate(list(r.components), values), float) for r in (reaction, other[name])]
        np.testing.assert_allclose(*pair, atol=1e-12)


def test_text_says_it(following):
    assert ts.parse(ts.to_text(following)) == following


@pytest.mark.slow
def test_a_follower_in_a_loop():
    """A scissor: two arms that turn by q and -q, the second only by its gear, with a rod between their ends."""
    text = """
    gravity = [0, -9.81, 0] m/s^2 ;
    let l = body rod length = 1 m along [1,0,0], mass = 1 kg end ;
    let r = body rod length = 1 m along [1,0,0], mass = 1 kg end ;
    let t = body rod length = 1.2 m along [1,0,0], mass = 0.5 kg end ;
    join earth and l.frame as a with revolute(q) end ;
    join [0.5, 0, 0] @ earth and r.frame as b with {} end ;
    join [1, 0, 0] @ l and t.frame as c with revolute(u) end ;
    join [0.8, 0, 0] @ r and [0.1, 0, 0] @ t as e with link(z, x) dof1 = z || [0,0,1] dof2 = x along [1,0,0] end ;
    init q = 0.6, q' = 0.3 ;"""
    ways = (
        text.format("link() dof = 2 - q || [0,0,1]"),
        text.format("revolute(y)") + "constrain y = 2 - q ; init y about 1.4 ;",
    )
    one, other = (ts.simulate(ts.derive(ts.parse(way)), 0.4, samples=3) for way in ways)
    np.testing.assert_allclose(one["q"], other["q"], atol=1e-6)
    np.testing.assert_allclose(one["u"], other["u"], atol=1e-6)


REFUSED = {
    "a quaternion": ("spherical(e0, e1, e2, e3) angles quaternion", "link() dof = e1 || [0,0,1]", "part of a quaternion"),
    "declared speeds": ("revolute(q) speeds u = 2*q'", "link() dof = q || [0,0,1]", "declared speeds"),
    "own speeds": ("revolute(q)", "link(s) dof = q + s || [0,0,1] speeds u = 2*s'", "declared speeds"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_followed_is_refused(case):
    leader, follower, reason = REFUSED[case]
    text = "let a = body mass = 1 kg, inertia = 0 end ; let b = body mass = 1 kg, inertia = 0 end ;"
    with pytest.raises(TorseurError, match=reason):
        ts.parse(
            f"{text} join earth and a.frame as j with {leader} end ; join a.frame and b.frame as k with {follower} end ;"
        )
