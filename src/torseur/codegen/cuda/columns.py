"""The solution of a system in place, column after column, with the factors in registers."""

from __future__ import annotations

from torseur.codegen.cuda.stages import Columns, Plan, System


def system_text(head: str, system: System, plan: Plan) -> str:
    """A device function: B <- -A⁻¹ B, where A = Lᵀ D L."""
    lines = [head]
    first = plan.layout.slots
    for e, (k, i) in enumerate(system.lower):
        lines.append(f"  const T l{k}_{i} = T(scratch[{first + e} * stride]);")
    for e, k in enumerate(system.rows):
        lines.append(f"  const T d{k} = -T(scratch[{first + len(system.lower) + e} * stride]);")
    for columns in system.columns:
        for output, start, count in _runs(columns):
            lines += _loop(system, columns.rows, plan, output, start, count)
    return "\n".join([*lines, "}", ""])


def _runs(columns: Columns) -> list[tuple[int, int, int]]:
    """(output, first column, number of columns) of columns that follow one another."""
    runs: list[tuple[int, int, int]] = []
    for output, column in sorted(columns.places):
        if runs and runs[-1][0] == output and sum(runs[-1][1:]) == column:
            runs[-1] = (output, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((output, column, 1))
    return runs


def _loop(system: System, rows: tuple[int, ...], plan: Plan, output: int, start: int, count: int) -> list[str]:
    """Inward along the tree, then outward. Rows that are zero in these columns are not read."""
    array = plan.layout.arrays[len(plan.layout.program.inputs) + output]
    across = plan.layout.program.outputs[output].shape[1]
    lines = ["TORSEUR_ROLLED", f"  for (long long c = 0; c < {count}; ++c) {{"]
    lines.append(f"    T *TORSEUR_RESTRICT const column = {array} + ({start} + c) * stride;")
    ancestors: dict[int, list[int]] = {k: [] for k in system.rows}
    for k, i in system.lower:
        ancestors[k].append(i)
    set_yet = set(rows)
    lines += [f"    T x{i} = column[{i * across} * stride];" for i in rows]
    for k in reversed(system.rows):
        for i in ancestors[k] if k in set_yet else ():
            lines.append(f"    x{i} -= l{k}_{i} * x{k};" if i in set_yet else f"    T x{i} = -l{k}_{i} * x{k};")
            set_yet.add(i)
    for k in system.rows:
        terms = "".join(f" - l{k}_{i} * x{i}" for i in ancestors[k] if i in set_yet)
        if k in set_yet:
            lines.append(f"    x{k} = d{k} * x{k}{terms};")
        elif terms:
            lines.append(f"    const T x{k} ={terms};")
            set_yet.add(k)
        if k in set_yet:
            lines.append(f"    column[{k * across} * stride] = x{k};")
    return [*lines, "  }"]
