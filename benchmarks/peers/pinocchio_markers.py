"""A person followed by markers with Pinocchio: the same loop in C++, and in Python around its binding."""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
from pathlib import Path

import numpy as np

from peers.marked_person import MarkedPerson
from peers.pinocchio_cpp import BOOST, FLAGS
from peers.robots import prefix
from torseur.analysis.biomechanics.tracking import frame_fit as method
from torseur.analysis.biomechanics.tracking.inverse_kinematics import TOLERANCE
from torseur.analysis.biomechanics.tracking.marker_model import ROUNDS

SOURCE = Path(__file__).with_name("pinocchio_markers.cpp")


class InCpp:
    """The loop compiled around Pinocchio's headers, once (a minute or two)."""

    def __init__(self, person: MarkedPerson, cache: Path) -> None:
        self.slots = person.slots
        self.dll = _library(cache)
        path = cache / "person.txt"
        path.write_text(person.text)
        self.dll.markers_load.restype = ctypes.c_void_p
        self.person = ctypes.c_void_p(self.dll.markers_load(str(path).encode()))

    def track(self, start: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, float]:
        """Coordinates in our order, and rounds per frame."""
        settings = np.array([method.START, method.LEAST, method.MOST, method.LONGEST, TOLERANCE, ROUNDS], dtype=float)
        begin, found = np.ascontiguousarray(start[self.slots]), np.empty((len(points), len(self.slots)))
        pointers = [ctypes.c_void_p(np.ascontiguousarray(x).ctypes.data) for x in (settings, points, begin)]
        rounds = self.dll.markers_track(
            self.person, pointers[0], len(points), pointers[1], pointers[2], ctypes.c_void_p(found.ctypes.data)
        )
        return _ordered(found, self.slots), rounds / len(points)


def _library(cache: Path) -> ctypes.CDLL:
    root = prefix()
    assert root is not None
    key = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    path = cache / f"pinocchio-markers-{key}.so"
    if not path.exists():
        print("compiling Pinocchio, once: a minute or two", flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        folders = [f"-I{root}/include", f"-I{root}/include/eigen3", f"-L{root}/lib", f"-Wl,-rpath,{root}/lib"]
        subprocess.run(
            ["g++", *FLAGS, *BOOST, str(SOURCE), "-o", str(path), *folders, "-lboost_serialization"], check=True
        )
    return ctypes.CDLL(str(path))


class InPython:
    """The loop in Python: joint Jacobians by the binding, the rest in one NumPy expression each."""

    def __init__(self, person: MarkedPerson) -> None:
        import pinocchio as pin

        self.pin, self.slots, self.model = pin, person.slots, pin.Model()
        for k, (parent, slides, axis, R, r) in enumerate(person.joints):
            kind = pin.JointModelPrismaticUnaligned if slides else pin.JointModelRevoluteUnaligned
            self.model.addJoint(parent, kind(*axis), pin.SE3(R, r), f"joint{k}")
        self.data = self.model.createData()
        carriers = [joint for joint, _ in person.markers]
        self.places = np.array([place for _, place in person.markers])
        self.bodies = sorted(set(carriers))
        self.on = np.array([self.bodies.index(joint) for joint in carriers])
        self.moves = np.array([self._moves(joint) for joint in carriers])[:, :, None]

    def _moves(self, joint: int) -> np.ndarray:
        """1 for the joints that move a marker."""
        row = np.zeros(self.model.nv)
        while joint:
            row[self.model.joints[joint].idx_v] = 1.0
            joint = self.model.parents[joint]
        return row

    def track(self, start: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, float]:
        """Coordinates in our order, and rounds per frame."""
        q, rows, rounds = start[self.slots], [], 0
        for frame in points:
            q, done = self._fit(q, frame)
            rounds += done
            rows.append(q)
        return _ordered(np.array(rows), self.slots), rounds / len(points)

    def _fit(self, q: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, int]:
        from scipy.linalg import cho_factor, cho_solve

        A, g, cost = self._system(q, points)
        damping, done = method.START, 0
        while damping < method.MOST and done < ROUNDS:
            done += 1
            change = cho_solve(cho_factor(A + damping * np.diag(np.diag(A)), check_finite=False), g, check_finite=False)
            longest = np.abs(change).max()
            trial = q + change * min(1.0, method.LONGEST / longest)
            next_A, next_g, next_cost = self._system(trial, points)
            if next_cost <= cost or longest < TOLERANCE:
                q, A, g, cost = trial, next_A, next_g, next_cost
                damping = max(0.1 * damping, method.LEAST)
                if longest < TOLERANCE:
                    break
            else:
                damping = max(10 * damping, 1e-4)
        return q, done

    def _system(self, q: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        """Normal equations and cost at a configuration."""
        self.pin.computeJointJacobians(self.model, self.data, q)
        J = self.data.J
        poses = [self.data.oMi[j] for j in self.bodies]
        R, o = np.array([pose.rotation for pose in poses]), np.array([pose.translation for pose in poses])
        x = o[self.on] + np.einsum("kij,kj->ki", R[self.on], self.places)
        # Columns of data.J are motions at the earth's origin: the velocity of x is v + w x x.
        columns = (np.cross(J[3:].T[None], x[:, None]) + J[:3].T[None]) * self.moves
        rows = columns.transpose(0, 2, 1).reshape(-1, self.model.nv)
        gap = (points - x).reshape(-1)
        return rows.T @ rows, rows.T @ gap, float(gap @ gap)


def _ordered(found: np.ndarray, slots: list[int]) -> np.ndarray:
    ours = np.empty_like(found)
    ours[:, slots] = found
    return ours
