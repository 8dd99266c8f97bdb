"""Frames turned along the joints' axes: fewer operations, the same dynamics as in the frames of the description."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import torseur as ts
from robots import robot
from torseur.algebra.graph import as_expr, evaluate
from torseur.computation.functions.function_requests import programs_of
from torseur.derivation import dynamics as td
from torseur.derivation.tree import reframe, regroup
from torseur.description.readers import read_robot

LINK = (
    '<link name="l{k}"><inertial><origin xyz="0.1 {k}e-2 -0.2" rpy="0.3 0.2 0.{k}"/><mass value="{m}"/>'
    '<inertia ixx="0.1" iyy="0.2" izz="0.15" ixy="0.01" ixz="0.02" iyz="-0.03"/></inertial></link>'
)
JOINT = (
    '<joint name="j{k}" type="{kind}"><parent link="l{p}"/><child link="l{k}"/><origin xyz="0.1 0.2 0.{k}" '
    'rpy="{rpy}"/><axis xyz="{axis}"/><limit lower="-3" upper="3" effort="9" velocity="9"/><dynamics damping="0.4"/></joint>'
)


def oblique(folder, base="floating") -> ts.Equations:
    """Links at odd angles, axes that are no coordinate axes, a sliding joint among them, and a branch."""
    parents = [0, 1, 2, 3, 2, 5, 5]
    axes = ["1 2 0.5", "0 0.6 0.8", "1 0 0", "0.3 -0.2 1", "0 1 0", "1 1 1", "0 0.6 0.8"]
    links = "".join(LINK.format(k=k, m=0.5 + 0.1 * k) for k in range(8))
    joints = "".join(
        JOINT.format(
            k=k + 1,
            p=p,
            kind="prismatic" if k == 3 else "revolute",
            rpy=f"{0.2 * k} {0.5 - 0.1 * k} 0.4",
            axis=axes[k],
        )
        for k, p in enumerate(parents)
    )
    path = folder / "oblique.urdf"
    path.write_text(f'<robot name="oblique">{links}{joints}</robot>')
    return ts.derive(read_robot(path, base=base).mechanism, formalism="recursive")


def values_of(equations: ts.Equations, *entries) -> np.ndarray:
    random = np.random.default_rng(3)
    layout = equations.layout
    symbols = [*layout.coordinates, *layout.speeds, *layout.accelerations]
    state = dict(zip(symbols, random.uniform(-1, 1, len(symbols)).tolist(), strict=True))
    return np.array(evaluate([as_expr(entry) for entry in entries], state), dtype=float)


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_the_same_dynamics_in_fewer_operations(base, tmp_path):
    """Oracle: the recursions in the frames of the description."""
    equations = oblique(tmp_path, base)
    layout = equations.layout
    assert equations.is_reframed
    plain, turned = regroup(equations.tree), equations.regrouped_tree
    state = (layout.coordinates, layout.speeds, layout.accelerations)
    for function in (td.inverse_dynamics, td.forward_dynamics):
        old, new = function(plain, *state), function(turned, *state)
        wanted = values_of(equations, *old)
        assert np.abs(values_of(equations, *new) - wanted).max() < 1e-13 * max(1.0, np.abs(wanted).max())
    masses = [[x for row in td.mass_matrix(tree, layout.coordinates) for x in row] for tree in (plain, turned)]
    assert np.abs(values_of(equations, *masses[0]) - values_of(equations, *masses[1])).max() < 1e-14


def wrist(folder) -> ts.Equations:
    """A light wrist on a long arm at odd angles, with quarter turns written to 11 digits, as robot files have them."""
    rpy = ["1.57079632679 0 0.3", "0.3 0.2 1.57079632679", "0 0 1e-9", "-1.57079632679 0.1 0", "1e-9 1e-9 0"]
    links = LINK.format(k=0, m=9) + LINK.format(k=1, m=5) + LINK.format(k=2, m=4)
    light = LINK.replace("0.1 {k}e-2 -0.2", "1e-3 {k}e-3 0.4").replace("0.01", "1e-8").replace("0.02", "2e-8")
    light = (
        light.replace("-0.03", "1e-8").replace('"0.1"', '"1e-6"').replace('"0.2"', '"2e-6"').replace('"0.15"', '"2e-6"')
    )
    links += "".join(light.format(k=k, m=0.05) for k in (3, 4, 5))
    joints = "".join(
        JOINT.format(k=k + 1, p=k, kind="revolute", rpy=turned, axis="0 0 1" if k % 2 else "0.6 0 0.8")
        for k, turned in enumerate(rpy)
    )
    path = folder / "wrist.urdf"
    path.write_text(f'<robot name="wrist">{links}{joints}</robot>')
    return ts.derive(read_robot(path, base="fixed").mechanism, formalism="recursive")


def test_constants_are_rounded_once(tmp_path):
    """Oracle: the mass matrix in 50 digits from the frames and inertias as they are in the description."""
    equations = wrist(tmp_path)
    layout = equations.layout
    assert equations.is_reframed
    state = dict(zip(layout.coordinates, map(mpmath.mpf, (0.3, -0.4, 0.5, 1.1, -0.7)), strict=True))
    with mpmath.workdps(50):
        found = []
        for tree in (equations.tree, equations.regrouped_tree):
            rows = td.mass_matrix(tree, layout.coordinates)
            found.append(mpmath.matrix([evaluate([as_expr(x) for x in row], state) for row in rows]))
        change = found[1] - found[0]
        assert max(abs(x) for x in change) < 3e-16 * max(abs(x) for x in found[0])
        # The lightest link alone, whose inertia is a millionth of what stands about it in other frames.
        assert abs(change[4, 4] / found[0][4, 4]) < 1e-10


def test_generated_functions_agree_with_the_plain_frames(tmp_path):
    """Loads and derivatives too: M vdot = tau + loads - bias with M and bias of the description's frames."""
    equations = oblique(tmp_path)
    forward, slope = programs_of(equations, ["forward_dynamics", "forward_dynamics/tau"])
    random = np.random.default_rng(5)
    given = {group.name: random.uniform(-1, 1, len(group)).tolist() for group in forward.inputs}
    state = {node: x for group in forward.inputs for node, x in zip(group.nodes, given[group.name], strict=True)}
    rows = td.mass_matrix(regroup(equations.tree), equations.layout.coordinates)
    mass = np.array([evaluate([as_expr(x) for x in row], state) for row in rows], dtype=float)
    rest = np.array(evaluate([*equations.bias, *equations.loads], state), dtype=float)
    n = len(mass)
    wanted = np.linalg.solve(mass, np.array(given["tau"]) + rest[n:] - rest[:n])
    assert np.array(forward.evaluate(given)["vdot"], dtype=float) == pytest.approx(wanted, rel=1e-11, abs=1e-11)
    inverse = np.array(next(iter(slope.evaluate(given).values())), dtype=float).reshape(n, n)
    assert inverse == pytest.approx(np.linalg.inv(mass), rel=1e-10, abs=1e-11)


def test_right_angles_are_left_alone():
    equations = ts.derive(robot("solo12"), formalism="recursive")
    assert reframe(equations.tree) is equations.tree
    assert not equations.is_reframed
