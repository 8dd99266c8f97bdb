"""Criteria of rollouts: integrals, extrema, events and stops, on the text that runs on a GPU compiled as plain C++.

Oracles: closed forms of an oscillator, a fall and a pendulum, and the CPU's sensitivities.
"""

from __future__ import annotations

import shutil
import subprocess

import mpmath
import numpy as np
import pytest

import torseur as ts
from torseur import Criterion
from torseur.algebra.graph.scalar import sin
from torseur.computation.simulation import Event
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError

ADAPTIVE = {"step": 2.0, "steps": 1, "rtol": 1e-11, "atol": 1e-13, "max_step": 0.2}
FIXED = {"step": 1e-3, "steps": 2000}
FALL = """
mechanism fall ; param g = 9.81 m/s^2 ; gravity = [0, 0, -g] ; let ball = body mass = 1 kg, centre = [0,0,0], inertia = 0 end ;
join earth and ball.frame as rail with prismatic(z) along [0, 0, 1] end ; init z = 2 m ;
"""
OSCILLATION = [
    Criterion("2*x - x"),
    Criterion("kinetic_energy", "integral"),
    Criterion("x'", "maximum"),
    Criterion("x", "minimum"),
    Criterion("", "event time", when="3*x", direction=-1, occurrence=2, name="second"),
    Criterion("x'", "event", when="x", direction=1),
]


def oscillation(k, x0, end=2):
    """What the criteria are of x = x0 cos(ωt), m = 1."""
    w = mpmath.sqrt(k)
    return [
        x0 * mpmath.cos(w * end),
        0.5 * (x0 * w) ** 2 * (mpmath.mpf(end) / 2 - mpmath.sin(2 * w * end) / (4 * w)),
        x0 * w,
        -x0,
        2.5 * mpmath.pi / w,
        x0 * w,
    ]


def oscillator(method, precision="float64", criteria=OSCILLATION, **options):
    return ts.Rollouts(library.load("mass_spring_damper"), method, precision, criteria=criteria, **options)


def moved(move, x0=(0.1,), **options):
    x0 = np.atleast_2d(x0)
    return move(x0, 0 * x0, parameters={"c": 0.0}, **options)


@pytest.mark.parametrize(
    ("method", "precision", "options", "limit"),
    [
        ("dopri5", "float64", ADAPTIVE, 1e-9),
        ("rk4", "float64", FIXED, 1e-9),
        ("dopri5", "float32", {**ADAPTIVE, "rtol": 1e-6, "atol": 1e-8}, 2e-5),
        ("rk4", "mixed", FIXED, 5e-5),
        ("semi_implicit", "float64", {"step": 2e-5, "steps": 100_000}, 1e-3),
    ],
)
def test_an_oscillator_with_derivatives(method, precision, options, limit, emulated):
    """Values and slopes by the stiffness and the start. Oracle: closed forms."""
    move = oscillator(method, precision, sensitivities=["k", "x(0)"])
    found = moved(move, **options).criteria[:, :, 0]
    exact = [oscillation(mpmath.mpf(40), mpmath.mpf("0.1"))]
    exact += [
        [mpmath.diff(lambda *p, c=c: oscillation(*p)[c], (40, 0.1), n) for c in range(6)] for n in ((1, 0), (0, 1))
    ]
    exact = np.array([[float(x) for x in row] for row in exact])
    size = np.abs(exact).max(axis=1, keepdims=True)
    assert np.abs((found - exact) / size).max() < limit


def test_fixed_steps_meet_events_with_their_order(emulated):
    exact = np.array([float(x) for x in oscillation(mpmath.mpf(40), mpmath.mpf("0.1"))])
    move = oscillator("rk4")
    error = [np.abs(moved(move, step=2.0 / n, steps=n).criteria[:, 0] - exact)[4:] for n in (50, 100)]
    assert ((error[0] / error[1] > 12) & (error[0] / error[1] < 36)).all()  # 16 by order, a little more by symmetry


def test_each_motion_has_events_of_its_own(emulated):
    """Oracle: acos(level / start) / ω, for levels near the start too."""
    x = ts.derive(library.load("mass_spring_damper")).layout.coordinates[0]
    starts = 0.05 * (1 + np.geomspace(1e-6, 3, 40))
    criteria = [Criterion("", "event time", when=x - 0.05, occurrence=n, name=str(n)) for n in (1, 2, 3)]
    found = moved(oscillator("dopri5", criteria=criteria), starts, **ADAPTIVE).criteria
    first = np.arccos(0.05 / starts) / np.sqrt(40)
    turn = 2 * np.pi / np.sqrt(40)
    assert np.allclose(found, [first, turn - first, turn + first], rtol=0, atol=2e-9)


