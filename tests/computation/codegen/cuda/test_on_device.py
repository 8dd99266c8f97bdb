"""Kernels and rollouts on a GPU; everything here skips where there is none. Oracles: the graph, motions on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph.scalar import sin
from torseur.description import library
from torseur.errors import CompilationError, TorseurError

try:
    from torseur.computation.codegen.targets.cuda.tuning import cupy as device

    xp = device()
except CompilationError as problem:
    pytest.skip(f"no GPU: {problem}", allow_module_level=True)

N = 20000  # enough for launches to be measured and chosen


def states(equations, seed=0, n=N):
    random, layout = np.random.default_rng(seed), equations.layout
    return [
        random.uniform(-1, 1, (size, n)) for size in (len(layout.coordinates), len(layout.speeds), len(layout.speeds))
    ]


def worst(found, program, inputs, output, places=(0, 7, N - 1)):
    """The largest error at some states, relative to the largest entry there."""
    errors = []
    for i in places:
        given = {name: list(np.ravel(x if np.ndim(x) == 1 else x[:, i])) for name, x in inputs.items()}
        exact = np.array(program.evaluate(given)[output], dtype=float)
        errors.append(np.abs(np.ravel(found[..., i]) - exact).max() / np.abs(exact).max())
    return max(errors)


def values_of(equations):
    from torseur.derivation.equations import motion_values

    return np.array(list(motion_values(equations, {}).values()))


@pytest.mark.parametrize(("precision", "limit"), [("float32", 3e-6), ("mixed", 3e-6), ("float64", 1e-12)])
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "energies"])
def test_functions(function, precision, limit):
    equations = ts.derive(library.load("pendulum_chain?n=6"))
    kernel = ts.compile(equations, [function], backend="cuda", precision=precision)
    q, v, tau = states(equations)
    known = {"q": q, "v": v, "vdot": tau, "tau": tau, "p": values_of(equations)}
    inputs = {group.name: known[group.name] for group in kernel.program.inputs}
    found = kernel(**inputs)
    for output in kernel.program.outputs:
        assert worst(found[output.name], kernel.program, inputs, output.name) < limit


@pytest.mark.parametrize("precision", ["mixed", "float64"])
@pytest.mark.parametrize(
    "request_", ["forward_dynamics/q,v", "forward_dynamics/tau", "forward_dynamics/p", "inverse_dynamics/p"]
)
def test_gradients(request_, precision):
    equations = ts.derive(library.load("pendulum_chain?n=7"))
    kernel = ts.compile(equations, [request_], backend="cuda", precision=precision)
    q, v, tau = states(equations)
    known = {"q": q, "v": v, "vdot": tau, "tau": tau, "p": values_of(equations)}
    inputs = {group.name: known[group.name] for group in kernel.program.inputs}
    found = kernel(**inputs)
    for output in kernel.program.outputs:
        assert worst(found[output.name], kernel.program, inputs, output.name) < (
            1e-11 if precision == "float64" else 1e-5
        )


def test_constrained_motion():
    equations = ts.derive(library.load("four_bar"))
    kernel = ts.compile(equations, ["constrained_forward_dynamics"], backend="cuda", precision="mixed")
    q, v, tau = states(equations)
    inputs = {"q": q, "v": v, "tau": tau, "p": values_of(equations)}
    inputs = {group.name: inputs[group.name] for group in kernel.program.inputs}
    assert worst(kernel(**inputs)["vdot"], kernel.program, inputs, "vdot") < 1e-4


def test_parameters_of_each_state():
    equations = ts.derive(library.load("double_pendulum"))
    kernel = ts.compile(equations, ["forward_dynamics"], backend="cuda", precision="float64")
    q, v, tau = states(equations)
    p = values_of(equations)[:, None] * np.random.default_rng(1).uniform(0.8, 1.2, (1, N))
    inputs = {"q": q, "v": v, "tau": tau, "p": p}
    assert worst(kernel(**inputs)["vdot"], kernel.program, inputs, "vdot") < 1e-12


@pytest.mark.parametrize("library_name", ["torch", "jax"])
def test_arrays_of_other_libraries_are_used_where_they_lie(library_name):
    other = pytest.importorskip(library_name)
    equations = ts.derive(library.load("double_pendulum"))
    kernel = ts.compile(equations, ["forward_dynamics"], backend="cuda", precision="float32")
    q, v, tau = (x.astype(np.float32) for x in states(equations))
    expected = kernel(q=q, v=v, tau=tau, p=values_of(equations))["vdot"]
    there = [other.tensor(x, device="cuda") if library_name == "torch" else other.numpy.asarray(x) for x in (q, v, tau)]
    found = kernel(*there, values_of(equations))["vdot"]
    assert isinstance(found, xp.ndarray) and np.array_equal(xp.asnumpy(found), expected)


@pytest.mark.parametrize(
    ("method", "precision", "limit"),
    [("rk4", "float64", 1e-8), ("dopri5", "float64", 1e-4), ("dopri5", "float32", 1e-3)],
)
def test_rollouts(method, precision, limit):
    mechanism = library.load("double_pendulum")
    move = ts.Rollouts(mechanism, method, precision, outputs=["q1", "energy"], sensitivities=["m2"])
    q = np.random.default_rng(2).uniform(-0.5, 0.5, (2, N))
    found = move(q, np.zeros((2, N)), step=1e-3, steps=1000, every=500, rtol=1e-7, atol=1e-9)
    assert found.shape == (2, 2, 2, N)
    start = {"q1": q[0, 3], "q2": q[1, 3]}
    motion = ts.simulate(mechanism, 1.0, initial=start, samples=3, rtol=1e-11, outputs=["energy"])
    assert np.allclose(found[:, 0, 0, 3], motion["q1"][1:], atol=limit)
    assert np.allclose(found[:, 0, 1, 3], motion["energy"][1:], rtol=limit)
    slope = ts.sensitivity(mechanism, "q1", ["m2"], until=1.0, initial=start, rtol=1e-10).derivative("q1", "m2")[-1]
    assert found[-1, 1, 0, 3] == pytest.approx(slope, abs=limit)


def test_closed_loops_roll():
    mechanism = library.load("four_bar")
    motion = ts.simulate(mechanism, 1.0, samples=2, rtol=1e-10)
    count = len(ts.derive(mechanism).layout.coordinates)
    first = motion.values[0][: 2 * count]
    q, v = (np.repeat(x[:, None], N, axis=1) for x in (first[:count], first[count:]))
    found = ts.Rollouts(mechanism, "rk4", "float64")(q, v, step=1e-3, steps=1000)
    assert np.abs(found[-1, :, 5] - motion.values[-1][: 2 * count]).max() < 1e-5


def test_parameters_of_each_motion():
    mechanism = library.load("double_pendulum")
    masses = np.linspace(1.0, 5.0, N)
    q = np.full((2, N), 0.3)
    found = ts.Rollouts(mechanism, "rk4", "float64")(q, 0 * q, step=1e-3, steps=1000, parameters={"m2": masses})
    for i in (0, N - 1):
        motion = ts.simulate(
            mechanism, 1.0, initial={"q1": 0.3, "q2": 0.3}, parameters={"m2": masses[i]}, samples=2, rtol=1e-11
        )
        assert np.allclose(found[-1, :, i], motion.values[-1][:4], rtol=1e-7)


@pytest.mark.parametrize(("method", "precision"), [("dopri5", "float64"), ("rk4", "float64"), ("dopri5", "float32")])
def test_events_of_motions_as_on_the_cpu(method, precision):
    """Criteria of every kind, one function faster than the steps. Oracle: the same on the CPU, motion by motion."""
    mechanism = library.load("double_pendulum")
    criteria = [
        ts.Criterion("q1", "maximum"),
        ts.Criterion("q2", "event", when="q1", direction=-1),
        ts.Criterion("q1", "event time", when="q2'"),
        ts.Criterion("", "event time", when=sin(200.0 * ts.TIME), occurrence=100, name="tick"),
    ]
    q = np.random.default_rng(3).uniform(0.6, 0.9, (2, N))  # so far that q1 passes zero
    options = {"step": 10.0, "steps": 1} if method == "dopri5" else {"step": 2e-3, "steps": 5000}
    move = ts.Rollouts(mechanism, method, precision, criteria=criteria)
    found = move(q, 0 * q, rtol=1e-9 if precision == "float64" else 1e-6, atol=1e-9, **options).criteria
    limit = 1e-6 if precision == "float64" else 5e-3
    for i in (0, 17, N - 1):
        start = {"q1": q[0, i], "q2": q[1, i]}
        exact = ts.sensitivity(mechanism, criteria, ["m2"], until=10.0, initial=start, rtol=1e-10).responses
        assert np.allclose(found[:, i], [float(r.values[-1]) for r in exact], atol=limit)


def test_mistakes_are_named():
    equations = ts.derive(library.load("double_pendulum"))
    kernel = ts.compile(equations, ["forward_dynamics"], backend="cuda")
    with pytest.raises(TorseurError, match="input 'q' has shape"):
        kernel(q=np.zeros((3, 5)), v=np.zeros((2, 5)), tau=np.zeros((2, 5)), p=values_of(equations))
    with pytest.raises(TorseurError, match="Did you mean 'float64'"):
        ts.compile(equations, ["forward_dynamics"], backend="cuda", precision="float46")
