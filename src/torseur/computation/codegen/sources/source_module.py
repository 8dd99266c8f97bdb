"""Functions of one mechanism that are printed together, and what a reader of the source is told about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Input, Program
from torseur.computation.codegen.sources.identifiers import Names, comment
from torseur.computation.codegen.straight_line import Language

PREPARED = "prepared"


@dataclass(frozen=True)
class Module:
    """Programs that become the functions of one source, called as the mechanism is.

    `parameters` is the input that changes rarely, with its values where they are known; `meaning` is said of the whole.
    """

    name: str
    programs: tuple[Program, ...]
    parameters: Input | None = None
    values: tuple[float | None, ...] = ()
    meaning: str = ""

    def functions(self, names: Names, split: bool, vectors: bool = False) -> list[Function]:
        """The functions under names of their own; split, what depends on parameters only stands apart.

        With `vectors`, the target has SIMD-batched limbs.
        """
        programs = self.programs if vectors else [program.without_vectors for program in self.programs]
        return [self._function(program, names, split) for program in programs]

    def _function(self, program: Program, names: Names, split: bool) -> Function:
        name = names.unique(program.name)
        rare = self.parameters.name if self.parameters is not None else None
        if not split or rare not in [group.name for group in program.inputs]:
            return Function(name, program, program)
        # The order of prepared values is that of the split: both functions are printed from it, and must be compiled
        # together.
        prepare, evaluate = program.split((str(rare),), PREPARED)
        return Function(name, program, evaluate, prepare, names.with_suffix(name, "_prepare"))


@dataclass(frozen=True)
class Function:
    """A function of a source: the whole program, and the two it is split into."""

    name: str
    program: Program
    evaluate: Program
    prepare: Program | None = None
    prepare_name: str = ""

    @property
    def parts(self) -> list[tuple[str, Program]]:
        """What is printed: the preparation first, where there is one."""
        first = [(self.prepare_name, self.prepare)] if self.prepare is not None else []
        return [*first, (self.name, self.evaluate)]


def module_lines(module: Module, language: Language) -> list[str]:
    """What stands at the head of a source."""
    lines = [
        f"{module.name}: {', '.join(program.name for program in module.programs)}",
        *([module.meaning] if module.meaning else []),
        f"Written in {language.name} by torseur. SI units.",
    ]
    for group in _shared_groups(module.programs):
        lines += ["", *input_lines(group, language, module)]
    return lines


def function_lines(function: Function, module: Module, language: Language) -> list[str]:
    """What stands above a function: its arguments, results and work."""
    program = function.program
    lines = [f"{program.name}: {work(program)}"]
    if function.prepare is not None:
        prepared, apart = len(function.prepare.outputs[0]), len(function.prepare.operations)
        lines.append(f"of these, {apart} depend on parameters only: {function.prepare_name} computes {prepared} values")
    lines.append(f"inputs: {', '.join(f'{group.name} ({len(group)})' for group in function.evaluate.inputs)}")
    lines.append(f"outputs: {', '.join(f'{output.name} ({_shape(output.shape)})' for output in program.outputs)}")
    shared = _shared_groups(module.programs)
    for group in program.inputs:
        if group not in shared:
            lines += input_lines(group, language, module)
    return lines


def work(program: Program) -> str:
    """The number of operations, and how many of each kind."""
    kinds = sorted(program.counts.items(), key=lambda item: -item[1])
    listing = ", ".join(f"{number} {kind}" for kind, number in kinds)
    return f"{len(program.operations)} operations" + (f" ({listing})" if listing else "")


def input_lines(group: Input, language: Language, module: Module) -> list[str]:
    """The entries of an input, each with its unit, its meaning and the value it has in the description."""
    values: Sequence[float | None] = [None] * len(group)
    if group == module.parameters and module.values:
        values = module.values
    entries = zip(group.nodes, values, strict=True)
    return [_entry(language.element(group.name, i), node, value) for i, (node, value) in enumerate(entries)]


def _entry(place: str, node: Expr, value: float | None) -> str:
    name, unit, meaning = _description(node)
    given = "" if value is None else f" = {value:.9g}"
    measured = "" if unit == "1" else f" {unit}" if given else f" in {unit}"
    return f"{place}: {name}{given}{measured}{f', {meaning}' if meaning and meaning != name else ''}"


def _description(node: Expr) -> tuple[str, str, str]:
    """Name, unit and meaning of a value that is given from outside."""
    if node.op == "symbol":
        return node.data.name, node.data.unit, node.data.meaning
    if node.op == "apply":
        differentiated = any(node.data.orders)
        function = node.data.function
        return str(node), "1" if differentiated else function.unit, "" if differentiated else function.meaning
    return str(node), "1", ""


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(str(n) for n in shape) if shape else "a number"


def _shared_groups(programs: Sequence[Program]) -> list[Input]:
    """The inputs that mean the same wherever their name occurs."""
    by_name: dict[str, list[Input]] = {}
    for group in (group for program in programs for group in program.inputs):
        same = by_name.setdefault(group.name, [])
        if group not in same:
            same.append(group)
    return [same[0] for same in by_name.values() if len(same) == 1]


def comment_lines(lines: Sequence[str], language: Language, indent: str = "") -> list[str]:
    """The lines as comments of the language, each harmless whatever names it holds."""
    start, end = language.comment
    empty = "" if end else f"{indent}{start}"
    return [f"{indent}{start} {comment(line)} {end}".rstrip() if line else empty for line in lines]
