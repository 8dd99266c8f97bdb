"""Bad text: one message per fault with its place, what was expected, and the nearest name."""

from __future__ import annotations

import re

import pytest

from torseur.derivation.tree import build_tree
from torseur.description.language import LanguageError, diagnose, load, parse
from torseur.description.mechanism import implied_symbols
from torseur.errors import TorseurError

FOUR_BAR = """mechanism four_bar ;
let crank   = body mass = 1 kg, centre = 0, inertia = 0 end ;
let coupler = body mass = 1 kg, centre = 0, inertia = 0 end ;
let rocker  = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and crank.frame as a with revolute(q1) end ;
join crank.frame and coupler.frame as b with revolute(q2) end ;
join earth and rocker.frame as c with revolute(q3) end ;
"""

FAULTS = {
    # Names
    "join [1, 0, 0] ++ 1 @ copler and rocker.frame with revolute(q4) end ;": (
        "8:23: unknown body 'copler'. Bodies: crank, coupler, rocker. Did you mean 'coupler'?"
    ),
    "join crank.frame and coupler.frme with fixed end ;": "8:22: unknown frame 'coupler.frme'.",
    "init q11 = 1 ;": "8:6: unknown coordinate 'q11'. Coordinates: q1, q2, q3, q1', q2', q3'. Did you mean 'q1'?",
    "param x = 2*thta ;": "8:13: unknown name 'thta'. Names: x, q1, q2, q3.",
    "param x = sinn(1) ;": "8:11: unknown function 'sinn'.",
    "join earth and crank.frame with revolut(z) end ;": "8:33: unknown joint 'revolut'.",
    "let b = body sphre radius = 1 m end ;": "8:14: unknown solid 'sphre'.",
    "let b = body mas = 1 kg end ;": (
        "8:14: body 'b' has no 'mas'. It has: mass, centre, iframe, inertia. Did you mean 'mass'?"
    ),
    "apply force [0,0,1] on joint hinge ;": "8:30: unknown joint 'hinge'. Joints: a, b, c.",
    "measure v = speed.x of crank ;": "8:13: unknown quantity 'speed'.",
    "apply torque [0,0,crnk.rotation.z * 1 N*m*s] on crank ;": "8:19: unknown body 'crnk'.",
    "apply spring stiffnes = 1 N/m between crank and rocker ;": "8:14: spring 'spring_crank_rocker' has no 'stiffnes'.",
    # Things given twice or to the wrong name
    "let crank = body end ;": "8:5: 'crank' is defined twice, first at four_bar.lsd:2:5.",
    "let earth = body end ;": "8:5: a body cannot be called 'earth': that is the ground.",
    "param t = 1 s ;": "8:7: a parameter cannot be called 't': that is time.",
    "param a = 1, a = 2 ;": "8:14: 'a' is defined twice, first at four_bar.lsd:8:7.",
    "init q1 = 1, q1 = 2 ;": "8:14: the initial value of 'q1' is given twice.",
    "gravity = 0 ; gravity = 0 ;": "8:15: gravity is given twice.",
    "law sin(x) = x ;": "8:5: a law cannot be called 'sin'",
    "let b = body mass = 1 kg, mass = 2 kg end ;": "8:27: 'mass' of body 'b' is given twice.",
    # Dimensions
    "let b = body rod length = 2.5 kg, mass = 1 kg end ;": "8:27: expected a length, got 2.5 kg (mass).",
    "param x = 1 m + 2 kg ;": "8:17: cannot combine 1 m (length) and 2 kg (mass).",
    "param x = sin(3 m) ;": "8:15: expected a number or angle, got 3 m (length).",
    "param x = 2^(3 s) ;": "8:13: expected a number or angle, got (3 s) (time).",
    "apply force [0, 2 N*m, 0] on crank ;": "8:17: expected a force, got 2 N*m (moment or energy).",
    "apply force 3 N on q1 ;": "8:7: a force does not act on coordinate 'q1'.",
    "gravity = [0, -9.81 m/s, 0] ;": "8:15: expected an acceleration, got -9.81 m/s (speed).",
    "init q1' = 3 m/s ;": "8:12: expected a rate, got 3 m/s (speed).",
    "constrain q1 = 3 m ;": "8:1: the two sides differ",
    "param x = 2 zorg ;": "8:11: unknown unit 'zorg'.",
    "param x = 3 in N/mm ;": "8:11: write the unit after the number: 3 N/mm.",
    "param l = 1 m ; param x in kg ; param y = l + x ;": "8:47: cannot combine l (length) and x (mass).",
    # Numbers
    "param x = 2 + 1/(3 - 3) ;": "8:15: ",
    "param x = sqrt(-2) ;": "8:11: sqrt(-2) has no value",
    "param x = log(0) ;": "8:11: log(0) has no value",
    "param x = 9^9^9^9 ;": "8:13: 9^9^9 has no value: the exponent is too large.",
    "param x = 1e300 * 1e300 ;": "8:11: 1e300 * 1e300 is too large a number.",
    "param x = 1e999 ;": "8:11: this number has too many digits or too large a power of ten.",
    # Shapes of things
    "apply force [1, 2] N on crank ;": "8:13: a vector has three components, got 2.",
    "apply force 3 N on crank ;": "8:13: expected a vector such as [1, 0, 0], got 3 N.",
    "join earth and 3 with fixed end ;": "8:16: expected a frame such as [0, 0, 1] @ body, got 3.",
    "join [0,0,1] ++ 2 @ crank and coupler.frame with fixed end ;": "8:17: expected a rotation",
    "join earth and crank.frame with revolute(x, y) end ;": "8:33: a revolute joint has 1 coordinate, got 2.",
    "join earth and crank.frame with revolute(x) about [0,0,0] end ;": "8:51: an axis cannot be [0, 0, 0].",
    "join earth and crank.frame with revolute(x) along [0,0,1] end ;": "8:45: joint 'earth_crank' has no 'along'. It has: about, within.",
    "join earth and crank.frame with planar(x, y, z) force = 1 N end ;": "8:49: joint 'earth_crank' has 3 coordinates.",
    "join earth and crank.frame with prismatic(x) torque = 1 N*m end ;": "8:46: coordinate 'x' is a length: a force acts on it",
    "join earth and crank.frame with link(x, y) dof = x || [0,0,1] end ;": "8:1: joint 'earth_crank': coordinate 'y' moves nothing.",
    "join crank.frame and crank.frame with fixed end ;": "8:1: joint 'crank_crank' joins 'crank' to itself.",
    "join earth and crank.frame with free(x,y,z,a,b,c) angles xxz end ;": "8:33: joint 'earth_crank': angles 'xxz'",
    "join earth and crank.frame with helical(x) end ;": "8:33: a helical joint needs its pitch",
    "join earth and crank.frame with free(x,y,z,a,b,c) speeds u, v, w = velocity in rocker end ;": "8:80: the speeds of a joint",
    "let b = body mass = 1 kg end ;": "8:5: body 'b' is not joined to anything.",
    "let b = body inertia = diag(1, 2, 2) N end ;": "8:29: expected a moment of inertia, got 1 (force).",
    "join earth and crank.frame with spherical(x, y, z) angles quaternion end ;": (
        "8:33: a spherical joint with angles quaternion has 4 coordinates, got 3."
    ),
    "join earth and crank.frame with revolute(x) rest = 3 deg end ;": "8:45: joint 'earth_crank' has a rest but no stiffness.",
    "apply spring rest = 3 deg on q1 ;": "8:21: spring 'spring_on_q1' has a rest but no stiffness.",
    "apply spring rest = 3 cm, damping = 1 N*s/m between crank and rocker ;": (
        "8:21: spring 'spring_crank_rocker' has a rest but no stiffness."
    ),
    "let b = body rod length = 1 m end ;": "8:14: a rod needs either a density or a mass.",
    "let b = body inertia = diag(1, 2) end ;": "8:24: expected an inertia",
    "let b = body inertia = [[1,2,0],[3,1,0],[0,0,1]] end ;": "8:34: an inertia matrix is symmetric",
    "constrain q1'' = 0 ;": "8:11: there is no q1''",
    "param x = 1 ; constrain x' = 0 ;": "8:25: there is no x': only coordinates have rates.",
    "let f = [0,0,1] m @ crank ; let g = [0,0,1] m @ f ;": "8:49: 'f' is a frame; place others from a body.",
    # Circles
    "param a = b, b = 2*a ;": "8:7: parameter 'a' is defined in terms of itself.",
    "law f(x) = g(x) ; law g(x) = f(x) ;": "8:5: law 'f' is defined in terms of itself.",
    "let u = v ; let v = 2*u ; param x = v ;": "'",
    "let b = body mass = 2*b.mass end ; join earth and b.frame with fixed end ;": "8:5: the mass of 'b' is defined in terms of itself.",
    # Grammar
    "lett b = body end ;": "8:1: 'lett' does not open a statement.",
    "join earth and crank.frame wth fixed end ;": "8:28: expected 'as' or 'with', got 'wth'. Did you mean 'with'?",
    "join earth and crank.frame with revolute(x) abot [0,0,1] end ;": "Did you mean 'about' instead of 'abot'?",
    "param x = (1 + ;": "8:16: expected a value, got ';'.",
    "param x = 0.2*sin(1) m ;": "got 'm'. If 'm' is a unit, it follows a number, as in 0.2 m*sin(q).",
    "body c mass = 1 kg ;": "8:1: 'body' does not open a statement.",
    "spring s ;": "Write: apply spring stiffness = 1 N/m, rest = 1 m between BODY and BODY ;",
    "let c = body mass = 1,5 kg end ;": "Decimals have a point: 1.5.",
    "let c = body inertia = diag(1, 2, 3) kg m^2 end ;": "Units are joined by a sign: kg*m, N/m.",
    "join earth and crank.frame with revolute(x) about z end ;": "'z' is not a vector here. That axis is [0, 0, 1].",
    "# a note": "8:1: unexpected character '#'. Comments are written between (* and *).",
    "// a note": "Comments are written between (* and *).",
    "param x = 3 in ;": "8:16: expected a value, got ';'. An inch is written 'inch'",
    "apply spring stiffness = 5 N/m, rest = 2 in, damping = 1 N*s/m between crank and rocker ;": "An inch is written 'inch'",
    "param x = 3 kg m^2 ;": "got 'm'. Units are joined by a sign: kg*m.",
    "load s ;": "Write: apply force [0, 0, 1 N] on BODY ;",
    "param x = 3 kg y = 2 ;": "8:16: expected ',', ';', 'in' or a string, got 'y'.",
    "param x = 3": "8:12: expected an operator, ',', ';', 'in' or a string at the end of the text.",
    'param x = 3 "never': "8:13: this string is never closed.",
    "(* (* *) param x = 3 ;": "8:1: this comment is never closed.",
    "param § = 3 ;": "8:7: unexpected character '§'.",
    # Tables
    "table f = [0, 1], [1, 2] ;": "8:7: table 'f' has 2 points; degree 3 needs at least 4.",
    "table f = [0, 1], [1] , [2, 2], [3, 1], [4, 4] ;": "8:19: a point of a table is [x, y].",
    'join earth and crank.frame with screw(z) table "x.csv" end ;': "8:48: table 'x.csv' cannot be found",
}  # fmt: skip


