"""Ready mechanisms by name: classics, machines and chains of any length, each readable as LSD text.

import torseur.description.library as library
mechanism = library.load("double_pendulum")
chain = library.load("pendulum_chain?n=20")
"""

from torseur.description.library.catalogue import PREFIX, SYSTEMS, Entry, entries, find, linkages, load, source_of
from torseur.edges.arguments import explain_names

__all__ = ["PREFIX", "SYSTEMS", "Entry", "entries", "find", "linkages", "load", "source_of"]

explain_names(globals())
