"""Models in MJCF against MuJoCo; skipped where the package mujoco is absent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import torseur.derivation.dynamics as td
from description.readers.mujoco_peer import Peer
from description.readers.random_mjcf import RandomModel
from strategies import mechanisms
from torseur.algebra.graph import as_expr, evaluate
from torseur.derivation.loops import constraint_equations
from torseur.derivation.tree import build_tree
from torseur.description.language import parse, to_text
from torseur.description.mechanism import EARTH, Mechanism, body, inertia, prismatic, revolute, spherical
from torseur.description.readers import read_robot, write_robot

mujoco = pytest.importorskip("mujoco", reason="the package mujoco is not installed")
pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parent / "samples" / "everything.xml"
KINDS = (
    "revolute",
    "prismatic",
    "cylindrical",
    "universal",
    "spherical",
    "planar",
    "free",
    "fixed",
    "denavit_hartenberg",
)
# Constraints as hard as MuJoCo makes them: a time constant of two steps and its largest impedance.
HARD = '<default><equality solref="0.0002 1" solimp="0.9999 0.9999 0.001 0.5 2"/></default><option timestep="0.0001"'


def test_everything_moves_alike():
    for seed in range(3):
        peer = Peer(SAMPLE, seed)
        assert peer.error_of_inverse_dynamics() < 1e-12
        assert peer.error_of_loads() < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_random_files_move_alike(tmp_path, seed):
    """Inertia, armature, tendons, actuators, replicas: forces to 1e-9; a tied joint is substituted, M = Gᵀ M_all G."""
    random = RandomModel(seed)
    path = tmp_path / "model.xml"
    path.write_text(random.text, encoding="utf-8")
    peer = Peer(path, seed)
    assert peer.error_of_inverse_dynamics() < 1e-9 and peer.error_of_loads() < 1e-9
    peer.draw()
    peer.q[random.follower] = random.ratio * peer.q[random.leader] + random.offset
    peer.data.qpos[peer.model.joint(random.follower).qposadr[0]] = peer.q[random.follower]
    mujoco.mj_forward(peer.model, peer.data)
    tied = read_robot(path).mechanism
    tree = build_tree(tied)
    tree = tree.with_parameters({p.name: float(p.value) for p in tied.parameters if p.value is not None})
    leads = np.zeros((peer.model.nv, len(tree.layout.speeds)))
    for k, name in enumerate(tree.layout.speed_names):
        leads[peer.slots[name], k] = 1.0
    leads[peer.slots[f"{random.follower}'"], tree.layout.speed_names.index(f"{random.leader}'")] = random.ratio
    matrix = leads.T @ peer.mass_matrix() @ leads
    ours = np.array(td.mass_matrix(tree, [peer.q[name] for name in tree.layout.coordinate_names]), float)
    np.testing.assert_allclose(ours, matrix, atol=1e-9 * np.abs(matrix).max())


# Defaults of a class, then an actuator of it: a shortcut keeps the numbers before it, or it does not.
CLASSES = (
    ('<general gainprm="400" biasprm="0 -200 -100" forcerange="-70 70"/>', '<position joint="j"/>'),
    ('<general gainprm="40" biasprm="0 -20 -10" biastype="affine"/>', '<position joint="j" kp="3"/>'),
    ('<general gainprm="40" biasprm="0 -20 -10" gaintype="affine"/>', '<position joint="j"/>'),
    ('<position kp="50" kv="3"/>', '<velocity joint="j"/>'),
    ('<position kp="50" kv="3"/>', '<general joint="j"/>'),
    ('<position kp="50" kv="3"/>', '<motor joint="j"/>'),
    ('<position kp="5" kv="2"/><general gainprm="3"/>', '<position joint="j"/>'),
    ('<position kp="5" kv="2"/><general gainprm="3"/>', '<general joint="j"/>'),
    ('<general gainprm="40" biasprm="0 -20 -10"/>', '<velocity joint="j"/>'),
    ('<general gainprm="40" dynprm="5"/>', '<cylinder joint="j"/>'),
    ('<general dynprm="5" dyntype="filter" biastype="affine" biasprm="1 2 3"/>', '<cylinder joint="j" area="2"/>'),
    ('<general biastype="affine" dyntype="filter" dynprm="2"/>', '<position joint="j" kp="4"/>'),
    ('<velocity kv="3"/><position kp="5"/>', '<velocity joint="j"/>'),
    ('<damper kv="5" ctrlrange="0 1"/>', '<damper joint="j"/>'),
    ("", '<damper joint="j" ctrlrange="0 1"/>'),
    ('<position inheritrange="0.5" kp="2"/>', '<position joint="j" kv="2"/>'),
    ('<muscle force="100" range="0.6 1"/>', '<muscle joint="j" lengthrange="-3 3"/>'),
    ('<general gainprm="2 3 4"/>', '<muscle joint="j" force="9" lengthrange="-3 3"/>'),
)


def test_defaults_of_one_shortcut_meet_actuators_of_another(tmp_path):
    chain, classes, actuators = "", "", ""
    for k, (defaults, actuator) in enumerate(CLASSES):
        joint = f'<joint name="j{k}" axis="0 1 0" range="-1 2"/>'
        chain = f'<body pos="0.1 0 0">{joint}<geom size="0.1"/>{chain}</body>'
        classes += f'<default class="c{k}">{defaults}</default>'
        actuators += actuator.replace('"j"', f'"j{k}" class="c{k}"')
    path = tmp_path / "classes.xml"
    compiler = '<compiler angle="radian"/>'
    path.write_text(
        f"<mujoco>{compiler}<default>{classes}</default><worldbody>{chain}</worldbody>"
        f"<actuator>{actuators}</actuator></mujoco>"
    )
    for seed in range(3):
        assert Peer(path, seed).error_of_loads() < 1e-12


DRIVES = {
    "velocity of a site": '<velocity name="v" site="tip" kv="2" gear="1 2 3 .1 .2 .3"/>',
    "moment of a ball in the child": '<motor name="v" joint="wrist" gear="1 -2 3"/>',
    "servo of a ball's speed in the parent": '<velocity name="v" jointinparent="wrist" kv="2" gear="1 2 -3"/>',
    "wrench on a free body": '<general name="v" joint="base" gainprm="2" biastype="affine" biasprm="0.5 0 -3" gear="1 2 3 .1 .2 .3"/>',
    "wrench in the world's axes": '<motor name="v" jointinparent="base" gear="1 2 3 .1 .2 .3"/>',
    "tendon over a hinge and a slide": '<motor name="v" tendon="rope" gear="2"/>',
}


@pytest.mark.parametrize("drive", DRIVES.values(), ids=DRIVES)
def test_forces_on_sites_balls_and_free_bodies(tmp_path, drive):
    """And their dependence on the speed of what they drive; tendons of hinges and slides together have inertia."""
    path = tmp_path / "model.xml"
    path.write_text(
        f"""<mujoco><worldbody><body name="trunk" pos="0 0 1"><joint name="base" type="free"/><geom type="box" size=".2 .1 .3"/>
