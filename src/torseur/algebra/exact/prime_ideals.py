"""Ideals that are seen to be prime: questions about their zeros are then divisions, without another standard basis.

A member whose leading monomial is one variable gives that variable by the others, and leaves a polynomial ring. An
ideal is prime if what remains is nothing, one irreducible polynomial, or relations c² + s² = 1 of different angles.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torseur.algebra.exact.flint_ring import FlintRing, remainder
from torseur.algebra.exact.standard_bases import StandardBasis


def unsolved_members(basis: StandardBasis) -> list[Any]:
    """The members that do not give a variable by the others."""
    return [p for p, powers in zip(basis.members, basis.staircase, strict=True) if sum(powers) != 1]


def is_prime(basis: StandardBasis) -> bool:
    """Whether the ideal is seen to be prime; False says nothing.

    Then what does not lie in it vanishes at no open part of its zeros.
    """
    rest = unsolved_members(basis)
    if basis.is_everything or basis.ring.root is not None:
        return False
    circles = [basis.flint.from_sympy(relation) for relation in basis.ring.relations]
    return all(p in circles for p in rest) or (len(rest) == 1 and _is_irreducible(rest[0]))


def is_space(basis: StandardBasis) -> bool:
    """Whether every equation gives a variable by the others, so that these can be anything."""
    return not unsolved_members(basis) and not basis.is_everything and basis.ring.root is None


def is_zero_only_beside(polynomial: Any, apart: Iterable[Any], basis: StandardBasis) -> bool:
    """Whether a polynomial vanishes, on the zeros of an ideal that leaves a space, only where one of `apart` does."""
    flint = basis.flint
    reduced = _remainder(polynomial, basis, flint)
    others = [_remainder(other, basis, flint) for other in apart]
    if reduced == 0:
        return any(other == 0 for other in others)
    # A hypersurface lies in another where its irreducible polynomial divides that of the other.
    return all(any(other % factor == 0 for other in others) for factor, _ in reduced.factor()[1])


def _remainder(polynomial: Any, basis: StandardBasis, flint: FlintRing) -> Any:
    return remainder(flint.from_sympy(polynomial), basis.members)[1]


def _is_irreducible(polynomial: Any) -> bool:
    factors = polynomial.factor()[1]
    return len(factors) == 1 and factors[0][1] == 1
