"""The robot object against stored values of Pinocchio 4.1, one state at a time and many at once."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest

import torseur as ts
from robots import FOLDER, data, our_coordinates

TOLERANCE = 1e-11


@pytest.fixture(scope="module")
def arm():
    return ts.Robot(FOLDER / "ur5_nomesh.urdf", damping=False, friction=False)


@pytest.fixture(scope="module")
def quadruped():
    return ts.Robot(FOLDER / "solo12_nomesh.urdf", base="floating", damping=False, friction=False)


def close(ours, theirs) -> bool:
    theirs = np.asarray(theirs)
    return np.shape(ours) == theirs.shape and np.abs(ours - theirs).max() <= TOLERANCE * max(1.0, np.abs(theirs).max())


# What is called of a robot and a frame, with which stored arguments, and the stored values that it gives.
CALLS = {
    "rnea": (lambda r, _: r.rnea, "q v a", ["tau"]),
    "aba": (lambda r, _: r.aba, "q v tau_rand", ["ddq"]),
    "crba": (lambda r, _: r.crba, "q", ["M"]),
    "coriolis": (lambda r, _: r.coriolis, "q v", ["C"]),
    "gravity": (lambda r, _: r.gravity, "q", ["g"]),
    "com": (lambda r, _: r.com, "q", ["com"]),
    "centroidal": (lambda r, _: r.centroidal, "q v", ["hg"]),
    "centroidal_matrix": (lambda r, _: r.centroidal_matrix, "q", ["Ag"]),
    "regressor": (lambda r, _: r.regressor, "q v a", ["Y"]),
    "rnea_derivatives": (lambda r, _: r.rnea_derivatives, "q v a", ["dtau_dq", "dtau_dv", "M"]),
    "aba_derivatives": (lambda r, _: r.aba_derivatives, "q v tau_rand", ["ddq_dq", "ddq_dv", "Minv"]),
    "fk": (lambda r, f: partial(r.fk, f), "q", ["oMf__FRAME"]),
    "jacobian": (lambda r, f: partial(r.jacobian, f), "q", ["J_LWA__FRAME"]),
    "jacobian in frame axes": (lambda r, f: partial(r.jacobian, f, axes="frame"), "q", ["J_LOCAL__FRAME"]),
    "jacobian_rate": (lambda r, f: partial(r.jacobian_rate, f), "q v", ["dJ_LWA__FRAME"]),
}


def check(robot, name: str, case: str, frame: str) -> None:
    values = data(name)
    make, words, names = CALLS[case]
    function = make(robot, frame)
    states = [
        np.array([our_coordinates(name, q) for q in values["q"]]) if w == "q" else values[w] for w in words.split()
    ]
    expected = [values[n.replace("FRAME", frame)] for n in names]
    for result, wanted in zip(_as_tuple(function(*states)), expected, strict=True):
        assert close(result, wanted), f"{case}, many states"
    for k in (0, 13):
        for result, wanted in zip(_as_tuple(function(*[s[k] for s in states])), expected, strict=True):
            assert close(result, wanted[k]), f"{case}, state {k}"


def _as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.parametrize("case", CALLS)
def test_an_arm(arm, case):
    check(arm, "ur5", case, "tool0")


@pytest.mark.parametrize("case", ["rnea", "aba", "crba", "centroidal_matrix", "fk", "jacobian", "jacobian_rate"])
def test_a_quadruped_that_floats(quadruped, case):
    check(quadruped, "solo12", case, "HR_FOOT")


def test_orders_and_energy(arm):
    values, k = data("ur5"), 3
    q, v = values["q"][k], values["v"][k]
    order = [3, 4, 5, 0, 1, 2]
    assert close(arm.jacobian("tool0", q, order="angular"), values["J_LWA__tool0"][k][order])
    assert close(arm.centroidal(q, v, order="angular"), values["hg"][k][order])
    assert close(arm.energy(q, v), [values["T"][k], values["V"][k]])


def test_what_calls_take(arm):
    values = data("ur5")
    q, v, a, tau = (values[n][0] for n in ("q", "v", "a", "tau"))
    names = arm.coordinate_names
    assert close(arm.rnea(list(q), tuple(v), a), tau)
    assert close(arm.rnea(dict(zip(names, q, strict=True)), v, a), tau)
    assert close(arm.rnea(q, a=a, v=v), tau) and close(arm.rnea(q=q, v=v, a=a), tau)
    place = arm.frame_names.index("tool0")
    assert (arm.fk(place, q) == arm.fk("tool0", q)).all() and (arm.fk(np.int64(place), q=q) == arm.fk(place, q)).all()
    many = arm.rnea(values["q"], v, np.zeros(6))  # one speed for all positions
    assert many.shape == (20, 6) and close(many[0], arm.rnea(q, v, np.zeros(6)))


def test_mistakes(arm):
    zero = np.zeros(6)
    for call, words in (
        (lambda: arm.rnea(zero, zero), "rnea of 'ur5' takes q, v, a: 3 arrays, got 2"),
        (lambda: arm.rnea(np.zeros(5), zero, zero), r"q has shape \(5,\); expected \(6,\) or \(N, 6\)"),
        (lambda: arm.rnea(np.zeros((3, 6)), np.zeros((4, 6)), zero), r"different numbers of states \(3, 4\)"),
        (lambda: arm.rnea({"elbow": 1.0}, zero, zero), "unknown entry of q 'elbow'"),
        (lambda: arm.rnea("home", zero, zero), "q must be numbers"),
        (lambda: arm.fk("tool", zero), "unknown frame or body 'tool'.*Did you mean 'tool0'"),
        (lambda: arm.rnea(zero, zero, vdot=zero), "rnea of 'ur5': unknown argument 'vdot'. Arguments: q, v, a"),
        (lambda: arm.rnea(zero, zero, v=zero), "v is given twice"),
        (lambda: arm.fk(99, zero), "frame 99: expected a name, or a number below"),
        (lambda: arm.fk("2_link", zero), "Did you mean 'wrist_2_link'"),
        (lambda: arm.jacobian("tool0", zero, axes="body"), "axes 'body': expected earth, world, frame, local"),
        (lambda: arm.jacobian("tool0", zero, order="first"), "order 'first': expected linear or angular"),
        (lambda: ts.Robot(arm.mechanism, base="floating"), "base: options are for files"),
    ):
        with pytest.raises(ts.TorseurError, match=words):
            call()


def test_it_is_pickled(arm):
    again = pickle.loads(pickle.dumps(arm))
    q = data("ur5")["q"][0]
    np.testing.assert_array_equal(again.crba(q), arm.crba(q))
    np.testing.assert_array_equal(again.limits, arm.limits)


def test_limits_and_names(arm):
    low, high = arm.limits
    assert arm.nq == arm.nv == 6 and "tool0" in arm.frame_names
    np.testing.assert_allclose(high[2], np.pi, atol=1e-6)
    np.testing.assert_allclose(low, -high)
    assert arm.efforts == dict(zip(arm.coordinate_names, [150, 150, 150, 28, 28, 28], strict=True))


def test_points_that_are_held(arm):
    """Newton's law with the forces, and points that do not accelerate: J a + J' v = 0."""
    values = data("ur5")
    q, v, tau = values["q"], values["v"], values["tau_rand"]
    for turns, rows in ((False, 3), (True, 6)):
        a, force = arm.contact_dynamics(["tool0"], q, v, tau, turns=turns)
        for k in (0, 5):
            jacobian, rate = arm.jacobian("tool0", q[k])[:rows], arm.jacobian_rate("tool0", q[k], v[k])[:rows]
            np.testing.assert_allclose(jacobian @ a[k] + rate @ v[k], 0, atol=1e-9)
            np.testing.assert_allclose(arm.rnea(q[k], v[k], a[k]), tau[k] + jacobian.T @ force[k], atol=1e-7)


def test_live_parameters():
    """A mass that is changed counts in the next call; fixed parameters are those of the description."""
    mechanism = ts.library.load("double_pendulum")
    robot, fixed = ts.Robot(mechanism, live=True), ts.Robot(mechanism)
    q, v, a = np.random.default_rng(0).normal(size=(3, robot.nq))
    np.testing.assert_allclose(robot.rnea(q, v, a), fixed.rnea(q, v, a), rtol=1e-13)
    k = robot.parameter_names.index("m1")
    robot.parameters[k] *= 2
    heavier = ts.Robot(mechanism.with_values(m1=robot.parameters[k]))
    np.testing.assert_allclose(robot.rnea(q, v, a), heavier.rnea(q, v, a), rtol=1e-12)
    np.testing.assert_allclose(robot.rnea(q[None], v[None], a[None])[0], heavier.rnea(q, v, a), rtol=1e-12)
    assert not np.allclose(robot.rnea(q, v, a), fixed.rnea(q, v, a))


MIMIC = """<robot name="hand">
  <link name="palm"/><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="one" type="revolute"><parent link="palm"/><child link="a"/><axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="1" velocity="1"/></joint>
  <joint name="two" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/><limit lower="-1.5" upper="0.5" effort="1" velocity="1"/>
    <mimic joint="one" multiplier="-0.5" offset="0.1"/></joint>
