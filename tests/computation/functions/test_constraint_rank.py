"""Accelerations where constraints follow from each other, are rounding noise, or stand for missing masses.

Oracle: the equations M v' + Cᵀ λ = f, C v' = γ in forty digits, by singular values; ranks are known by construction.
"""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import RUNNERS
from torseur.algebra.graph import as_expr, evaluate
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.functions.function_requests import programs_of
from torseur.derivation.equations import motion_values
from torseur.description import library
from torseur.description.mechanism import TIME

DIGITS = 40
SAME = mpmath.mpf("1e-11")  # what counts as zero in forty digits: axes themselves are given in sixteen


class Truth:
    """The equations of a mechanism at states on its constraints, in many digits."""

    def __init__(self, equations) -> None:
        self.equations, self.layout = equations, equations.layout
        self.p = motion_values(equations, {})

    def of(self, expressions, q, v):
        symbols = (*self.layout.coordinates, *self.layout.speeds, *self.layout.parameters, TIME)
        values = dict(zip(symbols, [*q, *v, *map(mpmath.mpf, self.p.values()), mpmath.mpf(0)], strict=True))
        return [mpmath.mpf(x) for x in evaluate([as_expr(x) for x in expressions], values)]

    def rows(self, q, v):
        constraints = self.equations.constraints
        flat = self.of([entry for c in constraints for entry in c.row], q, v)
        return mpmath.matrix(len(constraints), len(v)) + mpmath.matrix(np.array(flat).reshape(len(constraints), -1))

    def state(self, q, v):
        """The state on the constraints next to this one."""
        q, v = ([mpmath.mpf(float(x)) for x in part] for part in (q, v))
        for _ in range(8):
            gap = mpmath.matrix(self.of([c.residual for c in self.equations.constraints], q, v))
            move = solved(self.rows(q, v), gap)[0]
            q = [a - b for a, b in zip(q, move, strict=True)]
        rows = self.rows(q, v)
        excess = solved(rows, rows * mpmath.matrix(v))[0]
        return q, [a - b for a, b in zip(v, excess, strict=True)]

    def accelerations(self, q, v):
        """v', λ with NaN where it could be anything, and the rank of the constraints."""
        e, n = self.equations, len(v)
        mass = self.of([x for row in e.mass_matrix for x in row], q, v)
        force = self.of([a - b for a, b in zip(e.loads, e.bias, strict=True)], q, v)
        gamma = self.of([c.gamma for c in e.constraints], q, v)
        rows = self.rows(q, v)
        whole = mpmath.zeros(n + rows.rows)
        for i in range(n):
            for j in range(n):
                whole[i, j] = mass[i * n + j]
            for k in range(rows.rows):
                whole[i, n + k] = whole[n + k, i] = rows[k, i]
        x, free = solved(whole, mpmath.matrix([*force, *gamma]))
        assert all(abs(free[i, k]) < SAME for i in range(n) for k in range(free.cols)), "v' is not determined"
        multipliers = [
            mpmath.nan if any(abs(free[n + k, j]) > 1e-8 for j in range(free.cols)) else x[n + k]
            for k in range(rows.rows)
        ]
        return np.array(x[:n], dtype=float), np.array(multipliers, dtype=float), rows.rows - free.cols


def solved(matrix, right):
    """The least solution, and the vectors that the matrix takes to zero as columns."""
    tall = matrix.T * matrix
    values, vectors = mpmath.eigsy(tall)
    largest = max(abs(value) for value in values)
    kept = [k for k in range(len(values)) if values[k] > SAME * SAME * largest]
    b = matrix.T * right
    x = mpmath.zeros(matrix.cols, 1)
    for k in kept:
        column = vectors[:, k]
        x += column * ((column.T * b)[0] / values[k])
    rest = [k for k in range(len(values)) if k not in kept]
    free = mpmath.zeros(matrix.cols, len(rest))
    for j, k in enumerate(rest):
        free[:, j] = vectors[:, k]
    return x, free


