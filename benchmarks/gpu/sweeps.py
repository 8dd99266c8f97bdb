"""Points of a study on a GPU: compared with the CPU on a sample, then a million of them timed.

Run where CuPy and a GPU are:  PYTHONPATH=src python benchmarks/gpu/sweeps.py
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

from torseur.studies.evaluation import Evaluator
from torseur.studies.reading import read_study

STUDY = """\
mechanism = "library:double_pendulum"
until = "10 s"
rtol = 1e-6
[vary]
m1 = { from = "3 kg", to = "5 kg" }
m2 = { normal = ["2 kg", "0.1 kg"] }
l2 = { from = "1.8 m", to = "2.2 m" }
[design]
kind = "random"
count = 1048576
seed = 1
[initial]
q1 = "20 deg"
q2 = "10 deg"
[criteria]
swing = "q1"
energy = "energy"
[gpu]
method = "dopri5"
precision = "float64"
"""
SAMPLE = 200


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "study.toml"
        path.write_text(STUDY)
        study = read_study(path)
        points = study.points(0, 1 << 20)
        exact = Evaluator(study)(points[:SAMPLE]).values
        device = Evaluator(study.on("cuda"))
        found = device(points).values
        error = np.abs(found[:SAMPLE] - exact).max(axis=0) / np.abs(exact).max(axis=0)
        begin = time.perf_counter()
        device(points)
        seconds = time.perf_counter() - begin
    print(f"{len(points)} motions of a study, 10 s at rtol 1e-6, three parameters each, copies included: "
          f"{1e-6 * len(points) / seconds:.2f}e6 per second; beside the CPU {error.max():.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
