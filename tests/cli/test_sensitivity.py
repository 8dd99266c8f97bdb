"""`torseur sensitivity` and the report's part on sensitivities, run as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import torseur as ts
from torseur.description import library

DOUBLE = "library:double_pendulum"
REFERENCE = json.loads((Path(__file__).parents[1] / "oracles" / "double_pendulum.json").read_text())["cases"]["pi/4"]


def test_derivatives_as_json(torseur):
    """Oracle: the reference derivatives of the kinetic energy at 5 s."""
    arguments = ("--criterion", "kinetic_energy", "--parameters", "m1,r2", "--until", "5", "--rtol", "1e-11", "--json")
    document = json.loads(torseur("sensitivity", DOUBLE, *arguments).stdout)
    (criterion,) = document["criteria"]
    assert criterion["derivatives"][-1] == pytest.approx(
        [REFERENCE["dT_d"][name][5] for name in ("m1", "r2")], abs=1e-9
    )
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
    result = torseur(
        *common, "--criterion", "q1", "--samples", "21", "--out", "derivatives.csv", "--form", "logarithmic"
    )
    assert result.exit_code == 0, result.output
    assert len(Path("derivatives.csv").read_text().splitlines()) == 22
    assert torseur(*common, "--criterion", "q1", "--out", "derivatives.csv").exit_code == 1
    event = torseur(*common, "--criterion", "q2", "--kind", "event", "--when", "q1", "--json")
    assert json.loads(event.stdout)["criteria"][0]["time"][0] == pytest.approx(1.3076, abs=1e-4)


def test_steady_states_and_eigenvalues(torseur):
    """Oracle: the oscillator's own eigenvalue, ds = -(s² dm + s dc + dk) / (2 m s + c)."""
    result = torseur(
        "sensitivity", "library:mass_spring_damper", "--kind", "eigenvalues", "--parameters", "k", "--json"
    )
    mode = json.loads(result.stdout)["modes"][1]
    s, derivative = complex(*mode["eigenvalue"]), complex(*mode["derivatives"][0])
    assert derivative == pytest.approx(-1 / (2 * s + 0.5), abs=1e-12)
    table = torseur("sensitivity", "library:mass_spring_damper", "--kind", "eigenvalues")
    assert "derivatives of the damping ratio" in table.stdout
    steady = torseur("sensitivity", "library:four_bar", "--kind", "steady", "--criterion", "gamma", "--parameters", "a")
    expected = ts.equilibrium(library.load("four_bar")).state["gamma"]
    assert f"gamma = {expected:.8g}"[:14] in steady.stdout
    missing = torseur("sensitivity", "library:four_bar", "--criterion", "gamma")
    assert missing.exit_code == 2
    assert "--until is missing" in missing.stderr


def test_frequency_responses(torseur):
    """Oracle: H = 1 / (k - m w² + i c w), dH/dk = -H²."""
    result = torseur(
        "sensitivity", "library:mass_spring_damper", "--kind", "response", "--input", "x", "--criterion", "x",
        "--parameters", "k", "--from", "0.5", "--to", "0.5", "--points", "1", "--json",
    )  # fmt: skip
    gain, phase = json.loads(result.stdout)["criteria"]
    w = 3.141592653589793
    h = 1 / (40 - w * w + 0.5j * w)
    assert gain["values"][0] == pytest.approx(abs(h), rel=1e-9)
    assert gain["derivatives"][0][0] == pytest.approx((h.conjugate() * -h * h).real / abs(h), rel=1e-9)
    assert phase["over"] == "frequency [Hz]"


def test_contacts_jumps_and_surfaces(torseur):
    bar = ("sensitivity", "library:four_bar", "--criterion", "gamma'", "--until", "0.8")
    hit = torseur(*bar, "--parameters", "a,restitution", "--contact", "gamma <= 2.3", "--restitution", "0.6", "--json")
    found = ts.sensitivity(
        library.load("four_bar"), "gamma'", "a,restitution", until=0.8, jumps=[ts.Impact("stop", "2.3 - gamma", 0.6)]
    )
    derivatives = json.loads(hit.stdout)["criteria"][0]["derivatives"][0]
    assert derivatives == pytest.approx(found.responses[0].gradient.tolist(), rel=1e-7)
    turned = torseur(*bar, "--parameters", "a", "--jump", "gamma - 2.3 rises: gamma'=-0.6*gamma'", "--json")
    assert json.loads(turned.stdout)["criteria"][0]["derivatives"][0] == pytest.approx(derivatives[:1], rel=1e-7)
    grid = ("--criterion", "q1", "--parameters", "r2", "--until", "1", "--over", "m2=1:3:3", "--over", "g=9:10:2")
    surface = json.loads(torseur("sensitivity", DOUBLE, *grid, "--json").stdout)
    assert [len(row) for row in surface["derivatives"]["r2"]] == [2, 2, 2]
    assert "m2 \\ g" in torseur("sensitivity", DOUBLE, *grid).stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--criterion", "kinetc_energy"), "Did you mean 'kinetic_energy'"),
        (("--criterion", "q1", "--parameters", "mm1"), "unknown parameter 'mm1'"),
        (("--criterion", "q1", "--kind", "mean"), "unknown kind of criterion"),
        (("--criterion", "q1", "--kind", "event", "--when", "q1 - 9"), "never happens"),
        (("--criterion", "q1", "--form", "odd"), "unknown form 'odd'"),
        (("--criterion", "q1", "--out", "derivatives.odd"), "suffixes"),
        (("--criterion", "q1", "--cost", "m1"), "expected NAME=VALUE"),
        (("--criterion", "q1", "--jump", "q1"), "expected 'WHEN: STATE=EXPR'"),
        (("--criterion", "q1", "--over", "m1=3"), "expected NAME=FIRST:LAST:COUNT"),
        (("--criterion", "q1", "--over", "m1=1:2:2"), "a surface stands over two parameters"),
        (("--criterion", "q1", "--kind", "response"), "--input is missing"),
        (("--criterion", "q1", "--integrator", "bdf"), "unknown integrator 'bdf'"),
        (("--criterion", "q1", "--contact", "q9 >= 0"), "unknown coordinate 'q9'"),
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
