"""A file that is said to be written is there, holds what was asked for, and replaces another only when told to.

Every option that names an output file is here with every format it takes; each format is read back by its own reader.
"""

from __future__ import annotations

import csv
import json
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import typer

import torseur as ts
from analysis.vehicles import bicycle, test_suspension
from torseur.cli.app import app

PENDULUM, SPRING = "library:pendulum", "library:mass_spring_damper"
MOTION = ("simulate", PENDULUM, "--until", "1", "--samples", "6")
DERIVATIVES = ("sensitivity", PENDULUM, "--criterion", "theta", "--parameters", "l,g", "--until", "1", "--samples", "3")
STEADY = (SPRING, "--equilibrium")
CORNER = ("suspension", "corner.lsd", "--wheel", "fl.hub", "--body", "body", "--points", "3")
TURNS = ("handling", "bicycle.lsd", "--steering", "delta", "--speed", "20 m/s", "--up-to", "1 m/s^2")


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8") as stream:
        return list(csv.reader(stream))


def is_motion_table(path: Path) -> bool:
    table = rows(path)
    return table[0] == ["time [s]", "theta [rad]", "theta' [rad/s]"] and len(table) == 7 and table[-1][0] == "1.0"


def is_motion_dataset(path: Path) -> bool:
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(path) as motion:
        return bool(motion["theta"].shape == (6,) and motion["theta"].attrs["units"] == "rad")


def is_motion_json(path: Path) -> bool:
    return "theta" in path.read_text(encoding="utf-8") and bool(json.loads(path.read_text(encoding="utf-8")))


def is_picture(path: Path) -> bool:
    if path.suffix == ".svg":
        return ElementTree.parse(path).getroot().tag.endswith("svg") and path.stat().st_size > 500
    return (
        path.read_bytes().startswith({".png": b"\x89PNG", ".pdf": b"%PDF"}[path.suffix]) and path.stat().st_size > 2000
    )


