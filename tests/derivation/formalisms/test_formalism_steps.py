"""Gibbs's function and the coefficients of Boltzmann and Hamel, against particles and brackets of vector fields."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
import sympy

import torseur as ts
from torseur.algebra.graph import as_expr, evaluate, gradient, symbols_of

TOP = """mechanism top ;
param m = 0.5 kg, a = 0.3 m, b = 0.2 m, c = 0.4 m, h = 0.7 m, d = 0.15 m ;
let top = body mass = 6*m, centre = [d, 0, h],
    inertia = diag(2*m*(b^2 + c^2), 2*m*(a^2 + c^2), 2*m*(a^2 + b^2)) end ;
join earth and top.frame as tip with spherical(psi, theta, phi) angles zxz end ;
init theta = 0.5 ;"""


def turn(axis, angle, speed, acceleration):
    """A rotation about a coordinate axis and its first two derivatives."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    plane, flat, still = (np.zeros((3, 3)) for _ in range(3))
    plane[j, i], plane[i, j] = 1, -1
    flat[i, i] = flat[j, j] = still[axis, axis] = 1
    along, across = np.cos(angle) * flat + np.sin(angle) * plane, np.cos(angle) * plane - np.sin(angle) * flat
    return along + still, speed * across, acceleration * across - speed**2 * along


def times(a, b):
    """A product with its first two derivatives."""
    return a[0] @ b[0], a[1] @ b[0] + a[0] @ b[1], a[2] @ b[0] + 2 * a[1] @ b[1] + a[0] @ b[2]


def test_gibbs_function_of_a_body_is_that_of_its_particles():
    """Oracle: ∂/∂q'' of Σ ½ m a·a over six particles with the same inertia, their accelerations by the product rule."""
    equations = ts.derive(ts.parse(TOP), "gibbs_appell")
    gibbs = equations.objects["Gibbs function"]
    layout = equations.layout
    ours = gradient(gibbs, layout.accelerations)
    values = {"m": 0.5, "a": 0.3, "b": 0.2, "c": 0.4, "h": 0.7, "d": 0.15}
    chance = Random(3)
    states = (*layout.coordinates, *layout.speeds, *layout.accelerations)
    numbers = {x: chance.uniform(-1, 1) for x in states} | {
        p.symbol: values[p.name] for p in equations.mechanism.parameters
    }
    q, v, a = ([numbers[x] for x in group] for group in (layout.coordinates, layout.speeds, layout.accelerations))
    places = [values[name] * sign * np.eye(3)[k] for k, name in enumerate("abc") for sign in (1, -1)]
    centre = np.array([values["d"], 0, values["h"]])

    def gibbs_of_particles(a):
        """Σ ½ m |R'' r|², with R'' by the product rule."""
        first, second, third = (turn(axis, *angle) for axis, *angle in zip((2, 0, 2), q, v, a, strict=True))
        rate = times(times(first, second), third)[2]
        return sum(values["m"] / 2 * np.sum((rate @ (centre + place)) ** 2) for place in places)

    for k in range(3):
        up, down = ([x + sign * (i == k) for i, x in enumerate(a)] for sign in (1.0, -1.0))
        expected = (gibbs_of_particles(up) - gibbs_of_particles(down)) / 2  # exact: quadratic in accelerations
        (found,) = evaluate([ours[k]], {x: numbers[x] for x in symbols_of([ours[k]])})
        assert found == pytest.approx(expected, rel=1e-10)


SLED = """mechanism sled ;
param m = 2 kg, J = 0.3 kg*m^2, a = 0.4 m, s = 0.7 rad ;
let sled = body mass = m, centre = [a, 0.1 m, 0], inertia = diag(0, 0, J) end ;
join earth and sled.frame as ice with planar(x, y, psi)
    speeds u = cos(psi + s)*x' + sin(psi + s)*y', w = -sin(psi)*x' + cos(psi)*y' + a*psi', r = psi' end ;"""


def test_transpositional_coefficients_are_brackets_of_the_speeds():
    """Oracle: [W_s, W_k] = Σ_r c^r_sk W_r for the oblique speeds of the sled, by SymPy from q' = W v alone."""
    psi, a, s = sympy.symbols("psi a s")
    x, y = sympy.symbols("x y")
    by_rates = sympy.Matrix(
        [
            [sympy.cos(psi + s), sympy.sin(psi + s), 0],
            [-sympy.sin(psi), sympy.cos(psi), a],
            [0, 0, 1],
        ]
    )
    fields = by_rates.inv()
    q = sympy.Matrix([x, y, psi])
    numbers = {psi: 0.3, a: 0.4, s: 0.7}
    equations = ts.derive(ts.parse(SLED), "boltzmann_hamel")
    names = equations.layout.speed_names
    shown = equations.objects["transpositional coefficients"]
    assert names == ["u", "w", "r"] and shown
    for i, first in enumerate(names):
        for k, second in enumerate(names):
            bracket = fields[:, k].jacobian(q) * fields[:, i] - fields[:, i].jacobian(q) * fields[:, k]
            expected = (by_rates * bracket).subs(numbers).evalf()
            for r, name in enumerate(names):
                entry = as_expr(shown.get((name, first, second), 0))
                (ours,) = evaluate([entry], {z: numbers[sympy.Symbol(str(z.name))] for z in symbols_of([entry])})
                assert float(ours) == pytest.approx(float(expected[r]), abs=1e-12), (name, first, second)
