"""Tendons: sums of coordinates, and straight lines between two sites; their springs and dampers."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph import Expr, as_expr, scalar
from torseur.description.mechanism import LENGTH, LENGTH_RATE, motor, spring
from torseur.description.readers.attribute_numbers import number, number_list
from torseur.description.readers.mjcf.elements.mjcf_joints import polynomial
from torseur.description.readers.mjcf.mjcf_scene import Scene, Tendon
from torseur.description.readers.xml_document import Element


def read_tendons(root: Element, scene: Scene) -> None:
    """All tendons by name, with loads for their springs and dampers; what wraps around something is listed."""
    for group in root.all("tendon"):
        for element in group.all("fixed", "spatial"):
            tendon = scene.defaults.apply(element, None, "tendon")
            read = _fixed(tendon, scene) if element.tag == "fixed" else _spatial(tendon, scene)
            for picture in ("width", "rgba", "material", "group"):
                tendon.text(picture)
            if read is None:
                continue
            if read.name:
                scene.tendons[read.name] = read
            _springs(tendon, read, scene)
            _armature(tendon, read, scene)


def _fixed(element: Element, scene: Scene) -> Tendon | None:
    terms = []
    for joint in element.all("joint"):
        axis = scene.axis(joint, "joint")
        if axis is None or axis.coordinate is None:
            raise joint.fault("a fixed tendon is a sum of hinge and slide joints.")
        terms.append((axis, number(joint, "coef")))
    return Tendon(element.text("name") or "", tuple(terms))


def _spatial(element: Element, scene: Scene) -> Tendon | None:
    """A straight tendon between two sites; others are listed."""
    sites = [scene.site(site, "site") for site in element.all("site")]
    name = element.text("name") or ""
    ends = [site for site in sites if site is not None]
    if len(ends) != 2 or len(element.children) != 2 or ends[0].body == ends[1].body:
        element.take()
        scene.assembly.ledger.note_unmodelled(
            "spatial tendons that wrap or pass through more than two points.", element
        )
        return None
    return Tendon(name, ends=(ends[0], ends[1]))


def _springs(element: Element, tendon: Tendon, scene: Scene) -> None:
    off = scene.settings.disabled
    stiffness = (0.0,) * 3 if "spring" in off else polynomial(element, "stiffness")
    damping = (0.0,) * 3 if "damper" in off else polynomial(element, "damping")
    rest = _rest(element, tendon, scene)
    length, rate = (LENGTH, LENGTH_RATE) if tendon.ends else (tendon.length, tendon.rate)
    stretch = _beyond(length, *rest)
    if tendon.ends and rest[0] == rest[1] and not any((*stiffness[1:], *damping[1:])):
        if stiffness[0] or damping[0]:
            name = scene.assembly.load_names.fresh(f"{tendon.name or 'tendon'}.spring")
            first, second = tendon.ends
            k, c = stiffness[0], damping[0]
            scene.assembly.loads.append(spring(name, first, second, stiffness=k, rest=rest[0], damping=c))
        return
    tension = _series(stiffness, stretch, stretch * stretch) + _series(damping, rate, rate * scalar.absolute(rate))
    if not as_expr(tension).is_zero:
        pull(tendon, as_expr(tension), scene, f"{tendon.name or 'tendon'}.spring")


def _armature(element: Element, tendon: Tendon, scene: Scene) -> None:
    """The inertia against the rate of a fixed tendon's length, which couples its joints."""
    value = number(element, "armature", 0.0)
    if value == 0.0:
        return
    units = {axis.coordinate.unit for axis, _ in tendon.terms if axis.coordinate is not None}
    if len(units) != 1 or not scene.assembly.options.armature:
        scene.assembly.ledger.note_unmodelled("armature of tendons that are not sums of hinges or of slides.", element)
        return
    scene.assembly.add_rotor(tendon.name or "tendon", tendon.length, units.pop(), value, element)


def _series(coefficients: Sequence[float], x: Expr, square: Expr) -> Expr:
    return coefficients[0] * x + coefficients[1] * square + coefficients[2] * x * x * x


def _rest(element: Element, tendon: Tendon, scene: Scene) -> tuple[float, float]:
    """The lengths between which the spring is slack; -1 stands for the length in the springs' configuration."""
    given = number_list(element, "springlength") or (-1.0,)
    low, high = (given[0], given[-1])
    # -1 is MuJoCo's word for the length in the springs' reference configuration.
    if low == -1.0 and high == -1.0:
        low = high = _reference_length(tendon, scene)
    return low, high


def _reference_length(tendon: Tendon, scene: Scene) -> float:
    if tendon.ends is None:
        return sum(axis.spring_reference * factor for axis, factor in tendon.terms)
    first, second = (scene.point(end) for end in tendon.ends)
    span = second - first
    return float(span.dot(span)) ** 0.5


def _beyond(length: Expr, low: float, high: float) -> Expr:
    """How far a length is outside the range in which the spring is slack."""
    if low == high:
        return length - low
    return scalar.maximum(length - high, 0) + scalar.minimum(length - low, 0)


def pull(tendon: Tendon, tension: Expr, scene: Scene, name: str) -> None:
    """Loads that pull a tendon together with a tension."""
    assembly = scene.assembly
    if tendon.ends is not None:
        assembly.loads.append(spring(assembly.load_names.fresh(name), *tendon.ends, law=tension))
        return
    for axis, factor in tendon.terms:
        assert axis.coordinate is not None
        load = motor(assembly.load_names.fresh(name), axis.joint.name, axis.coordinate.name, -factor * tension)
        assembly.loads.append(load)