def is_page(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return text.startswith("<!doctype html>") and text.rstrip().endswith("</html>") and "pendulum" in text


def is_pendulum(path: Path) -> bool:
    return ts.load(path).name == "pendulum"


def is_robot(path: Path) -> bool:
    return ElementTree.parse(path).getroot().tag == ("robot" if path.suffix == ".urdf" else "mujoco")


def is_word_file(path: Path) -> bool:
    return "<m:oMath" in zipfile.ZipFile(path).read("word/document.xml").decode()


def is_fmu(path: Path) -> bool:
    return 'modelName="pendulum"' in zipfile.ZipFile(path).read("modelDescription.xml").decode()


def holds(text: str) -> Any:
    return lambda path: text in path.read_text(encoding="utf-8")


WRITTEN = {
    "simulate --out .csv": ((*MOTION, "--out", "a.csv"), "a.csv", is_motion_table),
    "simulate --out .nc": ((*MOTION, "--out", "a.nc"), "a.nc", is_motion_dataset),
    "simulate --out .json": ((*MOTION, "--out", "a.json"), "a.json", is_motion_json),
    **{
        f"equations --out {form}": (("equations", PENDULUM, "--format", form, "-o", "a.txt"), "a.txt", holds(text))
        for form, text in {"text": "m*l^2", "latex": r"\theta", "mathml": "<math", "sympy": "sympy", "omml": "<m:oMath"}.items()
    },
    "equations --out docx": (("equations", PENDULUM, "--format", "docx", "-o", "a.docx"), "a.docx", is_word_file),
    "objects --out": (("objects", PENDULUM, "--out", "a.txt"), "a.txt", holds("kinetic energy")),
    "simplify --out": (("simplify", PENDULUM, "--small", "theta", "-o", "a.txt"), "a.txt", lambda p: "sin" not in (text := p.read_text()) and "theta" in text),
    "simplify --out docx": (
        ("simplify", PENDULUM, "--small", "theta", "--format", "docx", "-o", "a.docx"), "a.docx", is_word_file,
    ),
    **{
        f"{name} --plot {suffix}": ((*words, "--plot", f"a{suffix}"), f"a{suffix}", is_picture)
        for name, words in {
            "locus": ("locus", *STEADY, "--over", "k", "--from", "30", "--to", "50", "--points", "3"),
            "response": ("response", *STEADY, "--input", "x", "--output", "x"),
            "sensitivity": DERIVATIVES,
        }.items()
        for suffix in (".svg", ".png", ".pdf")
    },
    "simulate --plot .svg": ((*MOTION, "--plot", "a.svg"), "a.svg", is_picture),
    "animate --out .svg": (("animate", PENDULUM, "--at", "1", "-o", "a.svg"), "a.svg", is_picture),
    "animate --out .gif": (
        ("animate", PENDULUM, "--until", "0.2", "-o", "a.gif"), "a.gif", lambda p: p.read_bytes().startswith(b"GIF89a"),
    ),
    "sensitivity --out .csv": ((*DERIVATIVES, "--out", "a.csv"), "a.csv", lambda p: len(rows(p)) == 4),
    "sensitivity --out .json": ((*DERIVATIVES, "--out", "a.json"), "a.json", is_motion_json),
    "sensitivity --pareto": ((*DERIVATIVES, "--pareto", "a.svg", "--cost", "l=2"), "a.svg", is_picture),
    "report --out": (("report", PENDULUM, "--until", "1", "--out", "a.html"), "a.html", is_page),
    "report": (("report", PENDULUM, "--until", "1"), "pendulum.html", is_page),
    "generate --out c": (("generate", PENDULUM, "--target", "c", "-o", "code"), "code/pendulum.c", holds("mass_matrix")),
    "generate --out python": (("generate", PENDULUM, "--target", "python", "-o", "."), "pendulum.py", holds("def ")),
    "generate --out fmu": (("generate", PENDULUM, "--target", "fmu", "-o", "code"), "code/pendulum.fmu", is_fmu),
    "generate --out NAME.fmu": (("generate", PENDULUM, "--target", "fmu", "-o", "gp.fmu"), "gp.fmu", is_fmu),
    "convert .lsd": (("convert", PENDULUM, "a.lsd"), "a.lsd", is_pendulum),
    "convert .urdf": (("convert", PENDULUM, "a.urdf", "--partial"), "a.urdf", is_robot),
    "convert .xml": (("convert", PENDULUM, "a.xml"), "a.xml", is_robot),
    "convert .mjcf": (("convert", PENDULUM, "a.mjcf"), "a.mjcf", is_robot),
    "sweep --report": (("sweep", "sweep.toml", "--cores", "1", "--report", "a.html"), "a.html", holds("place")),
    "optimise --report": (("optimise", "optimise.toml", "--cores", "1", "--report", "a.html"), "a.html", holds("place")),
    "kinematics --out .csv": (
        ("kinematics", "library:box_on_string", "box.csv", "-o", "a.csv"), "a.csv", lambda p: len(rows(p)) == 6,
    ),
    "derivation --out": (("derivation", PENDULUM, "--out", "a.txt"), "a.txt", holds("theta")),
    "road --out": (("road", "C", "--length", "20", "--out", "a.csv"), "a.csv", lambda p: len(rows(p)) > 200),
    "suspension --out": ((*CORNER, "--out", "a.csv"), "a.csv", lambda p: "camber" in p.read_text() and len(rows(p)) > 3),
    "suspension --report": ((*CORNER, "--report", "a.html"), "a.html", holds("camber")),
    "handling --out": ((*TURNS, "--out", "a.csv"), "a.csv", lambda p: len(rows(p)) > 3),
    "handling --report": ((*TURNS, "--report", "a.html"), "a.html", holds("steering")),
    "kinematics --out .mot": (("kinematics", "library:box_on_string", "box.csv", "-o", "a.mot"), "a.mot", holds("inDegrees")),
}  # fmt: skip
ELSEWHERE = {"identify", "person", "limb"}  # their files are read back in the tests of these commands
STUDY = 'mechanism = "library:mass_spring_damper"\nuntil = "1 s"\n[criteria]\nplace = "x"\n'


@pytest.fixture(autouse=True)
def inputs(own_folder: Path) -> None:
    from dataclasses import replace

    from torseur.analysis.biomechanics import write_csv
    from torseur.analysis.published_studies import marker_count

    grid = '[vary]\nk = { from = "30 N/m", to = "50 N/m", count = 3 }\n[design]\nkind = "grid"\n'
    Path("sweep.toml").write_text(STUDY + grid, encoding="utf-8")
    Path("optimise.toml").write_text(
        'objective = { maximise = "place" }\n' + STUDY + '[vary]\nk = { from = "10 N/m", to = "35 N/m" }\n',
        encoding="utf-8",
    )
    Path("corner.lsd").write_text(test_suspension.CORNER, encoding="utf-8")
    Path("bicycle.lsd").write_text(bicycle.TEXT, encoding="utf-8")
    box = marker_count.box_markers()
    write_csv(Path("box.csv"), replace(box, positions=box.positions[:5], time=box.time[:5]))


@pytest.mark.parametrize("case", WRITTEN)
def test_a_file_that_is_said_to_be_written_holds_what_was_asked_for(torseur: Any, case: str) -> None:
    words, name, is_right = WRITTEN[case]
    result = torseur(*words)
    assert result.exit_code == 0, result.stderr
    assert f"written: {name}" in result.stdout
    assert is_right(Path(name))


@pytest.mark.parametrize("case", WRITTEN)
def test_a_file_is_replaced_only_when_told_to(torseur: Any, case: str) -> None:
    words, name, is_right = WRITTEN[case]
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("kept", encoding="utf-8")
    refused = torseur(*words)
    assert refused.exit_code == 1 and "--force" in refused.stderr
    assert Path(name).read_text(encoding="utf-8") == "kept"
    result = torseur(*words, "--force")
    assert result.exit_code == 0, result.stderr
    assert is_right(Path(name))


def test_every_option_with_an_output_file_is_tried() -> None:
    group: Any = typer.main.get_command(app)
    files = {"--out", "--plot", "--pareto", "--report"}
    named = {(name, option) for name, command in group.commands.items() for p in command.params for option in p.opts
             if option in files and name not in ELSEWHERE}  # fmt: skip
    tried = {(words[0], word if word != "-o" else "--out") for words, _, _ in WRITTEN.values() for word in words}
    # The store of a sweep is a folder that grows from run to run; it is read back in the tests of studies.
    assert named - tried == {("sweep", "--out")}


def test_motions_in_files_are_the_motion(torseur: Any) -> None:
    """Oracle: the same motion computed in Python."""
    assert torseur(*MOTION, "--out", "a.csv").exit_code == 0
    motion = ts.simulate(ts.library.load("pendulum"), 1.0, samples=6)
    assert np.allclose(np.array(rows(Path("a.csv"))[1:], dtype=float)[:, 1], motion["theta"], rtol=0, atol=1e-15)
