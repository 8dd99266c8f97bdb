"""`torseur sensitivity` and the report's part on sensitivities, run as a user would."""

from __future__ import annotations

import json
import math
import re
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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
        (("--criterion", "q1", "--form", "odd"), "unknown form 'odd'"),
        (("--criterion", "q1", "--out", "derivatives.odd"), "ends in one of .csv, .json"),
        (("--criterion", "q1", "--cost", "m1"), "expected NAME=VALUE"),
        (("--criterion", "q1", "--jump", "q1"), "expected 'WHEN: STATE=EXPR'"),
        (("--criterion", "q1", "--over", "m1=3"), "expected NAME=FIRST:LAST:COUNT"),
        (
            ("--criterion", "q1", "--over", "m1=1:2:2", "--over", "m2=1:2:2", "--over", "g=9:10:2"),
            "one or two parameters",
        ),
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


@pytest.mark.slow
def test_events_that_never_happen_and_forces_without_a_place(torseur):
    never = torseur("sensitivity", DOUBLE, "--until", "1", "--criterion", "q1", "--kind", "event", "--when", "q1 - 9")
    assert never.exit_code == 1 and "never happens" in never.stderr
    missing = torseur("sensitivity", DOUBLE, "--criterion", "q1", "--kind", "response")
    assert missing.exit_code == 2 and "--input is missing" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ("--kind steady --criterion q1 --until 1", "--until"),
        ("--kind eigenvalues --criterion q1", "--criterion"),
        ("--kind eigenvalues --method adjoint", "--method"),
        ("--kind response --input q1 --criterion q1 --over m1=3:4:2", "--over"),
        ("--kind maximum --criterion q1 --until 1 --samples 3", "--samples"),
        ("--kind steady --criterion q1 --integral", "--integral"),
        ("--criterion q1 --until 1 --when q2", "--when"),
        ("--criterion q1 --until 1 --moving q1", "--moving"),
        ("--criterion q1 --until 1 --from 3", "--from"),
        ("--criterion q1 --until 1 --restitution 0.5", "--restitution"),
        ("--criterion q1 --until 1 --over m1=3:4:2 --tolerance m1=1", "--tolerance"),
        ("--criterion q1 --until 1 --pareto p.png", "--pareto"),
        ("--criterion q1 --until 1 --form logarithmic", "--form"),
        ("--criterion q1 --until 1 --force", "--force"),
    ],
)
def test_options_that_do_not_apply_are_refused(torseur, arguments, option):
    result = torseur("sensitivity", DOUBLE, "--parameters", "m1", *arguments.split())
    assert result.exit_code == 2
    assert option in result.stderr


def test_report_shows_influences(torseur):
    result = torseur(
        "report", DOUBLE, "-o", "page.html", "--until", "2", "--criterion", "kinetic_energy", "--parameters", "m1,r2"
    )
    assert result.exit_code == 0, result.output
    page = Path("page.html").read_text()
    assert 'id="sensitivities"' in page
    assert page.count('class="tornado"') == 2
    assert "kinetic_energy: change per 1 %" in page


CONE = """mechanism cone ; param l = 0.5 m, m = 2 kg, Om = 7 rad/s, g = 9.81 m/s^2 ; gravity = [0, 0, -g] ;
let bob = body mass = m, centre = [0, 0, -l], inertia = 0 end ;
join earth and bob.frame as shaft with link(psi, th) dof1 = psi || [0, 0, 1], dof2 = th || [0, 1, 0] end ;
init psi' = Om, th = 1 rad ;
"""


@pytest.mark.slow
def test_parameters_that_set_a_fixed_speed(torseur):
    """A conical pendulum: cos th = g / (l Om²)"""
    Path("cone.lsd").write_text(CONE)
    near = ("--moving", "psi", "--fix", "psi'", "--parameters", "l,Om", "--json")
    steady = torseur("sensitivity", "cone.lsd", "--kind", "steady", "--criterion", "th", *near)
    document = json.loads(steady.stdout)
    th = document["criteria"][0]["values"][0]
    assert math.cos(th) == pytest.approx(9.81 / (0.5 * 49), rel=1e-10)
    by_length, by_speed = document["criteria"][0]["derivatives"][0]
    assert by_length == pytest.approx(9.81 / (0.25 * 49) / math.sin(th), rel=1e-9)
    assert by_speed == pytest.approx(2 * 9.81 / (0.5 * 343) / math.sin(th), rel=1e-9)
    assert document["trusted"] and document["agreement"][0]["agrees"]
    # About a steady cone with the shaft free: s² = -Om² (1 + 3 cos² th).
    modes = json.loads(torseur("sensitivity", "cone.lsd", "--kind", "eigenvalues", "--verify", *near).stdout)
    rate = next(m["eigenvalue"][1] for m in modes["modes"] if m["eigenvalue"][1] > 1)
    assert rate == pytest.approx(7 * math.sqrt(1 + 3 * math.cos(th) ** 2), rel=1e-8)
    derivative = next(m["derivatives"][1][1] for m in modes["modes"] if m["eigenvalue"][1] > 1)
    cosine, slope = math.cos(th), -2 * 9.81 / (0.5 * 343)
    expected = rate / 7 + 49 * 3 * cosine * slope / rate
    assert derivative == pytest.approx(expected, rel=1e-7)
    assert [a["parameter"] for a in modes["agreement"]] == ["l", "Om"]


