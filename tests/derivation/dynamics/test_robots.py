"""Dynamics of reference robots against stored values of Pinocchio 4.1 (MuJoCo and Drake agree with them to 2e-15)."""

from __future__ import annotations

import numpy as np
import pytest

import torseur.derivation.dynamics as td
from robots import ROBOTS, data, our_coordinates, robot
from torseur.derivation.tree import build_tree
from torseur.description.mechanism import Frame

TOLERANCE = 1e-11
STATES = (0, 7, 13, 19)


def relative_error(ours, theirs) -> float:
    theirs = np.asarray(theirs, dtype=float)
    return float(np.max(np.abs(np.asarray(ours, dtype=float) - theirs)) / max(1.0, np.max(np.abs(theirs))))


@pytest.fixture(scope="module", params=ROBOTS)
def case(request):
    return request.param, build_tree(robot(request.param)), data(request.param)


@pytest.fixture(params=STATES)
def state(request, case):
    name, tree, values = case
    k = request.param
    return tree, values, k, our_coordinates(name, values["q"][k]), list(values["v"][k]), list(values["a"][k])


def test_inverse_dynamics(state):
    tree, values, k, q, v, a = state
    assert relative_error(td.inverse_dynamics(tree, q, v, a), values["tau"][k]) < TOLERANCE


def test_bias_and_gravity(state):
    tree, values, k, q, v, _ = state
    assert relative_error(td.bias(tree, q, v), values["nle"][k]) < TOLERANCE
    assert relative_error(td.gravity_forces(tree, q), values["g"][k]) < TOLERANCE


def test_mass_matrix(state):
    tree, values, k, q, _, _ = state
    assert relative_error(td.mass_matrix(tree, q), values["M"][k]) < TOLERANCE


def test_forward_dynamics(state):
    tree, values, k, q, v, _ = state
    assert relative_error(td.forward_dynamics(tree, q, v, list(values["tau_rand"][k])), values["ddq"][k]) < TOLERANCE


def test_coriolis_matrix(state):
    tree, values, k, q, v, _ = state
    assert relative_error(td.coriolis_matrix(tree, q, v), values["C"][k]) < TOLERANCE


def test_energies(state):
    tree, values, k, q, v, _ = state
    assert relative_error(td.kinetic_energy(tree, q, v), values["T"][k]) < TOLERANCE
    assert relative_error(td.gravity_energy(tree, q), values["V"][k]) < TOLERANCE


def test_mass_centre_and_momenta(state):
    tree, values, k, q, v, _ = state
    assert relative_error(list(td.mass_centre(tree, q)), values["com"][k]) < TOLERANCE
    momentum = td.centroidal_momentum(tree, q, v)
    assert relative_error([*momentum.force, *momentum.moment], values["hg"][k]) < TOLERANCE
    columns = [[*column.force, *column.moment] for column in td.momentum_matrix(tree, q)]
    assert relative_error(np.transpose(columns), values["Ag"][k]) < TOLERANCE


def test_regressor(state):
    tree, values, k, q, v, a = state
    assert relative_error(td.regressor(tree, q, v, a), values["Y"][k]) < TOLERANCE


def test_frames(state):
    tree, values, k, q, v, a = state
    for name in values["frames"]:
        frame = Frame(str(name))
        place = td.pose(tree, frame, q)
        expected = values[f"oMf__{name}"][k]
        assert relative_error([list(row) for row in place.rotation.matrix.rows], expected[:3, :3]) < TOLERANCE
        assert relative_error(list(place.position), expected[:3, 3]) < TOLERANCE
        local = [[*column.linear, *column.angular] for column in td.jacobian(tree, frame, q)]
        assert relative_error(np.transpose(local), values[f"J_LOCAL__{name}"][k]) < TOLERANCE
        earth = [td.in_earth_axes(place, column) for column in td.jacobian(tree, frame, q)]
        aligned = np.transpose([[*c.linear, *c.angular] for c in earth])
        assert relative_error(aligned, values[f"J_LWA__{name}"][k]) < TOLERANCE
        speed = td.in_earth_axes(place, td.velocity(tree, frame, q, v))
        assert relative_error([*speed.linear, *speed.angular], values[f"v_LWA__{name}"][k]) < TOLERANCE
        change = td.in_earth_axes(place, td.acceleration(tree, frame, q, v, a))
        assert relative_error([*change.linear, *change.angular], values[f"a_LWA__{name}"][k]) < TOLERANCE
