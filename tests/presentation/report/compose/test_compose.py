"""Reports composed from mechanisms: what they say is computed again another way."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.description import library
from torseur.presentation.report.compose.account import account
from torseur.presentation.report.compose.compose_report import compose, outputs_for, unit_text
from torseur.presentation.report.compose.make_report import Occasion
from torseur.presentation.report.compose.make_report import content_of as content_of_mechanism
from torseur.presentation.report.page.report_page import render
from torseur.presentation.scene.bodies.body_poses import quaternions
from torseur.presentation.scene.shapes import Ellipsoid

# Undetermined, or at rest where no motion follows from the equations.
MOTIONLESS = {"satellite", "antenna_mesh", "antenna_chain", "antenna_grid", "stretched_four_bar"}
LENGTHS = {"puma560": 2.0, "quadruped": 0.5, "spinning_top": 1.0}


def content_of(name: str, samples: int = 60):
    equations = ts.derive(library.load(name))
    until = LENGTHS.get(name.partition("?")[0], 3.0)
    motion = ts.simulate(equations, until=until, samples=samples, outputs=outputs_for(equations))
    return compose(equations.mechanism, equations, motion), motion


@pytest.fixture(scope="module")
def pendulum():
    return content_of("double_pendulum", 201)


def test_terms_of_every_equation_cancel(pendulum):
    """Oracle: along a motion the terms of an equation of motion add up to zero."""
    content, _ = pendulum
    (expanded,) = [block for block in content.equations if block.title == "Expanded form"]
    for equation in expanded.equations:
        terms = np.array([term.values for term in equation.terms])
        assert np.abs(terms.sum(axis=0)).max() <= 1e-11 * np.abs(terms).max()


def test_terms_name_the_body_they_come_from(pendulum):
    """Oracle: the masses in a term of the double pendulum are those of its bodies."""
    content, _ = pendulum
    (expanded,) = [block for block in content.equations if block.title == "Expanded form"]
    owners = {"m1": "arm", "m2": "blade"}
    for equation in expanded.equations:
        for term in equation.terms:
            assert term.origin.bodies == tuple(body for mass, body in owners.items() if mass in term.formula.text)
    shown = [term.formula.text for term in expanded.equations[0].terms]
    assert any("(m1 + m2)" in text for text in shown), "like inertias are added up"


def test_animation_follows_the_closed_form(pendulum):
    """Oracle: the elbow at (r sin q1, -r cos q1), from the geometry of the arm."""
    content, motion = pendulum
    elbow = content.motion.positions[:, [body.name for body in content.bodies].index("blade")]
    q = motion["q1"]
    assert elbow == pytest.approx(np.stack([5 * np.sin(q), -5 * np.cos(q), 0 * q], axis=1), abs=1e-12)


@pytest.mark.slow
def test_constrained_terms_cancel_with_their_multipliers():
    """Oracle: along a motion the terms of an equation, constraint forces among them, add up to zero."""
    content, _ = content_of("four_bar")
    (expanded,) = [block for block in content.equations if block.title == "Expanded form"]
    for equation in expanded.equations:
        terms = np.array([term.values for term in equation.terms])
        assert np.abs(terms.sum(axis=0)).max() <= 1e-9 * np.abs(terms).max()
    facts = {fact.label: fact.value for fact in content.freedom}
    assert facts["degree of freedom"] == "1" and facts["independent constraints"] == "2"


def test_view_has_gravity_pointing_down(pendulum):
    content, _ = pendulum
    assert content.view.up == pytest.approx((0, 1, 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", [e.name for e in library.entries() if e.name not in (*MOTIONLESS, "car")])  # a minute
def test_every_check_of_the_library_holds(name):
    content, _ = content_of(name)
    assert [check.title for check in content.checks if not check.ok] == []
    assert len(content.checks) >= 3
    assert any(body.shapes for body in content.bodies)
    assert len(render(content).encode()) < 2_000_000


@pytest.mark.slow
def test_twenty_bodies_animate_in_a_small_page():
    content, _ = content_of("pendulum_chain?n=20", 400)
    assert content.motion.positions.shape == (400, 21, 3)
    assert len(render(content).encode()) < 2_000_000


def test_undetermined_mechanism_has_equations_and_no_motion():
    mechanism = library.load("satellite")
    content = compose(mechanism, ts.derive(mechanism))
    assert content.motion is None and content.checks == ()
    assert [block.title for block in content.equations] == ["Intrinsic form", "Recursive form", "Compact form"]
    assert "reflecteur.s" in content.warnings[1]


def test_ellipsoid_of_a_free_body_has_its_inertia():
    """Oracle: inertia of a homogeneous ellipsoid with half axes x, y, z: m (y² + z²) / 5."""
    content, _ = content_of("free_body")
    (solid,) = [shape for shape in content.bodies[1].shapes if isinstance(shape, Ellipsoid)]
    x, y, z = sorted(solid.size)
    assert sorted([(y**2 + z**2) / 5, (x**2 + z**2) / 5, (x**2 + y**2) / 5]) == pytest.approx([1, 2, 2.5])


def rotations(count: int) -> np.ndarray:
    """Random rotation matrices, by orthogonalisation."""
    matrices = np.linalg.qr(np.random.default_rng(0).normal(size=(count, 3, 3)))[0]
    return matrices * np.linalg.det(matrices)[:, None, None]


def test_quaternions_turn_like_their_matrices():
    """Oracle: v + 2 u x (u x v + w v)."""
    special = np.array([np.diag(d) for d in ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])], dtype=float)
    matrices = np.concatenate([special, rotations(50)])
    v = np.array([0.3, -1.2, 0.7])
    for matrix, (w, *u) in zip(matrices, quaternions(matrices), strict=True):
        turned = v + 2 * np.cross(u, np.cross(u, v) + w * v)
        assert turned == pytest.approx(matrix @ v, abs=1e-12)


@pytest.mark.parametrize(
    ("unit", "text"), [("m/s^2", "m s⁻²"), ("N*m", "N m"), ("1", ""), ("kg*m^2", "kg m²"), ("1/s", "s⁻¹")]
)
def test_units_are_typeset(unit, text):
    assert unit_text(unit) == text


def body(**inertia):
    mass = inertia.pop("mass", 1)
    slab = ts.body("slab", mass=mass, centre=(0, 0, 0), inertia=ts.inertia(**inertia), negative=mass < 0)
    # A ball: the body turns any way, and feels all its moments.
    return ts.Mechanism("slab", bodies=[slab], joints=[ts.spherical("pin", ts.EARTH, slab, "a", "b", "c")])


@pytest.mark.parametrize(
    ("mechanism", "word"),
    [
        (body(xx=1, yy=1, zz=3), "triangle inequality"),
        (body(xx=-1, yy=1, zz=1), "negative principal moment"),
        (body(xx=1, yy=1, zz=1, mass=-2), "mass is negative"),
        (body(xx=0, yy=0, zz=0, mass=0), "moves nothing that has mass"),
    ],
)  # fmt: skip
def test_impossible_bodies_are_pointed_out(mechanism, word):
    assert any(word in warning for warning in account(mechanism).warnings)


def test_possible_bodies_are_not():
    assert account(body(xx=1, yy=2, zz=3)).warnings == ()


def test_account_of_a_puma():
    """Oracle: the published masses and the number of joints."""
    found = account(library.load("puma560"))
    assert [one.mass for one in found.bodies] == [0, 17.4, 4.8, 0.82, 0.34, 0.09]
    assert found.degree_of_freedom == 6
    assert {joint.kind for joint in found.joints} == {"revolute"}


def test_what_no_motion_depends_on_is_drawn_at_zero_and_said():
    block = ts.body("block", mass=2, inertia=0)
    rail = ts.prismatic("rail", ts.EARTH, block, "x", axis=(0, 1, 0))
    falling = ts.Mechanism("falling", bodies=[block], joints=[rail], gravity=(0, -9.81, 0))
    page = content_of_mechanism(falling, Occasion(until=1.0))
    assert page.plots and any("does not depend on 'block.centre.x'" in warning for warning in page.warnings)


HANGING = """gravity = [0, -9.81 m/s^2, 0] ;
let b = body mass = 3 kg, centre = [0.3 m, 0.1 m, 0], inertia = diag(0.1 kg*m^2, 0.1 kg*m^2, 0.1 kg*m^2) end ;
join earth and b.frame as p with revolute(q) about [0, 0, 1] {damping} end ;
init q = -pi/2 - atan(1/3) ;
"""


@pytest.mark.parametrize("damping", ["", "damping = 0.3 N*m*s"])
def test_balances_at_rest_hold_within_rounding(damping):
    """The weight's moment cancels but for rounding, and with it every power; neither is a failure."""
    content = content_of_mechanism(ts.parse(HANGING.format(damping=damping)), Occasion(until=1.0))
    assert [check.title for check in content.checks if not check.ok] == []


def test_balances_near_rest_still_fail_when_something_is_wrong(monkeypatch):
    """A billionth of the weight's power is far above rounding."""
    from torseur.derivation.equations.equations import Equations

    right = Equations.power.func
    monkeypatch.setattr(Equations, "power", property(lambda self: right(self) + 1e-9))
    content = content_of_mechanism(ts.parse(HANGING.format(damping="")), Occasion(until=1.0))
    assert any("Power balance" in check.title for check in content.checks if not check.ok)
