"""What is asked and what comes back: names, groups, constants, forms, rankings, files, and bad input."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torseur as ts
from torseur.analysis.sensitivity import Criterion, sensitivity_surface
from torseur.description import library
from torseur.errors import TorseurError

PENDULUM = library.load("double_pendulum")


@pytest.fixture(scope="module")
def found():
    return ts.sensitivity(PENDULUM, ["kinetic_energy", "q1"], "m1,r2,q1(0)", until=2.0, samples=21)


def test_former_names_warn_and_give_the_same():
    found = ts.sensitivity(library.load("mass_spring_damper"), "x", ["k"], until=1.0)
    pairs = [(found, "slopes", "x"), (found["x"], "slopes", None), (found.ranking("x")[0], "slope", None)]
    for result, old, argument in pairs:
        new = old.replace("slope", "derivative")
        with pytest.warns(DeprecationWarning, match=f"{old} is now called .*{new}"):
            former = getattr(result, old)
        both = (
            (former, getattr(result, new)) if argument is None else (former(argument), getattr(result, new)(argument))
        )
        assert np.array_equal(*both)


def test_forms(found):
    raw = found.derivative("kinetic_energy", "r2")
    assert found.derivative("kinetic_energy", "r2", "per_percent") == pytest.approx(raw * 5 / 100)
    assert found.derivative("q1", "r2", "logarithmic") == pytest.approx(
        found.derivative("q1", "r2") * 5 / found["q1"].values
    )
    assert found.derivative("q1", "q1(0)")[0] == 1.0
    steady = found.derivative("kinetic_energy", "r2")
    assert found.overshoot("kinetic_energy", "r2") == pytest.approx(100 * (np.max(steady / steady[-1]) - 1))


def test_ranking_by_tolerance_and_cost(found):
    tolerances = {"m1": 0.2, "r2": 0.01, "q1(0)": 0.001}
    ranks = {rank.parameter: rank for rank in found.ranking("kinetic_energy", tolerances)}
    spreads = {n: abs(found.derivative("kinetic_energy", n)[-1]) * t for n, t in tolerances.items()}
    assert sum(rank.share for rank in ranks.values()) == pytest.approx(1.0)
    for name, spread in spreads.items():
        assert ranks[name].spread == pytest.approx(spread)
    total = np.sqrt(sum(s * s for s in spreads.values()))
    assert found.spread("kinetic_energy", tolerances) == pytest.approx(total)
    costly = found.ranking("kinetic_energy", tolerances, costs={max(spreads, key=spreads.get): 1e6})
    assert costly[-1].parameter == max(spreads, key=spreads.get)
    with pytest.raises(TorseurError, match="cost of 'm1'"):
        found.ranking("kinetic_energy", costs={"m1": 0.0})


@pytest.mark.slow
def test_groups_vary_together():
    """A group's derivative is the sum of its members'."""
    parts = ts.sensitivity(PENDULUM, "q1", "r2,l2", until=1.0)
    whole = ts.sensitivity(PENDULUM, "q1", ["lengths=r2+l2"], until=1.0)
    weighted = ts.sensitivity(PENDULUM, "q1", {"mix": {"r2": 2.0, "l2": -1.0}}, until=1.0)
    assert whole["q1"].gradient[0] == pytest.approx(parts["q1"].gradient.sum(), rel=1e-8)
    assert weighted["q1"].gradient[0] == pytest.approx(parts["q1"].gradient @ [2.0, -1.0], rel=1e-7)
    equal = ts.sensitivity(PENDULUM, "q1", ["l2=r2", "arm.mass=blade.mass"], until=1.0)
    assert equal["q1"].gradient[0] == pytest.approx(parts["q1"].gradient.sum(), rel=1e-8)
    masses = ts.sensitivity(PENDULUM, "q1", "arm.mass,blade.mass", until=1.0)["q1"].gradient
    assert equal["q1"].gradient[1] == pytest.approx(masses.sum(), rel=1e-8)


@pytest.mark.slow
def test_constants_without_a_name():
    """Gravity, a mass, a spring and a point of a table, each against the parameter or the difference it must equal."""
    found = ts.sensitivity(PENDULUM, "q1", ["g", "gravity.y"], until=1.0, rtol=1e-11)
    assert found["q1"].gradient[0] == pytest.approx(-found["q1"].gradient[1], rel=1e-10)
    assert found.parameters[1].value == -9.81
    text = """mechanism bob ; table grip in N = [0, 0], [0.1, 1], [0.2, {}], [0.3, 5], [0.4, 9] ;
    let bob = body mass = 2 kg, centre = [0, 0, 0], inertia = 0 end ;
    join earth and bob.frame as rail with prismatic(x) along [1, 0, 0] force = -grip(x / 1 m) end ; init x = 0.35 m ;"""
    mechanism = ts.parse(text.format(2.5))
    derivatives = ts.sensitivity(mechanism, "x", ["grip[3]", "bob.mass"], until=0.3, rtol=1e-11)["x"].gradient
    near = [ts.simulate(ts.parse(text.format(2.5 + k * 1e-3)), 0.3, rtol=1e-12)["x"][-1] for k in (-1, 1)]
    assert derivatives[0] == pytest.approx((near[1] - near[0]) / 2e-3, rel=1e-6)
    with pytest.raises(TorseurError, match="table 'grip' has points 1 to 5"):
        ts.sensitivity(mechanism, "x", "grip[6]", until=0.3)


def test_laws_given_as_functions_are_traced():
    mechanism = ts.parse(
        """mechanism drum ; param J = 2 kg*m^2 ;
        let drum = body mass = 1 kg, centre = [0, 0, 0], inertia = diag(J, J, J) about frame end ;
        join earth and drum.frame as axle with revolute(theta) torque = ?motor(t) end ;"""
    )
    found = ts.sensitivity(mechanism, "theta'", "J", until=1.0, laws={"axle.motor": lambda t: 3 * t})
    assert found["theta'"].gradient[0] == pytest.approx(-1.5 / 4, rel=1e-9)
    with pytest.raises(TorseurError, match="undetermined"):
        ts.sensitivity(mechanism, "theta'", "J", until=1.0)


def test_verification_agrees_and_would_notice():
    from torseur.analysis.sensitivity.results.verification import Agreement, agreements

    found = ts.sensitivity(PENDULUM, "kinetic_energy", "m1,r2", until=1.0, verify=True)
    assert all(a.is_good and a.difference < 1e-8 for a in found.agreement)
    wrong = ts.sensitivity(PENDULUM, "kinetic_energy", "m1", until=1.0)
    response = wrong.responses[0]
    (bad,) = agreements(wrong.parameters, [response], lambda parameter, step, tightly: [response.values * (1.0 + step)])
    assert isinstance(bad, Agreement)
    assert not bad.is_good


def test_a_parameter_that_changes_nothing_says_so():
    mechanism = ts.parse(
        """mechanism pair ; param k1 = 3 N/m, k2 = 5 N/m, e = 0.4 ;
        let a = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
        let b = body mass = 2 kg, centre = [0, 0, 0], inertia = 0 end ;
        join earth and a.frame as first with prismatic(x1) along [1, 0, 0] stiffness = k1 end ;
        join earth and b.frame as second with prismatic(x2) along [0, 1, 0] stiffness = k2 end ;
        init x1 = 1 m, x2 = 1 m, x1' = 0 m/s, x2' = 0 m/s ;"""
    )
    found = ts.sensitivity(mechanism, "x1", "k1,k2,e", until=1.0)
    assert found["x1"].gradient[1:].tolist() == [0.0, 0.0]
    assert "by 'k2' are exactly zero: no criterion depends" in found.notes[0]
    assert "by 'e' are exactly zero: neither the motion" in found.notes[1]
    assert len(found.notes) == 2


@pytest.mark.slow
def test_starts_that_cannot_stay_are_announced():
    """Hairer's car axis gives all positions and speeds: another road violates them."""
    found = ts.sensitivity(library.load("car_axis"), "kinetic_energy", "k,r", until=0.1, rtol=1e-8, verify=True)
    said = "contradict the constraints as these change; all move by the least then: 'r'"
    assert any(said in note for note in found.notes)
    by_stiffness, by_road = found.agreement
    assert by_stiffness.is_good
    assert "initial speeds violate the constraints" in by_road.reason


