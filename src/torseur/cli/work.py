"""A mechanism with its values on the way to equations and motions: what several commands begin with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torseur.cli.console import progress
from torseur.cli.exits import CommandError
from torseur.cli.laws import with_laws
from torseur.cli.sources import Source, open_source
from torseur.cli.values import Values, law_formulas, read_values
from torseur.equations import Equations, missing_values
from torseur.formalisms import derive
from torseur.language.quantities import quantity
from torseur.mechanism.units import parse_unit
from torseur.tree import Tree, build_tree

if TYPE_CHECKING:
    from torseur.simulation import Trajectory


@dataclass(frozen=True)
class Work:
    """A source, its tree and the values that differ from the description."""

    source: Source
    tree: Tree
    values: Values

    @staticmethod
    def begin(
        source: str,
        settings: Iterable[str] | None = None,
        starts: Iterable[str] | None = None,
        laws: Iterable[str] | None = None,
        file: Path | None = None,
    ) -> Work:
        """Reads the mechanism and the values."""
        opened = open_source(source)
        complete = opened.with_mechanism(with_laws(opened.mechanism, law_formulas(laws, file)))
        tree = build_tree(complete.mechanism)
        return Work(complete, tree, read_values(tree, settings, starts, file))

    def equations(self, formalism: str) -> Equations:
        return derive(self.tree, formalism)

    def undetermined(self, equations: Equations) -> str:
        """What a motion lacks, in words; empty when nothing does."""
        from torseur.report.compose.account import undetermined_functions
        from torseur.report.compose.warnings import listed

        missing, functions = missing_values(equations, self.values.parameters), undetermined_functions(self.tree)
        parts = [f"no value for {listed(missing)} (--set NAME=VALUE or --values FILE)"] if missing else []
        parts += [f"no formula for {listed(functions)} (--law 'NAME(ARGUMENTS)=FORMULA')"] if functions else []
        return " and ".join(parts)

    def require_determined(self, equations: Equations) -> None:
        if gap := self.undetermined(equations):
            raise CommandError(f"{self.source.mechanism.name}: a motion needs numbers, and there is {gap}.")

    def motion(self, formalism: str, until: str, quiet: bool = False, **requests: Any) -> Trajectory:
        """The motion, with a bar while it is computed; `requests` are those of `simulate`."""
        from torseur.simulation import simulate as compute

        equations = self.equations(formalism)
        self.require_determined(equations)
        given: dict[str, Any] = {"parameters": dict(self.values.parameters), "initial": dict(self.values.initial)}
        with progress(f"{self.source.mechanism.name}: motion", quiet) as follow:
            return compute(equations, duration(until), progress=follow, **given, **requests)


def duration(text: Any) -> float:
    """A time in seconds, from a number or a number with its unit."""
    value, unit = quantity(text, "--until")
    if unit is not None and parse_unit(unit)[1] != parse_unit("s")[1]:
        raise CommandError(f"--until {text}: expected a time, such as 10 or '500 ms'.")
    return value
