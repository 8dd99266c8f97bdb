"""Motions of the double pendulum a second (10 s, rtol 1e-6, criteria at the end): torseur beside SciPy and CasADi.

Run: python benchmarks/bench_sweep.py [POINTS] (a million by default), with --store for a whole sweep into a store.
All cores for torseur and for CasADi's map over threads; SciPy runs on one. The answers are compared with SciPy's
before anything is timed. SciPy and CasADi run a sample of the points.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from torseur.studies import read_study, sweep
from torseur.studies.evaluation import Evaluator

CORES = os.cpu_count() or 1
BLOCK = 20_000
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
q1_end = "q1"
q2_end = "q2"
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
    solver = casadi.integrator("motion", "cvodes", {"x": y, "p": p, "ode": slopes}, 0.0, 10.0, options)
    solver = solver.map(len(points), "thread", CORES)
    start = np.tile([[math.pi / 4], [math.pi / 4], [0.0], [0.0]], len(points))
    return np.array(solver(x0=start, p=points.T)["xf"])[:2].T


def by_torseur(evaluator: Evaluator, points: np.ndarray) -> np.ndarray:
    blocks = [points[k : k + BLOCK] for k in range(0, len(points), BLOCK)]
    with ThreadPoolExecutor(CORES) as pool:
        return np.vstack([found.values for found in pool.map(evaluator, blocks)])


def timed(action, points: np.ndarray) -> tuple[float, np.ndarray]:  # type: ignore[no-untyped-def]
    begin = time.perf_counter()
    found = action(points)
    return time.perf_counter() - begin, found


def main() -> None:
    given = [argument for argument in sys.argv[1:] if argument.isdigit()]
    count = int(given[0]) if given else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY.replace("COUNT", str(count)))
        study = read_study(path)
        points = study.points()
        few = points[:: max(len(points) // 200, 1)][:200]
        evaluator = Evaluator(study)
        seconds, reference = timed(by_scipy, few)
        scipy_rate = len(few) / seconds
        off = np.abs(evaluator(few).values - reference).max()
        assert off < 1e-3, off
        spent = time.process_time()
        seconds, found = timed(lambda points: by_torseur(evaluator, points), points)
        spent = time.process_time() - spent
        assert np.isfinite(found).all()
        ours = len(points) / seconds
        print(f"{count} motions of 10 s at rtol 1e-6 on {CORES} cores, largest difference from SciPy {off:.1e}")
        print(f"torseur            {ours:10.0f} motions a second ({seconds:.2f} s for all; "
              f"{1e6 * spent / count:.1f} µs of a core each)")  # fmt: skip
        print(
            f"SciPy DOP853       {scipy_rate:10.0f} motions a second (one core), {ours / scipy_rate:.0f} times slower"
        )
        try:
            seconds, other = timed(by_casadi, few)
            print(f"CasADi map, CVODES {len(few) / seconds:10.0f} motions a second, {ours * seconds / len(few):.0f} "
                  f"times slower (difference {np.abs(other - reference).max():.1e})")  # fmt: skip
        except ImportError as problem:
            print(f"CasADi             not installed ({problem.name})")
        if "--store" in sys.argv:
            swept = sweep(study)
            size = sum(file.stat().st_size for file in swept.store.path.rglob("*") if file.is_file())
            print(
                f"whole sweep        {swept.rate:10.0f} motions a second, {size / count:.1f} bytes a point in the store"
            )


if __name__ == "__main__":
    main()
