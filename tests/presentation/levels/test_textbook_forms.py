"""Textbook systems: the printed equations are the published ones, no longer than these, by every formalism.

Oracle: the equations as textbooks print them (Goldstein, Landau and Lifshitz, Greenwood, and the control literature for
the Furuta pendulum), typed here and compared in numbers. A common factor of an equation is free: some divide by it.
"""

from __future__ import annotations

import math
import re
from random import Random

import pytest
import sympy

import torseur as ts
from presentation.levels.course_systems import COURSE_SYSTEMS
from presentation.levels.engineering_systems import ENGINEERING_SYSTEMS
from presentation.levels.textbook_systems import FURTHER_SYSTEMS
from torseur.derivation.formalisms import FORMALISMS
from torseur.errors import UnsupportedError
from torseur.presentation.levels.levels import statements
from torseur.presentation.levels.object_statements import object_statements
from torseur.presentation.levels.write_equations import write_statements
from torseur.presentation.typesetting.plain_text import plain_text

SYSTEMS = {
    "double pendulum, absolute angles": (
        """mechanism double ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, l1 = 1 m, l2 = 1 m ;
        gravity = [0,-g,0] ;
        let p1 = body mass = m1, centre = 0, inertia = 0 end ;
        let p2 = body mass = m2, centre = 0, inertia = 0 end ;
        join earth and p1.frame as j1 with link(a) dof1 = a || [0,0,1], dof2 = [0,-l1,0], dof3 = -a || [0,0,1] end ;
        join p1.frame and p2.frame as j2 with link(b) dof1 = b || [0,0,1], dof2 = [0,-l2,0] end ;""",
        [
            "(m1+m2)*l1^2*a'' + m2*l1*l2*b''*cos(a-b) + m2*l1*l2*b'^2*sin(a-b) + (m1+m2)*g*l1*sin(a)",
            "m2*l2^2*b'' + m2*l1*l2*a''*cos(a-b) - m2*l1*l2*a'^2*sin(a-b) + m2*g*l2*sin(b)",
        ],
    ),
    "double pendulum, relative angles": (
        """mechanism double ;
        param g = 9.81 m/s^2, m1 = 1 kg, m2 = 1 kg, l1 = 1 m, l2 = 1 m ;
        gravity = [0,-g,0] ;
        let p1 = body mass = m1, centre = [0,-l1,0], inertia = 0 end ;
        let p2 = body mass = m2, centre = [0,-l2,0], inertia = 0 end ;
        join earth and p1.frame as j1 with revolute(a) about [0,0,1] end ;
        join [0,-l1,0] @ p1 and p2.frame as j2 with revolute(b) about [0,0,1] end ;""",
        [
            "(m1+m2)*l1^2*a'' + m2*l2^2*(a''+b'') + m2*l1*l2*(2*a''+b'')*cos(b) - m2*l1*l2*(2*a'+b')*b'*sin(b)"
            "+ (m1+m2)*g*l1*sin(a) + m2*g*l2*sin(a+b)",
            "m2*l2^2*(a''+b'') + m2*l1*l2*a''*cos(b) + m2*l1*l2*a'^2*sin(b) + m2*g*l2*sin(a+b)",
        ],
    ),
    "elastic pendulum": (
        """mechanism elastic ;
        param g = 9.81 m/s^2, m = 1 kg, k = 40 N/m, l0 = 1 m ;
        gravity = [0, -g, 0] ;
        let rod = body mass = 0, inertia = 0 end ;
        let bob = body mass = m, centre = 0, inertia = 0 end ;
        join earth and rod.frame as pivot with revolute(theta) about [0,0,1] end ;
        join rod.frame and bob.frame as slide with prismatic(r) along [0,-1,0] stiffness = k, rest = l0 end ;""",
        ["r*theta'' + 2*r'*theta' + g*sin(theta)", "m*r'' - m*r*theta'^2 + k*(r - l0) - m*g*cos(theta)"],
    ),
    "Furuta pendulum": (
        """mechanism furuta ;
        param g = 9.81 m/s^2, J = 0.01 kg*m^2, m = 0.1 kg, L = 0.2 m, l = 0.15 m, Jp = 0.001 kg*m^2 ;
        gravity = [0, 0, -g] ;
        let arm = body mass = 0, inertia = diag(0,0,J) end ;
        let pendulum = body mass = m, centre = [0, 0, l], inertia = diag(Jp, Jp, 0) end ;
        join earth and arm.frame as base with revolute(phi) about [0,0,1] end ;
        join [L,0,0] @ arm and pendulum.frame as hinge with revolute(theta) about [1,0,0] end ;""",
        [
            "(J + m*L^2)*phi'' + (Jp+m*l^2)*phi''*sin(theta)^2 - m*l*L*theta''*cos(theta) + m*l*L*theta'^2*sin(theta)"
            "+ 2*(Jp+m*l^2)*phi'*theta'*sin(theta)*cos(theta)",
            "(Jp+m*l^2)*theta'' - m*l*L*phi''*cos(theta) - (Jp+m*l^2)*phi'^2*sin(theta)*cos(theta) - m*g*l*sin(theta)",
        ],
    ),
    "bead on a turning hoop": (
        """mechanism hoop ;
        param g = 9.81 m/s^2, m = 0.1 kg, R = 0.5 m, W = 8 rad/s ;
        gravity = [0,0,-g] ;
        let bead = body mass = m, centre = 0, inertia = 0 end ;
        join earth and bead.frame as wire
            with link(theta) dof1 = W*t || [0,0,1], dof2 = theta || [0,1,0], dof3 = [0,0,-R] end ;""",
        ["R*theta'' + g*sin(theta) - R*W^2*sin(theta)*cos(theta)"],
    ),
    "spherical pendulum": (
        """mechanism spherical ;
        param g = 9.81 m/s^2, m = 1 kg, l = 1 m ;
        gravity = [0,0,-g] ;
        let ring = body mass = 0, inertia = 0 end ;
        let bob = body mass = m, centre = [0,0,-l], inertia = 0 end ;
        join earth and ring.frame as turn with revolute(phi) about [0,0,1] end ;
        join ring.frame and bob.frame as swing with revolute(theta) about [1,0,0] end ;""",
        [
            "phi''*sin(theta)^2 + 2*phi'*theta'*sin(theta)*cos(theta)",
            "l*theta'' - l*phi'^2*sin(theta)*cos(theta) + g*sin(theta)",
        ],
    ),
    "gyroscope in gimbals": (
        """mechanism gyroscope ;
        param A = 0.02 kg*m^2, C = 0.03 kg*m^2 ;
        let outer = body mass = 0, inertia = 0 end ;
        let inner = body mass = 0, inertia = 0 end ;
        let rotor = body mass = 1 kg, centre = 0, inertia = diag(A, A, C) end ;
        join earth and outer.frame as o with revolute(psi) about [0,0,1] end ;
        join outer.frame and inner.frame as i with revolute(theta) about [1,0,0] end ;
        join inner.frame and rotor.frame as r with revolute(phi) about [0,0,1] end ;""",
        [
            "A*psi''*sin(theta)^2 + C*psi''*cos(theta)^2 + C*phi''*cos(theta) - C*phi'*theta'*sin(theta)"
            "+ 2*(A - C)*psi'*theta'*sin(theta)*cos(theta)",
            "A*theta'' + (C - A)*psi'^2*sin(theta)*cos(theta) + C*phi'*psi'*sin(theta)",
            "phi'' + psi''*cos(theta) - psi'*theta'*sin(theta)",
        ],
    ),
    "cylinder rolling in a cylinder": (
        """mechanism cylinder ;
        param g = 9.81 m/s^2, m = 1 kg, R = 2 m, r = 0.5 m ;
        gravity = [0,-g,0] ;
        let roller = body mass = m, centre = 0, inertia = diag(0, 0, 1/2*m*r^2) end ;
        join earth and roller.frame as bowl with link(phi)
            dof1 = phi || [0,0,1], dof2 = [0, r - R, 0], dof3 = -phi*R/r || [0,0,1] end ;""",
        ["3/2*(R - r)*phi'' + g*sin(phi)"],
    ),
    "planar vehicle in its own velocities": (
        """mechanism planar ;
        param m = 1200 kg, J = 1500 kg*m^2 ;
        let chassis = body mass = m, centre = 0, inertia = diag(0, 0, J) end ;
        join earth and chassis.frame as ground
            with planar(x, y, psi) speeds Vx, Vy = velocity in chassis, r = psi' end ;""",
        ["Vx' - Vy*r", "Vy' + Vx*r", "r'"],
    ),
    # Sandel (2007): a psi'' + a'/2 psi'^2 = -m g l sin(alpha) cos(psi) with a = A (phi_x^2 + phi_y^2) + C phi_z^2; four
    # terms, since phi_x^2 + phi_y^2 = sin(alpha)^2. Here cos(psi)^2 is multiplied into its 1 + cos(alpha)^2 tan(psi)^2.
    "Cardan joint that swings a shaft": (
        """mechanism cardan ;
        param g = 9.81 m/s^2, alpha = 30 deg, m = 2 kg, l = 0.5 m, A = 0.6 kg*m^2, C = 0.2 kg*m^2 ;
        gravity = [0, -g, 0] ;
        let shaft = body mass = m, centre = [0, 0, l], inertia = diag(A, A, C) about frame end ;
        join earth and shaft.frame as cross with link(psi)
            dof1 = psi || [0,0,1], dof2 = alpha || [0,1,0], dof3 = atan2(-(cos(alpha)*sin(psi)), cos(psi)) || [0,0,1]
        end ;""",
        [
            "A*psi''*sin(alpha)^2"
            " + C*psi''*sin(alpha)^4*cos(alpha)^2*sin(psi)^4/(cos(psi)^2 + cos(alpha)^2*sin(psi)^2)^2"
            " + 2*C*psi'^2*sin(alpha)^4*cos(alpha)^2*sin(psi)^3*cos(psi)/(cos(psi)^2 + cos(alpha)^2*sin(psi)^2)^3"
            " + m*g*l*sin(alpha)*cos(psi)"
        ],
    ),
    "Cardan joint with a symmetric shaft": (
        """mechanism cardan ;
        param alpha = 30 deg, C = 0.2 kg*m^2 ;
        let shaft = body mass = 1 kg, centre = 0, inertia = diag(0, 0, C) end ;
        join earth and shaft.frame as cross with link(psi)
            dof1 = psi || [0,0,1], dof2 = alpha || [0,1,0], dof3 = atan2(-(cos(alpha)*sin(psi)), cos(psi)) || [0,0,1]
        end ;""",
        None,  # only one text for all formalisms, and no inverse function in it
    ),
}


