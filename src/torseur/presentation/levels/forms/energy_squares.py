"""The kinetic energy as sums of squares: ½ m (vx² + vy² + vz²) + ½ (Ix ωx² + Iy ωy² + Iz ωz²) of every body.

Velocities of mass centres are in the axes of the link at the tree's root that carries the body, each written
v(O) + r' + ω x r with r the place of the mass centre in these axes; angular velocities are in the body's own link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from torseur.algebra.graph import Expr, as_expr, time_derivative
from torseur.algebra.spatial import Inertia, Symmetric3, Transform, Vec3
from torseur.derivation.dynamics import link_poses, link_velocities
from torseur.derivation.equations import Equations
from torseur.derivation.equations.terms.origins import body_inertia_in_link
from torseur.derivation.equations.terms.polynomial import TooManyTerms, expression_of
from torseur.derivation.equations.terms.short_sum import few_terms
from torseur.derivation.equations.terms.trigonometry import vanishes
from torseur.derivation.tree import GROUND
from torseur.description.mechanism import TIME
from torseur.presentation.levels.forms.collected_form import by_speeds
from torseur.presentation.levels.levels import definition_statements
from torseur.presentation.levels.statement import Remark, Statement, terms_of
from torseur.presentation.typesetting.formula_tree import Name, Node, Number, Power, Product, Sum, split_sign
from torseur.presentation.typesetting.read_graph import readable_form
from torseur.presentation.typesetting.recursion import definitions

HALF = Number(Fraction(1, 2))
ZERO = Number(Fraction(0))
TWO = Number(Fraction(2))


def kinetic_energy_statements(equations: Equations) -> list[Statement]:
    """T = Σ of the bodies' shares; where velocities are long in any writing, named intermediates come first."""
    form = EnergyForm(equations)
    bodies = [body.name for body in equations.mechanism.bodies if equations.tree.places[body.name][0] != GROUND]
    try:
        return [_statement(equations, {body: form.of(body) for body in bodies})]
    except TooManyTerms:
        pass
    # 13 per body: v(G) 3, ω 3, the mass, the central inertia 6 (xx, yy, zz, xy, xz, yz).
    lines, nodes = definitions([x for body in bodies for x in form.in_link_axes(body)])
    shares = {body: _named_share(nodes[13 * k : 13 * k + 13]) for k, body in enumerate(bodies)}
    return [*definition_statements(equations, lines), _statement(equations, shares)]


def _statement(equations: Equations, shares: Mapping[str, Sequence[Node]]) -> Statement:
    nodes = tuple(node for own in shares.values() for node in own)
    origins = [Remark(f"Kinetic energy of {body}", "J", (body,)) for body, own in shares.items() for _ in own]
    right: Node = Number(Fraction(0)) if not nodes else nodes[0] if len(nodes) == 1 else Sum(nodes)
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
        inertia, centre = body_inertia_in_link(tree, tree.mechanism.body(body))
        spin = [_terms(x) for x in self.velocities[link].angular]
        moving = [] if as_expr(inertia.mass).is_zero else self.velocity(link, centre)
        central = [_bracket(_terms(x) or [ZERO]) for x in _central(inertia, centre)]
        return [*_translation(readable_form(as_expr(inertia.mass)), moving), *_rotation(central, spin)]

    def in_link_axes(self, body: str) -> list[Expr]:
        """v(G), ω, the mass and the central inertia of a body in the axes of its link: 3 + 3 + 1 + 6 components."""
        tree = self.equations.tree
        own = self.velocities[tree.places[body][0]]
        inertia, centre = body_inertia_in_link(tree, tree.mechanism.body(body))
        moving = own.linear + own.angular.cross(centre)
        central = [as_expr(0) if vanishes(as_expr(x)) else x for x in _central(inertia, centre)]
        return [as_expr(x) for x in (*moving, *own.angular, inertia.mass, *central)]

    def velocity(self, link: int, centre: Vec3) -> list[list[Node]]:
        """The terms of each component of v(O) + r' + ω x r."""
        # In the axes of the first moving link, and not of the earth: its angle then does not occur, and the squares
        # stay short.
        root = self.equations.tree.path(link)[-1]
        frame, w = self.poses[root], self.velocities[root].angular
        r = self._in_frame(frame, self.poses[link].point_to_parent(centre))
        moving = Vec3(*time_derivative([as_expr(x) for x in r], self.rates, TIME))
        components = []
        for k, (own, change) in enumerate(zip(self.velocities[root].linear, moving, strict=True)):
            i, j = (k + 1) % 3, (k + 2) % 3
            crossed = [_product([*w][i], [*r][j], 1), _product([*w][j], [*r][i], -1)]
            carried = by_speeds(few_terms(as_expr(own)), self.equations.layout.speeds)
            components.append([*carried, *_terms(change), *(node for node in crossed if node is not None)])
        return components

    def _in_frame(self, frame: Transform, point: Vec3) -> Vec3:
        """A point of the earth in a frame, its components shortened."""
        local = frame.rotation.to_child(point - frame.position)
        return Vec3(*(expression_of(few_terms(as_expr(x))) for x in local))


def _named_share(nodes: Sequence[Node]) -> list[Node]:
    """The share of a body by velocities, mass and inertia in terms of named intermediates."""
    velocities = [[] if node == ZERO else list(terms_of(node)) for node in nodes[:6]]
    mass, *central = nodes[6:]
    moving = [] if mass == ZERO else velocities[:3]
    return [*_translation(mass, moving), *_rotation(central, velocities[3:])]


def _translation(mass: Node, velocity: Sequence[Sequence[Node]]) -> list[Node]:
    squares = [square for part in velocity for square in _square(part)]
    if not squares:
        return []
    total: Node = squares[0] if len(squares) == 1 else Sum(tuple(squares))
    return [Product((HALF, mass, total))]


def _rotation(central: Sequence[Node], spin: Sequence[Sequence[Node]]) -> list[Node]:
    shares: list[Node] = []
    # ½ ωᵀ I ω = ½ Σ I_ii ω_i² + Σ_{i<j} I_ij ω_i ω_j: products of inertia occur twice, which takes their ½ away.
    for k, (i, j) in enumerate(((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))):
        first, second = spin[i], spin[j]
        if first and second and central[k] != ZERO:
            spins = _square(first) if i == j else [_bracket(first), _bracket(second)]
            front: tuple[Node, ...] = (HALF,) if i == j else ()
            shares.append(Product((*front, *_factors(central[k]), *spins)))
    return shares


def _terms(value: Any) -> list[Node]:
    """The terms of an expression; none for zero."""
    value = as_expr(value)
    return [] if vanishes(value) else list(terms_of(readable_form(value)))


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


def _square(terms: Sequence[Node]) -> list[Node]:
    if not terms:
        return []
    whole = _bracket(terms)
    # (-x)² is written x².
    return [Power(split_sign(whole)[1] if len(terms) == 1 else whole, TWO)]


def _central(inertia: Inertia, c: Vec3) -> Symmetric3:
    """The inertia about the mass centre."""
    m, i = inertia.mass, inertia.matrix
    x, y, z = c
    return Symmetric3(
        i.xx - m * (y * y + z * z), i.yy - m * (x * x + z * z), i.zz - m * (x * x + y * y),
        i.xy + m * (x * y), i.xz + m * (x * z), i.yz + m * (y * z),
    )  # fmt: skip
