"""C sources over batches of states: one for the processor at hand, or one for several that chooses when it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.targets.c.batch.c_batch import (
    NATIVE,
    Batch,
    block_source,
    constants_source,
    lanes_text,
    parameters_of,
    range_source,
)
from torseur.computation.codegen.targets.c.batch.c_batch_systems import system_batch_source
from torseur.computation.codegen.targets.c.c_routine import PRELUDE, RoutinePrinter, Tables
from torseur.computation.codegen.targets.c.c_unit import HEAD, no_external

_RANGE = "ptrdiff_t begin, ptrdiff_t end, ptrdiff_t stride"

_VARIANTS = """\
/* The same functions for several processors; the best that is there is chosen when they are called.
   With TORSEUR_NATIVE defined, only for the processor the compiler is told to write for. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__FAST_MATH__) && !defined(TORSEUR_NATIVE)
#define TORSEUR_CHOICE
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512dq,avx512vl,fma")
#endif
#define LANES 8
#define VARIANT(name) name##_avx512
#include "@OWN@_lanes.h"
#undef LANES
#undef VARIANT
#if defined(__clang__)
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif
#define LANES 4
#define VARIANT(name) name##_avx2
#include "@OWN@_lanes.h"
#undef LANES
#undef VARIANT
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
"""

_LANE_NAMES = ("lanes", "lane_bits", "lanes_turn", "lanes_sines", "lanes_load", "lanes_store")


def native_source(batch: Batch) -> str:
    """A source that exports NAME, NAME_again and NAME_rows, compiled for the processor at hand."""
    lookups = Lookups()
    body = batch_source(batch, f"{batch.name}_", lookups)
    lookups_text = _lookups(lookups)
    arguments = ", ".join(["begin", "end", "stride", *batch.arrays])
    exported = _export(batch, f"  {batch.name}_({arguments});")
    head = [HEAD, "#include <stddef.h>", lookups_text, NATIVE, lanes_text([batch])]
    return "\n".join([*head, body, exported, rows_source(batch)])


NEAR = 24 * 1024  # bytes of columns that stay in the first cache beside what the function itself keeps


def rows_source(batch: Batch) -> str:
    """NAME_rows(begin, end, steps, arrays): the same where each state is a row, as Python's arrays have it.

    Blocks of states are turned into columns within the first cache, computed there and turned back; turning the whole
    arrays before and after takes several times as long as computing. An input that all states share has the step 0.

        rows:  state i of array k begins at array_k + i * steps[k]          columns_k[entry * BLOCK + state in block]
    """
    program, inputs = batch.program, len(batch.program.inputs)
    sizes = [len(group) for group in program.inputs] + [len(output.entries) for output in program.outputs]
    turned = [k for k, is_state in enumerate(batch.is_state) if is_state and sizes[k]]
    # As many states as fit the first cache with all their entries, in whole vectors of 8, at least two of them.
    block = max(16, min(128, NEAR // (8 * max(1, sum(sizes[k] for k in turned))) // 8 * 8))
    kinds = ["const double *" if k < inputs else "double *" for k in range(len(sizes))]
    lines = [
        f"TORSEUR_EXPORT void {batch.name}_rows(ptrdiff_t begin, ptrdiff_t end, const ptrdiff_t *steps, "
        + ", ".join(f"{kind}array_{k}" for k, kind in enumerate(kinds))
        + ") {",
        "  (void)steps;",
        *(f"  (void)array_{k};" for k in range(len(sizes))),
        *(f"  double columns_{k}[{sizes[k] * block}];" for k in turned),
    ]
    given = [f"columns_{k}" if k in turned else f"array_{k}" for k in range(len(sizes))]
    lines += [
        f"  {batch.name}_constants(0, {block}, {block}, {', '.join(given)});",
        f"  for (ptrdiff_t first = begin; first < end; first += {block}) {{",
        f"    const ptrdiff_t count = end - first < {block} ? end - first : {block};",
    ]
    for k in (k for k in turned if k < inputs):
        lines += [
            "    for (ptrdiff_t i = 0; i < count; i++)",
            f"      for (int j = 0; j < {sizes[k]}; j++)",
            f"        columns_{k}[j * {block} + i] = array_{k}[(first + i) * steps[{k}] + j];",
        ]
    lines += [f"    {batch.name}_again(0, count, {block}, {', '.join(given)});"]
    for k in (k for k in turned if k >= inputs):
        lines += [
            "    for (ptrdiff_t i = 0; i < count; i++)",
            f"      for (int j = 0; j < {sizes[k]}; j++)",
            f"        array_{k}[(first + i) * {sizes[k]} + j] = columns_{k}[j * {block} + i];",
        ]
    return "\n".join([*lines, "  }", "}", ""])


def batch_source(batch: Batch, function: str, lookups: Lookups) -> str:
    """static void FUNCTION(begin, end, stride, arrays): the states from begin to before end."""
    if batch.limb_system is not None:
        return system_batch_source(batch, batch.limb_system, function, lookups)
    return "\n".join([block_source(batch, function, lookups), range_source(batch, function)])


def _lookups(lookups: Lookups) -> str:
    tables = Tables()
    searches = [RoutinePrinter(function, no_external, tables).text() for function in lookups.functions]
    return "\n".join([PRELUDE if searches else "", tables.text(), *searches])


def _export(batch: Batch, body: str) -> str:
    """NAME_again, which does not write entries that are the same in every state, and NAME, which does."""
    arguments = ", ".join(["begin", "end", "stride", *batch.arrays])
    parameters = f"({_RANGE}, {parameters_of(batch)})"
    return f"""\
{constants_source(batch, f"{batch.name}_constants")}
TORSEUR_EXPORT void {batch.name}_again{parameters} {{
{body}
}}

TORSEUR_EXPORT void {batch.name}{parameters} {{
  {batch.name}_constants({arguments});
  {batch.name}_again({arguments});
}}
"""


def batch_sources(own: str, batches: Sequence[Batch], heading: str) -> dict[str, str]:
    """OWN_batch.c, OWN_batch.h and OWN_lanes.h, which the first includes once per kind of processor."""
    lookups = Lookups()
    bodies = "\n".join(batch_source(batch, f"{batch.name}_run", lookups) for batch in batches)
    renamed = _names_per_processor(batches, bodies)
    names = [f"#define {name} VARIANT({name})" for name in renamed]
    undone = [f"#undef {name}" for name in (*renamed, "LANE", "LANES_ALL", "LANES_BEYOND", "LANES_ONCE")]
    lanes = "\n".join([heading, *names, lanes_text(batches), bodies, *undone, ""])
    plain = [NATIVE, "#define VARIANT(name) name##_plain", f'#include "{own}_lanes.h"']
    choices = "\n".join(_choice(batch) for batch in batches)
    includes = "\n".join([HEAD, "#include <stddef.h>", f'#include "{own}_batch.h"'])
    source = "\n".join([heading, includes, _lookups(lookups), _VARIANTS.replace("@OWN@", own), *plain, choices])
    return {f"{own}_batch.h": _header(own, batches, heading), f"{own}_batch.c": source, f"{own}_lanes.h": lanes}


def _names_per_processor(batches: Sequence[Batch], bodies: str) -> list[str]:
    """Everything that each kind of processor has its own of."""
    used = {node.op for batch in batches for node in batch.program.operations}
    functions = re.findall(r"^static .*?\bvoid (\w+)\(", bodies, re.MULTILINE)
    return [*_LANE_NAMES, *(f"lanes_{op}" for op in sorted(used) if f"lanes_{op}" not in _LANE_NAMES), *functions]


def _choice(batch: Batch) -> str:
    """The exported functions: over a range of states, and over all of them in threads of OpenMP."""
    arrays = batch.arrays
    arguments = ", ".join(["begin", "end", "stride", *arrays])
    run = f"{batch.name}_run"
    chosen = f"""\
#if defined(TORSEUR_CHOICE)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {{
    {run}_avx512({arguments});
    return;
  }}
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {{
    {run}_avx2({arguments});
    return;
  }}
#endif
  {run}_plain({arguments});"""
    return f"""\
{_export(batch, chosen)}
TORSEUR_EXPORT void {batch.name}_threads(int threads, ptrdiff_t count, {parameters_of(batch)}) {{
  const ptrdiff_t shares = threads < 1 ? 1 : threads;
#if defined(_OPENMP)
#pragma omp parallel for num_threads(threads) schedule(static)
#endif
  for (ptrdiff_t k = 0; k < shares; k++)
    {batch.name}(count * k / shares, count * (k + 1) / shares, count, {", ".join(arrays)});
}}
"""


def _header(own: str, batches: Sequence[Batch], heading: str) -> str:
    guard = f"TORSEUR_{own.upper()}_BATCH_H"
    lines = [
        heading,
        "/* One row per entry, one column per state: entry j of state i is array[j * stride + i]. Prepared parameters",
        "   are plain vectors. NAME_again does not write results that are the same in every state, zeros between limbs",
        "   for instance: it is for arrays that NAME has filled before. NAME_threads works on all states, with",
        "   -fopenmp in threads; stride = count. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <stddef.h>",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
    ]
    for batch in batches:
        lines.append(f"void {batch.name}({_RANGE}, {parameters_of(batch)});")
        lines.append(f"void {batch.name}_again({_RANGE}, {parameters_of(batch)});")
        lines.append(f"void {batch.name}_threads(int threads, ptrdiff_t count, {parameters_of(batch)});")
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])
