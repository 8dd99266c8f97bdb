"""Parts of a model that are written once and stand there many times: <replicate>.

Replica k stands in a frame, that of replica k - 1 moved by `offset` and turned by `euler`. Names get a suffix: the
separator and the number of the replica, with leading zeros. What refers to replicated parts (actuators, equalities,
tendons, sensors) is replicated with them. Tendons may lead from replicated parts to others, which they share.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy

from torseur.algebra.spatial import SAME, Transform
from torseur.description.readers.attribute_numbers import number, numbers
from torseur.description.readers.mjcf.mjcf_places import ORIGIN, place
from torseur.description.readers.mjcf.mjcf_settings import Settings
from torseur.description.readers.rigid_placement import place_of, quaternion_of
from torseur.description.readers.xml_document import MOST_ELEMENTS, Attribute, Element

MOST_REPLICAS = 1000
SECTIONS = ("contact", "equality", "tendon", "actuator", "sensor")
REFERENCES = (
    "actuator", "body", "body1", "body2", "cranksite", "geom", "geom1", "geom2", "joint", "joint1", "joint2",
    "jointinparent", "objname", "refname", "refsite", "site", "site1", "site2", "slidersite", "tendon", "tendon1",
    "tendon2",
)  # fmt: skip


def expand_replicas(root: Element, settings: Settings) -> None:
    """Puts frames with the replicas in the place of each <replicate>, inner ones first."""
    sections = [part for part in root.children if part.tag in SECTIONS]
    for world in root.children:
        if world.tag == "worldbody":
            _expand(world, settings, sections)


def _expand(element: Element, settings: Settings, sections: list[Element]) -> None:
    for child in element.children:
        _expand(child, settings, sections)
    parts: list[Element] = []
    for child in element.children:
        parts += _replicas(child, settings, sections) if child.tag == "replicate" else [child]
    element.children = parts


def _replicas(replicate: Element, settings: Settings, sections: list[Element]) -> list[Element]:
    count = int(number(replicate, "count"))
    if not 0 < count <= MOST_REPLICAS:
        raise replicate.fault(f"count of <replicate> is {count}: expected 1 to {MOST_REPLICAS}.")
    size = sum(1 for _ in replicate.walk())
    if size * count > MOST_ELEMENTS:
        raise replicate.fault(f"<replicate> makes more than {MOST_ELEMENTS} elements.")
    suffixes = [f"{replicate.text('sep') or ''}{k:0{len(str(count - 1))}d}" for k in range(count)]
    _replicate_references(replicate, suffixes, sections)
    return [
        _frame(replicate, at, [_rename(child, suffix) for child in replicate.children])
        for at, suffix in zip(_places(replicate, count, settings), suffixes, strict=True)
    ]


def _places(replicate: Element, count: int, settings: Settings) -> list[Transform]:
    moved = Element("frame", dict(replicate.attributes), replicate.file, replicate.line)
    x, y, z = numbers(replicate, "offset", 3, ORIGIN)
    moved.attributes["pos"] = Attribute(f"{x!r} {y!r} {z!r}")
    step, places = place_of(place(moved, settings)), [SAME]
    for _ in range(count - 1):
        places.append(places[-1].then(step))
    return places


def _frame(replicate: Element, at: Transform, children: list[Element]) -> Element:
    quaternion = quaternion_of([list(row) for row in at.rotation.matrix.rows])
    written = {"pos": list(at.position), "quat": list(quaternion)}
    attributes = {name: Attribute(" ".join(repr(float(c)) for c in values)) for name, values in written.items()}
    if "childclass" in replicate.attributes:
        attributes["childclass"] = replicate.attributes["childclass"]
    return Element("frame", attributes, replicate.file, replicate.line, children)


def _rename(element: Element, suffix: str) -> Element:
    copy = deepcopy(element)
    for part in copy.walk():
        if "name" in part.attributes:
            part.attributes["name"] = Attribute(f"{part.attributes['name'].read()}{suffix}")
    return copy


def _replicate_references(replicate: Element, suffixes: Iterable[str], sections: list[Element]) -> None:
    """Replicates what refers to parts of the replicas."""
    names = {str(part.text("name")) for part in replicate.walk() if "name" in part.attributes}
    # A tendon that is replicated takes along what refers to it, so its section comes before those of its users.
    for section in sorted(sections, key=lambda one: one.tag != "tendon"):
        shares = section.tag == "tendon"
        replicated = [child for child in section.children if _refers(child, names, shares)]
        if shares:
            names.update(str(child.text("name")) for child in replicated if "name" in child.attributes)
        # MuJoCo's order, in which it numbers controls: what is written once, then replica by replica.
        section.children = [child for child in section.children if not any(child is one for one in replicated)] + [
            _with_references(_rename(child, suffix), names, suffix) for suffix in suffixes for child in replicated
        ]


def _refers(element: Element, names: set[str], shares: bool) -> bool:
    """Whether an element refers to replicated parts; one that refers to others besides may share these, or is refused.

    MuJoCo drops equalities and actuators of both kinds without a word.
    """
    words = [
        str(part.text(name)) for part in element.walk() for name in part.attributes if name in REFERENCES
    ]  # fmt: skip
    replicated = [word for word in words if word in names]
    others = [word for word in words if word not in names]
    if replicated and others and not shares:
        raise element.fault(
            f"<{element.tag}> refers to '{replicated[0]}', which is replicated, and to '{others[0]}', which is not."
        )
    return bool(replicated)


def _with_references(element: Element, names: set[str], suffix: str) -> Element:
    for part in element.walk():
        for name, attribute in list(part.attributes.items()):
            if name in REFERENCES and attribute.read() in names:
                part.attributes[name] = Attribute(f"{attribute.read()}{suffix}")
    return element
