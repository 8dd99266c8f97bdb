"""Assembly from rough configurations: success, branches, locked coordinates, and what is said when nothing closes."""

from __future__ import annotations

import numpy as np
import pytest

import torseur.description.mechanism as tm
from derivation.loops import curious as c
from derivation.loops import mechanisms as m
from torseur.derivation.loops import assemble, loops
from torseur.description.language import parse
from torseur.description.mechanism.constraints import driver
from torseur.errors import MechanismError


def test_four_bar_has_two_branches_with_the_crank_held():
    found = assemble(m.four_bar(), {"q_A": 0.3}, locked=["q_A"], starts=40)
    assert found.isolated
    assert len(found.configurations) == 2
    assert found.estimated == 2
    assert all(configuration.coordinates["q_A"] == 0.3 for configuration in found.configurations)


def test_slider_crank_branches_are_the_closed_form():
    """Oracle: with the crank at an angle the piston is at r cos θ ± sqrt(l² - r² sin² θ)."""
    turned = 0.4
    found = assemble(m.slider_crank(), {"q_O": turned}, locked=["q_O"], starts=40)
    x, y = np.cos(turned) * 1 - np.sin(turned) * 2, np.sin(turned) * 1 + np.cos(turned) * 2
    expected = sorted([5 - (x + np.sqrt(20 - y * y)), 5 - (x - np.sqrt(20 - y * y))])
    assert sorted(k.coordinates["q_slide"] for k in found.configurations) == pytest.approx(expected)


def test_the_nearest_configuration_comes_first():
    found = assemble(m.four_bar(), {"q_A": 0.01})
    assert abs(found.configurations[0].coordinates["q_A"]) < 0.05


def too_long() -> tm.Mechanism:
    """Links of 1 + 1 + 1 between hinges 6 apart."""
    d = m.Drawing("too_long")
    d.revolute("A", "earth", "crank", (0, 0, 0))
    d.revolute("B", "crank", "coupler", (1, 0, 0))
    d.revolute("C", "coupler", "rocker", (2, 0, 0))
    d.joints.append(tm.revolute("D", d.frame("rocker", (3, 0, 0)), d.frame("earth", (6, 0, 0)), "q_D"))
    return d.mechanism()


def test_what_cannot_close_is_named_with_its_gap():
    found = assemble(too_long())
    assert not found.found
    assert "loop A-B-C-D is open by 3 m at joint 'C'" in found.explanation
    assert found.gaps[0].distance == pytest.approx(3, rel=1e-6)
    with pytest.raises(MechanismError, match=r"'too_long' cannot close: .*loop A-B-C-D is open by 3 m at joint 'C'"):
        loops(too_long())


def test_only_the_guilty_loop_is_named():
    d = m.Drawing("two_loops")
    d.revolute("A", "earth", "a", (0, 0, 0))
    d.revolute("B", "a", "b", (1, 2, 0))
    d.revolute("C", "b", "c", (4, 3, 0))
    d.revolute("D", "c", "earth", (5, 0, 0))
    d.revolute("E", "earth", "e", (9, 0, 0))
    d.joints.append(tm.revolute("F", d.frame("e", (10, 0, 0)), d.frame("f", (10, 0, 0)), "q_F"))
    d.joints.append(tm.revolute("G", d.frame("f", (11, 0, 0)), d.frame("earth", (15, 0, 0)), "q_G"))
    text = assemble(d.mechanism()).explanation
    assert "E-F-G" in text
    assert "A-B-C-D" not in text


def test_locked_coordinates_that_do_not_fit_are_named():
    text = assemble(m.four_bar(), {"q_A": 3.1, "q_B": 0}, locked=["q_A", "q_B"]).explanation
    assert "not with 'q_A' and 'q_B' held" in text


def test_contradictory_drivers_are_named():
    mechanism = m.four_bar()
    first, second = mechanism.joint("A").coordinates[0], mechanism.joint("D").coordinates[0]
    drivers = [driver("motor1", first, 0.2), driver("motor2", second, 2.5)]
    driven = tm.Mechanism("driven", bodies=mechanism.bodies, joints=mechanism.joints, constraints=drivers)
    with pytest.raises(MechanismError, match=r"motor1.*motor2|motor2.*motor1|do not close together"):
        loops(driven)


def test_a_locked_name_that_does_not_exist_is_refused():
    with pytest.raises(MechanismError, match="unknown coordinate 'q_Z'"):
        assemble(m.four_bar(), locked=["q_Z"])
    with pytest.raises(MechanismError, match="unknown coordinate 'crank'"):
        assemble(m.four_bar(), {"crank": 1})


def test_a_joint_of_a_body_with_itself_and_lost_bodies_are_refused():
    with pytest.raises(MechanismError, match="joint 'A' joins body 'crank' to itself"):
        d = m.Drawing("self")
        d.revolute("A", "crank", "crank", (0, 0, 0))
        d.mechanism()
    d = m.Drawing("lost")
    d.revolute("A", "earth", "crank", (0, 0, 0))
    d.revolute("B", "moon", "rock", (0, 0, 0))
    with pytest.raises(MechanismError, match="no chain of joints leads from the earth to 'moon', 'rock'"):
        loops(d.mechanism())


def test_links_of_no_length_are_examined_all_the_same():
    """A four-bar whose crank has no length: it spins freely, and the rest is a triangle."""
    found = loops(m.four_bar(((0, 0), (0, 0), (3, 2), (5, 0)), "no_crank"))
    assert found.finite == 1


def test_dimensions_without_numbers_are_asked_for():
    length = tm.parameter("reach")
    mechanism = m.four_bar(((0, 0), (length, 2), (4, 3), (5, 0)))
    with pytest.raises(MechanismError, match="'reach' has no value"):
        loops(mechanism)


def test_wrong_bennett_is_open_by_less_than_its_error():
    text = assemble(c.wrong_bennett()).explanation
    assert "loop R1-R2-R3-R4" in text


@pytest.mark.parametrize(("angles", "is_kept"), [((180, -20, -180), True), ((0, 20, 0), True), ((10, 20, 0), False)])
def test_angles_of_a_ball_that_turn_it_the_same_way_are_kept(angles, is_kept):
    """Oracle: about z, x, z the angles (π, -b, -π) are the rotation (0, b, 0); a body between two balls turns about x."""
    mechanism = parse(
        """let bar = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ; join earth and bar.frame with spherical(a, b, c) end ;
        join [1, 0, 0] @ earth and [1, 0, 0] @ bar as far with spherical(p, q, r), role = loop end ;"""
    )
    report = loops(mechanism, dict(zip("abcpqr", np.radians([*angles, 0, 20, 0]), strict=True)))
    assert (not any("do not close" in remark for remark in report.remarks)) is is_kept
