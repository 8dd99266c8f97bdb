"""Hessians of criteria at events and extrema, with quaternions, and from starts that follow from parameters."""

from __future__ import annotations

from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity import Criterion
from torseur.analysis.sensitivity.results import verification
from torseur.description import library
from torseur.errors import UnsupportedError

OSCILLATOR = """mechanism oscillator ; param m = 2 kg, k = 50 N/m, A = 0.3 m ;
let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k end ; init x = A ;"""


def hessian(function, point):
    """All second derivatives of a function, by mpmath with 40 digits."""
    with mp.workdps(40):
        point, ones = tuple(mp.mpf(str(x)) for x in point), np.eye(len(point), dtype=int)
        return np.array([[float(mp.diff(function, point, tuple(int(i) for i in a + b))) for b in ones] for a in ones])


def passing(m, k, a):
    """x = a cos(w t) where its speed passes -0.3 m/s."""
    w = mp.sqrt(k / m)
    return a * mp.cos(mp.asin(mp.mpf("0.3") / (a * w)))


MOMENTS = {
    "crossing": (Criterion("t", "event time", when="x"), lambda m, k, a: mp.pi / 2 * mp.sqrt(m / k)),
    "speed": (Criterion("x'", "event", when="x"), lambda m, k, a: -a * mp.sqrt(k / m)),
    "fastest": (Criterion("x'", "maximum"), lambda m, k, a: a * mp.sqrt(k / m)),
    "lowest": (Criterion("x^3", "minimum"), lambda m, k, a: -(a**3)),
    "start": (Criterion("x^2", "maximum"), lambda m, k, a: a * a),
    "passing": (Criterion("x", "event", when="x' + 0.3 m/s"), passing),
}


@pytest.fixture(scope="module")
def instants():
    criteria = [criterion for criterion, _ in MOMENTS.values()]
    return ts.sensitivity(ts.parse(OSCILLATOR), criteria, "m,k,A", until=1.2, rtol=1e-12, second_order=True)


@pytest.mark.slow
@pytest.mark.parametrize("case", MOMENTS)
def test_events_and_extrema(case, instants):
    """Oracle: closed forms of the free oscillation, differentiated by mpmath."""
    criterion, form = MOMENTS[case]
    assert instants[criterion.label].hessian == pytest.approx(hessian(form, (2, 50, 0.3)), abs=1e-10)


@pytest.mark.slow
def test_from_equilibrium():
    """Oracle: z = -m g / k + (v / w) sin(w t), about the equilibrium that moves with the parameters."""
    mechanism = ts.parse(
        """mechanism hung ; param m = 2 kg, k = 50 N/m, g = 9.81 m/s^2 ; gravity = [0, 0, -g] ;
        let block = body mass = m, centre = [0, 0, 0], inertia = 0 end ;
        join earth and block.frame as rail with prismatic(z) along [0, 0, 1] stiffness = k end ;"""
    )
    options = {"until": 0.7, "rtol": 1e-12, "second_order": True, "from_equilibrium": True, "initial": {"z'": 1.5}}
    found = ts.sensitivity(mechanism, "z", "m,k,g", **options)

    def height(m, k, g):
        w = mp.sqrt(k / m)
        return -m * g / k + mp.mpf("1.5") / w * mp.sin(w * mp.mpf("0.7"))

    assert found["z"].value == pytest.approx(float(height(2, 50, mp.mpf("9.81"))), abs=1e-12)
    assert found["z"].hessian == pytest.approx(hessian(height, (2, 50, 9.81)), abs=1e-9)


def by_differences(mechanism, criterion, steps, until, **options):
    """Differences of order four of first derivatives, a row per parameter."""
    rows = []
    for name, step in steps.items():
        value = float(mechanism.parameter(name).value)
        asked = {"until": until, "rtol": 1e-12, "method": "direct", **options}
        near = [
            ts.sensitivity(mechanism, criterion, list(steps), values={name: value + k * step}, **asked)
            for k in (-2, -1, 1, 2)
        ]
        derivatives = [found.responses[0].gradient for found in near]
        rows.append((8 * (derivatives[2] - derivatives[1]) - (derivatives[3] - derivatives[0])) / (12 * step))
    return np.array(rows)


TOP = """mechanism top ; param m = 2 kg, L = 1 m, w = 20 1/s, tilt = 0.4, g = 9.81 m/s^2 ; gravity = [0, 0, -g] ;
let top = body mass = m, centre = [0, 0, L/2], inertia = diag(0.2 kg*m^2, 0.2 kg*m^2, 0.1 kg*m^2) about iframe end ;
join earth and top.frame as tip with spherical(p0, p1, p2, p3) angles quaternion end ;
init p0 = cos(tilt/2), p1 = sin(tilt/2), tip.wz = w ;"""


