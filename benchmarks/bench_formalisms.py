"""Equations of a cart with an n-link pendulum, every parameter a symbol: our formalisms beside SymPy's, in one run.

Each answer is checked against the recursive formalism at a random state before its time counts. SymPy's
KanesMethod and LagrangesMethod start from the same relative angles and end where ours do, at the mass matrix
and the forcing vector; ours also share subexpressions, so that what comes out can be compiled as it is. Not
proven: other mechanisms, other machines, SymPy's output after simplification.
"""

from __future__ import annotations

import gc
import random
import sys
import time
from collections.abc import Callable, Sequence

import sympy
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

import torseur as ts
from torseur.algebra.graph import live_nodes
from torseur.derivation.dynamics import inverse_dynamics
from torseur.derivation.formalisms import FORMALISMS, certify
from torseur.derivation.tree import regroup

PEER_LINKS = (1, 2, 3, 5)
OUR_LINKS = (2, 5, 10)
LONG = (10, 25, 50, 100, 200)


def cart_pendulum(links: int) -> ts.Mechanism:
    """The mechanism as torseur takes it."""
    g, mass = ts.parameter("g", 9.81), ts.parameter("M", 2)
    cart = ts.body("cart", mass=mass, centre=(0, 0, 0), inertia=0)
    bodies, joints, given, end = [cart], [ts.prismatic("rail", ts.EARTH, cart, "x")], [g, mass], cart.frame
    for i in range(1, links + 1):
        m, length, moment = (ts.parameter(f"{name}{i}", 1 + i / 10) for name in "mlJ")
        link = ts.body(f"link{i}", mass=m, centre=(0, -length / 2, 0), inertia=ts.inertia(0, 0, moment))
        bodies.append(link)
        joints.append(ts.revolute(f"pin{i}", end, link, f"q{i}"))
        given += [m, length, moment]
        end = link.at((0, -length, 0))
    return ts.Mechanism(f"cart {links}", bodies=bodies, joints=joints, parameters=given, gravity=(0, -g, 0))


class SymPyCart:
    """The same mechanism as SymPy takes it."""

    def __init__(self, links: int) -> None:
        self.earth, self.q = (
            ReferenceFrame("N"),
            dynamicsymbols(" ".join(["x", *(f"q{i}" for i in range(1, links + 1))])),
        )
        self.rates = dynamicsymbols(" ".join(["x", *(f"q{i}" for i in range(1, links + 1))]), 1)
        self.g, self.mass = sympy.symbols("g M")
        self.origin = Point("O")
        self.origin.set_vel(self.earth, 0)
        self.bodies: list[Particle | RigidBody] = []
        self.loads: list[tuple[Point, object]] = []

    def kinematics(self, speeds: Sequence[sympy.Expr]) -> None:
        """Points, velocities, bodies and weights, with the given speeds."""
        end = self.origin.locatenew("cart", self.q[0] * self.earth.x)
        end.set_vel(self.earth, speeds[0] * self.earth.x)
        self.bodies.append(Particle("cart", end, self.mass))
        turned, spin = self.earth, 0
        for i, angle in enumerate(self.q[1:], 1):
            m, length, moment = sympy.symbols(f"m{i} l{i} J{i}")
            turned = turned.orientnew(f"A{i}", "Axis", [angle, turned.z])
            spin = spin + speeds[i]
            turned.set_ang_vel(self.earth, spin * self.earth.z)
            centre, tip = (
                end.locatenew(f"{name}{i}", -length * part * turned.y)
                for name, part in (("G", sympy.Rational(1, 2)), ("P", 1))
            )
            centre.v2pt_theory(end, self.earth, turned)
            tip.v2pt_theory(end, self.earth, turned)
            self.bodies.append(RigidBody(f"link{i}", centre, turned, m, (inertia(turned, 0, 0, moment), centre)))
            self.bodies[-1].potential_energy = m * self.g * centre.pos_from(self.origin).dot(self.earth.y)
            self.loads.append((centre, -m * self.g * self.earth.y))
            end = tip

    def kane(self) -> tuple[sympy.Matrix, sympy.Matrix]:
        u = dynamicsymbols(" ".join(f"u{i}" for i in range(len(self.q))))
        self.kinematics(u)
        method = KanesMethod(self.earth, self.q, u, kd_eqs=[a - b for a, b in zip(u, self.rates, strict=True)])
        method.kanes_equations(self.bodies, self.loads)
        named = dict(zip(u, self.rates, strict=True))
        return method.mass_matrix, method.forcing.xreplace(named)

    def lagrange(self) -> tuple[sympy.Matrix, sympy.Matrix]:
        self.kinematics(self.rates)
        method = LagrangesMethod(Lagrangian(self.earth, *self.bodies), self.q)
        method.form_lagranges_equations()
        return method.mass_matrix, method.forcing


