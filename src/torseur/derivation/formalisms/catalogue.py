"""The formalisms by name."""

from __future__ import annotations

from torseur.derivation.equations import Formulation
from torseur.derivation.formalisms.boltzmann_hamel import BoltzmannHamel
from torseur.derivation.formalisms.dalembert import DAlembert
from torseur.derivation.formalisms.gibbs_appell import GibbsAppell
from torseur.derivation.formalisms.hamilton import Hamilton
from torseur.derivation.formalisms.inertia_tensors import InertiaTensors
from torseur.derivation.formalisms.kane import Kane
from torseur.derivation.formalisms.lagrange import Lagrange
from torseur.derivation.formalisms.lagrange_multipliers import LagrangeMultipliers
from torseur.derivation.formalisms.lie_group import LieGroup
from torseur.derivation.formalisms.newton_euler import NewtonEuler
from torseur.derivation.formalisms.recursive import Recursive
from torseur.derivation.tree import Tree
from torseur.errors import TorseurError, UnsupportedError, unknown_name

FORMALISMS: dict[str, type[Formulation]] = {
    "recursive": Recursive,
    "newton_euler": NewtonEuler,
    "dalembert": DAlembert,
    "lagrange": Lagrange,
    "lagrange_multipliers": LagrangeMultipliers,
    "hamilton": Hamilton,
    "kane": Kane,
    "gibbs_appell": GibbsAppell,
    "boltzmann_hamel": BoltzmannHamel,
    "lie_group": LieGroup,
    "inertia_tensors": InertiaTensors,
}


def formulation_of(tree: Tree, formalism: str) -> Formulation:
    """A tree by the named formalism, whether it applies or not."""
    if formalism not in FORMALISMS:
        raise TorseurError(unknown_name("formalism", formalism, FORMALISMS))
    return FORMALISMS[formalism](tree)


def formulate(tree: Tree, formalism: str) -> Formulation:
    """A tree by the named formalism; refused with the reason where it does not apply."""
    formulation = formulation_of(tree, formalism)
    reason = formulation.refusal()
    if reason:
        raise UnsupportedError(f"{formalism} does not apply to mechanism '{tree.mechanism.name}': {reason}")
    return formulation