def oblique(seed):
    """Text of vectors turned by a rotation without any right angle; the identity for seed 0."""
    rotation = np.eye(3)
    if seed:
        rotation = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))[0]

    def turned(x, y=0.0, z=0.0):
        return "[" + ", ".join(f"({float(c)!r})" for c in rotation @ [x, y, z]) + "]"

    return turned


def text_of(name, seed):
    w = oblique(seed)
    x, z = w(1), w(0, 0, 1)
    start = f"mechanism {name} ; gravity = {w(1.5, -9.4, 0.8)} ;\n"

    def rod(body, length):
        return f"let {body} = body rod length = {length} m, mass = {1 + length} kg along {x} end ;\n"

    def hinge(where, first, place, second, at="1", about=z, name="revolute"):
        left = f"{place} ++ 1 @ {first}" if place else first
        right = f"{at} ++ 1 @ {second}" if at != "1" else f"{second}.frame"
        return f"join {left} and {right} as {where} with {name}(q{where}) about {about} end ;\n"

    four_bar = (
        rod("crank", 0.4) + rod("coupler", 1.0) + rod("rocker", 0.8)
        + hinge("A", "earth", "", "crank") + hinge("B", "crank", w(0.4), "coupler") + hinge("D", "earth", w(1.2), "rocker")
    )  # fmt: skip
    if name == "four_bar":
        return start + four_bar + hinge("C", "coupler", w(1.0), "rocker", w(0.8)) + "init qA = 100 deg, qA' = 2 rad/s ;"
    if name == "parallelogram":
        bars = rod("a", 0.4) + rod("b", 0.4) + rod("c", 0.4) + rod("top", 1.2)
        posts = "".join(hinge(f"P{k}", "earth", w(0.6 * k), b) for k, b in enumerate("abc"))
        ends = hinge("Q0", "a", w(0.4), "top")
        ends += "".join(hinge(f"Q{k}", "top", w(0.6 * k), "abc"[k], w(0.4)) for k in (1, 2))
        return (
            start
            + bars
            + posts
            + ends
            + "init qP0 = 70 deg, qP1 = 70 deg, qP2 = 70 deg, qQ0 = -70 deg, qP0' = 2 rad/s ;"
        )
    if name == "slider_crank":
        parts = rod("crank", 0.3) + rod("bar", 0.9) + "let block = body mass = 2 kg end ;\n"
        slide = f"join earth and block.frame as S with prismatic(s) along {x} end ;\n"
        joints = hinge("A", "earth", "", "crank") + hinge("B", "crank", w(0.3), "bar") + slide
        return (
            start
            + parts
            + joints
            + hinge("C", "bar", w(0.9), "block", w(0, 0, 0))
            + "init qA = 50 deg, qA' = 3 rad/s ;"
        )
    if name == "door":
        leaf = f"let leaf = body rod length = 0.9 m, mass = 20 kg along {x} end ;\n"
        joints = hinge("A", "earth", w(0, 0, 0.3), "leaf") + hinge("B", "earth", w(0, 0, 1.7), "leaf", w(0, 0, 1.4))
        return start + leaf + joints + "init qA = 30 deg, qA' = 1 rad/s ;"
    if name == "spherical_four_bar":
        axes = [w(0, 0, 1), w(0.6, 0, 0.8), w(0.5, 0.7, 0.5), w(-0.3, 0.9, 0.4)]
        bodies = rod("one", 0.3) + rod("two", 0.5) + rod("three", 0.4)
        joints = hinge("A", "earth", "", "one", about=axes[0]) + hinge("B", "one", w(0, 0, 0), "two", about=axes[1])
        joints += hinge("C", "two", w(0, 0, 0), "three", about=axes[2])
        joints += hinge("D", "three", w(0, 0, 0), "earth", w(0, 0, 0), about=axes[3])
        return start + bodies + joints + "init qA' = 1 rad/s ;"
    if name == "screw":
        parts = (
            rod("lever", 0.5)
            + "let nut = body mass = 2 kg, centre = [0, 0, 0], inertia = diag(0.1, 0.2, 0.3) kg*m^2 end ;\n"
        )
        joints = hinge("A", "earth", w(0.1, 0.2), "lever") + hinge("B", "earth", w(0.1, 0.2), "nut", name="cylindrical")
        joints = joints.replace("cylindrical(qB)", "cylindrical(qB, s)")
        thread = f"join lever and nut.frame as H with helical(h) about {z}, pitch = 0.05 m end ;\n"
        return start + parts + joints + thread + "init qA = 0.4 rad, qA' = 1 rad/s, qB' = 3 rad/s ;"
    assert name == "massless_coupler"
    light = "let coupler = body mass = 0 kg, inertia = diag(0, 0, 0) end ;\n"
    parts = rod("crank", 0.4) + light + rod("rocker", 0.8)
    joints = hinge("A", "earth", "", "crank") + hinge("B", "crank", w(0.4), "coupler")
    joints += hinge("D", "earth", w(1.2), "rocker")
    return (
        start + parts + joints + hinge("C", "coupler", w(1.0), "rocker", w(0.8)) + "init qA = 100 deg, qA' = 2 rad/s ;"
    )