@pytest.mark.slow
def test_quaternions_whose_start_varies():
    """A spinning top that is let go with a tilt."""
    mechanism, steps = ts.parse(TOP), {"L": 1e-3, "tilt": 1e-3}
    found = ts.sensitivity(mechanism, "top.centre.position.y", list(steps), until=0.5, rtol=1e-11, second_order=True)
    expected = by_differences(mechanism, "top.centre.position.y", steps, 0.5)
    assert found.responses[0].hessian == pytest.approx(expected, rel=1e-7)


@pytest.mark.slow
def test_quaternions_in_a_loop():
    mechanism = ts.parse(
        """mechanism hung ; param m = 2 kg, L = 1 m, d = 1.2 m, g = 9.81 m/s^2 ; gravity = [0, 0, -g] ;
        let a = body mass = m, centre = [0, 0, -L/2], inertia = diag(0.2 kg*m^2, 0.25 kg*m^2, 0.1 kg*m^2) about iframe end ;
        let b = body mass = 1 kg, centre = [0, 0, -0.3 m], inertia = diag(0.05 kg*m^2, 0.06 kg*m^2, 0.02 kg*m^2) about iframe end ;
        join earth and a.frame as top with spherical(p0, p1, p2, p3) angles quaternion end ;
        join [0.8 m, 0, 0] ++ 1 @ earth and b.frame as side with revolute(r) end ;
        constrain distance [0, 0, -L] @ a to [0, 0.6 m, 0] @ b = d ; init p0 = cos(0.1), p2 = sin(0.1), p1 = 0, p3 = 0 ;"""
    )
    steps = {"L": 1e-3, "d": 1e-3}
    found = ts.sensitivity(mechanism, "a.centre.position.x", list(steps), until=0.4, rtol=1e-11, second_order=True)
    assert found.responses[0].hessian == pytest.approx(
        by_differences(mechanism, "a.centre.position.x", steps, 0.4), rel=1e-6
    )


@pytest.mark.slow
def test_what_has_no_second_derivative_says_so():
    loop = library.load("four_bar")
    with pytest.raises(UnsupportedError, match="second order needs events and new values without accelerations"):
        ts.sensitivity(loop, Criterion("A.force.x", "minimum"), "a", until=1.0, second_order=True)


@pytest.mark.slow
def test_quaternions_that_the_start_completes_bend_with_the_parameters():
    """Oracle: the same two bodies as a tree, in which no constraint completes the start."""
    text = """
    param a = 0.3 m ; gravity = [0, -9.81, 0] ;
    let arm = body mass = 1 kg, centre = [0.2, 0, 0] m, inertia = diag(0.1, 0.2, 0.3) kg*m^2 end ;
    let tool = body mass = 0.7 kg, centre = [0.05, 0.1, 0.02] m, inertia = diag(0.02, 0.03, 0.04) kg*m^2 end ;
    join earth to arm.frame as hinge with revolute(th) about [0.1, 0.2, 1] end ;
    init th = 0.4, th' = 1 ;
    """
    place = "join [a, 0.1 m, 0] ++ (2.3 1/m * a || [0.3, -0.5, 0.8]) @ arm to tool.frame as weld with fixed()"
    tree = f"{text} {place} end ;"
    loop = f"{text} join earth to tool.frame as f with free(x, y, z, e0, e1, e2, e3) angles quaternion end ; {place}, role = loop end ;"
    found = [
        ts.sensitivity(ts.parse(t), "tool.rotation.x", ["a"], until=0.02, second_order=True, rtol=1e-10, verify=False)[
            "tool.rotation.x"
        ]
        for t in (tree, loop)
    ]
    assert np.allclose(found[1].hessian, found[0].hessian, rtol=1e-6)


@pytest.mark.parametrize(("factor", "noticed"), [(1.0, False), (1.05, True)])
def test_the_one_motion_more_sees_a_hessian_that_is_slightly_wrong(monkeypatch, factor, noticed):
    """Oracle: the motion itself, which tells one in a hundred of all second-order effects."""
    seen = []
    whole = verification._Direction.one_sided

    def wrong(direction, step, is_curved):
        scaled = [replace(r, hessian=factor * r.hessian) for r in direction.responses]
        seen.append(whole(replace(direction, responses=scaled), step, is_curved))
        return seen[-1]

    monkeypatch.setattr(verification._Direction, "one_sided", wrong)
    result = ts.sensitivity(library.load("double_pendulum"), "q1", ["l2"], until=1.0, second_order=True)
    (_, of_hessians), *others = seen
    assert not others
    assert (of_hessians > verification.CURVED) == noticed
    assert result.trusted
