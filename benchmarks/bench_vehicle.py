"""A car of fourteen degrees of freedom, made of parts with loops and four Magic Formula tyres, against the clock.

Ten seconds of a turn that begins with a step of steering, on one core. The answer is checked first: against the same
motion with a tolerance a thousand times smaller. Goal: a hundred times faster than real time. The time is that of the
compiled loop, best of five; deriving and compiling the equations are printed beside it. Not proven: roads with much
shorter waves than the tolerances are for, other machines.

Beside it Exudyn, if it is installed, with the nearest car that its compiled elements can say: the same bodies, joints
and springs on rolling discs (`peers/exudyn_car.py`). Both must show the same yaw rate.
"""

from __future__ import annotations

import importlib.util
import re
import time
from importlib.resources import files

import numpy as np
from peers.exudyn_car import exudyn_car, text

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
    if importlib.util.find_spec("exudyn") is None:
        print("Exudyn is not installed: nothing beside it.")
    else:
        beside_exudyn()


def beside_exudyn() -> None:
    """Both programs on the car with discs: error against a finer motion of Exudyn's, and time."""
    descriptions = files("torseur.description.library")
    car = ts.derive(ts.parse(text(descriptions.joinpath("lsd/car.lsd").read_text())))
    part = descriptions.joinpath("parts/suspension.lsd").read_text()
    points = {found[1]: float(found[2]) for found in re.finditer(r"(\w+_[xyz]) = (-?[\d.]+) m \"", part)}
    move = exudyn_car(points)
    finest, _ = move(UNTIL, 40_000)
    print("on discs             steps      ms   largest difference of yaw rate from Exudyn's with 40,000 steps (rad/s)")
    peers = []
    for steps in (2000, 5000, 10_000):
        yaw, seconds = min((move(UNTIL, steps) for _ in range(3)), key=lambda run: run[1])
        peers.append((np.abs(yaw - finest).max(), seconds))
        print(f"exudyn             {steps:7} {1e3 * seconds:7.1f}   {peers[-1][0]:.1e}")
    for rtol in (1e-3, 1e-4, 1e-5):
        runs = [ts.simulate(car, UNTIL, samples=101, parameters=GIVEN, rtol=rtol, method="radau5") for _ in range(5)]
        fastest = min((run.statistics for run in runs), key=lambda s: s.wall_time)
        error = np.abs(runs[0]["r"][:100] - finest).max()
        assert error < 2e-3, f"the two programs differ by {error:g} rad/s"
        equal = [seconds for apart, seconds in peers if apart <= max(error, 2e-4)] or [peers[-1][1]]
        print(f"torseur {rtol:7.0e} {fastest.steps:10} {1e3 * fastest.wall_time:7.1f}   {error:.1e}   "
              f"{min(equal) / fastest.wall_time:.1f} times as fast as Exudyn with no larger error")  # fmt: skip


if __name__ == "__main__":
    main()
