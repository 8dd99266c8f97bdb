"""Ratios that benchmarks print are kept, and those that worsened by a fifth are named. All numbers are made up."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import history

TABLE = """# Calls

| robot | function | ours | theirs | ratio | difference |
| --- | --- | --- | --- | --- | --- |
| arm, 6 freedoms | aba | 100 | 500 | {} | 1e-14 |
| arm, 6 freedoms | fk | 100 |  |  | 1e-14 |

regressor of ur5     ours 2.00 us   theirs 9.00 us   ratio {}
"""


def printed(*ratios: float) -> str:
    return TABLE.format(*ratios)


def test_ratios_are_read_from_tables_and_lines():
    assert list(history.ratios_of(printed(5.0, 4.5))) == [("arm, 6 freedoms, aba", 5.0), ("regressor of ur5", 4.5)]


@pytest.mark.parametrize(("then", "now", "is_worse"), [(5.0, 4.1, False), (5.0, 3.9, True), (5.0, 9.0, False)])
def test_a_fifth_is_worse(then, now, is_worse, tmp_path):
    record = tmp_path / "history.jsonl"
    assert history.keep("calls", printed(then, 2.0), record, "one") == []
    said = history.keep("calls", printed(now, 2.0), record, "one")
    assert bool(said) is is_worse and all("aba" in line and "3.9" in line and "it was 5" in line for line in said)
    kept = [json.loads(line) for line in record.read_text().splitlines()]
    assert [one["ratio"] for one in kept] == [then, 2.0, now, 2.0]
    assert {one["benchmark"] for one in kept} == {"calls"} and all(one["date"] for one in kept)


def test_other_machines_and_single_runs_do_not_count(tmp_path):
    """The median of 5, 5, 5, 5 and 50 is 5; of another machine nothing is known."""
    record = tmp_path / "history.jsonl"
    for ratio in (5.0, 5.0, 5.0, 5.0, 50.0):
        history.keep("calls", printed(ratio, 2.0), record, "one")
    assert history.keep("calls", printed(1.0, 2.0), record, "another") == []
    assert history.keep("another", printed(1.0, 2.0), record, "one") == []
    assert history.keep("calls", printed(4.5, 2.0), record, "one") == []


def test_a_benchmark_is_run_and_its_failure_told(tmp_path, monkeypatch, capsys):
    (tmp_path / "bench_good.py").write_text(f"print({printed(5.0, 4.5)!r})")
    (tmp_path / "bench_bad.py").write_text("raise SystemExit(3)")
    record = tmp_path / "history.jsonl"
    monkeypatch.setattr(sys, "argv", ["history.py", "--record", str(record), *map(str, sorted(tmp_path.glob("*.py")))])
    assert history.main() == 1
    assert "bench_bad: failed with exit status 3" in capsys.readouterr().err
    assert len(record.read_text().splitlines()) == 2
