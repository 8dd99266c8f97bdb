"""What formulas may depend on: refused with line and column in texts, with names in Python, as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import torseur as ts
from torseur.description.mechanism import SLOTS, turn
from torseur.errors import TorseurError

PAGE = Path(__file__).parents[3] / "docs" / "language.md"
BODIES = """let b = body mass = 2 kg, centre = [0.3, 0, 0] m, inertia = diag(1, 1, 1) end ;
let c = body mass = 1 kg, centre = [0.2, 0, 0] m, inertia = diag(1, 1, 1) end ;
join earth and b.frame as j1 with revolute(q) end ;
join [1, 0, 0] m @ b and c.frame as j2 with prismatic(x) end ;
"""
# A statement with ~ before the formula at fault, the slot it stands in, and what it depends on.
REFUSED = {
    "mass of time": ("let d = body mass = ~2 kg + 1 kg/s * t end ;", "mass", "time"),
    "mass of a coordinate": ("let d = body mass = ~x * 1 kg/m end ;", "mass", "the coordinate 'x'"),
    "centre": ("let d = body centre = [0, ~x, 0] end ;", "centre", "the coordinate 'x'"),
    "iframe": ("let d = body iframe = ~0 ++ (q || [0,0,1]) end ;", "centre", "the coordinate 'q'"),
    "inertia": ("let d = body inertia = diag(1, ~x * 1 kg*m, 1) end ;", "inertia", "the coordinate 'x'"),
    "inertia about": ("let d = body inertia = diag(1, 1, 1) about ~[x, 0, 0] end ;", "inertia", "the coordinate 'x'"),
    "size of a solid": ("let d = body sphere radius = ~x, mass = 1 kg end ;", "solid", "the coordinate 'x'"),
    "density": ("let d = body sphere radius = 1 m, density = ~q' * 1 kg*s/m^3 end ;", "solid", "the rate 'q''"),
    "place of a solid": ("let d = body sphere radius = 1 m, mass = 1 kg at ~[x, 0, 0] end ;", "solid", "the coordinate"),
    "frame of another coordinate": (
        "join ~[q * 1 m, 0, 0] @ b and d.frame as j with revolute(p) end ;", "joint origin", "the coordinate 'q'"
    ),
    "frame of a rate": ("join ~[x' * 1 s, 0, 0] @ b and d.frame with revolute(p) end ;", "joint origin", "the rate 'x''"),
    "turning frame": ("join ~0 ++ (t * 1 1/s || [0,0,1]) @ b and d.frame with revolute(p) end ;", "joint frame", "time"),
    "second frame": ("join b.frame and ~[t * 1 m/s, 0, 0] @ d with revolute(p) end ;", "joint frame", "time"),
    "axis of its coordinate": ("join b.frame and d.frame with revolute(p) about [0, ~p, 1] end ;", "axis", "coordinate 'p'"),
    "axis of a dof": ("join b.frame and d.frame with link(p) dof = p || [0, ~t * 1 1/s, 1] end ;", "axis", "time"),
    "motion of another rate": (
        "join b.frame and d.frame with link(p) dof = ~p + q' * 1 s || [0, 0, 1] end ;", "motion", "the rate 'q''"
    ),
    "motion of a measure": (
        "join b.frame and d.frame with link(p) dof = ~p + b.position.x along [1,0,0] end ;",
        "motion", "the measure 'b.position.x'",
    ),
    "pitch": ("join b.frame and d.frame with helical(p) pitch = ~x' * 1 s end ;", "motion", "the rate 'x''"),
    "alpha": ("join b.frame and d.frame with denavit_hartenberg(p) alpha = ~p, theta = p end ;", "joint frame", "'p'"),
    "speed of another rate": ("join b.frame and d.frame with revolute(p) speeds u = ~p' + q' end ;", "speed", "rate 'q''"),
    "speed of another coordinate": (
        "join b.frame and d.frame with revolute(p) speeds u = ~p' * (2 + sin(q)) end ;", "speed", "the coordinate 'q'"
    ),
    "gravity field": ("gravity = [0, ~-x * 1 1/s^2, 0] ;", "gravity", "the coordinate 'x'"),
    "parameter": ("param k = ~2 * q ;", "parameter", "the coordinate 'q'"),
    "initial value": ("init q = ~x * 1 1/m ;", "initial", "the coordinate 'x'"),
    "named frame": ("let tip = ~[x, 0, 0] @ c ;", "frame", "the coordinate 'x'"),
    "end of a spring": ("apply spring stiffness = 1 N/m between ~[q * 1 m, 0, 0] @ b and c ;", "frame", "coordinate 'q'"),
    "point of a force": ("apply force [1, 0, 0] N on ~[t * 1 m/s, 0, 0] @ b ;", "force point", "time"),
    "axes of a force": ("apply force [1, 0, 0] N in ~0 ++ (q || [0,0,1]) @ b on c ;", "force point", "coordinate 'q'"),
    "value of a distance": ("constrain distance b to c = ~1 m + x ;", "distance", "the coordinate 'x'"),
    "radius": ("constrain rolling c.frame radius ~x on earth normal [0,0,1] ;", "rolling", "the coordinate 'x'"),
    "normal": ("constrain rolling c.frame radius 1 m on earth normal [0, ~q, 1] ;", "rolling", "the coordinate 'q'"),
    "through a law": ("law f(a) = a * x ; let d = body mass = ~f(2 kg/m) end ;", "mass", "the coordinate 'x'"),
    "through two laws": (
        "law f(a) = a * g(2) ; law g(a) = a * x ; let d = body mass = ~f(2 kg/m) end ;", "mass", "the coordinate 'x'"
    ),
    "through a definition": ("let s = 2 * x ; let d = body centre = [0, ~s, 0] end ;", "centre", "the coordinate 'x'"),
    "through a vector": ("let s = [x, 0, 0] ; let d = body centre = ~s end ;", "centre", "the coordinate 'x'"),
    "through a rotation": (
        "let s = q || [0,0,1] ; join ~0 ++ s @ b and d.frame with revolute(p) end ;", "joint frame", "coordinate 'q'"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_text_is_refused_where_it_stands(case):
    marked, slot, cause = REFUSED[case]
    body = "" if "let d = body" in marked else "let d = body mass = 1 kg, inertia = 0 end ; "
    joint = "" if "d.frame" in marked or "@ d" in marked else "join earth and d.frame with prismatic(y) end ; "
    text = BODIES + body + joint + marked
    with pytest.raises(TorseurError) as refusal:
        ts.parse(text.replace("~", ""))
    message = str(refusal.value)
    line = BODIES.count("\n") + 1
    column = len(body + joint) + marked.index("~") + 1
    assert message.startswith(
        f"<text>:{line}:{column}: the {SLOTS[slot].what} may depend on {SLOTS[slot].allowed} only"
    )
    assert cause in message
    assert SLOTS[slot].instead in message


X = ts.prismatic("j2", ts.EARTH, ts.body("c", mass=1, inertia=0), "x")
AT_X = X.coordinate("x")


def mechanism(body: ts.Body, **fields) -> ts.Mechanism:
    joint = ts.revolute("j1", ts.EARTH, body, "q")
    return ts.Mechanism("m", bodies=[body, ts.body("c", mass=1, inertia=0)], joints=[joint, X], **fields)


PLAIN = ts.body("b", mass=1, inertia=0)
IN_PYTHON = {
    "mass": (lambda: mechanism(ts.body("b", mass=AT_X * 2, inertia=0)), "body 'b': the mass of a body .*'x'"),
    "mass of time": (lambda: mechanism(ts.body("b", mass=1 + ts.TIME, inertia=0)), "body 'b': the mass .* not on time"),
    "centre": (lambda: mechanism(ts.body("b", mass=1, centre=(0, AT_X, 0), inertia=0)), "body 'b': the centre"),
    "solid": (lambda: mechanism(ts.body("b", solids=[ts.solid("sphere", radius=AT_X, mass=1)])), "body 'b': the size"),
    "gravity": (lambda: mechanism(PLAIN, gravity=(0, AT_X, 0)), "gravity: the gravity may .* parameters and time only"),
    "initial": (lambda: mechanism(PLAIN, initial={"q": AT_X}), "initial value of 'q': .* the coordinate 'x'"),
    "parameter": (
        lambda: mechanism(PLAIN, parameters=[ts.parameter("k", AT_X * 2)]), "parameter 'k': .* the coordinate 'x'"
    ),
    "frame": (lambda: mechanism(PLAIN, frames={"tip": PLAIN.at((AT_X, 0, 0))}), "frame 'tip': the place of a frame"),
    "force": (
        lambda: mechanism(PLAIN, loads=[ts.force("f", PLAIN.at((AT_X, 0, 0)), (1, 0, 0))]), "load 'f': the point"
    ),
    "length outside a spring": (
        lambda: mechanism(PLAIN, loads=[ts.motor("f", "j1", "q", ts.LENGTH)]), "load 'f': .* a spring's own 'length'"
    ),
    "acceleration": (
        lambda: mechanism(PLAIN, loads=[ts.motor("f", "j1", "q", ts.symbol("x''", "m/s^2"))]),
        "load 'f': .* the acceleration 'x'''",
    ),
    "distance": (
        lambda: mechanism(PLAIN, constraints=[ts.distance("d", PLAIN, ts.EARTH, AT_X)]), "constraint 'd': the value"
    ),
    "rolling": (
        lambda: mechanism(PLAIN, constraints=[ts.rolling("r", PLAIN, AT_X)]), "constraint 'r': the radius"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_PYTHON)
def test_python_is_refused_by_name(case):
    attempt, message = IN_PYTHON[case]
    with pytest.raises(TorseurError, match=message):
        attempt()


def test_a_parameter_may_be_called_length():
    k = ts.parameter("length", 2, "m")
    assert mechanism(ts.body("b", mass=1, centre=(k, 0, 0), inertia=0), parameters=[k]).parameters == (k,)


def test_first_frame_of_own_coordinate_becomes_motions():
    """Turned by R and at p(q): moved along Rᵀ x by p, so that the frame keeps its axes."""
    q = ts.revolute("j", ts.EARTH, PLAIN, "q").coordinate("q")
    side = ts.EARTH.at((q * 2, 0, 0), turn(0.5, (0, 0, 1)))
    joint = ts.revolute("j", side, PLAIN, q)
    assert [motion.kind for motion in joint.motions] == ["translation", "rotation"]
    assert joint.kind == "link"
    assert joint.parent.placement.rotation == side.placement.rotation
    assert all(component.is_zero for component in joint.parent.placement.position)


def test_page_has_the_table():
    """docs/language.md states what the code enforces, row by row."""
    rows = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", PAGE.read_text(), re.MULTILINE)
    stated = {what: may for what, may in rows}
    for slot in SLOTS.values():
        assert stated.get(slot.what) == slot.allowed, slot.what
