"""Every command and program of docs/codegen.md runs, section by section, as a reader would run them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[4]
PAGE = (PROJECT / "docs" / "codegen.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^##? (.*?)\n(.*?)(?=^##? |\Z)", PAGE, re.MULTILINE | re.DOTALL))
BLOCK = re.compile(r"^```(\w+)(?: file=(\S+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
NEEDS = {"C": ["cc"], "C++": ["c++"], "Fortran": ["gfortran"], "MATLAB and Octave": ["octave-cli"], "FMU": ["cc"]}
PACKAGES = {"JAX": "jax", "FMU": "fmpy"}


@pytest.fixture
def shell(tmp_path):
    """Runs commands in a folder of their own, with `torseur` and `python` those of this test."""
    programs = tmp_path / "programs"
    programs.mkdir()
    start = "import sys; sys.argv[0] = 'torseur'; from torseur.cli import main; main()"
    for name, words in (("torseur", f'-c "{start}" "$@"'), ("python", '"$@"')):
        path = programs / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words}\n')
        path.chmod(0o755)
    search = os.pathsep.join([str(PROJECT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    path = os.pathsep.join([str(programs), os.environ["PATH"]])

    def run(command):
        environment = {**os.environ, "PATH": path, "PYTHONPATH": search}
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stdout[-1000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    run.folder = tmp_path
    return run


@pytest.mark.slow
@pytest.mark.parametrize("section", [title for title, text in SECTIONS.items() if BLOCK.search(text)])
def test_section(section, shell):
    for program in NEEDS.get(section, []):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")
    if section in PACKAGES and find_spec(PACKAGES[section]) is None:
        pytest.skip(f"{PACKAGES[section]} is not installed")
    printed = ""
    for language, file, text in BLOCK.findall(SECTIONS[section]):
        if file:
            (shell.folder / file).parent.mkdir(exist_ok=True)
            (shell.folder / file).write_text(text)
        elif language == "sh":
            printed = shell(text)
    assert printed.strip()


@pytest.mark.slow
def test_the_page_names_every_function_and_target():
    from torseur.computation.codegen.sources.generate_files import TARGETS
    from torseur.computation.functions import FUNCTIONS

    for name in (*FUNCTIONS, *TARGETS):
        assert f"`{name}`" in PAGE, name
