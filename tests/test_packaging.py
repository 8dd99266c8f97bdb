"""What is released: the wheel holds the package and nothing else, and runs from another folder without a compiler."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
SOURCE = PROJECT / "src"


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The folder with the wheel and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True)
    return folder


def package_files() -> set[str]:
    files = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SOURCE).as_posix() for path in files}


def test_one_version_stands_wherever_it_is_stated():
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    citation = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    changelog = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\nversion: {version}\n" in citation
    assert re.search(r"^## \[(.*)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE).group(1) == version


def test_each_version_of_the_changelog_has_each_kind_of_change_once():
    """The form of Keep a Changelog: kinds in their order, none twice, none other than these and the notes on migration."""
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    _, *versions = re.split(r"^## ", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for version in versions:
        assert re.match(r"Unreleased\n|\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d\n", version)
        headings = [h for h in re.findall(r"^### (.*)$", version, re.MULTILINE) if not h.startswith("Migrating from ")]
        assert headings == [kind for kind in kinds if kind in headings]


@pytest.mark.slow
def test_the_wheel_holds_the_package_with_its_licences(distributions):
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = {name for name in names if ".dist-info/" in name}
    assert names - about == package_files()
    held = {name.split("licenses/")[1] for name in about if "licenses/" in name}
    assert {Path(name).name for name in held} == {"LICENSE", "OFL.txt", "codemirror.LICENSE.txt"}


@pytest.mark.slow
def test_the_source_distribution_builds_the_same_package(distributions):
    (source,) = distributions.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {f"src/{name}" for name in package_files()} <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile", "constraints.txt"} <= names


@pytest.mark.slow
def test_the_wheel_runs_by_itself_without_a_compiler(distributions, tmp_path):
    """Unpacked elsewhere, with an empty search path; `tools/release/try_wheel.py` installs it with its dependencies."""
    (wheel,) = distributions.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PATH": "", "TORSEUR_CACHE": "off"}
    script = (
        "import torseur as ts, pathlib;"
        "motion = ts.simulate(ts.library.load('four_bar'), until=0.1, samples=3);"
        "ts.write_report(ts.library.load('pendulum'), 'page.html');"
        "print(pathlib.Path(ts.__file__).parent, motion['alpha'][-1])"
    )
    run = [sys.executable, "-c", script]
    done = subprocess.run(run, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "site"))
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_the_bill_of_materials_names_what_is_shipped_and_installed():
    """Every folder with parts of other projects has a component; so does every dependency."""
    script = PROJECT / "tools" / "release" / "bill_of_materials.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    components = {one["name"]: one for one in json.loads(done.stdout)["components"]}
    assert {"@codemirror/view", "STIX Two Math (subset)", "numpy", "llvmlite", "python-flint"} <= set(components)
    assert all("licenses" in one for one in components.values())
