"""Ways of writing the equations of motion; all return the same `Equations`."""

from __future__ import annotations

from torseur.derivation.equations import Equations
from torseur.derivation.formalisms.catalogue import FORMALISMS, formulate
from torseur.derivation.formalisms.certification.certificate import Certificate, Entry, certify
from torseur.derivation.formalisms.ingredients.speed_span import require_spanning_speeds
from torseur.derivation.formalisms.joint_reactions import Reaction, reactions
from torseur.derivation.formalisms.recursive import Recursive
from torseur.derivation.tree import Tree, build_tree
from torseur.description.mechanism import Mechanism


def derive(mechanism: Mechanism | Tree, formalism: str = "recursive") -> Equations:
    """The equations of motion of a mechanism by the named formalism.

    Joints that close loops and constraints enter with multipliers (see Equations); the formalism writes M, b
    and Q of the tree.
    """
    tree = mechanism if isinstance(mechanism, Tree) else build_tree(mechanism)
    require_spanning_speeds(tree)
    return Equations(formulate(tree, formalism), reference=Recursive(tree))


__all__ = ["FORMALISMS", "Certificate", "Entry", "Reaction", "certify", "derive", "reactions"]
