"""The tree of bodies: frames, joints, geoms, sites, and what bodies weigh."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torseur.algebra.spatial import SAME, Transform
from torseur.description.mechanism import EARTH, Frame, Placement, force, implied_symbols
from torseur.description.readers.attribute_numbers import number
from torseur.description.readers.mjcf.elements.mjcf_geoms import Geom, between_points, read_geom
from torseur.description.readers.mjcf.elements.mjcf_inertias import Weight, add_bodies, read_weight
from torseur.description.readers.mjcf.elements.mjcf_joints import join
from torseur.description.readers.mjcf.elements.reflected_inertia import felt_inertia
from torseur.description.readers.mjcf.mjcf_places import place
from torseur.description.readers.mjcf.mjcf_scene import Scene
from torseur.description.readers.rigid_placement import place_of, placement_of
from torseur.description.readers.xml_document import Element


@dataclass(frozen=True)
class _Part:
    """An element inside a body, the class of defaults it inherits, and the frame it is written in."""

    element: Element
    defaults: str | None
    frame: Transform


@dataclass(frozen=True)
class _Branch:
    """A body to read: its element and what it hangs on."""

    part: _Part
    parent: str


def read_bodies(root: Element, scene: Scene) -> None:
    """Adds every body of the model with its joints, shapes and inertia."""
    weights: list[Weight] = []
    waiting: list[_Branch] = []
    for world in reversed(root.all("worldbody")):
        parts = list(_parts(world, world.text("childclass"), scene))
        _read_shapes(parts, EARTH.body, scene)
        waiting += [_Branch(part, EARTH.body) for part in reversed(parts) if part.element.tag == "body"]
    compensated: list[tuple[str, float]] = []
    while waiting:
        branch = waiting.pop()
        body, parts = _read_body(branch, weights, scene)
        compensated.append((body, number(branch.part.element, "gravcomp", 0.0)))
        waiting += [_Branch(part, body) for part in reversed(parts) if part.element.tag == "body"]
    add_bodies(weights, scene)
    _add_tuned_springs(scene)
    for name, frame in scene.sites.items():
        scene.assembly.frames[scene.assembly.body_names.keep(name, "frame")] = frame
    _compensate_gravity(compensated, scene)


def _read_body(branch: _Branch, weights: list[Weight], scene: Scene) -> tuple[str, list[_Part]]:
    element = branch.part.element
    body = _name(element, scene)
    at = _compose(branch.part.frame, place(element, scene.settings))
    scene.places[body] = scene.places[branch.parent].then(place_of(at))
    if element.text("mocap") == "true":
        scene.assembly.ledger.note_unmodelled(f"mocap: body '{body}' stays where it is written.", element)
    parts = list(_parts(element, element.text("childclass") or branch.part.defaults, scene))
    joints = [(part.element, part.frame) for part in parts if part.element.tag in ("joint", "freejoint")]
    join(Frame(branch.parent, at), body, joints, element, scene)
    if body in scene.aligned:
        _note_alignment(element, body, parts, scene)
    geoms = _read_shapes(parts, body, scene)
    weights.append(read_weight(element, body, geoms, scene))
    return body, parts


def _note_alignment(element: Element, body: str, parts: list[_Part], scene: Scene) -> None:
    """Notes whether the file itself writes the principal axes of a free body; one that carries others has its own."""
    if any(part.element.tag == "body" for part in parts):
        del scene.aligned[body]
        return
    inertial = next((child for child in element.children if child.tag == "inertial"), None)
    written = inertial is not None and "fullinertia" not in inertial.attributes
    scene.aligned[body] = written and scene.settings.inertia_from_geoms != "true"


def _name(element: Element, scene: Scene) -> str:
    given = element.text("name")
    if not given:
        return scene.assembly.body_names.fresh("body")
    if given in scene.bodies:
        raise element.fault(f"two bodies are called '{given}'.")
    scene.bodies[given] = scene.assembly.body_names.keep(given)
    return scene.bodies[given]


def _compose(frame: Transform, at: Placement) -> Placement:
    """A placement seen from outside the frame it is written in."""
    return at if frame is SAME else placement_of(frame.then(place_of(at)))


def _parts(body: Element, inherited: str | None, scene: Scene) -> Iterator[_Part]:
    """What a body holds, with frames taken apart and defaults applied."""
    waiting = [_Part(child, inherited, SAME) for child in reversed(body.children)]
    while waiting:
        part = waiting.pop()
        element = part.element
        if element.tag == "frame":
            element.used = True
            element.text("name")
            inside = part.frame.then(place_of(place(element, scene.settings)))
            name = element.text("childclass") or part.defaults
            waiting += [_Part(child, name, inside) for child in reversed(element.children)]
        elif element.tag in ("geom", "site", "joint"):
            element.used = True
            yield _Part(scene.defaults.apply(element, part.defaults), part.defaults, part.frame)
        elif element.tag in ("body", "freejoint"):
            element.used = True
            yield part


def _read_shapes(parts: list[_Part], body: str, scene: Scene) -> list[Geom]:
    """The geoms of a body; its sites become named frames."""
    geoms = []
    for part in parts:
        if part.element.tag == "geom":
            geom = read_geom(part.element, body, part.frame, scene)
            if geom is not None:
                geoms.append(geom)
                scene.assembly.shapes.append(geom.shape)
        elif part.element.tag == "site":
            _read_site(part, body, scene)
    return geoms


def _read_site(part: _Part, body: str, scene: Scene) -> None:
    element = part.element
    at = between_points(element)[0] if "fromto" in element.attributes else place(element, scene.settings)
    frame = Frame(body, _compose(part.frame, at))
    for picture in ("size", "rgba", "type", "group", "material"):
        element.text(picture)
    name = element.text("name")
    if name:
        if name in scene.sites:
            raise element.fault(f"two sites are called '{name}'.")
        scene.sites[name] = frame


def _add_tuned_springs(scene: Scene) -> None:
    """Springs by time constant T and damping ratio d, for the inertia m felt: k = m / (T d)², damping 2 m / T."""
    off = scene.settings.disabled
    for joint, rest, time, ratio in scene.tuned:
        mass = felt_inertia({joint.name: 1.0}, scene)
        if mass is None:
            words = f"springdamper of joint '{joint.name}': the inertia that it feels is not known."
            scene.assembly.ledger.note_unmodelled(words)
            continue
        stiffness = 0.0 if "spring" in off else mass / (time * ratio) ** 2
        damping = 0.0 if "damper" in off else 2 * mass / time
        scene.assembly.add_spring(joint, joint.coordinates[0], stiffness, rest, damping)


def _compensate_gravity(compensated: list[tuple[str, float]], scene: Scene) -> None:
    """A force at the mass centre of each body that carries a part of its weight."""
    masses = {body.name: body.mass for body in scene.assembly.bodies}
    for body, factor in compensated:
        if factor:
            known = masses[body]
            mass = known if known is not None else implied_symbols(body)[f"{body}.mass"]
            lift = [-g * factor * mass for g in scene.settings.gravity]
            name = scene.assembly.load_names.fresh(f"{body}.gravcomp")
            scene.assembly.loads.append(force(name, Frame(body, base="iframe"), lift))