@pytest.mark.parametrize("method", ["dopri5", "rk4"])
@pytest.mark.parametrize(("direction", "way"), [(1, -1), (-1, 1)])
def test_two_changes_within_a_step_are_seen(method, direction, way, emulated):
    """A level just below the top is passed twice in 4 ms. Oracle: closed form."""
    x = ts.derive(library.load("mass_spring_damper")).layout.coordinates[0]
    event = Criterion("", "event time", when=x - 0.09999, direction=direction, occurrence=1 if way < 0 else 2)
    options = ADAPTIVE if method == "dopri5" else {"step": 0.01, "steps": 200}
    found = moved(oscillator(method, criteria=[event]), **options).criteria[0, 0]
    exact = (2 * np.pi + way * np.arccos(0.9999)) / np.sqrt(40)
    assert found == pytest.approx(exact, abs=1e-8 if method == "dopri5" else 1e-5)


@pytest.mark.parametrize(
    ("method", "precision"),
    [("dopri5", "float64"), ("dopri5", "float32"), ("rk4", "float64"), ("semi_implicit", "mixed")],
)
def test_functions_faster_than_the_steps_are_followed(method, precision, emulated):
    """The 600th change of sign of sin 1000 t, with steps of 50 radians and more; as on the CPU."""
    event = Criterion("", "event time", when=sin(1000.0 * ts.TIME), occurrence=600)
    options = {"step": 2.0, "steps": 1} if method == "dopri5" else {"step": 0.05, "steps": 40}
    found = moved(oscillator(method, precision, criteria=[event]), **options).criteria[0, 0]
    assert found == pytest.approx(0.6 * np.pi, rel=1e-12 if precision == "float64" else 1e-5)


def test_what_cannot_be_followed_is_not_a_number(emulated):
    """More periods in a step than the search follows; an extremum of something as fast is not asked for by its time."""
    x = ts.derive(library.load("mass_spring_damper")).layout.coordinates[0]
    buzz = Criterion("x", "event", when=sin(1e9 * ts.TIME) + 1.5 * x / 0.1)
    found = moved(oscillator("rk4", criteria=[buzz, Criterion("x")]), step=0.05, steps=4).criteria
    assert np.isnan(found).all()


