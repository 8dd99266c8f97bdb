"""Branches where equations between three slides meet themselves in ways that are known.

Oracle: the algebraic sets that the equations describe: planes and lines, a node, curves that touch, a cone, a cusp, Whitney's umbrella.
"""

from __future__ import annotations

import pytest

import torseur as ts

SLIDES = """mechanism slides ;
param l = 1 m ;
let a = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
let b = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
let c = body mass = 1 kg, centre = 0, inertia = diag(1, 1, 1) end ;
join earth and a.frame as A with prismatic(x) along [1, 0, 0] end ;
join a.frame and b.frame as B with prismatic(y) along [0, 1, 0] end ;
join b.frame and c.frame as C with prismatic(z) along [0, 0, 1] end ;
init x = 0 m, y = 0 m, z = 0 m ;
"""

# equations, finite mobility at the origin, dimensions of the branches through it
KNOWN = {
    "a plane and a line": (("x*y = 0 m^2", "x*z = 0 m^2"), 2, (2, 1)),
    "three planes": (("x*y*z = 0 m^3",), 2, (2, 2, 2)),
    "three axes": (("x*y = 0 m^2", "y*z = 0 m^2", "z*x = 0 m^2"), 1, (1, 1, 1)),
    "a node": (("l*x^2 = y^2*(l + y)", "z = 0 m"), 1, (1, 1)),
    "curves that touch": (("x*(l*x - y^2) = 0 m^3", "z = 0 m"), 1, (1, 1)),
    "an umbrella that crosses itself, and its handle": (("l*x^2 = y^2*z",), 2, (2, 1)),
    "a cone": (("x^2 + y^2 = z^2",), 2, (2,)),
    "a cusp": (("l*x^2 = y^3", "z = 0 m"), 1, (1,)),
    "a point": (("x^2 + y^2 + z^2 = 0 m^2",), 0, ()),
}


@pytest.mark.parametrize("name", KNOWN)
def test_branches(name):
    equations, finite, branches = KNOWN[name]
    rows = "".join(f"constrain {equation} as k{number} ;\n" for number, equation in enumerate(equations))
    report = ts.loops(ts.parse(SLIDES + rows), verify=False)
    assert (report.finite, report.branches) == (finite, branches)
