"""`torseur check` tells where each initial value of a constrained mechanism comes from, and what was forced."""

from __future__ import annotations

import cmath
import json

import pytest

FOUR_BAR = """
let a = body rod length = 0.4 m, mass = 1 kg along [1, 0, 0] end ;
let b = body rod length = 0.9 m, mass = 1 kg along [1, 0, 0] end ;
let c = body rod length = 0.7 m, mass = 1 kg along [1, 0, 0] end ;
join earth and a.frame as A with revolute(q1) end ;
join [0.4, 0, 0] m @ a and b.frame as B with revolute(q2) end ;
join [1, 0, 0] m @ earth and c.frame as C with revolute(q3) end ;
join [0.9, 0, 0] m @ b and [0.7, 0, 0] m @ c as D with revolute(q4), role = loop end ;
"""


@pytest.mark.slow
def test_check_gives_the_account_of_a_linkage(torseur):
    """q3 and the rates from the closed loop: 0.4 e^(i q1) + 0.9 e^(i (q1 + q2)) = 1 + 0.7 e^(i q3), and its rate."""
    text = FOUR_BAR + "init q1 = 1, q2 about -0.5, q1' = 2 ;"
    values = {v["name"]: v for v in json.loads(torseur("check", "-", "--json", text=text).stdout)["start"]}
    q1, q2, q3 = (values[name]["value"] for name in ("q1", "q2", "q3"))
    crank, coupler, rocker = 0.4 * cmath.exp(1j * q1), 0.9 * cmath.exp(1j * (q1 + q2)), 0.7 * cmath.exp(1j * q3)
    assert abs(crank + coupler - 1 - rocker) < 1e-10
    rates = [values[f"{name}'"]["value"] for name in ("q1", "q2", "q3")]
    assert abs(crank * rates[0] + coupler * (rates[0] + rates[1]) - rocker * rates[2]) < 1e-9
    assert q1 == 1 and rates[0] == 2
    origins = {name: value["origin"] for name, value in values.items()}
    assert origins == {
        "q1": "given",
        "q2": "guessed",
        "q3": "follows",
        "q1'": "given",
        "q2'": "follows",
        "q3'": "follows",
    }
    assert values["q2"]["moved"] == pytest.approx(q2 + 0.5, abs=1e-12)
    shown = torseur("check", "-", text=text).stdout
    assert f"guessed, moved by {q2 + 0.5:.3g}" in shown and "follows from constraints" in shown


def test_check_says_what_is_free_and_why_nothing_starts(torseur):
    ball = """let ball = body sphere radius = 0.1 m, mass = 1 kg end ;
    join earth and ball.frame as J with free(x, y, z, a, b, c) angles zyx end ;
    constrain 0 = z - 0.3 m as table ;
    """
    shown = torseur("check", "-", text=ball + "init x = 1 m ;").stdout
    assert "free, set to zero" in shown and "follows from constraints" in shown
    result = torseur("check", "-", text=ball + "init z = 0.5 m ;")
    assert "no motion starts" in result.stdout + result.stderr and "'z' as given" in result.stdout + result.stderr


def test_check_says_what_was_forced(torseur):
    """A second rocker end that is 1e-4 m out of the plane closes within 1e-3 m, which is said."""
    text = FOUR_BAR.replace("[0.7, 0, 0] m @ c as D", "[0.7, 0, 0.0001] m @ c as D").replace(
        "revolute(q4), role = loop end", "revolute(q4), role = loop, within 1e-3 m end"
    )
    result = torseur("check", "-", "--json", text=text + "init q1 = 1 ;")
    document = json.loads(result.stdout)
    assert any("taken as closed" in note and "0.0001 m" in note for note in document["start_notes"])


def test_dimensions_that_a_command_changes_are_checked(torseur):
    """The same end out of the plane as a parameter: none as described, impossible when it is set to 1 mm."""
    text = "param h = 0 m ;" + FOUR_BAR.replace("[0.7, 0, 0] m @ c as D", "[0.7 m, 0 m, h] @ c as D") + "init q1 = 1 ;"
    assert json.loads(torseur("check", "-", "--json", text=text).stdout)["start_fault"] == ""
    changed = json.loads(torseur("check", "-", "--json", "--set", "h=1 mm", text=text).stdout)
    assert "cannot hold: it is off by 0.001 m" in changed["start_fault"]
    moving = torseur("simulate", "-", "--set", "h=1 mm", "--until", "0.1", text=text)
    assert moving.exit_code != 0 and "cannot hold" in moving.stderr


def test_check_takes_the_initial_values_of_a_file(torseur, tmp_path):
    """The loop closes from what the file says: the crank at 2 rad, and 5 rad/s."""
    (tmp_path / "values.toml").write_text('[initial]\nq1 = 2\n"q1\'" = 5\n')
    text = FOUR_BAR + "init q1 = 1, q2 about -0.5, q1' = 2 ;"
    shown = torseur("check", "-", "--json", "--values", str(tmp_path / "values.toml"), text=text)
    values = {v["name"]: v["value"] for v in json.loads(shown.stdout)["start"]}
    assert values["q1"] == 2 and values["q1'"] == 5
    places = [cmath.exp(1j * angle) for angle in (values["q1"], values["q1"] + values["q2"], values["q3"])]
    assert abs(0.4 * places[0] + 0.9 * places[1] - 1 - 0.7 * places[2]) < 1e-10


def test_check_gives_the_account_of_a_tree(torseur):
    text = """let a = body sphere radius = 0.1 m, mass = 1 kg end ; join earth and a.frame as j with universal(p, q) end ; init p = 1, q' about 2 ;"""
    values = {v["name"]: v for v in json.loads(torseur("check", "-", "--json", text=text).stdout)["start"]}
    assert {name: (v["value"], v["origin"]) for name, v in values.items()} == {
        "p": (1, "given"), "q": (0, "free"), "p'": (0, "free"), "q'": (2, "guessed"),
    }  # fmt: skip
    said = torseur("simulate", "-", "--until", "0.1", text=text).stdout
    assert "Initial state: not given, and set to zero: q, p'." in said


def test_check_gives_the_account_of_a_rate_beside_quasi_velocities(torseur):
    """x' = 0.7 m/s is not in the state; a body on a string, whose rate is v = (0.7, 0, 0.525) m/s at the least speed."""
    text = """let b = body sphere radius = 0.1 m, mass = 1 kg end ;
    join earth and b.frame as J with free(x, y, z, a, b, c) angles xyz speeds u, v, w = velocity in b, p, q, r = rotation in b end ;
    constrain distance earth to b = 1 m as string ;
    init x = 0.6 m, z = -0.8 m, c = 30 deg, x' = 0.7 m/s ;
    """
    start = {v["name"]: v for v in json.loads(torseur("check", "-", "--json", text=text).stdout)["start"]}
    assert start["x'"]["value"] == 0.7 and start["x'"]["origin"] == "given"
    speed = [start[name]["value"] for name in "uvw"]
    assert speed == pytest.approx([0.7 * 3**0.5 / 2, -0.35, 0.525], abs=1e-9)
    assert "rate of x" in torseur("check", "-", text=text).stdout
