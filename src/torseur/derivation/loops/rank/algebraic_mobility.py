"""Mobility of small loops with an algebraic proof: dimension of the closed configurations, and where it is reached.

Two statements, both exact. From above: the closed configurations have a dimension d over the complex numbers, the
degree of their Hilbert polynomial, which no real motion exceeds. Locally: around a configuration that lies on
components of dimension d alone, and where n - d gradients of closures are independent, they are a manifold of
dimension d, real with the configuration: its finite mobility is d, no more and no less. Both conditions are polynomials
that must not vanish.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import cos, sin
from typing import Any

from torseur.algebra.exact.closed_rank import minors
from torseur.algebra.exact.engines import TooLarge, basis_of
from torseur.algebra.exact.flint_ring import FlintRing
from torseur.algebra.exact.gauss_cases import is_positive
from torseur.algebra.exact.hilbert import independent_variables
from torseur.algebra.exact.standard_bases import StandardBasis, ideal_basis, no_common_zero
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.model.loop_model import loop_system
from torseur.derivation.loops.rank.exact_loops import PolynomialLoops, polynomial_loops
from torseur.description.mechanism import Mechanism
from torseur.errors import UnsupportedError, counted, unknown_name

# Each set costs a lexicographic standard basis.
_SETS_TRIED = 8
_CLEAR = 1e-6  # of a minor at a configuration that is closed to rounding


@dataclass(frozen=True)
class AlgebraicMobility:
    """What algebra proves of the closed configurations of small loops.

    `dimension` is that over the complex numbers (an upper bound of every finite mobility; -1 where nothing closes), for
    general values of the parameters without one. `mobility` is the finite mobility proven for all configurations where
    none of `apart` is zero, None where no proof was found, and `given_up` says what was too large to decide; `here`
    whether the configuration examined is one of them, None where none was. `hilbert` is the Hilbert polynomial, empty
    where lengths are symbols or roots.
    """

    mechanism: str
    coordinates: tuple[str, ...]
    parameters: tuple[str, ...]
    equations: int
    dimension: int
    hilbert: str
    mobility: int | None
    apart: tuple[str, ...]
    here: bool | None
    velocity_constraints: int = 0
    given_up: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "dimension": self.dimension,
            "hilbert": self.hilbert,
            "coordinates": list(self.coordinates),
            "parameters": list(self.parameters),
            "closure_equations": self.equations,
            "mobility": self.mobility,
            "where_not_zero": list(self.apart),
            "proven_here": self.here,
            "velocity_constraints": self.velocity_constraints,
            "given_up": list(self.given_up),
        }


def _lines(m: AlgebraicMobility) -> list[str]:
    general = f" for general values of {', '.join(m.parameters)}" if m.parameters else ""
    if m.dimension < 0:
        return [f"algebraic proof: the loops do not close{general}, not even for complex coordinates"]
    shape = f"{counted(m.equations, 'closure equation')} in {', '.join(m.coordinates)}"
    lines = [f"algebraic proof: closed configurations of dimension {m.dimension}{general} ({shape})"]
    if m.velocity_constraints:
        many = counted(m.velocity_constraints, "constraint")
        lines.append(f"  {many} on velocities restrict how they are reached, and are not counted")
    if m.hilbert:
        lines.append(f"  {m.hilbert}")
    lines.append(f"  no configuration moves with more than {counted(m.dimension, 'freedom')}")
    given_up = [f"  given up before the end: {reason}" for reason in m.given_up]
    if m.mobility is None:
        lines.append("  where it moves with so many was not found, so that less is not excluded")
        return [*lines, *given_up]
    where = (
        f"where {' and '.join(m.apart)} {'is' if len(m.apart) == 1 else 'are'} not zero" if m.apart else "everywhere"
    )
    lines.append(f"  {where} the finite mobility is {m.mobility}, no more and no less")
    if m.here is not None:
        lines.append(
            "  which holds at the configuration examined"
            if m.here
            else "  which leaves the configuration examined open"
        )
    return lines if m.here else [*lines, *given_up]


def algebraic_mobility(
    mechanism: Mechanism,
    at: Mapping[str, float] | None = None,
    *,
    free: Sequence[str] = (),
    time: float = 0.0,
) -> AlgebraicMobility:
    """Dimension of the closed configurations of small loops and the finite mobility, both with a proof.

    `at` is a closed configuration to compare with. Parameters without a value, and those named in `free`, stay symbols:
    what is said then holds for general values of them. Raises UnsupportedError where closures are not
    polynomials in lengths, cosines and sines, or standard bases grow too large, and MechanismError where complex
    coordinates close the loops but no real ones are found that do.
    """
    names = {p.name for p in mechanism.parameters}
    for name in free:
        if name not in names:
            raise UnsupportedError(unknown_name("parameter", name, names, f"mechanism '{mechanism.name}': "))
    loops = polynomial_loops(mechanism, Fraction(repr(float(time))), free)
    # Residuals that vanish identically, as those across the plane of a planar loop, are no equations.
    closures = [f for f in loops.closures if f != 0]
    dimension, hilbert = _dimension(loops, closures)
    if dimension >= 0 and closures and at is None and not loops.parameters:
        # Bars that are too short close for complex angles, and what is proven then is of no mechanism.
        closed_state(loop_system(mechanism, time), None)
    # Polynomials with symbols for lengths have no number at a configuration to be compared with.
    at = None if loops.parameters else at
    given_up: list[str] = []
    apart = _local(loops, closures, dimension, at, given_up) if dimension >= 0 else None
    here = apart is not None if at is not None else None
    # Nothing was proven at the configuration itself: a proof that holds elsewhere still says what is generic.
    if apart is None and at is not None and dimension >= 0:
        apart = _local(loops, closures, dimension, None, given_up)
    mobility = None if apart is None else dimension
    written = tuple(dict.fromkeys(_text(p) for p in apart or () if p.free_symbols and not is_positive(p, loops.ring)))
    return AlgebraicMobility(
        mechanism.name, loops.coordinates, tuple(str(p) for p in loops.parameters), len(closures), dimension, hilbert,
        mobility, written, here, loops.velocity_constraints, tuple(dict.fromkeys(given_up)),
    )  # fmt: skip


def _dimension(loops: PolynomialLoops, closures: Sequence[Any]) -> tuple[int, str]:
    """The dimension over the complex numbers, for general parameters, and the Hilbert polynomial."""
    if not loops.parameters:
        basis = ideal_basis(closures, loops.ring)
        # The ring has the variables that occur in closures only: each coordinate that does not occur is one freedom
        # more.
        unseen = loops.size - _coordinates_seen(loops)
        dimension = basis.dimension + unseen if basis.dimension >= 0 else -1
        # With a root adjoined, or freedoms outside of the ring, its polynomial is not that of the closed
        # configurations.
        return dimension, "" if loops.ring.root is not None or unseen else str(basis.hilbert)
    return _general_dimension(loops, closures), ""


def _coordinates_seen(loops: PolynomialLoops) -> int:
    """Coordinates that the closures depend on; the others are free."""
    names = {v.name for v in loops.variables}
    return sum(
        1
        for q in loops.coordinates
        if q in names or any(n.startswith(f"cos({q})") or n.startswith(f"cos({q}/") for n in names)
    )


def _general_dimension(loops: PolynomialLoops, closures: Sequence[Any]) -> int:
    """Dimension over the field of rational functions of the parameters.

    In an order that has them last, the leading monomials less their parameters are those over that field.
    """
    from dataclasses import replace

    own = {p.name for p in loops.parameters}
    #     variables   x c s ... | a b ...
    #                 bound     | parameters last: units of the field Q(a, b, ...)
    # A power product compares by its first block before its second, so cutting the second off leaves leading monomials
    # over that field.
    first = [v for v in loops.variables if v.name not in own]
    ring = replace(loops.ring, variables=(*first, *(v for v in loops.variables if v.name in own)))
    basis: StandardBasis = ideal_basis(closures, ring, "lex")
    stairs = [powers[: len(first)] for powers in basis.staircase]
    # A leading monomial of parameters alone is a unit of the field: the ideal is everything, nothing closes.
    if any(not any(powers) for powers in stairs):
        return -1
    return len(independent_variables(stairs, len(first))) + loops.size - _coordinates_seen(loops)


def _gradients(loops: PolynomialLoops, closures: Sequence[Any]) -> list[list[Any]]:
    """d closure / d coordinate: cos' = -sin and sin' = cos for angles, whatever part of the coordinate they are."""
    import sympy as sp

    pairs = {c.name[4:-1]: (c, s) for c, s in loops.ring.pairs}
    rows = []
    for f in closures:
        row = []
        for q in loops.coordinates:
            part = next((name for name in pairs if name == q or name.startswith(f"{q}/")), None)
            if part is None:
                row.append(sp.diff(f, next((v for v in loops.variables if v.name == q), sp.Symbol(q))))
                continue
            c, s = pairs[part]
            # Where some joint turns by a fraction of q, the pair is of q/2 or q/3: chain rule.
            turned = sp.Rational(1, int(part.partition("/")[2] or 1))
            row.append(sp.expand(turned * (sp.diff(f, s) * c - sp.diff(f, c) * s)))
        rows.append(row)
    return rows


def _local(
    loops: PolynomialLoops, closures: Sequence[Any], dimension: int, at: Mapping[str, float] | None, given_up: list[str]
) -> tuple[Any, ...] | None:
    """Polynomials where none of which vanishes the mobility is the dimension; None where they were not found.

    Bases that grew too large are passed over and told in `given_up`.
    """
    minor = _regular_minor(loops, closures, loops.size - dimension, at)
    if minor is None:
        return None
    # size - dimension gradients are independent on a manifold of that dimension: the minor has this size.
    if len(closures) == loops.size - dimension:
        return (minor,)  # as many equations as independent gradients: implicit functions need nothing else
    # More equations than independent gradients: the surplus might cut the manifold down. It does not where no component
    # of lower dimension passes, which the denominators tell.
    for free in _independent_sets(loops, closures):
        try:
            denominators = _denominators(loops, closures, free)
        except TooLarge as reason:
            given_up.append(str(reason))
            continue
        if at is None or all(abs(_at(p, loops, at)) > _CLEAR for p in denominators):
            # Both conditions are needed at the configuration: the minor for smoothness, these for the dimension.
            return (minor, *denominators)
    return None


def _regular_minor(loops: PolynomialLoops, closures: Sequence[Any], size: int, at: Mapping[str, float] | None) -> Any:
    """A short minor of the gradients of that size: not zero at the configuration, or at some closed one."""
    import sympy as sp

    if size == 0:
        return sp.Integer(1)
    if size > min(len(closures), loops.size):
        return None
    closed = ideal_basis(closures, loops.ring)
    for _, _, minor in minors(_gradients(loops, closures), size, loops.ring):
        short = closed.reduced(minor)  # the same wherever the loops are closed
        if short == 0 or (at is not None and abs(_at(short, loops, at)) <= _CLEAR):
            continue
        if at is not None or not no_common_zero((*closures, *loops.relations), (short,), loops.variables):
            return short
    return None


def _independent_sets(loops: PolynomialLoops, closures: Sequence[Any]) -> list[tuple[Any, ...]]:
    """A few sets of variables, as many as the dimension, between which the closures have no relation."""
    basis = ideal_basis(closures, loops.ring)
    supports = [{k for k, power in enumerate(powers) if power} for powers in basis.staircase]
    count, own = len(loops.variables), {*loops.parameters}
    sets = [
        tuple(loops.variables[k] for k in chosen)
        for chosen in combinations(range(count), basis.dimension)
        # Independent modulo the leading monomials, hence modulo the ideal: none of them is in the chosen variables
        # alone.
        if not any(support <= {*chosen} for support in supports)
    ]
    # General values of parameters are meant, so that they are independent too.
    return [free for free in sets if own <= {*free}][:_SETS_TRIED]


def _denominators(loops: PolynomialLoops, closures: Sequence[Any], free: Sequence[Any]) -> tuple[Any, ...]:
    """Polynomials in the free variables outside of whose zeros every component has their number as dimension.

    Leading coefficients of a standard basis over the field of rational functions of the free variables: with f their
    product, I : f^∞ is the part of I whose components have the free variables free (Gianni, Trager, Zacharias 1988).
    """
    import sympy as sp

    bound = tuple(v for v in loops.variables if v not in free)
    ring = FlintRing((*bound, *free), "lex")
    # The basis by degrees first: from it the one in an order that separates the variables is a short way.
    given = [ring.from_sympy(p) for p in ideal_basis(closures, loops.ring).equations]
    _, members = basis_of(given, ring, None)
    heads = [ring.leading(p)[: len(bound)] for p in members]
    factors: list[Any] = []
    for k, (head, p) in enumerate(zip(heads, members, strict=True)):
        # Over the field of the free variables a member whose head another one divides is superfluous; of equal heads
        # the first stays. Fewer denominators are fewer conditions.
        if any(j != k and _divides(o, head) and (o != head or j < k) for j, o in enumerate(heads)):
            continue
        terms = {m[len(bound) :]: c for m, c in p.to_dict().items() if tuple(map(int, m[: len(bound)])) == head}
        leading = sum(
            sp.Integer(int(c)) * sp.Mul(*(v ** int(e) for v, e in zip(free, m, strict=True))) for m, c in terms.items()
        )
        factors += [f for f, _ in sp.factor_list(leading)[1]]
    return tuple(dict.fromkeys(factors))


def _divides(a: Sequence[int], b: Sequence[int]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def _text(polynomial: Any) -> str:
    """A polynomial without a common factor of its coefficients or a sign: only where it vanishes matters."""
    import sympy as sp

    whole = sp.primitive(polynomial)[1]
    return str(-whole if whole.could_extract_minus_sign() else whole).replace("**", "^")


def _at(minor: Any, loops: PolynomialLoops, at: Mapping[str, float]) -> float:
    """A minor at a configuration."""
    values = {}
    for variable in minor.free_symbols:
        name = variable.name
        if loops.ring.root is not None and variable == loops.ring.root[0]:
            values[variable] = float(loops.ring.root[1])
            continue
        inside = name[4:-1] if name[:4] in ("cos(", "sin(") else name
        q, _, part = inside.partition("/")
        angle = at[q] / int(part or 1)
        values[variable] = (cos if name.startswith("cos(") else sin)(angle) if inside != name else at[q]
    return float(minor.xreplace(values))
