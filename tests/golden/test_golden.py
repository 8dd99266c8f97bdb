"""The same mechanism gives the same bytes, whatever the process did before and whichever way it hashes texts.

The files beside this one are what users get; a change in them is a change that users see. Where it is meant,
`pytest tests/golden --update-golden` writes them anew, and the difference is read before it is committed. Whether the
sources are right is the matter of other tests, which compile and compare them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import golden.sources as own
from golden.sources import golden_sources, make_noise

HERE = Path(__file__).parent
LARGEST = 320_000
"""Bytes of all files together."""


def in_another_process(*arguments: str, seed: str) -> dict[str, str]:
    paths = os.pathsep.join([str(Path(own.ts.__file__).parents[1]), str(HERE.parent)])
    command = [sys.executable, str(HERE / "sources.py"), *arguments]
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    answer = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert answer.returncode == 0, answer.stderr
    return dict(json.loads(answer.stdout))


def stored() -> dict[str, str]:
    """The files that are kept, line ends as they are."""
    paths = sorted(path for path in HERE.glob("*/**/*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(HERE).as_posix(): path.read_bytes().decode() for path in paths}


def check(sources: dict[str, str]) -> None:
    kept = stored()
    assert sorted(sources) == sorted(kept)
    different = {name: _first_difference(sources[name], kept[name]) for name in kept if sources[name] != kept[name]}
    assert different == {}, "sources changed. If that is meant: pytest tests/golden --update-golden"


def _first_difference(text: str, kept: str) -> str:
    lines = zip(text.splitlines(), kept.splitlines(), strict=False)
    return next((f"line {k}: {a!r}, kept {b!r}" for k, (a, b) in enumerate(lines, 1) if a != b), "another length")


@pytest.mark.slow
def test_a_fresh_process_writes_what_is_kept(request):
    sources = in_another_process(seed="1")
    if request.config.getoption("--update-golden"):
        for name in stored().keys() - sources.keys():
            (HERE / name).unlink()
        for name, text in sources.items():
            (HERE / name).parent.mkdir(parents=True, exist_ok=True)
            (HERE / name).write_bytes(text.encode())
    check(sources)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["2", "4242"])
def test_so_does_a_process_that_did_other_things_before(seed):
    check(in_another_process("--noise", seed=seed))


@pytest.mark.slow
def test_so_does_this_process():
    """After whichever tests ran before this one."""
    kept = make_noise()
    check(golden_sources())
    del kept


def test_nothing_depends_on_the_version_and_the_files_stay_small():
    """A release changes no generated source."""
    text = stored()
    assert sum(map(len, text.values())) < LARGEST
    assert all(own.ts.__version__ not in source for name, source in text.items() if not name.startswith("fmu/"))
