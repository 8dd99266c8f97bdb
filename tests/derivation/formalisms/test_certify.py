"""Every formalism on the same mechanisms: agreement is the oracle, since each starts from its own principle."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

import torseur as ts
import torseur.description.mechanism as tm
from derivation.formalisms.examples import (
    cardan,
    cart_pendulum,
    declared_speeds,
    driven_tree,
    free_body,
    heavy_top,
    planar_vehicle,
    reversed_tree,
)
from robots import robot
from strategies import JOINT_KINDS, mechanisms
from torseur.algebra.graph import UndeterminedFunction, as_expr, scalar, substitute
from torseur.algebra.spatial import Motion, Vec3
from torseur.derivation.formalisms import FORMALISMS, certify, derive
from torseur.derivation.formalisms.certification.comparison import Derivation, difference
from torseur.derivation.formalisms.kane import Kane
from torseur.derivation.tree.joints.joint_kinematics import joint_kinematics
from torseur.description.language import parse
from torseur.errors import MechanismError, TorseurError, UnsupportedError

EXAMPLES = {
    "cart": cart_pendulum(2), "stone quaternion": free_body("quaternion"), "stone declared": free_body("declared"),
    "stone body": free_body("body"), "vehicle": planar_vehicle(), "cardan": cardan(), "top": heavy_top(),
    "driven": driven_tree(), "reversed zyx": reversed_tree("zyx"), "reversed quaternion": reversed_tree("quaternion"),
    "declared": declared_speeds(), "ur5": robot("ur5"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_all_formalisms_agree(name):
    certificate = certify(EXAMPLES[name], points=1)
    assert certificate.agrees and certificate.worst < 1e-40, str(certificate)
    refused = [entry.formalism for entry in certificate.entries if not entry.applies]
    quaternion = any(motion.kind == "quaternion" for joint in EXAMPLES[name].joints for motion in joint.motions)
    assert refused == (["hamilton"] if quaternion else [])


def check(mechanism: tm.Mechanism) -> None:
    certificate = certify(mechanism, points=1)
    assert certificate.agrees, str(certificate)


RANDOM = dict(deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@settings(max_examples=25, **RANDOM)
@given(mechanisms())
def test_random_trees(mechanism):
    check(mechanism)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_hundred_random_trees(part):
    """Ten thousand random mechanisms of every kind are compared with an oracle by `make truth`."""

    @seed(part)
    @settings(max_examples=25, **RANDOM)
    @given(mechanisms())
    def run(mechanism):
        check(mechanism)

    # Expressions hold no cycles; the collector would only walk through all of them, again and again.
    gc.disable()
    try:
        run()
    finally:
        gc.enable()


@pytest.mark.slow
@settings(max_examples=10, **RANDOM)
@given(mechanisms(max_bodies=3, kinds=tuple(k for k in JOINT_KINDS if k != "denavit_hartenberg"), loads=False))
def test_random_trees_described_backwards(mechanism):
    turned = [
        replace(joint, parent=joint.child, child=joint.parent) if not joint.frame_speeds else joint
        for joint in mechanism.joints
    ]
    check(replace(mechanism, joints=tuple(turned)))


def test_small_mechanisms_are_compared_exactly():
    certificate = certify(cart_pendulum(2))
    assert "exactly" in certificate.method
    assert certificate.worst == 0.0


def test_undetermined_functions_are_compared_too():
    friction = UndeterminedFunction("friction", 2, "N")
    mechanism = cart_pendulum(1)
    x = mechanism.joints[0].coordinates[0]
    load = tm.motor("friction", "rail", "x", friction(x.symbol, x.rate))
    certificate = certify(replace(mechanism, loads=(load,)))
    assert certificate.agrees and certificate.worst < 1e-40


def test_a_wrong_formalism_is_found(monkeypatch):
    class Wrong(Kane):
        def bias(self):
            first, *rest = super().bias()
            return [first * (1 + 1e-8), *rest]

    monkeypatch.setitem(FORMALISMS, "kane", Wrong)
    certificate = certify(cart_pendulum(2))
    assert not certificate.agrees
    wrong = [entry.formalism for entry in certificate.entries if entry.difference > certificate.tolerance]
    assert wrong == ["kane"]
    assert "DISAGREE" in str(certificate)


@pytest.mark.slow
def test_wrong_accelerations_are_found(monkeypatch):
    class Wrong(FORMALISMS["recursive"]):
        def acceleration(self):
            return [a + 1 for a in super().acceleration()]

    monkeypatch.setitem(FORMALISMS, "recursive", Wrong)
    assert not certify(cart_pendulum(2)).agrees


@pytest.mark.parametrize("sides", ["earth to b.frame", "b.frame to earth"])
def test_kinematics_that_all_formalisms_share_are_certified_too(sides, monkeypatch):
    """A speed of the wrong sign: M, b and Q of all formalisms agree, what the text declares does not."""
    text = f"""param m = 2 kg ; let b = body mass = m, centre = [1, 2, 3] m, inertia = diag(1, 2, 2.5) end ;
    join {sides} with cylindrical(q, s) about [0, 0, -1] damping(s) = 3 N*s/m speeds U = s' + 0.3 m * q', W = q' end ;"""
    mechanism = parse(text)
    assert certify(mechanism).agrees

    def mirrored(joint, symbols, reverse):
        """The kinematics with -v in place of v, which is a motion as consistent as the right one."""
        right = joint_kinematics(joint, symbols, reverse)
        changed = [as_expr(c) for c in (*right.velocity.angular, *right.velocity.linear, *right.rates)]
        w = substitute(changed, {v: -v for v in symbols.speeds})
        return replace(
            right,
            rates=tuple(w[6:]),
            velocity=Motion(Vec3(*w[:3]), Vec3(*w[3:6])),
            screws=tuple(Motion(-x.angular, -x.linear) for x in right.screws),
            screw_rates=tuple(Motion(-x.angular, -x.linear) for x in right.screw_rates),
        )

    monkeypatch.setattr(sys.modules["torseur.derivation.tree.build_tree"], "joint_kinematics", mirrored)
    certificate = certify(mechanism)
    assert not certificate.agrees and certificate.guilty == ("positions",)


