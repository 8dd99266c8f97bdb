"""A compilation unit with its externals resolved: which functions exist, and what each call of them passes.

The part of a Program that depends only on arrays an entry routine hands through unchanged (parameters, as a rule)
is computed once per call of the entry and kept in the unit's context.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.kernels.machine_code import Shape
from torseur.computation.codegen.kernels.program_binding import CallbackSpec, ProgramBinding
from torseur.computation.codegen.routine.effects import loop_bounds
from torseur.computation.codegen.routine.nodes import Function
from torseur.computation.codegen.routine.routine_language import External, Kind, Routine, RoutineError
from torseur.computation.codegen.routine.unit import BoundExternal, Unit, translate
from torseur.computation.codegen.sources.identifiers import Names

Binding = Routine | ProgramBinding | CallbackSpec
INLINE_BELOW = 100
"""Operations up to which a program is copied into each of its call sites.

With 150 and 295 operations an integrator gained at most 4 % from it and took up to twice as long to compile.
"""

LONG_LOOP = 16
"""Rounds from which vectorised loops gain more than they cost."""


@dataclass(frozen=True)
class LinkedProgram:
    """A program of the unit.

    `inputs` are positions among the external's arguments, None for the prepared vector; `prepare` computes that
    vector from the entry's parameters `prepared_from`. `least_sizes` says how long the entry's arrays must be that
    the program reads directly.
    """

    name: str
    program: Program
    external: External
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    least_sizes: Mapping[str, int]
    prepare: Program | None = None
    prepared_from: tuple[str, ...] = ()

    @property
    def is_small(self) -> bool:
        return len(self.program.operations) <= INLINE_BELOW

    @property
    def prepared_size(self) -> int:
        return len(self.prepare.outputs[0]) if self.prepare is not None else 0


@dataclass(frozen=True)
class LinkedUnit:
    """Functions, programs and callbacks of one translation unit."""

    unit: Unit
    programs: Mapping[str, LinkedProgram]
    callbacks: tuple[BoundExternal, ...]

    @property
    def entry(self) -> Function:
        return self.unit.entry

    @property
    def shape(self) -> Shape:
        """Vectorising slows short loops down and takes time to compile: most loops must be long."""
        bounds = sorted(bound for function in self.unit.functions for bound in loop_bounds(function.body))
        # The median: one long loop among many short ones is not worth vectorising all of them.
        typical = bounds[len(bounds) // 2] if bounds else 0
        return Shape.LONG_LOOPS if typical >= LONG_LOOP else Shape.LOOPS

    def least_size(self, parameter: str) -> int:
        """Entries that an array of the entry must have at least, as far as programs tell."""
        return max((program.least_sizes.get(parameter, 0) for program in self.programs.values()), default=0)

    @property
    def prepared_programs(self) -> tuple[LinkedProgram, ...]:
        """The programs with a part that is computed once per call of the entry."""
        return tuple(program for program in self.programs.values() if program.prepare is not None)


def link(entry: Routine, statics: Mapping[str, int], externals: Mapping[str, object]) -> LinkedUnit:
    """The unit of an entry routine, its programs split and its callbacks numbered."""
    bindings = {name: as_binding(name, value) for name, value in externals.items()}
    unit = translate(entry, statics, bindings)
    names = Names()
    programs: dict[str, LinkedProgram] = {}
    callbacks = []
    for name, bound in unit.externals.items():
        binding = bindings[name]
        if isinstance(binding, ProgramBinding):
            programs[name] = _link_program(unit, binding, bound.external, names.unique(f"program_{name}"))
        else:
            callbacks.append(bound)
    return LinkedUnit(unit, programs, tuple(callbacks))


def as_binding(name: str, value: object) -> Binding:
    """The value of `externals` as something a unit can call."""
    if isinstance(value, Program):
        return ProgramBinding(value)
    if isinstance(value, (Routine, ProgramBinding, CallbackSpec)):
        return value
    hint = " Wrap a Python function in CallbackSpec(function, sizes={...})." if callable(value) else ""
    raise RoutineError(
        f"external '{name}' is bound to {type(value).__name__}: expected a Program, a routine or a CallbackSpec.{hint}"
    )


def _link_program(unit: Unit, binding: ProgramBinding, external: External, name: str) -> LinkedProgram:
    program = binding.program
    positions = binding.input_positions(external)
    outputs = binding.output_positions(external)
    sources = {
        group.name: unit.constant_argument(external.name, position)
        # The trajectory's parameters, for instance: the entry hands them unchanged to every stage of every step, so
        # that masses, lengths and what follows from them are multiplied out once per call and not once per stage.
        for group, position in zip(program.inputs, positions, strict=True)
        if external.parameters[position].kind is Kind.ARRAY and len(group)
    }
    fixed = [group for group, source in sources.items() if source is not None]
    sizes = {str(sources[group]): len(program.input(group)) for group in fixed}
    prepare, per_state = program.split(fixed) if fixed else (None, program)
    # Nothing to compute beforehand: then parameters are read where they stand, not copied.
    if prepare is None or not prepare.operations:
        return LinkedProgram(name, program, external, positions, outputs, sizes)
    kept = tuple(p for group, p in zip(program.inputs, positions, strict=True) if group.name not in fixed)
    origins = tuple(str(sources[group]) for group in fixed)
    return LinkedProgram(name, per_state, external, (*kept, None), outputs, sizes, prepare, origins)
