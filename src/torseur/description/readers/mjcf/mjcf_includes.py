"""Files that a model includes: XML on paths relative to the model's folder, never from far away."""

from __future__ import annotations

from pathlib import Path

from torseur.description.readers.xml_document import MOST_ELEMENTS, Element, read_document

MOST_FILES = 100
FARTHEST = 4  # folders that a path may go up
SUFFIXES = (".xml", ".mjcf")


def expand_includes(root: Element, folder: Path) -> None:
    """Puts the content of included files in the place of each <include>, and of those within them.

    A path is looked for from the folder of the file that it is written in, then from that of the model.
    """
    seen: set[Path] = set()
    waiting, count = [(root, folder)], 0
    while waiting:
        element, here = waiting.pop()
        count += 1
        if count > MOST_ELEMENTS:
            raise element.fault(f"the model has more than {MOST_ELEMENTS} elements with what it includes.")
        parts = [(child, here) for child in element.children]
        while any(child.tag == "include" for child, _ in parts):
            parts = [
                part
                for child, at in parts
                for part in (_read_included(child, at, folder, seen) if child.tag == "include" else [(child, at)])
            ]
        element.children = [child for child, _ in parts]
        if here != folder:
            element.folder = here
        waiting.extend(parts)


def _read_included(include: Element, here: Path, folder: Path, seen: set[Path]) -> list[tuple[Element, Path]]:
    name = include.text("file")
    if not name:
        raise include.fault('<include> needs file="...".')
    beside = here != folder and _is_file(here / name)
    path = path_inside(include, name, here if beside else folder)
    if path in seen:
        raise include.fault(f"the file '{name}' is included twice.")
    seen.add(path)
    if len(seen) > MOST_FILES:
        raise include.fault(f"the model includes more than {MOST_FILES} files.")
    return [(child, path.parent) for child in read_document(path).children]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def path_inside(include: Element, name: str, folder: Path, must_exist: bool = True) -> Path:
    """The path of an included file: XML in the model's folder, or a few folders up and down again."""
    try:
        here, path = folder.resolve(), (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as problem:
        raise include.fault(f"the path '{name}' cannot be followed: {problem}.") from None
    home = ([here, *here.parents][: FARTHEST + 1])[-1]
    if Path(name).is_absolute() or not path.is_relative_to(home):
        raise include.fault(f"'{name}' is far from the folder of the model; such files are not included.")
    if path.suffix.lower() not in SUFFIXES:
        raise include.fault(f"'{name}' is not included: expected a file that ends in {' or '.join(SUFFIXES)}.")
    if must_exist and not path.is_file():
        raise include.fault(f"there is no file '{name}' to include.")
    return path
