"""Whole-trial inverse kinematics of a person beside Pinocchio.

Run: python benchmarks/bench_biomechanics.py

Human36 with its sixty markers waves for a thousand frames, recorded exactly and with noise of at most 3 mm. Both sides
run the same Levenberg-Marquardt loop with the same damping, tolerance and start, frame after frame. Pinocchio is called
from Python, once per step: joint Jacobians in C++, those of all markers and the normal equations from them in one NumPy
expression each, a Cholesky solution by LAPACK. A loop in C++ around Pinocchio would save the binding's and NumPy's
share, and is not timed. Answers are compared before times. OpenSim is timed where it is installed: here it is not.
"""

from __future__ import annotations

import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from torseur import library
from torseur.biomechanics import OPENSIM_AXES, MarkerModel, Markers, inverse_kinematics
from torseur.biomechanics.tracking import frames as method
from torseur.biomechanics.tracking.inverse_kinematics import TOLERANCE

FRAMES, RATE = 1000, 100.0


def waving(model: MarkerModel) -> tuple[np.ndarray, np.ndarray]:
    """Time and coordinates of a motion in which everything moves."""
    times, rng = np.arange(FRAMES) / RATE, np.random.default_rng(0)
    n = len(model.layout.coordinates)
    return times, 0.4 * np.sin(2 * np.pi * np.outer(times, rng.uniform(0.2, 1, n)) + rng.uniform(0, 6, n))


