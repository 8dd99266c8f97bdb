"""`torseur doctor`: it tells what is here, its self-test can fail, and its hints install what they name."""

from __future__ import annotations

import json
import shlex

import pytest
from packaging.requirements import Requirement
from typer.testing import CliRunner

from torseur import extras
from torseur.cli.app import app
from torseur.cli.commands.installation import doctor


def test_doctor_finds_a_sound_installation():
    answer = CliRunner().invoke(app, ["doctor", "--json"])
    told = json.loads(answer.stdout)
    assert answer.exit_code == 0
    assert [trial["passed"] for trial in told["self_test"]] == [True] * len(told["self_test"])
    assert {extra["name"] for extra in told["extras"]} == set(extras.PURPOSES)
    assert {backend["name"] for backend in told["backends"]} == {"llvm", "c", "fortran", "cuda"}


def test_a_wrong_answer_fails_the_self_test(monkeypatch):
    monkeypatch.setattr(doctor, "SWING", doctor.SWING * (1 + 1e-4))
    answer = CliRunner().invoke(app, ["doctor"])
    assert answer.exit_code == 1
    assert "a pendulum is back after one swing" in answer.stdout and "FAILED" in answer.stdout


@pytest.mark.parametrize("name", extras.PURPOSES)
def test_hints_name_packages_and_not_this_one(name):
    """They work from a clone, a wheel and an index: pip gets requirements that it understands."""
    pip, install, *requirements = shlex.split(extras.install_command(name))
    assert (pip, install) == ("pip", "install")
    assert requirements and all(Requirement(one).name != "torseur" for one in requirements)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(extras, "_installed", lambda package: None if package == "zarr" else "1.0")
    (sweep,) = [extra for extra in extras.extras() if extra.name == "sweep"]
    assert not sweep.is_there
    answer = CliRunner().invoke(app, ["doctor"])
    assert "zarr missing" in answer.stdout and "pip install 'dask" in answer.stdout
