"""What the parts of the reader share: the assembly, the frames, and the coordinates by the names of the file."""

from __future__ import annotations

from dataclasses import dataclass, field

from torseur.algebra.graph import Expr
from torseur.description.mechanism import Coordinate
from torseur.description.readers.osim.osim_frames import Frames
from torseur.description.readers.robot_assembly import Assembly, Names
from torseur.description.readers.xml_document import Element
from torseur.errors import unknown_name


@dataclass
class Scene:
    """A model while it is read."""

    assembly: Assembly
    frames: Frames
    coordinates: dict[str, Coordinate] = field(default_factory=dict)
    bodies_of_joints: dict[int, str] = field(default_factory=dict)
    tables: Names = field(default_factory=lambda: Names("table"))
    tensions: Names = field(default_factory=lambda: Names("parameter"))

    def coordinate(self, name: str, element: Element) -> Coordinate:
        """A coordinate by its name or its path in the file."""
        last = name.strip().rpartition("/")[2]
        if last not in self.coordinates:
            raise element.fault(unknown_name("coordinate", last, sorted(self.coordinates)))
        return self.coordinates[last]

    def start(self, name: str, element: Element) -> float:
        """Where a coordinate is in the model's default posture."""
        return self.assembly.initial.get(self.coordinate(name, element).name, 0.0)

    def symbols(self, names: list[str], element: Element) -> list[Expr]:
        return [self.coordinate(name, element).symbol for name in names]