</robot>"""


def test_a_follower_limits_its_leader(tmp_path):
    """-1.5 <= 0.1 - 0.5 q <= 0.5 is -0.8 <= q <= 3.2, and -1 <= q <= 2 besides."""
    path = tmp_path / "hand.urdf"
    path.write_text(MIMIC, encoding="utf-8")
    robot = ts.Robot(path)
    assert robot.nq == 1
    np.testing.assert_allclose(robot.limits, [[-0.8], [2.0]])
    # Both turn about z: 1 (1)² + 1 (1 - 0.5)².
    np.testing.assert_allclose(robot.crba([0.3]), [[1.25]])
    locked = ts.Robot(path, locked={"one": 0.4})
    assert locked.nq == 0
    angle = 0.4 + 0.1 - 0.5 * 0.4
    np.testing.assert_allclose(locked.fk("b", np.zeros(0))[:2, 0], [np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("count", [0, 1, 127, 128, 1000])
def test_many_states_are_each_as_alone(arm, count):
    """States are computed in blocks of a size of their own, and the last block is rarely full."""
    q, v = np.random.default_rng(count).normal(size=(2, count, 6))
    alone = [arm.fk("tool0", x) for x in q]
    assert arm.fk("tool0", q) == pytest.approx(np.array(alone).reshape(count, 4, 4), abs=1e-13)
    shared = np.linspace(-1, 1, 6)
    forces = [arm.rnea(x, shared, y) for x, y in zip(q, v, strict=True)]
    assert arm.rnea(q, shared, v) == pytest.approx(np.array(forces).reshape(count, 6), abs=1e-10)


def test_threads_may_call_at_once(arm):
    """Eight threads, each with its own states, get what one gets."""
    from concurrent.futures import ThreadPoolExecutor

    states = np.random.default_rng(5).normal(size=(8, 5000, 6))
    expected = [arm.crba(q) for q in states]
    with ThreadPoolExecutor(8) as pool:
        assert all(np.array_equal(a, b) for a, b in zip(pool.map(arm.crba, states), expected, strict=True))


def test_values_that_no_motion_depends_on_need_not_be_given():
    """A slide has no use for inertia and mass centre; what does depend on them says so."""
    box = ts.body("box", mass=2)
    slide = ts.Mechanism("slide", bodies=[box], joints=[ts.prismatic("rail", ts.EARTH, box, "x", axis=(1, 0, 0))])
    robot = ts.Robot(slide)
    np.testing.assert_allclose(robot.rnea([0.3], [1.0], [4.0]), [8.0])
    np.testing.assert_allclose(robot.ik({"box": [0.5, 0, 0]}).q, [0.5], atol=1e-8)
    np.testing.assert_allclose(ts.linearise(ts.derive(slide)).mass_matrix, [[2.0]])
    assert ts.generate(ts.derive(slide), "forward_dynamics", target="python", baked=True)
    with pytest.raises(ts.TorseurError, match=r"no value is given for 'box.centre.x'"):
        robot.com([0.0])
