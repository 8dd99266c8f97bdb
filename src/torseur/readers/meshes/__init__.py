"""Triangle meshes: reading STL, OBJ and COLLADA, and the inertia of what a closed mesh encloses."""

from torseur.readers.meshes.mesh import Mesh, enclosed, open_edges
from torseur.readers.meshes.reading import read_mesh

__all__ = ["Mesh", "enclosed", "open_edges", "read_mesh"]
