"""Report of the orthogonal double pendulum for tests, from its closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sm
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from torseur.presentation.report.page.equation_content import Equation, EquationBlock, Matrix, Origin, Term
from torseur.presentation.report.page.report_content import (
    Check,
    Curve,
    Fact,
    Joint,
    Parameter,
    Plot,
    ReportContent,
    Reproduction,
)
from torseur.presentation.scene.scene import Body, Motion, Trace, View
from torseur.presentation.scene.shapes import Box, Capsule, Cylinder, Sphere
from torseur.presentation.typesetting.formula import Formula, formula, name_formula
from torseur.presentation.typesetting.read_sympy import read_sympy

Array = NDArray[np.float64]
SOURCE = """mechanism double_pendulum "orthogonal double pendulum" ;
param g = 9.81 m/s^2 "gravity", m1 = 4 kg, m2 = 2 kg, r2 = 5 m "elbow distance", l2 = 2 m ;
gravity = [0, -g, 0] ;
"""
VALUES = {"m1": 4.0, "m2": 2.0, "r2": 5.0, "l2": 2.0, "g": 9.81}
t = sm.Symbol("t")
q1, q2 = sm.Function("q1")(t), sm.Function("q2")(t)
m1, m2, r2, l2, g = sm.symbols("m1 m2 r2 l2 g")


def from_sympy(expression: object) -> Formula:
    """A SymPy expression made ready for the page."""
    return formula(read_sympy(expression))


@dataclass(frozen=True)
class Run:
    """Samples of the double pendulum."""

    times: Array
    q: Array
    v: Array
    vdot: Array


def mass_matrix(q: Array) -> Array:
    """Second derivatives of the kinetic energy by the speeds."""
    p = VALUES
    coupling = p["m2"] * p["r2"] * p["l2"] * np.sin(q[1])
    swing = p["m2"] * p["l2"] ** 2
    first = (p["m1"] + p["m2"]) * p["r2"] ** 2 + swing * np.cos(q[1]) ** 2
    return np.array([[first, coupling], [coupling, swing]])


def accelerations(q: Array, v: Array) -> Array:
    """Closed form of the reference case: an arm (m1 at r2) carries a blade (m2 at l2) across its end."""
    p = VALUES
    s, c = np.sin(q[1]), np.cos(q[1])
    swing = p["m2"] * p["l2"] ** 2
    pull = p["g"] * ((p["m1"] + p["m2"]) * p["r2"] * np.sin(q[0]) - p["m2"] * p["l2"] * np.cos(q[0]) * c)
    force = np.array(
        [
            2 * swing * v[0] * v[1] * s * c - p["m2"] * p["r2"] * p["l2"] * c * v[1] ** 2 - pull,
            -swing * v[0] ** 2 * s * c - p["g"] * p["m2"] * p["l2"] * np.sin(q[0]) * s,
        ]
    )
    return np.linalg.solve(mass_matrix(q), force)


def run(end: float = 20.0, samples: int = 501) -> Run:
    """The motion from rest at q1 = q2 = pi/4."""
    times = np.linspace(0.0, end, samples)
    answer = solve_ivp(
        lambda _, y: np.concatenate([y[2:], accelerations(y[:2], y[2:])]),
        (0, end),
        [np.pi / 4, np.pi / 4, 0, 0],
        t_eval=times,
        rtol=1e-10,
        atol=1e-10,
        method="DOP853",
    )
    q, v = answer.y[:2].T, answer.y[2:].T
    return Run(times, q, v, np.array([accelerations(a, b) for a, b in zip(q, v, strict=True)]))


def energies(motion: Run) -> tuple[Array, Array]:
    """Kinetic and potential energy in joules."""
    p, (a, b), (u, w) = VALUES, motion.q.T, motion.v.T
    swing = p["m2"] * p["l2"] ** 2
    inertia = (p["m1"] + p["m2"]) * p["r2"] ** 2 + swing * np.cos(b) ** 2
    kinetic = 0.5 * (inertia * u**2 + swing * w**2) + p["m2"] * p["r2"] * p["l2"] * u * w * np.sin(b)
    force_function = p["g"] * ((p["m1"] + p["m2"]) * p["r2"] * np.cos(a) + p["m2"] * p["l2"] * np.sin(a) * np.cos(b))
    return kinetic, -force_function


def quaternion(axis: int, angle: Array) -> Array:
    """Unit quaternions about a coordinate axis."""
    turn = np.zeros((*np.shape(angle), 4))
    turn[..., 0], turn[..., axis + 1] = np.cos(angle / 2), np.sin(angle / 2)
    return turn


def compose(a: Array, b: Array) -> Array:
    """Product of quaternions."""
    w, u = a[..., :1], a[..., 1:]
    x, v = b[..., :1], b[..., 1:]
    return np.concatenate([w * x - np.sum(u * v, axis=-1, keepdims=True), w * v + x * u + np.cross(u, v)], axis=-1)


def rotated(q: Array, v: Array) -> Array:
    """Vectors turned by quaternions."""
    u = q[..., 1:]
    first = np.cross(u, v)
    return v + 2 * (q[..., :1] * first + np.cross(u, first))


def poses(motion: Run) -> Motion:
    """Ground, arm and blade: the arm hangs along -y from the origin, the blade swings across its end."""
    arm = quaternion(2, motion.q[:, 0])
    blade = compose(compose(arm, quaternion(0, np.array(np.pi / 2)) + 0 * arm), quaternion(2, motion.q[:, 1]))
    end = rotated(arm, np.array([0.0, -VALUES["r2"], 0.0]) + np.zeros((len(arm), 3)))
    positions = np.stack([0 * end, 0 * end, end], axis=1)
    quaternions = np.stack([quaternion(0, 0 * motion.times), arm, blade], axis=1)
    return Motion(motion.times, positions, quaternions)


def double_pendulum(names: tuple[str, str, str] = ("earth", "arm", "blade")) -> ReportContent:
    """The complete report of the orthogonal double pendulum."""
    earth, arm, blade = names
    motion = run()
    kinetic, potential = energies(motion)
    drift = float(np.max(np.abs(kinetic + potential - kinetic[0] - potential[0])))
    least = min(float(np.linalg.eigvalsh(mass_matrix(q))[0]) for q in motion.q)
    return ReportContent(
        title="Orthogonal double pendulum",
        summary=("2 bodies", "2 degrees of freedom", "tree topology"),
        description="An arm swings about a horizontal axis; at its end a blade swings about the arm's axis.",
        bodies=_bodies(earth, arm, blade),
        joints=(
            Joint("shoulder", "revolute", "R", earth, arm, "q1 about z"),
            Joint("elbow", "revolute", "R", arm, blade, "q2 about z"),
        ),
        freedom=(
            Fact("joint coordinates", "2", "one for each revolute joint"),
            Fact("independent constraints", "0", "no loop, no condition on the coordinates"),
            Fact("degree of freedom", "2", "the same in every configuration"),
        ),
        equations=_equations(arm, blade, motion),
        parameters=(
            Parameter(name_formula("m1"), "mass of the arm", "4", "kg", (arm,)),
            Parameter(name_formula("m2"), "mass of the blade", "2", "kg", (blade,)),
            Parameter(name_formula("r2"), "elbow distance", "5", "m", (arm,)),
            Parameter(name_formula("l2"), "distance of the blade's centre", "2", "m", (blade,)),
            Parameter(name_formula("g"), "gravity", "9.81", "m s⁻²"),
        ),
        motion=poses(motion),
        view=View(
            up=(0.0, 1.0, 0.0),
            azimuth=-1.02,
            elevation=0.24,
            start=1.2,
            traces=(Trace(blade, (-2.0, 0.0, 0.0), "the tip"),),
        ),
        plots=_plots(motion, kinetic, potential, arm, blade),
        checks=(
            Check(
                True,
                f"Energy balance: the total energy is constant within {drift:.1e} J",
                f"over 20 s; the kinetic energy reaches {kinetic.max():.1f} J",
            ),
            Check(True, "Mass matrix positive definite over the run", f"smallest eigenvalue {least:.3f} kg m²"),
        ),
        reproduction=Reproduction(
            commands=("torseur report double_pendulum.lsd --until 20 -o report.html",),
            source_name="double_pendulum.lsd",
            source=SOURCE,
            versions=(("torseur", "0.1.0"), ("numpy", np.__version__)),
            date="1 January 2025",
        ),
    )


def _bodies(earth: str, arm: str, blade: str) -> tuple[Body, ...]:
    length = VALUES["r2"]
    return (
        Body(
            earth,
            "fixed",
            (
                Box((0, 0.52, 0), (1.9, 0.12, 1.9)),
                Box((0, 0.25, 0.34), (0.34, 0.5, 0.14), shade=0.85),
                Box((0, 0.25, -0.34), (0.34, 0.5, 0.14), shade=0.85),
            ),
            fixed=True,
        ),
        Body(
            arm,
            "4 kg",
            (
                Cylinder((0, 0, -0.5), (0, 0, 0.5), 0.17, shade=0.8),
                Capsule((0, 0, 0), (0, 0.42 - length, 0), 0.14),
                Cylinder((0, 0.62 - length, 0), (0, 0.3 - length, 0), 0.24, shade=0.8),
            ),
        ),
        Body(
            blade,
            "2 kg",
            (
                Cylinder((0, 0, -0.28), (0, 0, 0.28), 0.23),
                Capsule((0, 0, 0), (-2, 0, 0), 0.1),
                Sphere((-2, 0, 0), 0.26),
            ),
        ),
    )


def _plots(motion: Run, kinetic: Array, potential: Array, arm: str, blade: str) -> tuple[Plot, ...]:
    coordinates = tuple(
        Curve(f"q{k + 1}", motion.q[:, k], name_formula(f"q{k + 1}"), body) for k, body in enumerate((arm, blade))
    )
    speeds = tuple(
        Curve(f"q{k + 1}'", motion.v[:, k], name_formula(f"q{k + 1}", dots=1), body)
        for k, body in enumerate((arm, blade))
    )
    energy = (
        Curve("kinetic", kinetic),
        Curve("potential", potential),
        Curve("total", kinetic + potential, dashed=True),
    )
    return (
        Plot("Joint angles", "rad", motion.times, coordinates),
        Plot("Joint speeds", "rad/s", motion.times, speeds),
        Plot("Energy", "J", motion.times, energy),
    )


def _equations(arm: str, blade: str, motion: Run) -> tuple[EquationBlock, ...]:
    """Terms of the reference equations, each with the body whose mass it carries."""
    shoulder = [
        m1 * r2**2 * q1.diff(t, 2),
        m2 * r2**2 * q1.diff(t, 2),
        m2 * l2**2 * sm.cos(q2) ** 2 * q1.diff(t, 2),
        m2 * r2 * l2 * sm.sin(q2) * q2.diff(t, 2),
        m2 * r2 * l2 * sm.cos(q2) * q2.diff(t) ** 2,
        -m2 * l2**2 * sm.sin(2 * q2) * q1.diff(t) * q2.diff(t),
        m1 * g * r2 * sm.sin(q1),
        m2 * g * r2 * sm.sin(q1),
        -m2 * g * l2 * sm.cos(q1) * sm.cos(q2),
    ]
    elbow = [
        m2 * l2**2 * q2.diff(t, 2),
        m2 * r2 * l2 * sm.sin(q2) * q1.diff(t, 2),
        m2 * l2**2 * sm.sin(2 * q2) * q1.diff(t) ** 2 / 2,
        m2 * g * l2 * sm.sin(q1) * sm.sin(q2),
    ]
    zero = from_sympy(0)
    expanded = tuple(
        Equation(zero, tuple(_term(e, arm, blade, motion) for e in terms), f"At the {joint}", "N m")
        for joint, terms in (("shoulder", shoulder), ("elbow", elbow))
    )
    return (
        _matrix_form(arm, blade),
        EquationBlock("Expanded form", "every term, by origin", equations=expanded),
    )


def _term(expression: sm.Expr, arm: str, blade: str, motion: Run) -> Term:
    body = blade if expression.has(m2) else arm
    kind = (
        "Inertia"
        if expression.has(q1.diff(t, 2), q2.diff(t, 2))
        else "Weight"
        if expression.has(g)
        else "Centrifugal and Coriolis force"
    )
    return Term(from_sympy(expression), Origin(f"{kind} of the {body}", (body,)), _values(expression, motion))


def _values(expression: sm.Expr, motion: Run) -> Array:
    slots = sm.symbols("a1 a2 v1 v2 x1 x2")
    order = (q1.diff(t, 2), q2.diff(t, 2), q1.diff(t), q2.diff(t), q1, q2)
    flat = expression.subs(dict(zip(order, slots, strict=True))).subs({sm.Symbol(k): v for k, v in VALUES.items()})
    numbers = np.concatenate([motion.vdot, motion.v, motion.q], axis=1).T
    return sm.lambdify(slots, flat, "numpy")(*numbers) + 0 * motion.times


def _matrix_form(arm: str, blade: str) -> EquationBlock:
    mass = Matrix(name_formula("M", bold=True), tuple(tuple(name_formula(f"M_{i}{j}") for j in (1, 2)) for i in (1, 2)))
    rates = Matrix(name_formula("q", dots=2, bold=True), ((name_formula("q1", dots=2),), (name_formula("q2", dots=2),)))
    forces = Matrix(name_formula("f", bold=True), ((name_formula("f1"),), (name_formula("f2"),)))

    def entry(name: str, *terms: tuple[sm.Expr, str]) -> Equation:
        return Equation(name_formula(name), tuple(Term(from_sympy(e), Origin(f"From the {b}", (b,))) for e, b in terms))

    folded = (
        entry("M_11", (m1 * r2**2, arm), (m2 * r2**2, blade), (m2 * l2**2 * sm.cos(q2) ** 2, blade)),
        entry("M_12", (m2 * r2 * l2 * sm.sin(q2), blade)),
        entry("M_22", (m2 * l2**2, blade)),
        entry(
            "f1",
            (m2 * l2**2 * sm.sin(2 * q2) * q1.diff(t) * q2.diff(t), blade),
            (-m2 * r2 * l2 * sm.cos(q2) * q2.diff(t) ** 2, blade),
            (-m1 * g * r2 * sm.sin(q1), arm),
            (-m2 * g * r2 * sm.sin(q1), blade),
            (m2 * g * l2 * sm.cos(q1) * sm.cos(q2), blade),
        ),
        entry(
            "f2",
            (-m2 * l2**2 * sm.sin(2 * q2) * q1.diff(t) ** 2 / 2, blade),
            (-m2 * g * l2 * sm.sin(q1) * sm.sin(q2), blade),
        ),
    )
    return EquationBlock("Compact form", "matrix, entries folded", line=(mass, rates, "=", forces), folded=folded)