def test_files_have_the_form_that_is_asked_for(torseur):
    common = ("sensitivity", DOUBLE, "--parameters", "m1,r2", "--until", "1", "--criterion", "q1")
    raw = json.loads(torseur(*common, "--json").stdout)["criteria"][0]["derivatives"][-1]
    assert torseur(*common, "--out", "s.csv", "--form", "per_percent").exit_code == 0
    header, row = Path("s.csv").read_text().splitlines()
    assert header.endswith("change with 1 % of m1,change with 1 % of r2")
    assert [float(x) for x in row.split(",")[-2:]] == pytest.approx([raw[0] * 4 / 100, raw[1] * 5 / 100], rel=1e-6)
    assert torseur(*common, "--out", "s.json", "--form", "logarithmic").exit_code == 0
    document = json.loads(Path("s.json").read_text())
    (criterion,) = document["criteria"]
    assert document["form"] == "logarithmic"
    assert criterion["derivatives"][-1][0] == pytest.approx(raw[0] * 4 / criterion["values"][-1], rel=1e-6)


@pytest.mark.slow
def test_surfaces_hold_what_is_asked_for(torseur):
    """Over one parameter or two: files, samples, second derivatives and checks of each point."""
    common = ("sensitivity", DOUBLE, "--parameters", "r2,m1", "--until", "1", "--criterion", "q1", "--over", "m2=1:2:2")
    more = ("--samples", "3", "--second-order", "--verify", "--out", "s.json")
    assert torseur(*common, *more).exit_code == 0
    document = json.loads(Path("s.json").read_text())
    alone = json.loads(torseur(*common[:-2], "--set", "m2=2", "--second-order", "--json").stdout)["criteria"][0]
    point = document["points"][1]
    assert point["at"] == {"m2": 2.0}
    assert [a["parameter"] for a in point["agreement"]] == ["r2", "m1"]
    assert len(point["criteria"][0]["time"]) == 3
    assert point["criteria"][0]["hessian"] == [pytest.approx(row, rel=1e-6) for row in alone["hessian"]]
    assert document["derivatives"]["m1"][1] == pytest.approx(alone["derivatives"][-1][1], rel=1e-6)
    assert torseur(*common, "--over", "g=9:10:3", "--out", "s.csv").exit_code == 0
    assert len(Path("s.csv").read_text().splitlines()) == 1 + 2 * 3


@pytest.mark.slow
def test_pictures_show_every_parameter_and_criterion(torseur):
    pytest.importorskip("matplotlib")
    common = ("sensitivity", DOUBLE, "--parameters", "r2,m1", "--until", "1", "--criterion", "q1")
    assert torseur(*common, "--criterion", "q2", "--plot", "two.svg").exit_code == 0
    assert torseur(*common, "--plot", "one.svg").exit_code == 0
    assert torseur(*common, "--over", "m2=1:2:2", "--plot", "line.svg").exit_code == 0
    assert torseur(*common, "--over", "m2=1:2:2", "--over", "g=9:10:2", "--plot", "area.svg").exit_code == 0
    heights = {n: float(re.search(r'height="([\d.]+)pt"', Path(f"{n}.svg").read_text())[1]) for n in ("one", "two")}
    assert heights["two"] > 1.8 * heights["one"]


def test_what_disagrees_ends_with_one(torseur, monkeypatch):
    """Derivatives that are wrong on purpose are noticed, said, and in the exit code."""
    from torseur.analysis.sensitivity import sensitivity_study

    response = sensitivity_study.Study.response

    def wrong(self, criterion, times, values, derivatives):
        return response(self, criterion, times, values, derivatives * 1.01)

    monkeypatch.setattr(sensitivity_study.Study, "response", wrong)
    common = ("sensitivity", DOUBLE, "--parameters", "r2,m1", "--until", "1", "--criterion", "q1")
    result = torseur(*common, "--json")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert not document["trusted"]
    assert not document["agreement"][0]["agrees"]
    assert "Not to be trusted" in document["notes"][-1]
    assert "Not to be trusted" in document["failed_checks"][0] and "not to be trusted" in result.stderr
    assert torseur(*common, "--verify").exit_code == 1
    assert torseur(*common, "--no-verify").exit_code == 0


@pytest.mark.slow
def test_rounding_is_not_ranked(torseur):
    """The mass of a bead on a frictionless sphere changes nothing, to the last digits."""
    Path("bead.lsd").write_text(
        "mechanism bead ; param L = 1 m, m = 2 kg ; gravity = [0, 0, -9.81] ;\n"
        "let bead = body mass = m, centre = [0, 0, 0], inertia = 0 end ;\n"
        "join earth and bead.frame as free with link(x, y, z) dof1 = [x, y, z] end ;\n"
        "constrain distance earth to bead = L ;\n"
        "init x = 0.3 m, y = 0.4 m, z = sqrt(L^2 - 0.25 m^2), x' = 1 m/s ;\n"
    )
    common = ("sensitivity", "bead.lsd", "--criterion", "y", "--until", "0.5")
    for method in ("direct", "adjoint"):
        ranks = json.loads(torseur(*common, "--method", method, "--json").stdout)["rankings"]["y"]
        assert [(rank["parameter"], rank["is_zero"], rank["share"]) for rank in ranks] == [
            ("L", False, 1.0),
            ("m", True, 0.0),
        ]
    table = torseur(*common).stdout
    assert "zero within rounding" in table
    alone = torseur(*common, "--parameters", "m").stdout
    assert "zero within rounding" in alone and "%" not in alone.split("share")[1]
