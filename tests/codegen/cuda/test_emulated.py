"""CUDA sources compiled as plain C++: the text that runs on the device, without one."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from random import Random

import mpmath
import numpy as np
import pytest

import torseur as ts
from codegen.targets.runners import POINTER, run, run_cuda, tool
from robots import robot
from torseur import library
from torseur.codegen.cuda.module import kernel_source
from torseur.codegen.cuda.rollout import rollout_source
from torseur.codegen.cuda.scalar import HEAD
from torseur.codegen.cuda.stages import MOST_LIVE, staged
from torseur.codegen.module import Module
from torseur.codegen.straight import fewest_live, most_live, result_orders
from torseur.equations import motion_values, program_of
from torseur.errors import UnsupportedError
from torseur.graph import Input, Program, scalar, symbol, vector


def built(folder, text):
    (folder / "source.cpp").write_text(text)
    run(tool("g++", "clang++"), "-std=c++14", "-O1", "-fPIC", "-shared", "source.cpp", "-o", "source.so", cwd=folder)
    return ctypes.CDLL(str(folder / "source.so"))


def test_sine_and_cosine_in_single_precision(tmp_path):
    """Oracle: mpmath. Within one unit in the last place of 1 up to 100 rad, and of the angle's own rounding beyond."""
    wrapper = 'extern "C" void both(int n, float *x, float *s, float *c) { for (int i = 0; i < n; ++i) sine_cosine(x[i], s + i, c + i); }'
    library = built(tmp_path, HEAD + wrapper)
    random = np.random.default_rng(0)
    x = np.concatenate(
        [random.uniform(-4, 4, 3000), random.uniform(-100, 100, 3000), np.arange(-9, 10) * np.pi / 4]
    ).astype(np.float32)
    s, c = np.empty_like(x), np.empty_like(x)
    pointer = ctypes.POINTER(ctypes.c_float)
    library.both(len(x), *(a.ctypes.data_as(pointer) for a in (x, s, c)))
    exact_s = np.array([float(mpmath.sin(mpmath.mpf(float(a)))) for a in x])
    exact_c = np.array([float(mpmath.cos(mpmath.mpf(float(a)))) for a in x])
    assert np.abs(s - exact_s).max() < 1.2e-7 and np.abs(c - exact_c).max() < 1.2e-7


def test_schedules_keep_every_operation_and_shorten_lives():
    program = program_of(ts.derive(robot("solo12")), ["forward_dynamics"])
    order = fewest_live(program.operations, *result_orders(program))
    place = {node: k for k, node in enumerate(order)}
    assert set(order) == set(program.operations) and len(order) == len(program.operations)
    assert all(place[a] < place[node] for node in order for a in node.args if a in place)
    assert most_live(order) < most_live(program.operations)


def test_stages_give_what_the_program_gives(tmp_path):
    """A program that no thread can hold goes through memory. Oracle: the graph."""
    random = Random(1)
    x = [symbol(f"x{k}") for k in range(40)]
    values = [scalar.sin(random.choice(x) + k) for k in range(320)]
    for _ in range(3):
        values = [0.5 * a + 0.25 * b * random.choice(values) for a, b in zip(values, values[::-1], strict=True)]
    program = Program("wide", (Input("x", tuple(x)),), (vector("y", values),))
    plan = staged(program, frozenset())
    assert len(plan.chunks) > 1 and all(most_live(chunk.operations) <= MOST_LIVE for chunk in plan.chunks[:-1])
    module, point = Module("wide", (program,)), {"x": [0.1 * k for k in range(40)]}
    (found,) = run_cuda(module, tmp_path, [point])
    assert np.allclose(found[0][0], program.evaluate(point)["y"], rtol=1e-13, atol=1e-15)


def test_rollouts_are_motions(tmp_path):
    """Oracle: the adaptive integrator of order 8, at a tight tolerance."""
    equations = ts.derive(library.load("double_pendulum"))
    program = program_of(equations, ["rates", "forward_dynamics"])
    prepare, per_state = program.split(("p",), "prepared")
    values = list(motion_values(equations, {}).values())
    prepared = np.array(prepare.evaluate({"p": values})["prepared"], dtype=float)
    start = np.array([np.pi / 4, np.pi / 4]), np.zeros(2)
    expected = ts.simulate(equations, until=1.0, rtol=1e-12, samples=2).values[-1]
    found = {}
    for steps in (100, 200):
        text = rollout_source(per_state, "f64", "rk4") + _WRAPPER
        motion = built(_fresh(tmp_path, steps), text)
        out, tau = np.empty(4), np.zeros(2)
        arrays = [a.ctypes.data_as(POINTER) for a in (*start, tau, prepared, out)]
        motion.motion_of_one(*arrays, ctypes.c_double(1.0 / steps), ctypes.c_longlong(steps))
        found[steps] = np.abs(out - expected[:4]).max()
    assert found[200] < 1e-6 and 12 < found[100] / found[200] < 20  # order 4


_WRAPPER = """
extern "C" void motion_of_one(double *q, double *v, double *tau, double *prepared, double *out, double h, long long steps) {
  kernels::rollout<double>(q, v, tau, prepared, out, 0.0, h, steps, 0, 1);
}
"""


def _fresh(folder, name):
    path = folder / str(name)
    path.mkdir()
    return path


def test_unknown_methods_are_named():
    program = program_of(ts.derive(library.load("double_pendulum")), ["rates", "forward_dynamics"])
    with pytest.raises(UnsupportedError, match="Did you mean 'rk4'"):
        rollout_source(program, "f32", "rk5")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["f32", "f64"])
def test_nvcc_takes_the_kernels(suffix, tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    equations = ts.derive(robot("ur5"))
    text, names, _ = kernel_source(program_of(equations, ["forward_dynamics"]), suffix)
    (tmp_path / "kernel.cu").write_text(text)
    command = ["nvcc", "-arch=sm_90", "-Xptxas", "-v", "-c", "kernel.cu", "-o", "kernel.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(name in done.stderr for name in names) and "0 bytes spill stores" in done.stderr
