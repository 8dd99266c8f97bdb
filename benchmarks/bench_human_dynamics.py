"""Inverse dynamics of a whole trial of a person, beside Pinocchio; the whole way from markers to moments.

Run: python benchmarks/bench_human_dynamics.py

Everything is timed in this one run, the best of several repetitions, after the answers were compared. Pinocchio gets
the same Human36 through URDF (36 joints of one freedom) and is called through its Python binding, once per frame, as a
Python user would; a C++ loop would save the binding's share. torseur's kernel goes over all frames in vector lanes on
one core. OpenSim was not at hand. One machine, one model.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from biomechanics.bodies import waving

import torseur as ts
from torseur.analysis.biomechanics.forces.ground_reaction import Reaction
from torseur.analysis.biomechanics.forces.trial_dynamics import trial_dynamics
from torseur.analysis.biomechanics.person import analyse_person
from torseur.analysis.biomechanics.person_model.human36 import human36
from torseur.analysis.biomechanics.simulated_trials import simulated_trial, walking
from torseur.analysis.published_studies import upper_limb

FRAMES = 1000
PERSON = human36(1.78, 74.0, "de_leva_male")


def best(action: Callable[[], object], repetitions: int = 7) -> float:
    """The shortest of several repetitions, in seconds."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return min(times)


def line(what: str, *facts: str) -> None:
    print(f"{what:44}" + "   ".join(facts), flush=True)


def pinocchio_moments(motion) -> Callable[[], np.ndarray] | None:
    """Pinocchio's recursion over all frames, its columns in torseur's order."""
    try:
        import pinocchio as pin
    except ImportError:
        line("Pinocchio is not installed")
        return None
    with tempfile.TemporaryDirectory() as folder:
        ts.write_robot(PERSON, Path(folder) / "person.urdf", partial=True)
        model = pin.buildModelFromUrdf(str(Path(folder) / "person.urdf"))
    model.gravity = pin.Motion(np.array([0, -9.81, 0]), np.zeros(3))
    data = model.createData()
    order = [motion.names.index(name) for name in list(model.names)[1:]]
    columns = []
    for joint, slot in enumerate(order):
        angle = motion.q[:, slot]
        columns += [angle] if model.joints[joint + 1].nq == 1 else [np.cos(angle), np.sin(angle)]
    q, v, a = np.stack(columns, axis=1), motion.v[:, order], motion.vdot[:, order]
    back = np.argsort(order)

    def run() -> np.ndarray:
        return np.array([pin.rnea(model, data, q[k], v[k], a[k]) for k in range(len(q))])[:, back]

    return run


def dynamics() -> None:
    motion = waving(PERSON, FRAMES)
    feet = {
        foot: Reaction(np.tile([20.0, 400.0, -10.0], (FRAMES, 1)), np.tile([5.0, -3.0, 60.0], (FRAMES, 1)))
        for foot in ("r_foot", "l_foot")
    }
    begin = time.perf_counter()
    moments = trial_dynamics(PERSON, motion).moments
    first = time.perf_counter() - begin
    trial_dynamics(PERSON, motion, feet)
    alone, loaded = (best(lambda w=w: trial_dynamics(PERSON, motion, w)) for w in ({}, feet))
    per = 1e6 / FRAMES
    line(f"moments of {FRAMES} frames", f"{1e3 * alone:.2f} ms", f"{per * alone:.2f} µs a frame",
         f"the first call {first:.2f} s")  # fmt: skip
    line("with loads on both feet", f"{1e3 * loaded:.2f} ms", f"{per * loaded:.2f} µs a frame")
    every = best(lambda: trial_dynamics(PERSON, motion, feet).residual.force)
    line("with the balance of forces besides", f"{1e3 * every:.1f} ms")
    peer = pinocchio_moments(motion)
    if peer is not None:
        assert np.abs(peer() - moments).max() < 1e-9 * np.abs(moments).max()
        theirs = best(peer)
        line("Pinocchio's rnea, called per frame", f"{1e3 * theirs:.2f} ms", f"{per * theirs:.2f} µs a frame",
             f"{theirs / alone:.1f} times as long")  # fmt: skip


def whole_way() -> None:
    trial = simulated_trial(PERSON, walking(PERSON, 10.0), noise=0.0005)
    analyse_person(trial, height=1.78, mass=74.0)
    seconds = best(lambda: analyse_person(trial, height=1.78, mass=74.0), 3)
    frames = len(trial.markers)
    line(f"markers and plates to moments, {frames} frames", f"{seconds:.2f} s", "inverse kinematics included")


def limbs() -> None:
    seen = upper_limb.recordings(noise=upper_limb.NOISE)
    seconds = best(lambda: upper_limb.identify_right_arm(seen), 3)
    inertia, moment = upper_limb.median_errors(20)
    line("an upper limb identified", f"{1e3 * seconds:.0f} ms", f"{sum(len(one.markers) for one in seen)} frames")
    line(
        "20 noisy trials, median errors", f"inertia {inertia:.2f} % (source 3.4)", f"moment {moment:.2f} % (source 1.0)"
    )


if __name__ == "__main__":
    dynamics()
    whole_way()
    limbs()