def test_a_start_on_the_zero_is_no_event(emulated):
    """The speed is zero at the start and the next time half a period later, when it rises."""
    criteria = [Criterion("", "event time", when="x'", name="any"), Criterion("x", "maximum")]
    found = moved(oscillator("dopri5", criteria=criteria), **ADAPTIVE).criteria[:, 0]
    assert found == pytest.approx([np.pi / np.sqrt(40), 0.1], rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dopri5", "rk4", "semi_implicit"])
def test_a_fall_stops_at_the_floor(method, emulated):
    """Speed, time and integral at the stop, with slopes by gravity and height. Oracle: closed forms."""
    criteria = [
        Criterion("z'"), Criterion("z", "integral"), Criterion("z", "maximum"),
        Criterion("", "event time", when="z", name="time"), Criterion("z", "minimum"),
    ]  # fmt: skip
    move = ts.Rollouts(
        ts.parse(FALL), method, "float64", outputs=["z", "z'"], criteria=criteria, sensitivities=["g", "z(0)"],
        stop=Event("z", direction=-1, stop=True),
    )  # fmt: skip
    options = (
        {"step": 0.5, "steps": 4, "every": 1} if method == "dopri5" else {"step": 1e-4, "steps": 20000, "every": 5000}
    )
    records, found = move(np.array([[2.0]]), np.zeros((1, 1)), **options)
    g, h = 9.81, 2.0
    t = np.sqrt(2 * h / g)
    exact = [
        [-np.sqrt(2 * g * h), 2 * h * t / 3, h, t, 0.0],
        [-np.sqrt(h / 2 / g), -h * t / 3 / g, 0.0, -t / 2 / g, 0.0],
        [-np.sqrt(g / 2 / h), t, 1.0, t / 2 / h, 0.0],
    ]
    limit = 1e-3 if method == "semi_implicit" else 1e-9
    assert np.allclose(found[:, :, 0], exact, rtol=limit, atol=limit)
    heights = [h - g * 0.125, 0.0, 0.0, 0.0]
    assert np.allclose(records[:, 0, 0, 0], heights, atol=limit)
    assert np.allclose(records[1:, 0, 1, 0], exact[0][0], rtol=limit)


def test_a_later_occurrence_stops(emulated):
    move = oscillator("rk4", criteria=[Criterion("x'")], stop=Event("x", stop=3))
    found = moved(move, **FIXED).criteria[0, 0]
    assert found == pytest.approx(-0.1 * np.sqrt(40), rel=1e-9)


def test_the_period_of_a_pendulum(emulated):
    """Oracle: 4 K(sin(θ₀/2)) √(l/g), by the arithmetic-geometric mean; each motion has a length of its own."""
    lengths = np.linspace(0.5, 2.0, 7)
    move = ts.Rollouts(
        library.load("pendulum"), "dopri5", "float64",
        criteria=[Criterion("", "event time", when="theta'", direction=-1, name="period"), Criterion("energy")],
    )  # fmt: skip
    q = np.full((1, 7), np.pi / 3)
    found = move(q, 0 * q, step=5.0, steps=1, parameters={"l": lengths}, rtol=1e-11, atol=1e-13, max_step=0.5).criteria
    exact = 4 * float(mpmath.ellipk(mpmath.sin(mpmath.pi / 6) ** 2)) * np.sqrt(lengths / 9.81)
    assert np.allclose(found[0], exact, rtol=1e-8)
    assert np.allclose(found[1], -9.81 * lengths * np.cos(np.pi / 3), rtol=1e-8)


@pytest.mark.slow
def test_a_double_pendulum_as_on_the_cpu(emulated):
    """Formulas with accelerations, several events, derivatives. Oracle: the direct method on the CPU."""
    mechanism, names = library.load("double_pendulum"), ["m2", "q1(0)"]
    criteria = [
        Criterion("q1"), Criterion("q1''", "maximum"), Criterion("energy", "integral"), Criterion("q2", "minimum"),
        Criterion("q2", "event", when="q1", direction=-1, occurrence=2),
        Criterion("q1", "event time", when="q2''", occurrence=3),
    ]  # fmt: skip
    start = {"q1": 0.5, "q2": 0.3}
    exact = ts.sensitivity(mechanism, criteria, names, until=10.0, initial=start, rtol=1e-11).responses
    expected = np.array([[float(r.values[-1]), *np.ravel(r.derivatives[-1])] for r in exact]).T
    move = ts.Rollouts(mechanism, "dopri5", "float64", criteria=criteria, sensitivities=names)
    q = np.array([[0.5], [0.3]])
    found = move(q, 0 * q, step=10.0, steps=1, rtol=1e-10, atol=1e-12, max_step=1.0).criteria[:, :, 0]
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.slow
def test_rounding_makes_no_endless_events(emulated):
    """Single precision and short steps: signs of functions near zero are noise. Oracle: the same in double precision."""
    criteria = [
        Criterion("q2", "maximum"), Criterion("q1", "minimum"), Criterion("q2'", "maximum"),
        Criterion("", "event time", when="q1", name="first"),
    ]  # fmt: skip
    q = np.random.default_rng(0).uniform([[0.35], [0.7]], [[0.55], [0.9]], (2, 60))
    found = {}
    for precision in ("float32", "mixed", "float64"):
        move = ts.Rollouts(library.load("double_pendulum"), "rk4", precision, criteria=criteria)
        found[precision] = move(q, 0 * q, step=1e-3, steps=3000).criteria
    for precision in ("float32", "mixed"):
        assert np.abs(found[precision] - found["float64"]).max() < 1e-4


def test_what_changes_nothing_has_derivative_zero(emulated):
    """Entries that are zero for every state are written too."""
    move = oscillator("rk4", criteria=[Criterion(ts.TIME, "integral"), Criterion("x")], sensitivities=["m"])
    found = moved(move, **FIXED).criteria
    assert found[0, 0, 0] == pytest.approx(2.0) and found[1, 0, 0] == 0.0


@pytest.mark.slow
def test_a_motion_that_ends_has_no_criteria(emulated):
    text = "mechanism fall ; let ball = body mass = 1 kg end ; join earth and ball.frame as rail with prismatic(x) along [1,0,0] force = 1 N / (1 - x / 1 m) end ; init x = 0 m ;"
    for method in ("dopri5", "rk4"):
        move = ts.Rollouts(ts.parse(text), method, "float64", criteria=[Criterion("x", "minimum")])
        found = move(np.zeros((1, 1)), np.full((1, 1), 2.0), step=0.125, steps=16, rtol=1e-9).criteria
        assert method == "rk4" or np.isnan(found).all()


def test_quaternions_keep_their_length(emulated):
    """A free body that tumbles, coarse steps. Oracle: the CPU's motion, and length one."""
    mechanism = library.load("free_body")
    motion = ts.simulate(mechanism, 2.0, samples=2, rtol=1e-11)
    equations = ts.derive(mechanism)
    count = len(equations.layout.coordinates)
    first, last = (motion.values[k][: count + len(equations.layout.speeds), None] for k in (0, -1))
    found = ts.Rollouts(mechanism, "rk4", "float64")(first[:count], first[count:], step=0.01, steps=200)[0]
    slots = [equations.layout.coordinates.index(x) for x in equations.tree.links[0].symbols.quaternion]
    assert np.abs(np.sum(found[slots, 0] ** 2) - 1.0) < 1e-12
    assert np.abs(found - last).max() < 1e-5 * np.abs(last).max()


def test_one_start_for_all_motions(emulated):
    """One column of states, with slopes, and as many masses as there are motions."""
    move = oscillator("rk4", criteria=[Criterion("x")], sensitivities=["x(0)"])
    masses = np.array([0.5, 1.0, 2.0])
    found = move(np.array([[0.1]]), np.zeros((1, 1)), parameters={"c": 0.0, "m": masses}, **FIXED).criteria
    exact = np.cos(2 * np.sqrt(40 / masses))
    assert np.allclose(found[:, 0], [0.1 * exact, exact], rtol=1e-8)


def test_a_state_that_stays_zero_needs_no_absolute_tolerance(emulated):
    move = oscillator("dopri5", "float32", criteria=[Criterion("x")])
    found = moved(move, x0=(0.0, 0.1), step=2.0, steps=1, rtol=1e-5, atol=0.0).criteria
    assert found[0, 0] == 0.0 and np.isfinite(found).all()


def test_mistakes():
    mechanism = library.load("pendulum")
    with pytest.raises(UnsupportedError, match="Python function"):
        ts.Rollouts(mechanism, stop=Event("low", lambda t, y: y[0], stop=True))
    with pytest.raises(TorseurError, match="does not stop"):
        ts.Rollouts(mechanism, stop=Event("theta"))
    text = FALL.replace("end ; init", "force = where(t < 1 s, 1 N, 0 N) end ; init")
    ts.Rollouts(ts.parse(text))
    with pytest.raises(UnsupportedError, match="derivatives jump where"):
        ts.Rollouts(ts.parse(text), sensitivities=["g"])
    move = ts.Rollouts(mechanism, criteria=[Criterion("theta", "maximum")])
    with pytest.raises(TorseurError, match="forward in time"):
        move(np.zeros((1, 2)), np.zeros((1, 2)), step=-0.1, steps=3)
    with pytest.raises(TorseurError, match=r"q has shape \(1, 2\), expected \(1, 3 states\)"):
        move(np.zeros((1, 2)), np.zeros((1, 1)), step=0.1, steps=3, parameters={"m": np.ones(3)})
    with pytest.raises(TorseurError, match="atol has 3 entries, expected one number, or 2 for the states"):
        move(np.zeros((1, 2)), np.zeros((1, 2)), step=0.1, steps=3, atol=[1e-6] * 3)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "precision"), [("dopri5", "float64"), ("rk4", "mixed"), ("semi_implicit", "float32")]
)
def test_nvcc_takes_the_kernel(method, precision, tmp_path, emulated, monkeypatch):
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("nvcc is not installed")
    found = []
    monkeypatch.setattr(
        "torseur.computation.codegen.targets.cuda.rollout.rollout_kernel.Launchable",
        lambda source, _: found.append(source),
    )
    oscillator(method, precision, sensitivities=["k"], stop=Event("x", stop=3))._kernel(("m",), False)
    (tmp_path / "kernel.cu").write_text(found[0].text)
    command = [compiler, "-arch=sm_90", "-std=c++14", "-c", "kernel.cu", "-o", "kernel.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
