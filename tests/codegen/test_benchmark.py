"""The short form of the benchmark runs and writes its table. No time is asserted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torseur.codegen.c.compiler import find_compiler

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_short_benchmark(tmp_path):
    if find_compiler() is None:
        pytest.skip("no C compiler is installed")
    table = tmp_path / "table.md"
    search = os.pathsep.join([str(PROJECT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, str(PROJECT / "benchmarks" / "bench_dynamics.py"), "--short", "--out", str(table)],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    text = table.read_text(encoding="utf-8")
    for word in ("machine:", "compiler:", "versions:", "ur5", "solo12", "d forward dynamics", "does not prove"):
        assert word in text
    rows = [line.split("|") for line in text.splitlines() if line.startswith(("| ur5", "| solo12"))]
    assert len(rows) == 10
    # Rounding only: the errors against 50 digits, in the last column.
    assert all(float(error) < 1e-12 for row in rows for error in row[-2].split(","))