MECHANISMS = ["four_bar", "parallelogram", "slider_crank", "spherical_four_bar", "massless_coupler", "screw"]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("name", MECHANISMS)
def test_accelerations_and_multipliers_in_any_pose(name, seed):
    """Linkages turned as a whole, along a motion, at states closed as well as double precision can."""
    equations = ts.derive(ts.parse(text_of(name, seed)))
    n = len(equations.layout.coordinates), len(equations.layout.speeds)
    motion = ts.simulate(equations, until=0.4, samples=3, rtol=1e-9)
    for row in motion.values:
        compare(equations, row[: n[0]], row[n[0] : sum(n)])


def compare(equations, q, v, backend="auto"):
    with mpmath.workdps(DIGITS):
        truth = Truth(equations)
        q, v = truth.state(q, v)
        vdot, multipliers, _ = truth.accelerations(q, v)
    computed = run(equations, q, v, backend)
    assert np.allclose(computed["vdot"], vdot, rtol=1e-9, atol=1e-9 * np.abs(vdot).max())
    scale = max([1.0, *np.abs(multipliers[np.isfinite(multipliers)])])
    assert np.allclose(computed["multipliers"], multipliers, rtol=1e-8, atol=1e-8 * scale, equal_nan=True)


def run(equations, q, v, backend="auto"):
    kernel = ts.compile(equations, ["constrained_forward_dynamics"], backend=backend)
    inputs = {"p": list(motion_values(equations, {}).values()), "t": [0.0], "tau": np.zeros(len(v))}
    inputs |= {"q": [float(x) for x in q], "v": [float(x) for x in v]}
    return kernel(*(inputs[group.name] for group in kernel.program.inputs))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_loop_that_forbids_nothing(seed):
    """A door on two hinges: every row of the second one is rounding."""
    equations = ts.derive(ts.parse(text_of("door", seed)))
    compare(equations, [0.5], [1.0])


def test_a_loop_that_exists_thanks_to_its_dimensions():
    compare(ts.derive(library.load("bennett")), *bennett_state())


def bennett_state():
    equations = ts.derive(library.load("bennett"))
    values = ts.simulate(equations, until=0.3, samples=2, rtol=1e-9).values[-1]
    return values[:3], values[3:6]


@pytest.mark.parametrize("backend", ["c", "llvm", "python"])
def test_every_backend(backend):
    equations = ts.derive(ts.parse(text_of("four_bar", 3)))
    values = ts.simulate(equations, until=0.1, samples=2, rtol=1e-9).values[-1]
    compare(equations, values[:3], values[3:6], backend)


