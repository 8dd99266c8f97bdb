"""The short form of the benchmark runs and writes its table. No time is asserted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torseur.computation.codegen.targets.c.c_compiler import find_compiler

PROJECT = Path(__file__).resolve().parents[3]


def short_table(script: str, folder: Path, *options: str) -> str:
    """What the short form of a benchmark writes."""
    if find_compiler() is None:
        pytest.skip("no C compiler is installed")
    table = folder / "table.md"
    search = os.pathsep.join([str(PROJECT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(PROJECT / "benchmarks" / script), "--short", "--out", str(table), *options],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return table.read_text(encoding="utf-8")


@pytest.mark.slow
def test_short_benchmark(tmp_path):
    text = short_table("bench_dynamics.py", tmp_path)
    for word in ("machine:", "compiler:", "versions:", "ur5", "solo12", "d forward dynamics", "does not prove"):
        assert word in text
    rows = [line.split("|") for line in text.splitlines() if line.startswith(("| ur5", "| solo12"))]
    assert len(rows) == 10
    # Rounding only: the errors against 50 digits, in the last column.
    assert all(float(error) < 1e-12 for row in rows for error in row[-2].split(","))


@pytest.mark.slow
def test_short_benchmark_of_live_parameters(tmp_path):
    text = short_table("bench_live_parameters.py", tmp_path)
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| solo12")]
    assert len(rows) == 5 and "Not proven here" in text
    assert all(float(error) < 1e-12 for row in rows for error in row[-2].split(","))


@pytest.mark.slow
def test_errors_beside_pinocchio(tmp_path):
    """Errors against 100 digits are those of rounding, and not larger than Pinocchio's where it is installed."""
    text = short_table("bench_accuracy.py", tmp_path, "--states", "3")
    rows = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line.startswith("| ")][2:]
    assert [row[1] for row in rows] == ["double_pendulum", "solo12", "ur5"]
    for row in rows:
        for cell in row[3:8]:
            own, *other = (float(number) for number in cell.split(","))
            assert own < (max(1e-14, 3 * other[0]) if other else 2e-14)
