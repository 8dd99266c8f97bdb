"""Straight-line programs: named vectors in, named arrays out, each operation once and in order."""

from __future__ import annotations

import hashlib
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from itertools import islice
from math import prod
from typing import Any

from torseur.algebra.graph.construction.pickling import Packed, pack, unpack
from torseur.algebra.graph.evaluation import evaluate, live_nodes
from torseur.algebra.graph.expr import Expr, as_expr
from torseur.algebra.graph.operations import OPERATIONS
from torseur.algebra.graph.simd_batching import LANE, PACK, lane, vector_width, widths
from torseur.errors import TorseurError, unknown_name


@dataclass(frozen=True)
class Input:
    """A named vector argument, usually of symbols; any other node stands for a value computed before."""

    name: str
    nodes: tuple[Expr, ...]

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True)
class Output:
    """A named array result, entries in row-major order."""

    name: str
    shape: tuple[int, ...]
    entries: tuple[Expr, ...]

    def __post_init__(self) -> None:
        size = len(self.entries)
        assert prod(self.shape) == size, f"output '{self.name}' of shape {self.shape} has {size} entries"

    def __len__(self) -> int:
        return len(self.entries)


def vector(name: str, entries: Sequence[Any]) -> Output:
    """A vector output."""
    return Output(name, (len(entries),), tuple(as_expr(e) for e in entries))


def matrix(name: str, rows: Sequence[Sequence[Any]]) -> Output:
    """A matrix output."""
    columns = len(rows[0]) if rows else 0
    return Output(name, (len(rows), columns), tuple(as_expr(e) for row in rows for e in row))


COLUMNS = 8
"""Columns that a block of right sides has room for: the lanes of the longest vector."""