@pytest.mark.parametrize("target", RUNNERS)
def test_every_source_target(target, tmp_path):
    equations = ts.derive(ts.parse(text_of("four_bar", 3)))
    values = ts.simulate(equations, until=0.1, samples=2, rtol=1e-9).values[-1]
    with mpmath.workdps(DIGITS):
        truth = Truth(equations)
        q, v = truth.state(values[:3], values[3:6])
        vdot, multipliers, _ = truth.accelerations(q, v)
    module = Module("tilted", programs_of(equations, "constrained_forward_dynamics"))
    point = {"q": [float(x) for x in q], "v": [float(x) for x in v], "tau": [0.0] * 3}
    (((accelerations, shares),),) = RUNNERS[target](module, tmp_path, [point])
    assert np.allclose(accelerations, vdot, rtol=1e-9, atol=1e-9)
    assert np.allclose(shares, multipliers, rtol=1e-8, atol=1e-8, equal_nan=True)


@pytest.mark.parametrize("tilt", [1e-1, 1e-2, 1e-3, 1e-4, 3e-5, 1e-5, 1e-6, 1e-9, 0.0])
def test_nothing_wrong_is_said_near_a_singular_configuration(tilt):
    """A parallelogram all but flat: two of its constraints become one. What is said has half of all digits."""
    equations = ts.derive(ts.parse(parallelogram(oblique(1))))
    computed = run(equations, [tilt, -tilt, tilt], [1.0, -1.0, 1.0])["vdot"]
    if tilt <= 1e-5:
        assert np.isnan(computed).all()
    elif tilt >= 1e-3 or np.isfinite(computed).all():
        with mpmath.workdps(DIGITS):
            truth = Truth(equations)
            vdot = truth.accelerations(*truth.state([tilt, -tilt, tilt], [1.0, -1.0, 1.0]))[0]
        assert np.allclose(computed, vdot, rtol=1e-6, atol=1e-6 * np.abs(vdot).max())


def parallelogram(w):
    return f"""mechanism flat ; gravity = {w(0, -9.81)} ;
        let a = body rod length = 0.4 m, mass = 1 kg along {w(1)} end ;
        let b = body rod length = 1.2 m, mass = 2 kg along {w(1)} end ;
        let c = body rod length = 0.4 m, mass = 1 kg along {w(1)} end ;
        join earth and a.frame as A with revolute(qa) about {w(0, 0, 1)} end ;
        join {w(0.4)} ++ 1 @ a and b.frame as B with revolute(qb) about {w(0, 0, 1)} end ;
        join {w(1.2)} ++ 1 @ earth and c.frame as D with revolute(qc) about {w(0, 0, 1)} end ;
        join {w(1.2)} ++ 1 @ b and {w(0.4)} ++ 1 @ c as C with revolute(qd) about {w(0, 0, 1)} end ;
        init qa = 0.5 rad ;"""


@pytest.mark.parametrize(("second", "is_known"), [("t/s", True), ("t/s + 0.5*(t/s)^2", False)])
def test_nothing_is_said_where_constraints_contradict_each_other(second, is_known):
    """Two drivers of one crank, whose second asks for another acceleration."""
    drivers = f"param s = 1 s ; constrain qa = t/s ; constrain 2*qa = 2*({second}) ;"
    equations = ts.derive(ts.parse(parallelogram(oblique(2)) + drivers))
    found = run(equations, [0.7, -0.7, 0.7], [1.0, -1.0, 1.0])
    assert np.isfinite(found["vdot"]).all() if is_known else np.isnan(found["vdot"]).all()


def test_nothing_is_said_of_motions_without_inertia():
    """A coupler whose mass is taken away at run time, after code was made for one that has some."""
    text = text_of("four_bar", 0).replace("mass = 2.0 kg", "mass = m")
    equations = ts.derive(ts.parse(text.replace("four_bar ;", "four_bar ; param m = 2 kg ;")))
    kernel = ts.compile(equations, ["constrained_forward_dynamics"])
    q, v = ts.simulate(equations, until=0.01, samples=2).values[-1][:6].reshape(2, 3)
    inputs = {"q": q, "v": v, "tau": np.zeros(3), "t": [0.0]}
    for mass, is_known in ((2.0, True), (0.0, False)):
        computed = kernel(*((inputs | {"p": [mass]})[group.name] for group in kernel.program.inputs))["vdot"]
        assert np.isfinite(computed).all() == is_known
