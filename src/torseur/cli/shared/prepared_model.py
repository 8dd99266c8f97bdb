"""A mechanism with its values on the way to equations and motions: what several commands begin with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from torseur.algebra.graph import as_expr
from torseur.cli.shared.console import progress
from torseur.cli.shared.exits import USAGE, CommandError
from torseur.cli.shared.options import ValueOptions
from torseur.cli.shared.sources import Source, open_source
from torseur.cli.shared.value_options import Values, law_formulas, names_of_start, read_values, with_laws
from torseur.derivation.equations import Equations, missing_values
from torseur.derivation.formalisms import derive
from torseur.derivation.tree import Tree, build_tree, with_stated
from torseur.derivation.tree.definitions import undetermined_functions
from torseur.description.language.formulas.quantities_with_units import quantity
from torseur.description.mechanism import Mechanism
from torseur.description.mechanism.quantities import Guess
from torseur.description.mechanism.units import parse_unit
from torseur.errors import list_names

if TYPE_CHECKING:
    from torseur.computation.simulation import Trajectory

NOTHING = ValueOptions()


@dataclass(frozen=True)
class Work:
    """A source, its tree and the values that differ from the description."""

    source: Source
    tree: Tree
    values: Values

    @staticmethod
    def begin(source: str, given: ValueOptions = NOTHING) -> Work:
        """Reads the mechanism and the values."""
        opened = open_source(source)
        lawful = with_laws(opened.mechanism, law_formulas(given.laws, given.values))
        complete = opened.with_mechanism(with_stated(lawful, names_of_start(given.starts, given.values)))
        tree = build_tree(complete.mechanism)
        return Work(complete, tree, read_values(tree, given.settings, given.starts, given.values))

    @property
    def started(self) -> Mechanism:
        """The mechanism whose own start is the one asked for: what follows from a start alone sees nothing else."""
        mechanism, given = self.source.mechanism, self.values.initial
        if not given:
            return mechanism
        kept = [entry for entry in mechanism.initial if entry[0] not in given]
        guesses = [name for name in mechanism.guesses if name not in given]
        guesses += [name for name, value in given.items() if isinstance(value, Guess)]
        start = (*kept, *((name, as_expr(float(value))) for name, value in given.items()))
        return replace(mechanism, initial=start, guesses=tuple(guesses))

    def equations(self, formalism: str) -> Equations:
        return derive(self.tree, formalism)

    def gap(self, equations: Equations) -> str:
        """What a motion lacks, in words; empty when nothing does."""
        missing = missing_values(equations, self.values.parameters)
        functions = undetermined_functions(self.tree.mechanism)
        parts = [f"no value for {list_names(missing)} (--set NAME=VALUE or --values FILE)"] if missing else []
        parts += [f"no formula for {list_names(functions)} (--law 'NAME(ARGUMENTS)=FORMULA')"] if functions else []
        return " and ".join(parts)

    def require_determined(self, equations: Equations) -> None:
        if gap := self.gap(equations):
            raise CommandError(f"{self.source.mechanism.name}: a motion needs numbers, and there is {gap}.")

    def require_constraints(self, option: str, given: bool) -> None:
        """Refuses an option of constrained mechanisms where there are neither loops nor constraints."""
        if given and not (self.tree.loops or self.tree.mechanism.constraints):
            name = self.source.mechanism.name
            raise CommandError(
                f"{option} does not apply: '{name}' has no loops and no constraints. Leave it out.", USAGE
            )

    def motion(
        self, formalism: str, until: str, quiet: bool = False, section: str | None = None, **requests: Any
    ) -> Trajectory:
        """The motion, with a bar while it is computed; `requests` are those of `simulate`.

        With a `section` only the states in which that quantity changes from negative to positive.
        """
        from torseur.computation.simulation import poincare_section
        from torseur.computation.simulation import simulate as compute

        equations = self.equations(formalism)
        self.require_determined(equations)
        given: dict[str, Any] = {"parameters": dict(self.values.parameters), "initial": dict(self.values.initial)}
        with progress(f"{self.source.mechanism.name}: motion", quiet) as follow:
            if section is not None:
                return poincare_section(
                    equations, section, duration(until), progress=follow, **given, **requests
                ).points
            return compute(equations, duration(until), progress=follow, **given, **requests)


def duration(text: Any, option: str = "--until") -> float:
    """A time in seconds, from a number or a number with its unit."""
    value, unit = quantity(text, option)
    if unit is not None and parse_unit(unit)[1] != parse_unit("s")[1]:
        raise CommandError(f"{option} {text}: expected a time, such as 10 or '500 ms'.")
    return value
