"""Each command on good input: what it prints is compared with closed forms, or computed again another way."""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate, symbols_of
from torseur.description import library

PENDULUM = "library:pendulum"
DOUBLE = "library:double_pendulum"


def test_check_tells_what_the_mechanism_is(torseur):
    result = torseur("check", DOUBLE)
    assert result.exit_code == 0
    for text in (
        "Degree of freedom 2",
        "shoulder",
        "revolute",
        "4 kg",
        "[0, -5, 0]",
        "distance from shoulder to elbow",
    ):
        assert text in result.stdout


def test_check_as_json(torseur):
    """Oracle: the description itself."""
    document = json.loads(torseur("check", DOUBLE, "--json", "--set", "r2=3 m").stdout)
    assert document["degree_of_freedom"] == 2
    assert [body["mass"] for body in document["bodies"]] == [4.0, 2.0]
    assert document["bodies"][0]["centre"] == [0.0, -3.0, 0.0]
    assert {q["name"]: q["value"] for q in document["initial"]}["q1"] == pytest.approx(math.pi / 4)


def test_check_warns_of_what_cannot_be(torseur):
    text = """let slab = body mass = 1 kg, centre = [0,0,0], inertia = diag(1 kg*m^2, 1 kg*m^2, 5 kg*m^2) end ;
              join earth and slab.frame with spherical(a, b, c) end ;"""
    result = torseur("check", "-", text=text)
    assert "triangle inequality" in result.stdout


def test_values_of_quoted_names(torseur):
    text = "let b = body mass = 1 kg, centre = 0, inertia = 0 end ; join earth and b.frame with prismatic(`x y`) end ;"
    for name in ("`x y`", "x y"):
        result = torseur("simulate", "-", "--until", "1", "--samples", "2", "--init", f"{name}=2 m", text=text)
        assert result.exit_code == 0 and "x y [m]" in result.stdout


def test_equations_of_the_pendulum_by_hand(torseur):
    """Oracle: m l² θ'' + m g l sin θ = 0."""
    result = torseur("equations", PENDULUM)
    assert "M[1,1] = m*l^2" in result.stdout
    assert "b[1] = m*g*l*sin(theta)" in result.stdout
    scalar = torseur("equations", PENDULUM, "--level", "scalar").stdout
    assert scalar.strip() == "0 = m*l*(l*theta'' + g*sin(theta))    (* along theta, in N*m *)"


def test_equations_in_latex_and_mathml(torseur):
    assert r"\ddot{\theta}" in torseur("equations", PENDULUM, "--level", "scalar", "--format", "latex").stdout
    from xml.etree import ElementTree

    text = torseur("equations", DOUBLE, "--format", "mathml").stdout
    roots = [ElementTree.fromstring(line) for line in text.splitlines()]
    assert {root.tag for root in roots} == {"{http://www.w3.org/1998/Math/MathML}math"}


@pytest.mark.parametrize(
    "name",
    ["double_pendulum", "spinning_top", "mass_spring_damper", pytest.param("satellite", marks=pytest.mark.slow)],
)
def test_sympy_text_builds_the_same_equations(torseur, name):
    """Oracle: the graph evaluated at random numbers; the text is run by Python."""
    import sympy

    defined: dict = {}
    exec(torseur("equations", f"library:{name}", "--format", "sympy").stdout, defined)
    equations = ts.derive(library.load(name))
    entries = [entry for row in equations.mass_matrix for entry in row] + list(equations.bias)
    values = {symbol: 0.3 + 0.1 * k for k, symbol in enumerate(symbols_of(entries))}
    built = [*defined["M"], *defined["b"]]
    by_name = {str(symbol.name): value for symbol, value in values.items()}
    found = [float(sympy.sympify(e).subs({x: by_name[x.name] for x in e.free_symbols})) for e in built]
    assert found == pytest.approx([float(e) for e in evaluate(entries, values)], rel=1e-12)


def test_recursive_level_names_its_intermediates(torseur):
    lines = torseur("equations", DOUBLE, "--level", "recursive").stdout.splitlines()
    names = [line.partition(" = ")[0] for line in lines]
    assert "w_blade_x" in names and names[-2:] == ["tau_q1", "tau_q2"]


def test_equations_by_another_formalism_are_the_same(torseur):
    """Oracle: two derivations of one mechanism."""
    assert torseur("equations", DOUBLE, "--formalism", "lagrange").stdout == torseur("equations", DOUBLE).stdout


def test_equations_into_a_file(torseur):
    result = torseur("equations", PENDULUM, "--out", "pendulum.tex", "--format", "latex")
    assert result.stdout == "written: pendulum.tex\n"
    assert r"\begin{bmatrix}" in Path("pendulum.tex").read_text(encoding="utf-8")