ALL = SYSTEMS | FURTHER_SYSTEMS | ENGINEERING_SYSTEMS | COURSE_SYSTEMS


@pytest.mark.parametrize("system", ALL)
def test_printed_equations_are_those_of_the_textbook_and_no_longer(system):
    text, published = ALL[system]
    printed = rows(ts.derive(ts.parse(text)))
    if published is None:
        assert "atan2" not in "".join(printed)
        return
    for ours, theirs in zip(printed, published, strict=True):
        for seed in range(3):
            first, second, third = (ratio(ours, theirs, Random(seed), Random(k)) for k in range(3))
            assert first != 0 and second == pytest.approx(first) == pytest.approx(third), (ours, theirs)
        assert length(ours) <= length(theirs) + 3, (ours, theirs)  # at most one factor that the textbook divides by


def ratio(ours: str, theirs: str, place: Random, motion: Random) -> float:
    """The quotient of two equations at a random place of parameters and coordinates, in a random motion."""
    values: dict[str, float] = {}
    for name in dict.fromkeys(WORDS.findall(f"{theirs} {ours}")):
        moves = name.endswith("'") or name.startswith(("lambda_", "F", "tau", "road"))
        values[name] = (motion if moves else place).uniform(0.3, 1.3)
    return value_at(ours, values) / value_at(theirs, values)