@pytest.mark.parametrize("text", FAULTS)
def test_fault(text):
    found = [str(d).removeprefix("four_bar.lsd:") for d in diagnose(FOUR_BAR + text, "four_bar.lsd")]
    assert any(FAULTS[text] in message for message in found), found


def test_the_text_without_the_faults_is_fine():
    assert diagnose(FOUR_BAR) == []


def test_independent_faults_are_reported_together_in_order():
    text = FOUR_BAR + "init q9 = 1 ;\nparam x = 2 kg + 1 m ;\nlett b ;\napply force [1,2] on crank ;\nparam y = 1/0 ;\n"
    with pytest.raises(LanguageError) as caught:
        parse(text, "bad.lsd")
    lines = [d.line for d in caught.value.diagnostics]
    assert lines == [8, 9, 10, 11, 12]
    assert str(caught.value).splitlines() == [str(d) for d in caught.value.diagnostics]
    assert isinstance(caught.value, TorseurError)


def test_a_fault_does_not_bring_others_with_it():
    """A body whose statement cannot be read is not reported as unknown everywhere else."""
    text = "let arm = body mass = = 3 kg end ;\njoin earth and arm.frame with revolute(q) end ;\napply force [0,0,arm.velocity.x * 1 N*s/m] on arm ;"
    assert [d.line for d in diagnose(text)] == [1]


