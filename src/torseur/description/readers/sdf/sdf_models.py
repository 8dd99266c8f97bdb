"""Models of an SDF file: those nested in others and those included from other files, and the frames of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from torseur.description.readers.attribute_numbers import content_switch, content_text
from torseur.description.readers.reading_ledger import Ledger
from torseur.description.readers.robot_assembly import Options
from torseur.description.readers.sdf.sdf_frames import BETWEEN, MODEL, WORLD, FrameGraph, Node, pose_of, within
from torseur.description.readers.xml_document import Element, read_document

MOST_FILES = 100
_SCHEMES = ("model://", "package://", "file://")
# Gazebo's own light and floor, which worlds include and which hold nothing that moves.
STAGE = ("sun", "ground_plane")


@dataclass(frozen=True)
class Model:
    """A model with its full name, the version of the file it is written in, and that file's folder."""

    element: Element
    name: str
    version: tuple[int, ...]
    static: bool
    folder: Path

    def parts(self, *tags: str) -> list[Element]:
        return self.element.all(*tags)


@dataclass
class Library:
    """Looks for included models beside the file and in the folders the user names; never on a network."""

    options: Options
    ledger: Ledger
    files: int = 0

    def models_of(self, root: Element, folder: Path) -> list[Model]:
        """All models of a file, outer ones first."""
        version = version_of(root)
        worlds = root.all("world")
        if len(worlds) > 1:
            raise worlds[1].fault("the file has more than one <world>.")
        models: list[Model] = []
        for world in worlds or [root]:
            world.text("name")
            self._add_children(world, "", version, False, folder, models)
        return models

    def _add_children(self, owner: Element, scope: str, version: tuple[int, ...], static: bool, folder: Path,
                      models: list[Model]) -> None:  # fmt: skip
        for element, own_version, own_folder in self._children(owner, version, folder):
            name = element.text("name")
            if not name:
                raise element.fault('<model> needs name="...".')
            if BETWEEN in name:
                raise element.fault(f"the model's name '{name}' holds {BETWEEN}, which separates names of models.")
            full = within(scope, name)
            if any(model.name == full for model in models):
                raise element.fault(f"two models are called '{full}'.")
            held = content_switch(element, "static", False) or static
            models.append(Model(element, full, own_version, held, own_folder))
            self._add_children(element, full, own_version, held, own_folder, models)

    def _children(
        self, owner: Element, version: tuple[int, ...], folder: Path
    ) -> Iterator[tuple[Element, tuple[int, ...], Path]]:
        """The models in an element, included ones with what their <include> changes about them."""
        # A merged model leaves its parts to its owner, further includes among them.
        k = 0
        while k < len(owner.children):
            child = owner.children[k]
            if child.tag == "include" and (child.text("merge") or "false") in ("true", "1"):
                included = self._include(child, folder)
                if included is not None:
                    owner.children[k + 1 : k + 1] = _merged_parts(child, included[0])
            elif child.tag == "include":
                included = self._include(child, folder)
                if included is not None:
                    # Beside its <include>, so that what is not read of it is listed with the rest.
                    k += 1
                    owner.children.insert(k, included[0])
                    included[0].used = True
                    yield included
            elif child.tag == "model":
                child.used = True
                yield child, version, folder
            k += 1

    def _include(self, include: Element, folder: Path) -> tuple[Element, tuple[int, ...], Path] | None:
        include.used = True
        uri = content_text(include, "uri")
        if not uri:
            raise include.fault("<include> needs <uri>.")
        path = self._find(uri, folder)
        if path is None:
            name = uri.rstrip("/").rsplit("/", 1)[-1]
            if name not in STAGE and not self.options.partial:
                raise include.fault(
                    f"the model '{uri}' is not here, so that the robot would lose its bodies. Name its folder with "
                    "packages={...}, or read the rest with partial=True, in a name '?partial', or --partial."
                )
            include.take()
            self.ledger.note_unmodelled(f"<include>: the model '{uri}' is not here.", include)
            return None
        self.files += 1
        if self.files > MOST_FILES:
            raise include.fault(f"the file includes more than {MOST_FILES} models.")
        root = read_document(path)
        root.used = True
        models = root.all("model")
        if root.tag != "sdf" or len(models) != 1:
            raise include.fault(f"'{path.name}' of '{uri}' is not an SDF file with one <model>.")
        return _with_placement(models[0], include), version_of(root), path.parent

    def _find(self, uri: str, folder: Path) -> Path | None:
        name = uri
        for scheme in _SCHEMES:
            name = name.removeprefix(scheme)
        if "://" in name:
            return None
        first, _, rest = name.partition("/")
        places = [Path(self.options.packages[first]) / rest] if first in self.options.packages else []
        here = folder.absolute()
        # model:// names a folder in a list of folders; the usual layout keeps models side by side.
        places += [parent / name for parent in (here, *list(here.parents)[:2])]
        return next((file for place in places if (file := _model_file(place)) is not None), None)