@pytest.mark.slow
def test_chaos_is_announced():
    chain = library.load("pendulum_chain?n=4")
    found = ts.sensitivity(chain, "q1", "l", until=25.0, samples=5)
    assert not found.trusted
    assert "Not to be trusted" in " ".join(found.notes)


def test_methods_are_chosen_with_a_reason():
    few = ts.sensitivity(PENDULUM, "q1", "m1", until=1.0)
    assert few.method == "direct"
    assert "simulations" in few.reason
    curve = ts.sensitivity(PENDULUM, "q1", "m1", until=1.0, samples=3)
    assert "3 times" in curve.reason


def test_files(found, tmp_path):
    path = found.save(tmp_path / "derivatives.csv")
    assert path.read_text().splitlines()[0] == "criterion,time [s],value,unit,d/d m1,d/d r2,d/d q1(0)"
    document = json.loads(found.save(tmp_path / "derivatives.json").read_text())
    assert document["criteria"][0]["derivatives"][-1] == pytest.approx(list(found["kinetic_energy"].gradient))
    with pytest.raises(TorseurError, match="exists already"):
        found.save(path)
    with pytest.raises(TorseurError, match="ends in"):
        found.save(tmp_path / "derivatives.xlsx")


@pytest.mark.slow
def test_drawings(found, tmp_path):
    pytest.importorskip("matplotlib")
    for path in (
        found.plot(tmp_path / "curves.png", "q1"),
        found.tornado(tmp_path / "tornado.png"),
        found.pareto(tmp_path / "pareto.png", {"m1": 1.0, "r2": 3.0, "q1(0)": 2.0}),
    ):
        assert path.read_bytes().startswith(b"\x89PNG")
    surface = sensitivity_surface(PENDULUM, "q1", "r2", {"m1": [3, 4], "m2": [1, 2, 3]}, until=0.5)
    assert surface.derivatives("r2").shape == surface.values.shape == (2, 3)
    assert surface.plot(tmp_path / "surface.png", "r2").stat().st_size > 1000


