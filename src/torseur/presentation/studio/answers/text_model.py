"""A text as a mechanism with its tree and equations, kept for the last few texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from torseur.computation.simulation import Trajectory
from torseur.derivation.equations import Equations, missing_values
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import Tree, build_tree
from torseur.derivation.tree.definitions import undetermined_functions
from torseur.description.language import parse
from torseur.description.mechanism import Guess, Mechanism
from torseur.presentation.report.compose.compose_report import Page
from torseur.presentation.scene.bodies.known_numbers import Numbers
from torseur.presentation.scene.bodies.vectors import ArrowKind

MOST_KEPT = 4


@dataclass(frozen=True, eq=False)
class Model:
    """What a text describes; its equations by a formalism are derived when first asked for."""

    mechanism: Mechanism
    tree: Tree

    # Kept per model, so that what was derived goes when its text is forgotten.
    @cached_property
    def _by_formalism(self) -> dict[str, Equations]:
        return {}

    def equations(self, formalism: str = "recursive") -> Equations:
        """The equations of motion by a formalism."""
        if formalism not in self._by_formalism:
            self._by_formalism[formalism] = derive(self.tree, formalism)
        return self._by_formalism[formalism]

    def page(
        self, values: Mapping[str, float], trajectory: Trajectory | None = None, arrows: tuple[ArrowKind, ...] = ()
    ) -> Page:
        """The parts of a report on the mechanism with these values, and arrows of these kinds along its motion."""
        return Page(self.tree, None, trajectory, self.own(values), {}, arrows=arrows)

    def fill(self, values: Mapping[str, float]) -> dict[str, float]:
        """Values for all parameters that the text gives none: those given here, and 0."""
        own = self.own(values)
        return dict.fromkeys(Numbers(self.tree, own).missing, 0.0) | own

    def missing(self, values: Mapping[str, float]) -> list[str]:
        """The parameters and functions that a motion needs and nobody gives."""
        return [*missing_values(self.equations(), self.own(values)), *undetermined_functions(self.tree.mechanism)]

    def own(self, values: Mapping[str, float]) -> dict[str, float]:
        """Of these values, those of parameters that the mechanism has: a page may still hold those of an older text."""
        names = set(self.tree.layout.parameter_names)
        return {name: value for name, value in values.items() if name in names}

    def own_start(self, initial: Mapping[str, float]) -> dict[str, float]:
        """Of these values, those of coordinates and speeds that the mechanism has."""
        layout = self.tree.layout
        names = {*layout.coordinate_names, *layout.speed_names}
        # A slider moves what the text guesses without making it exact.
        guesses = self.mechanism.guesses
        return {n: Guess(value) if n in guesses else value for n, value in initial.items() if n in names}


@lru_cache(maxsize=MOST_KEPT)
def model_of(text: str, folder: Path | None) -> Model:
    """The model of a text; tables that it names are read from the folder, and only there."""
    mechanism = parse(text, "text", folder)
    return Model(mechanism, build_tree(mechanism))
