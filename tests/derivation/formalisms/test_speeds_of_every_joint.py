"""Declared speeds of every kind of joint, described from either side: they are what their words say.

Oracle: the place of the child in the parent, composed here with SciPy from the motions of the description, and its
difference along the rates that the tree gives for the speeds.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import torseur as ts
from torseur.algebra.graph import evaluate, symbols_of
from torseur.derivation.formalisms import certify
from torseur.description.mechanism import Joint

BODIES = """gravity = [1, -9.81, 2] m/s^2 ;
let b = body mass = 2 kg, centre = [0.3, 0.1, 0.2] m, inertia = diag(0.1, 0.2, 0.25) end ;
let c = body mass = 1 kg, centre = [0.2, 0, 0.1] m, inertia = diag(0.1, 0.2, 0.25) end ;
join [1, 0, 0] m @ b and c.frame as tip with revolute(tip) about [0, 0.6, 0.8] end ;
"""
SIDES = {
    "forward": "join [0.1, 0.2, 0] m ++ (0.3 || [1,0,1]) @ earth and [0.4, 0, 0.1] m ++ (0.4 || [0,1,1]) @ b as j with",
    "reversed": "join [0.1, 0.2, 0] m ++ (0.3 || [1,0,1]) @ b to [0.4, 0, 0.1] m ++ (0.4 || [0,1,1]) @ earth as j with",
    "moving": "join [0.1 m * sin(5 1/s * t), 0.2 m, 0] ++ (0.3 || [0,0,1]) @ b to [0.4, 0, 0.1] m @ earth as j with",
}
# CHILD is the body that the speeds are taken in.
JOINTS = {
    "prismatic": "prismatic(s) along [0,0,-1] speeds U = s' end",
    "prismatic oblique": "prismatic(s) along [0,-3,-4] speeds U = -2*s' end",
    "revolute": "revolute(s) about [0,0,-1] speeds U = s' end",
    "helical": "helical(s) about [0,-3,4] speeds U = 2*s', pitch = 0.1 m end",
    "cylindrical": "cylindrical(a, s) about [0,0.6,-0.8] speeds U = s', W = a' end",
    "universal": "universal(a, s) about [-1,0,0] then [0,1,1] speeds U = s', W = a' + 2*s' end",
    "planar": "planar(x, y, a) speeds u, v = velocity in CHILD, r = rotation in CHILD end",
    "translations": "link(x, y, z) dof = [x, y, z] speeds u, v, w = velocity in CHILD end",
    "oblique translations": "link(x, y) dof1 = x along [1,1,0], dof2 = y along [0,-1,0] speeds u = x' + y', v = x' - 2*y' end",
    "angles": "spherical(a, d, e) angles xyz speeds p, q, r = rotation in CHILD end",
    "quaternion": "spherical(e0, e1, e2, e3) speeds p, q, r = rotation in CHILD, angles quaternion end",
    "quaternion rates": "spherical(e0, e1, e2, e3) angles quaternion speeds p = e1' - e0', q = 3*e2', r = 2*e3' + e1' end",
    "quaternion first": "link(e0, e1, e2, e3, x) dof1 = quaternion, dof2 = [x,0,0] speeds p, q, r = rotation in CHILD, u = x' end",
    "free": "free(x, y, z, a, d, e) angles zyx speeds u, v, w = velocity in CHILD, p, q, r = rotation in CHILD end",
    "free, rotation first": "free(x, y, z, a, d, e) angles zxz speeds p, q, r = rotation in CHILD, u, v, w = velocity in CHILD end",
    "free, mixed": "free(x, y, z, a, d, e) angles xyz speeds u = x', v = y', w = z', p, q, r = rotation in CHILD end",
    "free quaternion": "free(x, y, z, e0, e1, e2, e3) angles quaternion speeds u, v, w = velocity in CHILD, p, q, r = rotation in CHILD end",
    "free quaternion, mixed": "free(x, y, z, e0, e1, e2, e3) angles quaternion speeds u = x', v = y', w = z', p, q, r = rotation in CHILD end",
    "free quaternion, rotation first": "free(x, y, z, e0, e1, e2, e3) angles quaternion speeds p, q, r = rotation in CHILD, u, v, w = velocity in CHILD end",
}  # fmt: skip


def place(joint: Joint, values: dict) -> tuple[np.ndarray, Rotation]:
    """The child's joint frame in the parent's."""
    position, turned = np.zeros(3), Rotation.identity()
    used = {x.name for motion in joint.motions for x in symbols_of([motion.amount])}
    quaternion = [values[q.symbol] for q in joint.coordinates if q.name not in used]
    for motion in joint.motions:
        axis = np.array([float(c) for c in evaluate(list(motion.axis), values)])
        axis /= np.linalg.norm(axis)
        (amount,) = evaluate([motion.amount], values)
        if motion.kind == "translation":
            position = position + turned.apply(axis * float(amount))
        elif motion.kind == "rotation":
            turned = turned * Rotation.from_rotvec(axis * float(amount))
        else:
            turned = turned * Rotation.from_quat([*quaternion[1:], quaternion[0]])
    return position, turned


def moving_state(tree, joint: Joint) -> tuple[dict, dict]:
    """A random state, and the coordinates' rates that the tree gives for its speeds."""
    rng = np.random.default_rng(7)
    layout = tree.layout
    values = {x: float(rng.uniform(-1, 1)) for x in (*layout.coordinates, *layout.speeds)} | {ts.TIME: 0.2}
    unit = [x for x in layout.coordinates if str(x.name) in ("e0", "e1", "e2", "e3")]
    length = np.sqrt(sum(values[x] ** 2 for x in unit))
    values |= {x: values[x] / length for x in unit}
    link = next(link for link in tree.links if link.joint.name == joint.name)
    rates = evaluate(list(link.motion.rates), values)
    return values, dict(zip(link.symbols.coordinates, (float(r) for r in rates), strict=True))


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", JOINTS)
def test_speeds_are_what_they_are_called(kind, side):
    text = JOINTS[kind].replace("CHILD", "b" if side == "forward" else "earth")
    mechanism = ts.parse(f"{BODIES} {SIDES[side]} {text} ;")
    tree, joint = ts.build_tree(mechanism), mechanism.joint("j")
    values, rates = moving_state(tree, joint)
    h = 1e-6
    ends = [
        place(joint, values | {q: values[q] + sign * h * rate for q, rate in rates.items()} | {ts.TIME: 0.2 + sign * h})
        for sign in (1, -1)
    ]
    here = place(joint, values)[1]
    velocity = here.inv().apply(ends[0][0] - ends[1][0]) / (2 * h)
    rotation = (ends[1][1].inv() * ends[0][1]).as_rotvec() / (2 * h)
    at_rates = values | {q.rate: rates[q.symbol] for q in joint.coordinates}
    speeds = {str(x.name): values[x] for x in tree.layout.speeds}
    for speed in joint.speeds:
        (by_formula,) = evaluate([speed.value], at_rates)
        assert float(by_formula) == pytest.approx(speeds[speed.name], abs=1e-12)
    for names, quantity in re.findall(r"((?:\w, )*\w) = (velocity|rotation) in", text):
        vector = velocity if quantity == "velocity" else rotation
        named = [name for name in names.split(", ") if name in speeds]  # not the body before them
        # Fewer names than three are for the components that can move: those in the plane, and the turn about its normal.
        components = vector if len(named) == 3 else vector[:2] if len(named) == 2 else vector[2:]
        assert components == pytest.approx([speeds[name] for name in named], abs=1e-8)
    assert side != "reversed" or certify(mechanism).agrees
    assert ts.parse(ts.to_text(mechanism)) == mechanism


def test_falling_body_described_from_below():
    """U = s' along -z of the body, which falls: s grows by g t²/2, and U by g t."""
    text = """gravity = [0, 0, -9.81] m/s^2 ; let b = body mass = 1 kg, inertia = 0 end ;
    join b.frame to earth with prismatic(s) along [0,0,-1] speeds U = s' end ; init s = 2 m, U = 3 m/s ;"""
    motion = ts.simulate(ts.parse(text), until=1, samples=3, rtol=1e-11, outputs=["b.position.z"])
    # b is at -(-s) = +s above the earth: the joint leads from the body down to the earth.
    t = np.array([0, 0.5, 1])
    assert motion["s"] == pytest.approx(2 + 3 * t - 9.81 / 2 * t**2)
    assert motion["U"] == pytest.approx(3 - 9.81 * t)
    assert motion["b.position.z"] == pytest.approx(motion["s"])