<body name="arm" pos=".3 0 0" euler="20 0 50"><joint name="elbow" axis="1 2 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
<body name="slider" pos="0 .2 0"><joint name="slide" type="slide" axis="0 1 1"/><geom size=".1"/>
<body name="hand" pos=".5 0 0" euler="0 40 10"><joint name="wrist" type="ball"/><geom type="ellipsoid" size=".1 .2 .05"/>
<site name="tip" pos=".1 .2 .3" euler="10 20 30"/></body></body></body></body></worldbody>
<tendon><fixed name="rope" armature=".7" stiffness="3" springlength=".1"><joint joint="elbow" coef="2"/><joint joint="slide" coef="-1.5"/></fixed></tendon>
<actuator>{drive}</actuator></mujoco>""",
        encoding="utf-8",
    )
    peer = Peer(path, 1)
    assert not peer.robot.findings_of("not modelled")
    assert peer.error_of_inverse_dynamics() < 1e-12 and peer.error_of_loads() < 1e-12
    again = parse(to_text(peer.robot.mechanism))
    assert len(again.loads) == len(peer.robot.mechanism.loads)


@pytest.mark.parametrize(
    "words",
    ['scale="0.1 0.1 -0.1" refpos="0.1 0.2 0.3"', 'scale="0.1 -0.2 0.3" refpos="0.1 0.2 0.3"',
     'scale="0.2 0.2 0.2" refpos="0.1 0.2 0.3" refquat="1 0.5 0.2 0"'],
)  # fmt: skip
def test_meshes_about_a_reference_frame(tmp_path, words):
    """Mirrored and stretched meshes too: the reference frame is taken away before the scale."""
    path = tmp_path / "mesh.xml"
    path.write_text(
        f"""<mujoco><asset><mesh name="m" vertex="0 0 0 1 0 0 0 2 0 0 0 3" {words}/></asset><worldbody><body>
