"""The loop doctor on nets of antenna meshes and on the classics of the library: seconds per mechanism, answers checked.

Targets: 12 meshes in a strip under 5 s, 100 in a grid under 20 s. The finite mobility of a net is the number of its
posts (struts keep one common length, every post but the first has a height), which is checked before a time counts.
Not proven: other nets, other machines, the first call of a process (imports take about a second).
"""

from __future__ import annotations

import sys
import time

from torseur.derivation.loops import assemble, loops
from torseur.description import library

# mechanism, finite mobility, seconds allowed
NETS = [
    ("antenna_chain?n=12", 14, 5.0),
    ("antenna_grid?width=10&height=5", 66, 20.0),
    ("antenna_chain?n=100", 102, None),
]
CLASSICS = {"four_bar": 1, "bennett": 1, "saliere": 1, "jansen_leg": 1, "delta_robot": 3, "stewart_platform": 6}


def examined(name: str, finite: int) -> float:
    """Seconds the doctor takes, its verdict being right."""
    mechanism = library.load(name)
    start = time.perf_counter()
    found = loops(mechanism)
    seconds = time.perf_counter() - start
    if found.finite != finite:
        sys.exit(f"{name}: finite mobility {found.finite}, expected {finite}")
    return seconds


def assembled(name: str) -> tuple[float, int]:
    """Seconds per assembly, and how many of twenty single starts close."""
    import numpy as np

    mechanism, rng, closed = library.load(name), np.random.default_rng(1), 0
    coordinates = [q for joint in mechanism.joints for q in joint.coordinates]
    start = time.perf_counter()
    for _ in range(20):
        rough = {q.name: float(rng.uniform(-3.1, 3.1) if q.unit == "rad" else rng.uniform(-1, 1)) for q in coordinates}
        closed += assemble(mechanism, rough, starts=1).found
    return (time.perf_counter() - start) / 20, closed


def main() -> None:
    loops(library.load("four_bar"))  # imports
    print(f"{'the doctor':34} {'seconds':>8} {'allowed':>8}")
    for name, finite, allowed in NETS:
        seconds = examined(name, finite)
        print(f"{name:34} {seconds:8.2f} {allowed if allowed is not None else '':>8}")
    for name, finite in CLASSICS.items():
        print(f"{name:34} {examined(name, finite):8.2f}")
    print(f"\n{'assembly from one random start':34} {'ms each':>8} {'closed':>8}")
    for name in [*CLASSICS, "bricard", "antenna_mesh"]:
        seconds, closed = assembled(name)
        print(f"{name:34} {1000 * seconds:8.1f} {closed:>5}/20")


if __name__ == "__main__":
    main()
