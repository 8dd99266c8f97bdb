"""What is doubtful about a mechanism with loops, though it can be examined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from torseur.loops.coordinates import coordinates_at
from torseur.loops.skeleton import TURN, Edge
from torseur.loops.spot import Spot
from torseur.spatial import Transform

Floats = np.ndarray[Any, np.dtype[np.float64]]

_SAME_PLACE = 1e-9
_CHANGED = 1e-6


def remarks(here: Spot, given: Mapping[str, float]) -> list[str]:
    """Remarks on a configuration: links without length, and given coordinates that closing the loops has changed."""
    return [*_links_without_length(here), *_changed(here, given)]


def _changed(here: Spot, given: Mapping[str, float]) -> list[str]:
    found = coordinates_at(here.system, here.state)
    changed = [name for name, value in given.items() if abs(found[name] - value) > _CHANGED * max(1.0, abs(value))]
    return [f"the loops do not close with {name} = {given[name]:.6g}; here it is {found[name]:.6g}" for name in changed]


def _links_without_length(here: Spot) -> Iterator[str]:
    """Bodies all of whose joints turn about one axis through one point: nothing lies between them."""
    edges = here.system.edges
    for body in here.system.frame.mechanism.bodies:
        own = [edge for edge in edges if body.name in (edge.start, edge.end)]
        if len(own) < 2 or any(len(edge.steps) != 1 or edge.steps[0].kind != TURN for edge in own):
            continue
        places = [_place(edge, body.name) for edge in own]
        if all(_alike(places[0], place, here.system.length) for place in places[1:]):
            joints = " and ".join(f"'{edge.joint}'" for edge in own)
            yield f"body '{body.name}' has no length: its joints {joints} turn about the same axis at the same point"


def _place(edge: Edge, body: str) -> tuple[Floats, Floats]:
    """(point, axis) of a joint in one of the bodies it joins."""
    step = edge.steps[0]
    offset: Transform = step.before if edge.start == body else edge.last.inverse
    axis = offset.rotation.to_parent(step.axis)
    return np.array([float(c) for c in offset.position]), np.array([float(c) for c in axis])


def _alike(first: tuple[Floats, Floats], second: tuple[Floats, Floats], length: float) -> bool:
    apart = np.linalg.norm(first[0] - second[0]) > _SAME_PLACE * length
    across = np.linalg.norm(np.cross(first[1], second[1])) > _SAME_PLACE
    return not (apart or across)
