"""A MATLAB package, one file per function: NAME.inverse_dynamics(q, v, vdot, p). Octave reads it too.

Inputs are columns; a matrix with one column per state gives results with one more dimension. What depends on
parameters only is computed at every call, once for all its columns.
"""

from __future__ import annotations

import math
import re

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Output
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.sources.source_module import (
    Function,
    Module,
    comment_lines,
    function_lines,
    module_lines,
)
from torseur.computation.codegen.straight_line import Language, Layout, Spline, Splines, layout, one_based

RESERVED = frozenset((
    "abs", "acos", "ans", "asin", "atan", "atan2", "break", "case", "catch", "classdef", "continue", "cos", "cosh",
    "do", "double", "e", "else", "elseif", "end", "end_try_catch", "end_unwind_protect", "endclassdef", "enddo",
    "endenumeration", "endevents", "endfor", "endfunction", "endif", "endmethods", "endparfor", "endproperties",
    "endswitch", "endwhile", "enumeration", "eps", "events", "exp", "Inf", "NaN", "false", "floor", "for", "function",
    "global", "i", "if", "inf", "j", "log", "max", "methods", "min", "nan", "nargin", "nargout", "otherwise",
    "parfor", "persistent", "pi", "properties", "real_acos", "real_asin", "real_log", "real_pow", "real_sqrt",
    "return", "sign", "sin", "sinh", "size", "spmd", "sqrt", "switch", "tan", "tanh", "true", "try", "until",
    "unwind_protect", "unwind_protect_cleanup", "where", "while", "zeros", "lanes",
))  # fmt: skip

OWN_FUNCTIONS = {
    # MATLAB goes to complex numbers where other languages give NaN; one complex state would make all results complex.
    "real_sqrt": "function y = real_sqrt(x)\n  x(x < 0) = NaN;\n  y = sqrt(x);\nend",
    "real_log": "function y = real_log(x)\n  x(x < 0) = NaN;\n  y = log(x);\nend",
    "real_asin": "function y = real_asin(x)\n  x(abs(x) > 1) = NaN;\n  y = asin(x);\nend",
    "real_acos": "function y = real_acos(x)\n  x(abs(x) > 1) = NaN;\n  y = acos(x);\nend",
    "real_pow": (
        "function y = real_pow(x, n)\n  x = x + zeros(size(n));\n  x(x < 0 & n ~= floor(n)) = NaN;\n  y = x .^ n;\nend"
    ),
    "where": (
        "function y = where(condition, a, b)\n  y = b + zeros(size(condition + a));\n"
        "  a = a + zeros(size(y));\n  chosen = condition ~= 0 & true(size(y));\n  y(chosen) = a(chosen);\nend"
    ),
}
"""Local functions that stay with the real numbers, and the choice between two values."""


def literal(value: float) -> str:
    """A number; negative ones in parentheses."""
    text = repr(float(value))
    return text if not text.startswith("-") else f"({text})"


MATLAB = Language("MATLAB", "matlab", ("%", ""), RESERVED, literal, one_based, ignore_case=True)


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
        files[f"+{own}/{values}.m"] = "\n".join([*comment_lines(module_lines(module, MATLAB), MATLAB), *lines])
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
        lines += [*comment_lines(comments, MATLAB, "  "), *self.statements(plan), "end", ""]
        return "\n".join([*lines, *self.own_functions(function, lines), ""])

    def statements(self, plan: Layout) -> list[str]:
        names, chunk, program = plan.names, plan.chunks[0], plan.program
        # One column or as many as there are states: `.*` and `+` expand columns, so that only results need the count.
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
