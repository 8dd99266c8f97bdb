"""Equations of several formalisms, evaluated together at random states and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import hypot, inf, isnan, sqrt
from random import Random
from time import perf_counter
from typing import Any

from torseur.algebra.graph import Expr, as_expr, live_nodes
from torseur.derivation.equations import Formulation
from torseur.derivation.equations.random_states import (
    DIGITS,
    exact_values,
    is_rational,
    multiple_precision,
    multiple_precision_values,
    rational_state,
)
from torseur.derivation.formalisms.catalogue import formulation_of
from torseur.derivation.tree import Tree
from torseur.errors import MechanismError, TorseurError, UnsupportedError

SMALL = 20000
"""Operations, all formalisms together, up to which the comparison is exact."""
ATTEMPTS = 5
"""Random states tried when the equations are not defined at the first (a spring of no length, a pole of angles)."""


@dataclass(frozen=True)
class Derivation:
    """What a formalism gave: M row after row, b, Q, accelerations in a way of its own; or why it gave nothing.

    `speeds` are what should vanish: declared speeds, by their formulas, less themselves.
    """

    formalism: str
    matrix: Sequence[Any] = ()
    bias: Sequence[Any] = ()
    loads: Sequence[Any] = ()
    acceleration: Sequence[Any] = ()
    seconds: float = 0.0
    reason: str = ""
    speeds: Sequence[Any] = ()

    @property
    def outputs(self) -> list[Any]:
        return [*self.matrix, *self.bias, *self.loads, *self.acceleration, *self.speeds]

    def at(self, values: Sequence[Any]) -> Derivation:
        """The same with values in place of its outputs."""
        rest = iter(values)
        parts = (self.matrix, self.bias, self.loads, self.acceleration, self.speeds)
        matrix, bias, loads, acceleration, speeds = ([next(rest) for _ in part] for part in parts)
        return Derivation(self.formalism, matrix, bias, loads, acceleration, speeds=speeds)


def derivation(tree: Tree, name: str) -> Derivation:
    """The equations of a tree by the named formalism, timed."""
    start = perf_counter()
    formulation = formulation_of(tree, name)
    if formulation.refusal():
        return Derivation(name, reason=formulation.refusal())
    try:
        rows, bias, loads = formulation.mass_matrix(), formulation.bias(), formulation.loads()
    except (UnsupportedError, MechanismError) as refusal:
        return Derivation(name, reason=str(refusal))
    seconds = perf_counter() - start
    matrix = [entry for row in rows for entry in row]
    return Derivation(name, matrix, bias, loads, _own_acceleration(formulation), seconds)


def _own_acceleration(formulation: Formulation) -> list[Expr]:
    """Accelerations in another way than by solving with M, unless massless parts leave them undetermined."""
    try:
        return formulation.acceleration() or []
    except MechanismError:
        return []


@dataclass(frozen=True)
class Comparison:
    """Derivations of one tree, the first being the reference of the others."""

    tree: Tree
    derivations: Sequence[Derivation]
    random: Random

    @cached_property
    def _outputs(self) -> list[Expr]:
        return [entry for derivation in self.derivations for entry in derivation.outputs]

    @cached_property
    def _sizes(self) -> list[Expr]:
        """Total mass and gravity."""
        mass = sum((link.inertia.mass for link in self.tree.links), start=as_expr(0))
        return [as_expr(mass), *map(as_expr, self.tree.gravity)]

    @cached_property
    def _varying(self) -> set[Expr]:
        """The operations that depend on more than numbers."""
        varying: set[Expr] = set()
        for node in live_nodes(self._outputs):
            if node.op in ("symbol", "apply") or any(argument in varying for argument in node.args):
                varying.add(node)
        return {node for node in varying if node.args}

    def operations(self, derivation: Derivation) -> int:
        """Operations of M, b and Q to do at every state."""
        nodes = live_nodes([*derivation.matrix, *derivation.bias, *derivation.loads])
        return sum(node in self._varying for node in nodes)

    @cached_property
    def is_exact(self) -> bool:
        """Whether the equations are small, and rational in the sines and cosines of symbols."""
        return len(self._varying) <= SMALL and is_rational(live_nodes(self._outputs))

    def method(self, points: int) -> str:
        how = "exactly, at rational points" if self.is_exact else f"to {DIGITS} digits, at random states"
        return f"compared {how} ({points})"

    def differences(self, points: int) -> dict[str, float]:
        """By formalism, its largest difference from the reference, relative to the size of M and of the forces."""
        worst = {derivation.formalism: 0.0 for derivation in self.derivations}
        with multiple_precision():
            for _ in range(points):
                # All formalisms at one state in one evaluation: what they share is computed once.
                derivations, weight = self._at_random()
                for derivation in derivations:
                    off = difference(derivation, derivations[0], weight)
                    worst[derivation.formalism] = max(worst[derivation.formalism], off)
        return worst

    def _at_random(self) -> tuple[list[Derivation], float]:
        """Values of all derivations, and |g| times the square root of the total mass.

        By Cauchy and Schwarz no gravity term scaled as in `difference` is larger than that. One that vanishes but for
        the rounding of the given directions has to be compared with it, not with itself.
        """
        *values, mass, gx, gy, gz = self._values()
        rest = iter(values)
        weight = sqrt(abs(float(mass))) * hypot(float(gx), float(gy), float(gz))
        return [d.at([next(rest) for _ in d.outputs]) for d in self.derivations], weight

    def _values(self) -> list[Any]:
        """All outputs at a random state where they are defined."""
        for _ in range(ATTEMPTS):
            state = rational_state(self.tree, self.random)
            try:
                wanted = [*self._outputs, *self._sizes]
                return (
                    exact_values(wanted, state, self.random)
                    if self.is_exact
                    else multiple_precision_values(wanted, state)
                )
            except TorseurError as error:
                undefined = error
        raise undefined


def difference(derivation: Derivation, reference: Derivation, weight: float = 0.0) -> float:
    """Largest relative difference of M, b and Q, and of the forces that its own accelerations leave unbalanced.

    Rows are scaled by the square root of M's diagonal, which makes lengths and angles comparable. Forces are relative
    to the largest of them and to the weight.
    """
    n = len(reference.bias)
    # |M_ij| <= sqrt(M_ii M_jj) for a positive M, so that scaled entries are at most one, whatever their units.
    scale = [sqrt(abs(float(reference.matrix[i * n + i]))) or 1.0 for i in range(n)]
    masses = [
        _size(a - b) / (scale[k // n] * scale[k % n])
        for k, (a, b) in enumerate(zip(derivation.matrix, reference.matrix, strict=True))
    ]
    forces = [
        *_differences(derivation.bias, reference.bias, scale),
        *_differences(derivation.loads, reference.loads, scale),
    ]
    nothing = [0] * n
    size = max(
        [
            weight,
            *_differences(reference.bias, nothing, scale),
            *_differences(reference.loads, nothing, scale),
        ]
    )
    unbalanced = _unbalanced_forces(derivation, reference, scale, weight)
    return max([0.0, *masses, *_relative(forces, size), *unbalanced, *map(_size, derivation.speeds)])


def _size(value: Any) -> float:
    """The magnitude of a number; what is not a number is infinitely wrong."""
    size = abs(float(value))
    return inf if isnan(size) else size


def _differences(values: Sequence[Any], others: Sequence[Any], scale: Sequence[float]) -> list[float]:
    return [_size(a - b) / s for a, b, s in zip(values, others, scale, strict=True)]


def _relative(differences: Sequence[float], size: float) -> list[float]:
    return [difference / size if size else difference for difference in differences]


def _unbalanced_forces(
    derivation: Derivation, reference: Derivation, scale: Sequence[float], weight: float
) -> list[float]:
    """M a + b - Q of the reference with the derivation's own accelerations a, relative to its terms."""
    if not derivation.acceleration:
        return []
    n, left, size = len(reference.bias), [], weight
    for i in range(n):
        terms = [m * a for m, a in zip(reference.matrix[i * n : i * n + n], derivation.acceleration, strict=True)]
        terms += [reference.bias[i], -reference.loads[i]]
        left.append(_size(sum(terms)) / scale[i])
        size = max(size, *(_size(term) / scale[i] for term in terms))
    return _relative(left, size)
