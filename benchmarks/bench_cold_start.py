"""From a cold process to ten seconds of double pendulum: imports, building, deriving, compiling (LLVM), simulating.

Each run is a new Python process; the first has an empty kernel cache, the others find the kernel there. The final
state is checked against a reference before times are printed. Not proven: other machines, a cold file system cache.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

PROGRAM = r"""
import time
start = time.perf_counter()
import torseur as ts
import torseur.computation.simulation.simulate, torseur.derivation.formalisms
imported = time.perf_counter()
g, m1, m2 = ts.parameter("g", 9.81, "m/s^2"), ts.parameter("m1", 4, "kg"), ts.parameter("m2", 2, "kg")
r2, l2 = ts.parameter("r2", 5, "m"), ts.parameter("l2", 2, "m")
arm = ts.body("arm", mass=m1, centre=(0, -r2, 0), inertia=ts.inertia(m1 * r2**2, 0, m1 * r2**2, about="frame"))
blade = ts.body("blade", mass=m2, centre=(-l2, 0, 0), inertia=ts.inertia(0, m2 * l2**2, m2 * l2**2, about="frame"))
elbow = arm.at((0, -r2, 0), ts.turn(ts.PI / 2, (1, 0, 0)))
pendulum = ts.Mechanism("double_pendulum", bodies=[arm, blade], parameters=[g, m1, m2, r2, l2], gravity=(0, -g, 0),
                        joints=[ts.revolute("shoulder", ts.EARTH, arm, "q1"), ts.revolute("elbow", elbow, blade, "q2")],
                        initial={"q1": ts.PI / 4, "q2": ts.PI / 4})
equations = ts.derive(pendulum)
equations.acceleration
derived = time.perf_counter()
motion = ts.simulate(equations, until=10, samples=[5.0, 10.0], rtol=1e-11, backend="llvm")
done = time.perf_counter()
assert abs(motion["q1"][0] - 0.7160359724129048) < 1e-9
print(imported - start, derived - imported, done - derived)
"""


def run(cache: str) -> tuple[float, list[float]]:
    start = time.perf_counter()
    environment = os.environ | {"TORSEUR_CACHE": cache}
    out = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return time.perf_counter() - start, [float(x) for x in out.stdout.split()]


def main() -> None:
    with tempfile.TemporaryDirectory() as cache:
        print("run      total   imports  derive  compile and simulate   (s; goals: cold 2.5, cached 1.2)")
        for label in ("cold", "cached", "cached", "cached"):
            total, (imports, derive, simulate) = run(cache)
            print(f"{label:7}  {total:5.2f}   {imports:6.2f}  {derive:6.3f}  {simulate:8.3f}")


if __name__ == "__main__":
    main()
