"""Answers of the workers against closed forms, and against what a hostile text could do to the page."""

from __future__ import annotations

import base64
import io
import re
import zipfile

import numpy as np
import pytest

from presentation.studio.answering import all_of, last
from torseur.analysis.studies import read_study
from torseur.analysis.vehicles import Suspension, suspension_curves
from torseur.derivation.formalisms import derive
from torseur.description.language import parse
from torseur.description.library import source_of
from torseur.presentation.levels.levels import LEVELS, statements
from torseur.presentation.studio.answers.describe_text import describe
from torseur.presentation.studio.answers.examination import examine
from torseur.presentation.studio.answers.export import export
from torseur.presentation.studio.answers.inscription import inscribe
from torseur.presentation.studio.answers.motion_answers import move
from torseur.presentation.studio.answers.suspension_curves_card import survey
from torseur.presentation.studio.messages import Request
from torseur.presentation.studio.worker import open_entry
from torseur.presentation.typesetting.plain_text import plain_text

OSCILLATOR = """mechanism oscillator ;
param m = 2 kg "mass", k = 8 N/m "stiffness", x0 = 0.3 m "start" ;
let block = body mass = m, inertia = 0 end ;
join earth and block.frame as rail with prismatic(x) along [1, 0, 0] stiffness = k end ;
init x = x0 ;
"""
PENDULUM = """mechanism pendulum ;
param g = 9.81 m/s^2, m = 1 kg, l = 0.7 m ;
gravity = [0, 0, -g] ;
let bob = body mass = m, centre = [0, 0, -l], inertia = 0 end ;
join earth and bob.frame as hinge with revolute(q) about [0, 1, 0] end ;
init q = 0.4 ;
"""


def test_motion_of_an_oscillator_is_a_cosine():
    """Oracle: x = x0 cos(t √(k/m)), with the stiffness of a slider in place of that of the text."""
    found = last(move(Request("move", 1, OSCILLATOR, values={"k": 18.0}, until=4.0), None), "motion")
    titles = [plot["title"] for plot in found["plots"]["list"]]
    number = titles.index("Displacements")
    times, x = found["arrays"][f"plot-{number}-times"], found["arrays"][f"plot-{number}-0"]
    np.testing.assert_allclose(x, 0.3 * np.cos(3.0 * times), atol=2e-6)
    assert found["moving"] and times[-1] == 4.0


def test_poses_are_those_of_the_motion():
    """Oracle: the block is where its coordinate says; sixteen bits leave a part in 65534 of the way."""
    found = last(move(Request("move", 1, OSCILLATOR, until=4.0), None), "motion")
    times, steps, poses = found["arrays"]["times"], found["arrays"]["poses"], found["poses"]
    assert poses["still"] == [True, False]
    track = steps[7:].reshape(len(times), 7)
    x = poses["origin"][0] + poses["scale"] * track[:, 0]
    np.testing.assert_allclose(x, 0.3 * np.cos(2.0 * times), atol=1e-5)


def test_arrows_come_with_the_motion_when_they_are_asked_for():
    """Oracle: ẋ = -ω x₀ sin ωt with ω = 2/s; half a metre stands for 1 m/s."""
    found = last(move(Request("move", 1, OSCILLATOR, until=4.0, arrows="velocity = 0.5; reaction"), None), "motion")
    velocity, reaction = found["overlays"]
    assert [velocity["label"], velocity["colour"]] == ["velocity, 1 m for 2 m/s", "--overlay-velocity"]
    assert reaction["names"] == ["rail"]
    start, end = (_places(velocity[key]) for key in ("starts", "ends"))
    times = found["arrays"]["times"]
    np.testing.assert_allclose(start[:, 0], 0.3 * np.cos(2 * times), atol=2e-5)
    np.testing.assert_allclose((end - start)[:, 0], -0.3 * np.sin(2 * times), atol=2e-5)


def _places(packed):
    """Places of the only point, from the integers in which they travel."""
    steps = np.frombuffer(base64.b64decode(packed["steps"]), "<i2").reshape(-1, 3)
    return np.array(packed["origin"]) + packed["scale"] * steps


def test_sensitivity_systems_are_those_of_the_criterion_in_the_box():
    """The adjoint system starts at its end from -dG/dy, which for G = k x²/2 is -k x."""
    of_x, of_energy = (
        last(describe(Request("describe", 1, OSCILLATOR, criterion=one), None), "equations")["copies"]
        for one in ("", "potential_energy")
    )
    ends = [[row for row in found.values() if "lambda" in row] for found in (of_x, of_energy)]
    assert ends[0] and ends[0] != ends[1]
    assert any("k*x" in row for row in ends[1])


