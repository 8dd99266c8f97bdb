"""Accelerations and angular velocities of a tree, each by those of what carries it: one definition per symbol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from torseur.algebra.intrinsic.operators import Cross, Frame, scale, vector
from torseur.derivation.equations.intrinsic.frames_catalogue import EARTH, Advance, FramesCatalogue, Mass
from torseur.derivation.tree import GROUND


@dataclass(frozen=True)
class Definition:
    """symbol = expression, used from a step on."""

    symbol: Any
    expression: Any
    step: int
    meaning: str
    bodies: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()


def definitions(catalogue: FramesCatalogue) -> list[Definition]:
    """Step 1: mass centres by the origins of their links; 2: origins by their parents'; 3: angular velocities."""
    all_definitions = [_mass_centre(catalogue, one) for one in catalogue.masses if one.mass != 0]
    links = range(len(catalogue.tree.links))
    all_definitions += [_origin(catalogue, i) for i in links]
    return all_definitions + [d for i in links for d in _angular(catalogue, i)]


def _mass_centre(catalogue: FramesCatalogue, one: Mass) -> Definition:
    """a(G) = a(O) + ω' x r + ω x (ω x r)."""
    frame = catalogue.frames[one.link]
    around = [] if one.centre is None else _rigid(frame, one.centre)
    whole = vector_sum([_origin_symbol(catalogue, one.link), *around])
    return Definition(
        acceleration(f"G_{one.body}"), whole, 1, f"acceleration of the mass centre of {one.body}", (one.body,)
    )


def _origin_symbol(catalogue: FramesCatalogue, link: int) -> Any:
    return None if link == GROUND else acceleration(f"O_{catalogue.tree.links[link].name}")


def _origin(catalogue: FramesCatalogue, i: int) -> Definition:
    """a(O) by the parent's origin, the fixed vector to the joint and the moves in the joint."""
    link = catalogue.tree.links[i]
    parts = [_origin_symbol(catalogue, link.parent)]
    if catalogue.bases[i] is not None:
        parts += _rigid(catalogue.frames[link.parent], catalogue.bases[i])
    for advance in catalogue.advances[i]:
        if advance.kind == "offset":
            parts += _rigid(advance.before, advance.axis)
        elif advance.kind == "translation":
            parts += _sliding(advance)
    return Definition(
        acceleration(f"O_{link.name}"),
        vector_sum(parts),
        2,
        f"acceleration of the origin of {link.name}",
        (),
        (link.joint.name,),
    )


def _angular(catalogue: FramesCatalogue, i: int) -> list[Definition]:
    """ω = ω_parent + s' u and its derivative."""
    link, velocities = catalogue.tree.links[i], []
    for advance in catalogue.advances[i]:
        if advance.kind in ("translation", "offset"):
            continue
        before, own = advance.before, _own_turning(advance)
        carried = [angular_velocity(before)] if turns(before) else []
        changes = [angular_velocity(before, 1)] if carried else []
        turned = [Cross(carried[0], own[0])] if carried else []
        where = ((), (link.joint.name,))
        name = advance.after.name
        velocities.append(
            Definition(
                angular_velocity(advance.after),
                vector_sum([*carried, own[0]]),
                3,
                f"angular velocity of {name}",
                *where,
            )
        )
        velocities.append(
            Definition(
                angular_velocity(advance.after, 1),
                vector_sum([*changes, own[1], *turned]),
                3,
                f"angular acceleration of {name}",
                *where,
            )
        )
    return velocities


@lru_cache(maxsize=4096)
def flat(e: Any) -> Any:
    """Sums within sums as one sum, and products with the null vector left out."""
    from sympy.matrices.expressions import MatAdd, MatMul, ZeroMatrix

    if not e.args or not e.has(MatAdd, ZeroMatrix):
        return e
    parts = [flat(a) for a in e.args]
    if isinstance(e, MatAdd):
        return vector_sum([inner for part in parts for inner in (part.args if isinstance(part, MatAdd) else (part,))])
    if isinstance(e, Cross | MatMul) and any(part == ZeroMatrix(3, 1) for part in parts):
        return ZeroMatrix(3, 1)
    return e.func(*parts)


def acceleration(point: str) -> Any:
    return vector(f"a({point})")


def angular_velocity(frame: Frame, dots: int = 0) -> Any:
    """The angular velocity of a frame relative to the earth."""
    return vector(f"omega_{frame.name}", frame=EARTH, dots=dots)


def turns(frame: Frame) -> bool:
    return frame != EARTH


def _own_turning(advance: Advance) -> tuple[Any, Any]:
    """s' u and s'' u, or the angular velocity of a quaternion and its change."""
    if advance.axis is None:
        # A quaternion has no axis and no amount: its angular velocity is a vector of its own.
        own = advance.after.omega
        return own, vector(own.name, frame=advance.after, dots=1)
    return scale(advance.rate, advance.axis), scale(advance.change_of_rate, advance.axis)


def _rigid(frame: Frame, r: Any) -> list[Any]:
    """ω' x r + ω x (ω x r) of a vector fixed in a frame."""
    if not turns(frame):
        return []
    omega = angular_velocity(frame)
    return [Cross(angular_velocity(frame, 1), r), Cross(omega, Cross(omega, r))]


def _sliding(advance: Advance) -> list[Any]:
    """s'' u + 2 ω x s' u + ω' x s u + ω x (ω x s u)."""
    u, s = advance.axis, advance.amount
    parts = [scale(advance.change_of_rate, u)]
    if not turns(advance.before):
        return parts
    omega, change = angular_velocity(advance.before), angular_velocity(advance.before, 1)
    # In the frame before the move, which the axis is fixed in.
    coriolis = scale(2 * advance.rate, Cross(omega, u))
    return [*parts, coriolis, scale(s, Cross(change, u)), scale(s, Cross(omega, Cross(omega, u)))]


def vector_sum(parts: Sequence[Any]) -> Any:
    """The sum of vectors, in order."""
    from sympy.matrices.expressions import MatAdd, ZeroMatrix

    present = [part for part in parts if part is not None and part != ZeroMatrix(3, 1)]
    if not present:
        return ZeroMatrix(3, 1)
    return present[0] if len(present) == 1 else MatAdd(*present)
