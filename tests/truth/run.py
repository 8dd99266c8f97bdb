"""The whole matrix: `make truth`, or `python tests/truth/run.py --seconds 3600 --table table.md`.

Rows are taken one after the other, first those in which every two features meet, then random ones; each answer is written as a line
of a record as soon as it is there, so that a run that is stopped goes on where it was. Failures are shrunk to a minimal text.

Several machines share the work by ranges of rows, `--first 0 --count 5000 --record a.jsonl` and `--first 5000 --count 5000 --record
b.jsonl`, each with as many processes as `--jobs` says; `--count 0 --also a.jsonl b.jsonl --table table.md` makes one table of both.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import sys
import time
import warnings
from collections import Counter
from functools import partial
from itertools import islice
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # matrices are small, and the processes share the cores
sys.path[:0] = [str(Path(__file__).resolve().parents[1])]

# ruff: noqa: E402
import numpy as np

from truth.generator import generate
from truth.known_faults import known
from truth.matrix import FACTORS, everything, pairwise_rows
from truth.questions import TooLong, answer
from truth.shrinker import shrink

VERDICTS = ("agrees", "refused", "unclear", "too long", "not drawn", "no compiler", "known", "differs", "crashes")
LIMIT = 60
"""Seconds of the processor for one question; what takes longer is counted apart."""
SHRINKING = 120
"""Seconds for making one failure smaller."""


def main():
    options = _options()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    record = Path(options.record)
    record.parent.mkdir(parents=True, exist_ok=True)
    done = {}
    for path in (*map(Path, options.also), record):
        done |= _done(path)
    rows = islice(everything(options.first), options.count)
    asked = options.questions.split(",") if options.questions else None
    open_rows = (row for row in rows if str(row) not in done and (asked is None or row.question in asked))
    with record.open("a", encoding="utf-8") as file:
        for line in _examined(open_rows, options):
            done[line["row"]] = line
            file.write(json.dumps(line) + "\n")
            file.flush()
            _tell(done, line)
    table = table_of(done.values(), options.commit)
    if options.table:
        Path(options.table).write_text(table, encoding="utf-8")
    print(table)
    return int(any(line["verdict"] in ("differs", "crashes") for line in done.values()))


def _examined(rows, options):
    """Answers to the rows, by one process or by several, until the time is over."""
    until = time.monotonic() + options.seconds
    if options.jobs == 1:
        for row in rows:
            if time.monotonic() > until:
                return
            yield examine(row, options.shrink)
        return
    # Fresh processes now and then: compiled functions of a mechanism stay loaded until their process ends. Rows are taken
    # as they come, since a process that dies loses its row, and the others must not wait for it.
    with multiprocessing.Pool(options.jobs, maxtasksperchild=100) as pool:
        answers = pool.imap_unordered(partial(examine, trials=options.shrink), rows)
        while (left := until - time.monotonic()) > 0:
            try:
                yield answers.next(timeout=left)
            except (StopIteration, multiprocessing.TimeoutError):
                return


def _options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3600, help="how long to go on")
    parser.add_argument("--first", type=int, default=0, help="the first row (its seed)")
    parser.add_argument("--count", type=int, default=20_000, help="how many rows at most")
    parser.add_argument(
        "--record", default="truth.jsonl", help="answers so far, one per line; a run goes on from there"
    )
    parser.add_argument("--also", nargs="*", default=[], help="records of other runs, for the table; not asked again")
    parser.add_argument("--questions", default="", help="only rows with these, with commas between")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--table", default="", help="a file for the table of what was covered")
    parser.add_argument("--commit", default="", help="what the table says it was run with")
    parser.add_argument("--shrink", type=int, default=150, help="trials for shrinking a failure")
    return parser.parse_args()


def _done(record):
    if not record.exists():
        return {}
    lines = [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]
    return {line["row"]: line for line in lines}


def examine(combination, trials=0):
    """The answer to one row, with the minimal text where it is wrong."""
    started = time.perf_counter()
    line = {"row": str(combination), "levels": dict(combination.levels), "verdict": "", "detail": "", "text": ""}
    try:
        text = generate(combination.seed, combination.wish)
    except Exception as reason:  # a fault of the generator must not end the run
        return line | {"verdict": "not drawn", "detail": f"{type(reason).__name__}: {reason}"[:300]}
    outcome = _timed(text, combination)
    name = known(combination, text, outcome) if outcome.is_fault else ""
    line |= {
        "verdict": "known" if name else outcome.verdict,
        "detail": name or outcome.detail[:300],
        "off": outcome.off,
    }
    if outcome.is_fault and not name:
        until = time.monotonic() + SHRINKING
        line["text"] = shrink(
            text, lambda t: time.monotonic() < until and _same(_timed(t, combination), outcome), trials
        )
    return line | {"seconds": round(time.perf_counter() - started, 2)}


def _timed(text, combination):
    def stop(*_):
        raise TooLong

    # Of the processor, not of the clock: on a machine that does other things, questions that are answered would count as too long.
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        return answer(text, combination.question, combination.way)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _same(outcome, first):
    return outcome.verdict == first.verdict and outcome.detail.split(" ")[0] == first.detail.split(" ")[0]


def _tell(done, line):
    counts = Counter(entry["verdict"] for entry in done.values())
    print(f"{len(done):6d}  {dict(counts)}  {line.get('seconds', 0):.1f} s  {line['row']}", flush=True)
    if line["text"]:
        print(f"{line['verdict']}: {line['detail']}\n{line['text']}", flush=True)


def table_of(lines, commit=""):
    """What was covered and how it went, as Markdown."""
    lines = list(lines)
    counts = Counter(line["verdict"] for line in lines)
    verdicts = [v for v in VERDICTS if counts[v]]
    asked = [line for line in lines if line["verdict"] not in ("not drawn", "no compiler")]
    rows = [
        f"Random mechanisms asked: {len(asked)}{f' (with {commit})' if commit else ''}. "
        + ", ".join(f"{v} {counts[v]}" for v in verdicts)
        + ".",
        "",
    ]
    rows.append(f"Pairs of features that met: {_pairs(lines)}.")
    rows.append("")
    rows += [f"| feature | level | {' | '.join(verdicts)} |", f"| --- | --- | {' | '.join('---:' for _ in verdicts)} |"]
    for factor, levels in FACTORS.items():
        for level in levels:
            of = Counter(line["verdict"] for line in lines if line["levels"].get(factor) == level)
            rows.append(f"| {factor} | {level} | {' | '.join(str(of[v]) for v in verdicts)} |")
    refusals = Counter(_kind_of(line["detail"]) for line in lines if line["verdict"] == "refused")
    rows += ["", "Refusals, by what was said:", "", "| times | said |", "| ---: | --- |"]
    rows += [f"| {n} | {said} |" for said, n in refusals.most_common(25)]
    faults = [line for line in lines if line["verdict"] in ("differs", "crashes")]
    rows += ["", f"Failures: {len(faults)}."]
    for line in faults:
        rows += ["", f"{line['row']}: {line['detail']}", "", "```", line["text"].rstrip(), "```"]
    return "\n".join(rows) + "\n"


def _kind_of(detail):
    """A refusal without its names and numbers."""
    import re

    return re.sub(r"'[^']*'", "'...'", re.sub(r"-?\d[\d.e+-]*", "0", detail))[:160].replace("|", "\\|")


def _pairs(lines):
    from itertools import combinations

    names = list(FACTORS)
    met = {
        pair
        for line in lines
        if line["verdict"] != "not drawn"
        for pair in combinations([(n, line["levels"].get(n)) for n in names], 2)
    }
    wanted = {pair for row in pairwise_rows() for pair in combinations([(n, row[n]) for n in names], 2)}
    return f"{len(met & wanted)} of {len(wanted)}"


if __name__ == "__main__":
    sys.exit(main())
