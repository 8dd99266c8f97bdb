"""Random scenes of bodies that fall, roll, rub and strike stops: counts those that end early, crash or gain energy.

`python benchmarks/try_contacts.py [COUNT [METHOD]]`; 40 scenes in time steps without numbers, a second or two each.
Energy is compared with that of the start; scenes that start with bodies in the ground are counted apart. In time steps
the energy of what spins swings by their error of second order: a gain that steps a quarter as long reduce tenfold is
counted as that. Not proven: anything about scenes that these do not draw.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

import torseur as ts
from torseur.errors import TorseurError

SIZES = {
    "point": {}, "sphere": {"radius": 0.1}, "capsule": {"radius": 0.05, "length": 0.2},
    "box": {"x": 0.3, "y": 0.2, "z": 0.1}, "disc": {"radius": 0.15}, "torus": {"radius": 0.15, "tyre": 0.03},
    "ellipsoid": {"x": 0.2, "y": 0.1, "z": 0.05},
}  # fmt: skip
STEP = 1e-3  # s, of time steps
GAINED = 1e-9  # part of its size by which energy may exceed that of the start


def scene(seed: int) -> ts.Mechanism:
    """One to three bodies above the floor, free or hinged to the one before, some with stops and friction."""
    numbers = np.random.default_rng(seed)
    friction, restitution = (float(numbers.choice(values)) for values in ((0, 0.2, 0.5, 0.9), (0, 0.3, 0.7, 1.0)))
    bodies: list[ts.Body] = []
    joints: list[ts.Joint] = []
    contacts: list[object] = []
    initial: dict[str, float] = {}
    for k in range(int(numbers.integers(1, 4))):
        mass = numbers.uniform(0.2, 3)
        inertia = ts.inertia(*(mass * np.array([0.02, 0.03, 0.035]) * numbers.uniform(0.5, 1.2)))
        bodies.append(ts.body(f"b{k}", mass=mass, centre=(0, 0, 0), inertia=inertia))
        if k == 0 or numbers.random() < 0.5:
            names = [f"{q}{k}" for q in ("x", "y", "z", "e0_", "e1_", "e2_", "e3_")]
            joints.append(ts.free(f"j{k}", ts.EARTH, bodies[k], *names, angles="quaternion"))
            quaternion = numbers.normal(size=4)
            initial |= dict(zip(names[3:], quaternion / np.linalg.norm(quaternion), strict=True))
            initial |= {f"x{k}": float(k), f"z{k}": 1.0 + 0.3 * k, f"x{k}'": numbers.uniform(-2, 2)}
        else:
            sides = bodies[k - 1].at((0.2, 0, 0)), bodies[k].at((-0.2, 0, 0))
            joints.append(ts.revolute(f"j{k}", *sides, f"q{k}", axis=(0, 1, 0)))
            contacts += [ts.stops(joints[-1], -0.7, 0.8, 0.5)] if numbers.random() < 0.5 else []
            contacts += [ts.joint_friction(joints[-1], 0.05)] if numbers.random() < 0.5 else []
        shape = str(numbers.choice(list(SIZES)))
        given = dict(friction=friction, restitution=restitution)
        contacts.append(ts.contact(f"c{k}", shape, bodies[k], SIZES[shape], ts.plane(), **given))
    return ts.Mechanism(
        f"scene{seed}", bodies=bodies, joints=joints, gravity=(0, 0, -9.81), contacts=contacts, initial=initial
    )


def gain_of(seed: int, method: str, step: float | None) -> tuple[float, float]:
    """By how much the energy exceeds that of the start, and the latter's size."""
    motion = ts.simulate(scene(seed), until=1.5, samples=151, outputs=["energy"], method=method, max_step=step)
    energy = motion["energy"]
    return float(energy.max() - energy[0]), max(abs(float(energy[0])), 1.0)


def verdict(seed: int, method: str) -> str:
    in_steps = method == "time_stepping"
    try:
        gained, size = gain_of(seed, method, STEP if in_steps else None)
        if gained <= GAINED * size:
            return "moves"
        finer = gain_of(seed, method, STEP / 4)[0] if in_steps else gained
    except TorseurError as problem:
        return "starts in the ground" if "inside it" in str(problem) else f"ends early: {problem}"
    return "swings" if finer < 0.1 * gained else f"gains {gained:.2g} J"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    method = sys.argv[2] if len(sys.argv) > 2 else "time_stepping"
    found: Counter[str] = Counter()
    for seed in range(count):
        said = verdict(seed, method)
        found[said.partition(":")[0].split(" J")[0] if said.startswith("ends") else said] += 1
        if said not in ("moves", "swings", "starts in the ground"):
            print(f"scene {seed}: {said}", flush=True)
    print(", ".join(f"{number} {said}" for said, number in found.most_common()))


if __name__ == "__main__":
    main()