<joint axis="1 2 3"/><geom type="mesh" mesh="m" density="5000" pos="0.1 0 0" euler="10 20 30"/></body></worldbody></mujoco>"""
    )
    assert Peer(path, 1).error_of_inverse_dynamics() < 1e-9


def test_keyframes_give_the_state_that_mujoco_resets_to(tmp_path):
    """Coordinates and speeds of the key by name; the speeds of balls are those of their own axes in both."""
    random = RandomModel(1)
    path = tmp_path / "model.xml"
    path.write_text(random.text, encoding="utf-8")
    peer = Peer(path)
    peer.draw()
    mujoco.mj_resetDataKeyframe(peer.model, peer.data, 0)
    robot = read_robot(path, mimic=False, keyframe="pose")
    given, layout = {n: float(as_expr(x)) for n, x in robot.mechanism.initial}, build_tree(robot.mechanism).layout
    speeds = [given.get(name, 0.0) for name in layout.speed_names]
    np.testing.assert_allclose(speeds, peer.data.qvel[[peer.slots[name] for name in layout.speed_names]], atol=1e-12)
    joints = [joint for joint in robot.mechanism.joints if joint.coordinates and joint.role != "loop"]
    coordinates = [given.get(c.name, 0.0) for joint in joints for c in joint.coordinates]
    np.testing.assert_allclose(coordinates, peer.data.qpos, atol=1e-12)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(mechanism=mechanisms(max_bodies=6, kinds=KINDS, loads=False, laws=False, body_speeds=False))
def test_random_mechanisms_written_as_mjcf(tmp_path_factory, mechanism):
    """Our mechanism, not the file read back, against MuJoCo's reading of the file."""
    path = tmp_path_factory.mktemp("mjcf") / "robot.xml"
    write_robot(mechanism, path)
    values = {p.symbol: p.value for p in mechanism.parameters if p.value is not None}
    peer = Peer(path)
    if peer.model.nv:
        tree = build_tree(mechanism)
        bound = tree.with_parameters({name: float(values[s]) for name, s in
                                      zip(tree.layout.parameter_names, tree.layout.parameters, strict=True)})  # fmt: skip
        peer.draw()
        order = [peer.slots[name] for name in tree.layout.speed_names]
        theirs = (peer.mass_matrix() @ peer.acceleration + peer.data.qfrc_bias)[order]
        q = [peer.q[name] for name in tree.layout.coordinate_names]
        ours = np.array(td.inverse_dynamics(bound, q, list(peer.v[order]), list(peer.a[order])), float)
        np.testing.assert_allclose(ours, theirs, atol=1e-9 * max(1.0, np.abs(theirs).max()))


def rod(name: str, length: float):
    return body(name, mass=1.5, centre=(length / 2, 0.02, 0), inertia=inertia(0.02, 0.11, 0.12))


def four_bar(closing) -> Mechanism:
    crank, coupler, rocker = rod("crank", 0.5), rod("coupler", 1.2), rod("rocker", 0.9)
    y = (0, 1, 0)
    joints = [
        revolute("j1", EARTH, crank, "q1", y), revolute("j2", crank.at((0.5, 0, 0)), coupler, "q2", y),
        revolute("j3", EARTH.at((1.0, 0, 0)), rocker, "q3", y),
        replace(closing(coupler.at((1.2, 0, 0)), rocker.at((0.9, 0, 0))), role="loop"),
    ]  # fmt: skip
    return Mechanism("four bar", bodies=[crank, coupler, rocker], joints=joints, gravity=(0, 0, -9.81))


def slider_crank() -> Mechanism:
    crank, coupler, slider = rod("crank", 0.4), rod("coupler", 1.0), rod("slider", 0.1)
    y = (0, 1, 0)
    joints = [
        revolute("j1", EARTH, crank, "q1", y), revolute("j2", crank.at((0.4, 0, 0)), coupler, "q2", y),
        prismatic("j3", EARTH, slider, "q3", (1, 0, 0)),
        replace(revolute("close", coupler.at((1.0, 0, 0)), slider, "q4", y), role="loop"),
    ]  # fmt: skip
    return Mechanism("slider crank", bodies=[crank, coupler, slider], joints=joints, gravity=(0, 0, -9.81))


