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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.analysis.studies import read_study, sweep
from torseur.analysis.studies.sweeps.evaluation import Evaluator

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


def casadi_map(count: int):  # type: ignore[no-untyped-def]
    """CasADi's integrator mapped over so many points, ready to be called."""
    import casadi

    y, p = casadi.SX.sym("y", 4), casadi.SX.sym("p", 2)
    slopes = casadi.vertcat(*accelerations(casadi, casadi.vertsplit(y), p[0], p[1]))
    options = {"abstol": 1e-6, "reltol": 1e-6, "linear_multistep_method": "adams", "max_num_steps": 100000}
    solver = casadi.integrator("motion", "cvodes", {"x": y, "p": p, "ode": slopes}, 0.0, 10.0, options)
    solver = solver.map(count, "thread", CORES)
    start = np.tile([[math.pi / 4], [math.pi / 4], [0.0], [0.0]], count)
    return lambda points: np.array(solver(x0=start, p=points.T)["xf"])[:2].T


def by_torseur(evaluator: Evaluator, points: np.ndarray) -> np.ndarray:
    blocks = [points[k : k + BLOCK] for k in range(0, len(points), BLOCK)]
    with ThreadPoolExecutor(CORES) as pool:
        return np.vstack([found.values for found in pool.map(evaluator, blocks)])


@dataclass(frozen=True)
class Timed:
    """What an action gave, how many motions a second, and the seconds of processors that each took."""

    found: np.ndarray
    rate: float
    each: float

    def line(self, name: str, other: Timed | None = None) -> str:
        slower = "" if other is None else f", {self.each / other.each:.0f} times as much"
        return f"{name:18} {self.rate:10.0f} motions a second, {1e6 * self.each:7.1f} µs of a core each{slower}"


def timed(action, points: np.ndarray) -> Timed:  # type: ignore[no-untyped-def]
    begin, spent = time.perf_counter(), time.process_time()
    found = action(points)
    seconds, spent = time.perf_counter() - begin, time.process_time() - spent
    return Timed(found, len(points) / seconds, spent / len(points))


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
        scipy = timed(by_scipy, few)
        off = np.abs(evaluator(few).values - scipy.found).max()
        assert off < 1e-3, off
        ours = timed(lambda points: by_torseur(evaluator, points), points)
        assert np.isfinite(ours.found).all()
        print(f"{count} motions of 10 s at rtol 1e-6 on {CORES} cores, largest difference from SciPy {off:.1e}")
        print(ours.line("torseur"))
        print(scipy.line("SciPy DOP853", ours), "(a sample, on one core)")
        try:
            casadi = timed(casadi_map(len(few)), few)
            print(casadi.line("CasADi map, CVODES", ours), f"(off by {np.abs(casadi.found - scipy.found).max():.1e})")
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
