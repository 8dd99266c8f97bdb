"""A synthetic walking machine of 20 moving bodies with a loop; motion and formulas are made up."""

from __future__ import annotations

import numpy as np
import sympy as sm

from presentation.report.samples import Array, compose, from_sympy, quaternion, rotated
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
from torseur.presentation.scene.shapes import Box, Capsule, Cylinder, Line, Sphere
from torseur.presentation.typesetting.formula import name_formula

SAMPLES = 501
LEGS = {
    "front_left": (0.45, 0.22),
    "front_right": (0.45, -0.22),
    "rear_left": (-0.45, 0.22),
    "rear_right": (-0.45, -0.22),
}
Link = tuple[str, str, int, tuple[float, float, float], Array]  # body, parent, axis, place on the parent, angles


def links(times: Array) -> list[Link]:
    """The chain of every body: four legs of three, an arm of four, a tail of three, under one trunk."""
    made: list[Link] = []
    for number, (leg, (x, y)) in enumerate(LEGS.items()):
        swing = np.sin(4 * times + number * np.pi)
        made.append((f"{leg}_hip", "trunk", 0, (x, y, -0.05), 0.15 * swing))
        made.append((f"{leg}_thigh", f"{leg}_hip", 1, (0.0, 0.08 if y > 0 else -0.08, 0.0), 0.5 + 0.45 * swing))
        made.append(
            (
                f"{leg}_shank",
                f"{leg}_thigh",
                1,
                (0.0, 0.0, -0.42),
                -1.0 + 0.35 * np.cos(4 * times + number * np.pi),
            )
        )
    parent, place = "trunk", (0.5, 0.0, 0.12)
    for number, body in enumerate(("arm_base", "upper_arm", "forearm", "gripper")):
        angle = 0.5 * np.sin(1.3 * times + number) + (0.0, -0.7, 1.3, 0.3)[number]
        made.append((body, parent, 2 if number == 0 else 1, place, angle))
        parent, place = body, ((0.0, 0.0, 0.1), (0.0, 0.0, 0.4), (0.0, 0.0, 0.35), (0.0, 0.0, 0.1))[number]
    parent, place = "trunk", (-0.6, 0.0, 0.05)
    for number in (1, 2, 3):
        made.append((f"tail_{number}", parent, 2, place, 0.5 * np.sin(3 * times - number)))
        parent, place = f"tail_{number}", (-0.28, 0.0, 0.0)
    return made


def shapes(body: str) -> tuple[object, ...]:
    """How a body of the walker looks."""
    if body.endswith("_hip"):
        return (Cylinder((0, -0.07, 0), (0, 0.07, 0), 0.07, shade=0.85),)
    if body.endswith("_thigh"):
        return (Capsule((0, 0, 0), (0, 0, -0.42), 0.05), Sphere((0, 0, 0), 0.07, shade=0.85))
    if body.endswith("_shank"):
        return (Capsule((0, 0, 0), (0, 0, -0.4), 0.035), Sphere((0, 0, -0.42), 0.05))
    if body.startswith("tail"):
        return (Capsule((0, 0, 0), (-0.28, 0, 0), 0.04),)
    length = {"arm_base": 0.1, "upper_arm": 0.4, "forearm": 0.35, "gripper": 0.1}[body]
    return (
        Capsule((0, 0, 0), (0, 0, length), 0.045),
        Cylinder((0, -0.06, 0), (0, 0.06, 0), 0.06, shade=0.85),
    )


