"""A straight-line program as lines to read: intermediates by name, in the order they are computed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count

from torseur.algebra.graph import Expr, Output, Program, live_nodes
from torseur.presentation.typesetting.formula_tree import Name, Node
from torseur.presentation.typesetting.read_graph import Names, literal_form, read_name, tidy_form
from torseur.presentation.typesetting.symbols import symbol

SHORT = 2  # operations that may be repeated rather than named
LONG, LONG_SUM = 12, 36  # operations after which a line is broken by a name, at a factor and within a sum
_FREE = {"neg"}
_SUMS = {"add", "sub"}


@dataclass(frozen=True)
class Line:
    """left = right; `node` is what the line computes. The right side is written when it is first read."""

    left: Name
    write: Callable[[], Node]
    node: Expr | None = None

    @cached_property
    def right(self) -> Node:
        return self.write()

    @property
    def name(self) -> str:
        return self.left.text


def lines(program: Program, results: dict[str, list[str]] | None = None) -> list[Line]:
    """The program with every labelled node, every long repeated one and every result on a line of its own.

    `results` names the entries of an output; otherwise they are numbered.
    """
    entries = [entry for output in program.outputs for entry in output.entries]
    given = {node for group in program.inputs for node in group.nodes}
    listed, nodes = definitions(entries, given, program.labels)
    labels = [label for output in program.outputs for label in _labels(output, results or {})]
    rows = zip(labels, nodes, entries, strict=True)
    return listed + [result_line(label, node, entry) for label, node, entry in rows]


def result_line(label: str, right: Node, entry: Expr) -> Line:
    """A line whose right side is there already."""
    return Line(read_name(label), lambda: right, entry)


def definitions(
    entries: Sequence[Expr], given: Collection[Expr] = (), labels: Mapping[Expr, str] | None = None
) -> tuple[list[Line], list[Node]]:
    """Entries in terms of named intermediates: the lines that define these, in order, and the entries."""
    operations = [node for node in live_nodes(entries, given) if node.args and node not in given]
    names = _names(operations, entries, given, labels or {})
    listed = [
        Line(read_name(names[node]), partial(tidy_form, node, names), node) for node in operations if node in names
    ]
    return listed, [_result(entry, names) for entry in entries]


def _labels(output: Output, given: dict[str, list[str]]) -> list[str]:
    return given.get(output.name) or [f"{output.name}_{k + 1}" for k in range(len(output))]


def _result(entry: Expr, names: Names) -> Node:
    return literal_form(entry, names) if entry in names or not entry.args else tidy_form(entry, names)


def _names(
    operations: Sequence[Expr], entries: Sequence[Expr], given: Collection[Expr], labels: Mapping[Expr, str]
) -> dict[Expr, str]:
    """Names of the nodes that get a line: labels, made unique, and numbered names for what else is used again."""
    # The graph is walked in the order of computation. A node gets a name where it is labelled, where it would be
    # repeated and is longer than SHORT, or where the line would get longer than LONG; a result has its own name
    # already.
    results = set(entries)
    uses = Counter(a for node in operations for a in node.args)
    # A sum goes on in the sum that uses it: lines are broken at factors rather than in the middle of a sum.
    goes_on = {a for node in operations if node.op in _SUMS for a in node.args if a.op in _SUMS and uses[a] == 1}
    taken = {str(node.name) for node in live_nodes(entries, given) if node.op == "symbol"}
    letter, numbers = _free_letter(taken), count(1)
    names: dict[Expr, str] = {}
    lengths: dict[Expr, int] = {}
    for node in operations:
        length = (node.op not in _FREE) + sum(lengths.get(a, 0) for a in node.args if a not in names and a not in given)
        lengths[node] = length
        repeated = uses[node] > 1 and length > SHORT
        label = labels.get(node)
        if label or repeated or (length > (LONG_SUM if node in goes_on else LONG) and node not in results):
            names[node] = _unique(label or f"{letter}_{next(numbers)}", taken)
    return names


def _free_letter(names: set[str]) -> str:
    """A letter that no quantity is written with."""
    used = {symbol(name).base for name in names}
    return next((letter for letter in "ezhpuwn" if letter not in used), "aux")


def _unique(label: str, taken: set[str]) -> str:
    """The label itself, or with the first free number."""
    name, number = label, 1
    # A user may have called a parameter w_arm_x, which is a label of the recursion as well.
    while name in taken:
        number += 1
        name = f"{label}_{number}"
    taken.add(name)
    return name
