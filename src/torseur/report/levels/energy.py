"""The kinetic energy as sums of squares: ½ m (vx² + vy² + vz²) + ½ (Ix ωx² + Iy ωy² + Iz ωz²) of every body.

Velocities of mass centres are in the axes of the link at the tree's root that carries the body, each written
v(O) + r' + ω x r with r the place of the mass centre in these axes; angular velocities are in the body's own link.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from torseur.dynamics import link_poses, link_velocities
from torseur.equations import Equations
from torseur.equations.terms.mass_centres import placed_inertia
from torseur.graph import Expr, as_expr, time_derivative, to_sympy
from torseur.mechanism import TIME
from torseur.report.expression import Name, Node, Number, Power, Product, Sum, split_sign
from torseur.report.levels.collected import by_speeds
from torseur.report.levels.statement import Remark, Statement, terms_of
from torseur.report.reading.read_graph import few_terms, readable
from torseur.spatial import Inertia, Symmetric3, Transform, Vec3
from torseur.tree import GROUND

HALF = Number(Fraction(1, 2))
TWO = Number(Fraction(2))


def kinetic_energy_statement(equations: Equations) -> Statement:
    """T = Σ of the bodies' shares."""
    form = EnergyForm(equations)
    nodes: list[Node] = []
    origins: list[Remark] = []
    for body in equations.mechanism.bodies:
        own = form.of(body.name)
        nodes += own
        origins += [Remark(f"Kinetic energy of {body.name}", "J", (body.name,))] * len(own)
    right: Node = Number(Fraction(0)) if not nodes else nodes[0] if len(nodes) == 1 else Sum(tuple(nodes))
    value = ((equations.kinetic_energy,),)
    return Statement("T", Name("T"), ((right,),), "scalar", value, remark=Remark("", "J"), origins=tuple(origins))


class EnergyForm:
    """The shares of the bodies, from poses and velocities of the links."""

    def __init__(self, equations: Equations) -> None:
        layout = equations.layout
        self.equations = equations
        now = equations.tree.at(layout.coordinates, layout.speeds)
        self.poses, self.velocities = link_poses(now), link_velocities(now)
        self.rates = dict(zip(layout.coordinates, equations.rates, strict=True))

    def of(self, body: str) -> list[Node]:
        """½ m v² and ½ ωᵀ I ω of one body, those that are not zero."""
        tree = self.equations.tree
        link = tree.places[body][0]
        if link == GROUND:
            return []
        inertia, centre = placed_inertia(tree, tree.mechanism.body(body))
        return [*self._translation(link, inertia, centre), *self._rotation(link, inertia, centre)]

    def _translation(self, link: int, inertia: Inertia, centre: Vec3) -> list[Node]:
        if as_expr(inertia.mass).is_zero:
            return []
        squares = [square for part in self.velocity(link, centre) for square in _squared(part)]
        if not squares:
            return []
        total: Node = squares[0] if len(squares) == 1 else Sum(tuple(squares))
        return [Product((HALF, readable(as_expr(inertia.mass)), total))]

    def velocity(self, link: int, centre: Vec3) -> list[list[Node]]:
        """The terms of each component of v(O) + r' + ω x r."""
        root = self.equations.tree.path(link)[-1]
        frame, w = self.poses[root], self.velocities[root].angular
        r = self._seen(frame, self.poses[link].point_to_parent(centre))
        moving = Vec3(*time_derivative([as_expr(x) for x in r], self.rates, TIME))
        found = []
        for k, (own, change) in enumerate(zip(self.velocities[root].linear, moving, strict=True)):
            i, j = (k + 1) % 3, (k + 2) % 3
            crossed = [_product([*w][i], [*r][j], 1), _product([*w][j], [*r][i], -1)]
            carried = by_speeds(few_terms(as_expr(own)), self.equations.layout.speeds)
            found.append([*carried, *_terms(change), *(node for node in crossed if node is not None)])
        return found

    def _seen(self, frame: Transform, point: Vec3) -> Vec3:
        """A point of the earth in a frame, its components shortened."""
        local = frame.rotation.to_child(point - frame.position)
        return Vec3(*(_expression(few_terms(as_expr(x))) for x in local))

    def _rotation(self, link: int, inertia: Inertia, centre: Vec3) -> list[Node]:
        central = _central(inertia, centre)
        w = [*self.velocities[link].angular]
        entries = [*central]
        found: list[Node] = []
        for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
            if _vanishes(entries[k]):
                continue
            first, second = _terms(w[i]), _terms(w[j])
            if first and second:
                spins = _squared(first) if i == j else [_bracket(first), _bracket(second)]
                front: tuple[Node, ...] = (HALF,) if i == j else ()
                found.append(Product((*front, *_factors(readable(as_expr(entries[k]))), *spins)))
        return found


def _expression(polynomial: Any) -> Expr:
    total = as_expr(0)
    for term, coefficient in polynomial.items():
        part = as_expr(coefficient)
        for factor, exponent in term:
            part = part * factor**exponent
        total = total + part
    return total


def _terms(value: Any) -> list[Node]:
    """The terms of an expression; none for zero."""
    value = as_expr(value)
    return [] if _vanishes(value) else list(terms_of(readable(value)))


def _product(a: Any, b: Any, sign: int) -> Node | None:
    first, second = _terms(a), _terms(b)
    if not first or not second:
        return None
    negative = sign < 0
    factors: list[Node] = []
    for part in (first, second):
        node = _bracket(part)
        if len(part) == 1:
            minus, node = split_sign(node)
            negative ^= minus
        factors += _factors(node)
    return Product((Number(Fraction(-1)), *factors)) if negative else Product(tuple(factors))


def _factors(node: Node) -> tuple[Node, ...]:
    return node.factors if isinstance(node, Product) else (node,)


def _bracket(terms: Sequence[Node]) -> Node:
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def _squared(terms: Sequence[Node]) -> list[Node]:
    if not terms:
        return []
    whole = _bracket(terms)
    return [Power(split_sign(whole)[1] if len(terms) == 1 else whole, TWO)]


def _central(inertia: Inertia, c: Vec3) -> Symmetric3:
    """The inertia about the mass centre."""
    m, i = inertia.mass, inertia.matrix
    x, y, z = c
    return Symmetric3(
        i.xx - m * (y * y + z * z), i.yy - m * (x * x + z * z), i.zz - m * (x * x + y * y),
        i.xy + m * (x * y), i.xz + m * (x * z), i.yz + m * (y * z),
    )  # fmt: skip


def _vanishes(value: Any) -> bool:
    value = as_expr(value)
    if value.is_constant:
        return value.is_zero
    return bool(to_sympy([value])[0].expand(trig=False) == 0)
