"""Elements beyond mechanics: closed forms of motors, filters, cylinders, muscles and lines over surfaces."""

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.description.elements import active_force, force_at_speed, passive_force


def turning(*elements, friction=0.0, torque=0.0):
    rotor = ts.body("rotor", mass=1, centre=(0, 0, 0), inertia=ts.inertia(1, 1, 0.02))
    joint = ts.revolute("axle", ts.EARTH, rotor, ts.Coordinate("q"))
    load = ts.motor("bearing", "axle", "q", torque - friction * ts.Coordinate("q").rate)
    return joint, ts.Mechanism("m", bodies=[rotor], joints=[joint], loads=[load])


@pytest.mark.parametrize("inductance", [0, 0.5])
def test_a_motor_behind_its_gearbox(inductance):
    """Oracle: the linear system of n = 5, with n² J of the rotor, by the matrix exponential."""
    from scipy.linalg import expm

    joint, plain = turning(friction=0.01)
    drive = ts.dc_motor("drive", joint, 12, ts.GearedMotor(2, 0.1, inductance, ratio=5, armature=1e-3))
    motor = ts.with_elements(plain, drive)
    motion = ts.simulate(motor, 1.0, samples=2)
    inertia = 0.02 + 25e-3
    if inductance:
        a = np.array([[-2 / 0.5, -0.5 / 0.5, 12 / 0.5], [0.5 / inertia, -0.01 / inertia, 0], [0, 0, 0]])
    else:
        a = np.array([[0, 0, 0], [0, -(0.25 / 2 + 0.01) / inertia, 0.5 * 6 / inertia], [0, 0, 0]])
    expected = (expm(a) @ [0, 0, 1])[1]
    assert motion["q'"][-1] == pytest.approx(expected, rel=1e-7)
    if inductance:
        assert ts.parse(ts.to_text(motor)).states == motor.states


@pytest.mark.slow
def test_a_gearbox_loses_power_both_ways():
    """Oracle: at steady speed the load takes η of the motor's power; driven, the motor gets η of the load's."""
    for torque, share in ((-1.0, 0.8), (1.0, 1 / 0.8)):
        joint, plain = turning(torque=torque)
        voltage = 12 if torque < 0 else 0
        drive = ts.dc_motor("drive", joint, voltage, ts.GearedMotor(2, 0.1, ratio=20, efficiency=0.8))
        motion = ts.simulate(ts.with_elements(plain, drive), 5, samples=2)
        current = (voltage - 2 * motion["q'"][-1]) / 2
        assert abs(torque) == pytest.approx(share * abs(2 * current), rel=1e-6)


def test_filters_and_a_delay_answer_a_step():
    """Oracle: closed forms of steps; Padé's approximant of order 1 is -u + 2 y of a filter with τ/2, and delays a ramp."""
    signal = 1.0
    first = ts.first_order_filter("y", signal, 0.5)
    second = ts.second_order_filter("z", signal, 3.0, 0.2)
    delay = ts.pade_delay("d", ts.TIME, 0.3, order=4)
    one = ts.pade_delay("e", signal, 0.4, order=1)
    mechanism = ts.with_elements(ts.Mechanism("m"), first, second, delay, one)
    outputs = [ts.Output("late", delay.output), ts.Output("one", one.output)]
    motion = ts.simulate(mechanism, 4, samples=9, outputs=outputs)
    t, wd = motion.time, 3 * np.sqrt(1 - 0.04)
    assert np.allclose(motion["y"], 1 - np.exp(-2 * t), atol=1e-8)
    step = 1 - np.exp(-0.6 * t) * (np.cos(wd * t) + 0.6 / wd * np.sin(wd * t))
    assert np.allclose(motion["z"], step, atol=1e-8)
    assert motion["late"][-1] == pytest.approx(4 - 0.3, abs=1e-7)
    assert np.allclose(motion["one"], 1 - 2 * np.exp(-5 * t), atol=1e-8)


@pytest.mark.slow
def test_a_pid_controller_leaves_no_error_and_does_not_wind_up():
    """Oracle: a spring needs integral action; with a limit the integral stops growing while the output is at it."""
    mass = ts.body("mass", mass=1, centre=(0, 0, 0), inertia=0)
    x = ts.Coordinate("x", "m")
    rail = ts.prismatic("rail", ts.EARTH, mass, x)
    plain = ts.Mechanism(
        "m", bodies=[mass], joints=[rail], loads=[ts.coordinate_spring("k", "rail", "x", stiffness=10)]
    )
    control = ts.pid("pid", 1.0 - x, 20, 30, 6, filter_time=0.02, limit=15, unit="m")
    held = ts.with_elements(plain, control)
    held = replace(held, loads=(*held.loads, ts.motor("drive", "rail", "x", control.output)))
    motion = ts.simulate(held, 20, samples=400, outputs=[ts.Output("u", control.output)])
    assert motion["x"][-1] == pytest.approx(1, abs=1e-5) and motion["u"][-1] == pytest.approx(10, abs=1e-4)
    assert np.abs(motion["u"]).max() <= 15
    with pytest.raises(ts.TorseurError, match="filter_time"):
        ts.pid("pid", x, 1, 0, 1)


def test_oil_in_a_cylinder_is_a_spring():
    """Oracle: closed chambers hold a mass with β (A²/V + A_r²/V_r), a frequency; energy of the oil aside."""
    mass = ts.body("mass", mass=50, centre=(0, 0, 0), inertia=0)
    rail = ts.prismatic("rail", ts.EARTH, mass, ts.Coordinate("x", "m"))
    cylinder = ts.hydraulic_cylinder(
        "cylinder", rail, 0, 0, ts.OilChambers(area=2e-3, rod_area=1e-3, volume=4e-4, rod_volume=2e-4)
    )
    held = ts.with_elements(ts.Mechanism("m", bodies=[mass], joints=[rail]), cylinder)
    stiffness = 1.4e9 * (4e-6 / 4e-4 + 1e-6 / 2e-4)
    modes = np.linalg.eigvals(ts.linearise(held).state_matrix)
    assert np.abs(modes.imag).max() == pytest.approx(np.sqrt(stiffness / 50), rel=1e-9)


