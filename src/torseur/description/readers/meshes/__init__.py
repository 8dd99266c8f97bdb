"""Triangle meshes: reading STL, OBJ and COLLADA, and the inertia of what a closed mesh encloses."""

from torseur.description.readers.meshes.mesh import Mesh, enclosed_inertia, open_edges
from torseur.description.readers.meshes.read_mesh import read_mesh

__all__ = ["Mesh", "enclosed_inertia", "open_edges", "read_mesh"]