def test_simulate_small_swing(torseur):
    """Oracle: θ0 cos(√(g/l) t) for a small angle."""
    torseur("simulate", PENDULUM, "--until", "2", "--init", "theta=0.001 deg", "--samples", "21", "--out", "a.csv")
    with open("a.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    t, theta = (np.array([float(row[name]) for row in rows]) for name in ("time [s]", "theta [rad]"))
    assert theta == pytest.approx(math.radians(0.001) * np.cos(np.sqrt(9.81) * t), abs=1e-11)


def test_parameters_take_units_and_files(torseur):
    """Oracle: the period grows with √l."""
    Path("values.toml").write_text('[parameters]\nl = "2000 mm"\n[initial]\ntheta = "0.001 deg"\n', encoding="utf-8")
    Path("values.json").write_text(
        '{"parameters": {"l": 2}, "initial": {"theta": 1.7453292519943296e-5}}', encoding="utf-8"
    )
    expected = math.radians(0.001) * math.cos(math.sqrt(9.81 / 2))
    for given in (
        ["--values", "values.toml"],
        ["--values", "values.json"],
        ["--set", "l=2 m", "--init", "theta=0.001 deg"],
        ["--values", "values.toml", "--set", "l=20 cm", "--set", "l=2"],
    ):
        document = json.loads(torseur("simulate", PENDULUM, "--until", "1000 ms", "--json", *given).stdout)
        assert document["values"]["theta"][-1] == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("method", ["explicit", "radau5", "radau9"])
def test_methods_agree(torseur, method):
    """Oracle: the default method."""
    arguments = ["simulate", PENDULUM, "--until", "1", "--rtol", "1e-10", "--json"]
    expected = json.loads(torseur(*arguments).stdout)["values"]["theta"][-1]
    found = json.loads(torseur(*arguments, "--method", method).stdout)["values"]["theta"][-1]
    assert found == pytest.approx(expected, abs=1e-7)


@pytest.mark.slow
def test_simulate_takes_guesses_of_a_start(torseur):
    """The crank is exact, the coupler a guess; as an exact value it contradicts the loop."""
    given = ("simulate", "library:four_bar", "--until", "0.01", "--samples", "2", "--init", "alpha=1", "--init")
    document = json.loads(torseur(*given, "beta about 20 deg", "--json").stdout)
    assert "given: alpha = 1; guessed: beta = -0.524511 (moved by -0.874)" in document["notes"][0]
    result = torseur(*given, "beta=20 deg")
    assert result.exit_code == 1 and "a guess" in " ".join(result.stderr.split())


def test_simulate_prints_csv_on_stdout(torseur):
    lines = torseur("simulate", PENDULUM, "--until", "1", "--samples", "3", "--out", "-").stdout.splitlines()
    assert lines[0] == "time [s],theta [rad],theta' [rad/s]"
    assert len(lines) == 4


def test_simulate_shows_outputs_and_events(torseur):
    result = torseur("simulate", PENDULUM, "--until", "3", "--output", "energy", "--event", "theta")
    assert "energy [J]" in result.stdout
    assert "event theta at t = " in result.stdout


def test_laws_from_the_command_line(torseur):
    """Oracle: a mass on a spring, x = 0.1 cos(3 t)."""
    Path("open.lsd").write_text(
        "param k = 9 N/m ; let b = body mass = 1 kg, centre = [0,0,0], inertia = 0 end ;"
        "join earth and b.frame as rail with prismatic(x) along [1,0,0] force = ?f(x) end ; init x = 0.1 m ;",
        encoding="utf-8",
    )
    name = json.loads(torseur("check", "open.lsd", "--json").stdout)["undetermined"][0]
    result = torseur("simulate", "open.lsd", "--until", "1", "--law", f"{name}(s) = -k*s", "--json")
    assert json.loads(result.stdout)["values"]["x"][-1] == pytest.approx(0.1 * math.cos(3), abs=1e-9)
    refused = torseur("simulate", "open.lsd", "--until", "1")
    assert refused.exit_code == 1 and name in refused.stderr and "--law" in refused.stderr


@pytest.mark.parametrize("suffix", ["csv", "nc", "json"])
def test_written_motions_are_read_again(torseur, suffix):
    torseur("simulate", PENDULUM, "--until", "1", "--samples", "5", "--out", f"m.{suffix}")
    assert len(ts.Trajectory.load(f"m.{suffix}")) == 5


def test_report_is_one_page(torseur):
    result = torseur("report", DOUBLE, "-o", "page.html", "--until", "2")
    assert result.exit_code == 0 and "written: page.html" in result.stdout
    page = Path("page.html").read_text(encoding="utf-8")
    assert "<title>Orthogonal double pendulum</title>" in page
    assert "torseur report library:double_pendulum -o page.html --until 2" in page


@pytest.mark.slow
def test_report_without_values_says_what_is_missing(torseur):
    result = torseur("report", "library:satellite")
    assert result.exit_code == 0 and "No motion" in result.stdout
    assert Path("satellite.html").stat().st_size < 2_000_000


def test_report_of_a_motion_that_ends_early(torseur):
    Path("fall.lsd").write_text(
        "param k = 1 N*m ; let b = body mass = 1 kg, centre = [0,0,0], inertia = 0 end ; init x = 1 m ;"
        "join earth and b.frame with prismatic(x) along [1,0,0] force = -k / x end ;",
        encoding="utf-8",
    )
    result = torseur("report", "fall.lsd", "-o", "fall.html")
    assert result.exit_code == 0 and "ended early" in result.stdout


def test_certify_lists_every_formalism(torseur):
    document = json.loads(torseur("certify", DOUBLE, "--json").stdout)
    assert document["agrees"] and len(document["entries"]) >= 11
    table = torseur("certify", PENDULUM, "--formalism", "kane", "--formalism", "lagrange")
    assert table.exit_code == 0 and "The formalisms agree" in table.stdout


def test_certify_fails_when_a_formalism_is_wrong(torseur, monkeypatch):
    """Oracle: a formalism spoilt on purpose."""
    from torseur.derivation.formalisms.kane import Kane

    right = Kane.bias
    monkeypatch.setattr(Kane, "bias", lambda self: [entry + 1 for entry in right(self)])
    result = torseur("certify", PENDULUM)
    assert result.exit_code == 4 and "kane" in result.stderr


def test_loops_of_a_four_bar(torseur):
    """Oracle: mobility 1 in the plane, and three constraints of the space that the plane makes superfluous."""
    document = json.loads(torseur("loops", "library:four_bar", "--json").stdout)
    assert document["mobility"]["finite"] == 1 and document["redundant"] == 3
    shown = torseur("loops", "library:four_bar", "--prefer", "alpha").stdout
    assert "finite mobility 1" in shown and "independent coordinates: alpha" in shown


def test_loop_is_closed_and_moves(torseur):
    """Oracle: the rod's end at the piston, r cos θ + √(l² - r² sin² θ) = x."""
    result = torseur("simulate", "library:slider_crank", "--until", "1", "--samples", "11", "--json")
    values = {name: np.array(column) for name, column in json.loads(result.stdout)["values"].items()}
    theta = values["theta"]
    assert values["x"] == pytest.approx(0.3 * np.cos(theta) + np.sqrt(0.64 - 0.09 * np.sin(theta) ** 2), abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "millions", "unneeded"),
    [
        (["check", DOUBLE], 1.6, {"sympy", "scipy", "llvmlite"}),
        (["equations", DOUBLE], 1.6, {"sympy", "scipy", "llvmlite"}),
        (["simulate", DOUBLE, "--until", "10", "--out", "m.csv"], 2.4, {"sympy", "scipy", "matplotlib"}),
        (["report", DOUBLE, "-o", "r.html"], 4.2, {"scipy", "matplotlib"}),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_commands_take_few_calls_and_load_what_they_need(work, arguments, millions, unneeded):
    """Millions of calls of functions with the imports; they are 1.1, 1.1, 1.7 and 3.0, and a million takes 0.2 s."""
    calls, modules = work(*arguments)
    assert 0.1e6 < calls < 1e6 * millions and not modules & unneeded


def test_library_lists_and_prints(torseur):
    assert "library:puma560" in torseur("library").stdout
    assert {entry["name"] for entry in json.loads(torseur("library", "--json").stdout)} >= {"puma560", "quadruped"}
    assert torseur("library", "pendulum").stdout.startswith("mechanism pendulum")


def test_convert_writes_the_same_mechanism(torseur):
    assert torseur("convert", "library:cart_pendulum?n=2", "cart.lsd").exit_code == 0
    assert ts.load("cart.lsd") == library.load("cart_pendulum?n=2")


JSON_COMMANDS = {
    "check": ["check", DOUBLE],
    "equations": ["equations", DOUBLE, "--level", "recursive"],
    "simulate": ["simulate", DOUBLE, "--until", "1"],
    "simulate to a file": ["simulate", DOUBLE, "--until", "1", "--out", "m.csv"],
    "report": ["report", DOUBLE, "-o", "r.html", "--until", "1"],
    "certify": ["certify", PENDULUM],
    "loops": ["loops", "library:four_bar"],
    "library": ["library"],
    "library text": ["library", "pendulum"],
    "convert": ["convert", PENDULUM, "p.lsd"],
}


@pytest.mark.parametrize("name", JSON_COMMANDS)
def test_json_is_one_document_and_nothing_else(torseur, name):
    result = torseur(*JSON_COMMANDS[name], "--json")
    assert result.exit_code == 0 and result.stderr == ""
    assert json.loads(result.stdout)


ROBOT = Path(__file__).resolve().parents[1] / "oracles" / "robots" / "ur5_nomesh.urdf"


def test_robot_files_are_mechanisms_too(torseur):
    """Oracle: the file itself, six revolute joints; converted forth and back, the same masses."""
    result = torseur("check", str(ROBOT), "--json")
    document = json.loads(result.stdout)
    assert document["degree_of_freedom"] == 6 and "note: " in result.stderr
    assert torseur("convert", str(ROBOT), "ur5.lsd").exit_code == 0
    assert json.loads(torseur("check", "ur5.lsd", "--json").stdout)["degree_of_freedom"] == 6
    assert torseur("convert", "ur5.lsd", "ur5.urdf").exit_code == 0
    masses = [body["mass"] for body in json.loads(torseur("check", "ur5.urdf", "--json").stdout)["bodies"]]
    assert sorted(masses) == pytest.approx(sorted(body["mass"] for body in document["bodies"]))


def test_version(torseur):
    assert torseur("--version").stdout.startswith("torseur ")


def test_as_a_module_of_python(process):
    """Where the program is not on the path."""
    asked = subprocess.run([sys.executable, "-m", "torseur", "--version"], capture_output=True, text=True, timeout=120)
    assert asked.returncode == 0 and asked.stdout == process("--version").stdout


def test_equations_at_the_intrinsic_level(torseur):
    """Oracle: the source's own line, forces = m1 a(G1) + m2 a(G2)."""
    text = torseur("equations", DOUBLE, "--level", "intrinsic").stdout
    assert "R_shoulder + m1*g + m2*g = m1*a(G_arm) + m2*a(G_blade)" in text
    expanded = torseur("equations", DOUBLE, "--level", "intrinsic", "--steps", "1", "--format", "latex").stdout
    assert r"\times \left(\boldsymbol{\omega}_{\mathrm{blade}} \times" in expanded


def test_equations_as_a_word_document(torseur):
    import zipfile

    refused = torseur("equations", PENDULUM, "--format", "docx")
    assert refused.exit_code == 2 and "--out" in refused.stderr
    assert torseur("equations", PENDULUM, "--format", "docx", "-o", "p.docx").exit_code == 0
    with zipfile.ZipFile("p.docx") as file:
        assert b"oMathPara" in file.read("word/document.xml")


@pytest.mark.slow
def test_long_equations_say_their_size(torseur):
    result = torseur("equations", "library:puma560", "--level", "scalar")
    assert "named intermediates" in result.stderr and "operations" in result.stderr
    document = json.loads(torseur("equations", "library:puma560", "--level", "scalar", "--json").stdout)
    assert "named intermediates" in document["size"]


BOX = ["--box", "angles=-10..10 deg", "--box", "angular_speeds=-0.3..0.3", "--box", "angular_accelerations=-1..1"]


def test_simplify_tells_its_error(torseur):
    result = torseur("simplify", DOUBLE, "--tolerance", "0.02", *BOX)
    assert "2 dropped" in result.stdout and "proven by interval arithmetic" in result.stdout
    document = json.loads(torseur("simplify", DOUBLE, "--tolerance", "0.02", *BOX, "--json").stdout)
    for row in document["certificate"]["equations"]:
        assert row["error_seen"] <= row["error_bound"] <= 0.02 * row["largest_term"]


def test_simplify_forms(torseur):
    """Oracle: linearised by hand, m2 l2² q2'' = 0 and the arm as a pendulum pulled aside by the blade."""
    small = torseur("simplify", DOUBLE, "--small", "q1,q2").stdout
    assert small.splitlines()[-1] == "0 = m2*l2^2*q2''    (* along q2, in N*m *)"
    assert " = m2*l2^2 " in torseur("simplify", DOUBLE, "--group").stdout
    assert "*cos(q2)" in torseur("simplify", DOUBLE, "--horner", "cos(q2)").stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--tolerance", "0.1"], "no range is given for 'q1' (rad)"),
        (["--box", "q1=0..1"], "--box applies only with --tolerance"),
        (["--tolerance", "0.1", "--box", "q1=3"], "expected NAME=LOW..HIGH"),
        (["--tolerance", "0.1", "--box", "q7=0..1"], "unknown state or parameter 'q7'"),
        (["--small", "q9"], "unknown coordinate 'q9'"),
        (["--small", "q1", "--tolerance", "0.1"], "--small does not apply with --tolerance"),
        (["--horner", "q9"], "unknown quantity 'q9'"),
    ],
)
def test_simplify_names_mistakes(torseur, arguments, message):
    result = torseur("simplify", DOUBLE, *arguments)
    assert result.exit_code in (1, 2) and message in result.stderr and "Traceback" not in result.stderr