BAD = {
    "criterion": (("kinetc_energy", "m1"), {}, "unknown quantity 'kinetc_energy'.*Did you mean 'kinetic_energy'"),
    "parameter": (("q1", "mm1"), {}, r"unknown parameter 'mm1'.*q1\(0\).*Did you mean 'm1'"),
    "sum": (("kinetic_energy + q1", "m1"), {}, "combines"),
    "syntax": (("2 * (q1", "m1"), {}, "cannot be read"),
    "function": (("sine(q1)", "m1"), {}, "unknown function 'sine'"),
    "arguments": (("sin(q1, q2)", "m1"), {}, "takes 1 arguments"),
    "unit": (("q1 + 3 parsnips", "m1"), {}, "parsnips"),
    "method": (("q1", "m1"), {"method": "magic"}, "unknown method 'magic'"),
    "twice": ((["q1", "q1"], "m1"), {}, "two criteria"),
    "none": (([], "m1"), {}, "no criterion"),
    "kind": ((5, "m1"), {}, "a formula or a Criterion"),
    "no value": (("log(q1 - 5)", "m1"), {}, "no finite value"),
    "nothing": (("q1", ""), {}, "no parameter is given"),
    "repeated": (("q1", "m1,m1"), {}, "listed twice"),
    "samples": (("q1", "m1"), {"samples": [0.5, 0.2]}, "follow each other"),
    "time": (("q1", "m1"), {"until": float("nan")}, "finite time"),
    "rtol": (("q1", "m1"), {"rtol": 1e-20}, "double precision"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told(case):
    (criterion, parameter), options, message = BAD[case]
    with pytest.raises(TorseurError, match=message):
        ts.sensitivity(PENDULUM, criterion, parameter, **{"until": 1.0, **options})


@pytest.mark.parametrize("method", ["direct", "adjoint", "continuous_adjoint"])
def test_spans_of_any_direction(method):
    """Nothing has changed at the start; from rest, the past mirrors the future."""
    still = ts.sensitivity(PENDULUM, "q1", "m1,q1(0)", until=0.0, method=method)
    assert still["q1"].gradient.tolist() == [0.0, 1.0]
    ahead, back = (ts.sensitivity(PENDULUM, "q1", "m1,q1(0)", until=t, rtol=1e-11, method=method) for t in (1.0, -1.0))
    assert ahead["q1"].gradient == pytest.approx(back["q1"].gradient, rel=1e-9)


def test_models_without_anything_to_vary():
    with pytest.raises(TorseurError, match="a model is a mechanism"):
        ts.sensitivity(print, "x", "m", until=1.0)
    plain = ts.parse(
        """mechanism bob ; let bob = body mass = 1 kg, centre = [0, 0, 0], inertia = 0 end ;
        join earth and bob.frame as rail with prismatic(x) along [1, 0, 0] stiffness = 4 N/m end ; init x = 1 m ;"""
    )
    with pytest.raises(TorseurError, match="has no parameters"):
        ts.sensitivity(plain, "x", until=1.0)
    found = ts.sensitivity(plain, "x", ["x(0)", "bob.mass"], until=1.0)
    assert found["x"].gradient[0] == pytest.approx(np.cos(2.0), abs=1e-8)


def test_kinds_of_criteria_are_checked():
    with pytest.raises(TorseurError, match="unknown kind"):
        Criterion("q1", "average")
    with pytest.raises(TorseurError, match="say when"):
        Criterion("q1", "event")
    with pytest.raises(TorseurError, match="follows from others"):
        dependent = ts.parse(
            """mechanism bob ; param a = 1 kg, m = 2 * a ; let bob = body mass = m, centre = [0,0,0], inertia = 0 end ;
            join earth and bob.frame as rail with prismatic(x) along [1,0,0] stiffness = 3 N/m end ; init x = 1 m ;"""
        )
        ts.sensitivity(dependent, "x", "m", until=1.0)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.floats(0.5, 8.0), st.floats(0.2, 2.0), st.floats(0.1, 3.0))
def test_frequency_scaling_law(k, m, t):
    """For x'' = -(k/m) x, scaling k and m together changes nothing: k dx/dk + m dx/dm = 0."""
    mechanism = library.load("mass_spring_damper")
    found = ts.sensitivity(
        mechanism, "x", "k,m,c", until=t, values={"k": k, "m": m, "c": 0.3}, initial={"x": 1.0, "x'": 0.0}, rtol=1e-10
    )
    derivatives = found["x"].gradient
    assert k * derivatives[0] + m * derivatives[1] + 0.3 * derivatives[2] == pytest.approx(0.0, abs=1e-7)


def test_constants_of_a_body_that_is_one_solid():
    """Oracle: a physical pendulum's criterion g/l' with l' = 2/3 length of a rod, from its angular acceleration."""
    rod = ts.parse("""gravity = [0, -9.81, 0] m/s^2 ; let bar = body rod length = 0.6 m, mass = 2 kg along [0, -1, 0] end ;
    join earth and bar.frame with revolute(q) torque = 0.3 N*m end ; init q = 30 deg ;""")
    found = ts.sensitivity(rod, "q''", "bar.mass,bar.length", until=0)["q''"]
    m, length = 2.0, 0.6
    assert found.value == pytest.approx(0.3 * 3 / (m * length**2) - 9.81 * 1.5 / length * 0.5)
    of_mass, of_length = -0.3 * 3 / (m * length) ** 2, -0.6 * 3 / (m * length**3) + 9.81 * 0.75 / length**2
    assert found.gradient == pytest.approx([of_mass, of_length])


def test_an_unknown_parameter_tells_how_constants_are_called():
    with pytest.raises(TorseurError, match=r"BODY\.mass"):
        ts.sensitivity(library.load("pendulum"), "theta", "bob.mas", until=1)
