"""Models attached to a model: <attach> puts a body of another file, with all below it, in its place.

Names of the other model get the prefix of the <attach>, and so do its classes of defaults; what refers to the attached
parts (tendons, actuators, equalities) comes along. The other file's own way of writing angles is turned into ours.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field, fields
from pathlib import Path

from torseur.description.mechanism import Placement
from torseur.description.readers.attribute_numbers import number_list
from torseur.description.readers.mjcf.mjcf_includes import expand_includes, path_inside
from torseur.description.readers.mjcf.mjcf_places import orientation
from torseur.description.readers.mjcf.mjcf_replicas import REFERENCES, SECTIONS, expand_replicas
from torseur.description.readers.mjcf.mjcf_settings import Settings, read_settings
from torseur.description.readers.rigid_placement import place_of, quaternion_of
from torseur.description.readers.xml_document import MOST_ELEMENTS, Attribute, Element, read_document
from torseur.errors import unknown_name

DEEPEST = 10
_NAMES = (*REFERENCES, "name", "class", "childclass", "mesh", "material", "target")
_TURNED = ("euler", "axisangle", "xyaxes", "zaxis")
_ANGLES = ("range", "ref", "springref")
# What a file says about all its inertias and limits: two files in one model have to agree about it.
_SHARED = ("automatic_limits", "inertia_from_geoms", "inertia_groups", "least_mass", "least_inertia", "balance",
           "total_mass", "strip_paths")  # fmt: skip


@dataclass
class Attachments:
    """What attaching brought besides bodies: classes of defaults on their own, and what has to be said."""

    defaults: list[Element] = field(default_factory=list)
    notes: list[tuple[str, Element]] = field(default_factory=list)
    count: int = 0
    partial: bool = False


def expand_attachments(
    root: Element, settings: Settings, folder: Path, depth: int = 0, partial: bool = False
) -> Attachments:
    """Puts the attached bodies in the place of each <attach>; where `partial`, models without a file are left out."""
    attachments = Attachments(partial=partial)
    files: dict[str, Path | None] = {}
    for asset in root.children:
        for model in asset.all("model") if asset.tag == "asset" else ():
            name, file = model.text("name"), model.text("file")
            if not file:
                raise model.fault('<model> needs file="...".')
            path = _model_file(model, file, folder, partial)
            # Without a name here a model has the one that its own file gives it.
            own = read_document(path).text("model") if path is not None else Path(file).stem
            files[name or own or "MuJoCo Model"] = path
    for world in [child for child in root.children if child.tag == "worldbody"]:
        for element in list(world.walk()):
            while (slot := next((k for k, c in enumerate(element.children) if c.tag == "attach"), None)) is not None:
                attach = element.children[slot]
                attached = _attach(root, attach, files, settings, depth, attachments)
                element.children[slot : slot + 1] = attached
    return attachments


def _model_file(model: Element, file: str, folder: Path, partial: bool) -> Path | None:
    """Where the other model is, or nothing where it is missing and need not be there."""
    path = path_inside(model, file, folder, must_exist=False)
    if path.is_file():
        return path
    if partial:
        return None
    raise model.fault(
        f"there is no file '{file}'. To read the rest without it: partial=True, in a name '?partial', or --partial."
    )


def _attach(
    root: Element, attach: Element, files: dict[str, Path | None], settings: Settings, depth: int, found: Attachments
) -> list[Element]:
    name, prefix = attach.text("model") or "", attach.text("prefix") or ""
    if not name and not files:
        raise attach.fault(
            '<attach> without model="..." copies a part of this file, which is not read: write the part out, or put it '
            "into a file of its own, named by a <model> among the assets."
        )
    if name not in files:
        raise attach.fault(unknown_name("model", name, files, "<attach>: "))
    if depth >= DEEPEST:
        raise attach.fault(f"models are attached to each other more than {DEEPEST} deep.")
    if (file := files[name]) is None:
        found.notes.append((f"<attach> of model '{name}', whose file is missing: its bodies are left out.", attach))
        return []
    other = read_document(file)
    if other.tag != "mujoco":
        raise attach.fault(f"'{file.name}' is not a model of MuJoCo: its root is <{other.tag}>.")
    home = file.parent
    expand_includes(other, home)
    own = read_settings(other)
    _require_agreement(attach, own, settings)
    inner = expand_attachments(other, own, home, depth + 1, found.partial)
    expand_replicas(other, own)
    found.count += sum(1 for _ in other.walk())
    if found.count > MOST_ELEMENTS:
        raise attach.fault(f"attached models have more than {MOST_ELEMENTS} elements.")
    _in_our_words(other, own, settings, home)
    # Without defaults of its own the other model has empty ones, not ours.
    tops = other.all("default") or [Element("default", {}, other.file, other.line)]
    for element in tops:
        element.attributes.setdefault("class", Attribute("main"))
    main = f"{prefix}{tops[-1].attributes['class'].value}"
    other.children += [element for element in tops if element not in other.children]
    defaults = [*tops, *inner.defaults]
    for part in (one for element in (*other.children, *inner.defaults) for one in element.walk()):
        for key in _NAMES:
            if key in part.attributes and part.attributes[key].value != "world":
                part.attributes[key] = Attribute(f"{prefix}{part.attributes[key].value}")
    found.defaults += defaults
    found.notes += inner.notes
    if any(child.tag == "keyframe" for child in other.children):
        found.notes.append(("<keyframe> of an attached model: its states are not offered.", attach))
    bodies = _bodies(attach, other, prefix)
    for body in bodies:
        body.attributes.setdefault("childclass", Attribute(main))
    _bring_sections(root, other, bodies, main)
    return bodies


def _require_agreement(attach: Element, own: Settings, ours: Settings) -> None:
    known = {one.name for one in fields(Settings)}
    for key in _SHARED:
        assert key in known
        if getattr(own, key) != getattr(ours, key):
            raise attach.fault(
                f"the attached model has another <compiler> setting ({key.replace('_', ' ')}) than this one; give both "
                "files the same."
            )


def _in_our_words(other: Element, own: Settings, ours: Settings, home: Path) -> None:
    """Orientations as quaternions, angles of joints in our unit, meshes by their whole paths."""
    factor = own.radians / ours.radians
    slides = any(
        e.attributes["type"].value == "slide" for e in other.walk() if e.tag == "joint" and "type" in e.attributes
    )
    for element in other.walk():
        if any(key in element.attributes for key in _TURNED):
            turned = place_of(Placement(rotation=orientation(element, own))).rotation
            quaternion = quaternion_of([list(row) for row in turned.matrix.rows])
            element.attributes = {k: v for k, v in element.attributes.items() if k not in _TURNED}
            element.attributes["quat"] = Attribute(" ".join(repr(float(c)) for c in quaternion))
        if element.tag == "joint" and not math.isclose(factor, 1.0):
            _convert_angles(element, factor, slides)
        if element.tag == "mesh" and "file" in element.attributes:
            file = element.attributes["file"].value
            element.attributes.setdefault("name", Attribute(Path(file).stem))
            element.attributes["file"] = Attribute(str((home / own.mesh_folder / file).resolve()))


def _convert_angles(joint: Element, factor: float, has_slides: bool) -> None:
    given = [key for key in _ANGLES if key in joint.attributes]
    if not given or joint.attributes.get("type", Attribute("")).value == "slide":
        return
    # A class may make a slide of what says nothing itself, and lengths are in metres in every file.
    if "type" not in joint.attributes and has_slides:
        raise joint.fault(
            "the attached model writes angles in another unit than this one, and has slides, so that this joint has to "
            'say its type; or give both files the same <compiler angle="...">.'
        )
    for key in given:
        values = number_list(joint, key) or ()
        joint.attributes[key] = Attribute(" ".join(repr(value * factor) for value in values))


def _bodies(attach: Element, other: Element, prefix: str) -> list[Element]:
    """The body that is asked for, or everything in the other model's world."""
    wanted = attach.text("body")
    worlds = [child for child in other.children if child.tag == "worldbody"]
    if wanted is None:
        frame = Element("frame", {}, attach.file, attach.line)
        frame.children = [child for world in worlds for child in world.children]
        return [frame]
    every = [e for world in worlds for e in world.walk() if e.tag == "body"]
    named = {str(e.attributes["name"].value): e for e in every if "name" in e.attributes}
    if f"{prefix}{wanted}" not in named:
        known = [name.removeprefix(prefix) for name in named]
        raise attach.fault(unknown_name("body", wanted, known, "<attach>: "))
    return [deepcopy(named[f"{prefix}{wanted}"])]


def _bring_sections(root: Element, other: Element, bodies: list[Element], main: str) -> None:
    """What refers to nothing but attached parts; meshes and materials come along whole."""
    names = {str(e.attributes["name"].value) for body in bodies for e in body.walk() if "name" in e.attributes}
    names.add("world")
    for tag in ("asset", "tendon", *(tag for tag in SECTIONS if tag != "tendon")):
        for section in [child for child in other.children if child.tag == tag]:
            for element in [child for child in section.children if child.tag != "model"]:
                if tag != "asset" and not _refers_within(element, names):
                    continue
                element.attributes.setdefault("class", Attribute(main))
                _section(root, tag).children.append(element)
                if tag in ("tendon", "actuator") and "name" in element.attributes:
                    names.add(element.attributes["name"].value)


def _refers_within(element: Element, names: set[str]) -> bool:
    words = [p.attributes[key].value for p in element.walk() for key in REFERENCES if key in p.attributes]
    return all(word in names for word in words)


def _section(root: Element, tag: str) -> Element:
    section = next((child for child in root.children if child.tag == tag), None)
    if section is None:
        section = Element(tag, {}, root.file, root.line)
        root.children.append(section)
    return section
