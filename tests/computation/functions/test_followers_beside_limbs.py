"""Joints that follow others beside limbs that are alike: forward dynamics undoes inverse dynamics."""

from __future__ import annotations

import numpy as np

import torseur as ts

LINK = '<link name="{0}"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
JOINT = '<joint name="{0}_j" type="continuous"><parent link="{1}"/><child link="{0}"/><origin xyz="{2}"/><axis xyz="0 1 0"/>{3}</joint>'


def humanoid() -> str:
    """Two legs of three joints, and a hand whose second finger mimics the first."""
    links, joints = ["trunk"], []
    for side, y in (("left", 0.2), ("right", -0.2)):
        for k, parent in enumerate(["trunk", f"{side}0", f"{side}1"]):
            links.append(f"{side}{k}")
            joints.append(JOINT.format(f"{side}{k}", parent, f"0 {y if not k else 0} -0.3", ""))
    for name, rule in (("finger", ""), ("thumb", '<mimic joint="finger_j" multiplier="-0.5" offset="0.1"/>')):
        links.append(name)
        joints.append(JOINT.format(name, "trunk", "0.2 0 0.3", rule))
    return f'<robot name="h">{"".join(LINK.format(name) for name in links)}{"".join(joints)}</robot>'


def test_forward_dynamics_undoes_inverse_dynamics(tmp_path):
    (tmp_path / "h.urdf").write_text(humanoid())
    for base in ("fixed", "floating"):
        robot = ts.Robot(tmp_path / "h.urdf", base=base)
        rng = np.random.default_rng(0)
        q = robot.neutral + 0.1 * rng.normal(size=robot.nq)
        if base == "floating":
            q[3:7] /= np.linalg.norm(q[3:7])
        v, a = rng.normal(size=(2, robot.nv))
        tau = robot.rnea(q, v, a)
        np.testing.assert_allclose(robot.aba(q, v, tau), a, atol=1e-11)
        np.testing.assert_allclose(robot.crba(q) @ a + robot.rnea(q, v, 0 * a), tau, atol=1e-11)
