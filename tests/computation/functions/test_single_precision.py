"""Equations for single precision. Oracles: the same arm with exact right angles, and double precision."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.computation.functions.generate_sources import module_of
from torseur.computation.functions.single_precision import in_single_precision
from torseur.description.readers import read_robot

LINK = """
<link name="l{k}"><inertial><origin xyz="0.05 0.1 0.2"/><mass value="{mass}"/>
<inertia ixx="0.11" iyy="0.12" izz="0.07" ixy="0.01" ixz="0.02" iyz="0.005"/></inertial></link>
<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/><axis xyz="0 0 1"/>
<origin xyz="0 0.1 0.3" rpy="{angle} 0 0"/><limit effort="1" velocity="1" lower="-3" upper="3"/></joint>"""
AS_SINGLE = float(np.float32(np.pi / 2))  # 1.5707963705062866, as files of many robots have it


def arm(folder, *angles):
    """An arm whose axes are turned by these angles."""
    links = [
        LINK.format(k=k, parent="base" if k == 1 else f"l{k - 1}", mass=4.0 - k, angle=repr(angle))
        for k, angle in enumerate(angles, 1)
    ]
    file = folder / f"arm{hash(angles)}.urdf"
    file.write_text(f'<robot name="arm"><link name="base"/>{"".join(links)}</robot>')
    return ts.derive(read_robot(file).mechanism)


def forward(equations):
    return module_of(equations, ["forward_dynamics"], baked=True).programs[0]


def test_a_right_angle_as_single_precision_holds_it_is_right(tmp_path):
    exact = arm(tmp_path, np.pi / 2, -np.pi / 2, np.pi / 2)
    rounded = arm(tmp_path, AS_SINGLE, -AS_SINGLE, AS_SINGLE)
    single = forward(in_single_precision(rounded))
    assert len(single.operations) == len(forward(exact).operations) < 0.8 * len(forward(rounded).operations)


def test_the_change_is_one_that_single_precision_cannot_tell(tmp_path):
    rounded = arm(tmp_path, AS_SINGLE, -AS_SINGLE, AS_SINGLE)
    random = np.random.default_rng(4)
    exact, single = forward(rounded), forward(in_single_precision(rounded))
    for _ in range(20):
        state = {g.name: list(random.uniform(-1, 1, len(g))) for g in exact.inputs}
        wanted, found = (np.array(p.evaluate(state)[p.outputs[0].name], float) for p in (exact, single))
        assert np.abs(found - wanted).max() < 5e-7 * np.abs(wanted).max()


@pytest.mark.parametrize("angle", [1.5708, 1.570797, np.pi / 2 + 3e-7, 0.3, 5e-8])
def test_other_angles_stay_as_they_are(tmp_path, angle):
    equations = arm(tmp_path, angle, -angle)
    single = in_single_precision(equations)
    assert single.mechanism is equations.mechanism and single.tree is equations.tree and single.few_digits


def test_double_precision_takes_the_file_at_its_word(tmp_path):
    exact, rounded = arm(tmp_path, np.pi / 2, -np.pi / 2), arm(tmp_path, AS_SINGLE, -AS_SINGLE)
    state = {"q": [0.3, -0.8], "v": [1.1, 0.4], "tau": [0.2, 0.5]}
    ours, other = (np.concatenate([*ts.compile(one)(**state).values()]) for one in (rounded, exact))
    assert 1e-9 < np.abs(ours - other).max() / np.abs(other).max() < 1e-6
