"""Build the wheel and the source distribution, and try both where nothing else is installed.

    python tools/release/try_wheel.py [--python 3.11 --python 3.12 ...] [--extra studio ...] [--all]

For each interpreter that is found: a new environment, the wheel alone, then each optional set in an environment of its
own; once the source distribution. In each the program says its version, examines itself (`torseur doctor`), moves a
mechanism and writes a report, with a search path on which there is no compiler. Ends with 1 where anything fails.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13")
EXTRAS = ("studio", "sweep", "mocap", "plots", "pictures", "identification", "meshes", "xacro")
"""What users install; sets for tests, benchmarks and pages need a checkout."""

COMMANDS = (
    ("--version",),
    ("doctor",),
    ("equations", "library:double_pendulum", "--level", "scalar"),
    ("simulate", "library:four_bar", "--until", "1", "--out", "motion.csv"),
    ("report", "library:pendulum", "-o", "report.html"),
)


def build(folder: Path) -> dict[str, Path]:
    """The wheel and the source distribution of the checkout."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=PROJECT, check=True)
    (wheel,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    return {"wheel": wheel, "source": source}


def interpreters(asked: list[str]) -> dict[str, str]:
    """Interpreters by version: those on the search path, and this one."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    there = {version: shutil.which(f"python{version}") for version in asked}
    found = {version: path for version, path in there.items() if path is not None and _runs(path)}
    return found | ({own: sys.executable} if own in asked else {})


def _runs(python: str) -> bool:
    """Whether an interpreter is more than the name that a version manager keeps for it."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def try_it(python: str, distribution: Path, extra: str, folder: Path) -> str:
    """What went wrong with a distribution in a new environment; empty where nothing did."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    place = folder / ("Scripts" if os.name == "nt" else "bin")
    what = f"{distribution}[{extra}]" if extra else str(distribution)
    install = [place / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", what]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"pip: {done.stderr.strip().splitlines()[-1]}"
    bare = {"PATH": str(place), "HOME": str(folder), "TORSEUR_CACHE": str(folder / "cache")}
    for words in COMMANDS:
        command = [place / "torseur", *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=bare, check=False)
        if done.returncode:
            return f"torseur {' '.join(words)}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[-300:]}"
    return ""


def cases(distributions: dict[str, Path], pythons: list[str], extras: list[str]) -> list[tuple[str, Path, str]]:
    """Interpreter version, distribution and optional set of every environment to try."""
    wheel = distributions["wheel"]
    plain = [(version, wheel, "") for version in pythons]
    sets = [(version, wheel, extra) for version in pythons for extra in extras]
    return [*plain, *sets, (pythons[0], distributions["source"], "")]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--python", action="append", choices=VERSIONS)
    options.add_argument("--extra", action="append", choices=EXTRAS)
    options.add_argument("--all", action="store_true", help="every interpreter and every optional set")
    asked = options.parse_args()
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    found = interpreters(list(VERSIONS) if asked.all else asked.python or [own])
    extras = list(EXTRAS) if asked.all else asked.extra or []
    known = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(EXTRAS) <= set(known), "an optional set was renamed"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        distributions = build(Path(folder) / "dist")
        for number, (version, distribution, extra) in enumerate(cases(distributions, list(found), extras)):
            problem = try_it(found[version], distribution, extra, Path(folder) / str(number))
            label = f"Python {version}, {distribution.name}{f' with {extra}' if extra else ''}"
            print(f"{label}: {problem or 'works'}", flush=True)
            wrong += bool(problem)
            shutil.rmtree(Path(folder) / str(number), ignore_errors=True)
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
