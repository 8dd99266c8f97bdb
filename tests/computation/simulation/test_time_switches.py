"""Switches whose time is known: no step passes them, by any method, backend and way to ask for a motion.

A body of 1 kg slides freely but for a force that is on for short times. Oracle: closed forms of its impulse.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import symbol
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.simulation.events.time_switches import NEVER, time_switches
from torseur.computation.simulation.fmu import write_fmu

T0, D, F = 0.4137, 1e-3, 1000.0
PULSE = "F*where(t < t0, 0, where(t < t0 + d, 1, 0))"
SLED = f"""mechanism sled ; param t0 = {T0} s, d = {D} s, F = {F} N ; let b = body mass = 1 kg end ;
join earth and b.frame as rail with prismatic(x) along [1, 0, 0] force = {{law}} end ; init x = 0 m, x' = 0 m/s ;"""
PAIR = f"""mechanism pair ; param t0 = {T0} s, d = {D} s, F = {F} N ; let b = body mass = 0.4 kg end ; let c = body mass = 0.6 kg end ;
join earth and b.frame as rail with prismatic(x) along [1, 0, 0] force = {PULSE} end ;
join earth and c.frame as other with prismatic(y) along [1, 0, 0] end ; constrain y = x ; init x = 0 m ;"""


def sled(law=PULSE):
    return ts.parse(SLED.format(law=law))


def place(t, t0=T0, d=D, force=F):
    """x and x' after one pulse, as long as it has been on."""
    on = np.clip(t - t0, 0.0, d)
    return force * (on**2 / 2 + on * np.clip(t - t0 - d, 0.0, None)), force * on


@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9", "auto"])
def test_a_pulse_is_not_stepped_over(method, backend):
    motion = ts.simulate(sled(), 1.0, samples=[0.0, T0, T0 + D / 2, T0 + D, 1.0], method=method, backend=backend)
    x, v = place(motion.time)
    assert np.allclose(motion["x"], x, rtol=0.0, atol=1e-12) and np.allclose(motion["x'"], v, rtol=0.0, atol=1e-12)
    assert motion.statistics.steps < 40 and motion.notes == ()


@pytest.mark.parametrize(
    ("law", "impulse"),
    [
        ("F*where(t <= t0, 0, where(t <= t0 + d, 1, 0))", F * D),
        ("F*where(2*t > t0, where(3*t < 1.5*t0 + 3*d, 1, 0), 0)", F * D),
        ("F*max(0, 1 - abs(t - t0)/d)", F * D),
        ("F*(sign(t - t0) - sign(t - t0 - d))/2", F * D),
        ("F*where(t*t < t0*t0, 0, where(t*t < (t0 + d)*(t0 + d), 1, 0))", F * D),
        ("F*where(sin(2*pi*t/(0.25 s)) > 0.999, 1, 0)", 4 * F * 0.25 * math.acos(0.999) / math.pi),
        ("F*where(cos(2*pi*t/(0.25 s) + 1) < -0.999, 1, 0)", 4 * F * 0.25 * math.acos(0.999) / math.pi),
        ("F*where(abs(sin(2*pi*t/(0.5 s))) > 0.999, 1, 0)", 4 * F * 0.5 * math.acos(0.999) / math.pi),
        ("F*where(t/(0.3 s) - floor(t/(0.3 s)) < 0.01, 1, 0)", 4 * F * 0.003),
        ("F*where(t - (0.3 s)*floor(t/(0.3 s) + 0.5) > 0.149 s, 1, 0)", 3 * F * 0.001),
        ("F*max(0, floor(1 + (t - t0)/(1 s)) - floor(1 + (t - t0 - d)/(1 s)))", F * D),
    ],
)
def test_conditions_of_every_kind(law, impulse):
    """The speed at the end is the impulse: every pulse has been met from its begin to its end."""
    motion = ts.simulate(sled(law), 1.0, samples=2)
    assert motion["x'"][-1] == pytest.approx(impulse, rel=1e-11) and motion.notes == ()


def test_forward_and_back():
    x, v = place(1.0)
    motion = ts.simulate(sled(), 0.0, start=1.0, initial={"x": float(x), "x'": float(v)}, samples=2)
    assert np.abs(motion.values[-1]).max() < 1e-12


