"""A Program cut into chunks that a compiler swallows in linear time.

Each chunk becomes one function. Values that cross chunks live in a scratch array whose slots are used again once
their last reader has run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from torseur.algebra.graph.expr import Expr
from torseur.algebra.graph.program import Program
from torseur.algebra.graph.simd_batching import vector_width
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.straight_line.scheduling import fewest_live, longest_chains_first, result_orders
from torseur.computation.codegen.straight_line.sine_cosine_pairs import EarlySines, early_sines_of

# Why these sizes: docs/decisions/0008-operations-as-results-need-them.md.
CHUNK = 400
"""Operations per function of a long program. Compile time grows faster than this number."""

WHOLE = 2000
"""Operations up to which a program stays one function where the language allows: a fifth faster than in chunks.

Longer ones are slower whole, because the compiler runs out of places to keep values near.
"""

SCHEDULED = 3000
"""Operations up to which C orders them anew for one state; beyond, the time it takes is not worth it."""

COMPARED = 10_000
"""Operations up to which several orders are compared for a number of registers."""

_CIRCULAR = frozenset(("sin", "cos"))
_NOWHERE = -1
"""The slot of a value that has none yet."""


@dataclass
class Chunk:
    """One function's worth of operations.

    `inputs` are the (input, index) pairs it reads, `restored` the values it takes from scratch slots, `early_sines`
    those it takes from the sines computed first; `saved` gives a slot to values that later chunks read, `results` the
    output places of values it computes.
    """

    operations: list[Expr]
    inputs: dict[Expr, tuple[int, int]] = field(default_factory=dict)
    restored: dict[Expr, int] = field(default_factory=dict)
    early_sines: dict[Expr, int] = field(default_factory=dict)
    saved: dict[Expr, int] = field(default_factory=dict)
    results: dict[Expr, list[tuple[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The chunks of a program, the number of scratch slots, and an identifier for every value."""

    program: Program
    chunks: tuple[Chunk, ...]
    slots: int
    names: dict[Expr, str]
    arrays: tuple[str, ...]
    """Identifiers of the inputs, then of the outputs."""
    early_sines: EarlySines
    widths: dict[Expr, int]
    """How many lanes each value has; 1 unless limbs are SIMD-batched."""


