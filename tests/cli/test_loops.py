"""`torseur loops`: what it tells of good mechanisms, and whom it blames for bad ones."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

BODIES = "".join(f"let {n} = body rod length = 1 m, mass = 1 kg along [1, 0, 0] end ;\n" for n in "abc")
CHAIN = """join earth and a.frame as A with revolute(q1) end ;
join [1, 0, 0] m @ a and b.frame as B with revolute(q2) end ;
join [1, 0, 0] m @ b and c.frame as C with revolute(q3) end ;
"""
CLOSED = CHAIN + "join [1, 0, 0] m @ c and [1, 0, 0] m @ earth as D with revolute(q4) end ;\n"


def described(text: str) -> str:
    Path("bad.lsd").write_text(f"mechanism bad ;\n{text}", encoding="utf-8")
    return "bad.lsd"


def test_document_holds_everything(torseur):
    result = torseur("loops", "library:flat_parallelogram", "--method", "precise", "--json")
    document = json.loads(result.stdout)
    assert document["mobility"]["by_count"] == -2
    assert document["mobility"]["infinitesimal"] == 2
    assert document["mobility"]["finite"] == 1
    assert document["rank"]["generic"] == 3
    assert [finding["rank"] for finding in document["rank"]["findings"]] == [2, 2]
    assert [branch["dimension"] for branch in document["branches"]] == [1, 1]
    assert document["cut"]["closing"] == ["C"]
    assert len(document["passage"]["N"]) == document["freedoms"] == 4
    assert document["outline"]["loops"][0]["joints"] == ["A", "B", "C", "D"]


def test_user_chooses_the_cut(torseur):
    text = BODIES + CLOSED.replace("revolute(q2) end", "revolute(q2), role = loop end")
    document = json.loads(torseur("loops", described(text), "--json").stdout)
    assert document["cut"]["closing"] == ["B"]
    assert document["mobility"]["finite"] == 1


def test_branches_of_assembly_with_the_crank_held(torseur):
    """Oracle: a four-bar with its crank held closes in two ways."""
    words = ("loops", "library:four_bar", "--init", "alpha=60 deg", "--lock", "alpha", "--assemble", "40")
    document = json.loads(torseur(*words, "--json").stdout)
    assert len(document["assembly"]["configurations"]) == 2
    assert document["mobility"]["finite"] == 0
    assert "in 2 different configurations" in torseur(*words).stdout


@pytest.mark.slow
def test_singular_configurations_in_a_box_and_along_a_drive(torseur):
    """Oracle: the parallelogram is singular where it lies flat; the piston stops at r + l = 1.1 m."""
    flat = json.loads(torseur("loops", "library:flat_parallelogram", "--box", "alpha=-100..100 deg", "--json").stdout)
    assert [one["coordinates"]["alpha"] for one in flat["singular_in_box"]] == pytest.approx([0.0], abs=1e-9)
    driven = json.loads(torseur("loops", "library:slider_crank", "--drive", "x=1 m..1200 mm", "--json").stdout)
    (stop,) = driven["singular_along"]
    assert stop["kind"] == "limit"
    assert stop["coordinates"]["x"] == pytest.approx(1.1, abs=1e-6)
    assert "none" in torseur("loops", "library:slider_crank", "--drive", "theta=0..360 deg").stdout


@pytest.mark.slow
def test_syzygies_are_printed_in_the_names_of_the_user(torseur):
    document = json.loads(torseur("loops", "library:constant_velocity_joint", "--syzygies", "--json").stdout)
    assert dict(zip(document["syzygies"]["coordinates"], document["syzygies"]["N"], strict=True)) == {
        "alpha1": ["1"], "beta2": ["0"], "gamma2": ["0"], "alpha4": ["1"], "z": ["0"],
    }  # fmt: skip


def test_time_moves_drivers(torseur):
    text = BODIES + CHAIN + "constrain q1 = 2 rad/s * t as motor ;"
    document = json.loads(torseur("loops", described(text), "--time", "0.5", "--json").stdout)
    assert document["configuration"]["q1"] == pytest.approx(1.0)
    assert document["mobility"]["finite"] == 2


def test_help_has_examples(torseur):
    shown = torseur("loops", "--help").stdout
    assert len(re.findall(r"torseur loops library:", shown)) >= 5


WRONG = {
    "too long": (CHAIN + "join [1, 0, 0] m @ c and [6, 0, 0] m @ earth as D with revolute(q4) end ;",
                 r"'bad' cannot close: .*loop A-B-C-D is open by 3 m at joint 'C'"),
    "twisted": (CHAIN + "join [1, 0, 0] m @ c and [1, 0, 0] m ++ (30 deg || [1, 0, 0]) @ earth as D with revolute(q4) end ;",
                r"loop A-B-C-D is open by 30 deg"),
    "contradictory drivers": (CLOSED + "constrain q1 = 30 deg as motor ; constrain q1 = 60 deg as brake ;",
                              r"constraint 'brake' and constraint 'motor' contradict each other.* off by 15 deg"),
    "drivers that do not fit the loop": (CLOSED + "constrain q1 = 10 deg as motor ; constrain q2 = 170 deg as brake ;"
                                         " constrain q3 = 10 deg as third ;", r"loop [A-D-]+, constraint .(motor|brake|third)"),
    "joint of a body with itself": (CHAIN + "join [1, 0, 0] m @ c and c.frame as D with revolute(q4) end ;",
                                    r"bad.lsd:\d+:\d+: joint 'D' joins 'c' to itself"),
    "disconnected": ("join earth and a.frame as A with revolute(q1) end ; join b.frame and c.frame as B with revolute(q2) end ;",
                     r"no chain of joints leads from the earth to 'b', 'c'"),
    "joined to nothing": ("join earth and a.frame as A with revolute(q1) end ; join a.frame and b.frame with revolute(r) end ;",
                          r"body 'c' is not joined to anything"),
    "no distance": (CHAIN + "constrain distance [1, 0, 0] m @ c to earth = 0 m as tie ;",
                    r"constraint 'tie': a distance of 0 m cannot be kept"),
    "too far": (CHAIN + "constrain distance [1, 0, 0] m @ c to earth = 9 m as tie ;", r"constraint 'tie' is off by [456]"),
    "impossible equation": (CHAIN + "constrain q1^2 + 1 = 0 as never ;", r"constraint 'never' is off by 1\b"),
    "equation without a value": (CHAIN + "constrain sqrt(q1 - 4) = -1 as root ;", r"constraint 'root' (has no value|is off)"),
    "dimension without a value": ("param L in m ;" + CHAIN + "join [1, 0, 0] m @ c and [L, 0, 0] @ earth as D with revolute(q4) end ;",
                                  r"'L' has no value"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_culprit_is_named(torseur, what):
    text, message = WRONG[what]
    result = torseur("loops", described(BODIES + text))
    assert result.exit_code == 1
    assert re.search(message, " ".join(result.stderr.split()))
    assert "Traceback" not in result.output


def test_a_link_of_no_length_is_remarked(torseur):
    shown = torseur("loops", "library:four_bar", "--set", "a=0").stdout
    assert "body 'crank' has no length: its joints 'A' and 'B' turn about the same axis" in shown
    assert "no length" not in torseur("loops", "library:peaucellier").stdout


def test_given_values_that_do_not_fit_are_remarked(torseur):
    shown = torseur("loops", "library:slider_crank", "--init", "theta=60 deg", "--init", "x=3 m").stdout
    assert "the loops do not close with x = 3" in shown


@pytest.mark.parametrize(("words", "message"), [
    (("--method", "magic"), "unknown method 'magic'"),
    (("--prefer", "thet"), "unknown coordinate 'thet'.*Did you mean 'theta'"),
    (("--lock", "cranc"), "unknown coordinate 'cranc'"),
    (("--drive", "thet=0..1"), "unknown coordinate 'thet'"),
    (("--drive", "theta=1"), r"expected NAME=FROM\.\.TO"),
    (("--drive", "theta=0..3 m"), "expected a number or angle"),
    (("--box", "x=0..30 deg"), "expected a length"),
    (("--init", "foo=3"), "unknown coordinate or speed 'foo'"),
])  # fmt: skip
def test_wrong_options_are_refused(torseur, words, message):
    result = torseur("loops", "library:slider_crank", *words)
    assert result.exit_code in (1, 2)
    assert re.search(message, " ".join(result.output.split()))


def test_locks_and_a_drive_are_combined(torseur):
    """Oracle: two legs of a 3-RPR held, the third stops where the lines of the legs meet."""
    words = ("loops", "library:linkages/planar_3rpr", "--lock", "d1", "--lock", "d2", "--drive", "d3=1.5 m..2.5 m")
    document = json.loads(torseur(*words, "--json").stdout)
    limits = [one["coordinates"] for one in document["singular_along"] if one["kind"] == "limit"]
    assert all(one["d1"] == pytest.approx(document["configuration"]["d1"], abs=1e-9) for one in limits)
    assert all(1.5 <= one["d3"] <= 2.5 for one in limits)
    assert document["actuation"]["inputs"] == ["d1", "d2", "d3"]


@pytest.mark.slow
def test_a_map_of_singular_lines_and_its_picture(torseur):
    words = [
        "loops",
        "library:linkages/planar_3rpr",
        "--output",
        "x",
        "--output",
        "y",
        "--output",
        "phi",
        "--lock",
        "phi",
    ]
    words += ["--map", "x=0.5..2.5", "--map", "y=0..2"]
    result = torseur(*words, "--picture", "map.svg")
    assert "type 2: " in result.stdout
    picture = Path("map.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "<polyline" in picture


def test_mobility_comes_with_an_algebraic_proof(torseur):
    """Oracle: a four-bar has one freedom and dead points where coupler and rocker are in line."""
    document = json.loads(torseur("loops", "library:four_bar", "--algebraic", "--json").stdout)["algebraic"]
    assert (document["dimension"], document["mobility"], document["proven_here"]) == (1, 1, True)
    assert document["where_not_zero"] == ["sin(gamma)"]
