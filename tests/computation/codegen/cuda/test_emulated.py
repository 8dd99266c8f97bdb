"""CUDA sources compiled as plain C++: the text that runs on the device, without one."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from itertools import pairwise
from math import ceil
from random import Random

import mpmath
import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import run, run_cuda, tool
from robots import robot
from torseur.algebra.graph import Expr, Input, Program, scalar, symbol, vector
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.codegen.straight_line import fewest_live, most_live, read_values, result_orders
from torseur.computation.codegen.targets.cuda import device_functions as device
from torseur.computation.codegen.targets.cuda.cuda_entries import RESERVED, kernel_sources, register_weights
from torseur.computation.codegen.targets.cuda.cuda_scalar import HEAD
from torseur.computation.codegen.targets.cuda.stages.cuda_stages import plan_stages
from torseur.computation.codegen.targets.cuda.stages.cutting import MOST_LIVE
from torseur.computation.codegen.targets.cuda.stages.register_spilling import FETCH_AHEAD, plan_spilling
from torseur.computation.functions import program_of
from torseur.computation.functions.generate_sources import module_of
from torseur.description import library


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


def test_sine_and_cosine_in_double_precision(tmp_path):
    """Oracle: mpmath. Within one unit in the last place of the result's own size up to 1e6 rad."""
    wrapper = 'extern "C" void both(int n, double *x, double *s, double *c) { for (int i = 0; i < n; ++i) sine_cosine(x[i], s + i, c + i); }'
    library = built(tmp_path, HEAD + wrapper)
    random = np.random.default_rng(0)
    x = np.concatenate([random.uniform(-4, 4, 1000), random.uniform(-1e6, 1e6, 1000), np.arange(-9, 10) * np.pi / 4])
    s, c = np.empty_like(x), np.empty_like(x)
    library.both(len(x), *(a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for a in (x, s, c)))
    for found, function in ((s, mpmath.sin), (c, mpmath.cos)):
        exact = np.array([float(function(mpmath.mpf(float(a)))) for a in x])
        assert (
            np.abs(found - exact).max() < 1.2e-16 * 2
            and (np.abs(found - exact) <= 2 * np.spacing(np.abs(exact)) + 1e-17 * np.abs(x)).all()
        )


def test_schedules_keep_every_operation_and_shorten_lives():
    program = program_of(ts.derive(robot("solo12")), ["forward_dynamics"])
    order = fewest_live(program.operations, *result_orders(program))
    place = {node: k for k, node in enumerate(order)}
    assert set(order) == set(program.operations) and len(order) == len(program.operations)
    assert all(place[a] < place[node] for node in order for a in node.args if a in place)
    assert most_live(order) < most_live(program.operations)


