"""Writing shapes as geoms: for pictures alone, without mass and without contact."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from torseur.algebra.spatial import Transform
from torseur.description.readers.rigid_placement import place_of
from torseur.description.readers.robot_assembly import Names
from torseur.description.readers.robot_file import Shape
from torseur.description.readers.writing.file_outline import LeftOut
from torseur.description.readers.writing.simple_joints import is_nothing
from torseur.description.readers.writing.xml_markup import Value, element, quaternion

_HALVES = {"box": (0.5,) * 3, "sphere": (1.0,), "cylinder": (1.0, 0.5), "capsule": (1.0, 0.5), "ellipsoid": (1.0,) * 3}
MOST_FACES_OF_STL = 200_000  # MuJoCo reads no more
STL_HEADER, STL_FACE = 84, 50  # bytes of binary files, the only ones it reads


@dataclass
class ShapeWriter:
    """Adds geoms to bodies, and a mesh to the assets for each file and scale."""

    root: ElementTree.Element
    left: LeftOut
    names: Names = field(default_factory=lambda: Names("mesh", ()))
    meshes: dict[tuple[Path, tuple[float, ...]], str] = field(default_factory=dict)

    def add(self, body: ElementTree.Element, shape: Shape) -> None:
        form = self._form(shape)
        if form is None:
            mesh = f"{shape.mesh.name}; MuJoCo reads OBJ, MSH and binary STL" if shape.mesh is not None else shape.kind
            self.left.note(f"a shape of body '{shape.body}' ({mesh})")
            return
        colour = {} if shape.colour is None else {"rgba": shape.colour}
        group = 0 if shape.role == "visual" else 3
        # Inertias are written as they are: a shape with mass would add to them, one that touches would change motions.
        ghost = {"mass": 0, "contype": 0, "conaffinity": 0, "group": group}
        element(body, "geom", type=shape.kind, **form, **ghost, **pose(place_of(shape.at)), **colour)

    def _form(self, shape: Shape) -> dict[str, Value] | None:
        """The size, or the name of the mesh; None where MuJoCo has no such shape."""
        if shape.kind in _HALVES:
            return {"size": [factor * x for factor, x in zip(_HALVES[shape.kind], shape.size, strict=True)]}
        path = shape.mesh.path if shape.mesh is not None else None
        if shape.kind != "mesh" or shape.mesh is None or path is None or not _is_read_by_mujoco(path):
            return None
        if (path, shape.size) not in self.meshes:
            name = self.meshes[path, shape.size] = self.names.fresh(path.stem)
            assets = self.root.find("asset")
            assets = assets if assets is not None else element(self.root, "asset")
            # A shell is the only inertia that every surface has, open ones and flat ones too; it is not used.
            element(assets, "mesh", name=name, file=shape.mesh.name, scale=shape.size, inertia="shell")
        return {"mesh": self.meshes[path, shape.size]}


def pose(place: Transform) -> dict[str, tuple[float, ...]]:
    if is_nothing(place):
        return {}
    return {"pos": tuple(float(c) for c in place.position), "quat": quaternion(place)}


def _is_read_by_mujoco(path: Path) -> bool:
    """OBJ, its own MSH, and binary STL that is not too large; no COLLADA."""
    kind = path.suffix.lower()
    if kind != ".stl":
        return kind in (".obj", ".msh")
    with path.open("rb") as file:
        faces = int.from_bytes(file.read(STL_HEADER)[-4:], "little")
    return path.stat().st_size == STL_HEADER + STL_FACE * faces and 0 < faces <= MOST_FACES_OF_STL