def test_the_curves_of_a_muscle_are_those_published():
    """Oracle: values stated with the curves (1 at the optimum and at rest, 0 and 1.794 at the greatest speeds)."""
    assert float(active_force(1.0)) == pytest.approx(1, abs=1e-3)
    assert [float(force_at_speed(v)) for v in (-1.0, 0.0, 1.0)] == pytest.approx([0, 1, 1.794], abs=1e-3)
    assert [float(passive_force(x)) for x in (0.8, 1.0, 1.6)] == pytest.approx([0, 0, 1], abs=1e-12)


def arm(*through, name="biceps"):
    upper = ts.body("forearm", mass=1.5, centre=(0.15, 0, 0), inertia=ts.inertia(0.001, 0.01, 0.01))
    joint = ts.revolute("elbow", ts.EARTH, upper, ts.Coordinate("q"))
    along = ts.line(name, [ts.EARTH.at((-0.3, 0.01, 0.0)), *through, upper.at((0.05, 0.0, 0.0))])
    return joint, upper, along


def test_a_muscle_holds_what_its_moment_arm_says():
    """Oracle: tension times the arm of a straight line about the elbow, by a cross product; a at its excitation."""
    joint, forearm, along = arm()
    muscle = ts.hill_muscle("biceps", along, 0.5, ts.Muscle(force=800, fibre=0.15, tendon=0.2, start=0.5))
    plain = ts.Mechanism("arm", bodies=[forearm], joints=[joint], initial={"q": 0.8})
    moved = ts.with_elements(plain, muscle)
    motion = ts.simulate(moved, 1e-9, samples=2, outputs=["q''", ts.Output("T", muscle.output)])
    end, origin = 0.05 * np.array([np.cos(0.8), np.sin(0.8)]), np.array([-0.3, 0.01])
    length = np.linalg.norm(end - origin)
    line = (origin - end) / length
    arm_ = end[0] * line[1] - end[1] * line[0]
    x = (length - 0.2) / 0.15
    tension = 800 * (0.5 * float(active_force(x)) * float(force_at_speed(0.0)) + float(passive_force(x)))
    assert motion["T"][0] == pytest.approx(tension, rel=1e-9)
    assert motion["q''"][0] == pytest.approx(tension * arm_ / (0.01 + 1.5 * 0.15**2), rel=1e-8)


@pytest.mark.parametrize("kind", ["sphere", "cylinder"])
def test_a_line_over_a_surface_pulls_with_its_radius(kind):
    """Oracle: where a line is wrapped its arm about the centre is the radius; elsewhere the straight line's."""
    make = ts.sphere_wrap if kind == "sphere" else ts.cylinder_wrap
    for angle, wrapped in ((1.2, False), (0.2, True)):
        joint, forearm, along = arm(make(ts.EARTH, 0.02))
        plain = ts.Mechanism("arm", bodies=[forearm], joints=[joint], initial={"q": angle, "q'": 1.0})
        pulled = replace(plain, loads=tuple(along.loads(100.0)), sensors=along.sensors)
        outputs = ["q''", ts.Output("L", along.length), ts.Output("rate", along.rate)]
        motion = ts.simulate(pulled, 1e-9, samples=2, outputs=outputs)
        moment = motion["q''"][0] * (0.01 + 1.5 * 0.15**2)
        assert motion["rate"][0] == pytest.approx(-moment / 100, rel=1e-9)  # power of the tension
        if wrapped:
            assert moment == pytest.approx(100 * 0.02, rel=1e-7)


@pytest.mark.slow
def test_wrapped_lines_keep_momentum_and_energy():
    """Oracle: between free bodies a line exerts no resultant; its energy is tension times length."""
    bodies = [ts.body(n, mass=1 + k, centre=(0, 0, 0), inertia=ts.inertia(0.1, 0.2, 0.15)) for k, n in enumerate("abc")]
    joints = [ts.free(f"j{b.name}", ts.EARTH, b, *(f"{b.name}.{n}" for n in ("x", "y", "z", "e0", "e1", "e2", "e3")),
                      angles="quaternion") for b in bodies]  # fmt: skip
    for make in (ts.sphere_wrap, ts.cylinder_wrap):
        along = ts.line("l", [bodies[0].at((0.1, 0.0, 0.2)), make(bodies[1].at((0.02, 0, 0)), 0.3), bodies[2]])
        start = {"a.x": -1.0, "a.z": 0.2, "c.x": 1.0, "c.y": 0.05, "a.y'": 0.3, "b.z'": 0.2, "c.z'": -0.1, "b.y": -0.2}
        m = ts.Mechanism(
            "m", bodies=bodies, joints=joints, loads=along.loads(3.0), sensors=along.sensors, initial=start
        )
        total = [ts.Output("E", 3 * along.length)]
        motion = ts.simulate(
            m, 0.2, samples=5, outputs=["kinetic_energy", *total, "a.velocity.z", "b.velocity.z", "c.velocity.z"]
        )
        energy = motion["kinetic_energy"] + motion["E"]
        assert np.allclose(energy, energy[0], rtol=1e-9)
        momentum = motion["a.velocity.z"] + 2 * motion["b.velocity.z"] + 3 * motion["c.velocity.z"]
        assert np.allclose(momentum, momentum[0], atol=1e-10)