def test_derivatives_of_an_oscillator_by_its_parameters():
    """Oracle: derivatives of x0 cos(t √(k/m)) at t = 3 s, from the table of the page."""
    found = last(examine(Request("examine", 1, OSCILLATOR, until=3.0, criterion="x"), None), "derivatives")
    assert found["reason"] == ""
    curves = {c["label"]: k for k, c in enumerate(found["plots"]["list"][0]["curves"])}
    times, w = found["arrays"]["plot-0-times"].astype(float), 2.0
    by_k = -0.3 * times * np.sin(w * times) * w / (2 * 8.0)
    by_x0 = np.cos(w * times)
    np.testing.assert_allclose(found["arrays"][f"plot-0-{curves['k']}"], 0.01 * 8.0 * by_k, atol=2e-5)
    np.testing.assert_allclose(found["arrays"][f"plot-0-{curves['x0']}"], 0.01 * 0.3 * by_x0, atol=2e-5)


def test_handles_move_as_the_bodies_do():
    """Oracle: a bob at the end of a rod of length l moves by l along the tangent per radian."""
    (handle,) = last(move(Request("move", 1, PENDULUM), None), "motion")["handles"]
    assert handle["name"] == "q" and handle["body"] == 1
    np.testing.assert_allclose(handle["point"], [0, 0, -0.7], atol=1e-12)
    np.testing.assert_allclose(handle["move"], [-0.7 * np.cos(0.4), 0, 0.7 * np.sin(0.4)], atol=1e-4)


def test_the_value_set_last_holds_in_a_closed_mechanism():
    """Oracle: the loop closes: B C of the four-bar keeps its length, whatever coordinate is set."""
    text = source_of("four_bar")
    first = last(move(Request("move", 1, text), None), "motion")["start"]
    given = {**{name: first[name] for name in ("alpha", "beta", "gamma")}, "gamma": first["gamma"] + 0.05}
    start = last(move(Request("move", 2, text, initial=given), None), "motion")["start"]
    assert start["gamma"] == pytest.approx(first["gamma"] + 0.05, abs=1e-12)
    end_of_crank = 0.4 * np.array([np.cos(start["alpha"]), np.sin(start["alpha"])])
    end_of_rocker = np.array([1.2, 0]) + 0.8 * np.array([np.cos(start["gamma"]), np.sin(start["gamma"])])
    assert np.linalg.norm(end_of_crank - end_of_rocker) == pytest.approx(1.0, abs=1e-9)


def test_shapes_travel_once():
    first = last(move(Request("move", 1, PENDULUM), None), "motion")
    again = last(move(Request("move", 2, PENDULUM, values={"m": 1.5}, known=first["shapes"]), None), "motion")
    longer = last(move(Request("move", 3, PENDULUM, values={"l": 0.9}, known=first["shapes"]), None), "motion")
    assert first["scene"] and again["scene"] is None and longer["scene"]


def test_faults_stand_where_they_are():
    text = PENDULUM.replace("earth and bob.frame", "earth and bobb.frame")
    (found,) = all_of(describe(Request("describe", 1, text), None))
    (fault,) = [one for one in found["faults"] if "unknown" in one["message"]]
    line = text.splitlines()[fault["line"] - 1]
    assert line[fault["column"] - 1 : fault["end"] - 1].startswith("bobb")
    assert "bobb" in fault["message"] and "bob" in fault["hint"]


@pytest.mark.parametrize("level", LEVELS)
def test_equations_at_every_level(level):
    found = last(describe(Request("describe", 1, PENDULUM, level=level), None), "equations")
    assert "<math" in found["html"] and found["reason"] == ""


@pytest.mark.parametrize("formalism", ["lagrange", "kane", "newton_euler", "gibbs_appell", "hamilton"])
def test_formalisms_write_the_same_pendulum(formalism):
    """Oracle: m l² q'' + m g l sin q = 0."""
    found = last(describe(Request("describe", 1, PENDULUM, formalism=formalism), None), "equations")
    (line,) = [line for line in found["copies"]["equations-0"].splitlines() if line.startswith("0 =")]
    assert sorted(re.split(r" \+ ", line.removeprefix("0 = "))) == sorted(
        re.split(
            r" \+ ",
            last(describe(Request("describe", 1, PENDULUM), None), "equations")["copies"]["equations-0"].removeprefix(
                "0 = "
            ),
        )
    )


def test_other_numbers_leave_the_equations():
    first = last(describe(Request("describe", 1, PENDULUM), None), "equations")["html"]
    assert (
        last(describe(Request("describe", 2, PENDULUM.replace("0.7 m", "0.9 m")), None), "equations")["html"] == first
    )
    assert last(describe(Request("describe", 3, PENDULUM.replace("-g]", "-2*g]")), None), "equations")["html"] != first


