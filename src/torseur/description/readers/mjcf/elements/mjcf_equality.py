"""Equality constraints: loops closed by ball joints and welds, and relations between coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torseur.algebra.graph import Expr, as_expr
from torseur.algebra.spatial import Transform, Vec3
from torseur.description.mechanism import EARTH, Distance, Equation, Frame, Joint, fixed, placement, spherical
from torseur.description.readers.attribute_numbers import choice, number_list, numbers
from torseur.description.readers.mjcf.mjcf_places import ORIGIN
from torseur.description.readers.mjcf.mjcf_scene import Axis, Scene, Tendon
from torseur.description.readers.rigid_placement import placement_of, turn_of_quaternion
from torseur.description.readers.xml_document import Element

UNSET = (0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0)
PROPORTIONAL = (0.0, 1.0, 0.0, 0.0, 0.0)


def read_equalities(root: Element, scene: Scene) -> None:
    """Adds the constraints that are active; soft in MuJoCo, they are exact here."""
    for group in root.all("equality"):
        for element in group.all(*_KINDS):
            constraint = scene.defaults.apply(element, None, "equality")
            active = choice(constraint, "active", ("false", "true"), "true") == "true"
            if active and "equality" not in scene.settings.disabled:
                _KINDS[element.tag](constraint, scene)
            else:
                constraint.take()
                scene.assembly.ledger.note_unmodelled(f"<{element.tag}> that is not active.", element)


def _add_loop(joint: Joint, element: Element, scene: Scene) -> None:
    if joint.parent.body == joint.child.body:
        raise element.fault(f"<{element.tag}> joins body '{joint.parent.body}' to itself.")
    scene.assembly.joints.append(replace(joint, role="loop"))


def _name(element: Element, scene: Scene) -> str:
    given = element.text("name")
    if given:
        return scene.assembly.joint_names.keep(given)
    return scene.assembly.joint_names.fresh(element.tag)


def _bodies(element: Element, scene: Scene) -> tuple[str, str]:
    first = scene.body(element, "body1")
    if first is None:
        raise element.fault(f'<{element.tag}> needs body1="..." or two sites.')
    return first, scene.body(element, "body2") or EARTH.body


def _sites(element: Element, scene: Scene) -> tuple[Frame, Frame] | None:
    first, second = scene.site(element, "site1"), scene.site(element, "site2")
    if (first is None) != (second is None):
        raise element.fault(f"<{element.tag}> needs both sites or none.")
    return None if first is None or second is None else (first, second)


def _relative(first: str, second: str, scene: Scene) -> Transform:
    """Where the second body is in the first, in the configuration in which the model is written."""
    return scene.places[first].inverse.then(scene.places[second])


def _connect(element: Element, scene: Scene) -> None:
    """A ball joint."""
    sides = _sites(element, scene)
    if sides is None:
        first, second = _bodies(element, scene)
        anchor = Vec3(*numbers(element, "anchor", 3))
        other = _relative(second, first, scene).point_to_parent(anchor)
        sides = Frame(first, placement(list(anchor))), Frame(second, placement([float(c) for c in other]))
    name = _name(element, scene)
    angles = [scene.assembly.coordinate_names.fresh(f"{name}.{letter}") for letter in "abc"]
    _add_loop(spherical(name, *sides, *angles), element, scene)


def _weld(element: Element, scene: Scene) -> None:
    """No freedom: the pose given, or the one in which the model is written."""
    sides = _sites(element, scene)
    element.text("torquescale")
    if sides is None:
        first, second = _bodies(element, scene)
        anchor, pose = numbers(element, "anchor", 3, ORIGIN), numbers(element, "relpose", 7, UNSET)
        if any(pose[3:]):
            start = Frame(first, placement(pose[:3], *turn_of_quaternion(pose[3:])))
        else:
            there = _relative(first, second, scene)
            point = Transform(there.rotation, there.point_to_parent(Vec3(*anchor)))
            start = Frame(first, placement_of(point))
        sides = start, Frame(second, placement(anchor))
    _add_loop(fixed(_name(element, scene), *sides), element, scene)


def _joint(element: Element, scene: Scene) -> None:
    """One coordinate is a polynomial of another."""
    first, second = scene.axis(element, "joint1"), scene.axis(element, "joint2")
    if first is None:
        raise element.fault('<joint> needs joint1="...".')
    if not scene.assembly.options.mimic:
        element.take()
        scene.assembly.ledger.note_unmodelled("<joint> of <equality>: left out, as mimic=False asks.", element)
        return
    x = None if second is None else _deviation(second, element)
    _deviation(first, element)
    assert first.coordinate is not None
    name = element.text("name") or f"{first.joint.name}.mimic"
    scene.assembly.follow(name, first.coordinate, _polynomial(element, x) + first.reference)


def _deviation(axis: Axis, element: Element) -> Expr:
    if axis.coordinate is None:
        raise element.fault(f"joint '{axis.joint.name}' has no single coordinate.")
    return axis.coordinate.symbol - axis.reference


def _tendon(element: Element, scene: Scene) -> None:
    """One length is a polynomial of another."""
    first, second = (_named_tendon(element, name, scene) for name in ("tendon1", "tendon2"))
    if first is None or (second is None and element.text("tendon2") is not None):
        element.take()
        scene.assembly.ledger.note_unmodelled("equality of tendons that are not modelled.", element)
        return
    if first.ends is not None and second is None:
        _keep_distance(element, first, scene)
        return
    if first.ends is not None or (second is not None and second.ends is not None):
        element.take()
        scene.assembly.ledger.note_unmodelled("equality of two tendons between sites.", element)
        return
    _relate(element, _stretch(first), None if second is None else _stretch(second), scene)


def _named_tendon(element: Element, attribute: str, scene: Scene) -> Tendon | None:
    return scene.tendons.get(element.text(attribute) or "")


def _stretch(tendon: Tendon) -> Expr:
    return tendon.length - sum(axis.reference * factor for axis, factor in tendon.terms)


def _keep_distance(element: Element, tendon: Tendon, scene: Scene) -> None:
    assert tendon.ends is not None
    span = scene.point(tendon.ends[1]) - scene.point(tendon.ends[0])
    length = float(span.dot(span)) ** 0.5 + _coefficients(element)[0]
    name = scene.assembly.constraint_names.fresh(element.text("name") or "tendon")
    scene.assembly.constraints.append(Distance(name, *tendon.ends, as_expr(length)))


def _relate(element: Element, y: Expr, x: Expr | None, scene: Scene) -> None:
    """0 = y - (a0 + a1 x + ... + a4 x⁴)."""
    name = scene.assembly.constraint_names.fresh(element.text("name") or element.tag)
    scene.assembly.constraints.append(Equation(name, y - _polynomial(element, x)))


def _polynomial(element: Element, x: Expr | None) -> Expr:
    """a0 + a1 x + ... + a4 x⁴; a0 where there is no x."""
    coefficients = _coefficients(element)
    value = as_expr(coefficients[0])
    return value if x is None else sum((a * x**k for k, a in enumerate(coefficients[1:], 1)), value)


def _coefficients(element: Element) -> tuple[float, ...]:
    given = number_list(element, "polycoef") or ()
    return (*given, *PROPORTIONAL[len(given) :])[:5]


_KINDS: dict[str, Callable[[Element, Scene], None]] = {
    "connect": _connect,
    "weld": _weld,
    "joint": _joint,
    "tendon": _tendon,
}
