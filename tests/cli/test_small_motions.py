"""Equilibria, modes, root loci, frequency responses and contacts from the command line."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

OSCILLATOR = "library:mass_spring_damper"
BICYCLE = "library:whipple_bicycle"


def values_of(torseur, *arguments):
    result = torseur(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_equilibrium_of_the_governor(torseur):
    """Oracle: turned twice as fast, the balls rise; the slider hangs on springs of 0.5 m, hardly longer."""
    slow = values_of(torseur, "equilibrium", "library:flyball_governor", "--moving", "psi", "--fix", "psi'")
    fast = values_of(
        torseur, "equilibrium", "library:flyball_governor", "--moving", "psi", "--fix", "psi'", "--init", "psi'=120 rpm"
    )
    assert slow["stable"] and fast["state"]["alpha1"] < slow["state"]["alpha1"]
    assert slow["state"]["alpha1"] == pytest.approx(slow["state"]["alpha2"])
    text = torseur("equilibrium", "library:flyball_governor", "--moving", "psi", "--fix", "psi'").stdout
    assert "steady motion" in text and "stable to first order" in text


def test_modes_of_the_oscillator(torseur):
    """Oracle: the roots of m s² + c s + k."""
    found = values_of(torseur, "modes", OSCILLATOR, "--equilibrium", "--set", "m=2 kg", "--set", "k=50 N/m")
    damping = found["D"][0][0]
    roots = sorted((complex(*mode["eigenvalue"]) for mode in found["modes"]), key=lambda s: s.imag)
    expected = np.roots([2.0, damping, 50.0])
    assert roots == pytest.approx(sorted(expected, key=lambda s: s.imag))
    assert found["K"][0][0] == pytest.approx(50.0) and found["stable"]
    assert "± " in torseur("modes", OSCILLATOR, "--equilibrium", "--matrices").stdout


def test_small_motions_about_a_motion_are_called_so(torseur):
    assert "not an equilibrium" in torseur("modes", "library:pendulum").stderr
    assert torseur("modes", "library:pendulum", "--equilibrium").stderr == ""


@pytest.mark.slow
def test_locus_of_the_bicycle(torseur, tmp_path):
    """Oracle: the published weave and capsize speeds."""
    states = [word for name in ("lean", "steer", "lean'", "steer'") for word in ("--state", name)]
    found = values_of(torseur, "locus", BICYCLE, "--over", "speed", "--from", "0", "--to", "36 km/h", "--points", "11",
                      *states, "--independent", "rear_turn", "--plot", "bicycle.svg")  # fmt: skip
    assert found["values"][-1] == pytest.approx(10.0)
    assert [c["value"] for c in found["crossings"]] == pytest.approx([4.29238253634111, 6.02426201538837], abs=1e-9)
    assert [c["grows_beyond"] for c in found["crossings"]] == [False, True]
    assert (tmp_path / "bicycle.svg").stat().st_size > 1000
    text = torseur("locus", BICYCLE, "--over", "speed", "--from", "4", "--to", "5", "--points", "3", *states,
                   "--independent", "rear_turn").stdout  # fmt: skip
    assert "speed = 4.29238254" in text and "becomes stable beyond" in text


def test_locus_over_equilibria(torseur):
    """Oracle: a pendulum of length l below its pivot has the roots ± i sqrt(g / l)."""
    found = values_of(torseur, "locus", "library:pendulum", "--over", "l", "--from", "0.5", "--to", "2", "--points", "4",
                      "--equilibrium")  # fmt: skip
    for length, roots in zip(found["values"], found["roots"], strict=True):
        assert max(root[1] for root in roots) == pytest.approx(math.sqrt(9.81 / length), rel=1e-9)


def test_response_of_the_oscillator(torseur, tmp_path):
    """Oracle: 1 / (k - m w² + i c w)."""
    matrices = values_of(torseur, "modes", OSCILLATOR, "--equilibrium")
    m, c, k = (matrices[name][0][0] for name in "MDK")
    found = values_of(torseur, "response", OSCILLATOR, "--input", "x", "--output", "x", "--equilibrium", "--points", "9",
                      "--plot", "gain.png")  # fmt: skip
    w = 2 * np.pi * np.array(found["hertz"])
    assert np.allclose([complex(*value) for value in found["values"]], 1 / (k - m * w**2 + 1j * c * w))
    assert (tmp_path / "gain.png").exists()


@pytest.mark.slow
def test_contact_of_a_pendulum(torseur):
    found = values_of(torseur, "simulate", "library:pendulum", "--until", "3", "--samples", "301", "--contact",
                      "theta >= -10 deg", "--restitution", "1")  # fmt: skip
    assert min(found["values"]["theta"]) > -math.radians(10) - 1e-9
    assert {event["name"] for event in found["events"]} == {"theta >= -10 deg"}


@pytest.mark.slow
def test_notes_reach_the_user(torseur):
    assert "note: Stiff from t = " in torseur("simulate", "library:flyball_governor", "--until", "1").stdout
    found = values_of(torseur, "simulate", "library:flyball_governor", "--until", "1", "--samples", "3")
    assert any("radau9 took over" in note for note in found["notes"])


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["augmented", "partitioned", "projector"])
def test_formulations_give_the_same_numbers(torseur, formulation):
    expected = values_of(torseur, "simulate", "library:four_bar", "--until", "1", "--samples", "3", "--rtol", "1e-11")
    found = values_of(torseur, "simulate", "library:four_bar", "--until", "1", "--samples", "3", "--rtol", "1e-11",
                      "--formulation", formulation)  # fmt: skip
    assert found["values"]["gamma"] == pytest.approx(expected["values"]["gamma"], abs=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("simulate", "library:pendulum", "--until", "1", "--contact", "theta > 3"),
            "expected a bound of a coordinate",
        ),
        (("simulate", "library:pendulum", "--until", "1", "--contact", "phi >= 3"), "unknown coordinate 'phi'"),
        (("simulate", "library:pendulum", "--until", "1", "--contact", "theta >= 3 m"), "is measured in rad"),
        (("simulate", "library:four_bar", "--until", "1", "--formulation", "augment"), "unknown formulation"),
        (("response", OSCILLATOR, "--input", "x", "--output", "y"), "unknown quantity 'y'"),
        (("response", OSCILLATOR, "--input", "x", "--output", "x", "--from", "2", "--to", "1"), "0 < first < last"),
        (("locus", "library:pendulum", "--over", "mass", "--from", "1", "--to", "2"), "'mass'"),
        (("locus", "library:pendulum", "--over", "l", "--from", "1 kg", "--to", "2"), "expected a length"),
        (("equilibrium", "library:pendulum", "--fix", "theta"), "no equilibrium was found"),
        (("equilibrium", "library:satellite"), "no value for"),
    ],
)
def test_mistakes(torseur, arguments, message):
    result = torseur(*arguments)
    assert result.exit_code in (1, 2) and message in result.stderr and "Traceback" not in result.stderr


def test_fast_modes_tell_what_moves_and_loci_their_unit(torseur, tmp_path):
    """A mode of 100 rad/s moves its coordinate by a hundredth of its speed: that is still all it moves."""
    text = """param k = 10000 N/m ; let b = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and b.frame with prismatic(x) stiffness = k end ;"""
    assert "x 1" in torseur("modes", "-", text=text).stdout
    found = torseur("locus", "-", "--over", "k", "--from", "1", "--to", "2", "--points", "2", text=text).stdout
    assert "k (N/m)" in found and "0 ± 1 i" in found


def test_an_empty_description_is_doubted(torseur):
    assert "There are no bodies" in torseur("check", "-", text="").stdout


@pytest.mark.parametrize("command", [("modes",), ("response", "--input", "alpha", "--output", "alpha")])
def test_a_check_that_disagrees_is_the_exit_code(torseur, command):
    """A four-bar stretched out has no linear small motions; what was computed is there, and says so."""
    name, *options = command
    source = "library:stretched_four_bar"
    result = torseur(name, source, *options, "--json")
    assert result.exit_code == 1
    assert [check["agrees"] for check in json.loads(result.stdout)["checks"]] == [False]
    assert "DISAGREES" in torseur(name, source, *options).stdout
    assert torseur(name, source, *options, "--no-verify", "--json").exit_code == 0


def test_checks_stand_beside_results(torseur):
    found = values_of(torseur, "equilibrium", OSCILLATOR)
    assert [check["agrees"] for check in found["checks"]] == [True, True]
    assert "agrees to" in torseur("equilibrium", OSCILLATOR).stdout


def test_linear_equations_are_written_in_formulas(torseur, tmp_path):
    """Oracle: the small motions of a hanging pendulum, and SymPy's own reading of what is written for it."""
    pendulum = tmp_path / "pendulum.lsd"
    pendulum.write_text(
        """mechanism pendulum ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m ;
        gravity = [0, -g, 0] ;
        let bob = body mass = m, centre = [l, 0, 0], inertia = 0 end ;
        join earth and bob.frame as pivot with revolute(q) about [0, 0, 1] end ;
        init q = 30 deg ;"""
    )
    text = torseur("equations", str(pendulum), "--linear", "--about", "q=-pi/2").output
    assert text.splitlines()[1].startswith("m*l^2*q'' + m*g*l*delta_q = 0")
    written = torseur("equations", str(pendulum), "--linear", "--about", "q=-pi/2", "--format", "sympy").output
    names: dict[str, object] = {}
    exec(written, names)
    numbers = {"g": 9.0, "m": 2.0, "l": 0.7, "q": -1.3, "q_dd": 0.4}
    value = names["R_q"].subs({names[name]: number for name, number in numbers.items()})
    assert float(value) == pytest.approx(2 * 0.7**2 * 0.4 + 2 * 9 * 0.7 * (math.pi / 2 - 1.3))
    refused = torseur("equations", str(pendulum), "--linear")
    assert refused.exit_code == 1 and "not an equilibrium" in refused.output + refused.stderr
    assert torseur("equations", str(pendulum), "--about", "q=0").exit_code == 2