def test_positions_see_every_kind_of_load():
    mechanism = parse(
        """param k = 30 N/m ; gravity = [1, 2, -9] ;
        let a = body box x = 0.3 m, y = 0.5 m, z = 0.2 m, mass = 2 kg at [0.1, -0.2, 0.3] m end ;
        let b = body mass = 1 kg, centre = [0.1, 0.2, 0] m, inertia = diag(1, 2, 2.5) end ;
        join [0.1, 0, 0.3] m ++ (0.4 || [1, 2, 0]) @ a to earth as j with spherical(e0, e1, e2, e3) angles quaternion end ;
        join [0, 0.4, 0] m @ a to [0.1, 0, 0] m @ b as w with cylindrical(q, s) about [1, 2, 3] stiffness(q) = 3 N*m end ;
        apply force [1, 2, 3] N, torque [3, 1, 2] N*m in a on [0.1, 0, 0] m @ b ; apply force [3, 0, 1] N, torque [1, 1, 2] N*m on joint w ;
        apply spring stiffness = k, rest = 0.2 m, damping = 2 N*s/m between [1, 1, 2] m @ earth and [0, 0.3, 0] m @ b ;
        apply spring law = 3 N/m^3 * length^3 + 1 N*s/m * length' between [1, 1, 2] m @ a and [0, 0.3, 0] m @ b ;
        apply bushing stiffness = [1, 1, 2] N/m, torsion = [1, 2, 3] N*m, damping = [5, 5, 5] N*s/m, torsion_damping = [1, 1, 2] N*m*s between a and [0.1, 0, 0] m @ b ;
        apply torque [0, 0, -2 N*m*s * b.rotation.z] on b ; apply force -3 N*s/m * s' on s ;"""
    )
    certificate = certify(mechanism, ["recursive"])
    assert certificate.agrees and certificate.positions.applies


