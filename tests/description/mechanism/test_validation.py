"""A mechanism that contradicts itself is refused where it is made, by the names its user gave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from torseur.algebra.graph import PI, UndeterminedFunction, as_expr, symbol, symbols_of
from torseur.derivation.tree.body_constants import body_inertia
from torseur.description.language import parse, to_text
from torseur.description.mechanism import (
    EARTH,
    Body,
    Coordinate,
    Distance,
    Frame,
    InertiaMatrix,
    Law,
    Mechanism,
    Parameter,
    Rolling,
    Sensor,
    body,
    bushing,
    coordinate_spring,
    fixed,
    force,
    free,
    implied_symbols,
    inertia,
    law,
    motor,
    parameter,
    planar,
    revolute,
    rotation,
    sequence,
    spring,
    turn,
)
from torseur.description.mechanism.joints import ElementaryMotion
from torseur.description.mechanism.quantities import ORIGIN, as_vector
from torseur.errors import MechanismError, TorseurError

A, B = body("a", mass=1), body("b", mass=1)
J = [revolute("j", EARTH, A, "q"), revolute("k", A, B, "r")]
GOOD = {"bodies": [A, B], "joints": J}
F, G = UndeterminedFunction("f", 1), UndeterminedFunction("g", 1)
X = symbol("x")

REFUSED = {
    "two bodies are called 'a'": {"bodies": [A, A, B]},
    "two joints are called 'j'": {"joints": [J[0], replace(J[1], name="j")]},
    "two coordinates are called 'q'": {"joints": [J[0], revolute("k", A, B, "q")]},
    "two parameters are called 'p'": {"parameters": [parameter("p", 1), parameter("p", 2)]},
    "two loads are called 'l'": {"loads": [motor("l", "j", "q", 1)] * 2},
    "a body has an empty name": {"bodies": [A, B, body("")]},
    "cannot be called 'earth'": {"bodies": [A, B, body("earth")]},
    "parameter 't' has the name of a time": {"parameters": [parameter("t", 1)]},
    "coordinate 'q' has the name of a parameter": {"parameters": [parameter("q", 1)]},
    "frame 'a' has the name of a body": {"frames": {"a": Frame("a")}},
    "body 'c' is not joined to anything": {"bodies": [A, B, body("c")]},
    "joint 'k': unknown body 'bb'. Bodies: earth, a, b. Did you mean 'b'?": {"joints": [J[0], revolute("k", A, Frame("bb"), "r")]},
    "joint 'k' joins body 'a' to itself": {"joints": [J[0], revolute("k", A, A, "r")]},
    r"joint 'k': an axis cannot be \[0, 0, 0\]": {"joints": [J[0], revolute("k", A, B, "r", (0, 0, 0))]},
    "joint 'k': coordinate 'r' moves nothing": {"joints": [J[0], sequence("k", A, B, [Coordinate("r")], [])]},
    "unknown motion 'wobble'": {"joints": [J[0], sequence("k", A, B, [], [ElementaryMotion("wobble", as_vector((1, 0, 0), ""), as_expr(1))])]},
    "load 'l': unknown joint 'jj'": {"loads": [motor("l", "jj", "q", 1)]},
    "load 'l' on joint 'j': unknown coordinate 'r'": {"loads": [coordinate_spring("l", "j", "r", stiffness=1)]},
    "load 'l': unknown body 'z'": {"loads": [force("l", Frame("z"), (0, 0, 1))]},
    "load 's': unknown body 'z'": {"loads": [spring("s", A, Frame("z"), stiffness=1)]},
    "load 'u': unknown body 'z'": {"loads": [bushing("u", A, Frame("z"), [1] * 6)]},
    "constraint 'd': unknown body 'z'": {"constraints": [Distance("d", Frame("z"), EARTH, as_expr(1))]},
    "constraint 'w': unknown body 'z'": {"constraints": [Rolling("w", Frame("z"), as_expr(1), ORIGIN)]},
    "sensor 's': unknown body 'z'": {"sensors": [Sensor("s", "position", Frame("z"), "x")]},
    "frame 'f': unknown body 'z'": {"frames": {"f": Frame("z")}},
    "initial state: unknown coordinate 'qq'": {"initial": {"qq": 1}},
    "parameter 'p' is defined in terms of itself": {"parameters": [Parameter(symbol("p"), symbol("p") + 1, "1")]},
    "parameter '[pr]' is defined in terms of itself": {
        "parameters": [Parameter(symbol("p"), 2 * symbol("r0"), "1"), Parameter(symbol("r0"), symbol("p") + 1, "1")]
    },
    "law 'f' is defined in terms of itself": {"laws": [Law(F, (X,), G(X)), Law(G, (X,), F(X))]},
    "law 'sin' has the name of a function": {"laws": [law("sin", ["x"], lambda x: x)]},
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_contradiction(message):
    with pytest.raises(MechanismError, match=message.replace("?", r"\?")):
        Mechanism("m", **(GOOD | REFUSED[message]))


def test_what_is_sound_is_accepted():
    floating = free("base", EARTH, A, *"xyzuvw", speeds="body")
    m = Mechanism(
        "m", bodies=[A, B], joints=[floating, planar("k", A, B, "c", "d", "e")], initial={"x": 1, "base.vx": 2, "c'": 3},
        parameters=[parameter("p", 1), parameter("s", symbol("p") * 2)], laws=[law("f", ["x"], lambda x: x + 1)],
    )  # fmt: skip
    assert m.joint("base") == floating and m.body("b") == B and m.parameter("p").value.value == 1
    assert m.with_values(p=5).parameter("p").value.value == 5
    for lookup in (m.body, m.joint, m.parameter, m.frame):
        with pytest.raises(MechanismError, match="unknown"):
            lookup("nothing")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: body("b", inertia=3), "give a matrix"),
        (lambda: InertiaMatrix((as_expr(0),) * 5), "six components"),
        (lambda: inertia(1, 1, 1, about="tip"), "'frame', 'iframe' or a placement"),
        (lambda: turn(1, (0, 0, 0)), r"cannot be \[0, 0, 0\]"),
        (lambda: Frame("a", base="tip"), "'frame' or 'iframe'"),
        (lambda: Frame("a").at((1, 0, 0)).at((1, 0, 0)), "offset a frame of body 'a'"),
        (lambda: Sensor("s", "speed", EARTH, "x"), "unknown quantity 'speed'"),
        (lambda: Sensor("s", "velocity", EARTH, "w"), "unknown component 'w'"),
        (lambda: spring("s", A, B, stiffness=1, law=PI), "either a law or stiffness"),
        (lambda: bushing("b", A, B, [1] * 5), "six stiffnesses"),
        (lambda: force("f", A, (1, 2)), "three components"),
    ],
)
def test_impossible_parts_are_refused(make, message):
    with pytest.raises(MechanismError, match=message):
        make()


def test_what_is_not_given_has_one_name_everywhere():
    """Oracle: the symbols the tree uses for a body about which nothing is known."""
    unknown = body_inertia(Body("arm"))
    used = symbols_of([as_expr(part) for part in (unknown.mass, *unknown.moment, *unknown.matrix)])
    assert set(used) == set(implied_symbols("arm").values())


def test_laws_replace_their_functions():
    from torseur.description.mechanism import apply_laws

    double, shifted = (
        law("double", ["x"], lambda x: 2 * x),
        law("shifted", ["x"], lambda x: UndeterminedFunction("double", 1)(x) + 1),
    )
    (found,) = apply_laws([UndeterminedFunction("shifted", 1)(X) * 3], [double, shifted])
    assert found is 3 * (2 * X + 1)
    with pytest.raises(MechanismError, match="takes 1 arguments, got 2"):
        apply_laws([UndeterminedFunction("double", 2)(X, X)], [double])


def test_fixed_joints_have_no_coordinates():
    assert fixed("f", EARTH, A).coordinates == () and rotation((0, 0, 1), PI).kind == "rotation"


NEGATIVE = {
    "number": "let b = body mass = -1 kg, inertia = 0 end ;",
    "parameter": "param m = -1 kg ; let b = body mass = 2*m, inertia = 0 end ;",
    "dependent parameter": "param m = 1 kg, k = -m ; let b = body mass = k, inertia = 0 end ;",
    "law": "law f(x) = -x ; let b = body mass = f(1 kg), inertia = 0 end ;",
    "solids": "let b = body sphere radius = 1 m mass = 1 kg sphere radius = 2 m mass = -3 kg end ;",
}


@pytest.mark.parametrize("case", NEGATIVE)
def test_negative_mass_must_be_meant(case):
    text = NEGATIVE[case] + " join earth and b.frame with revolute(q) end ;"
    with pytest.raises(TorseurError, match=r":\d+: body 'b' has a negative mass \(-[123] kg\).*`negative`"):
        parse(text)
    meant = parse(text.replace("= body", "= body negative"))
    assert meant.bodies[0].negative
    assert parse(to_text(meant)) == meant


def test_a_hole_in_a_solid_is_no_negative_mass():
    mechanism = parse("""let b = body sphere radius = 2 m mass = 3 kg sphere radius = 1 m mass = -1 kg end ;
        join earth and b.frame with revolute(q) end ;""")
    assert not mechanism.bodies[0].negative
