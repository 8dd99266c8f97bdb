"""Public robots against Pinocchio and MuJoCo; skipped where the packages pin, example-robot-data or mujoco are absent.

Every URDF file of example-robot-data is read or refused with a reason; where Pinocchio reads it too, inverse dynamics
agrees, and so do reduced models with their derivatives. Written as MJCF, the robots that MuJoCo accepts move in it as here.
"""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from counting import calls_of
from description.readers.mujoco_peer import Peer
from torseur.algebra.graph import evaluate
from torseur.computation.functions.function_requests import programs_of
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import build_tree
from torseur.description.language import parse, to_text
from torseur.description.readers import RobotFileError, read_robot, write_robot
from torseur.errors import UnsupportedError

pytestmark = pytest.mark.slow
TOLERANCE = 1e-11
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


def our_derivatives(mechanism, q: dict[str, float], v: dict[str, float], a: dict[str, float]) -> list[np.ndarray]:
    """dτ/dq, dτ/dv, dτ/da = M of the program that is compiled for it, evaluated as a graph."""
    equations = derive(mechanism)
    (program,) = programs_of(equations, ["inverse_dynamics/displacement,v,vdot"])
    layout, n = equations.layout, len(equations.layout.speeds)
    known = dict(zip(layout.coordinates, [q[name] for name in layout.coordinate_names], strict=True))
    known |= dict(zip(layout.speeds, [v[name.removesuffix("'")] for name in layout.speed_names], strict=True))
    known |= dict(zip(layout.accelerations, [a[name.removesuffix("'")] for name in layout.speed_names], strict=True))
    return [np.array(evaluate(list(part.entries), known), float).reshape(n, n) for part in program.outputs]


@requires_robots
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_reduced_models_and_derivatives_agree_with_pinocchio(pin, file):
    """Two of three joints that lead are locked at random values; followers move with theirs.

    Of Pinocchio's model of all joints: q = G p + c, τ = Gᵀ τ_all, and so for the derivatives.
    """
    model = model_of(pin, file, False)
    if model is None or model.nv == 0 or any(joint.nq > 2 for joint in model.joints):
        return
    rng, names = np.random.default_rng(3), list(model.names)[1:]
    mimics = {joint.get("name"): joint.find("mimic") for joint in ElementTree.parse(file).getroot().findall("joint")}
    mimics = {name: one for name, one in mimics.items() if one is not None and {name, one.get("joint")} <= {*names}}
    leaders = [name for name in names if name not in mimics]
    kept = [name for k, name in enumerate(leaders) if k % 3 == 0]
    p, v, a = (dict(zip(kept, rng.normal(size=len(kept)), strict=True)) for _ in range(3))
    locked = {name: rng.normal() for name in leaders if name not in kept}
    leads, q = np.zeros((model.nv, len(kept))), pin.neutral(model)
    for name in names:
        ratio, offset, leader = 1.0, 0.0, name
        while leader in mimics:
            mimic = mimics[leader]
            offset += ratio * float(mimic.get("offset", 0))
            ratio, leader = ratio * float(mimic.get("multiplier", 1)), mimic.get("joint")
        value, joint = ratio * (p | locked)[leader] + offset, model.joints[model.getJointId(name)]
        q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        if leader in kept:
            leads[joint.idx_v, kept.index(leader)] = ratio
    data = model.createData()
    pin.computeRNEADerivatives(model, data, q, leads @ list(v.values()), leads @ list(a.values()))
    theirs = [leads.T @ one @ leads for one in (data.dtau_dq, data.dtau_dv, np.triu(data.M) + np.triu(data.M, 1).T)]
    mechanism = read_robot(file, base="fixed", locked=locked, damping=False, friction=False).mechanism
    order = [kept.index(name.removesuffix("'")) for name in build_tree(mechanism).layout.speed_names]
    scale = max(np.abs(one).max() for one in theirs)
    for one, other in zip(our_derivatives(mechanism, p, v, a), theirs, strict=True):
        np.testing.assert_allclose(one, other[np.ix_(order, order)], rtol=0, atol=1e-11 * scale)


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
        assert robot.findings_of("impossible inertia") or "mjMINVAL" in str(problem)
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
def test_a_humanoid_with_38_freedoms_is_read_and_written_in_few_calls():
    """A million and a half of calls; three million take about half a second."""
    from torseur import derive
    from torseur.computation.functions import program_of

    file = next(file for file in FILES if file.stem == "talos_reduced")
    sizes = []

    def generate():
        robot = read_robot(file, base="floating")
        program = program_of(derive(robot.mechanism, formalism="recursive"), ["forward_dynamics"])
        sizes.append(len(program.outputs[0].entries))

    assert calls_of(generate) < 3_000_000
    assert sizes == [38]