LOOPS = {
    "four bar, hinge": (lambda: four_bar(lambda a, b: revolute("close", a, b, "q4", (0, 1, 0))), {"q1": -0.7}),
    "four bar, ball": (lambda: four_bar(lambda a, b: spherical("close", a, b, "a", "b", "c")), {"q1": -0.7}),
    "slider crank": (slider_crank, {"q1": -0.8}),
}


class Constrained:
    """Our mechanism with loops: closed configurations, and accelerations from M v' + b = Cᵀ λ, C v' = γ."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.tree = build_tree(mechanism)
        self.rows = constraint_equations(self.tree)
        self.names = self.tree.layout.coordinate_names

    def values(self, formulas, q, v) -> np.ndarray:
        return np.array(evaluate(list(formulas), self.tree.bindings(list(q), list(v), 0.0)), dtype=float)

    def jacobian(self, q) -> np.ndarray:
        entries = [entry for row in self.rows for entry in row.row]
        return self.values(entries, q, np.zeros(len(q))).reshape(len(self.rows), -1)

    def closed(self, given: dict[str, float]) -> np.ndarray:
        """The configuration near (given, q2 = 1, q3 = -2 or the slider out) that closes the loop, by Newton's method."""
        q = np.array([given.get(name, {"q2": 1.0, "q3": 1.0 if "slider" in self.tree.mechanism.name else -1.5}[name])
                      if name not in given else given[name] for name in self.names])  # fmt: skip
        moving = [k for k, name in enumerate(self.names) if name not in given]
        for _ in range(50):
            residual = self.values([row.residual for row in self.rows], q, np.zeros(len(q)))
            q[moving] -= np.linalg.lstsq(self.jacobian(q)[:, moving], residual, rcond=None)[0]
        assert np.abs(residual).max() < 1e-12
        return q

    def acceleration(self, q, v) -> np.ndarray:
        matrix = np.array(td.mass_matrix(self.tree, list(q)), dtype=float)
        bias = np.array(td.bias(self.tree, list(q), list(v)), dtype=float)
        c, gamma = self.jacobian(q), self.values([row.gamma for row in self.rows], q, v)
        m = len(self.rows)
        block = np.block([[matrix, -c.T], [c, np.zeros((m, m))]])
        return np.linalg.lstsq(block, np.concatenate([-bias, gamma]), rcond=None)[0][: len(q)]


@pytest.fixture(params=LOOPS)
def loop(request, tmp_path):
    """(our mechanism, a closed state, MuJoCo's model and data)."""
    make, given = LOOPS[request.param]
    mechanism = make()
    path = tmp_path / "robot.xml"
    write_robot(mechanism, path)
    text = path.read_text(encoding="utf-8").replace("<option", HARD, 1)
    model = mujoco.MjModel.from_xml_string(text)
    ours = Constrained(mechanism)
    q = ours.closed(given)
    _, _, axes = np.linalg.svd(ours.jacobian(q))
    v = axes[-1] / axes[-1][ours.names.index("q1")]
    order = [int(model.joint(name).qposadr[0]) for name in ours.names]
    return ours, q, v, model, order


def test_accelerations_of_loops(loop):
    """MuJoCo's constraints are soft: its largest impedance leaves one part in ten thousand."""
    ours, q, v, model, order = loop
    data = mujoco.MjData(model)
    data.qpos[order], data.qvel[order] = q, v
    mujoco.mj_forward(model, data)
    expected = ours.acceleration(q, v)
    assert np.abs(data.qacc[order] - expected).max() < 2e-3 * np.abs(expected).max()


def test_motions_of_loops(loop):
    """0.3 s of motion: ours by Runge-Kutta on accelerations, MuJoCo's with steps of 0.1 ms."""
    ours, q, v, model, order = loop
    data = mujoco.MjData(model)
    data.qpos[order], data.qvel[order] = q, v
    h, until = 0.005, 0.3
    for _ in range(round(until / h)):
        k1 = v, ours.acceleration(q, v)
        k2 = v + h / 2 * k1[1], ours.acceleration(q + h / 2 * k1[0], v + h / 2 * k1[1])
        k3 = v + h / 2 * k2[1], ours.acceleration(q + h / 2 * k2[0], v + h / 2 * k2[1])
        k4 = v + h * k3[1], ours.acceleration(q + h * k3[0], v + h * k3[1])
        q, v = (x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, v), k1, k2, k3, k4, strict=True))
    while data.time < until - 1e-9:
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(data.qpos[order], q, atol=2e-3)
