"""Generated sources stand on their own: a C compiler, LLVM and Python take them as they are."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, Table, symbol, vector
from torseur.algebra.graph.scalar import cos, minimum, sin, where
from torseur.computation.codegen import generate_source
from torseur.computation.codegen.sources.identifiers import comment, identifier
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.errors import UnsupportedError

X, Y = symbol("x"), symbol("y")
RESULT = vector("r", [cos(X) + 0.5 * cos(X + Y), where(X < Y, sin(X), Y)])
PROGRAM = Program("position", (Input("q", (X, Y)),), (RESULT,))
MAIN = r"""
#include <stdio.h>
int main(void) {
  double q[2] = {0.3, 0.4}, r[2];
  end_point(q, r);
  printf("%.17g %.17g\n", r[0], r[1]);
  return 0;
}
"""


def expected():
    return [np.cos(0.3) + 0.5 * np.cos(0.7), np.sin(0.3)]


def test_c_without_this_package(tmp_path):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler")
    (tmp_path / "main.c").write_text(generate_source(PROGRAM, "c", "end_point") + MAIN)
    strict = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wno-unused-function"]
    subprocess.run([compiler.path, *strict, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    assert [float(word) for word in printed.split()] == pytest.approx(expected(), rel=1e-15)


def test_python_without_this_package():
    namespace = {}
    exec(generate_source(PROGRAM, "python"), namespace)
    assert namespace["position"]([0.3, 0.4])[0] == pytest.approx(expected(), rel=1e-15)


def test_python_with_one_lane_per_state():
    namespace = {}
    exec(generate_source(PROGRAM, "python"), namespace)
    lanes = np.linspace(0.0, 1.0, 5)
    first = namespace["position"]([lanes, 0.4])[0][0]
    assert np.allclose(first, np.cos(lanes) + 0.5 * np.cos(lanes + 0.4))


def test_llvm_is_accepted():
    pytest.importorskip("llvmlite")
    import llvmlite.binding as llvm

    llvm.parse_assembly(generate_source(PROGRAM, "llvm", "end_point")).verify()


@pytest.mark.parametrize("target", ["c", "llvm", "python"])
def test_header(target):
    source = generate_source(PROGRAM, target)
    assert "inputs: q[2]" in source and "outputs: r[2]" in source and "operations:" in source


def test_what_cannot_be_generated():
    with pytest.raises(UnsupportedError, match="unknown target 'cobol'"):
        generate_source(PROGRAM, "cobol")
    table = Table("cam", (0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0))
    program = Program("f", (Input("q", (X,)),), (vector("r", [minimum(table(X), 1)]),))
    with pytest.raises(UnsupportedError, match="reads a table"):
        generate_source(program, "python")
    assert "cam" in generate_source(program, "c")


@pytest.mark.parametrize(
    ("name", "written"),
    [("θ'", "theta_dot"), ("Ω_1", "Omega_1"), ("échappement", "echappement"), ("µ", "mu"), ("日本", "v"), ("x²", "x2")],
)
def test_foreign_letters_stay_readable(name, written):
    assert identifier(name) == written
    assert comment(name).isascii()