def _model_file(place: Path) -> Path | None:
    """The SDF file that a path means: itself, or the one that a folder's model.config names."""
    try:
        if place.is_file():
            return place if place.suffix.lower() in (".sdf", ".world", ".xml") else None
        if not place.is_dir():
            return None
        config = place / "model.config"
        if config.is_file():
            names = [sdf.content.strip() for sdf in read_document(config).all("sdf")]
            # Several files serve several versions of the format; the last is the newest by custom.
            files = [place / name for name in reversed(names) if Path(name).name == name]
            return next((file for file in files if file.is_file()), None)
        plain = place / "model.sdf"
        return plain if plain.is_file() else None
    except (OSError, ValueError):
        return None


def _with_placement(model: Element, include: Element) -> Element:
    """An included model with the name, pose, frame of placement and stillness that its <include> gives it."""
    name = content_text(include, "name")
    if name:
        model.attributes["name"].value = name
    frame = content_text(include, "placement_frame")
    if frame:
        model.attributes["placement_frame"] = type(model.attributes["name"])(frame)
    for tag in ("pose", "static"):
        given = [child for child in include.children if child.tag == tag]
        if given:
            include.all(tag)
            model.children = [child for child in model.children if child.tag != tag] + given
    return model


def _merged_parts(include: Element, model: Element) -> list[Element]:
    """The parts of a model that its owner takes over; what is relative to the model is so to the owner's frame."""
    if any(child.tag in ("pose", "static") and set(child.content.split()) - {"0", "false"} for child in model.children):
        raise include.fault("a merged <include> that is moved or held is not read; include it without merge.")
    return [child for child in model.children if child.tag not in ("pose", "static")]


def version_of(root: Element) -> tuple[int, ...]:
    """The version of the format that a file is written in."""
    text = root.text("version") or ""
    try:
        return tuple(int(part) for part in text.split("."))
    except ValueError:
        raise root.fault(f'version="{text[:20]}" of <sdf>: expected one such as 1.6.') from None


def frames_of(models: list[Model]) -> FrameGraph:
    """Every model, link, frame and joint as a frame of the graph."""
    graph = FrameGraph()
    waiting: list[tuple[str, Model, Element, str]] = []  # frame, model, element, kind
    for model in models:
        waiting.append((within(model.name, MODEL), model, model.element, "model"))
        for kind in ("link", "frame", "joint"):
            for element in model.parts(kind):
                name = element.text("name")
                if not name:
                    raise element.fault(f'<{kind}> needs name="...".')
                waiting.append((within(model.name, name), model, element, kind))
    for name, _, element, kind in waiting:
        graph.add(name, Node(element, WORLD, pose_of(element)[0], WORLD))
        if kind == "link":
            graph.links[name] = ""
    for name, model, element, kind in waiting:
        _connect(graph, name, model, element, kind)
    return graph


def _connect(graph: FrameGraph, name: str, model: Model, element: Element, kind: str) -> None:
    """Sets what a frame is given in and what carries it."""
    node, base = graph.nodes[name], pose_of(element)[1]
    own = within(model.name, MODEL)
    if kind == "model":
        outer = model.name.rpartition(BETWEEN)[0]
        usual = within(outer, MODEL) if outer else WORLD
        node.base = graph.find(base, outer, element) if base else usual
        frame = element.text("placement_frame")
        node.placed_by = graph.find(frame, model.name, element) if frame else ""
        node.carrier = _canonical_link(graph, model)
        return
    if kind == "link":
        usual = own
        node.carrier = name
    elif kind == "frame":
        attached = element.text("attached_to")
        usual = graph.find(attached, model.name, element) if attached else own
        node.carrier = usual
    else:
        child = content_text(element, "child")
        if not child:
            raise element.fault(f"joint '{name}' needs <child>.")
        usual = graph.find(child, model.name, element)
        node.carrier = usual
    node.base = graph.find(base, model.name, element) if base else usual


def _canonical_link(graph: FrameGraph, model: Model) -> str:
    """The link that carries a model's own frame: the one it names, or its first."""
    name = model.element.text("canonical_link")
    if name:
        return graph.find(name, model.name, model.element)
    inside = within(model.name, "")
    return next((link for link in graph.links if link.startswith(inside)), WORLD)
