"""Whether tests notice faults: mutants drawn over all folders, each judged by the tests beside its module.

    python tools/mutants/run_mutants.py [--count 400] [--seed 1] [--minutes 60] [--limit 150] [--jobs 1] [--table FILE]

A mutant is killed when a test fails that passes without it, and unclear when tests do not end within --limit seconds:
run it on a quiet machine. Tests that name the module's own functions come first, then the rest of its folder, then
laws, oracles and combinations. Runs that are interrupted go on from the record. Each of --jobs processes has a copy of
the product of its own; --failing names a file of tests, one in a line, that fail without any fault on this machine.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue

sys.path.insert(0, str(Path(__file__).parent))

from mutations import Mutation, mutated, mutations

PROJECT = Path(__file__).parents[2]
SOURCE, TESTS = PROJECT / "src" / "torseur", PROJECT / "tests"
MOST_FILES = 12
ITSELF = "the run itself"
BACKSTOP = ("tests/laws", "tests/truth/test_oracle.py", "tests/oracles")


def drawn(seed: int, count: int) -> list[tuple[Path, Mutation]]:
    """Mutants, as many of every folder as its share of the code asks for, in an order that may be cut anywhere."""
    rng = random.Random(f"mutants {seed}")
    every = [
        (path, mutation)
        for path in sorted(SOURCE.rglob("*.py"))
        for mutation in mutations(path.read_text(encoding="utf-8"))
    ]
    return rng.sample(every, min(count, len(every)))


def groups_of_tests(path: Path, nearest: int = 0) -> list[list[str]]:
    """Test files to run for a module: those that name what it defines, the rest of its folder, the backstop.

    With `nearest`, only so many files that name most of it: a share of killed mutants is then a lower bound.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    own = [n.name for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and not n.name.startswith("_")]
    words = [path.stem, *own]
    files = [file for file in sorted(TESTS.rglob("test_*.py")) if "browser" not in file.stem]
    room = nearest_room(path)
    score = Counter({file: _mentions(file, words) + 2 * (room in file.parents) for file in files})
    if nearest:
        return [[str(file.relative_to(PROJECT)) for file, _ in score.most_common(nearest)]]
    near = [file for file, hits in score.most_common(MOST_FILES) if hits > 2 or (hits and room not in file.parents)]
    rest = [file for file in files if room in file.parents and file not in near][: 2 * MOST_FILES]
    groups = ([str(file.relative_to(PROJECT)) for file in group] for group in (near, rest))
    return [group for group in (*groups, list(BACKSTOP)) if group]


def nearest_room(path: Path) -> Path:
    """The folder of tests that mirrors a module's own, or the nearest above it."""
    inner = path.parent.relative_to(SOURCE)
    places = (TESTS / part for part in (inner, *inner.parents))
    return next(place for place in places if place.is_dir())


def _mentions(file: Path, words: list[str]) -> int:
    text = file.read_text(encoding="utf-8")
    return sum(word in text for word in words)


