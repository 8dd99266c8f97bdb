"""Standard (Gröbner) bases: of ideals given by polynomials, with membership, dimension and Hilbert polynomial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torseur.algebra.exact.engines import ENGINES, basis_of
from torseur.algebra.exact.flint_ring import ORDERS, FlintRing, remainder
from torseur.algebra.exact.hilbert import HilbertSeries, dimension_of, independent_variables
from torseur.algebra.exact.ring import Ring, as_sympy, fractions_of, read
from torseur.errors import UnsupportedError, unknown_name


@dataclass(frozen=True)
class StandardBasis:
    """A reduced standard basis of an ideal, the order of monomials, and the engine that computed it.

    Cosines and sines are variables; their relations c² + s² - 1 are part of the ideal.
    """

    equations: tuple[Any, ...] = field(repr=False)  # the basis in the variables of the ring
    ring: Ring = field(repr=False)
    order: str
    engine: str
    members: tuple[Any, ...] = field(repr=False)

    @cached_property
    def flint(self) -> FlintRing:
        return FlintRing(self.ring.variables, self.order)

    @property
    def polynomials(self) -> tuple[Any, ...]:
        """The basis, in the symbols, cosines and sines that were given."""
        return tuple(p for p in map(self.ring.expression, self.equations) if p != 0)  # sqrt(2)^2 - 2 says nothing

    def remainder(self, polynomial: Any) -> Any:
        """A polynomial reduced by the basis: the same for all that differ by a member of the ideal."""
        return self.ring.expression(self.reduced(self._read(polynomial)))

    def reduced(self, polynomial: Any) -> Any:
        """The remainder of a polynomial in the variables of the ring."""
        import sympy as sp

        cleared, whole = self.flint.cleared(polynomial)
        factor, rest = remainder(whole, self.members)
        return sp.expand(self.flint.to_sympy(rest) / (sp.Rational(factor.numerator, factor.denominator) * cleared))

    def contains(self, polynomial: Any) -> bool:
        """Whether a polynomial lies in the ideal."""
        return bool(self.remainder(polynomial) == 0)

    def vanishes(self, polynomial: Any) -> bool:
        """Whether a polynomial vanishes wherever those of the ideal do (over the complex numbers)."""
        return vanishes(self._read(polynomial), self.equations, self.ring.variables)

    def _read(self, polynomial: Any) -> Any:
        made = read([polynomial], ["polynomial"])
        own = {v.name: v for v in self.ring.variables}
        if unknown := [v for v in made.ring.variables if v.name not in own]:
            raise UnsupportedError(
                f"polynomial: '{unknown[0]}' is no variable of the basis ({_names(self.ring.variables)})."
            )
        return made.values[0].xreplace({v: own[v.name] for v in made.ring.variables})

    @property
    def staircase(self) -> tuple[tuple[int, ...], ...]:
        """Exponents of the leading monomials: what they divide is reduced."""
        return tuple(self.flint.leading(p) for p in self.members)

    @property
    def is_everything(self) -> bool:
        """Whether 1 lies in the ideal: its polynomials have no common zero, not even a complex one."""
        return self.equations == (1,)

    @property
    def dimension(self) -> int:
        """Dimension of the common zeros over the complex numbers; -1 where there are none."""
        return dimension_of(self.staircase, len(self.ring.variables))

    @property
    def independent(self) -> tuple[Any, ...]:
        """As many variables as the dimension, between which the ideal has no relation."""
        return tuple(self.ring.variables[k] for k in independent_variables(self.staircase, len(self.ring.variables)))

    @property
    def hilbert(self) -> HilbertSeries:
        """Series and polynomial that count the monomials which are not reduced."""
        if self.order == "lex":
            raise UnsupportedError("Hilbert polynomial: 'lex' does not follow degrees; use 'grevlex' or 'grlex'.")
        if self.ring.root is not None:
            raise UnsupportedError(
                f"Hilbert polynomial: it would count conjugates of {self.ring.root[1]}; name it by a symbol."
            )
        return HilbertSeries.of(self.staircase, len(self.ring.variables))

    def __str__(self) -> str:
        lines = [f"standard basis ({self.order}, {self.engine}) in {_names(self.ring.variables)}:"]
        return "\n".join([*lines, *(f"  {str(p).replace('**', '^')}" for p in self.polynomials)])


def _names(variables: Sequence[Any]) -> str:
    return ", ".join(str(v) for v in variables) or "no variable"


def standard_basis(
    polynomials: Sequence[Any],
    variables: Sequence[Any] = (),
    order: str = "grevlex",
    engine: str | None = None,
) -> StandardBasis:
    """The reduced standard basis of the ideal of polynomials in symbols, cosines and sines.

    `variables` come first in the order, as they stand, also symbols that do not occur; the others follow by name.
    Engines are python-flint, and Singular and msolve where they are installed; without a name the first that succeeds.
    """
    if order not in ORDERS:
        raise UnsupportedError(unknown_name("order", order, ORDERS))
    if engine is not None and engine not in ENGINES:
        raise UnsupportedError(unknown_name("engine", engine, ENGINES))
    if isinstance(polynomials, str) or not isinstance(polynomials, Sequence) or not polynomials:
        raise UnsupportedError("standard_basis: expected a list of polynomials, such as [x^2 - y, x*y - 1].")
    places = [f"polynomial {k + 1}" for k in range(len(polynomials))]
    made = read(polynomials, places)
    made.ring.require_algebraic("standard_basis")
    for (_, below), place in zip(fractions_of(made.values), places, strict=True):
        if below.free_symbols:
            raise UnsupportedError(
                f"{place}: it has the denominator {below}; multiply it out, and say that it is not zero."
            )
    return ideal_basis(made.values, _reorder(made.ring, variables), order, engine)


def _reorder(ring: Ring, first: Sequence[Any]) -> Ring:
    from dataclasses import replace

    names = [str(v) for v in first]
    known = {str(v): v for v in ring.variables}
    for name, given in zip(names, first, strict=True):
        # A symbol that does not occur is a variable too: a direction in which nothing is asked.
        symbol = None if name in known or isinstance(given, str) else as_sympy(given, f"variable '{name}'")
        if symbol is not None and symbol.is_Symbol:
            known[name] = symbol
        elif name not in known:
            raise UnsupportedError(unknown_name("variable", name, known))
    rest = [v for v in ring.variables if str(v) not in names]
    return replace(ring, variables=(*(known[name] for name in names), *rest))


def ideal_basis(
    polynomials: Sequence[Any],
    ring: Ring,
    order: str = "grevlex",
    engine: str | None = None,
    seconds: int | None = None,
) -> StandardBasis:
    """The basis of polynomials that are read already, and of the relations of their ring.

    `seconds` are those that a program may compute, where the usual patience is too long; raises TooLarge beyond.
    """
    flint = FlintRing(ring.variables, order)
    given = [flint.from_sympy(p) for p in (*polynomials, *ring.relations)]
    name, members = basis_of(given, flint, engine, seconds)
    return StandardBasis(tuple(flint.to_sympy(p) for p in members), ring, order, name, tuple(members))


def vanishes(polynomial: Any, ideal: Sequence[Any], variables: Sequence[Any]) -> bool:
    """Whether a polynomial vanishes wherever those of an ideal do, complex points included."""
    return polynomial == 0 or no_common_zero(ideal, [polynomial], variables)


def no_common_zero(
    equations: Sequence[Any], inequations: Sequence[Any], variables: Sequence[Any], seconds: int | None = None
) -> bool:
    """Whether no complex point has all equations zero and no inequation zero; `seconds` as in `ideal_basis`."""
    import sympy as sp

    # Rabinowitsch: with f ≠ 0 there is a y with y f = 1; no such point where 1 lies in the ideal with 1 - y f.
    y = sp.Dummy("1/f")
    # One variable for all inequations: their product is not zero exactly where none of them is.
    product = sp.Mul(*inequations)
    ring = FlintRing((y, *variables))
    given = [*equations, *([1 - y * product] if inequations else [])]
    _, members = basis_of([ring.from_sympy(sp.expand(p)) for p in given], ring, None, seconds)
    return len(members) == 1 and members[0].is_one()
