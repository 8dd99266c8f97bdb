"""Criteria at events and extrema."""

from __future__ import annotations

import math

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity import Criterion
from torseur.description import library
from torseur.errors import TorseurError


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_oscillator_events_and_extrema(method):
    """Oracle: x = A cos(w t): zero at pi/(2w), speed -A w there, largest speed A w."""
    mechanism = ts.parse(
        """mechanism oscillator ; param m = 2 kg, k = 50 N/m, A = 0.3 m ;
        let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k end ; init x = A ;"""
    )
    criteria = [
        Criterion("t", "event time", when="x", name="crossing"),
        Criterion("x'", "event", when="x", name="speed"),
        Criterion("x'", "maximum", name="fastest"),
        Criterion("x", "minimum", name="lowest"),
        Criterion("x", "maximum", name="start"),
    ]
    found = ts.sensitivity(mechanism, criteria, "m,k,A", until=1.2, rtol=1e-12, method=method)
    m, k, a = 2.0, 50.0, 0.3
    w = math.sqrt(k / m)
    time = math.pi / (2 * w)
    expected = {
        "crossing": [time / (2 * m), -time / (2 * k), 0],
        "speed": [a * w / (2 * m), -a * w / (2 * k), -w],
        "fastest": [-a * w / (2 * m), a * w / (2 * k), w],
        "lowest": [0, 0, -1],
        "start": [0, 0, 1],
    }
    for name, derivatives in expected.items():
        assert found[name].gradient == pytest.approx(derivatives, abs=1e-9), name


def test_events_at_the_same_time():
    """They follow each other without a step between, and the motion goes on."""
    mechanism = ts.parse(
        """mechanism oscillator ; param m = 2 kg, k = 50 N/m, A = 0.3 m ;
        let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k end ; init x = A ;"""
    )
    criteria = [
        Criterion("t", "event time", when="x"),
        Criterion("x^3", "minimum"),
        Criterion("x^2", "maximum"),
        Criterion("x", "event", when="x' + 0.3 m/s"),
    ]
    found = ts.sensitivity(mechanism, criteria, "m,k,A", until=0.8, rtol=1e-12)
    assert found["minimum of x^3"].gradient == pytest.approx([0, 0, -3 * 0.3**2], abs=1e-11)


@pytest.mark.slow
def test_extremum_on_a_loop():
    """The largest angle of a four-bar that swings: at its time the rate of the angle vanishes."""
    mechanism = library.load("four_bar")
    pair = [
        ts.sensitivity(mechanism, Criterion("gamma", "minimum"), "a,c", until=1.0, rtol=1e-11, method=method)
        for method in ("direct", "adjoint")
    ]
    first, second = (found.responses[0] for found in pair)
    assert first.gradient == pytest.approx(second.gradient, rel=1e-8)
    assert 0.0 < first.time[0] < 1.0


@pytest.mark.slow
def test_extrema_and_events_of_reactions():
    """Reactions have rates of their own. Oracle: differences of sampled motions, a parabola through the lowest."""
    mechanism = library.load("four_bar")
    criteria = [
        Criterion("A.force.x", "minimum", name="smallest"),
        Criterion("t", "event time", when="A.force.x - 15 N", name="when"),
        Criterion("A.force.x", "event", when="gamma'", occurrence=2, name="turning"),
    ]
    pair = [
        ts.sensitivity(mechanism, criteria, "a,b", until=1.0, rtol=1e-11, method=method)
        for method in ("direct", "adjoint")
    ]
    for name in ("smallest", "when", "turning"):
        assert pair[0][name].gradient == pytest.approx(pair[1][name].gradient, rel=1e-7)
    near = []
    for shift in (-2, -1, 1, 2):
        motion = ts.simulate(
            mechanism, 1.0, parameters={"a": 0.4 + shift * 1e-3}, samples=40001, outputs=["A.force.x"], rtol=1e-11
        )
        force = motion["A.force.x"]
        k = int(np.argmin(force))
        left, middle, right = force[k - 1 : k + 2]
        near.append(middle - (right - left) ** 2 / (8 * (right - 2 * middle + left)))
    assert 0.0 < pair[0]["smallest"].time[0] < 1.0
    expected = (8 * (near[2] - near[1]) - (near[3] - near[0])) / 12e-3
    assert pair[0]["smallest"].gradient[0] == pytest.approx(expected, rel=1e-5)


def test_an_event_that_never_happens():
    with pytest.raises(TorseurError, match="never happens.*'q1 - 10' is"):
        ts.sensitivity(library.load("double_pendulum"), Criterion("q1", "event", when="q1 - 10"), "m1", until=1)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_an_event_function_faster_than_the_steps_is_said(method):
    """sin(1e9 x) changes its sign 3e8 times per metre: what is found as the third of them need not be it."""
    text = """param k = 4 N/m, c = 1 m ; let b = body mass = 1 kg end ; join earth and b.frame as r with prismatic(x) along [1, 0, 0] stiffness = k end ;
    init x = 1 m, x' = 0 m/s ;"""
    fast = Criterion("x'", "event", when="sin(1e9*x/c)", occurrence=3)
    found = ts.sensitivity(ts.parse(text), fast, ["k"], until=0.1, method=method, verify=False)
    assert any("changes faster than the steps can follow" in note for note in found.notes)
