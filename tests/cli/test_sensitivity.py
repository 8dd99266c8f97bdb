"""`torseur sensitivity` and the report's part on sensitivities, run as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import torseur as ts
from torseur import library

DOUBLE = "library:double_pendulum"
REFERENCE = json.loads((Path(__file__).parents[1] / "oracles" / "double_pendulum.json").read_text())["cases"]["pi/4"]


def test_slopes_as_json(torseur):
    """Oracle: the reference slopes of the kinetic energy at 5 s."""
    arguments = ("--criterion", "kinetic_energy", "--parameters", "m1,r2", "--until", "5", "--rtol", "1e-11", "--json")
    document = json.loads(torseur("sensitivity", DOUBLE, *arguments).stdout)
    (criterion,) = document["criteria"]
    assert criterion["slopes"][-1] == pytest.approx([REFERENCE["dT_d"][name][5] for name in ("m1", "r2")], abs=1e-9)
    assert document["method"] == "direct"
    assert document["rankings"]["kinetic_energy"][0]["parameter"] == "r2"


def test_tables_say_method_and_agreement(torseur):
    result = torseur(
        "sensitivity", DOUBLE, "--criterion", "kinetic_energy", "--integral", "--parameters", "m1,m2", "--until", "2 s",
        "--verify", "--second-order", "--set", "m1=5 kg", "--cost", "m1=3", "--tolerance", "m2=50 g",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    for text in (
        "integral of kinetic_energy",
        "share of the spread",
        "spread per cost",
        "second derivatives",
        "agrees",
        "method:",
    ):
        assert text in result.stdout
    assert "0.05" in result.stdout


def test_curves_events_and_files(torseur, tmp_path):
    common = ("sensitivity", DOUBLE, "--parameters", "m1,q1(0)", "--until", "2")
    result = torseur(*common, "--criterion", "q1", "--samples", "21", "--out", "slopes.csv", "--form", "logarithmic")
    assert result.exit_code == 0, result.output
    assert len(Path("slopes.csv").read_text().splitlines()) == 22
    assert torseur(*common, "--criterion", "q1", "--out", "slopes.csv").exit_code == 1
    event = torseur(*common, "--criterion", "q2", "--kind", "event", "--when", "q1", "--json")
    assert json.loads(event.stdout)["criteria"][0]["time"][0] == pytest.approx(1.3076, abs=1e-4)


def test_steady_states_and_eigenvalues(torseur):
    """Oracle: the oscillator's own eigenvalue, ds = -(s² dm + s dc + dk) / (2 m s + c)."""
    result = torseur(
        "sensitivity", "library:mass_spring_damper", "--kind", "eigenvalues", "--parameters", "k", "--json"
    )
    mode = json.loads(result.stdout)["modes"][1]
    s, slope = complex(*mode["eigenvalue"]), complex(*mode["slopes"][0])
    assert slope == pytest.approx(-1 / (2 * s + 0.5), abs=1e-12)
    table = torseur("sensitivity", "library:mass_spring_damper", "--kind", "eigenvalues")
    assert "slopes of the damping ratio" in table.stdout
    steady = torseur("sensitivity", "library:four_bar", "--kind", "steady", "--criterion", "gamma", "--parameters", "a")
    expected = ts.equilibrium(library.load("four_bar")).state["gamma"]
    assert f"gamma = {expected:.8g}"[:14] in steady.stdout
    missing = torseur("sensitivity", "library:four_bar", "--criterion", "gamma")
    assert missing.exit_code == 2
    assert "--until is missing" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--criterion", "kinetc_energy"), "Did you mean 'kinetic_energy'"),
        (("--criterion", "q1", "--parameters", "mm1"), "unknown parameter 'mm1'"),
        (("--criterion", "q1", "--kind", "mean"), "unknown kind of criterion"),
        (("--criterion", "q1", "--kind", "event", "--when", "q1 - 9"), "never happens"),
        (("--criterion", "q1", "--form", "odd"), "unknown form 'odd'"),
        (("--criterion", "q1", "--out", "slopes.odd"), "suffixes"),
        (("--criterion", "q1", "--cost", "m1"), "expected NAME=VALUE"),
    ],
)
def test_mistakes_are_explained(torseur, arguments, message):
    given = arguments if "--parameters" in arguments else (*arguments, "--parameters", "m1")
    result = torseur("sensitivity", DOUBLE, "--until", "1", "--samples", "3", *given)
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_report_shows_influences(torseur):
    result = torseur(
        "report", DOUBLE, "-o", "page.html", "--until", "2", "--criterion", "kinetic_energy", "--parameters", "m1,r2"
    )
    assert result.exit_code == 0, result.output
    page = Path("page.html").read_text()
    assert 'id="sensitivities"' in page
    assert page.count('class="tornado"') == 2
    assert "kinetic_energy: change per 1 %" in page
