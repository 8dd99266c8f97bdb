"""Cost of a step with contacts, beside MuJoCo where it is installed: a quadruped that lands, and spheres in a box.

Both take steps of 1 ms of the same bodies with friction, one second each, in one run on one core. Checked first: the
quadruped stands and its feet carry its weight, the spheres overlap by no more than rounding and lie in the box.
Not proven: other machines, and equal accuracy. MuJoCo's contacts are soft and overlap, ours are rigid; ours iterate to
the tolerance that is printed, MuJoCo's to its own default. Spheres that touch each other have no friction here, and
none in MuJoCo's model either. `python benchmarks/bench_contact.py [SPHERES]`; 24 without a number, since compiling the
contacts of all pairs of 100 takes minutes.
"""

from __future__ import annotations

import math
import re
import sys
import time
from importlib.resources import files
from importlib.util import find_spec

import numpy as np

import torseur as ts
from torseur.description.readers.writing.write_robot import robot_text

G, RADIUS, HALF, STEP, FEET = 9.81, 0.05, 0.25, 1e-3, ("fl", "fr", "hl", "hr")


def quadruped() -> str:
    """The library's quadruped with spheres that touch a rigid floor in place of its springy one."""
    text = (files("torseur.description.library") / "lsd" / "quadruped.lsd").read_text(encoding="utf-8")
    text = re.sub(r"law press.*?;\n|apply force \[-mu.*?;\n", "", text, flags=re.S)
    text = re.sub(r"param k_g.*?v_s =.*?;\n", "param mu = 0.8 ;\n", text, flags=re.S)
    text = text.replace("angles zyx", "angles quaternion").replace("yaw, pitch, roll", "e0, e1, e2, e3")
    return text.replace("roll = 6 deg, ", "")


def touching(text: str) -> str:
    words = "contact {0}_foot.sphere radius 2 cm with earth normal [0,0,1] friction mu as {0}_ground ;\n"
    return text.replace("init z", "".join(words.format(leg) for leg in FEET) + "init z")


def spheres(count: int) -> ts.Mechanism:
    """Spheres of 5 cm and 0.2 kg above the floor of a box, in layers of 16, a little out of line."""
    moment = 0.4 * 0.2 * RADIUS**2
    bodies = [ts.body(f"b{k}", mass=0.2, centre=(0, 0, 0), inertia=ts.inertia(*[moment] * 3)) for k in range(count)]
    letters = ("x", "y", "z", "ea", "eb", "ec", "ed")
    joints = [
        ts.free(f"f{k}", ts.EARTH, body, *(f"{q}{k}" for q in letters), angles="quaternion")
        for k, body in enumerate(bodies)
    ]
    size = {"radius": RADIUS}
    contacts = [
        ts.contact(f"c{i}.{j}", "sphere", bodies[i], size, ts.ball(bodies[j], RADIUS))
        for i in range(count)
        for j in range(i)
    ]
    for k, body in enumerate(bodies):
        for a, (at, normal) in enumerate(walls()):
            ground = ts.plane(ts.EARTH.at(at), normal)
            contacts.append(ts.contact(f"w{k}.{a}", "sphere", body, size, ground, friction=0.3))
    initial = {f"{axis}{k}": v for k, place in enumerate(places(count)) for axis, v in zip("xyz", place, strict=True)}
    initial |= {f"ea{k}": 1.0 for k in range(count)}
    return ts.Mechanism("spheres", bodies=bodies, joints=joints, gravity=(0, 0, -G), contacts=contacts, initial=initial)


def walls() -> list[tuple[tuple[float, float, float], tuple[int, int, int]]]:
    sides = [((s * HALF, 0.0, 0.0), (-s, 0, 0)) for s in (1, -1)] + [
        ((0.0, s * HALF, 0.0), (0, -s, 0)) for s in (1, -1)
    ]
    return [((0.0, 0.0, 0.0), (0, 0, 1)), *sides]


