"""Bodies and frames at an offset on them, by name or by path ("/jointset/hip_r/pelvis_offset")."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.spatial import Rotation, Transform, Vec3, about
from torseur.description.mechanism import EARTH, EARTH_NAME, Frame, placement
from torseur.description.readers.attribute_numbers import content_numbers, content_text
from torseur.description.readers.rigid_placement import place_of, placement_of
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name

GROUND = "ground"
_DEEPEST = 50  # offsets upon offsets
_XYZ = (Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0))


def objects(owner: Element, group: str) -> list[Element]:
    """The members of a set: in its <objects>."""
    members = []
    for one in owner.all(group):
        one.text("name")
        for inner in one.all("objects"):
            for child in inner.children:
                child.used = True
                members.append(child)
        for inner in one.all("groups"):
            inner.take()
    return members


def offset(translation: Sequence[float], orientation: Sequence[float]) -> Transform:
    """A place at a translation, turned about its own x, y and z one after the other."""
    rotation = Rotation()
    for axis, angle in zip(_XYZ, orientation, strict=True):
        if angle:
            rotation = rotation.then(about(axis, angle))
    return Transform(rotation, Vec3(*translation))


class Frames:
    """What the names of a model's frames stand for."""

    def __init__(self, model: Element) -> None:
        self.bodies: dict[str, str] = {GROUND: EARTH_NAME}
        self.offsets: dict[str, list[Element]] = {}
        for element in model.walk():
            if element.tag == "PhysicalOffsetFrame":
                self.offsets.setdefault(element.text("name") or "", []).append(element)

    def is_ground(self, body: Element) -> bool:
        return (body.text("name") or "") == GROUND

    def name_body(self, element: Element, given: str, name: str) -> None:
        if given in self.bodies:
            raise element.fault(f"two bodies are called '{given}'.")
        self.bodies[given] = name

    def of_socket(self, element: Element, tags: Sequence[str], inside: Element | None = None) -> Frame:
        """The frame that one of these children names; offsets in the element `inside` go before others of a name."""
        for tag in tags:
            text = content_text(element, tag)
            if text:
                return self.find(text, element, inside or element)
        raise element.fault(f"<{element.tag}> needs <{tags[0]}>.")

    def find(self, path: str, element: Element, inside: Element | None = None, depth: int = 0) -> Frame:
        """The frame of a name or a path."""
        name = path.strip().rpartition("/")[2]
        if depth > _DEEPEST:
            raise element.fault(f"frame '{name}' stands on itself.")
        own = [] if inside is None else [one for one in inside.walk() if one in self.offsets.get(name, ())]
        if own or (name not in self.bodies and name in self.offsets):
            return self._offset((own or self.offsets[name])[0], depth)
        if name not in self.bodies:
            raise element.fault(unknown_name("body or frame", name, sorted({*self.bodies, *self.offsets})))
        return EARTH if name == GROUND else Frame(self.bodies[name])

    def _offset(self, element: Element, depth: int) -> Frame:
        base = content_text(element, "socket_parent") or content_text(element, "socket_parent_frame")
        if not base:
            raise element.fault("<PhysicalOffsetFrame> needs <socket_parent>.")
        under = self.find(base, element, None, depth + 1)
        nothing = (0.0, 0.0, 0.0)
        own = offset(
            content_numbers(element, "translation", 3, nothing), content_numbers(element, "orientation", 3, nothing)
        )
        element.take()
        return Frame(under.body, placement_of(place_of(under.placement).then(own)))

    def at(self, frame: Frame, place: Sequence[float], turned: Sequence[float] = (0.0, 0.0, 0.0)) -> Frame:
        """A frame at a place in another."""
        if frame.placement.is_identity and not any(turned):
            return Frame(frame.body, placement(place))
        return Frame(frame.body, placement_of(place_of(frame.placement).then(offset(place, turned))))
