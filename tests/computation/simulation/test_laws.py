"""Python functions in the loop: laws, right-hand sides, and what they raise."""

import math

import numpy as np
import pytest

import torseur as ts
from computation.simulation.systems import T
from torseur.algebra.graph import Input, Program, UndeterminedFunction, symbol, vector
from torseur.computation.simulation import Event, Law, Output, Quantity, System, simulate
from torseur.errors import SimulationError, TorseurError

X, V, MASS = symbol("x", "m"), symbol("v", "m/s"), symbol("m", "kg")


def driven(two_laws=False):
    """m x'' = force(t, x) - drag(v)."""
    force = UndeterminedFunction("force", 2)(T, X)
    drag = UndeterminedFunction("drag", 1)(V)
    laws = (Law("force", force), Law("drag", drag)) if two_laws else (Law("force", force),)
    total = force - drag if two_laws else force
    inputs = (
        Input("t", (T,)),
        Input("y", (X, V)),
        Input("p", (MASS,)),
        Input("u", tuple(law.node for law in laws)),
    )
    return System(
        name="driven",
        states=(Quantity("x", "m"), Quantity("v", "m/s")),
        initial=(1.0, 0.0),
        coordinates=1,
        rhs=Program("rhs", inputs, (vector("dy", (V, total / MASS)),)),
        parameters=(Quantity("m", "kg"),),
        values=(1.0,),
        laws=laws,
        quantities={"power": (Quantity("power", "W"), force * V)},
    )


def test_law_of_time_and_position(backend):
    """force = -x + 1 gives x = 1 + (x0 - 1) cos t."""
    laws = {"force": lambda t, x: 1.0 - x}
    motion = simulate(driven(), 5.0, initial={"x": 3.0}, laws=laws, rtol=1e-11, backend=backend)
    assert np.allclose(motion["x"], 1.0 + 2.0 * np.cos(motion.time), rtol=0.0, atol=1e-9)


def test_laws_in_outputs_and_events():
    system = driven()
    force = system.laws[0].node
    motion = simulate(
        system,
        5.0,
        laws={"force": lambda t, x: -x},
        outputs=["power", Output("pull", force)],
        events=[Event("slack", force)],
        rtol=1e-11,
    )
    assert np.allclose(motion["pull"], -motion["x"])
    assert np.allclose(motion["power"], -motion["x"] * motion["v"])
    assert [e.time for e in motion.events] == pytest.approx([math.pi / 2, 1.5 * math.pi], abs=1e-9)


def test_two_laws_with_their_own_arguments(backend):
    """m x'' = t - v: a closed form with an exponential."""
    laws = {"drag": lambda v: v, "force": lambda t, x: t}
    motion = simulate(driven(two_laws=True), 4.0, laws=laws, initial={"x": 0.0}, rtol=1e-11, backend=backend)
    t = motion.time
    assert np.allclose(motion["v"], t - 1 + np.exp(-t), rtol=0.0, atol=1e-9)


def test_missing_and_unknown_laws():
    with pytest.raises(TorseurError, match="law 'force' is undetermined"):
        simulate(driven(), 1.0)
    with pytest.raises(TorseurError, match="Did you mean 'force'"):
        simulate(driven(), 1.0, laws={"forces": lambda t, x: 0.0})


def test_exception_in_a_law_says_when(backend):
    def broken(t, x):
        return 1.0 if t < 2.0 else [][0]

    with pytest.raises(SimulationError, match=r"law 'force' failed at t = 2\.\d+ s: IndexError") as failure:
        simulate(driven(), 5.0, laws={"force": broken}, backend=backend)
    assert isinstance(failure.value.__cause__, IndexError)
    valid = failure.value.trajectory
    assert 0.0 < valid.time[-1] <= 2.0
    assert np.allclose(valid["v"], valid.time, rtol=0.0, atol=1e-9)


def test_wrong_number_of_arguments():
    with pytest.raises(SimulationError, match="TypeError"):
        simulate(driven(), 5.0, laws={"force": lambda t: 1.0})


def python_system(function, initial=(1.0, 0.0)):
    return System(
        name="user",
        states=(Quantity("x"), Quantity("v")),
        initial=initial,
        rhs=function,
        coordinates=1,
        parameters=(Quantity("k"),),
        values=(4.0,),
    )


def test_python_right_hand_side(backend):
    motion = simulate(python_system(lambda t, y, p: (y[1], -p[0] * y[0])), 3.0, rtol=1e-11, backend=backend)
    assert np.allclose(motion["x"], np.cos(2 * motion.time), rtol=0.0, atol=1e-9)


def test_python_right_hand_side_with_python_outputs_only():
    system = python_system(lambda t, y, p: (y[1], -p[0] * y[0]))
    motion = simulate(system, 1.0, outputs=[Output("twice", lambda t, y: 2 * y[0])])
    assert np.allclose(motion["twice"], 2 * motion["x"])
    with pytest.raises(TorseurError, match="give a function of"):
        simulate(system, 1.0, outputs=[Output("formula", X)])


def test_right_hand_side_of_wrong_length():
    with pytest.raises(SimulationError, match="right-hand side failed at t = 0 s"):
        simulate(python_system(lambda t, y, p: (1.0, 2.0, 3.0)), 1.0)


@pytest.mark.slow
def test_interruption_reaches_the_user(backend):
    """Ctrl-C in a law is an interruption, not a failure of the law."""

    def interrupted(t, x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(driven(), 1.0, laws={"force": interrupted}, backend=backend)


def test_a_motion_beyond_the_points_of_a_table_says_so():
    text = """table bump in N = [0, 0], [1, 1], [2, 3], [3, 2] ;
    let b = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and b.frame with prismatic(x) force = bump(x) * 0.001 end ; init x = 0 m, x' = {} m/s ;"""
    within, beyond = (ts.simulate(ts.parse(text.format(speed)), 1, samples=11).notes for speed in (2, 5))
    assert within == () and len(beyond) == 1
    assert "table 'bump' (<text>:1:7) has points from 0 to 3, and the motion asks for 5" in beyond[0]


def test_a_cam_beyond_its_table_says_so():
    cam = ts.parse("""table lift in m = [0, 0], [1, 0.1], [2, 0.1], [3, 0] ;
    let follower = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and follower.frame with prismatic(y) end ; constrain y = lift(t * 2 1/s) as contact ;""")
    assert any("table 'lift'" in note for note in ts.simulate(cam, 2, samples=5).notes)
