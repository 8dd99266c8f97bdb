"""A text as a mechanism with its tree and equations, kept for the last few texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from torseur.equations import Equations, missing_values
from torseur.formalisms import derive
from torseur.language import parse
from torseur.mechanism import Mechanism
from torseur.report.compose.account import undetermined_functions
from torseur.report.compose.compose import Page
from torseur.report.compose.numbers import Numbers
from torseur.simulation import Trajectory
from torseur.tree import Tree, build_tree

MOST_KEPT = 4


@dataclass(frozen=True, eq=False)
class Model:
    """What a text describes; its equations by a formalism are derived when first asked for."""

    mechanism: Mechanism
    tree: Tree

    @cached_property
    def _derived(self) -> dict[str, Equations]:
        return {}

    def equations(self, formalism: str = "recursive") -> Equations:
        """The equations of motion by a formalism."""
        if formalism not in self._derived:
            self._derived[formalism] = derive(self.tree, formalism)
        return self._derived[formalism]

    def page(self, values: Mapping[str, float], trajectory: Trajectory | None = None) -> Page:
        """The parts of a report on the mechanism with these values."""
        return Page(self.tree, None, trajectory, self.own(values), {})

    def filled(self, values: Mapping[str, float]) -> dict[str, float]:
        """Values for all parameters that the text gives none: those given here, and 0."""
        own = self.own(values)
        return dict.fromkeys(Numbers(self.tree, own).missing, 0.0) | own

    def lacking(self, values: Mapping[str, float]) -> list[str]:
        """The parameters and functions that a motion needs and nobody gives."""
        return [*missing_values(self.equations(), self.own(values)), *undetermined_functions(self.tree)]

    def own(self, values: Mapping[str, float]) -> dict[str, float]:
        """Of these values, those of parameters that the mechanism has: a page may still hold those of an older text."""
        names = set(self.tree.layout.parameter_names)
        return {name: value for name, value in values.items() if name in names}

    def own_start(self, initial: Mapping[str, float]) -> dict[str, float]:
        """Of these values, those of coordinates and speeds that the mechanism has."""
        layout = self.tree.layout
        names = {*layout.coordinate_names, *layout.speed_names}
        return {name: value for name, value in initial.items() if name in names}


@lru_cache(maxsize=MOST_KEPT)
def model_of(text: str, folder: Path | None) -> Model:
    """The model of a text; tables that it names are read from the folder, and only there."""
    mechanism = parse(text, "text", folder)
    return Model(mechanism, build_tree(mechanism))
