"""Code for controllers: compiled as strictly as compilers can, against inverse dynamics, on a computer and in float32."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.errors import UnsupportedError

COMPILER = shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Wno-unknown-pragmas"]

MAIN = """
#include "puma560.h"
#include <stdio.h>
static puma560_real in[7][6], tau[6], work[puma560_work_size];
int main(void) {
  for (int k = 0; k < 7; k++) for (int i = 0; i < 6; i++) { double x; if (scanf("%lf", &x) != 1) return 1; in[k][i] = (puma560_real)x; }
  puma560_LAW;
  for (int i = 0; i < 6; i++) printf("%.17g\\n", (double)tau[i]);
  return 0;
}
"""
CALLS = {
    "computed_torque": "computed_torque(in[0], in[1], in[2], in[3], in[4], in[5], in[6], tau, work)",
    "pd_with_gravity": "pd_with_gravity(in[0], in[1], in[2], in[5], in[6], tau, work)",
}


@pytest.fixture(scope="module")
def sources():
    return ts.generate(ts.derive(library.load("puma560")), list(CALLS), "controller", baked=True)


def write(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def compiled(folder, *words):
    result = subprocess.run([COMPILER, *words], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("law", CALLS)
@pytest.mark.parametrize(("real", "tolerance"), [("double", 1e-12), ("float", 3e-6)])
def test_laws_are_inverse_dynamics(tmp_path, sources, law, real, tolerance):
    """Oracle: inverse dynamics of the compiled kernel, of gravity alone without the springs."""
    write(tmp_path, sources | {"main.c": MAIN.replace("LAW", CALLS[law])})
    words = [*STRICT, "-Wdouble-promotion"] if real == "double" else STRICT
    compiled(tmp_path, *words, "-O2", f"-DPUMA560_REAL={real}", "puma560.c", "main.c", "-lm", "-o", "main")
    given = np.random.default_rng(0).uniform(-1, 1, (7, 6))
    text = "\n".join(repr(float(x)) for x in given.ravel())
    out = subprocess.run([tmp_path / "main"], input=text, capture_output=True, text=True, check=True).stdout
    robot = ts.Robot(library.load("puma560"))
    q, v, q_wanted, v_wanted, a_wanted, kp, kd = given
    unsprung = replace(library.load("puma560"), loads=())
    gravity = ts.Robot(unsprung).rnea(q, np.zeros(6), np.zeros(6))
    expected = {
        "computed_torque": robot.rnea(q, v, a_wanted + kd * (v_wanted - v) + kp * (q_wanted - q)),
        "pd_with_gravity": gravity + kp * (q_wanted - q) - kd * v,
    }[law]
    assert np.array(out.split(), dtype=float) == pytest.approx(
        expected, rel=tolerance, abs=tolerance * np.abs(expected).max()
    )


def test_the_header_counts_what_the_source_does(sources):
    """Each operation is one assignment to the workspace; its highest place is the size that the header gives."""
    header, source = sources["puma560.h"], sources["puma560.c"]
    body = source[source.index("void puma560_computed_torque(") : source.index("void puma560_pd_with_gravity(")]
    (count,) = re.findall(r"puma560_computed_torque: (\d+) operations", header)
    assert len(re.findall(r"^  work\[\d+\] = ", body, re.MULTILINE)) == int(count)
    (size,) = re.findall(r"puma560_work_size = (\d+)", header)
    places = {int(x) for x in re.findall(r"work\[(\d+)\]", source)}
    assert max(places) + 1 == int(size) < int(count)
    assert not re.search(r"\b(malloc|for|while|goto|static)\b", re.sub(r"/\*.*?\*/", "", source))


@pytest.mark.slow
def test_examples_are_built_by_cmake(tmp_path):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("there is no CMake")
    equations = ts.derive(library.load("double_pendulum"))
    write(tmp_path, ts.generate(equations, "computed_torque,frame:blade", "controller"))
    for words in (["-S", ".", "-B", "build"], ["--build", "build"]):
        result = subprocess.run([cmake, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stdout + result.stderr
    out = subprocess.run([tmp_path / "build" / "double_pendulum_example"], capture_output=True, text=True, check=True)
    assert len(out.stdout.split()) == 12


def test_on_a_microcontroller_nothing_is_in_double_precision(tmp_path, sources):
    """Compiled without a warning of a number that becomes double; what it calls is mathematics in single precision."""
    write(tmp_path, sources)
    compiled(
        tmp_path, *STRICT, "-Wdouble-promotion", "-Os", "-DPUMA560_REAL=float", "-c", "puma560.c", "microcontroller.c"
    )
    nm = shutil.which("nm")
    if nm is None:
        pytest.skip("there is no nm")
    text = subprocess.run([nm, "-u", "puma560.o"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert set(text.replace("U", "").split()) <= {"sinf", "cosf", "sincosf", "_GLOBAL_OFFSET_TABLE_"}


def test_what_has_no_such_law_is_refused():
    with pytest.raises(UnsupportedError, match="without loops and quaternions"):
        ts.generate(ts.derive(library.load("four_bar")), "computed_torque", "controller")