def value_at(text: str, values: dict[str, float]) -> float:
    names = {name: f"n{k}_" for k, name in enumerate(values)}
    code = re.sub(r"(F\d?|tau\d?|road)\(t\)", r"\1", text).replace("^", "**")
    code = WORDS.sub(lambda found: names.get(found[0], found[0]), code)
    return float(
        eval(code, {"sin": math.sin, "cos": math.cos, "sqrt": math.sqrt} | {names[n]: v for n, v in values.items()})
    )


WORDS = re.compile(r"\b(?!(?:sin|cos|sqrt)\b)[A-Za-z_]\w*'*")


def rows(equations: ts.Equations) -> list[str]:
    """The equations of motion, then the constraints and their rates."""
    return [plain_text(one.right) for one in statements(equations, "scalar") if one.name.startswith(("R_", "Phi_"))]


@pytest.mark.parametrize(
    "system", [*SYSTEMS, *(pytest.param(one, marks=pytest.mark.slow) for one in ALL if one not in SYSTEMS)]
)
def test_every_formalism_prints_the_same_text(system):
    mechanism = ts.parse(ALL[system][0])
    texts = {}
    for formalism in FORMALISMS:
        try:
            equations = ts.derive(mechanism, formalism)
        except UnsupportedError:
            continue
        for level in ("matrix", "scalar"):
            texts.setdefault(level, set()).add(ts.write_equations(equations, level))
    assert all(len(written) == 1 for written in texts.values())


