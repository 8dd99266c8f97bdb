"""Studies and their criteria on a GPU; everything here skips where there is none. Oracles: the CPU, closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur import Criterion
from torseur.analysis.studies import read_study, sweep
from torseur.analysis.studies.sweeps.evaluation import Evaluator
from torseur.computation.simulation import Event
from torseur.description import library
from torseur.errors import CompilationError

try:
    from torseur.computation.codegen.targets.cuda.tuning import cupy

    cupy()
except CompilationError as problem:
    pytest.skip(f"no GPU: {problem}", allow_module_level=True)

N = 20000  # enough for launches to be measured and chosen
SAMPLE = slice(0, N, N // 12)
PENDULUM = """
mechanism = "library:double_pendulum"
until = "3 s"
rtol = {rtol}
{more}
[gpu]
{gpu}
[vary]
m1 = {{ from = "3 kg", to = "5 kg" }}
"q1(0)" = {{ from = "20 deg", to = "30 deg" }}
[design]
kind = "random"
count = 20000
[criteria]
q1_end = "q1"
work = {{ integral = "kinetic_energy" }}
swing = {{ maximum = "q2" }}
low = {{ minimum = "q1" }}
passage = {{ event_time = "q1", direction = -1 }}
there = {{ event = "q2", when = "q1" }}
"""
LOOPS = {
    "four_bar": (
        'until = "2 s"\nrtol = 1e-8\nderivatives = ["a"]',
        'a = { from = "0.38 m", to = "0.42 m" }\nrho = { normal = ["2 kg/m", "0.1 kg/m"] }',
        'alpha_end = "alpha"\nload = { maximum = "A.force.y" }\nwork = { integral = "kinetic_energy" }\n'
        'passage = { event_time = "alpha - 2.2", occurrence = 2 }',
    ),
    "slider_crank": (
        'until = "1 s"\nrtol = 1e-8\nderivatives = ["r", "theta(0)"]',
        'r = { from = "0.09 m", to = "0.1 m" }\n"theta(0)" = { from = "50 deg", to = "70 deg" }',
        'turned = "theta"\nfastest = { maximum = "kinetic_energy" }',
    ),
    "andrews_squeezer": (
        'until = "20 ms"\nrtol = 1e-7',
        'm3 = { from = "0.03 kg", to = "0.04 kg" }',
        'beta_end = "beta"\nlowest = { minimum = "gamma" }\nwork = { integral = "kinetic_energy" }',
    ),
}


def compared(folder, text, limit):
    """All points on the device, some of them on the CPU too."""
    path = folder / "s.toml"
    path.write_text(text)
    study = read_study(path)
    points = study.points()
    there, here = Evaluator(study.on("cuda"))(points), Evaluator(study.on("cpu"))(points[SAMPLE])
    assert not there.failures and not here.failures
    size = np.abs(here.values).max(axis=0) + 1e-6
    error = np.abs((there.values[SAMPLE] - here.values) / size).max(axis=0)
    assert error.max() < limit, error
    assert np.abs(there.outputs[SAMPLE] - here.outputs).max(initial=0.0) < limit
    return there


@pytest.mark.parametrize(
    ("rtol", "more", "gpu", "limit"),
    [
        (1e-9, "", 'method = "dopri5"', 1e-6),
        (1e-9, 'derivatives = ["m2", "q1(0)"]\noutputs = { a = "q2" }\nsamples = 4', 'method = "dopri5"', 1e-6),
        (1e-9, "", 'step = "1 ms"', 1e-6),
        (1e-9, 'derivatives = ["m1"]', 'step = "1 ms"', 1e-6),
        (1e-9, "", 'step = "0.1 ms"\nmethod = "semi_implicit"', 1e-2),
        (1e-5, "", 'method = "dopri5"\nprecision = "float32"', 1e-3),
        (1e-9, "", 'step = "1 ms"\nprecision = "mixed"', 1e-3),
    ],
)
def test_criteria_of_every_kind(rtol, more, gpu, limit, tmp_path):
    compared(tmp_path, PENDULUM.format(rtol=rtol, more=more, gpu=gpu), limit)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("method", ["dopri5", "rk4"])
def test_closed_loops(name, method, tmp_path):
    head, vary, criteria = LOOPS[name]
    step = "0.02 ms" if name == "andrews_squeezer" else "0.5 ms"
    gpu = 'method = "dopri5"' if method == "dopri5" else f'step = "{step}"'
    design = '[design]\nkind = "random"\ncount = 20000\n'
    text = f'mechanism = "library:{name}"\n{head}\n[gpu]\n{gpu}\n[vary]\n{vary}\n{design}[criteria]\n{criteria}\n'
    compared(tmp_path, text, 3e-5)


def test_a_fall_stops_at_the_floor():
    """Oracle: √(2 g h) and √(2 h / g), with derivatives by the height."""
    text = """
    mechanism fall ; param g = 9.81 m/s^2 ; gravity = [0, 0, -g] ; let ball = body mass = 1 kg, centre = [0,0,0], inertia = 0 end ;
    join earth and ball.frame as rail with prismatic(z) along [0, 0, 1] end ; init z = 2 m ;
    """
    criteria = [Criterion("z'"), Criterion("z", "integral"), Criterion("", "event time", when="z", name="time")]
    heights = np.linspace(1.0, 4.0, N)
    t = np.sqrt(2 * heights / 9.81)
    for method, options in (("dopri5", {"step": 2.0, "steps": 1}), ("rk4", {"step": 1e-2, "steps": 200})):
        move = ts.Rollouts(
            ts.parse(text), method, "float64", criteria=criteria, sensitivities=["z(0)"],
            stop=Event("z", direction=-1, stop=True),
        )  # fmt: skip
        found = move(heights[None], np.zeros((1, N)), **options).criteria
        assert np.allclose(found[0], [-9.81 * t, 2 * heights * t / 3, t], rtol=1e-9)
        assert np.allclose(found[1], [-np.sqrt(9.81 / 2 / heights), t, t / 2 / heights], rtol=1e-8)


def test_the_period_of_a_pendulum():
    """Oracle: complete elliptic integral."""
    import mpmath

    lengths = np.linspace(0.5, 2.0, N)
    criteria = [Criterion("", "event time", when="theta'", direction=-1, name="period")]
    move = ts.Rollouts(library.load("pendulum"), "dopri5", "float64", criteria=criteria)
    q = np.full((1, N), np.pi / 3)
    found = move(q, 0 * q, step=5.0, steps=1, parameters={"l": lengths}, rtol=1e-10, atol=1e-12, max_step=0.5).criteria
    exact = 4 * float(mpmath.ellipk(mpmath.sin(mpmath.pi / 6) ** 2)) * np.sqrt(lengths / 9.81)
    assert np.allclose(found[0], exact, rtol=1e-7)


def test_failures_and_a_whole_sweep(tmp_path):
    pytest.importorskip("zarr", reason="sweeps keep their results with zarr")
    path = tmp_path / "s.toml"
    text = PENDULUM.format(rtol=1e-7, more='backend = "cuda"', gpu='method = "dopri5"')
    path.write_text(
        text.replace('from = "20 deg"', 'from = "0.1 deg"').replace('"q1", direction', '"q1 + 0.1", direction')
    )
    swept = sweep(path)
    assert swept.workers == "a GPU" and swept.computed == N
    status, swing = swept.store.dataset()["status"].values, swept.store.dataset()["swing"].values
    assert 0 < np.isfinite(swing).sum() < N and len(set(status.tolist())) > 1