def walker() -> ReportContent:
    """The report of the walker."""
    times = np.linspace(0.0, 10.0, SAMPLES)
    chain = links(times)
    trunk = Body(
        "trunk",
        "18 kg",
        (
            Box((0, 0, 0), (1.2, 0.36, 0.22)),
            Box((0.2, 0, 0.16), (0.4, 0.2, 0.1), shade=0.85),
            Line(((-0.5, 0.18, 0.12), (-0.5, -0.18, 0.12), (-0.3, -0.18, 0.12))),
        ),
    )
    moving = tuple(Body(name, f"{0.4 + 0.1 * n:.1f} kg", shapes(name)) for n, (name, *_) in enumerate(chain))  # type: ignore[arg-type]
    bodies = (Body("earth", "fixed", fixed=True), trunk, *moving)
    joints = (
        Joint("float", "free", "F", "earth", "trunk", "six coordinates"),
        *(_joint(link) for link in chain),
        Joint("grip", "spherical", "S", "gripper", "tail_3", "3 conditions", closes_loop=True),
    )
    angles = tuple(
        Curve(f"angle of {name}", angle, name_formula(f"q{n + 7}"), name) for n, (name, *_, angle) in enumerate(chain)
    )
    rates = tuple(Curve(f"speed of {c.label[9:]}", np.gradient(c.values, times), None, c.body) for c in angles)
    return ReportContent(
        title="Walking machine with an arm and a tail",
        summary=("20 bodies", "22 degrees of freedom", "1 loop"),
        bodies=bodies,
        joints=joints,
        freedom=(
            Fact("joint coordinates", "25", "6 of the free trunk and 19 hinges"),
            Fact("independent constraints", "3"),
            Fact("degree of freedom", "22"),
        ),
        warnings=("The loop gripper–tail is closed by a ball joint; the cut was chosen at 'grip'.",),
        equations=_equations(chain),
        parameters=tuple(
            Parameter(name_formula(f"{b.name}.mass"), f"mass of {b.name}", b.detail[:-3], "kg", (b.name,))
            for b in bodies[1:]
        ),
        motion=_motion(times, chain),
        view=View(
            azimuth=-0.9,
            elevation=0.35,
            traces=(Trace("gripper", (0, 0, 0.1)), Trace("tail_3", (-0.28, 0, 0))),
        ),
        plots=(
            Plot("Joint angles", "rad", times, angles),
            Plot("Joint speeds", "rad/s", times, rates),
            Plot(
                "Power",
                "W",
                times,
                (Curve("motors", 40 * np.sin(times) ** 2), Curve("friction", -3 + 0 * times)),
            ),
        ),
        checks=(
            Check(True, "Mass matrix positive definite over the run"),
            Check(False, "Loop closed within 1e-09 m", "the largest gap is 2.1e-06 m, at 3.42 s"),
        ),
        reproduction=Reproduction(("torseur report walker.lsd -o walker.html",)),
    )


def _joint(link: Link) -> Joint:
    body, parent, axis, *_ = link
    return Joint(f"{body}_hinge", "revolute", "R", parent, body, f"axis {'xyz'[axis]}")


def _motion(times: Array, chain: list[Link]) -> Motion:
    zero, still = np.zeros((SAMPLES, 3)), quaternion(0, 0 * times)
    place = {"trunk": zero + np.stack([0.35 * times, 0.03 * np.sin(4 * times), 0.8 + 0.02 * np.cos(8 * times)], axis=1)}
    turn = {"trunk": quaternion(1, 0.04 * np.sin(8 * times))}
    for body, parent, axis, at, angle in chain:
        place[body] = place[parent] + rotated(turn[parent], np.array(at) + zero)
        turn[body] = compose(turn[parent], quaternion(axis, angle))
    order = ["trunk", *(body for body, *_ in chain)]
    return Motion(
        times,
        np.stack([zero, *(place[b] for b in order)], axis=1),
        np.stack([still, *(turn[b] for b in order)], axis=1),
    )


def _equations(chain: list[Link]) -> tuple[EquationBlock, ...]:
    size = 25
    t = sm.Symbol("t")
    nonzero = np.array([[i < 6 or j < 6 or (i - 6) // 3 == (j - 6) // 3 for j in range(size)] for i in range(size)])
    rows = tuple(
        tuple(name_formula(f"M_{i}_{j}") if nonzero[i, j] else from_sympy(0) for j in range(size)) for i in range(size)
    )
    mass = Matrix(name_formula("M", bold=True), rows)
    column = Matrix(name_formula("v", dots=1, bold=True), tuple((name_formula(f"v{i}", dots=1),) for i in range(size)))
    force = Matrix(name_formula("f", bold=True), tuple((name_formula(f"f{i}"),) for i in range(size)))
    equations = []
    for n, (body, *_) in enumerate(chain):
        q, p = sm.Function(f"q{n + 7}")(t), sm.Function(f"q{n + 6}")(t)
        m, length, g = sm.Symbol(f"{body}.mass"), sm.Symbol(f"l{n}"), sm.Symbol("g")
        terms = [
            (m * length**2 * q.diff(t, 2), body),
            (m * length * sm.cos(q - p) * p.diff(t, 2), body),
            (m * g * length * sm.sin(q), body),
        ]
        terms += [(-sm.Symbol(f"k{n}") * (q - p) / (1 + length**2), None)]
        shown = tuple(
            Term(
                from_sympy(e),
                Origin(f"Inertia and weight of {b}", (b,))
                if b
                else Origin(f"Spring in {body}_hinge", (), (f"{body}_hinge",)),
            )
            for e, b in terms
        )
        equations.append(Equation(from_sympy(0), shown, f"At {body}_hinge"))
    return (
        EquationBlock("Compact form", "25 coordinates", line=(mass, column, "=", force)),
        EquationBlock("Expanded form", f"{len(equations)} equations", equations=tuple(equations)),
    )