def residuals(equations: ts.Equations) -> list[str]:
    return [plain_text(one.right) for one in statements(equations, "scalar") if one.name.startswith("R_")]


def as_sympy(text: str) -> sympy.Expr:
    code = text.replace("^", "**").replace("''", "_dd").replace("'", "_d")
    names = {name: sympy.Symbol(name) for name in re.findall(r"[A-Za-z_]\w*", code) if name not in ("sin", "cos")}
    return sympy.expand_trig(sympy.sympify(code, locals=names))


def length(text: str) -> int:
    """How many symbols and functions are read."""
    return len(re.findall(r"[A-Za-z]\w*", text))


BEAM = """mechanism atwood ;
param g = 9.81 m/s^2, m1 = 2 kg, m2 = 1 kg, R = 0.1 m, J = 0.01 kg*m^2 ;
gravity = [0,-g,0] ;
let pulley = body mass = 0, inertia = diag(0,0,J) end ;
let left = body mass = m1, centre = 0, inertia = 0 end ;
let right = body mass = m2, centre = 0, inertia = 0 end ;
join earth and pulley.frame as axle with revolute(theta) about [0,0,1] end ;
join [-R,0,0] @ earth and left.frame as rope1 with prismatic(x) along [0,-1,0] end ;
join [R,0,0] @ earth and right.frame as rope2 with prismatic(y) along [0,-1,0] end ;
constrain x = R*theta as winding ;
constrain y = -R*theta as unwinding ;
"""


def test_constraints_stand_beside_the_equations_in_every_format():
    equations = ts.derive(ts.parse(BEAM))
    for form, sign in (
        ("text", "R*theta"),
        ("latex", r"R \, \theta"),
        ("sympy", "R*theta"),
        ("mathml", "θ"),
        ("tex", "theta"),
    ):
        for level in ("matrix", "scalar", "recursive"):
            written = ts.write_equations(equations, level, form)
            assert (sign in written and "winding" in written and "multiplier" in written) or form == "mathml", (
                form,
                level,
            )


def test_multipliers_are_eliminated_from_atwoods_machine():
    """Oracle: (m1 + m2 + J/R²) x'' = (m1 - m2) g."""
    from torseur.presentation.levels.forms.reduced_form import reduced_statements

    equations = ts.derive(ts.parse(BEAM), "lagrange")
    first, *rest = reduced_statements(equations, ["x'"])
    assert plain_text(first.right) == "(m1 + m2 + J/R^2)*x'' + (m2 - m1)*g"
    assert {
        plain_text(one.left): plain_text(one.right) for one in rest if one.remark.meaning == "by the constraints"
    } == {
        "theta'": "x'/R",
        "y'": "-x'",
    }
    (solved, *_) = reduced_statements(equations, ["x'"], solve=True)
    exact = as_sympy("(m1 - m2)*g/(m1 + m2 + J/R^2)")
    assert plain_text(solved.left) == "x''" and sympy.simplify(as_sympy(plain_text(solved.right)) - exact) == 0