def seconds(task: Callable[[], object]) -> tuple[float, object]:
    """Processor time of one run and its result; what earlier runs left behind is collected first."""
    gc.collect()
    start = time.process_time()
    result = task()
    return time.process_time() - start, result


def ours(mechanism: ts.Mechanism, formalism: str) -> ts.Equations:
    """M, b and Q, from the description."""
    equations = ts.derive(mechanism, formalism)
    _ = equations.mass_matrix, equations.bias, equations.loads
    return equations


def check_peer(links: int, matrix: sympy.Matrix, forcing: sympy.Matrix) -> None:
    """The peer's mass matrix and forces equal ours at a random state."""
    from torseur.algebra.graph import evaluate

    equations = ours(cart_pendulum(links), "recursive")
    layout = equations.layout
    rng = random.Random(1)
    values = {str(x.name): rng.uniform(0.5, 1.5) for x in (*layout.coordinates, *layout.speeds, *layout.parameters)}
    state = {x: values[str(x.name)] for x in (*layout.coordinates, *layout.speeds, *layout.parameters)}
    theirs = {s: values[str(s)] for s in (matrix.free_symbols | forcing.free_symbols) if str(s) != "t"}
    dynamic = dynamicsymbols(" ".join(layout.coordinate_names))
    rates = dynamicsymbols(" ".join(layout.coordinate_names), 1)
    theirs |= {rate: values[f"{name}'"] for rate, name in zip(rates, layout.coordinate_names, strict=True)}
    numbers = [
        m.subs(theirs).subs(dict(zip(dynamic, (values[n] for n in layout.coordinate_names), strict=True)))
        for m in (matrix, forcing)
    ]
    expected = evaluate([e for row in equations.mass_matrix for e in row] + [-b for b in equations.bias], state)
    for a, b in zip([*numbers[0], *numbers[1]], expected, strict=True):
        assert abs(float(a) - float(b)) < 1e-9, "SymPy and torseur disagree"


def beside_sympy(longest: int) -> None:
    print(
        "links   torseur kane   SymPy Kane    ratio   torseur lagrange   SymPy Lagrange    ratio   (processor seconds)"
    )
    for links in (n for n in PEER_LINKS if n <= longest):
        mechanism = cart_pendulum(links)
        kane, lagrange = (
            min(seconds(lambda m=mechanism, n=name: ours(m, n))[0] for _ in range(3)) for name in ("kane", "lagrange")
        )
        their_kane, answer = seconds(SymPyCart(links).kane)
        check_peer(links, *answer)
        their_lagrange, answer = seconds(SymPyCart(links).lagrange)
        check_peer(links, *answer)
        print(
            f"{links:5}   {kane:12.4f} {their_kane:12.3f} {their_kane / kane:8.0f}   "
            f"{lagrange:16.4f} {their_lagrange:16.3f} {their_lagrange / lagrange:8.0f}"
        )


