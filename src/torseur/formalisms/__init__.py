"""Ways of writing the equations of motion; all return the same `Equations`."""

from __future__ import annotations

from torseur.equations import Equations, Formulation
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.formalisms.recursive import Recursive
from torseur.mechanism import Mechanism
from torseur.tree import Tree, build_tree

FORMALISMS: dict[str, type[Formulation]] = {"recursive": Recursive}


def derive(mechanism: Mechanism | Tree, formalism: str = "recursive") -> Equations:
    """The equations of motion of a mechanism by the named formalism."""
    if formalism not in FORMALISMS:
        raise TorseurError(unknown_name("formalism", formalism, FORMALISMS))
    tree = mechanism if isinstance(mechanism, Tree) else build_tree(mechanism)
    _require_open(tree)
    return Equations(FORMALISMS[formalism](tree))


def _require_open(tree: Tree) -> None:
    """Refuses what these equations do not contain, naming it."""
    if tree.loops:
        names = ", ".join(f"'{joint.name}'" for joint in tree.loops)
        raise UnsupportedError(f"mechanism '{tree.mechanism.name}' has closed loops (joints {names} close them): "
                               "equations of motion are derived for open trees only.")
    if tree.mechanism.constraints:
        names = ", ".join(f"'{c.name}'" for c in tree.mechanism.constraints)
        raise UnsupportedError(f"mechanism '{tree.mechanism.name}' has constraints ({names}): "
                               "equations of motion are derived without constraints only.")


__all__ = ["FORMALISMS", "derive"]
