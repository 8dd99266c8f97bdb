"""Motions of the double pendulum a second (10 s, rtol 1e-6, criteria at the end): torseur beside SciPy and CasADi.

Run: python benchmarks/bench_sweep.py [POINTS]
One process; a sweep uses one per core. The answers are compared with SciPy's before anything is timed.
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from torseur.studies import read_study
from torseur.studies.evaluation import Evaluator

STUDY = """
mechanism = "library:double_pendulum"
until = "10 s"
rtol = 1e-6
[vary]
m1 = { uniform = ["3 kg", "5 kg"] }
l2 = { uniform = ["1.5 m", "2.5 m"] }
[design]
kind = "sobol"
count = COUNT
[criteria]
q1 = "q1"
q2 = "q2"
"""


def accelerations(f, y, m1, l2):  # type: ignore[no-untyped-def]
    """The orthogonal double pendulum in any scalar, with m2 = 2 kg, r2 = 5 m."""
    q1, q2, w1, w2 = y
    m2, r2, g = 2.0, 5.0, 9.81
    s1, c1, s2, c2 = f.sin(q1), f.cos(q1), f.sin(q2), f.cos(q2)
    b2 = m2 * l2**2
    m11, m12, m22 = (m1 + m2) * r2**2 + b2 * c2**2, m2 * l2 * r2 * s2, b2
    f1 = 2 * b2 * w1 * w2 * s2 * c2 - g * (m1 + m2) * r2 * s1 + m2 * l2 * (g * c1 * c2 - w2**2 * r2 * c2)
    f2 = -b2 * w1**2 * s2 * c2 - g * l2 * m2 * s1 * s2
    d = m11 * m22 - m12 * m12
    return w1, w2, (m22 * f1 - m12 * f2) / d, (m11 * f2 - m12 * f1) / d


def by_scipy(points: np.ndarray) -> np.ndarray:
    from scipy.integrate import solve_ivp

    start = (math.pi / 4, math.pi / 4, 0.0, 0.0)
    found = []
    for m1, l2 in points.tolist():
        slopes = lambda t, y, m1=m1, l2=l2: accelerations(math, y.tolist(), m1, l2)  # noqa: E731
        found.append(solve_ivp(slopes, (0, 10), start, "DOP853", rtol=1e-6, atol=1e-6).y[:2, -1])
    return np.array(found)


def by_casadi(points: np.ndarray) -> np.ndarray:
    import casadi

    y, p = casadi.SX.sym("y", 4), casadi.SX.sym("p", 2)
    slopes = casadi.vertcat(*accelerations(casadi, casadi.vertsplit(y), p[0], p[1]))
    options = {"abstol": 1e-6, "reltol": 1e-6, "linear_multistep_method": "adams", "max_num_steps": 100000}
    solver = casadi.integrator("motion", "cvodes", {"x": y, "p": p, "ode": slopes}, 0.0, 10.0, options).map(len(points))
    start = np.tile([[math.pi / 4], [math.pi / 4], [0.0], [0.0]], len(points))
    return np.array(solver(x0=start, p=points.T)["xf"])[:2].T


def rate(action, points: np.ndarray) -> float:  # type: ignore[no-untyped-def]
    begin = time.perf_counter()
    action(points)
    return len(points) / (time.perf_counter() - begin)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY.replace("COUNT", str(count)))
        study = read_study(path)
        evaluator = Evaluator(study)
        points = study.design.points(study.axes)
        few = points[:50]
        off = np.abs(evaluator(few).values - by_scipy(few)).max()
        assert off < 1e-3, off
        ours = rate(evaluator, points)
        print(f"torseur          {ours:10.0f} motions a second (largest difference from SciPy {off:.1e})")
        for name, action in (("SciPy DOP853", by_scipy), ("CasADi map", by_casadi)):
            try:
                other = rate(action, few)
            except ImportError as problem:
                print(f"{name:16} not installed ({problem.name})")
                continue
            print(f"{name:16} {other:10.0f} motions a second, {ours / other:.0f} times slower")


if __name__ == "__main__":
    main()
