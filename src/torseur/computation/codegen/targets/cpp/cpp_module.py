"""A C++ header: one function template per function, of any scalar that has arithmetic and the functions of <cmath>."""

from __future__ import annotations

from collections.abc import Sequence

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.sources.identifiers import Names, part
from torseur.computation.codegen.sources.source_module import (
    Function,
    Module,
    comment_lines,
    function_lines,
    module_lines,
)
from torseur.computation.codegen.straight_line import Chunk, Language, Layout, Spline, Splines, layout, zero_based
from torseur.computation.codegen.targets.c.c_spelling import RESERVED as C_RESERVED

RESERVED = C_RESERVED | frozenset((
    "T", "abs", "alignas", "alignof", "and", "and_eq", "bitand", "bitor", "catch", "char16_t", "char32_t", "char8_t",
    "class", "co_await", "co_return", "co_yield", "compl", "concept", "const_cast", "consteval", "constexpr",
    "constinit", "decltype", "delete", "detail", "dynamic_cast", "explicit", "export", "friend", "max", "min",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private",
    "protected", "public", "reinterpret_cast", "requires", "scratch", "size_t", "static_assert", "static_cast", "std",
    "template", "this", "thread_local", "throw", "try", "typeid", "typename", "using", "virtual", "wchar_t", "xor",
    "xor_eq",
))  # fmt: skip


def literal(value: float) -> str:
    """A number as the scalar."""
    return f"T({float(value)!r})"


CPP = Language("C++", "cpp", ("//", ""), RESERVED, literal, zero_based)


_HEAD = """\
#pragma once

#include <cmath>

#if defined(__GNUC__)
#define TORSEUR_RESTRICT __restrict__
#define TORSEUR_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define TORSEUR_RESTRICT __restrict
#define TORSEUR_NOINLINE __declspec(noinline)
#else
#define TORSEUR_RESTRICT
#define TORSEUR_NOINLINE
#endif
"""
_FOOT = """
#undef TORSEUR_RESTRICT
#undef TORSEUR_NOINLINE
"""
_FUNCTIONS = frozenset((
    "abs", "acos", "asin", "atan", "atan2", "cos", "cosh", "exp", "floor", "log", "pow", "sin", "sinh", "sqrt", "tan",
    "tanh",
))  # fmt: skip
"""Operations that are functions of <cmath>; for other scalars they are found beside the scalar's type."""

_SPLINE = """\
constexpr double {name}_knots_[] = {{{knots}}};
constexpr double {name}_coefficients_[] = {{{coefficients}}};

template <class T>
T {name}(const T &x) {{
  int low = 0, high = {intervals};
  while (high - low > 1) {{
    const int middle = (low + high) / 2;
    if (x >= T({name}_knots_[middle])) low = middle; else high = middle;
  }}
  const T local = x - T({name}_knots_[low]);
  T y = T({name}_coefficients_[{columns} * low + {columns} - 1]);
  for (int power = {columns} - 2; power >= 0; --power) {{
    y = y * local + T({name}_coefficients_[{columns} * low + power]);
  }}
  return y;
}}
"""


def module_files(module: Module) -> dict[str, str]:
    """NAME.hpp."""
    names = Names(CPP.reserved)
    own = names.unique(module.name)
    functions = module.functions(names, split=True)
    splines = Splines.of(module.programs, names)
    values = values_text(names.unique("parameters"), module)
    sizes = [_size(names, function) for function in functions if function.prepare is not None]
    printer = _Printer(splines, CPP.reserved | frozenset(splines.names.values()))
    tables = [spline_text(name, spline) for name, spline in splines.items()]
    body = [printer.function(function, module) for function in functions]
    head = "\n".join(comment_lines(module_lines(module, CPP), CPP))
    inside = "\n".join([*values, *sizes, "", *tables, *body])
    return {f"{own}.hpp": f"{head}\n{_HEAD}\nnamespace {own} {{\n\n{inside}\n}}  // namespace {own}\n{_FOOT}"}


def values_text(name: str, module: Module) -> list[str]:
    """The parameters' values as a constant, where the description gives all of them."""
    numbers = [value for value in module.values if value is not None]
    complete = numbers and len(numbers) == len(module.values)
    return [f"constexpr double {name}[{len(numbers)}] = {{{_listing(numbers)}}};"] if complete else []


def _size(names: Names, function: Function) -> str:
    assert function.prepare is not None
    return f"enum {{ {names.with_suffix(function.name, '_prepared_size')} = {len(function.prepare.outputs[0])} }};"


def _listing(numbers: Sequence[float]) -> str:
    return ", ".join(repr(float(number)) for number in numbers)


def spline_text(name: str, spline: Spline) -> str:
    return _SPLINE.format(
        name=name,
        knots=_listing(spline.knots),
        coefficients=_listing(spline.flat),
        intervals=spline.intervals,
        columns=spline.columns,
    )


class _Printer:
    """Prints functions; `taken` are the names that no value may have."""

    def __init__(self, splines: Splines, taken: frozenset[str]) -> None:
        self.splines = splines
        self.taken = taken

    def function(self, function: Function, module: Module) -> str:
        """A function template, its preparation before it, under a description."""
        lines = comment_lines(function_lines(function, module, CPP), CPP)
        return "\n".join([*lines, *(self.templates(name, program) for name, program in function.parts)])

    def templates(self, name: str, program: Program) -> str:
        """One function, or several over a scratch array with one that calls them."""
        plan = layout(program, self.taken)
        if len(plan.chunks) == 1:
            return self.template(plan, plan.chunks[0], f"inline void {name}")
        extra = ["T *TORSEUR_RESTRICT scratch"]
        pieces = [
            self.template(plan, chunk, f"TORSEUR_NOINLINE void {part(name, k)}", extra)
            for k, chunk in enumerate(plan.chunks)
        ]
        arguments = ", ".join([*plan.arrays, "scratch"])
        calls = [f"  {part(name, k)}({arguments});" for k in range(len(plan.chunks))]
        head = f"template <class T>\ninline void {name}({', '.join(_parameters(plan))}) {{"
        return "\n".join([*pieces, head, f"  T scratch[{max(plan.slots, 1)}];", *calls, "}", ""])

    def template(self, plan: Layout, chunk: Chunk, head: str, extra: Sequence[str] = ()) -> str:
        names = plan.names
        used = sorted({node.op for node in chunk.operations} & _FUNCTIONS)
        lines = ["template <class T>", f"{head}({', '.join([*_parameters(plan), *extra])}) {{"]
        lines += [f"  using std::{function};" for function in used]
        lines += [f"  const T {names[node]} = {plan.arrays[i]}[{j}];" for node, (i, j) in chunk.inputs.items()]
        lines += [f"  const T {names[node]} = scratch[{slot}];" for node, slot in chunk.restored.items()]
        for node in chunk.operations:
            lines.append(f"  const T {names[node]} = {CPP.operation(node, names, self.splines)};")
            if node in chunk.saved:
                lines.append(f"  scratch[{chunk.saved[node]}] = {names[node]};")
        results = plan.arrays[len(plan.program.inputs) :]
        for node, places in chunk.results.items():
            lines += [f"  {results[i]}[{j}] = {CPP.reference(node, names)};" for i, j in places]
        return "\n".join([*lines, "}", ""])


def _parameters(plan: Layout) -> list[str]:
    inputs = len(plan.program.inputs)
    return [f"{'const ' if i < inputs else ''}T *TORSEUR_RESTRICT {array}" for i, array in enumerate(plan.arrays)]