def every_formalism() -> None:
    print(
        "\nM, b and Q by every formalism, from the description   (seconds, operations; goals at n = 10: 5 and 0.05 s)"
    )
    print("formalism             " + "".join(f"{f'n = {n}':>20}" for n in OUR_LINKS))
    for links in OUR_LINKS:
        assert certify(cart_pendulum(links), points=1).agrees
    for name in FORMALISMS:
        cells = []
        for links in OUR_LINKS:
            mechanism = cart_pendulum(links)
            elapsed = min(seconds(lambda m=mechanism, n=name: ours(m, n))[0] for _ in range(2))
            equations = ours(mechanism, name)
            outputs = [*(e for row in equations.mass_matrix for e in row), *equations.bias]
            cells.append(f"{elapsed:10.4f} {sum(bool(n.args) for n in live_nodes(outputs)):9}")
        print(f"{name:22}" + "".join(cells))


def long_chains() -> None:
    print("\naccelerations by the recursive formalism, from the description   (seconds, operations)")
    for links in LONG:
        mechanism = cart_pendulum(links)
        elapsed, outputs = min(
            (seconds(lambda m=mechanism: ts.derive(m).acceleration) for _ in range(3)), key=lambda r: r[0]
        )
        count = sum(bool(n.args) for n in live_nodes(outputs))
        print(f"n = {links:4} {elapsed:10.4f} {count:9}   {1e3 * elapsed / links:.2f} ms per link")


# Modified Denavit-Hartenberg rows (a, alpha in quarter turns, r), and the multiplications and additions of the best
# published generator after regrouping.
ROBOTS = {
    "Puma 560": ([(0, 0, 0), (0, -1, 0), ("a2", 0, "r3"), ("a3", -1, "r4"), (0, 1, 0), (0, -1, 0)], (301, 240)),
    "RX-90": ([(0, 0, 0), (0, 1, 0), ("d3", 0, 0), (0, -1, "r4"), (0, 1, 0), (0, -1, 0)], (287, 226)),
}


def six_axis_arm(rows: Sequence[tuple[str | int, int, str | int]]) -> ts.Mechanism:
    """An arm whose lengths, masses, centres and inertias are all symbols."""
    gravity = ts.parameter("g")
    bodies, joints, given, parent = [], [], [gravity], ts.EARTH
    for i, (a, quarters, r) in enumerate(rows, 1):
        lengths = [ts.parameter(x) if isinstance(x, str) else x for x in (a, r)]
        given += [x for x in lengths if isinstance(x, ts.Parameter)]
        link = ts.body(f"link{i}")
        place = {"a": lengths[0], "alpha": quarters * ts.PI / 2, "r": lengths[1]}
        joints.append(ts.denavit_hartenberg(f"j{i}", parent, link, f"q{i}", **place))
        bodies.append(link)
        parent = link
    return ts.Mechanism("arm", bodies=bodies, joints=joints, parameters=given, gravity=(0, 0, -gravity))


def robots() -> None:
    print("\ninverse dynamics with symbolic geometry and inertia, regrouped   (multiplications, additions)")
    for name, (rows, published) in ROBOTS.items():
        tree = regroup(ts.build_tree(six_axis_arm(rows)))
        layout = tree.layout
        state = {*layout.coordinates, *layout.speeds, *layout.accelerations}
        counts = {"mul": 0, "add": 0, "sub": 0}
        outputs = inverse_dynamics(tree, layout.coordinates, layout.speeds, layout.accelerations)
        for node in live_nodes(outputs):
            if any(argument in state for argument in node.args):
                state.add(node)
                counts[node.op] = counts.get(node.op, 0) + 1
        ours = counts["mul"], counts["add"] + counts["sub"]
        print(f"{name:10} ours {ours}   published {published}   ratio {sum(ours) / sum(published):.2f}")


def main() -> None:
    beside_sympy(int(sys.argv[1]) if len(sys.argv) > 1 else PEER_LINKS[-1])
    every_formalism()
    long_chains()
    robots()


if __name__ == "__main__":
    main()
