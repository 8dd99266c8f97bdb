"""Runs benchmarks, keeps the ratios they print, and says which have worsened by a fifth.

Run: python benchmarks/history.py [--record FILE] benchmarks/bench_robot_calls.py [...]

A ratio is a peer's time over ours, both of the same run: more is better, and a busy machine slows both. It is what
stands in a column "ratio" of a Markdown table, named by the words of its row before the first number, or after the word
"ratio" in a line, named by the words before it. Each goes with its date and the kind of machine into
results/history.jsonl, which is committed; it is compared with the median of the last five of the same benchmark, name
and kind of machine, since single runs scatter. The exit status is 1 where a ratio is below four fifths of that, or
where a benchmark failed. Benchmarks that print no ratio are run and keep nothing.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HISTORY = Path(__file__).with_name("results") / "history.jsonl"
WORSE, LAST = 0.8, 5
NUMBER = r"\d+(?:\.\d+)?"


def machine() -> str:
    """The kind of processor and how many there are: ratios depend on both."""
    cpuinfo = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", cpuinfo.read_text()) if cpuinfo.exists() else None
    name = found[1].strip() if found else platform.processor()
    return f"{name or platform.machine()}, {os.cpu_count()} cores"


def ratios_of(text: str) -> Iterator[tuple[str, float]]:
    """Names and ratios that a benchmark printed."""
    place = None  # of the column "ratio" in the table that is being read
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else []
        if not cells:
            place = None
            if found := re.search(rf"^(.*?)\s*\bratio ({NUMBER})", line):
                yield _words(re.split(r"\s{2,}|:", found[1].strip())[:1]), float(found[2])
        elif "ratio" in cells:
            place = cells.index("ratio")
        elif place is not None and place < len(cells) and re.fullmatch(NUMBER, cells[place]):
            yield _words(cells[:place]), float(cells[place])


def _words(cells: list[str]) -> str:
    numbers = (k for k, cell in enumerate(cells) if k and re.fullmatch(rf"-?{NUMBER}(e[+-]?\d+)?", cell))
    return ", ".join(cells[: next(numbers, len(cells))])


def worsened(past: Iterable[dict[str, Any]], new: dict[str, Any]) -> float | None:
    """The ratio of before, where the new one is less than four fifths of it."""
    same = ("benchmark", "name", "machine")
    before = [float(one["ratio"]) for one in past if all(one[key] == new[key] for key in same)][-LAST:]
    usual = statistics.median(before) if before else 0.0
    return usual if new["ratio"] < WORSE * usual else None


def keep(benchmark: str, text: str, record: Path, kind: str) -> list[str]:
    """Appends what a benchmark printed to the record; a line on each ratio that has worsened."""
    past = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    new = [
        {"date": today, "machine": kind, "benchmark": benchmark, "name": name, "ratio": ratio}
        for name, ratio in ratios_of(text)
    ]
    with record.open("a", encoding="utf-8") as file:
        file.writelines(json.dumps(one, ensure_ascii=False) + "\n" for one in new)
    return [
        f"{benchmark}: {one['name']}: the ratio is {one['ratio']:g}, it was {before:g}"
        for one in new
        if (before := worsened(past, one)) is not None
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, default=HISTORY)
    parser.add_argument("benchmarks", nargs="+", type=Path)
    options = parser.parse_args()
    faults: list[str] = []
    for benchmark in options.benchmarks:
        print(f"== {benchmark}", flush=True)
        with subprocess.Popen([sys.executable, benchmark], stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            said = []
            for line in program.stdout:  # shown while it runs: benchmarks take minutes
                print(line, end="", flush=True)
                said.append(line)
        if program.returncode:
            faults.append(f"{benchmark.stem}: failed with exit status {program.returncode}")
        else:
            faults += keep(benchmark.stem, "".join(said), options.record, machine())
    print(*faults, sep="\n", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