@dataclass(frozen=True)
class Block:
    """Up to eight columns of a linear system's right side, next to each other in an output.

    Only `rows`, ascending, are not zero; what they need further inward is among them. `fixed` holds their numbers,
    eight to a row, where they are constants; else they stand in the terms from `start` on.
    """

    output: int
    column: int
    count: int
    rows: tuple[int, ...]
    start: int
    fixed: tuple[float, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of a right side: its output, its number there, its entries by row; other rows are zero."""

    output: int
    number: int
    entries: dict[int, Expr]


@dataclass(frozen=True)
class Solved:
    """The outputs of a program in two stages, for languages with loops: a program, then -A⁻¹ B, many columns at once.

    A = Lᵀ D L is symmetric. The outputs of `program` are `right`, the blocks of B one after the other; `lower`, the
    entries of L at the places `pattern`, (k, i) with i < k; `inverse`, 1/D; and `known`, entries that are results as
    they are: `places` lists their (output, index).
    `middle` are values that much of `program` depends on: where it is cut in parts, they are a good place. They are
    -A⁻¹ r, where r is `rest` and A at the places (k, i) with i <= k is `matrix`, zeros left out.
    """

    program: Program
    pattern: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...]
    places: tuple[tuple[int, int], ...]
    middle: tuple[Expr, ...] = ()
    matrix: tuple[tuple[int, int, Expr], ...] = ()
    rest: tuple[Expr, ...] = ()

    @property
    def columns(self) -> Iterator[Column]:
        """B column by column."""
        right = self.program.output("right").entries
        for block in self.blocks:
            for c in range(block.count):
                places = [COLUMNS * e + c for e in range(len(block.rows))]
                values = [as_expr(block.fixed[p]) if block.fixed else right[block.start + p] for p in places]
                yield Column(block.output, block.column + c, dict(zip(block.rows, values, strict=True)))

    @property
    def given(self) -> tuple[Expr, ...]:
        """The values of `middle` that a program can take as an input: each once, no numbers, no other inputs."""
        known = {node for group in self.program.inputs for node in group.nodes}
        return tuple(node for node in dict.fromkeys(self.middle) if node.args and node not in known)

    @property
    def undone(self) -> Program:
        """What a solution by other means starts from: the right sides where `middle` is given, A, and r."""
        outputs = (self.program.output("right"), self.program.output("known"))
        more = (vector("matrix", [entry for _, _, entry in self.matrix]), vector("rest", self.rest))
        return Program(self.program.name, (*self.program.inputs, Input("middle", self.given)), (*outputs, *more))


@dataclass(frozen=True)
class Program:
    """outputs = f(inputs) as straight-line code.

    `operations` are the nodes to compute, in order; leaves are constants, "pi" and input nodes. Undetermined
    functions ("apply" nodes) must be inputs: the program does not know how to compute them. `solved` and `simd`
    are other ways to the same outputs, shorter where there is one; `simd` computes limbs that are alike in the lanes
    of vectors (see simd_batching.py).
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    solved: Solved | None = field(default=None, compare=False, repr=False)
    simd: Program | None = field(default=None, compare=False, repr=False)
    labels: Mapping[Expr, str] = field(default_factory=dict, compare=False, repr=False)
    """Names of intermediate values, for printed equations and generated code."""
    known: InitVar[Sequence[Expr] | None] = None
    """The `nodes`, where they have been found before."""

    def __post_init__(self, known: Sequence[Expr] | None) -> None:
        if known is not None:
            self.__dict__["nodes"] = tuple(known)
        self._check_inputs()
        for node in self.nodes:
            if node.op in ("symbol", "apply") and node not in self.given:
                what = "function" if node.op == "apply" else "symbol"
                raise TorseurError(f"{self._where}needs {what} '{node}', which is not one of its inputs.")

    def _check_inputs(self) -> None:
        for name, times in Counter(group.name for group in self.inputs).items():
            if times > 1:
                raise TorseurError(f"{self._where}has {times} inputs named '{name}'.")
        for node, times in Counter(node for group in self.inputs for node in group.nodes).items():
            if times > 1:
                raise TorseurError(f"{self._where}is given '{node}' {times} times by its inputs.")
            if node.op in ("constant", "pi"):
                raise TorseurError(f"{self._where}cannot take the constant '{node}' as an input.")

    @property
    def _where(self) -> str:
        return f"program '{self.name}' "

    @cached_property
    def tables(self) -> tuple[Expr, ...]:
        """The nodes that look something up in a table."""
        return tuple(node for node in self.nodes if node.op == "table")

    @cached_property
    def given(self) -> frozenset[Expr]:
        """The nodes that are not computed: those of the inputs, and packs whose lanes are among these."""
        return frozenset(self.sources)

    @cached_property
    def sources(self) -> dict[Expr, tuple[int, int]]:
        """The input and the place in it where each given node stands; of a pack, where its first lane does."""
        places = {node: (i, j) for i, group in enumerate(self.inputs) for j, node in enumerate(group.nodes)}
        return places | {node.args[0]: place for node, place in places.items() if node.op == LANE and node.data == 0}

    @cached_property
    def nodes(self) -> tuple[Expr, ...]:
        """Everything the outputs depend on, leaves included, in order of evaluation."""
        results = [entry for output in self.outputs for entry in output.entries]
        return tuple(live_nodes(results, self.given))

    @cached_property
    def operations(self) -> tuple[Expr, ...]:
        """The nodes to compute."""
        given = self.given
        return tuple([node for node in self.nodes if node.args and node not in given])

    @cached_property
    def widths(self) -> dict[Expr, int]:
        """How many lanes each node has; 1 unless limbs are SIMD-batched."""
        return widths(self.nodes)

    @cached_property
    def counts(self) -> dict[str, int]:
        """Number of operations by kind."""
        counts: Counter[str] = Counter()
        for op, number in Counter([node.op for node in self.operations]).items():
            counts[OPERATIONS[op].kind if op in OPERATIONS else op] += number
        return dict(counts)

    @property
    def cost(self) -> float:
        """Weighted number of operations, in multiplications."""
        return sum(OPERATIONS[node.op].cost if node.op in OPERATIONS else 10.0 for node in self.operations)

    def input(self, name: str) -> Input:
        for group in self.inputs:
            if group.name == name:
                return group
        raise TorseurError(unknown_name("input", name, [group.name for group in self.inputs], self._where))

    def output(self, name: str) -> Output:
        for group in self.outputs:
            if group.name == name:
                return group
        raise TorseurError(unknown_name("output", name, [group.name for group in self.outputs], self._where))

    def split(self, parameters: Sequence[str], prepared: str = "prepared") -> tuple[Program, Program]:
        """(prepare, per_state): what depends on the named inputs only, computed once, and the rest.

        The second program takes the vector `prepared` in place of those inputs, whichever way it goes to its outputs.
        Packed values come first, their lanes behind one another, so that they are read as vectors; otherwise they stand
        in the order in which they are first read.
        """
        fixed = {node for name in parameters for node in self.input(name).nodes}
        read = dict.fromkeys(node for way in self._ways for node in way._frontier(fixed))
        # Widest first keeps vectors aligned in the array; sorted is stable, so scalars stay in the order of reading.
        needed = sorted(read, key=lambda node: -_lanes(node))
        given = tuple(self.input(name) for name in parameters)
        states = tuple(group for group in self.inputs if group.name not in parameters)
        entries = [entry for node in needed for entry in _padded_lanes(node)]
        places = tuple(place for node in needed for place in _places(node))
        prepare = Program(f"{self.name}_prepare", given, (vector(prepared, entries),), labels=self.labels)
        return prepare, self._taking((*states, Input(prepared, places)))

    @property
    def without_vectors(self) -> Program:
        """The program for targets that have no vectors."""
        solved = self.solved
        if solved is not None:
            solved = replace(solved, program=solved.program.without_vectors)
        return Program(self.name, self.inputs, self.outputs, solved, labels=self.labels)

    def with_labels(self, names: Mapping[str, Sequence[Expr]]) -> Program:
        """The program with names for values on its way: each is given to the first of its nodes that is computed."""
        own = set(self.operations)
        labels: dict[Expr, str] = {}
        for name, nodes in names.items():
            node = next((node for node in nodes if node in own), None)
            if node is not None:
                labels.setdefault(node, name)
        return self._labelled(labels)

    def _labelled(self, labels: Mapping[Expr, str]) -> Program:
        """The program with other labels in all its ways."""
        solved, simd = self.solved, self.simd
        if solved is not None:
            solved = replace(solved, program=solved.program._labelled(labels))
        if simd is not None:
            simd = simd._labelled(labels)
        # Not by the constructor: what was checked and found of the program, its nodes above all, holds for other labels
        # too. Finding the nodes again was a tenth of the time of writing a source.
        result = object.__new__(Program)
        result.__dict__.update(self.__dict__, solved=solved, simd=simd, labels=labels)
        return result

    @property
    def _ways(self) -> list[Program]:
        """The programs that lead to the outputs."""
        others = [] if self.solved is None else [self.solved.program, self.solved.undone]
        if self.simd is not None:
            others.append(self.simd)
        return [self, *(way for other in others for way in other._ways)]

    def _taking(self, inputs: tuple[Input, ...]) -> Program:
        """The program with other inputs in all its ways."""
        solved, simd = self.solved, self.simd
        if solved is not None:
            solved = replace(solved, program=solved.program._taking(inputs))
        if simd is not None:
            simd = simd._taking(inputs)
        return Program(self.name, inputs, self.outputs, solved, simd, self.labels)

    def _frontier(self, fixed: set[Expr]) -> list[Expr]:
        """The values that depend on fixed nodes only and that the rest of the program reads, in its order."""
        hoisted = set(fixed)
        for node in self.operations:
            # Constants alone make nothing worth preparing: at least one argument comes from the named inputs.
            known = all(argument in hoisted or argument.op in ("constant", "pi") for argument in node.args)
            if known and not (node.op == PACK and hoisted.isdisjoint(node.args)):  # packed numbers stay in the code
                hoisted.add(node)
        read = [a for node in self.operations if node not in hoisted for a in node.args if a in hoisted]
        return [*read, *(entry for output in self.outputs for entry in output.entries if entry in hoisted)]

    def evaluate(self, values: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """The outputs in any scalar, by walking the graph: slow, exact, the reference for every target."""
        bindings = {node: value for group in self.inputs for node, value in self._bindings(group, values)}
        flat = evaluate([e for output in self.outputs for e in output.entries], bindings)
        results, start = {}, 0
        for output in self.outputs:
            results[output.name] = flat[start : start + len(output)]
            start += len(output)
        return results

    def _bindings(self, group: Input, values: Mapping[str, Sequence[Any]]) -> Iterable[tuple[Expr, Any]]:
        """Each node of an input with its value."""
        if group.name not in values:
            raise TorseurError(f"{self._where}needs a value for its input '{group.name}'.")
        given = values[group.name]
        if len(given) != len(group):
            expected = f"{self._where}needs {len(group)} values for '{group.name}'"
            raise TorseurError(f"{expected}, got {len(given)}.")
        return zip(group.nodes, given, strict=True)

    def __reduce__(self) -> tuple[Any, ...]:
        groups = [group.nodes for group in self.inputs] + [group.entries for group in self.outputs]
        inputs = [(group.name, len(group)) for group in self.inputs]
        outputs = [(group.name, group.shape) for group in self.outputs]
        return _restore, (self.name, inputs, outputs, pack([node for group in groups for node in group]))

    @cached_property
    def digest(self) -> str:
        """A hash of what the program computes: independent of names and of when nodes were made."""
        codes = {
            node: _hash(b"input", struct.pack("<qq", i, k))
            for i, group in enumerate(self.inputs)
            for k, node in enumerate(group.nodes)
        }
        for node in self.nodes:
            if node not in codes:
                parts = [codes[a] for a in node.args]
                # Which operand of a sum stands first follows from names, which the digest must not see.
                symmetric = node.op in OPERATIONS and OPERATIONS[node.op].commutative
                codes[node] = _hash(_content(node), *(sorted(parts) if symmetric else parts))
        sizes = [len(self.inputs), *map(len, self.inputs), *map(len, self.outputs)]
        results = [codes[entry] for output in self.outputs for entry in output.entries]
        return _hash(struct.pack(f"<{len(sizes)}q", *sizes), *results).hex()


def _lanes(node: Expr) -> int:
    """The places that a value takes in an array: a whole vector for packed ones."""
    return vector_width(len(node.args)) if node.op == PACK else 1


def _padded_lanes(node: Expr) -> Sequence[Expr]:
    """The numbers of a value, the last of a packed one filling up its vector."""
    return (*node.args, *[node.args[-1]] * (_lanes(node) - len(node.args))) if node.op == PACK else (node,)


def _places(node: Expr) -> Sequence[Expr]:
    """The nodes that stand for these numbers."""
    return [lane(node, k) for k in range(_lanes(node))] if node.op == PACK else (node,)


def _hash(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def _restore(
    name: str, inputs: list[tuple[str, int]], outputs: list[tuple[str, tuple[int, ...]]], packed: Packed
) -> Program:
    nodes = iter(unpack(packed))
    return Program(
        name,
        tuple(Input(label, tuple(islice(nodes, size))) for label, size in inputs),
        tuple(Output(label, shape, tuple(islice(nodes, prod(shape)))) for label, shape in outputs),
    )


def _content(node: Expr) -> bytes:
    """What a node is, apart from its arguments."""
    if node.op == "constant":
        return f"constant {node.data!r}".encode()
    if node.op == "table":
        return f"table {node.data.order} {node.data.table.content}".encode()
    return node.op.encode()