@dataclass
class Judge:
    """Runs tests on a copy of the product, with a fault in it or without."""

    folder: Path
    limit: float
    """Seconds for each group of tests."""
    end: float = math.inf
    """When all is to be over, by the monotonic clock; a mutant under way then is not judged."""
    nearest: int = 0
    broken: list[str] = field(default_factory=list)
    """Tests that fail without any fault: they tell nothing."""

    def verdict(self, path: Path, mutation: Mutation) -> tuple[str, str]:
        """'killed' and by what, 'alive', 'unclear' where tests did not end in time, 'not asked' where the run did."""
        place = self.folder / "torseur" / path.relative_to(SOURCE)
        original = place.read_text(encoding="utf-8")
        unclear = False
        for group in groups_of_tests(path, self.nearest):
            while True:
                place.write_text(mutated(original, mutation), encoding="utf-8")
                try:
                    failed = self.failing(group)
                finally:
                    place.write_text(original, encoding="utf-8")
                if time.monotonic() > self.end:
                    return "not asked", ""
                unclear |= failed is None
                if not failed:
                    break
                # What fails on the unchanged product too, a test or a file, is left out, and the group is run again.
                if self.failing(group if failed == ITSELF else [failed]) == "":
                    return "killed", failed
                if failed == ITSELF:
                    return "unclear", ""
                self.broken.append(failed)
        return ("unclear" if unclear else "alive"), ""

    def failing(self, tests: list[str]) -> str | None:
        """The first test that fails, empty where all pass; None where they do not end in time."""
        paths = [str(self.folder), str(TESTS), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "TORSEUR_CACHE": "off"}
        options = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not browser", "-n", "0"]
        options += [f"--deselect={test}" for test in self.broken]
        command = [sys.executable, "-m", "pytest", *options, "-o", f"pythonpath={self.folder} {TESTS}", *tests]
        with subprocess.Popen(
            command,
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        ) as run:
            try:
                told, _ = run.communicate(timeout=max(0, min(self.limit, self.end - time.monotonic())))
            except subprocess.TimeoutExpired:
                os.killpg(run.pid, signal.SIGKILL)  # servers and workers that tests started end with them
                return None
        if run.returncode in (0, 5):
            return ""
        lines = [line for line in told.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return lines[0].split(" - ")[0].split(" ", 1)[1] if lines else ITSELF


def table(records: list[dict[str, object]]) -> str:
    """What came of the mutants, by folder, and those that no test noticed."""
    folders = sorted({str(one["path"]).split("/")[0] for one in records})
    lines = [
        "# Mutants",
        "",
        "Faults put into the product one at a time (`make mutants`), and whether a test failed.",
        "",
    ]
    lines += ["| folder | mutants | killed | alive | unclear |", "| --- | ---: | ---: | ---: | ---: |"]
    for name in [*folders, "all"]:
        own = [one for one in records if name == "all" or str(one["path"]).split("/")[0] == name]
        count = Counter(str(one["verdict"]) for one in own)
        share = f"{100 * count['killed'] / max(count['killed'] + count['alive'], 1):.0f} %"
        lines.append(f"| {name} | {len(own)} | {count['killed']} ({share}) | {count['alive']} | {count['unclear']} |")
    lines += ["", "## Alive", ""]
    alive = [one for one in records if one["verdict"] == "alive"]
    lines += [f"- `{one['path']}:{one['line']}` {one['fault']}: `{one['code']}`" for one in alive]
    return "\n".join(lines) + "\n"


def _name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--count", type=int, default=400)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--minutes", type=float, default=60)
    options.add_argument("--limit", type=float, default=150, help="seconds for each group of tests")
    options.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    options.add_argument("--failing", type=Path, help="tests that fail without any fault, one in a line")
    options.add_argument("--nearest", type=int, default=0, help="only so many test files each: a lower bound, soon")
    options.add_argument("--record", type=Path, default=PROJECT / "build" / "mutants.jsonl")
    options.add_argument("--table", type=Path)
    asked = options.parse_args()
    asked.record.parent.mkdir(parents=True, exist_ok=True)
    records = [json.loads(line) for line in asked.record.read_text().splitlines()] if asked.record.exists() else []
    done = {(one["path"], one["line"], one["column"], one["fault"]) for one in records}
    end = time.monotonic() + 60 * asked.minutes
    broken = asked.failing.read_text(encoding="utf-8").split("\n") if asked.failing else []
    drawn_now = drawn(asked.seed, asked.count)
    waiting = [(path, m) for path, m in drawn_now if (_name(path), m.line, m.column, m.text) not in done]
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(asked.jobs) as workers:
        judges: SimpleQueue[Judge] = SimpleQueue()
        for number in range(asked.jobs):
            folder = Path(temporary) / str(number)
            shutil.copytree(SOURCE, folder / "torseur", ignore=shutil.ignore_patterns("__pycache__"))
            judges.put(Judge(folder, asked.limit, end, asked.nearest, [test for test in broken if test]))

        def judged(path: Path, mutation: Mutation) -> dict[str, object]:
            judge = judges.get()
            try:
                verdict, by = judge.verdict(path, mutation)
            finally:
                judges.put(judge)
            code = path.read_text(encoding="utf-8").splitlines()[mutation.line - 1].strip()
            place = {"path": _name(path), "line": mutation.line, "column": mutation.column, "fault": mutation.text}
            return {**place, "code": code, "verdict": verdict, "by": by}

        for coming in as_completed([workers.submit(judged, *one) for one in waiting]):
            one = coming.result()
            if one["verdict"] == "not asked":
                continue
            records.append(one)
            with asked.record.open("a", encoding="utf-8") as file:
                file.write(json.dumps(one) + "\n")
            print(
                f"{len(records)}: {one['path']}:{one['line']} {one['fault']}: {one['verdict']} {one['by']}", flush=True
            )
    if asked.table is not None:
        asked.table.write_text(table(records), encoding="utf-8")


if __name__ == "__main__":
    main()