class Peer:
    """The same person in Pinocchio: every elementary motion a joint of its own."""

    def __init__(self, model: MarkerModel) -> None:
        import pinocchio as pin

        self.pin = pin
        self.model = pin.Model()
        tree = model.equations.tree
        bound = dict(zip(model.layout.parameter_names, model.parameters.tolist(), strict=True))
        now = tree.with_parameters(bound).at([0.0] * len(model.layout.coordinates), None)
        ends: dict[int, int] = {-1: 0}
        self.slots: list[int] = []  # our coordinate of each of its joints
        for i, link in enumerate(tree.links):
            place, parent = now.evaluated(link.base), ends[link.parent]
            step = pin.SE3(matrix(place.rotation.matrix), vector(place.position))
            for motion in link.joint.motions:
                parent = self._joint(motion, parent, step, model.layout.coordinate_names)
                step = pin.SE3.Identity()
            ends[i] = parent
        self._place_markers(model, now, ends)
        self.data = self.model.createData()

    def _joint(self, motion, parent: int, step, names: list[str]) -> int:
        """One rotation or translation by plus or minus a coordinate."""
        sign, symbol = (1.0, motion.amount) if motion.amount.op == "symbol" else (-1.0, motion.amount.args[-1])
        axis = sign * np.array([float(x) for x in motion.axis])
        kind = (
            self.pin.JointModelRevoluteUnaligned if motion.kind == "rotation" else self.pin.JointModelPrismaticUnaligned
        )
        self.slots.append(names.index(str(symbol.name)))
        return self.model.addJoint(parent, kind(*axis), step, str(symbol.name))

    def _place_markers(self, model: MarkerModel, now, ends: dict[int, int]) -> None:
        carriers, places = [], []
        for frame in model.equations.places.values():
            link, place = now.place(frame)
            carriers.append(ends[link])
            places.append(vector(place.position))
        self.bodies, self.places = sorted(set(carriers)), np.array(places)
        self.on = np.array([self.bodies.index(joint) for joint in carriers])
        moves = np.zeros((len(carriers), self.model.nv))
        for k, joint in enumerate(carriers):
            while joint:
                moves[k, self.model.joints[joint].idx_v] = 1.0
                joint = self.model.parents[joint]
        self.moves = moves

    def system(self, q: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Normal equations and cost at a configuration."""
        self.pin.computeJointJacobians(self.model, self.data, q)
        J = self.data.J
        poses = [self.data.oMi[j] for j in self.bodies]
        R, o = np.array([pose.rotation for pose in poses]), np.array([pose.translation for pose in poses])
        x = o[self.on] + np.einsum("kij,kj->ki", R[self.on], self.places)
        # Columns of data.J are motions at the earth's origin: velocity of x is v + w x x.
        turned = np.cross(J[3:].T[None], x[:, None]) * self.moves[:, :, None]
        rows = (turned + J[:3].T[None] * self.moves[:, :, None]).transpose(0, 2, 1).reshape(-1, self.model.nv)
        gap = (points - x).reshape(-1)
        return rows.T @ rows, rows.T @ gap, float(gap @ gap)

    def fit(self, q: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, int]:
        """One frame by Levenberg and Marquardt's method, as in torseur's own loop."""
        from scipy.linalg import cho_factor, cho_solve

        A, g, cost = self.system(q, points)
        damping, done = method.START, 0
        while damping < method.MOST and done < 200:
            done += 1
            change = cho_solve(cho_factor(A + damping * np.diag(np.diag(A)), check_finite=False), g, check_finite=False)
            longest = np.abs(change).max()
            trial = q + change * min(1.0, method.LONGEST / longest)
            next_A, next_g, next_cost = self.system(trial, points)
            if next_cost <= cost or longest < TOLERANCE:
                q, A, g, cost = trial, next_A, next_g, next_cost
                damping = max(0.1 * damping, method.LEAST)
                if longest < TOLERANCE:
                    break
            else:
                damping = max(10 * damping, 1e-4)
        return q, done

    def track(self, start: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, float]:
        """All frames; coordinates in our order, and rounds per frame."""
        q, rows, rounds = start[self.slots], [], 0
        for frame in points:
            q, done = self.fit(q, frame)
            rounds += done
            rows.append(q)
        found = np.empty((len(points), len(self.slots)))
        found[:, self.slots] = rows
        return found, rounds / len(points)


def matrix(rows) -> np.ndarray:
    return np.array([[float(x) for x in row] for row in rows.rows])


def vector(components) -> np.ndarray:
    return np.array([float(x) for x in components])


def timed(action, repetitions: int = 3):
    """The shortest of several repetitions in seconds, and the result."""
    best, result = np.inf, None
    for _ in range(repetitions):
        begin = time.perf_counter()
        result = action()
        best = min(best, time.perf_counter() - begin)
    return best, result


def main() -> None:
    person = library.load("human36")
    begin = time.perf_counter()
    model = MarkerModel(person, dict(person.frames), {})
    times, q = waving(model)
    exact = Markers(times, tuple(model.equations.places), model.positions(times, q), OPENSIM_AXES)
    inverse_kinematics(model, exact.frames(slice(0, 2)))
    print(f"{person.name}: {q.shape[1]} coordinates, {len(exact.labels)} markers, {FRAMES} frames at {RATE:g} Hz")
    print(f"model prepared and compiled (or taken from the cache) in {time.perf_counter() - begin:.2f} s")
    try:
        peer = Peer(model)
    except ImportError:
        peer = None
        print("Pinocchio is not installed (pip install pin)")
    compare("exact", model, peer, exact, q[0] + 0.05)
    compare("±3 mm", model, peer, exact.with_noise(0.003, np.random.default_rng(1)), q[0] + 0.05)


def compare(what: str, model: MarkerModel, peer: Peer | None, markers: Markers, start: np.ndarray) -> None:
    """One line: the loop alone, all of `inverse_kinematics`, and Pinocchio's loop."""
    ones, points = np.ones(markers.present.shape), markers.positions
    whole, motion = timed(lambda: inverse_kinematics(model, markers))
    loop, tracked = timed(lambda: model.track(markers.time, points, ones, start, {}, TOLERANCE))
    assert motion.converged.all() and np.abs(motion.q - tracked.q).max() < 1e-6
    facts = [f"torseur {1e3 * loop:.1f} ms ({tracked.rounds.mean():.1f} rounds a frame)",
             f"with start, distances and notes {1e3 * whole:.1f} ms"]  # fmt: skip
    if peer is not None:
        other, (theirs, rounds) = timed(lambda: peer.track(start, points), 1)
        assert np.abs(theirs - tracked.q).max() < 1e-6
        facts.append(f"Pinocchio from Python {1e3 * other:.0f} ms ({rounds:.1f} rounds): {other / loop:.0f} times")
    print(f"{what:8}" + "   ".join(facts), flush=True)


if __name__ == "__main__":
    main()
