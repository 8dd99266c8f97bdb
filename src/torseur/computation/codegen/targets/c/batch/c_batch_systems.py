"""Linear systems with many right sides in C over batches: limb by limb, products of small matrices of vectors.

A vector of states goes through straight code for A and the right side of the first solution, on which the other right
sides depend; the factors by limbs; that solution; straight code for the other right sides; and their columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from torseur.algebra.graph.expr import Expr, as_expr
from torseur.algebra.graph.program import Input, Output, Program, Solved, vector
from torseur.computation.codegen.sources.table_lookup import Lookups
from torseur.computation.codegen.targets.c.batch.c_batch import Batch, block_source, constants_source, range_source
from torseur.computation.codegen.targets.c.batch.c_limb_blocks import Group, Limb, Limbs, limbs_of
from torseur.computation.codegen.targets.c.batch.c_tiles import (
    WIDEST,
    Function,
    Gather,
    Inverse,
    Outward,
    SubtractProduct,
    call_text,
    function_text,
    parts,
    tallest,
)

_ZERO = as_expr(0)


def system_batch_source(batch: Batch, solved: Solved, function: str, lookups: Lookups) -> str:
    """static void FUNCTION(begin, end, stride, arrays): the states from begin to before end."""
    stages = Stages(batch, solved)
    solution = _Solution(function, stages.limbs)
    block = _block(stages, solution, function)
    straight = [
        block_source(stages.first, f"{function}_first", lookups),
        block_source(stages.second, f"{function}_second", lookups),
        constants_source(stages.first, f"{function}_first_constants"),
        constants_source(stages.second, f"{function}_second_constants", local=True),
    ]
    tiles = [function_text(tile, function) for tile in solution.functions]
    return "\n".join([*straight, *tiles, block, range_source(batch, function)])


@dataclass(frozen=True)
class Stages:
    """A batch in stages of straight code: `first` gives A and r, `second` the right sides of the columns."""

    batch: Batch
    solved: Solved

    @cached_property
    def limbs(self) -> Limbs:
        return limbs_of(self.solved, self.batch.program)

    @cached_property
    def shared_sines(self) -> tuple[Expr, ...]:
        """Sines and cosines of the first stage that the second reads; other values it computes again.

        All that both need would be 1,500 stores of a humanoid's first stage, which take longer than the operations.
        """
        made = {node for node in self._first.operations if node.op in ("sin", "cos")}
        return tuple(node for node in self._second.operations if node in made)

    @cached_property
    def first(self) -> Batch:
        program = replace(self._first, outputs=(*self._first.outputs, vector("shared", self.shared_sines)))
        return Batch(f"{self.batch.name}_first", program, self.batch.shared, ("matrix", "rest", "shared"))

    @cached_property
    def second(self) -> Batch:
        program = replace(self._second, inputs=(*self._second.inputs, Input("shared", self.shared_sines)))
        return Batch(f"{self.batch.name}_second", program, self.batch.shared, ("middle", "shared", "right"))

    @cached_property
    def _first(self) -> Program:
        rest = [self.solved.rest[row] for limb in self.limbs.limbs for row in limb.rows]
        outputs = (vector("matrix", self.limbs.matrix), vector("rest", rest))
        return Program("first", self.batch.program.inputs, outputs)

    @cached_property
    def _second(self) -> Program:
        inputs = (*self.batch.program.inputs, Input("middle", self.solved.given))
        return Program("second", inputs, (vector("right", self.limbs.right), *self._known_outputs))

    @property
    def _known_outputs(self) -> list[Output]:
        """The outputs, with nothing but the entries that need no solution."""
        known = dict(zip(self.solved.places, self.solved.program.output("known").entries, strict=True))
        return [
            Output(o.name, o.shape, tuple(known.get((k, i), _ZERO) for i in range(len(o))))
            for k, o in enumerate(self.batch.program.outputs)
        ]


def _notes(limbs: Limbs) -> list[str]:
    """A comment that says how the system is solved."""
    lines = [
        "/* One vector of states. A symmetric matrix A is cut in limbs s, each carried by rows a further inward:",
        "   H = 1/A_ss, P = H A_sa; inward b_a - P' b_s, outward x_s = H b_s - P x_a. `inverse` holds -H, `follow` P,",
        "   `path` the x_a of some columns, `solution` the first column, on which right sides of others depend.",
    ]
    for k, limb in enumerate(limbs.limbs):
        carried = f", carried by {', '.join(map(str, limb.carriers))}" if limb.carriers else ""
        lines.append(f"   limb {k}: rows {limb.rows.start} to {limb.rows.stop - 1}{carried}")
    return [*lines, "*/"]


def _block(stages: Stages, solution: _Solution, function: str) -> str:
    """One vector of states through all stages."""
    batch, limbs = stages.batch, stages.limbs
    inputs, outputs = batch.arrays[: len(batch.program.inputs)], batch.arrays[len(batch.program.inputs) :]
    sizes = {
        "matrix": len(limbs.matrix),
        "rest": limbs.size,
        "solution": limbs.size,
        "middle": len(stages.solved.given),
        "shared": len(stages.shared_sines),
        "right": len(limbs.right),
        "inverse": limbs.inverse_places[-1],
        "follow": limbs.follow_places[-1],
        "path": WIDEST * limbs.deepest,
    }
    first = ", ".join([*inputs, *map(_doubles, ("matrix", "rest", "shared"))])
    second = ", ".join([*inputs, *map(_doubles, ("middle", "shared", "right")), *outputs])
    # Backwards, so that of equal entries the first place stays.
    place = {node: k for k, node in reversed([*enumerate(stages.solved.middle)])}
    lines = [
        *_notes(limbs),
        f"static void {function}_block({batch.parameters}) {{",
        *(f"  lanes {name}[{max(size, 1)}];" for name, size in sizes.items()),
        f"  {function}_first_constants(0, LANES, LANES, {first});",
        f"  {function}_first_block(stride, {first});",
        *solution.factors(),
        *solution.first(),
        *(f"  middle[{k}] = solution[{place[node]}];" for k, node in enumerate(stages.solved.given)),
        f"  {function}_second_constants(0, LANES, LANES, {second});",
        f"  {function}_second_block(stride, {second});",
    ]
    for group in limbs.groups:
        shape = batch.program.outputs[group.output].shape
        lines += solution.columns(group, outputs[group.output], shape[-1] if len(shape) > 1 else 1)
    for k in limbs.inverses:
        lines += solution.inverse(outputs[k])
    return "\n".join([*lines, "}", ""])


@dataclass(frozen=True)
class _Place:
    """Where columns of a solution go: an array of numbers, and its steps from row to row and from column to column."""

    array: str
    row: str
    column: str

    def at(self, i: int, j: int) -> str:
        return f"{self.array} + {i} * {self.row} + {j} * {self.column}"


class _Solution:
    """The calls that solve a system, and the functions that they need."""

    def __init__(self, prefix: str, limbs: Limbs) -> None:
        self.prefix, self.limbs = prefix, limbs
        self.functions: dict[Function, None] = {}

    def _call(self, function: Function, **arguments: str) -> str:
        self.functions[function] = None
        return call_text(function, self.prefix, arguments)

    def factors(self) -> Iterable[str]:
        """-H and P of every limb, from the tips; A loses what each limb takes from the rows that carry it."""
        for k, limb in reversed([*enumerate(self.limbs.limbs)]):
            a = self.limbs.matrix_places[k] + limb.depth
            yield self._call(Inverse(limb.size, limb.width), a=f"matrix + {a}", h=self._inverse(k))
            yield from self._follow(k, limb)
            for c in limb.carriers:
                yield from self._reduce_carrier(k, limb, c)

    def _follow(self, k: int, limb: Limb) -> Iterable[str]:
        """P = H A_sa."""
        for columns in parts(limb.depth, WIDEST) if limb.depth else ():
            for rows in parts(limb.size, tallest(len(columns))):
                widths = limb.size, limb.width, limb.depth
                tile = SubtractProduct(len(rows), len(columns), limb.size, widths, fresh=True)
                b = f"matrix + {self.limbs.matrix_places[k] + columns.start}"
                yield self._call(tile, a=self._inverse(k, rows.start), b=b, c=self._p(k, rows.start, columns.start))

    def _reduce_carrier(self, k: int, limb: Limb, c: int) -> Iterable[str]:
        """A_aa - A_saᵀ P, in the rows of one of the limbs that carry s."""
        carrier, to = self.limbs.limbs[c], self.limbs.matrix_places[c]
        for rows in parts(carrier.size, tallest(WIDEST)):
            for columns in parts(carrier.depth + rows.stop, WIDEST):
                tile = SubtractProduct(len(rows), len(columns), limb.size, (limb.width, limb.depth, carrier.width))
                a = f"matrix + {self.limbs.matrix_places[k] + carrier.depth + rows.start}"
                place = f"matrix + {to + rows.start * carrier.width + columns.start}"
                yield self._call(tile, a=a, b=self._p(k, 0, columns.start), c=place)

    def first(self) -> Iterable[str]:
        """The solution on which the right sides of the others depend."""
        every = tuple(range(len(self.limbs.limbs)))
        return self._solve(Group(0, range(1), every, 0), "rest", _Place(_doubles("solution"), "LANES", "LANES"))

    def columns(self, group: Group, output: str, across: int) -> Iterable[str]:
        first, last = group.columns.start, group.columns.stop - 1
        yield f"  /* {output}: columns {first} to {last} */"
        yield from self._solve(group, "right", _Place(f"{output} + {first} * stride", f"({across} * stride)", "stride"))

    def _solve(self, group: Group, array: str, to: _Place) -> Iterable[str]:
        """Inward from the tips, in place, then outward."""
        places = {k: group.start + group.width * row for k, row in self.limbs.places(group.limbs).items()}
        # Limbs are numbered from the root: backwards, every limb has passed its part on before its carrier does.
        for k in reversed(group.limbs):
            yield from self._inward(k, group, array, places)
        for k in self.limbs.coupling(group.limbs):
            limb = self.limbs.limbs[k]
            for rows in parts(limb.size, tallest(group.width)):
                size = limb.size if k in places else 0
                tile = Outward(len(rows), group.width, size, limb.depth, k in self.limbs.carrying)
                own = {"h": self._inverse(k, rows.start), "b": f"{array} + {places.get(k)}"}
                yield self._call(tile, **own, **self._outward(k, rows.start, group.width, to, 0))

    def _inward(self, k: int, group: Group, array: str, places: dict[int, int]) -> Iterable[str]:
        """b_a - Pᵀ b_s, in runs of rows that stand behind one another."""
        limb, width = self.limbs.limbs[k], group.width
        for first, run in self._runs(limb, places, width):
            for rows in parts(len(run), tallest(width)):
                tile = SubtractProduct(len(rows), width, limb.size, (limb.depth, width, width))
                c = f"{array} + {first + width * rows.start}"
                yield self._call(tile, a=self._p(k, 0, run.start + rows.start), b=f"{array} + {places[k]}", c=c)

    def _runs(self, limb: Limb, places: dict[int, int], width: int) -> list[tuple[int, range]]:
        """The rows that carry a limb, counted from the root: where each run of them begins, and which they are."""
        runs: list[tuple[int, range]] = []
        for c in limb.carriers:
            carrier = self.limbs.limbs[c]
            own = range(carrier.depth, carrier.width)
            if runs and runs[-1][0] + width * len(runs[-1][1]) == places[c]:
                runs[-1] = (runs[-1][0], range(runs[-1][1].start, own.stop))
            else:
                runs.append((places[c], own))
        return runs

    def inverse(self, output: str) -> Iterable[str]:
        """A⁻¹ itself: columns of one limb in its own rows and in those of the limbs behind it, mirrored."""
        to = _Place(output, f"({self.limbs.size} * stride)", "stride")
        for s, limb in enumerate(self.limbs.limbs):
            for columns in parts(limb.size, WIDEST):
                j, width = limb.rows.start + columns.start, len(columns)
                yield f"  /* {output}: columns {j} to {j + width - 1} */"
                for c in limb.carriers:
                    carrier = self.limbs.limbs[c]
                    place = {"from": to.at(carrier.rows.start, j), "row": to.row, "column": to.column}
                    yield self._call(Gather(carrier.size, width), path=f"path + {carrier.depth * width}", **place)
                yield from self._own_part(s, columns, to)
                for t in self.limbs.coupling([s]):
                    if t > s:
                        yield from self._mirrored_part(t, j, width, to)

    def _own_part(self, s: int, columns: range, to: _Place) -> Iterable[str]:
        """The rows of the limb whose columns they are; above its diagonal they are there already."""
        limb, width = self.limbs.limbs[s], len(columns)
        j = limb.rows.start + columns.start
        whole = width == limb.size
        for rows in parts(limb.size, tallest(width) if whole else WIDEST):
            kept = s in self.limbs.carrying
            below = rows.start >= columns.stop
            if rows.stop <= columns.start and not kept:
                continue
            tile = Outward(len(rows), width, limb.size, limb.depth, kept, part=True, mirrored=below)
            h = self._inverse(s, rows.start * limb.size + columns.start)
            yield self._call(tile, h=h, **self._outward(s, rows.start, width, to, j))

    def _mirrored_part(self, t: int, j: int, width: int, to: _Place) -> Iterable[str]:
        limb = self.limbs.limbs[t]
        for rows in parts(limb.size, tallest(width)):
            tile = Outward(len(rows), width, 0, limb.depth, t in self.limbs.carrying, part=True, mirrored=True)
            yield self._call(tile, **self._outward(t, rows.start, width, to, j))

    def _outward(self, k: int, first: int, width: int, to: _Place, j: int) -> dict[str, str]:
        """The arguments of a tile's result, and of what carries its limb."""
        limb = self.limbs.limbs[k]
        i = limb.rows.start + first
        carried = {"p": self._p(k, first, 0), "path": "path", "kept": f"path + {width * (limb.depth + first)}"}
        return {**carried, "to": to.at(i, j), "mirror": to.at(j, i), "row": to.row, "column": to.column}

    def _inverse(self, k: int, entry: int = 0) -> str:
        return f"inverse + {self.limbs.inverse_places[k] + entry}"

    def _p(self, k: int, row: int, column: int) -> str:
        return f"follow + {self.limbs.follow_places[k] + row * self.limbs.limbs[k].depth + column}"


def _doubles(name: str) -> str:
    return f"(double *){name}"