# Åström and Murray, Feedback Systems (2008), section 2.1, where gravity acts on an inverted pendulum on a cart.
CART_POLE_SOLVED = {
    "x''": "((J + m*l^2)*(F(t) - b*x' + m*l*theta'^2*sin(theta)) - m^2*l^2*g*sin(theta)*cos(theta))"
    "/((M + m)*(J + m*l^2) - m^2*l^2*cos(theta)^2)",
    "theta''": "m*l*((M + m)*g*sin(theta) - (F(t) - b*x' + m*l*theta'^2*sin(theta))*cos(theta))"
    "/((M + m)*(J + m*l^2) - m^2*l^2*cos(theta)^2)",
}


def test_accelerations_are_single_fractions():
    from torseur.presentation.levels.forms.reduced_form import reduced_statements

    listed = reduced_statements(ts.derive(ts.parse(ALL["cart-pole"][0])), solve=True)
    for one in listed[:2]:
        ours, theirs = plain_text(one.right), CART_POLE_SOLVED[plain_text(one.left)]
        assert ratio(ours, theirs, Random(0), Random(1)) == pytest.approx(1), ours
        assert length(ours) <= length(theirs) + 5, ours  # a factor multiplied out


ROLLING_COIN = """mechanism coin ;
    param g = 9.81 m/s^2, m = 1 kg, R = 0.1 m, A = 0.0025 kg*m^2, C = 0.005 kg*m^2 ;
    gravity = [0, 0, -g] ;
    let disc = body mass = m, centre = 0, inertia = diag(A, A, C) end ;
    join earth and disc.frame as place with link(x, y, psi, theta, phi) dof1 = [x, y, R*sin(theta)],
        dof2 = psi || [0, 0, 1], dof3 = theta || [1, 0, 0], dof4 = phi || [0, 0, 1] end ;
    constrain 0 = x'*cos(psi) + y'*sin(psi) + R*(phi' + psi'*cos(theta)) as along ;
    constrain 0 = -x'*sin(psi) + y'*cos(psi) + R*theta'*sin(theta) as across ;
    init theta = 60 deg ;"""


def test_constraints_are_solved_together_where_that_never_divides_by_zero():
    """Oracle: the rolling coin in Euler's angles; of x' and y' the determinant is 1, one by one they divide by cos psi."""
    from torseur.presentation.levels.forms.reduced_form import reduced_statements

    listed = reduced_statements(ts.derive(ts.parse(ROLLING_COIN)), solve=True)
    published = {
        "psi''": "theta'*(C*phi' + (C - 2*A)*psi'*cos(theta))/(A*sin(theta))",
        "theta''": "((A - C - m*R^2)*psi'^2*sin(theta)*cos(theta) - (C + m*R^2)*phi'*psi'*sin(theta)"
        " - m*g*R*cos(theta))/(A + m*R^2)",
    }
    written = {plain_text(one.left): plain_text(one.right) for one in listed}
    for name, theirs in published.items():
        assert ratio(written[name], theirs, Random(0), Random(1)) == pytest.approx(1)
        assert length(written[name]) <= length(theirs)
    assert not any("psi" in plain_text(one.left) for one in listed if one.remark.meaning == "assumed not to vanish")


def test_the_rolling_disc_has_its_classical_equations():
    """Oracle: the disc on a plane, yaw'' sin(lean) = 2 lean' spin' and its two companions (m and r drop out but in g/r)."""
    from torseur.description import library
    from torseur.presentation.levels.forms.reduced_form import reduced_statements

    listed = reduced_statements(ts.derive(library.load("rolling_disc")), solve=True)
    solved = {plain_text(one.left): as_sympy(plain_text(one.right).replace("abs", "")) for one in listed[:3]}
    lean, w, s, c = sympy.Symbol("lean"), *sympy.symbols("lean_d spin_d yaw_d")
    g, r = sympy.symbols("g r")
    sine, cosine = sympy.sin(lean), sympy.cos(lean)
    expected = {
        "yaw''": 2 * w * s / sine,
        "lean''": -sympy.Rational(6, 5) * s * c * sine - c**2 * sine * cosine - sympy.Rational(4, 5) * g / r * cosine,
        "spin''": sympy.Rational(5, 3) * w * c * sine - 2 * w * s * cosine / sine,
    }
    assert all(sympy.simplify(solved[name] - value) == 0 for name, value in expected.items())


