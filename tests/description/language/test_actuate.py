"""`actuate`: coordinates that motors drive, read, written and refused."""

from __future__ import annotations

import pytest

import torseur as ts
from torseur.errors import MechanismError, TorseurError

ARM = """mechanism arm ;
let a = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join earth and a.frame as A with revolute(q1) end ;
join [1, 0, 0] m @ a and b.frame as B with prismatic(s) along [1, 0, 0] end ;
"""


def test_actuated_coordinates_are_read_and_written_in_order():
    mechanism = ts.parse(ARM + "actuate s, A.q1 ;")
    assert mechanism.actuated == ("s", "q1")
    assert "actuate s, q1 ;" in ts.to_text(mechanism)
    assert ts.parse(ts.to_text(mechanism)) == mechanism
    assert ts.parse(ARM + "actuate s ; actuate q1 ;").actuated == ("s", "q1")
    assert ts.parse(ARM).actuated == ()


@pytest.mark.parametrize(("text", "message"), [
    ("actuate zz ;", "7:9: unknown coordinate 'zz'"), ("actuate s, s ;", "7:12: 's' is actuated twice"),
    ("actuate s' ;", "7:9: expected a coordinate, got the rate"),
])  # fmt: skip
def test_what_cannot_be_actuated_is_refused_with_its_place(text, message):
    with pytest.raises(TorseurError) as refused:
        ts.parse(f"{ARM.rstrip()}\n\n{text}")
    assert message in str(refused.value)


def test_python_refuses_unknown_and_repeated_names():
    plain = ts.parse(ARM)
    with pytest.raises(MechanismError, match="actuated: unknown coordinate 'q'"):
        ts.Mechanism("m", bodies=plain.bodies, joints=plain.joints, actuated=["q"])
    with pytest.raises(MechanismError, match="s"):
        ts.Mechanism("m", bodies=plain.bodies, joints=plain.joints, actuated=["s", "s"])
