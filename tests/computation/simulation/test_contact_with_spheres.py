"""Boxes, wheels and ellipsoids beside spheres."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import torseur as ts
from torseur.algebra.graph import Input, Program, vector
from torseur.computation.simulation.constrained.contacts.contact_geometry import contact_elements
from torseur.computation.simulation.model.single_state import Evaluator
from torseur.derivation.formalisms import derive

STONE = """mechanism stone ; gravity = [0, 0, -9.81 m/s^2] ;
let stone = body mass = 1 kg, centre = 0, inertia = diag(0.002, 0.003, 0.004) kg*m^2 end ;
let ball = body mass = 2 kg, centre = 0, inertia = diag(0.01, 0.01, 0.01) kg*m^2 end ;
join earth and stone.frame as fs with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
join earth and ball.frame as fb with free(X, Y, Z, E0, E1, E2, E3) angles quaternion end ;
contact stone.SHAPE with ball.sphere radius 25 cm friction 0.3, restitution 0.5 as touch ;
init z = 1 m, x = 0.1 m, y = 0.05 m, e0 = 0.8, e1 = 0.6, fs.wx = 2 rad/s, fs.wz = 1 rad/s, Z = 0.3 m, X' = 0.5 m/s ;"""
SHAPES = {
    "box size [20, 14, 8] cm": (lambda p: np.clip(p, -1, 1) * [0.1, 0.07, 0.04], 0.0),
    "disc radius 12 cm": (lambda p: np.array([p[0], p[1], 0]) * 0.12 / max(1, np.hypot(p[0], p[1])), 0.0),
    "torus radius 10 cm tyre 2 cm": (lambda p: np.array([p[0], p[1], 0]) * 0.1 / max(1, np.hypot(p[0], p[1])), 0.02),
    "ellipsoid semiaxes [12, 8, 4] cm": (lambda p: p / max(1, np.linalg.norm(p)) * [0.12, 0.08, 0.04], 0.0),
}


def gap_of(mechanism):
    """The gap of the only contact, as a function of the coordinates."""
    equations = derive(mechanism)
    gap = contact_elements(equations, mechanism.contacts[0])[0].gap
    program = Program("gap", (Input("q", equations.layout.coordinates),), (vector("gap", [gap]),))
    return Evaluator(program)


def rotation(e0, e):
    cross = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return np.eye(3) + 2 * e0 * cross + 2 * cross @ cross


@pytest.mark.parametrize("words", SHAPES)
def test_gaps_are_the_smallest_distances(words):
    """Oracle: SciPy's search among the points of the shape, from several starts, in random poses."""
    mechanism, numbers = ts.parse(STONE.replace("SHAPE", words)), np.random.default_rng(5)
    gap, (point_of, skin) = gap_of(mechanism), SHAPES[words]
    for _ in range(8):
        e = numbers.normal(size=4)
        e /= np.linalg.norm(e)
        way = numbers.normal(size=3)
        place = way / np.linalg.norm(way) * numbers.uniform(0.3, 0.8)
        found = float(gap({"q": [*place, *e, 0, 0, 0, 1, 0, 0, 0]})["gap"][0])
        turned = rotation(e[0], e[1:])

        def distance(p, turned=turned, place=place):
            return float(np.linalg.norm(place + turned @ point_of(np.asarray(p))))

        starts = [minimize(distance, s, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13, "maxiter": 4000})
                  for s in (-turned.T @ place / 0.3, numbers.normal(size=3), numbers.normal(size=3))]  # fmt: skip
        assert found == pytest.approx(min(s.fun for s in starts) - skin - 0.25, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("words", SHAPES)
def test_impacts_keep_momentum_and_lose_energy(words):
    """Laws: linear and angular momentum about the common centre of mass pass through impacts, energy only falls."""
    momenta = [f"(1 kg * stone.velocity.{a} + 2 kg * ball.velocity.{a})" for a in "xy"]
    mechanism = ts.parse(STONE.replace("SHAPE", words).replace("gravity = [0, 0, -9.81 m/s^2]", "gravity = [0, 0, 0]")
                         .replace("X' = 0.5 m/s", "z' = -2 m/s"))  # fmt: skip
    motion = ts.simulate(mechanism, until=0.6, samples=31, outputs=["energy", *momenta])
    assert [event.name for event in motion.events][:1] == ["touch"]
    for name in momenta:
        assert motion[name] == pytest.approx(np.full(31, motion[name][0]), abs=1e-12)
    assert np.diff(motion["energy"]).max() < 1e-9
    assert motion["energy"][-1] < 0.95 * motion["energy"][0]


@pytest.mark.slow
def test_a_ball_on_a_table_is_a_ball_on_a_plane():
    """The same ball on a large box and on the plane of its upper face: bounces, slides and rolls alike."""
    text = """mechanism ball ; gravity = [0, 0, -9.81 m/s^2] ;
    let ball = body mass = 2 kg, centre = 0, inertia = diag(0.008, 0.008, 0.008) kg*m^2 end ;
    let table = [0.2 m, 0, -0.3 m] @ earth ;
    join earth and ball.frame as flight with free(x, y, z, e0, e1, e2, e3) angles quaternion end ;
    WORDS friction 0.2, restitution 0.3 as floor ;
    init z = 0.2 m, x' = 3 m/s, y' = 1 m/s ;"""
    words = ("contact table.box size [9, 8, 0.6] m with ball.sphere radius 10 cm",
             "contact ball.sphere radius 10 cm with earth normal [0, 0, 1]")  # fmt: skip
    boxed, plain = (ts.simulate(ts.parse(text.replace("WORDS", w)), until=1, samples=11) for w in words)
    # The speed of rest goes with the size of the gap: one may bounce once more, with less than 5e-6 m/s.
    for name in ("x", "y", "z", "x'", "y'", "e1"):
        assert boxed[name] == pytest.approx(plain[name], abs=2e-6)


def test_a_disc_in_a_plane_is_a_circle():
    """It rolls off a ball as a sphere of its radius does, and slides and leaves it at the same instants."""
    text = """mechanism disc ; gravity = [0, -9.81 m/s^2, 0] ;
    let wheel = body mass = 1 kg, centre = 0, inertia = diag(0.001, 0.001, 0.002) kg*m^2 end ;
    join earth and wheel.frame as flight with planar(x, y, q) end ;
    contact wheel.WORDS radius 5 cm with earth.sphere radius 20 cm friction 0.8 as on ;
    init x = 0.075 m, y = 0.25 m * sqrt(1 - 0.09) ;"""
    disc, sphere = (ts.simulate(ts.parse(text.replace("WORDS", w)), until=0.6, samples=13) for w in ("disc", "sphere"))
    assert [event.name for event in disc.events] == [event.name for event in sphere.events] != []
    for name in ("x", "y", "q"):
        assert disc[name] == pytest.approx(sphere[name], abs=1e-7)
