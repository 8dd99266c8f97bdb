"""Public robots against Pinocchio and MuJoCo; skipped where the packages pin, example-robot-data or mujoco are absent.

Every URDF file of example-robot-data is read or refused with a reason; where Pinocchio reads it too, inverse dynamics
agrees. Written as MJCF, the robots that MuJoCo accepts move in it as here.
"""

from __future__ import annotations

import importlib.metadata
import time
from pathlib import Path

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from description.readers.mujoco_peer import Peer
from torseur.derivation.tree import build_tree
from torseur.description.language import parse, to_text
from torseur.description.readers import RobotFileError, read_robot, write_robot
from torseur.errors import UnsupportedError

pytestmark = pytest.mark.slow
TOLERANCE = 1e-9
SPEEDS = ("vx", "vy", "vz", "wx", "wy", "wz")


def robot_files() -> list[Path]:
    try:
        package = importlib.metadata.distribution("example-robot-data")
    except importlib.metadata.PackageNotFoundError:
        return []
    files = [Path(str(package.locate_file(file))) for file in package.files or () if str(file).endswith(".urdf")]
    return sorted(files)


FILES = robot_files()
requires_robots = pytest.mark.skipif(not FILES, reason="the package example-robot-data is not installed")


@pytest.fixture(scope="module")
def pin():
    return pytest.importorskip("pinocchio", reason="the package pin is not installed")


def model_of(pin, file: Path, floating: bool, **options):
    """Pinocchio's model, or None when it refuses the file."""
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    try:
        return pin.buildModelFromUrdf(str(file), *root, **options)
    except (ValueError, RuntimeError):
        return None


def our_state(tree, model, q) -> list[float]:
    """Pinocchio's configuration in our coordinates: angles for (cos, sin), quaternions with names."""
    values = {}
    for j in range(1, model.njoints):
        joint, name = model.joints[j], model.names[j]
        part = q[joint.idx_q : joint.idx_q + joint.nq]
        if joint.nq == 7:
            values |= dict(zip([f"root.{p}" for p in ("x", "y", "z", "qx", "qy", "qz", "qw")], part, strict=True))
        elif joint.nq:  # a mimicking joint has none
            values[name] = part[0] if joint.nq == 1 else np.arctan2(part[1], part[0])
    return [float(values[name]) for name in tree.layout.coordinate_names]


def slots(tree, model) -> list[int]:
    """Pinocchio's slot of each of our speeds."""
    base = {f"root.{speed}": k for k, speed in enumerate(SPEEDS)}
    return [
        base[n] if n in base else model.joints[model.getJointId(n.removesuffix("'"))].idx_v
        for n in tree.layout.speed_names
    ]


@requires_robots
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_inverse_dynamics_agrees_with_pinocchio(pin, file, floating):
    model = model_of(pin, file, floating)
    try:
        robot = read_robot(file, base="floating" if floating else "fixed", mimic=False)
    except RobotFileError as refusal:
        assert model is None, f"Pinocchio reads what we refuse: {refusal}"
        return
    if model is None or model.nv == 0:
        return
    tree = build_tree(robot.mechanism)
    order, data = slots(tree, model), model.createData()
    rng = np.random.default_rng(0)
    for _ in range(2):
        v, a = rng.normal(size=(2, model.nv))
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv))
        theirs = pin.rnea(model, data, q, v, a)[order]
        ours = np.array(td.inverse_dynamics(tree, our_state(tree, model, q), list(v[order]), list(a[order])), float)
        assert np.abs(ours - theirs).max() <= TOLERANCE * np.abs(theirs).max()


@requires_robots
@pytest.mark.parametrize("file", [f for f in FILES if "<mimic" in f.read_text()], ids=lambda file: file.stem)
def test_mimicking_joints_agree_with_pinocchio(pin, file):
    """Pinocchio substitutes mimicking joints too: the same degrees of freedom, forces, mass matrix, accelerations."""
    model = model_of(pin, file, False, mimic=True)
    if model is None:
        return
    tree = build_tree(read_robot(file).mechanism)
    assert tree.mechanism.constraints == () and len(tree.layout.speeds) == model.nv
    order, data, rng = slots(tree, model), model.createData(), np.random.default_rng(1)
    v, a = rng.normal(size=(2, model.nv))
    q = pin.integrate(model, pin.neutral(model), rng.normal(size=model.nv) * 0.3)
    state = [our_state(tree, model, q), list(v[order]), list(a[order])]
    theirs = pin.rnea(model, data, q, v, a)[order]
    ours = np.array(td.inverse_dynamics(tree, *state), float)
    assert np.abs(ours - theirs).max() <= 1e-11 * np.abs(theirs).max()
    matrix = pin.crba(model, data, q)
    matrix = (np.triu(matrix) + np.triu(matrix, 1).T)[np.ix_(order, order)]
    np.testing.assert_allclose(np.array(td.mass_matrix(tree, state[0]), float), matrix, atol=1e-11 * matrix.max())
    back = np.array(td.forward_dynamics(tree, *state[:2], list(ours)), float)
    np.testing.assert_allclose(back, state[2], atol=1e-7 * np.linalg.cond(matrix) ** 0.5)


@requires_robots
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_written_as_mjcf_they_move_as_in_mujoco(tmp_path, file):
    mujoco = pytest.importorskip("mujoco", reason="the package mujoco is not installed")
    try:
        robot = read_robot(file, base="floating", friction_speed=0.01, mimic=False)
        write_robot(robot, tmp_path / "robot.xml", partial=True)
    except (RobotFileError, UnsupportedError) as refusal:
        assert any(word in str(refusal) for word in ("no mass", "no <link>", "unknown link")), refusal
        return
    try:
        peer = Peer(tmp_path / "robot.xml")
    except ValueError as problem:
        assert "inertia" in str(problem)
        assert robot.listed("impossible inertia") or "mjMINVAL" in str(problem)
        return
    assert mujoco.__version__
    assert peer.error_of_inverse_dynamics(robot.mechanism) < TOLERANCE


@requires_robots
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_written_in_the_language_they_move_alike(file):
    try:
        mechanism = read_robot(file, base="floating").mechanism
    except RobotFileError:
        return
    again = parse(to_text(mechanism), "robot.lsd")
    trees = [build_tree(one) for one in (mechanism, again)]
    assert trees[0].layout.speed_names == trees[1].layout.speed_names
    assert len(again.constraints) == len(mechanism.constraints)
    n, m = len(trees[0].layout.speeds), len(trees[0].layout.coordinates)
    rng = np.random.default_rng(2)
    q, v, a = (list(rng.normal(size=size)) for size in (m, n, n))
    for function in (lambda tree: td.inverse_dynamics(tree, q, v, a), lambda tree: td.generalised_loads(tree, q, v)):
        ours, theirs = (np.array(function(tree), float) for tree in trees)
        assert np.abs(ours - theirs).max(initial=0.0) <= 1e-12 * max(1.0, np.abs(ours).max(initial=0.0))


@requires_robots
def test_a_humanoid_with_38_freedoms_takes_less_than_a_second():
    from torseur import derive
    from torseur.computation.functions import program_of

    file = next(file for file in FILES if file.stem == "talos_reduced")
    times = []
    for _ in range(2):
        start = time.process_time()
        robot = read_robot(file, base="floating")
        program = program_of(derive(robot.mechanism, formalism="recursive"), ["forward_dynamics"])
        times.append(time.process_time() - start)
    assert len(program.outputs[0].entries) == 38
    assert min(times) < 1.0
