"""Which part of every folder the tests run: statements and branches, from the report that `make coverage` writes.

    python tools/coverage_by_folder.py build/coverage.json

Routines that are translated to machine code run there, where no tool counts them: only their checks in Python count.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path, PurePath

COUNTS = ("num_statements", "covered_lines", "num_branches", "covered_branches")


def counts_by_folder(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, Counter[str]]:
    """Counts of the report's files, added up for every room of a storey, such as `derivation/loops`."""
    folders: dict[str, Counter[str]] = {}
    for file, found in report["files"].items():
        parts = PurePath(file).parts
        inside = parts[parts.index("torseur") + 1 :]
        folder = "/".join(inside[:-1][:2]) or "."
        folders.setdefault(folder, Counter()).update({name: found["summary"][name] for name in COUNTS})
    return dict(sorted(folders.items()))


def table(folders: dict[str, Counter[str]]) -> str:
    """Markdown, with the sum of all folders at the end."""
    rows = ["| folder | statements | run | branches | taken |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, counts in (*folders.items(), ("all", sum(folders.values(), Counter()))):
        statements, run, branches, taken = (counts[column] for column in COUNTS)
        rows.append(f"| {name} | {statements} | {share(run, statements)} | {branches} | {share(taken, branches)} |")
    return "\n".join(rows)


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


if __name__ == "__main__":
    print(table(counts_by_folder(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))))