@pytest.mark.slow
def test_long_equations_come_at_once_and_again_only_when_they_get_shorter():
    text = source_of("pendulum_chain?n=5")
    found = [m for m in all_of(describe(Request("describe", 1, text), None)) if m["kind"] == "equations"]
    assert 1 <= len(found) <= 2 and all("<math" in one["html"] for one in found)


def test_hostile_texts_stay_text():
    name = '<img src=x onerror=alert(1)>"'
    text = f'mechanism a "{name[:-1]}" ;\nlet b = body mass = 1 kg end "{name[:-1]}" ;\njoin earth and b.frame as j with revolute(q "</script><script>") about [0, 0, 1] end ;'
    messages = all_of(describe(Request("describe", 1, text), None)) + all_of(move(Request("move", 1, text), None))
    for message in messages:
        marked = [message.get("html", ""), message.get("graph", ""), (message.get("plots") or {}).get("html", "")]
        for html in marked:
            assert "<img" not in html and "<script" not in html


def test_what_a_motion_lacks_is_said_and_the_start_is_shown():
    text = PENDULUM.replace("m = 1 kg", "m = 1 kg, c").replace("[0, 1, 0] end", "[0, 1, 0] damping = c end")
    (found,) = [m for m in all_of(move(Request("move", 1, text), None)) if m["kind"] == "motion"]
    assert not found["moving"] and "c" in found["notes"][0] and found["scene"]


@pytest.mark.slow
def test_loops_are_put_into_words():
    found = last(examine(Request("examine", 1, source_of("four_bar"), what="loops"), None), "loops")
    assert "infinitesimal mobility" in found["html"] and "redundant" in found["html"]
    tree = last(examine(Request("examine", 1, PENDULUM, what="loops"), None), "loops")
    assert "tree" in tree["reason"]


def test_report_code_study_and_text_to_take_away(tmp_path):
    asked = {"text": PENDULUM, "values": {"l": 0.9}, "until": 1.0, "criterion": "q"}
    report = last(export(Request("export", 1, what="report", **asked), None), "file")
    assert report["name"] == "pendulum.html" and report["body"].startswith(b"<!doctype html>")
    code = last(export(Request("export", 2, what="code", detail="c", **asked), None), "file")
    names = zipfile.ZipFile(io.BytesIO(code["body"])).namelist()
    assert any(name.endswith(".c") for name in names) and any(name.endswith(".h") for name in names)
    study = last(export(Request("export", 3, what="study", **asked), None), "file")
    zipfile.ZipFile(io.BytesIO(study["body"])).extractall(tmp_path)
    read = read_study(tmp_path / "pendulum.toml")
    assert {axis.name for axis in read.axes} == {"g", "m", "l"}
    lengths = next(axis.numbers for axis in read.axes if axis.name == "l")
    assert lengths == pytest.approx((0.81, 0.99))
    text = last(export(Request("export", 4, what="text", **asked), None), "file")
    assert float(parse(text["body"].decode()).parameter("l").value) == 0.9


def test_values_are_written_where_they_are_defined():
    """Oracle: the text read again has the values, and only numbers have changed."""
    text = source_of("four_bar")
    asked = {"values": {"a": 0.45, "rho": 2.5}, "initial": {"alpha": np.pi / 2}}
    found = last(inscribe(Request("inscribe", 1, text, **asked), None), "inscribed")["text"]
    read = parse(found)
    assert (float(read.parameter("a").value), float(read.parameter("rho").value)) == (0.45, 2.5)
    assert float(dict(read.initial)["alpha"]) == pytest.approx(np.pi / 2)
    assert found == text.replace("a = 0.4 m", "a = 0.45 m").replace("rho = 2 kg/m", "rho = 2.5 kg/m").replace(
        "100 deg", "90 deg"
    )


def test_a_start_that_was_not_given_is_added():
    text = PENDULUM.replace("init q = 0.4 ;\n", "")
    found = last(inscribe(Request("inscribe", 1, text, initial={"q": 0.5, "q'": 1.5}), None), "inscribed")["text"]
    assert {name: float(value) for name, value in parse(found).initial} == {"q": 0.5, "q'": 1.5}


def test_an_unknown_export_is_refused():
    assert "report" in last(export(Request("export", 1, PENDULUM, what="gold"), None), "refusal")["reason"]