def test_sympy_objects_satisfy_lagranges_equations():
    """Oracle: d/dt ∂T/∂q' - ∂T/∂q + ∂V/∂q, differentiated by SymPy from the energies alone."""
    form = ts.derive(ts.parse(SYSTEMS["Furuta pendulum"][0]), "hamilton").sympy()
    t = sympy.Symbol("t")
    for q, speed, residual in zip(form.coordinates, form.speeds, form.residuals, strict=True):
        lagrange = sympy.diff(sympy.diff(form.kinetic_energy, speed), t) - sympy.diff(form.kinetic_energy, q)
        assert sympy.simplify(lagrange + sympy.diff(form.potential_energy, q) - residual) == 0
    matrix = form.residuals.jacobian(form.accelerations)
    assert sympy.simplify(matrix - form.mass_matrix) == sympy.zeros(2, 2)
    from sympy.physics.mechanics import dynamicsymbols

    assert form.coordinates == tuple(dynamicsymbols("phi theta"))


@pytest.mark.parametrize("system", [name for name, (_, published) in SYSTEMS.items() if published is not None])
def test_lagranges_steps_lead_to_the_equations(system):
    """Oracle: dp/dt - ∂L/∂q = Q, put together by SymPy from what is shown, is the published equation."""
    equations = ts.derive(ts.parse(SYSTEMS[system][0]), "lagrange")
    if equations.layout.rates != equations.layout.speeds:
        return  # quasi-velocities: the steps are those of the coordinates
    shown = {one.name: one for one in object_statements(equations.objects)}

    def of(group: str, name: str) -> sympy.Expr:
        one = shown.get(f"{group}[{name}]")
        return as_sympy(plain_text(one.right)) if one else sympy.Integer(0)

    for name, ours in zip(equations.layout.coordinate_names, residuals(equations), strict=True):
        steps = (
            of("rates of the momenta", name) - of("gradient of the Lagrangian", name) - of("generalised forces", name)
        )
        assert is_zero(steps - as_sympy(ours))


def is_zero(expression: sympy.Expr) -> bool:
    """Whether an expression vanishes at random places, to many digits."""
    chance = Random(5)
    symbols = sorted(expression.free_symbols, key=str)
    places = [{x: sympy.Rational(chance.randint(30, 130), 101) for x in symbols} for _ in range(3)]
    return all(abs(sympy.N(expression.subs(place), 30, chop=True)) < 1e-25 for place in places)


def test_cyclic_coordinates_have_conserved_momenta():
    """Oracle: a gyroscope in gimbals keeps p_psi and p_phi (Landau and Lifshitz, Mechanics, §35)."""
    equations = ts.derive(ts.parse(SYSTEMS["gyroscope in gimbals"][0]), "hamilton")
    assert set(equations.objects["conserved momenta"]) == {"psi", "phi"}
    listed = object_statements(equations.objects)
    assert not any(one.auxiliary for one in listed), "everything is short enough to be read without names"


def test_kanes_forces_add_up_to_nothing():
    """Oracle: F_r + F*_r = 0 is the published equation."""
    equations = ts.derive(ts.parse(SYSTEMS["elastic pendulum"][0]), "kane")
    shown = {one.name: as_sympy(plain_text(one.right)) for one in object_statements(equations.objects)}
    for speed, ours in zip(equations.layout.speed_names, residuals(equations), strict=True):
        total = shown[f"generalised active forces[{speed}]"] + shown[f"generalised inertia forces[{speed}]"]
        assert sympy.simplify(total + as_sympy(ours)) == 0


@pytest.mark.parametrize("form", ["latex", "tex", "mathml", "sympy", "omml"])
def test_objects_are_written_in_every_format(form):
    equations = ts.derive(ts.parse(SYSTEMS["Furuta pendulum"][0]), "lagrange")
    written = write_statements(equations, object_statements(equations.objects), form)
    assert "theta" in written or "θ" in written
    if form in ("latex", "tex"):
        assert r"\[" not in written and written.count("{") == written.count("}") and r"\begin{align*}" in written


