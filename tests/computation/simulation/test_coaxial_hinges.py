"""Doors on several hinges of one oblique axis: nothing but the first hinge says anything."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import torseur as ts
from torseur.errors import TorseurError

MASS, CENTRE, INERTIA = 3.0, np.array([0.4, 0.1, -0.2]), np.array([0.3, 0.2, 0.25])
FIRST = np.array([0.31, -0.72, 0.53])
GRAVITY = np.array([0.0, 0.0, -9.81])
AXES = {"3-4-5": (0.0, 0.6, 0.8), "generic": (1 / 14**0.5, 2 / 14**0.5, 3 / 14**0.5), "unnormed": (1.0, -2.0, 3.0)}


def door(axis, hinges=2, digits=17, is_reversed=False, beside=(0.0, 0.0, 0.0), start="q0 = 0.3"):
    """A door whose hinges are at points of one axis, rounded to some decimals; `beside` moves the last one."""
    along, about = np.array(axis) / np.linalg.norm(axis), np.round(axis, digits)
    points = [np.round(FIRST + along * 0.7 * k, digits) for k in range(hinges)]
    points[-1] = points[-1] + np.array(beside)
    lines = []
    for k, point in enumerate(points):
        ends = [f"{written(point)} m @ earth", f"{written(point if k == 0 else point - beside)} m @ door"]
        first, second = reversed(ends) if is_reversed else ends
        lines.append(f"join {first} to {second} as h{k} with revolute(q{k}) about {written(about)} end ;")
    body = f"mass = {MASS} kg, centre = {written(CENTRE)} m, inertia = diag(0.3, 0.2, 0.25) kg*m^2"
    text = f"gravity = {written(GRAVITY)} ; let door = body {body} end ; {' '.join(lines)} init {start}, q0' = 0.5 ;"
    return ts.parse(text)


def written(vector):
    return "[" + ", ".join(f"({float(x)!r})" for x in vector) + "]"


def accelerations(axis, angle):
    """q'' of a physical pendulum about an oblique axis through FIRST, from moment of momentum about it."""
    u, arm = np.array(axis) / np.linalg.norm(axis), CENTRE - FIRST
    inertia = u @ (INERTIA * u) + MASS * (arm @ arm - (u @ arm) ** 2)
    turned = arm * np.cos(angle) + np.cross(u, arm) * np.sin(angle) + u * (u @ arm) * (1 - np.cos(angle))
    return u @ np.cross(turned, MASS * GRAVITY) / inertia


def swing(axis, sign, until=1.0):
    """The angle of the pendulum; that of a reversed joint counts the other way."""
    motion = solve_ivp(lambda t, y: [y[1], accelerations(axis, y[0])], (0, until), [sign * 0.3, sign * 0.5],
                       rtol=1e-12, atol=1e-12)  # fmt: skip
    return sign * motion.y[0, -1]


@pytest.mark.slow
@pytest.mark.parametrize("is_reversed", [False, True])
@pytest.mark.parametrize("digits", [17, 9, 6])
@pytest.mark.parametrize("axis", AXES.values(), ids=AXES)
def test_a_door_swings_as_on_one_hinge(axis, digits, is_reversed):
    """Oracle: a physical pendulum. Rounding moves axes by a last digit, and the answer by some of them."""
    for hinges in (2, 3):
        mechanism = door(axis, hinges, digits, is_reversed)
        motion = ts.simulate(mechanism, until=1.0, samples=2, rtol=1e-10)
        truth = swing(axis, -1.0 if is_reversed else 1.0)
        assert motion["q0"][-1] == pytest.approx(truth, abs=10 * 10.0**-digits + 1e-8)
        report = ts.loops(mechanism)
        assert (report.finite, report.infinitesimal) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
@pytest.mark.parametrize("digits", [17, 7])
def test_every_formulation(formulation, digits):
    axis = AXES["generic"]
    motion = ts.simulate(door(axis, 3, digits), until=1.0, samples=2, rtol=1e-10, formulation=formulation)
    assert motion["q0"][-1] == pytest.approx(swing(axis, 1.0), abs=10 * 10.0**-digits + 1e-8)


@pytest.mark.parametrize("digits", [17, 9])
def test_a_hinge_beside_the_axis_is_refused(digits):
    """Both points of the second hinge a millimetre from each other, across the axis: nothing closes that."""
    with pytest.raises(TorseurError, match="joint 'h1'"):
        ts.simulate(door(AXES["3-4-5"], 2, digits, beside=(1e-3, 0.0, 0.0)), until=1.0)


@pytest.mark.parametrize("digits", [17, 9, 6])
@pytest.mark.parametrize("backend", ["python", "c", "llvm"])
def test_generated_code(backend, digits):
    axis = AXES["generic"]
    kernel = ts.compile(ts.derive(door(axis, 3, digits)), ["constrained_forward_dynamics"], backend=backend)
    for angle in (-1.2, 0.3, 2.0):
        inputs = {"q": [angle], "v": [0.7], "tau": [0.0], "t": [0.0], "p": []}
        computed = kernel(*(inputs[group.name] for group in kernel.program.inputs))["vdot"]
        assert computed[0] == pytest.approx(accelerations(axis, angle), abs=100 * 10.0**-digits + 1e-9)
