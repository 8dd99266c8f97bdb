"""Whole-trial inverse kinematics of a person beside Pinocchio.

Run: python benchmarks/bench_biomechanics.py

Human36 with its sixty markers waves for a thousand frames, recorded exactly and with noise of at most 3 mm. All sides
run the same Levenberg-Marquardt loop with the same damping, tolerance and start, frame after frame. Around Pinocchio it
is written twice: in C++ with Eigen (the Jacobian of all markers from the joint Jacobians, zeros known; JᵀJ; Cholesky),
compiled with the flags of the other benchmarks, and in Python around the binding. The C++ loop could use the sparsity
of JᵀJ, which Pinocchio's users do not get from it; ours does. Answers are compared before times. One core, one machine.
OpenSim is not installed here and not timed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np
from peers.marked_person import MarkedPerson
from peers.pinocchio_cpp import missing

from torseur.analysis.biomechanics import OPENSIM_AXES, MarkerModel, Markers, inverse_kinematics
from torseur.analysis.biomechanics.tracking.inverse_kinematics import TOLERANCE
from torseur.description import library

HERE = Path(__file__).parent
FRAMES, RATE = 1000, 100.0


def waving(model: MarkerModel) -> tuple[np.ndarray, np.ndarray]:
    """Time and coordinates of a motion in which everything moves."""
    times, rng = np.arange(FRAMES) / RATE, np.random.default_rng(0)
    n = len(model.layout.coordinates)
    return times, 0.4 * np.sin(2 * np.pi * np.outer(times, rng.uniform(0.2, 1, n)) + rng.uniform(0, 6, n))


def timed(action: Callable[[], Any], repetitions: int = 5) -> tuple[float, Any]:
    """The shortest of several repetitions in seconds, and the result."""
    best, result = np.inf, None
    for _ in range(repetitions):
        begin = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - begin)
    return best, result


def peers(model: MarkerModel) -> dict[str, Any]:
    """Pinocchio in C++ and from Python, as far as they are here."""
    from peers.pinocchio_markers import InCpp, InPython

    person, found = MarkedPerson.of(model), {}
    if missing():
        print(missing())
    else:
        found["Pinocchio in C++"] = InCpp(person, HERE / ".build")
    try:
        found["Pinocchio from Python"] = InPython(person)
    except ImportError:
        print("Pinocchio is not installed (pip install pin)")
    return found


def compare(what: str, model: MarkerModel, others: dict[str, Any], markers: Markers, start: np.ndarray) -> None:
    """The loop alone, all of `inverse_kinematics`, and the loops of others."""
    ones, points = np.ones(markers.present.shape), markers.positions
    whole, motion = timed(lambda: inverse_kinematics(model, markers))
    loop, tracked = timed(lambda: model.track(markers.time, points, ones, start, {}, TOLERANCE))
    assert motion.converged.all() and np.abs(motion.q - tracked.q).max() < 1e-6
    print(f"{what:8}{'torseur':24}{1e3 * loop:8.1f} ms   {tracked.rounds.mean():.1f} rounds a frame", flush=True)
    print(f"{'':8}{'  and all around it':24}{1e3 * whole:8.1f} ms   start, distances, what is not determined")
    for name, peer in others.items():
        other, (theirs, rounds) = timed(lambda peer=peer: peer.track(start, points), 1 if "Python" in name else 5)
        assert np.abs(theirs - tracked.q).max() < 1e-6, name
        print(
            f"{'':8}{name:24}{1e3 * other:8.1f} ms   {rounds:.1f} rounds a frame   {other / loop:.1f} times", flush=True
        )


def main() -> None:
    person = library.load("human36")
    begin = time.perf_counter()
    model = MarkerModel(person, dict(person.frames), {})
    times, q = waving(model)
    exact = Markers(times, tuple(model.equations.places), model.positions(times, q), OPENSIM_AXES)
    inverse_kinematics(model, exact.frames(slice(0, 2)))
    print(f"{person.name}: {q.shape[1]} coordinates, {len(exact.labels)} markers, {FRAMES} frames at {RATE:g} Hz")
    print(f"model prepared and compiled (or taken from the cache) in {time.perf_counter() - begin:.2f} s")
    others = peers(model)
    compare("exact", model, others, exact, q[0] + 0.05)
    compare("±3 mm", model, others, exact.with_noise(0.003, np.random.default_rng(1)), q[0] + 0.05)


if __name__ == "__main__":
    main()
