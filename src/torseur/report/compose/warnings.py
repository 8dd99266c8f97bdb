"""What a user should know about a mechanism before trusting its results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from torseur.report.compose.masses import BodyMass
from torseur.report.compose.numbers import Numbers
from torseur.tree import GROUND, Tree

MOST_NAMES = 8


def warnings_of(
    tree: Tree, numbers: Numbers, bodies: Sequence[BodyMass], initial: Mapping[str, float | None]
) -> Iterator[str]:
    """One sentence per doubt, the gravest first."""
    if not bodies:
        yield "There are no bodies: the description says nothing that could move."
    yield from _impossible(bodies)
    yield from _unmoved(tree, bodies)
    yield from _massless(tree, bodies)
    yield from _missing(numbers)
    yield from _quaternions(tree, initial)


def _impossible(bodies: Sequence[BodyMass]) -> Iterator[str]:
    for body in bodies:
        if body.fault:
            yield f"Body '{body.name}' cannot exist: {body.fault}."


def _massless(tree: Tree, bodies: Sequence[BodyMass]) -> Iterator[str]:
    """Bodies without mass that move by themselves; those fixed to a heavy one, or to the earth, are mere frames."""
    heavy = {GROUND, *(tree.places[body.name][0] for body in bodies if not body.is_massless)}
    names = [body.name for body in bodies if body.is_massless and tree.places[body.name][0] not in heavy]
    if names:
        yield f"Without mass and inertia: {listed(names)}."


def _unmoved(tree: Tree, bodies: Sequence[BodyMass]) -> Iterator[str]:
    """Joints that move nothing but massless bodies: their accelerations are undetermined."""
    massless = {body.name for body in bodies if body.is_massless}
    for number, link in enumerate(tree.links):
        carried = [name for name, (owner, _, _) in tree.places.items() if owner in tree.subtrees[number]]
        if carried and massless.issuperset(carried) and link.joint.coordinates:
            names = ", ".join(c.name for c in link.joint.coordinates)
            yield (
                f"Joint '{link.joint.name}' moves nothing that has mass, so the acceleration of {names} is "
                f"undetermined: give {listed(carried)} a mass or an inertia."
            )


def _missing(numbers: Numbers) -> Iterator[str]:
    if numbers.missing:
        yield f"No value is given for {listed(numbers.missing)}: motions that depend on it cannot be computed."


def _quaternions(tree: Tree, initial: Mapping[str, float | None]) -> Iterator[str]:
    for link in tree.links:
        values = [initial[str(x.name)] for x in link.symbols.quaternion or ()]
        known = [value for value in values if value is not None]
        if values and len(known) == len(values) and abs(sum(x * x for x in known) - 1) > 1e-9:
            yield f"The initial quaternion of joint '{link.joint.name}' is not of unit length."


def listed(names: Sequence[str]) -> str:
    """Names in quotes, the first few of many."""
    shown = ", ".join(f"'{name}'" for name in names[:MOST_NAMES])
    rest = len(names) - MOST_NAMES
    return f"{shown} and {rest} more" if rest > 0 else shown