@pytest.mark.slow
def test_stages_give_what_the_program_gives(tmp_path):
    """A program that no thread can hold goes through memory. Oracle: the graph."""
    random = Random(1)
    x = [symbol(f"x{k}") for k in range(40)]
    values = [scalar.sin(random.choice(x) + k) for k in range(320)]
    for _ in range(3):
        values = [0.5 * a + 0.25 * b * random.choice(values) for a, b in zip(values, values[::-1], strict=True)]
    program = Program("wide", (Input("x", tuple(x)),), (vector("y", values),))
    plan = plan_stages(program, frozenset())
    assert plan.stages > 1 and all(most_live(chunk.operations) <= MOST_LIVE for chunk in plan.layout.chunks[:-1])
    module, point = Module("wide", (program,)), {"x": [0.1 * k for k in range(40)]}
    (found,) = run_cuda(module, tmp_path, [point])
    assert np.allclose(found[0][0], program.evaluate(point)["y"], rtol=1e-13, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("function", ["inverse_dynamics/q,v", "forward_dynamics/q,v"])
def test_limbs_are_stages_of_their_own(function, tmp_path, monkeypatch):
    """A trunk with two arms and a leg apart from it, too wide for one thread. Oracle: the graph."""
    monkeypatch.setattr(device, "plan_stages", lambda program, taken, few: plan_stages(program, taken, 150, 50))
    equations = ts.derive(_trunk_with_arms())
    (program,) = module_of(equations, [function], baked=True).programs
    plan = plan_stages(program, frozenset(), 150, 50)
    repeated = sum(len(chunk.operations) for chunk in plan.layout.chunks) > len(program.operations)
    assert plan.stages >= 4 and repeated
    rows = sum(len(output.entries) for output in program.outputs)
    assert plan.scratch < rows  # what crosses is little beside what comes out
    random = np.random.default_rng(2)
    point = {group.name: list(random.uniform(-1, 1, len(group))) for group in program.inputs}
    (found,) = run_cuda(Module("limbs", (program,)), tmp_path, [point])
    exact = program.evaluate(point)
    for k, output in enumerate(program.outputs):
        wanted = np.array(exact[output.name], dtype=float)
        assert np.allclose(np.ravel(found[0][k]), wanted, rtol=1e-11, atol=1e-12 * np.abs(wanted).max())


def _trunk_with_arms():
    """Two joints of a trunk, two arms of three joints on it, and a leg of two on the ground."""
    lines = ["mechanism limbs ;", "gravity = [0, 0, -9.81] ;"]
    chains = {"trunk": ("earth", 2), "left": ("trunk2", 3), "right": ("trunk2", 3), "leg": ("earth", 2)}
    for chain, (parent, length) in chains.items():
        for k in range(1, length + 1):
            body, below = f"{chain}{k}", parent if k == 1 else f"{chain}{k - 1}"
            axis = ["[1,0,0]", "[0,1,0]", "[0,0,1]"][k % 3]
            lines.append(
                f"let {body} = body mass = {1 + 0.1 * k} kg, centre = [0.1, {0.02 * k}, 0.05], "
                "inertia = diag(0.02, 0.03, 0.01) end ;"
            )
            place = f"[{0.3 if k > 1 else 0}, {0.2 if chain == 'left' else 0}, 0.1] ++ 1 @ {below}"
            lines.append(f"join {place} and {body}.frame as j_{body} with revolute(q_{body}) about {axis} end ;")
    return ts.parse("\n".join(lines))


@pytest.mark.slow
def test_mixed_precision_keeps_the_digits_of_factors(tmp_path):
    """The pivots of a chain lose digits. Oracle: the graph in double precision."""
    equations = ts.derive(library.load("pendulum_chain?n=9"))
    (program,) = module_of(equations, ["forward_dynamics/q"], baked=True).programs
    assert any(plan_stages(program, frozenset()).fine)
    random = np.random.default_rng(3)
    points = [
        {
            group.name: list(random.uniform(-1, 1, len(group)).astype(np.float32).astype(float))
            for group in program.inputs
        }
        for _ in range(20)
    ]
    exact = np.array([program.evaluate(point)["dvdot_dq"] for point in points], dtype=float)
    worst = {}
    for fine in ("float", "double"):
        (source,), _ = kernel_sources(program, "f32")
        text = source.within(255, 0).text.partition('extern "C" __global__')[0]
        sizes = [len(group) for group in program.inputs]
        wrapper = f'extern "C" void one(float *a, float *b, float *c, float *d) {{ kernels::forward_dynamics_by_q<float, {fine}>(a, b, c, d, 1); }}'
        folder = tmp_path / fine
        folder.mkdir()
        function = built(folder, text + wrapper).one
        found = []
        for point in points:
            arrays = [np.array(point[group.name], dtype=np.float32) for group in program.inputs] + [
                np.empty(sizes[0] ** 2, np.float32)
            ]
            function(*(a.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for a in arrays))
            found.append(arrays[-1].copy())
        worst[fine] = np.abs(np.array(found) - exact).max() / np.abs(exact).max()
    assert worst["double"] < 1e-5 and worst["double"] < 0.2 * worst["float"], worst


@pytest.mark.slow
@pytest.mark.parametrize("places_there", [500, 20])
@pytest.mark.parametrize(("suffix", "kind", "tolerance"), [("f64", "float64", 1e-12), ("mixed", "float32", 1e-5)])
def test_spilled_values_come_back(suffix, kind, tolerance, places_there, tmp_path):
    """A gradient whose values do not fit: most of them wait elsewhere. Oracle: the graph."""
    (program,) = module_of(ts.derive(robot("ur5")), ["forward_dynamics/q,v"], baked=True).programs
    (stage,), _ = kernel_sources(program, suffix)
    assert (
        stage.within(128, 0).shared_bytes == 0
        and stage.within(128, 4000).shared_bytes > stage.within(255, 4000).shared_bytes
    )
    source = stage.within(RESERVED + 60, 8 * places_there)
    assert source.shared_bytes >= 8 * min(places_there, 50)
    scalar = "double" if suffix == "f64" else "float"
    places = ", ".join(f"x + {6 * k}" if k < 3 else f"y + {36 * (k - 3)}" for k in range(5))
    call = f"kernels::{program.name}<{scalar}, double>({places}, 1);"
    wrapper = f'extern "C" void one({scalar} *x, {scalar} *y) {{ {call} }}'
    function = built(tmp_path, source.text.partition('extern "C" __global__')[0] + wrapper).one
    x, y = np.random.default_rng(4).uniform(-1, 1, 18).astype(kind), np.zeros(72, kind)
    function(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
    exact = program.evaluate({"q": x[:6].astype(float), "v": x[6:12].astype(float), "tau": x[12:].astype(float)})
    wanted = np.concatenate([np.array(exact[name], dtype=float) for name in ("dvdot_dq", "dvdot_dv")])
    assert np.abs(y - wanted).max() < tolerance * np.abs(wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize(("suffix", "kind", "tolerance"), [("f64", "float64", 1e-11), ("mixed", "float32", 1e-5)])
def test_spilled_values_of_stages_come_back(suffix, kind, tolerance, tmp_path, monkeypatch):
    """Stages that read what others computed, each with little room. Oracle: the graph."""
    monkeypatch.setattr(device, "plan_stages", lambda program, taken, few: plan_stages(program, taken, 60, 50))
    (program,) = module_of(ts.derive(_trunk_with_arms()), ["forward_dynamics/q,v"], baked=True).programs
    sources, scratch_size = kernel_sources(program, suffix)
    random = np.random.default_rng(2)
    given = [random.uniform(-1, 1, len(group)).astype(kind) for group in program.inputs]
    results = [np.zeros(len(output), kind) for output in program.outputs]
    arrays = [*given, *results, np.zeros(scratch_size)]
    scalar = "double" if suffix == "f64" else "float"
    for k, stage in enumerate(sources):
        source = stage.within(RESERVED + 30, 4000)
        names = ", ".join([*(f"{scalar} *a{i}" for i in range(len(arrays) - 1)), "double *scratch"])
        passed = ", ".join([*(f"a{i}" for i in range(len(arrays) - 1)), "1", "scratch"])
        wrapper = f'extern "C" void one({names}) {{ kernels::{stage.name}<{scalar}, double>({passed}); }}'
        folder = tmp_path / str(k)
        folder.mkdir()
        function = built(folder, source.text.partition('extern "C" __global__')[0] + wrapper).one
        function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    assert len(sources) > 3
    exact = program.evaluate({group.name: x.astype(float) for group, x in zip(program.inputs, given, strict=True)})
    for output, found in zip(program.outputs, results, strict=True):
        wanted = np.array(exact[output.name], dtype=float)
        assert np.abs(found - wanted).max() < tolerance * np.abs(wanted).max()


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["f32", "f64", "mixed"])
def test_spilling_keeps_to_its_room(suffix):
    """A value leaves before it comes back, and of the values between their uses few are held at a time."""
    (program,) = module_of(ts.derive(robot("solo12")), ["forward_dynamics/q,v"], baked=True).programs
    plan = plan_stages(program, frozenset())
    room = 70
    for k, chunk in enumerate(plan.layout.chunks):
        weights = register_weights(plan, k, suffix)
        found = plan_spilling(chunk.operations, room, weights)
        events: dict[Expr, list[tuple[float, str]]] = {}
        for k, node in enumerate(chunk.operations):
            for what, place, values in (
                ("fetch", k - 0.5, found.fetch.get(k, ())),
                ("use", k, read_values(node)),
                ("made", k + 0.1, [node]),
                ("leave", k + 0.5, found.leave.get(k, ())),
            ):
                for value in values:
                    events.setdefault(value, []).append((place, what))
        held = np.zeros(len(chunk.operations))
        for value, story in events.items():
            words = [what for _, what in story]
            assert words.count("leave") <= 1 and (
                value not in found.slot or words.index("leave") < words.index("fetch")
            )
            for (start, _), (end, what) in pairwise(story):
                if what == "use":
                    held[ceil(start) : int(end)] += weights.get(value, 1)
        # What is read soon stays, however little room there is.
        assert held.max() <= room + FETCH_AHEAD


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["f32", "f64", "mixed"])
def test_nvcc_takes_the_kernels(suffix, tmp_path):
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    equations = ts.derive(robot("ur5"))
    (stage,), scratch = kernel_sources(program_of(equations, ["forward_dynamics"]), suffix)
    source = stage.within(255, 0)
    (tmp_path / "kernel.cu").write_text(source.text)
    command = ["nvcc", "-arch=sm_90", "-Xptxas", "-v", "-c", "kernel.cu", "-o", "kernel.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert source.name in done.stderr and scratch == 0
    spilled = int(re.search(r"(\d+) bytes spill stores", done.stderr)[1])
    assert spilled <= 32  # a few, where numbers of both precisions meet