def test_the_library_opens():
    assert last(open_entry(Request("open", 1, what="pendulum_chain?n=3"), None), "opened")["text"] == source_of(
        "pendulum_chain?n=3"
    )
    assert "four_bar" in last(open_entry(Request("open", 1, what="four_bra"), None), "refusal")["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_definitions_follow_their_equations(level):
    """Oracle: every chip of the cards has its row, and the rows are the lines that the command line prints."""
    text = source_of("pendulum_chain?n=4")
    found = all_of(describe(Request("describe", 1, text, formalism="lagrange", level=level), None))
    kinds = [message["kind"] for message in found]
    assert kinds.index("equations") < kinds.index("definitions") if "definitions" in kinds else level == "scalar"
    if "definitions" not in kinds:
        return
    shown, rows = last_of(found, "equations")["html"], last_of(found, "definitions")["rows"]
    assert re.findall(r'aria-controls="([^"]+)"', shown) == list(rows)
    assert all(f'id="{name}"' in row for name, row in rows.items())
    assert not any(f'id="{name}"' in shown for name in rows)
    if level == "recursive":
        listed = [s for s in statements(derive(parse(text)), level) if s.auxiliary]
        copied = last_of(found, "definitions")["copies"]["equations-0"].splitlines()
        assert [line.partition(" = ")[0] for line in copied[-len(listed) :]] == [plain_text(s.left) for s in listed]


def last_of(messages, kind):
    return [message for message in messages if message["kind"] == kind][-1]


@pytest.mark.filterwarnings("error")
def test_numbers_without_bounds_are_told():
    huge = PENDULUM.replace("m = 1 kg, l = 0.7 m", "m = 1e308 kg, l = 1e300 m")
    assert "outline" in [message["kind"] for message in all_of(describe(Request("describe", 1, huge), None))]
    assert "larger than numbers" in last(move(Request("move", 1, huge), None), "halt")["reason"]


def test_a_text_without_motion_is_told():
    assert last(examine(Request("examine", 1, "mechanism nothing ;\n"), None), "derivatives")["reason"].startswith(
        "Nothing"
    )


def test_any_quantity_is_plotted_also_over_another():
    """Oracle: twice the angle is twice the angle."""
    request = Request("move", 1, PENDULUM, until=1.0, outputs="twice = 2*q; q'", over="q")
    message = last(move(request, None), "motion")
    titles = [plot["title"] for plot in message["plots"]["list"]]
    assert titles[0] == "Quantities" and "Over q" in message["crossplots"]
    assert not any(note.startswith("Not plotted") for note in message["notes"])
    angles = next(k for k, plot in enumerate(message["plots"]["list"]) if plot["title"] == "Angles")
    np.testing.assert_allclose(message["arrays"]["plot-0-0"], 2 * message["arrays"][f"plot-{angles}-0"], rtol=1e-6)


def test_a_quantity_that_cannot_be_plotted_is_named_and_the_motion_shown():
    message = last(
        move(Request("move", 1, PENDULUM, until=1.0, outputs="elbow.force.x", over="nothing"), None), "motion"
    )
    assert message["moving"] and message["crossplots"] == ""
    assert message["notes"][0].startswith("Not plotted:") and "elbow" in message["notes"][0]


CORNER = """param up = -41 mm, travel = 0 m ;
let body = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and body with prismatic(z) along [0, 0, 1] end ;
use double_wishbone as fl(rod_inner_z = up) from "library:parts/suspension" attach chassis to [0, 0.74, 0.3] m @ body, rack to [0, 0.74, 0.3] m @ body ;
"""


@pytest.mark.slow
def test_curves_of_a_suspension_follow_its_hardpoints():
    """Oracle: the curves that Python computes, in the drawing's own height; a wrong wheel is named."""

    def toe(**values: float) -> list[list[float]]:
        request = Request("survey", 1, CORNER, values=values, suspension="fl.hub in body")
        html = last(survey(request, None), "suspension")["html"]
        drawing = next(part for part in html.split("<svg")[1:] if 'aria-label="toe' in part)
        paths = re.findall(r'<path d="M([^"]+)"[^>]*stroke-width="1.6"', drawing)
        return [[float(point.split(",")[-1].split()[-1]) for point in path.split("L")] for path in paths]

    def computed(up: float) -> np.ndarray:
        corner = Suspension(parse(CORNER), "fl.hub", "body", parameters={"up": up})
        return suspension_curves(corner, np.linspace(-0.08, 0.08, 17))["toe"]

    (written,), (same, moved) = toe(), toe(up=-0.03)
    assert len(written) == len(same) == len(moved) == 17
    both = np.concatenate([computed(-0.041), computed(-0.03)])
    drawn = np.array([*same, *moved])
    scale, zero = np.polyfit(both, drawn, 1)
    assert scale < 0 and np.abs(drawn - scale * both - zero).max() < 0.06  # of a pixel, to which heights are rounded
    wrong = Request("survey", 1, CORNER, suspension="fl.hob in body")
    assert "fl.hub" in last(survey(wrong, None), "suspension")["reason"]