def test_the_table_names_every_formalism_and_why_one_does_not_apply():
    text = str(certify(free_body("quaternion")))
    assert all(name in text for name in FORMALISMS)
    assert "does not apply: momenta need independent coordinates" in text


def test_chosen_formalisms_only():
    certificate = certify(cart_pendulum(1), ["kane", "lagrange"])
    assert [entry.formalism for entry in certificate.entries] == ["kane", "lagrange"]
    assert all(entry.operations > 0 and entry.seconds > 0 for entry in certificate.entries)


def test_unknown_formalism():
    with pytest.raises(TorseurError, match=r"unknown formalism 'lagrage'.*Did you mean 'lagrange'"):
        derive(cart_pendulum(1), "lagrage")
    with pytest.raises(TorseurError, match="unknown formalism 'lagrage'"):
        certify(cart_pendulum(1), ["lagrage"])


def test_hamilton_refuses_quaternions_with_the_reason():
    with pytest.raises(UnsupportedError, match=r"hamilton does not apply to mechanism 'stone'.*Use angles"):
        derive(free_body("quaternion"), "hamilton")


def test_hamilton_takes_any_force_law():
    law = tm.motor("drag", "rail", "x", -3 * tm.Coordinate("x", "m").rate ** 3)
    assert certify(replace(cart_pendulum(1), loads=(law,)), ["recursive", "hamilton"]).worst == 0.0


def test_massless_body_is_named():
    ghost = tm.body("ghost", mass=0, inertia=0)
    mechanism = tm.Mechanism("ghost", bodies=[ghost], joints=[tm.revolute("pin", tm.EARTH, ghost, "q")])
    for formalism in FORMALISMS:
        with pytest.raises(MechanismError, match=r"pin|'q"):
            _ = derive(mechanism, formalism).acceleration


def test_a_formalism_that_gives_no_number_disagrees():
    nothing, reference = (Derivation("x", [value], [1.0], [1.0]) for value in (float("nan"), 1.0))
    assert difference(nothing, reference) == float("inf")


def test_no_formalism_applies():
    with pytest.raises(UnsupportedError, match=r"no formalism applies to mechanism 'stone'"):
        certify(free_body("quaternion"), ["hamilton"])


def test_states_are_drawn_near_the_initial_state():
    """A joint that is defined only around where it starts."""
    arm = tm.body("arm", mass=1, centre=(0, 1, 0), inertia=0)
    q = tm.Coordinate("q")
    cam = (tm.rotation((0, 0, 1), q), tm.translation((0, 1, 0), scalar.sqrt(q.symbol - 3)))
    mechanism = tm.Mechanism(
        "cam", bodies=[arm], joints=[tm.sequence("cam", tm.EARTH, arm, (q,), cam)], initial={"q": 5}
    )
    assert certify(mechanism).worst < 1e-40
    with pytest.raises(TorseurError, match="not real"):
        certify(replace(mechanism, initial=()))


def test_a_coordinate_of_a_cut_joint_has_no_momentum():
    """A screw that closes a loop: the motion is well posed, and Hamilton's equations are not."""
    mechanism = ts.parse("""gravity = [0, 0, -9.81] ;
        let a = body sphere radius = 0.3 m, mass = 2 kg end ; let b = body sphere radius = 0.3 m, mass = 1 kg end ;
        join earth to a.frame as j1 with free(x, y, z, r, s, w) angles zyx end ;
        join earth to b.frame as j2 with revolute(q) about [0, 1, 0] end ;
        join a.frame to [0.2, 0, 0] m @ b as j3 with helical(p) about [0, 0, 1], pitch = -0.14 m, role = loop end ;""")
    assert ts.derive(mechanism, "recursive").constraints
    with pytest.raises(UnsupportedError, match=r"hamilton does not apply.*momentum of its own.*'p' moves has mass"):
        ts.derive(mechanism, "hamilton")
