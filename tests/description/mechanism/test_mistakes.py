"""Things of the wrong kind, as they are given in Python by mistake: each is refused with what was expected."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from torseur.errors import TorseurError

BOB = ts.body("bob", mass=1, centre=np.array([0.0, -1.0, 0.0]), inertia=0)
PIVOT = ts.revolute("pivot", ts.EARTH, BOB, "q")
PENDULUM = ts.Mechanism("pendulum", bodies=[BOB], joints=[PIVOT], gravity=(0, -9.81, 0), initial={"q": 1})

MISTAKES = {
    "side by name": (lambda: ts.revolute("j", "earth", BOB, "q"), "joint 'j': expected a body, .* got 'earth'"),
    "force on a name": (lambda: ts.force("f", "bob", (1, 2, 3)), "force 'f': expected a body"),
    "spring to a name": (lambda: ts.spring("s", ts.EARTH, "bob", stiffness=1), "spring 's': expected a body"),
    "distance to a name": (lambda: ts.distance("d", ts.EARTH, "bob", 1), "distance 'd': expected a body"),
    "driver by name": (lambda: ts.driver("d", "q", 1), "driver 'd': expected a coordinate"),
    "inertia as a list": (lambda: ts.body("b", mass=1, inertia=[1, 1, 1]), r"give a matrix, e\.g\. inertia\("),
    "inertia as an array": (lambda: ts.body("b", mass=1, inertia=np.eye(3)), r"give a matrix, e\.g\. inertia\("),
    "body by name": (lambda: ts.Mechanism("m", bodies=["bob"]), "bodies of 'm': expected a Body, got 'bob'"),
    "simulate a name": (lambda: ts.simulate("library:pendulum", 1), "expected a mechanism, got str. torseur.load"),
    "loops of nothing": (lambda: ts.loops(None), "expected a mechanism, got NoneType"),
    "derive equations": (lambda: ts.derive(ts.derive(PENDULUM)), "got Equations. Its mechanism is .mechanism"),
    "generate from a mechanism": (lambda: ts.generate(PENDULUM, "bias", "c"), r"torseur\.derive\(mechanism\) gives"),
    "compile a mechanism": (lambda: ts.compile(PENDULUM), "expected equations, got Mechanism"),
    "time with a unit": (lambda: ts.simulate(PENDULUM, "5 s"), "until is '5 s': expected a finite time in seconds"),
    "samples in words": (lambda: ts.simulate(PENDULUM, 1, samples="many"), "samples is 'many': expected how many"),
    "a library's name misspelt": (lambda: ts.load("library:pendulm"), "unknown library mechanism 'pendulm'.*pendulum"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_is_explained(mistake):
    attempt, message = MISTAKES[mistake]
    with pytest.raises(TorseurError, match=message):
        attempt()


def test_one_output_or_event_needs_no_list():
    motion = ts.simulate(PENDULUM, 2, outputs="energy", events="q")
    assert motion["energy"] == pytest.approx(-9.81 * np.cos(1))
    assert len(motion.events) == 2


def test_every_public_name_has_help():
    """help(name) says more than a word about every function and class."""
    for name in ts.__all__ if hasattr(ts, "__all__") else dir(ts):
        thing = getattr(ts, name)
        if callable(thing) and not name.startswith("_"):
            assert len(thing.__doc__ or "") > 12, name