def places(count: int) -> list[list[float]]:
    numbers = np.random.default_rng(1)
    grid = [[-0.165 + 0.11 * (k % 4), -0.165 + 0.11 * (k % 16 // 4), 0.06 + 0.11 * (k // 16)] for k in range(count)]
    return [[x + numbers.uniform(-4e-3, 4e-3), y + numbers.uniform(-4e-3, 4e-3), z] for x, y, z in grid]


def ours(model: ts.Mechanism, rtol: float) -> tuple[ts.Trajectory, float]:
    """The motion, and microseconds of the compiled loop per step, best of three."""
    equations = ts.derive(model)
    start = time.perf_counter()
    runs = [
        ts.simulate(equations, until=1, samples=2, method="time_stepping", max_step=STEP, rtol=rtol) for _ in range(3)
    ]
    print(f"  deriving, compiling and three motions: {time.perf_counter() - start:.0f} s")
    costs = [run.statistics for run in runs if run.statistics is not None]
    return runs[0], min(1e6 * cost.wall_time / cost.steps for cost in costs)


def mujoco_cost(text: str) -> float:
    """Microseconds of a step of MuJoCo, best of three."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    model.opt.timestep = STEP
    costs = []
    for _ in range(3):
        data = mujoco.MjData(model)
        for leg in FEET if model.njnt == 13 else ():
            data.joint(f"{leg}1").qpos, data.joint(f"{leg}2").qpos = math.radians(40), -math.radians(80)
            data.qpos[2] = 0.42
        start = time.perf_counter()
        for _ in range(1000):
            mujoco.mj_step(model, data)
        costs.append(1e3 * (time.perf_counter() - start))
        assert data.ncon >= 4, "nothing touches"
    return min(costs)


def quadruped_for_mujoco() -> str:
    text, _ = robot_text(ts.parse(quadruped()), ".xml", True)
    text = re.sub(
        r'<site name="(\w+)_foot"', r'<geom type="sphere" size="0.02" friction="0.8" pos="0 0 -0.2"/>\g<0>', text
    )
    # MuJoCo takes no rods without inertia about their axis.
    text = re.sub(r'diaginertia="(?:0|\S+e-\d\d) (\S+) (\S+)"', r'diaginertia="1e-6 \1 \2"', text)
    return text.replace("<worldbody>", '<worldbody><geom type="plane" size="5 5 1" friction="0.8"/>')


def spheres_for_mujoco(count: int) -> str:
    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><geom type="sphere" size="{RADIUS}" mass="0.2" condim="1"/></body>'
        for x, y, z in places(count)
    )
    planes = "".join(
        f'<geom type="plane" size="2 2 1" friction="0.3" priority="1" pos="{a} {b} {c}" zaxis="{i} {j} {k}"/>'
        for (a, b, c), (i, j, k) in walls()
    )
    return f'<mujoco><option gravity="0 0 -{G}"/><worldbody>{planes}{bodies}</worldbody></mujoco>'


def check_quadruped(motion: ts.Trajectory) -> None:
    assert 0.25 < motion["z"][-1] < 0.42, "the quadruped does not stand"


def check_spheres(motion: ts.Trajectory, count: int) -> None:
    centres = motion.q[-1].reshape(count, 7)[:, :3]
    apart = np.linalg.norm(centres[:, None] - centres[None], axis=2) + 10 * np.eye(count)
    assert apart.min() > 2 * RADIUS - 1e-6 and np.abs(centres[:, :2]).max() < HALF - RADIUS + 1e-6
    assert centres[:, 2].min() > RADIUS - 1e-6


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    has_mujoco = find_spec("mujoco") is not None
    for name, model, rtol in (
        ("quadruped", ts.parse(touching(quadruped())), 1e-8),
        (f"{count} spheres in a box", spheres(count), 1e-6),
    ):
        print(name)
        motion, cost = ours(model, rtol)
        if name == "quadruped":
            check_quadruped(motion)
        else:
            check_spheres(motion, count)
        text = quadruped_for_mujoco() if name == "quadruped" else spheres_for_mujoco(count)
        beside = (
            f"MuJoCo {(other := mujoco_cost(text)):.1f} µs, ratio {other / cost:.2f}" if has_mujoco else "no MuJoCo"
        )
        print(f"  {name}, rtol {rtol:g}: {cost:.1f} µs a step; {beside}")


if __name__ == "__main__":
    main()