def layout(
    program: Program,
    reserved: Iterable[str] = (),
    chunk: int = CHUNK,
    ignore_case: bool = False,
    together: bool = False,
    whole: int = 0,
    scheduled: int = 0,
    registers: int = 0,
) -> Layout:
    """The program's operations as results need them, sine beside cosine, in chunks of about the given size.

    With `together`, sines and cosines that depend on nothing but inputs come first, all at once. A program of at most
    `whole` operations is one chunk; one of at most `scheduled` is ordered such that long chains begin early, or, for a
    number of `registers`, such that few values are stored.
    """
    # In this order: demand decides which operations exist and roughly when, scheduling moves them, pairing undoes what
    # scheduling has taken apart, and only then is it known where the cuts fall.
    early = early_sines_of(program) if together else EarlySines()
    order = order_by_demand(program, early)
    if len(order) <= scheduled:
        order = _schedule(program, order, registers)
    order = pair_sines(order)
    # Pieces of the same size, so that the last is not a handful of operations.
    number = 1 if len(order) <= whole else max(1, -(-len(order) // chunk))
    parts = [order[len(order) * k // number : len(order) * (k + 1) // number] for k in range(number)]
    return arrange_chunks(program, parts, reserved, ignore_case, early)


def _schedule(program: Program, order: list[Expr], registers: int) -> list[Expr]:
    """The order with long chains first, or with few values stored: for short programs the best of several."""
    if not registers:
        return longest_chains_first(order)
    if len(order) > COMPARED:
        return fewest_live(order, registers=registers)
    own = set(order)
    starts = [[entry for entry in entries if entry in own] for entries in result_orders(program)]
    return fewest_live(order, *starts, registers=registers)


def arrange_chunks(
    program: Program,
    parts: Sequence[Sequence[Expr]],
    reserved: Iterable[str] = (),
    ignore_case: bool = False,
    early: EarlySines | None = None,
) -> Layout:
    """The program's operations in the order and the chunks they are given in, after the sines computed first.

    An operation may stand in several chunks: later ones compute it again instead of reading it from scratch.
    """
    early = early or EarlySines()
    pieces = [Chunk(list(part)) for part in parts] or [Chunk([])]
    sizes = program.widths
    slots = _connect(program, pieces, early, sizes)
    names = Names(reserved, ignore_case)
    arrays = array_names(program, names)
    order = [node for part in parts for node in part]
    values = list(dict.fromkeys([*early.operations, *(early.places or ()), *order]))
    return Layout(program, tuple(pieces), slots, _name_values(program, values, names), arrays, early, sizes)


def array_names(program: Program, names: Names) -> tuple[str, ...]:
    """Identifiers of the inputs, then of the outputs."""
    groups = [group.name for group in program.inputs] + [output.name for output in program.outputs]
    return tuple(names.unique(name) for name in groups)


def pair_sines(operations: Iterable[Expr]) -> list[Expr]:
    """The operations with sine and cosine of one argument next to each other, so that compilers fuse them."""
    operations = list(operations)
    partner: dict[Expr, list[Expr]] = {}
    for node in operations:
        if node.op in _CIRCULAR:
            partner.setdefault(node.args[0], []).append(node)
    order: list[Expr] = []
    for node in operations if partner else ():
        if node.op in _CIRCULAR:
            order.extend(partner.pop(node.args[0], ()))
        else:
            order.append(node)
    return order or operations


def _connect(program: Program, pieces: list[Chunk], early: EarlySines, sizes: dict[Expr, int]) -> int:
    """Fills in what each chunk reads and leaves behind; returns the number of scratch slots."""
    places = early.places or {}
    # Backwards, so that a value computed again in later chunks has its home in the first.
    home = {node: k for k, piece in reversed([*enumerate(pieces)]) for node in piece.operations}
    sources = program.sources
    last_reader: dict[Expr, int] = {}
    for k, piece in enumerate(pieces):
        for argument in _from_outside(piece.operations):
            if argument in sources:
                piece.inputs[argument] = sources[argument]
            elif argument in places:
                piece.early_sines[argument] = places[argument]
            elif argument in home:
                piece.restored[argument] = _NOWHERE
                last_reader[argument] = k
    _place_results(program, pieces, home, sources, places)
    return _assign_slots(pieces, home, last_reader, sizes)


def _from_outside(operations: Sequence[Expr]) -> list[Expr]:
    """The values that some operations read and do not compute, constants among them, each once."""
    own = set(operations)
    read = dict.fromkeys(chain.from_iterable([node.args for node in operations]))
    return [argument for argument in read if argument not in own]


def _place_results(
    program: Program,
    pieces: list[Chunk],
    home: dict[Expr, int],
    sources: dict[Expr, tuple[int, int]],
    places: dict[Expr, int],
) -> None:
    """Outputs are written where they are computed; inputs and constants that are outputs, in the last chunk."""
    for i, output in enumerate(program.outputs):
        for j, entry in enumerate(output.entries):
            piece = pieces[home.get(entry, len(pieces) - 1)]
            piece.results.setdefault(entry, []).append((i, j))
            if entry in sources:
                piece.inputs[entry] = sources[entry]
            elif entry in places:
                piece.early_sines[entry] = places[entry]


def _assign_slots(
    pieces: list[Chunk], home: dict[Expr, int], last_reader: dict[Expr, int], sizes: dict[Expr, int]
) -> int:
    """Gives every value that crosses chunks a slot, or as many as its vector has lanes; returns their number."""
    # Free slots are kept by width: a vector takes neighbouring slots, from a multiple of its width on.
    free: dict[int, list[int]] = {}
    released: dict[int, list[Expr]] = {}
    count = 0
    slot: dict[Expr, int] = {}
    for k, piece in enumerate(pieces):
        for argument in piece.restored:
            piece.restored[argument] = slot[argument]
        # Only now: a slot read by chunk k - 1 must not be written by that chunk itself.
        for node in released.pop(k - 1, ()):
            free.setdefault(vector_width(sizes[node]), []).append(slot[node])
        for node in piece.operations:
            if node in last_reader and home[node] == k:
                size = vector_width(sizes[node])
                if free.get(size):
                    slot[node] = free[size].pop()
                else:
                    # The next multiple of the width: a vector that began elsewhere would cross lines of the cache.
                    slot[node] = -(-count // size) * size
                    count = slot[node] + size
                piece.saved[node] = slot[node]
                released.setdefault(last_reader[node], []).append(node)
    return count


def _name_values(program: Program, order: list[Expr], names: Names) -> dict[Expr, str]:
    """The user's names where there are some, numbers elsewhere."""
    result: dict[Expr, str] = {}
    for node, (i, j) in program.sources.items():
        result[node] = names.unique(node.name or f"{program.inputs[i].name}_{j}")
    for number, node in enumerate(order):
        label = program.labels.get(node)
        result[node] = names.unique(label) if label else names.with_number("t", number)
    return result


# Why in this order: docs/decisions/0008-operations-as-results-need-them.md.
def order_by_demand(program: Program, early: EarlySines) -> list[Expr]:
    """The operations as results need them: for each result what is still missing, its longest chain first.

    Results go by columns from the last to the first: from the tips of the limbs inward, as recursions do, so that those
    of one limb are computed together and what one column needs the next one shares. Few values then wait for their use.
    For a humanoid's derivatives of inverse dynamics, rows from the first on took half as long again in batches;
    operations level by level took half as long again in forward dynamics.
    """
    height = _heights(program)
    done = {*program.given, *(early.places or ()), *[node for node in program.nodes if not node.args]}
    order: list[Expr] = []
    # A stack, not recursion: chains of a humanoid's derivatives are thousands of operations long. A node may be on the
    # stack several times; the copy that is popped first computes it, the others find it done.
    stack = result_orders(program)[-1][::-1]
    while stack:
        node = stack.pop()
        if node in done:
            continue
        missing = [a for a in node.args[::-1] if a not in done]
        if missing:
            if len(missing) > 1:
                missing.sort(key=height.__getitem__)  # the highest is on top of the stack, of two the first
            stack.append(node)
            stack += missing
        else:
            done.add(node)
            order.append(node)
    return order


def _heights(program: Program) -> dict[Expr, int]:
    """The longest chain of operations that leads to each value."""
    given = program.given
    height: dict[Expr, int] = {}
    for node in program.nodes:
        height[node] = 0 if node in given else 1 + max([height[a] for a in node.args], default=0)
    return height
