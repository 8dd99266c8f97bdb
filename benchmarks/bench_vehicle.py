"""A car of fourteen degrees of freedom, made of parts with loops and four Magic Formula tyres, against the clock.

Ten seconds of a turn that begins with a step of steering, on one core. The answer is checked first: against the same
motion with a tolerance a thousand times smaller. Goal: a hundred times faster than real time. The time is that of the
compiled loop, best of five; deriving and compiling the equations are printed beside it. Not proven: roads with much
shorter waves than the tolerances are for, other machines. No peer is timed: none is installed here.
"""

from __future__ import annotations

import time

import torseur as ts
from torseur import library

UNTIL, GOAL = 10.0, 100.0
GIVEN = {"steer": 0.6}


def main() -> None:
    start = time.perf_counter()
    car = ts.derive(library.load("car"))
    reference = ts.simulate(car, UNTIL, samples=101, parameters=GIVEN, rtol=1e-8, method="radau5")
    print(f"deriving, compiling and the reference: {time.perf_counter() - start:.1f} s")
    print("method    rtol   steps   evaluations   ms   times real time   largest error of yaw rate (rad/s)")
    best = 0.0
    for method, rtol in (("radau5", 1e-3), ("radau5", 1e-4), ("radau5", 1e-5)):
        runs = [ts.simulate(car, UNTIL, samples=101, parameters=GIVEN, rtol=rtol, method=method) for _ in range(5)]
        error = max(abs(runs[0]["r"] - reference["r"]))
        assert error < 2e-3, f"{method}: yaw rate is wrong by {error:g} rad/s"
        fastest = min((run.statistics for run in runs), key=lambda s: s.wall_time)
        ratio = UNTIL / fastest.wall_time
        best = max(best, ratio)
        print(f"{method:8} {rtol:6.0e} {fastest.steps:6} {fastest.evaluations:12} {1e3 * fastest.wall_time:6.1f} "
              f"{ratio:14.0f}   {error:.1e}")  # fmt: skip
    print(f"{best:.0f} times faster than real time (goal: {GOAL:.0f})")


if __name__ == "__main__":
    main()
