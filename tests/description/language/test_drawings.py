"""`draw ...`: read, written back, and refused with line and column."""

from __future__ import annotations

import pytest

import torseur as ts
from torseur.description.mechanism import DRAWINGS
from torseur.description.mechanism.drawings import BETWEEN, OF, ON, THROUGH

HEAD = """param l = 2 m, r = 0.1 m ;
let arm = body mass = 1 kg, centre = 0, inertia = 0 end ;
let bob = body mass = 1 kg, centre = 0, inertia = 0 end ;
let C = [0, 0, 1] @ earth ;
join earth and arm with revolute(q) about [0, 1, 0] end ;
join arm and bob with prismatic(s) along [0, 0, 1] end ;
"""
PLACES = {ON: "on arm", BETWEEN: "between arm and bob", THROUGH: "through arm, C, bob", OF: "of arm, C"}
WORDS = {"text": '"a \\"word\\""', "file": '"wheel.stl"', "": ""}


@pytest.mark.parametrize("kind", DRAWINGS)
def test_every_drawing_with_all_its_sizes_comes_back(kind):
    """Oracle: reading what is written gives the same mechanism, for every kind at each of its places."""
    described = DRAWINGS[kind]
    for place, needed in described.places.items():
        sizes = [
            f"{name} = {'2' if name in ('turns', 'scale') or '_' in name else 'l/3'}"
            for name in (*needed, *described.optional)
        ]
        items = ", ".join([*sizes, 'colour = "#12ab9f"', "transparency = r/(2*l)"])
        mechanism = ts.parse(f"{HEAD}draw {kind} {WORDS[described.word]} {items} {PLACES[place]} ;")
        (drawing,) = mechanism.drawings
        assert [name for name, _ in drawing.sizes] == [
            n for n in described.sizes if n in (*needed, *described.optional)
        ]
        assert ts.parse(ts.to_text(mechanism)) == mechanism


def test_text_and_python_say_the_same():
    mechanism = ts.parse(
        HEAD + "draw rope radius(C) = -r through arm, C, bob ; draw cone radius = r, length = l along [1, 0, 0] on C ;"
    )
    r, l = (mechanism.parameter(name).symbol for name in "rl")
    arm, bob, C = ts.Frame("arm"), ts.Frame("bob"), mechanism.frame("C")
    lying = ts.Frame("earth", ts.placement((0, 0, 1), ts.turn(ts.PI / 2, (0, 1, 0))))
    assert mechanism.drawings == (
        ts.draw("rope", arm, C, bob, wound={1: -r}),
        ts.draw("cone", lying, radius=r, length=l),
    )


REFUSED = {
    "draw bx x = 1 m on arm ;": r"7:6: unknown drawing 'bx'.*Did you mean 'box'",
    "draw box x = 1 m, y = 1 m on arm ;": r"7:6: a drawn box needs x, y, z; 'z' is missing",
    "draw sphere radius = 1 kg on arm ;": r"7:22: expected a length, got 1 kg",
    "draw sphere radius = s on arm ;": r"7:22: .*may depend on parameters only, not on the coordinate 's'",
    'draw ring radius = r, colour = "blu" on arm ;': r"7:32: 'blu' is not a colour.*Did you mean 'blue'",
    "draw spring on arm ;": r"7:6: a spring is not drawn 'on' something.*between A and B",
    "draw rope radius(D) = r through arm, C, bob ;": r"7:18: 'D' is not a point between the ends",
    "draw rope radius = r through arm, C, bob ;": r"7:11: `radius` of a rope belongs to a pulley",
    'draw mesh "wheel.png" on arm ;': r"7:11: 'wheel.png' is not a readable mesh",
    "draw text on arm ;": r"7:6: a drawn text needs a text",
    "draw sphere color = red, radius = r on arm ;": r"7:13: a drawing has no 'color'. Give its colour",
    "draw cylinder radius = r, length = l between arm and bob ;": r"7:36: .*the points say it",
    "draw sphere radius = r, transparency = 2 on arm ;": r"transparency 2: expected 0",
    "draw sphere radius = r on amr ;": r"7:27: unknown body 'amr'.*Did you mean 'arm'",
    "draw arrow along [1, 0, 0] between arm and bob ;": r"7:18: .*leave `along` out",
    "draw box x = r, y = r, z = r, sice = l on arm ;": r"7:31: a drawn box has no 'sice'",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_cannot_be_drawn_is_refused_where_it_stands(statement):
    with pytest.raises(ts.TorseurError, match=REFUSED[statement]):
        ts.parse(HEAD + statement)


def test_a_mesh_is_looked_for_beside_the_description(tmp_path):
    file = tmp_path / "arm.lsd"
    file.write_text(HEAD + 'draw mesh "parts/arm.stl" on arm ;')
    with pytest.raises(ts.TorseurError, match=r"7:11: there is no file 'parts/arm.stl'"):
        ts.load(file)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.stl").write_text("solid\nendsolid\n")
    assert ts.load(file).drawings[0].text == (tmp_path / "parts" / "arm.stl").as_posix()


def test_drawings_change_nothing_but_the_picture():
    """Oracle: the equations of the same text without them."""
    plain, drawn = ts.parse(HEAD), ts.parse(HEAD + "draw sphere radius = l on arm ;")
    one, other = (str(ts.derive(mechanism, "recursive").mass_matrix) for mechanism in (plain, drawn))
    assert one == other