def test_dense_output_has_both_sides():
    motion = ts.simulate(sled(), 1.0, dense=True)
    times = np.linspace(0.0, 1.0, 10_001)
    assert np.allclose(motion.state_at(times), np.transpose(place(times)), rtol=0.0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
@pytest.mark.parametrize("method", ["explicit", "radau5"])
def test_constrained_motions(formulation, method):
    motion = ts.simulate(ts.parse(PAIR), 1.0, samples=[0.0, T0 + D / 2, 1.0], formulation=formulation, method=method)
    x, v = place(motion.time)
    for name in ("x", "y"):
        assert np.allclose(motion[name], x, rtol=0.0, atol=1e-10)
        assert np.allclose(motion[f"{name}'"], v, rtol=0.0, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_derivatives_by_when_and_how_long(method):
    """x(1) = F d (1 - t0 - d/2)."""
    found = ts.sensitivity(sled(), "x", ["t0", "d", "F"], until=1.0, method=method)
    exact = [-F * D, F * (1 - T0 - D), D * (1 - T0 - D / 2)]
    assert [found.derivative("x", name)[-1] for name in ("t0", "d", "F")] == pytest.approx(exact, rel=1e-9)


@pytest.mark.slow
def test_integrals_that_switch():
    criterion = ts.Criterion(ts.where(ts.TIME < T0, 0, ts.where(ts.TIME < T0 + D, F, 0)), "integral", name="impulse")
    found = ts.sensitivity(sled("0 N"), [criterion], ["t0"], until=1.0)
    assert found.responses[0].values[-1] == pytest.approx(F * D, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("count", [6, 65536])
def test_sweeps_and_lanes(tmp_path, count):
    """Each motion has times of its own."""
    from torseur.analysis.studies import read_study
    from torseur.analysis.studies.sweeps.evaluation import Evaluator

    if find_compiler() is None:
        pytest.skip("no C compiler is installed")
    (tmp_path / "sled.lsd").write_text(SLED.format(law=PULSE))
    (tmp_path / "s.toml").write_text(
        'mechanism = "sled.lsd"\nuntil = "1 s"\n[vary]\nt0 = { uniform = ["0.1 s", "0.8 s"] }\n'
        f'd = {{ uniform = ["0.1 ms", "2 ms"] }}\n[design]\nkind = "sobol"\ncount = {count}\n[criteria]\nend = "x"\n'
    )
    study = read_study(tmp_path / "s.toml")
    batch = Evaluator(study).batch
    points = study.points(0, min(count, 100))
    assert (batch.lanes is not None) == (count > 1000)
    assert np.allclose(batch(points).values[:, 0], place(1.0, points[:, 0], points[:, 1])[0], rtol=1e-10)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_functional_mock_up_units(kind, tmp_path):
    fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")
    if find_compiler() is None:
        pytest.skip("no C compiler is installed")
    write_fmu(sled(), str(tmp_path / "sled.fmu"))
    result = fmpy.simulate_fmu(str(tmp_path / "sled.fmu"), fmi_type=kind, stop_time=1.0, output_interval=0.1)
    limit = 1e-12 if kind == "CoSimulation" else 2e-2  # FMPy's integrator has a tolerance of its own
    assert result["x"][-1] == pytest.approx(float(place(1.0)[0]), rel=limit)


def test_a_table_of_time_is_looked_at_between_its_points():
    """Points 10 ms apart, one of them high: the spline's integral is the impulse. Oracle: SciPy."""
    from scipy.interpolate import make_interp_spline

    points = ", ".join(f"[{0.01 * k:.2f}, {1000 if k == 43 else 0}]" for k in range(101))
    text = SLED.format(law="kick(t)").replace("let b", f"table kick in N = {points} ; let b")
    spline = make_interp_spline(np.arange(101) * 0.01, [1000.0 * (k == 43) for k in range(101)], k=3)
    motion = ts.simulate(ts.parse(text), 1.0, samples=2)
    assert motion["x'"][-1] == pytest.approx(float(spline.integrate(0.0, 1.0)), rel=1e-6)


def test_times_that_are_not_known_have_a_note():
    motion = ts.simulate(sled("F*where(exp(t/(1 s)) < 2 + t/(1 s), 0, 1)"), 2.0, samples=2)
    assert any("exp(t" in note for note in motion.notes)


def test_the_next_switch():
    t, a = symbol("t"), symbol("a")
    program = time_switches([ts.where(t < a, 1, 2) + ts.where(3 - t < 0, 1, 2)], t, [a]).program
    assert program is not None

    def ahead(now, direction, value):
        return program.evaluate({"t": [now], "direction": [direction], "p": [value]})["ahead"][0]

    assert ahead(0.0, 1.0, 2.0) == 2.0 and ahead(2.5, 1.0, 2.0) == 0.5 and ahead(2.5, -1.0, 2.0) == 0.5
    assert ahead(3.5, 1.0, 2.0) == NEVER and time_switches([t * a], t, [a]).program is None
