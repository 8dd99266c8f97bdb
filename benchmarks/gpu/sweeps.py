"""Points of studies on a GPU: each case compared with the CPU on a sample, then many points timed.

Run where CuPy and a GPU are:  PYTHONPATH=src python benchmarks/gpu/sweeps.py [CASE ...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from torseur.analysis.studies.definition.study import SweepStudy
from torseur.analysis.studies.definition.study_file import read_study
from torseur.analysis.studies.sweeps.evaluation import Evaluator

PENDULUM = """\
mechanism = "library:double_pendulum"
until = "10 s"
rtol = 1e-6
{more}
[vary]
m1 = {{ from = "3 kg", to = "5 kg" }}
m2 = {{ normal = ["2 kg", "0.1 kg"] }}
l2 = {{ from = "1.8 m", to = "2.2 m" }}
[design]
kind = "random"
count = 1048576
seed = 1
[initial]
q1 = "20 deg"
q2 = "10 deg"
[gpu]
method = "dopri5"
precision = "float64"
[criteria]
{criteria}
"""
FOUR_BAR = """\
mechanism = "library:four_bar"
until = "2 s"
rtol = 1e-6
{more}
[vary]
a = {{ from = "0.38 m", to = "0.42 m" }}
b = {{ from = "0.98 m", to = "1.02 m" }}
rho = {{ normal = ["2 kg/m", "0.1 kg/m"] }}
[design]
kind = "random"
count = 1048576
seed = 1
[gpu]
method = "dopri5"
precision = "float64"
[criteria]
{criteria}
"""


class Case(NamedTuple):
    """A study, how many of its points are timed, and how many are compared with the CPU."""

    words: str
    text: str
    points: int
    sample: int


ENDS = 'swing = "q1"\nenergy = "energy"'
ALONG = 'work = { integral = "kinetic_energy" }\nswing = { maximum = "q2" }'
EVENTS = 'passage = { event_time = "q1", direction = -1, occurrence = 2 }\nthere = { event = "q2", when = "q1" }'
LOOP = 'alpha_end = "alpha"\nwork = { integral = "kinetic_energy" }\nfastest = { maximum = "kinetic_energy" }'
CASES = {
    "ends": Case("values at the end", PENDULUM.format(more="", criteria=ENDS), 1 << 20, 200),
    "along": Case("an integral and a maximum", PENDULUM.format(more="", criteria=ALONG), 1 << 20, 200),
    "events": Case("time of the second fall through zero, value at the first zero",
                   PENDULUM.format(more="", criteria=EVENTS), 1 << 20, 200),
    "slopes": Case(
        "an integral and a maximum by two parameters",
        PENDULUM.format(more='derivatives = ["m2", "l2"]', criteria=ALONG), 1 << 18, 200,
    ),
    "loop": Case("a four-bar, 2 s: value, integral, maximum", FOUR_BAR.format(more="", criteria=LOOP), 1 << 18, 50),
}  # fmt: skip


def study_of(case: Case, folder: str) -> SweepStudy:
    path = Path(folder) / "study.toml"
    path.write_text(case.text)
    return read_study(path)


def worst(study: SweepStudy, device: Evaluator, points: np.ndarray) -> float:
    """The largest difference to the CPU at a tight tolerance, in units of the largest value of a column."""
    exact, found = Evaluator(study)(points).values, device(points).values
    return float(np.nanmax(np.abs(found - exact).max(axis=0) / np.abs(exact).max(axis=0)))


def measure(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        study = study_of(case, folder)
        points = study.points(0, case.points)
        device = Evaluator(study.on("cuda"))
        failed = len(device(points).failures)  # compiles, and measures launches
        error = worst(study, device, points[: case.sample])
        starts, begin = device._starts, time.perf_counter()
        starts.states(points, starts.parameters(points))
        assembly = time.perf_counter() - begin
        begin = time.perf_counter()
        device(points)
        seconds = time.perf_counter() - begin
    print(f"{case.words}: {len(points)} motions, copies and starts included, {1e-6 * len(points) / seconds:.2f}e6 per "
          f"second ({seconds:.2f} s, of which {assembly:.2f} s for the starts on the CPU); beside the CPU {error:.1e}; "
          f"{failed} failed", flush=True)  # fmt: skip


def main() -> None:
    for name in sys.argv[1:] or CASES:
        measure(CASES[name])


if __name__ == "__main__":
    main()
