"""Tendons: sums of coordinates, and lines through sites, over spheres and cylinders, behind pulleys; their springs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from torseur.algebra.graph import Expr, as_expr, scalar
from torseur.description.elements import Wrap, line
from torseur.description.mechanism import LENGTH, LENGTH_RATE, Frame, motor, spring
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
    """A straight tendon between two sites, or a line through more; one that is led by a side site is listed."""
    name = element.text("name") or ""
    sites = [scene.site(site, "site") for site in element.all("site")]
    ends = [site for site in sites if site is not None]
    if len(ends) == 2 and len(element.children) == 2 and ends[0].body != ends[1].body:
        return Tendon(name, ends=(ends[0], ends[1]))
    path = _path(element, scene)
    if path is None:
        element.take()
        scene.assembly.ledger.note_unmodelled(
            "spatial tendons with a side site, or over what is not modelled.", element
        )
        return None
    through, divisors = path
    made = line(scene.parameter_names.fresh(name or "tendon"), through, divisors)
    scene.assembly.sensors += made.sensors
    return Tendon(name, line=made, through=tuple(part for part in through if isinstance(part, Frame)),
                  divisors=tuple(divisors), is_plain=all(isinstance(part, Frame) for part in through))  # fmt: skip


def _path(element: Element, scene: Scene) -> tuple[list[Frame | Wrap], list[float]] | None:
    """The parts of a line and a divisor for each stretch, 0 where a pulley begins another branch."""
    through: list[Frame | Wrap] = []
    divisors: list[float] = []
    divisor, begins = 1.0, True
    for part in element.children:
        part.used = True
        if part.tag == "pulley":
            divisor, begins = number(part, "divisor"), True
        elif part.tag == "site":
            site = scene.site(part, "site")
            if site is None:
                return None
            if through:
                divisors.append(0.0 if begins else divisor)
            through.append(site)
            begins = False
        elif part.tag == "geom":
            wrap = scene.wraps.get(part.text("geom") or "")
            if wrap is None or part.text("sidesite") or not through or isinstance(through[-1], Wrap):
                return None
            through.append(wrap)
        else:
            return None
    whole = bool(through) and isinstance(through[-1], Frame)
    return (through, divisors) if whole and any(divisors) else None


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
    if not scene.assembly.options.armature:
        scene.assembly.ledger.note_unmodelled("armature of tendons; armature=False leaves it out.", element)
        return
    if not tendon.terms:
        scene.assembly.ledger.note_unmodelled("armature of spatial tendons.", element)
        return
    # Factors are numbers in the file, also where hinges and slides are added: the sum has the unit of the first.
    (first, *_), _ = zip(*tendon.terms, strict=True)
    assert first.coordinate is not None
    scene.assembly.add_rotor(tendon.name or "tendon", tendon.length, first.coordinate.unit, value, element)
    if not _is_on_one_branch(tendon, scene):
        scene.assembly.ledger.note_assumption(
            "armature of a tendon over several branches couples their joints; MuJoCo leaves the coupling out.", element
        )


def _is_on_one_branch(tendon: Tendon, scene: Scene) -> bool:
    """Whether of any two joints of a tendon one carries the other."""
    parents = {joint.child.body: joint.parent.body for joint in scene.assembly.joints if joint.role != "loop"}
    chains = []
    for axis, _ in tendon.terms:
        chain = [axis.joint.child.body]
        while chain[-1] in parents and len(chain) <= len(parents):
            chain.append(parents[chain[-1]])
        chains.append(chain)
    longest = max(chains, key=len)
    return all(chain[0] in longest for chain in chains)


def _series(coefficients: Sequence[float], x: Expr, square: Expr) -> Expr:
    return coefficients[0] * x + coefficients[1] * square + coefficients[2] * x * x * x


def _rest(element: Element, tendon: Tendon, scene: Scene) -> tuple[float, float]:
    """The lengths between which the spring is slack; -1 stands for the length in the springs' configuration."""
    given = number_list(element, "springlength") or (-1.0,)
    low, high = (given[0], given[-1])
    # -1 is MuJoCo's word for the length in the springs' reference configuration.
    if low == -1.0 and high == -1.0:
        if not any(number_list(element, "stiffness") or ()):
            return 0.0, 0.0
        if tendon.line is not None and not tendon.is_plain:
            raise element.fault("a tendon over a surface needs its springlength in numbers.")
        low = high = _reference_length(tendon, scene)
    return low, high


def _reference_length(tendon: Tendon, scene: Scene) -> float:
    if tendon.line is not None:
        points = [scene.point(frame) for frame in tendon.through]
        spans = [b - a for a, b in itertools.pairwise(points)]
        stretches = zip(spans, tendon.divisors, strict=True)
        return sum(float(s.dot(s)) ** 0.5 / d for s, d in stretches if d)
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
    if tendon.line is not None:
        assembly.loads += tendon.line.loads(tension, name, assembly.load_names.fresh)
        return
    for axis, factor in tendon.terms:
        assert axis.coordinate is not None
        load = motor(assembly.load_names.fresh(name), axis.joint.name, axis.coordinate.name, -factor * tension)
        assembly.loads.append(load)