TETHER = """mechanism tether ;
param g = 9.81 m/s^2, m = 1 kg, k = 9 N/m, h = 1 m, V0 = 1 m/s ;
gravity = [0,-g,0] ;
let bead = body mass = m, centre = 0, inertia = 0 end ;
join earth and bead.frame as wire with prismatic(x) along [1,0,0] force = -k*asin(x/h)*sqrt(x/h)*h/x'*V0 end ;
init x = 0.5 m, x' = 1 m/s ;
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALL["Cardan joint that swings a shaft"][0], {"cos(alpha)^2 + sin(alpha)^2*cos(psi)^2: assumed not to vanish"}),
        (TETHER, {"x': assumed not to vanish", "x/h: assumed positive", "x/h: assumed between -1 and 1"}),
        (ALL["double pendulum, absolute angles"][0], set()),
        (ALL["ball and beam"][0], set()),  # divided by R, which a reader sees
    ],
)
def test_what_formulas_divide_by_is_said(text, said):
    for level in ("scalar", "matrix"):
        listed = statements(ts.derive(ts.parse(text)), level)
        shown = {f"{plain_text(one.left)}: {one.remark.meaning}" for one in listed if "assumed" in one.remark.meaning}
        assert shown == said


def test_a_free_body_on_a_quaternion_has_newtons_equations():
    """Oracle: m a = F in earth axes, where R Rᵀ = 1 on the unit sphere of the quaternion alone."""
    from torseur.description import library

    listed = statements(ts.derive(library.load("ball_on_turntable"), "kane"), "scalar")
    assert [plain_text(one.right) for one in listed[:3]] == [
        "m*x'' + lambda_rolling_x",
        "m*y'' + lambda_rolling_y",
        "m*(z'' + g) + lambda_height",
    ]
    assert "1 - e0^2 - e1^2 - e2^2 - e3^2" in {plain_text(one.right) for one in listed}


LADDER = """mechanism ladder ;
param g = 9.81 m/s^2, m = 1 kg, l = 2 m ;
gravity = [0, -g, 0] ;
let rod = body mass = m, centre = 0, inertia = diag(0, 0, m*l^2/12) end ;
join earth and rod.frame as free with planar(x, y, theta) end ;
constrain x = l/2*sin(theta) as floor ;
constrain x^2 + y^2 = l^2/4 as circle ;
init theta = 30 deg ;
"""


def test_constraints_of_the_user_have_units():
    """Oracle: λ times the residual's rate is a power."""
    shown = ts.write_equations(ts.derive(ts.parse(LADDER)), "scalar")
    for said in ("'floor', in m ", "its rate, in m/s ", "'floor', in N ", "'circle', in m^2 ", "'circle', in N/m "):
        assert said in shown


def test_hamiltonian_is_written_as_in_textbooks():
    """Oracle: p²/2m + p_θ²/(2 m r²) + k (r - l0)²/2 - m g r cos θ."""
    equations = ts.derive(ts.parse(SYSTEMS["elastic pendulum"][0]), "hamilton")
    (shown,) = (plain_text(one.right) for one in object_statements(equations.objects) if one.name == "Hamiltonian")
    assert "p_r^2/(2*m)" in shown and re.search(r"p_\w+\^2/\(2\*m\*r\^2\)", shown)
    assert re.search(r"1/2\*k\*\(r - \w+\)\^2", shown) and ".r" not in shown


def test_hamiltonian_of_the_double_pendulum_is_one_fraction():
    """Oracle: the Hamiltonian of courses, whose denominator is 2 m2 l1² l2² (m1 + m2 sin²(a - b))."""
    published = (
        "(m2*l2^2*p_a^2 + (m1+m2)*l1^2*p_b^2 - 2*m2*l1*l2*p_a*p_b*cos(a-b))/(2*m2*l1^2*l2^2*(m1 + m2*sin(a-b)^2))"
        " - (m1+m2)*g*l1*cos(a) - m2*g*l2*cos(b)"
    )
    objects = ts.derive(ts.parse(SYSTEMS["double pendulum, absolute angles"][0]), "hamilton").objects
    (ours,) = (plain_text(one.right) for one in object_statements(objects) if one.name == "Hamiltonian")
    assert ratio(ours, published, Random(0), Random(1)) == pytest.approx(1)
    assert length(ours) <= length(published), ours