def test_a_misspelt_body_is_not_also_missing_a_joint():
    text = "let arm = body mass = 3 kg end ;\njoin earth and amr.frame with revolute(q) end ;"
    assert [d.line for d in diagnose(text)] == [2]


def test_xml_is_told_in_one_message():
    (fault,) = diagnose("\n <sdf version='1.6'><model name='m'/></sdf>", "m.sdf")
    assert "this is XML" in fault.message and ".urdf" in fault.hint


def test_positions_cover_the_fault():
    text = FOUR_BAR + "join crank.frame and coupleur.frame with fixed end ;"
    (fault,) = diagnose(text)
    line = text.splitlines()[fault.line - 1]
    assert line[fault.column - 1 : fault.end_column - 1] == "coupleur.frame"


def test_missing_semicolon_resumes_at_the_next_statement():
    found = diagnose("let a = body end\nlet b = body mas = 3 kg end ;\njoin earth and b.frame with fixed end ;")
    assert [(d.line, d.message.split(".")[0]) for d in found] == [
        (2, "expected ';' or a string, got 'let'"),
        (2, "body 'b' has no 'mas'"),
    ]


def test_text_as_windows_writes_it(tmp_path):
    (tmp_path / "notepad.lsd").write_bytes(
        b"\xef\xbb\xbf" + FOUR_BAR.replace("\n", "\r\n").encode() + b"param x = 1/0 ;"
    )
    with pytest.raises(LanguageError, match=r"notepad\.lsd:8:11: "):
        load(tmp_path / "notepad.lsd")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(LanguageError, match="cannot be read"):
        load(tmp_path / "absent.lsd")
    with pytest.raises(LanguageError, match="cannot be read"):
        load(tmp_path)
    (tmp_path / "bytes.lsd").write_bytes(b"param x = \xff ;")
    with pytest.raises(LanguageError, match="not UTF-8"):
        load(tmp_path / "bytes.lsd")
    (tmp_path / "large.lsd").write_bytes(b" " * 5_000_000)
    with pytest.raises(LanguageError, match="limit"):
        load(tmp_path / "large.lsd")


@pytest.mark.parametrize(("character", "plain"), [("’", "'"), ("“", '"'), ("−", "-"), ("·", "*"), ("²", "^2")])
def test_typographic_characters_are_named(character, plain):
    with pytest.raises(LanguageError, match=rf"unexpected character '{character}'.*Write .*{re.escape(plain)} instead"):
        parse(f"param a = 3 {character} ;")


PENDULUM = "join earth and b.frame as j with revolute(q) end ;"


def test_a_parameter_does_not_shadow_what_a_body_says():
    """b.mass in a formula is the body's mass; a parameter of that name gives it only where the body leaves it open."""
    with pytest.raises(LanguageError, match=r"1:7: body 'b' already has its mass"):
        parse("param b.mass = 2 kg ; let b = body mass = 1 kg, inertia = 0 end ; " + PENDULUM)
    mechanism = parse("param b.mass = 2 kg ; let b = body inertia = 0, centre = 0 end ; " + PENDULUM)
    assert mechanism.parameters[0].symbol is implied_symbols("b")["b.mass"]
    assert build_tree(mechanism).layout.parameter_names == ["b.mass"]
