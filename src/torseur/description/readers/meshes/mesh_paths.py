"""Where the mesh files that a robot file names are on this machine, if they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from torseur.description.readers.meshes.package_folders import package_folders
from torseur.description.readers.robot_file import MeshFile

SUFFIXES = (".stl", ".obj", ".msh", ".dae")
_PACKAGE_SCHEMES = ("package://", "model://")


@dataclass(frozen=True)
class MeshFolder:
    """Looks for meshes beside a robot file and in the packages the user names; never on a network."""

    folder: Path
    packages: Mapping[str, str | Path]

    def find(self, name: str, beside: Path | None = None) -> MeshFile:
        """The mesh of that name, with its path when it is there; else beside the included file that names it."""
        mesh = next((path for path in self._candidates(name) if _is_mesh(path)), None)
        if mesh is None and beside is not None and "://" not in name and _is_mesh(beside / name):
            mesh = beside / name
        return MeshFile(name, mesh)

    def _candidates(self, name: str) -> Iterator[Path]:
        for scheme in _PACKAGE_SCHEMES:
            if name.startswith(scheme):
                package, _, rest = name.removeprefix(scheme).partition("/")
                yield from self._in_package(package, rest)
                return
        if name.startswith("file://"):
            yield Path(name.removeprefix("file://"))
        elif "://" not in name:
            yield self.folder / name

    def _in_package(self, package: str, rest: str) -> Iterator[Path]:
        """The package as the user names it, or a folder of its name at or above the file, or by its package.xml."""
        if package in self.packages:
            yield Path(self.packages[package]) / rest
        here = self.folder.absolute()
        for folder in (here, *here.parents):
            if folder.name == package:
                yield folder / rest
            yield folder / package / rest
        if package in (known := package_folders(here)):
            yield known[package] / rest


def _is_mesh(path: Path) -> bool:
    try:
        return path.suffix.lower() in SUFFIXES and path.is_file()
    except (OSError, ValueError):
        return False
