"""A Python module of NumPy functions: inverse_dynamics(q, v, vdot, p) returns an array.

q[0] may be a number or an array with one lane per state; results then have the lanes as their last dimension. What
depends on parameters only is computed at every call, once for all lanes.
"""

from __future__ import annotations

import keyword

from torseur.algebra.graph.program import Output
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.source_module import (
    Function,
    Module,
    comment_lines,
    function_lines,
    module_lines,
)
from torseur.computation.codegen.straight_line import Language, Layout, Spline, Splines, layout, zero_based
from torseur.computation.codegen.targets.python.python_program import FUNCTIONS

_ARRAYS = ("array", "broadcast_arrays", "clip", "searchsorted", "stack", "zeros")
RESERVED = frozenset((
    *keyword.kwlist, *keyword.softkwlist, *FUNCTIONS, *_ARRAYS, "packed", "print", "range", "exec", "eval", "open",
))  # fmt: skip

# A comment in the first two lines could declare an encoding, so they hold no name that somebody else chose.
_FIRST_LINES = ["# Functions of a mechanism.", "#"]

_PACKED = '''\
def packed(shape, *entries):
    """The entries, numbers or lanes, in the shape of a result."""
    if not entries:
        return zeros(shape)
    flat = stack(broadcast_arrays(*entries))
    return flat.reshape(*shape, *flat.shape[1:])
'''
_SPLINE = """\
def {name}(x):
    knots = array({knots})
    coefficients = array({rows})
    interval = clip(searchsorted(knots, x, side="right") - 1, 0, {last})
    local = x - knots[interval]
    y = coefficients[interval, {degree}]
    for power in range({degree} - 1, -1, -1):
        y = y * local + coefficients[interval, power]
    return y
"""


def literal(value: float) -> str:
    """A number; negative ones in parentheses."""
    text = repr(float(value))
    return text if not text.startswith("-") else f"({text})"


NUMPY = Language("Python (NumPy)", "python", ("#", ""), RESERVED, literal, zero_based)


def module_files(module: Module) -> dict[str, str]:
    """NAME.py."""
    return print_functions(module, NUMPY, "numpy")


def print_functions(module: Module, language: Language, library: str) -> dict[str, str]:
    """NAME.py with functions over the arrays of a library that has NumPy's names."""
    names = Names(language.reserved)
    own = names.unique(module.name)
    functions = module.functions(names, split=False)
    splines = Splines.of(module.programs, names)
    body = [_function(function, module, language, splines) for function in functions]
    tables = [_spline(name, spline) for name, spline in splines.items()]
    imports = f"from {library} import (  # noqa: F401\n    {', '.join([*FUNCTIONS, *_ARRAYS])},\n)\n"
    head = [*_FIRST_LINES, *comment_lines(module_lines(module, language), language), "", imports]
    return {f"{own}.py": "\n".join([*head, *_values(names, module), "", _PACKED, "", *tables, *body])}


def _values(names: Names, module: Module) -> list[str]:
    """The parameters' values as a tuple, where the description gives all of them."""
    numbers = [value for value in module.values if value is not None]
    complete = numbers and len(numbers) == len(module.values)
    return [f"{names.unique('parameters')} = ({', '.join(map(repr, numbers))},)"] if complete else []


def _function(function: Function, module: Module, language: Language, splines: Splines) -> str:
    program = function.program
    taken = language.reserved | frozenset(splines.names.values())
    plan = layout(program, taken, chunk=max(1, len(program.operations)))
    chunk, names = plan.chunks[0], plan.names
    lines = [f"def {function.name}({', '.join(plan.arrays[: len(program.inputs)])}):"]
    lines += comment_lines(function_lines(function, module, language), language, "    ")
    lines += [f"    {names[node]} = {_input(program.inputs[i].name, plan.arrays[i], j)}"
              for node, (i, j) in chunk.inputs.items()]  # fmt: skip
    lines += [f"    {names[node]} = {language.operation(node, names, splines)}" for node in chunk.operations]
    results = [_result(output, plan, language) for output in program.outputs]
    return "\n".join([*lines, f"    return {', '.join(results)}", "", ""])


def _input(group: str, array: str, place: int) -> str:
    """A number of an input; time may be given as it is, and not as an array of one."""
    if group != "t":
        return f"{array}[{place}]"
    # A list has a length and no shape, a number neither, an array of no dimensions an empty shape.
    return f"{array}[{place}] if getattr({array}, 'shape', hasattr({array}, '__len__')) else {array}"


def _result(output: Output, plan: Layout, language: Language) -> str:
    entries = [language.reference(entry, plan.names) for entry in output.entries]
    return f"packed({', '.join([repr(output.shape), *entries])})"


def _spline(name: str, spline: Spline) -> str:
    return _SPLINE.format(
        name=name,
        knots=list(spline.knots),
        rows=[list(row) for row in spline.rows],
        last=spline.intervals - 1,
        degree=spline.columns - 1,
    )
