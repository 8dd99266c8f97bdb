"""The Lie algebra of displacements: its bracket, and the operations B and C with an inertia H.

    [X, Y] = X × Y        B(X, Y) = [X, H(Y)]        C(X, Y) = [X, H(Y)] + [Y, H(X)] + H([X, Y])

H takes motions to momenta. A momentum stands for the motion with which it has the same resultant and moment, so that
its bracket with X is X ×* H(Y), and Newton-Euler's equations of a body are H(v') + B(v, v) = F.
"""

from __future__ import annotations

from typing import overload

from torseur.algebra.spatial.bodies import Inertia
from torseur.algebra.spatial.screws import Force, Motion, require_kind


@overload
def bracket(first: Motion, second: Motion) -> Motion: ...
@overload
def bracket(first: Motion, second: Force) -> Force: ...
def bracket(first: Motion, second: Motion | Force) -> Motion | Force:
    """[X, Y] of two motions (X × Y), or of a motion and a force or momentum (X ×* F)."""
    require_kind(first, Motion, "bracket of", "[X, Y]")
    return first.cross_force(second) if isinstance(second, Force) else first.cross(second)


def bracket_b(inertia: Inertia, first: Motion, second: Motion) -> Force:
    """B(X, Y) = [X, H(Y)]."""
    require_kind(inertia, Inertia, "bracket of", "H")
    return bracket(first, inertia @ second)


def bracket_c(inertia: Inertia, first: Motion, second: Motion) -> Force:
    """C(X, Y) = [X, H(Y)] + [Y, H(X)] + H([X, Y])."""
    both = bracket_b(inertia, first, second) + bracket_b(inertia, second, first)
    return both + inertia @ bracket(first, second)
