"""Folders of packages of ROS by the name that their package.xml gives them, which a clone's folder often has not."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from torseur.description.readers.xml_document import RobotFileError, read_document

MOST_BESIDE = 200


@lru_cache(maxsize=64)
def package_folders(folder: Path) -> dict[str, Path]:
    """Packages at or above a folder, and beside those: the nearest of each name."""
    packages: dict[str, Path] = {}
    here = folder.absolute()
    for place in (here, *here.parents):
        name = _name_of(place)
        if name is None:
            continue
        packages.setdefault(name, place)
        for other in _beside(place):
            neighbour = _name_of(other)
            if neighbour is not None:
                packages.setdefault(neighbour, other)
    return packages


def _beside(package: Path) -> list[Path]:
    try:
        folders = sorted(path for path in package.parent.iterdir() if path.is_dir())
    except OSError:
        return []
    return folders[:MOST_BESIDE]


def _name_of(folder: Path) -> str | None:
    """The name in the folder's package.xml, where it is a package."""
    try:
        file = folder / "package.xml"
        root = read_document(file) if file.is_file() else None
    except (OSError, RobotFileError):
        return None
    name = None if root is None or root.tag != "package" else root.first("name")
    return None if name is None else name.content.strip() or None
