"""The formalisms by name."""

from __future__ import annotations

from torseur.equations import Formulation
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.formalisms.boltzmann_hamel import BoltzmannHamel
from torseur.formalisms.dalembert import DAlembert
from torseur.formalisms.gibbs_appell import GibbsAppell
from torseur.formalisms.hamilton import Hamilton
from torseur.formalisms.inertia_tensors import InertiaTensors
from torseur.formalisms.kane import Kane
from torseur.formalisms.lagrange import Lagrange
from torseur.formalisms.lagrange_multipliers import LagrangeMultipliers
from torseur.formalisms.lie_group import LieGroup
from torseur.formalisms.newton_euler import NewtonEuler
from torseur.formalisms.recursive import Recursive
from torseur.tree import Tree

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
