"""Ways of writing the equations of motion; all return the same `Equations`."""

from __future__ import annotations

from torseur.equations import Equations
from torseur.formalisms.catalogue import FORMALISMS, formulate
from torseur.formalisms.certificate import Certificate, Entry, certify
from torseur.formalisms.reactions import Reaction, reactions
from torseur.formalisms.spanning import require_spanning_speeds
from torseur.mechanism import Mechanism
from torseur.tree import Tree, build_tree


def derive(mechanism: Mechanism | Tree, formalism: str = "recursive") -> Equations:
    """The equations of motion of a mechanism by the named formalism.

    Joints that close loops and constraints enter with multipliers (see Equations); the formalism writes M, b
    and Q of the tree.
    """
    tree = mechanism if isinstance(mechanism, Tree) else build_tree(mechanism)
    require_spanning_speeds(tree)
    return Equations(formulate(tree, formalism))


__all__ = ["FORMALISMS", "Certificate", "Entry", "Reaction", "certify", "derive", "reactions"]
