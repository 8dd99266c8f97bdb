"""Programs and callbacks as externals of a routine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.routine.routine_language import External, Kind, RoutineError
from torseur.errors import unknown_name


@dataclass(frozen=True)
class ProgramBinding:
    """A Program behind an external: inputs match arguments by name, outputs by name, else the last arrays in order."""

    program: Program

    def effects(self, external: External) -> tuple[frozenset[int], bool]:
        """The positions of the outputs; a program cannot raise."""
        return frozenset(self.output_positions(external)), False

    def input_positions(self, external: External) -> tuple[int, ...]:
        """For each input of the program, the argument of the external it reads."""
        names = [p.name for p in external.parameters]
        for group in self.program.inputs:
            if group.name not in names:
                raise RoutineError(self._where(external) + unknown_name("argument", group.name, names))
            kind = external.parameters[names.index(group.name)].kind
            if kind not in (Kind.FLOAT, Kind.ARRAY) or (kind is Kind.FLOAT and len(group) != 1):
                raise RoutineError(
                    f"{self._where(external)}input '{group.name}' has {len(group)} entries, "
                    f"the argument is {kind.value}."
                )
        return tuple(names.index(group.name) for group in self.program.inputs)

    def output_positions(self, external: External) -> tuple[int, ...]:
        """For each output of the program, the argument of the external it fills."""
        taken = set(self.input_positions(external))
        free = [i for i, p in enumerate(external.parameters) if p.kind is Kind.ARRAY and i not in taken]
        by_name = {external.parameters[i].name: i for i in free}
        outputs = self.program.outputs
        if all(output.name in by_name for output in outputs):
            return tuple(by_name[output.name] for output in outputs)
        if len(free) < len(outputs) or external.returns is not Kind.NONE:
            raise RoutineError(
                f"{self._where(external)}outputs {[o.name for o in outputs]} do not match the arrays {list(by_name)}."
            )
        return tuple(free[len(free) - len(outputs) :])

    def _where(self, external: External) -> str:
        return f"external '{external.name}' bound to program '{self.program.name}': "


@dataclass(frozen=True)
class CallbackSpec:
    """A Python function behind an external.

    `sizes` gives the length of each array argument; the function receives NumPy views of that length and fills
    `outputs` (by default the last array). What it raises stops the routine and is raised again to the caller.
    """

    function: Callable[..., Any]
    sizes: Mapping[str, int] = field(default_factory=dict)
    outputs: tuple[str, ...] | None = None

    def effects(self, external: External) -> tuple[frozenset[int], bool]:
        """The positions of the outputs; a callback can raise."""
        arrays = [p.name for p in external.parameters if p.kind.is_array]
        for name in arrays:
            if name not in self.sizes:
                raise RoutineError(
                    f"callback for external '{external.name}': the length of array '{name}' is missing in sizes."
                )
        for name in (*self.sizes, *self.output_names(external)):
            if name not in arrays:
                raise RoutineError(f"callback for external '{external.name}': " + unknown_name("array", name, arrays))
        names = [p.name for p in external.parameters]
        return frozenset(names.index(name) for name in self.output_names(external)), True

    def output_names(self, external: External) -> tuple[str, ...]:
        """The arrays the function fills."""
        if self.outputs is not None:
            return self.outputs
        arrays = [p.name for p in external.parameters if p.kind.is_array]
        return tuple(arrays[-1:]) if external.returns is Kind.NONE else ()
