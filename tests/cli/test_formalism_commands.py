"""`objects` and `reactions`: what is printed is what mechanics says, and mistakes are named."""

from __future__ import annotations

import json

import pytest

PENDULUM, DOUBLE = "library:pendulum", "library:double_pendulum"


def test_kinetic_energy_of_the_pendulum_is_shown(torseur):
    """Oracle: T = m l² θ'² / 2."""
    result = torseur("objects", PENDULUM, "--only", "kinetic energy")
    assert result.exit_code == 0
    assert "kinetic energy = 1/2*m*l^2*theta'^2" in result.stdout


@pytest.mark.parametrize(("formalism", "named"), [
    ("kane", "partial velocities"), ("inertia_tensors", "kinetic tensors K"), ("inertia_tensors", "inertia tensors G"),
    ("dalembert", "Christoffel symbols"), ("gibbs_appell", "Gibbs function"), ("hamilton", "momenta"),
    ("boltzmann_hamel", "transpositional coefficients"), ("lie_group", "twists"), ("newton_euler", "reactions"),
    ("lagrange_multipliers", "multipliers"),
])  # fmt: skip
def test_every_object_can_be_shown(torseur, formalism, named):
    document = json.loads(torseur("objects", DOUBLE, "--formalism", formalism, "--only", named, "--json").stdout)
    assert list(document["objects"]) == [named]


def test_recursive_says_that_it_has_none(torseur):
    assert "without objects" in torseur("objects", PENDULUM, "--formalism", "recursive").stdout


@pytest.mark.parametrize("method", ["newton_euler", "multipliers"])
def test_reaction_of_the_pendulum(torseur, method):
    """Oracle: m (l θ'² + g cos θ) along the rod."""
    result = torseur("reactions", PENDULUM, "--method", method)
    assert result.exit_code == 0
    assert "pivot.force.y = m*(l*theta'^2 + g*cos(theta))" in result.stdout


def test_reactions_say_which_forces_they_leave_out(torseur, tmp_path):
    path = tmp_path / "stopped.lsd"
    path.write_text(
        "let b = body mass = 2 kg, centre = 0, inertia = 0 end ; join earth and b as j with prismatic(z) along [0, 0, 1] "
        "stops 0, 1 restitution 0 end ;", encoding="utf-8",
    )  # fmt: skip
    assert "Without the forces of 'j.lower', 'j.upper': simulate" in torseur("reactions", str(path)).stdout
    assert json.loads(torseur("reactions", str(path), "--json").stdout)["besides"] == ["j.lower", "j.upper"]
    assert "Without" not in torseur("reactions", PENDULUM).stdout


@pytest.mark.slow
def test_undetermined_reactions_are_said(torseur):
    result = torseur("reactions", "library:slider_crank", "--joint", "wrist")
    assert "wrist.force.z is not determined by the motion" in result.stdout
    document = json.loads(torseur("reactions", "library:slider_crank", "--joint", "wrist", "--json").stdout)
    assert set(document["undetermined"]["wrist"]) == {"force.z", "moment.x", "moment.y"}


@pytest.mark.parametrize(("arguments", "code", "words"), [
    (["objects", PENDULUM, "--only", "kinetic enrgy"], 1, "Did you mean 'kinetic energy'?"),
    (["objects", PENDULUM, "--formalism", "lagrang"], 1, "Did you mean 'lagrange'?"),
    (["objects", "library:free_body", "--formalism", "hamilton"], 1, "Use angles there"),
    (["reactions", PENDULUM, "--joint", "pivott"], 1, "Did you mean 'pivot'?"),
    (["reactions", PENDULUM, "--method", "lagrange"], 2, "newton_euler"),
])  # fmt: skip
def test_mistakes_are_named(torseur, arguments, code, words):
    result = torseur(*arguments)
    assert result.exit_code == code and words in result.stderr
    assert "Traceback" not in result.stderr
