"""A MATLAB package, one file per function: NAME.inverse_dynamics(q, v, vdot, p). Octave reads it too.

Inputs are columns; a matrix with one column per state gives results with one more dimension. What depends on
parameters only is computed at every call, once for all its columns.
"""

from __future__ import annotations

import math
import re

from torseur.codegen.matlab.language import MATLAB, OWN_FUNCTIONS
from torseur.codegen.module import Function, Module, commented, function_lines, module_lines
from torseur.codegen.names import Names
from torseur.codegen.straight import Layout, Spline, Splines, layout
from torseur.graph.expr import Expr
from torseur.graph.program import Output

_SPLINE = """\
function y = {name}(x)
  knots = [{knots}];
  coefficients = [{rows}];
  interval = max(1, min({intervals}, sum(x(:).' >= knots(:), 1)));
  local = x(:).' - knots(interval);
  y = coefficients(interval, {columns}).';
  for power = {columns}-1:-1:1
    y = y .* local + coefficients(interval, power).';
  end
  y = reshape(y, size(x));
end"""


def module_files(module: Module) -> dict[str, str]:
    """+NAME/FUNCTION.m for each function, and +NAME/parameters.m."""
    names = Names(MATLAB.reserved, ignore_case=True)
    own = names.unique(module.name)
    functions = module.functions(names, split=False)
    splines = Splines.of(module.programs, names)
    files = {f"+{own}/{f.name}.m": _Printer(splines).file(f, module) for f in functions}
    numbers = [value for value in module.values if value is not None]
    if numbers and len(numbers) == len(module.values):
        values = names.unique("parameters")
        lines = [f"function p = {values}()", f"  p = [{'; '.join(MATLAB.literal(n) for n in numbers)}];", "end", ""]
        files[f"+{own}/{values}.m"] = "\n".join([*commented(module_lines(module, MATLAB), MATLAB), *lines])
    return files


class _Printer:
    """Prints function files, each complete in itself."""

    def __init__(self, splines: Splines) -> None:
        self.splines = splines

    def file(self, function: Function, module: Module) -> str:
        """The function, and below it those it calls."""
        program = function.program
        taken = MATLAB.reserved | frozenset((function.name, *self.splines.names.values()))
        plan = layout(program, taken, chunk=max(1, len(program.operations)), ignore_case=True)
        comments = [*function_lines(function, module, MATLAB), "", *module_lines(module, MATLAB)]
        results = plan.arrays[len(program.inputs) :]
        arguments = ", ".join(plan.arrays[: len(program.inputs)])
        lines = [f"function [{', '.join(results)}] = {function.name}({arguments})"]
        lines += [*commented(comments, MATLAB, "  "), *self.statements(plan), "end", ""]
        return "\n".join([*lines, *self.own_functions(function, lines), ""])

    def statements(self, plan: Layout) -> list[str]:
        names, chunk, program = plan.names, plan.chunks[0], plan.program
        sizes = ", ".join(f"size({array}, 2)" for array in plan.arrays[: len(program.inputs)])
        lines = [f"  lanes = max([1, {sizes}]);"]
        lines += [f"  {names[node]} = {plan.arrays[i]}({j + 1}, :);" for node, (i, j) in chunk.inputs.items()]
        for node in chunk.operations:
            lines.append(f"  {names[node]} = {MATLAB.operation(node, names, self.splines)};")
        for array, output in zip(plan.arrays[len(program.inputs) :], program.outputs, strict=True):
            lines += _result(array, output, names)
        return lines

    def own_functions(self, function: Function, lines: list[str]) -> list[str]:
        """The functions of this file's own that its statements call."""
        calls = set(re.findall(r"(\w+)\(", "\n".join(line for line in lines if not line.lstrip().startswith("%"))))
        lookups = dict.fromkeys(node.data for node in function.program.operations if node.op == "table")
        tables = [_spline(name, spline) for name, spline in self.splines.items_of(lookups)]
        return [text for name, text in OWN_FUNCTIONS.items() if name in calls] + tables


def _result(array: str, output: Output, names: dict[Expr, str]) -> list[str]:
    """The statements that fill a result: zeros first, then the entries that are not zero."""
    shape = output.shape or (1,)
    lines = [f"  {array} = zeros({', '.join(str(n) for n in (*shape, 'lanes'))});"]
    for index, entry in enumerate(output.entries):
        if not entry.is_zero:
            subscripts = [index // math.prod(shape[k + 1 :]) % shape[k] + 1 for k in range(len(shape))]
            place = ", ".join(str(s) for s in subscripts)
            lines.append(f"  {array}({place}, :) = {MATLAB.reference(entry, names)};")
    return lines


def _spline(name: str, spline: Spline) -> str:
    rows = "; ".join(" ".join(MATLAB.literal(number) for number in row) for row in spline.rows)
    knots = " ".join(MATLAB.literal(number) for number in spline.knots)
    return _SPLINE.format(name=name, knots=knots, rows=rows, intervals=spline.intervals, columns=spline.columns)
