"""What `check` says about bodies: impossible only where a motion could tell."""

from __future__ import annotations

import pytest

import torseur as ts
from torseur.presentation.report.compose.account import account

FLAT = "let b = body mass = 1 kg, centre = [0.5, 0, 0] m, inertia = diag(0, 0, {}) end ; join {} with {} end ;"
# Two moments of zero and a third of 0.1 are those of no body; a body that turns about one axis feels one moment alone.
JOINTS = {
    "planar": ("earth and b.frame", "planar(x, y, a)", True),
    "oblique hinge": ("(0.4 || [1,1,0]) @ earth and b.frame", "revolute(a) about [1,2,3]", True),
    "fixed": ("earth and b.frame", "fixed", True),
    "universal": ("earth and b.frame", "universal(a, d)", False),
    "ball": ("earth and b.frame", "spherical(a, d, e)", False),
    "quaternion": ("earth and b.frame", "spherical(e0, e1, e2, e3) angles quaternion", False),
    "moved by time": ("earth and b.frame", "link(a) dof1 = a || [0,0,1], dof2 = t * 1 1/s || [1,0,0], dof3 = a || [0,1,0]", False),
}  # fmt: skip


@pytest.mark.parametrize("case", JOINTS)
def test_a_body_is_impossible_where_its_motion_can_tell(case):
    sides, kind, possible = JOINTS[case]
    warnings = account(ts.parse(FLAT.format(0.1, sides, kind))).warnings
    assert any("cannot exist" in warning for warning in warnings) != possible


def test_a_negative_moment_that_is_felt_is_impossible():
    (warning,) = account(ts.parse(FLAT.format(-0.1, "earth and b.frame", "planar(x, y, a)"))).warnings
    assert "cannot exist: it has a negative moment of inertia (-0.1 kg m²)" in warning
