"""`torseur generate`: files a user can take away, and clear words when it cannot be done."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.description import library

DOUBLE = "library:double_pendulum"
FILES = {
    "c": ["double_pendulum.c", "double_pendulum.h"],
    "cpp": ["double_pendulum.hpp"],
    "fortran": ["double_pendulum.f90"],
    "python": ["double_pendulum.py"],
    "jax": ["double_pendulum.py"],
    "controller": ["CMakeLists.txt", "double_pendulum.c", "double_pendulum.h", "example.c", "microcontroller.c"],
    "matlab": [
        "+double_pendulum/inverse_dynamics.m", "+double_pendulum/mass_matrix.m", "+double_pendulum/parameters.m",
    ],
}  # fmt: skip


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())


@pytest.mark.parametrize("target", FILES)
def test_every_target(torseur, target):
    result = torseur("generate", DOUBLE, "--function", "inverse_dynamics,mass_matrix", "--target", target, "-o", "out")
    assert result.exit_code == 0, result.stderr
    assert written("out") == FILES[target]
    assert "inverse_dynamics: 54 operations" in result.stdout and "written: out" in result.stdout


def test_python_source_gives_the_inverse_dynamics(torseur):
    """Oracle: M v' + b of the equations, evaluated on the graph."""
    torseur("generate", DOUBLE, "--function", "inverse_dynamics/q,v,inverse_dynamics", "--target", "python", "-o", ".")
    namespace = {}
    exec(Path("double_pendulum.py").read_text(), namespace)
    q, v, vdot = [0.3, -0.2], [1.0, 0.5], [0.2, 0.1]
    tau = namespace["inverse_dynamics"](q, v, vdot, namespace["parameters"])
    equations = ts.derive(library.load("double_pendulum"))
    kernel = ts.compile(equations, ["mass_matrix", "bias"], backend="python")
    parts = kernel(q=q, v=v, p=namespace["parameters"])
    assert np.allclose(tau, parts["mass_matrix"] @ vdot + parts["bias"], rtol=1e-13)
    by_q, by_v = namespace["inverse_dynamics_by_q_v"](q, v, vdot, namespace["parameters"])
    step = 1e-6 * np.array([1.0, 0.0])
    sides = [namespace["inverse_dynamics"](q + sign * step, v, vdot, namespace["parameters"]) for sign in (1, -1)]
    assert np.allclose(by_q[:, 0], (sides[0] - sides[1]) / 2e-6, rtol=1e-6, atol=1e-6)
    assert by_v.shape == (2, 2)


def test_values_can_be_changed_and_baked(torseur):
    torseur("generate", DOUBLE, "--target", "python", "-o", ".", "--set", "m1=3 kg", "--function", "mass_matrix")
    live = {}
    exec(Path("double_pendulum.py").read_text(), live)
    assert live["parameters"][1] == 3.0
    options = ["--set", "m1=3 kg", "--bake", "--force", "--function", "mass_matrix"]
    assert torseur("generate", DOUBLE, "--target", "python", "-o", ".", *options).exit_code == 0
    baked = {}
    exec(Path("double_pendulum.py").read_text(), baked)
    assert np.allclose(baked["mass_matrix"]([0.1, 0.2]), live["mass_matrix"]([0.1, 0.2], live["parameters"]))


def test_what_is_written_by_default(torseur):
    """All that an open, and a closed mechanism has."""
    document = json.loads(torseur("generate", DOUBLE, "--target", "c", "-o", "a", "--json").stdout)
    names = [function["name"] for function in document["functions"]]
    assert names == ["inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "energies"]
    assert document["functions"][0]["inputs"] == {"q": 2, "v": 2, "vdot": 2, "p": 5}
    assert document["written"] == ["a/double_pendulum.h", "a/double_pendulum.c"]
    document = json.loads(torseur("generate", "library:four_bar", "--target", "c", "-o", "b", "--json").stdout)
    assert "constraint_jacobian" in [function["name"] for function in document["functions"]]


@pytest.mark.slow
def test_fmu(torseur):
    if find_compiler() is None:
        pytest.skip("no C compiler is installed")
    result = torseur(
        "generate", DOUBLE, "--target", "fmu", "-o", "out", "--output", "kinetic_energy", "--init", "q1=30 deg"
    )
    assert result.exit_code == 0, result.stderr
    assert written("out") == ["double_pendulum.fmu"]
    text = zipfile.ZipFile("out/double_pendulum.fmu").read("modelDescription.xml").decode()
    assert 'name="kinetic_energy"' in text and 'start="0.523598' in text


MISTAKES = {
    "function": (["--target", "c", "--function", "inverse_dynamic"], 1, "Did you mean 'inverse_dynamics'"),
    "by": (["--target", "c", "--function", "bias/w"], 1, "unknown input 'w'"),
    "target": (["--target", "cobol"], 2, "cobol"),
    "init": (["--target", "c", "--init", "q1=1"], 2, "--init applies only with --target fmu"),
    "fmu": (["--target", "fmu", "--function", "bias"], 2, "--function does not apply with --target fmu"),
    "parameter": (["--target", "c", "--set", "m9=1"], 1, "unknown parameter 'm9'"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(torseur, case):
    options, code, words = MISTAKES[case]
    result = torseur("generate", DOUBLE, "-o", "out", *options)
    assert result.exit_code == code
    assert words in result.stderr and "Traceback" not in result.stderr
    assert not Path("out").exists() or not written("out")


def test_nothing_is_replaced_unasked(torseur):
    Path("double_pendulum.py").write_text("mine")
    result = torseur("generate", DOUBLE, "--target", "python", "-o", ".")
    assert result.exit_code == 1 and "--force" in result.stderr
    assert Path("double_pendulum.py").read_text() == "mine"
    Path("file").write_text("")
    result = torseur("generate", DOUBLE, "--target", "c", "-o", "file")
    assert result.exit_code == 1 and "'file' is a file" in result.stderr


def test_an_fmu_without_a_compiler_says_so(torseur, monkeypatch, tmp_path):
    monkeypatch.setattr("torseur.computation.codegen.targets.fmu.fmu_archive.find_compiler", lambda: None)
    result = torseur("generate", "library:pendulum", "--target", "fmu", "-o", str(tmp_path / "fmu"))
    assert result.exit_code == 0 and "no C compiler" in result.stderr


def test_warnings_are_one_line(torseur, monkeypatch):
    monkeypatch.setenv("TORSEUR_CACHE", "/dev/null/nowhere")
    monkeypatch.setattr("torseur.cache._warned", set(), raising=False)
    result = torseur("simulate", "library:pendulum", "--until", "1", "--samples", "2")
    assert result.exit_code == 0
    assert all(line.startswith("warning: compiled code is not kept") for line in result.stderr.splitlines())
