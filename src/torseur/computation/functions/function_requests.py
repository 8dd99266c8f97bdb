"""Functions of a mechanism and their derivatives by request: "mass_matrix", "frame:hand", "forward_dynamics/q,v".

A slash asks for derivatives: f/q by the coordinates, f/q,v by the coordinates and by the speeds, f/q/v first by the
one and then by the other. What to differentiate by is an input (t, q, v, vdot, tau, u, p) or an entry of one, by name;
"displacement" is by the configuration along each speed, where a quaternion has three directions and not four.
f/along:q,v is the derivative along one direction of q and v together, given by more inputs q_direction, v_direction;
f/along:q,v/q,v is that differentiated again, f/along:q,v/along:q,v along a second direction q_direction2, v_direction2.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

from torseur.algebra.graph import Expr, Input, Output, Program, live_nodes
from torseur.computation.functions.batched_limbs import (
    batched_derivatives,
    batched_outputs,
    batched_program,
    batched_system,
    folded_of,
)
from torseur.computation.functions.differentiation_variables import Direction, Variables
from torseur.computation.functions.function_derivatives import Differentiation
from torseur.computation.functions.mechanism_functions import (
    FRAME_FUNCTIONS,
    FUNCTIONS,
    PARAMETERS,
    all_inputs,
    outputs_of,
    require_lasting,
)
from torseur.derivation.equations.equations import Equations
from torseur.derivation.tree.transformations.limb_batching import BatchedTree
from torseur.errors import TorseurError, UnsupportedError, unknown_name

Ways = tuple[Variables | Direction, ...]
HIGHEST_ORDER = 2
DISPLACEMENT = "displacement"
ALONG = "along:"
ARGUMENTS = {
    "inverse_dynamics": ("q", "v", "vdot"),
    "regressor": ("q", "v", "vdot"),
    "motion": ("q", "v", "vdot"),
    "forward_dynamics": ("q", "v", "tau"),
    "bias": ("q", "v"),
    "coriolis_matrix": ("q", "v"),
    "loads": ("q", "v"),
    "rates": ("q", "v"),
    "energies": ("q", "v"),
    "sensitivity_elements": ("q", "v", "vdot"),
    "constraint_gamma": ("q", "v"),
    "constrained_forward_dynamics": ("q", "v", "tau"),
    "constraint_corrections": ("q", "v"),
}
"""Inputs that a function takes whether this mechanism needs them or not, so that its interface is always the same.

The others take q; all take the parameters p where there are some, and t and u only when they depend on them.
"""


@dataclass(frozen=True)
class Request:
    """A function, and for each differentiation what to differentiate by."""

    function: str
    levels: tuple[Level, ...] = ()

    @property
    def name(self) -> str:
        """inverse_dynamics, inverse_dynamics_by_q_v, inverse_dynamics_by_q_by_q, inverse_dynamics_along_q_v."""
        return self.function.replace(":", "_") + "".join(level.name for level in self.levels)


@dataclass(frozen=True)
class Level:
    """One differentiation: by each of some variables, or `along` one direction of all of them."""

    words: tuple[str, ...]
    along: bool = False

    @property
    def name(self) -> str:
        return f"_{'along' if self.along else 'by'}_{'_'.join(self.words)}"


# What generation costs without it: docs/decisions/0018-generation-costs-what-its-nodes-cost.md.
@contextmanager
def pause_collection() -> Iterator[None]:
    """While it lasts, cycles of garbage are not looked for: expressions have none, and it took a third of the time.

    Memory of what is no longer referred to is freed as ever. Nested uses are allowed, and errors pass through.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def programs_of(equations: Equations, requests: str | Sequence[str]) -> tuple[Program, ...]:
    """One program per request; a text may hold several, separated by commas."""
    texts = split_requests(requests) if isinstance(requests, str) else requests
    with pause_collection():
        return tuple(program_for(equations, read_request(equations, text)) for text in texts)


def split_requests(text: str) -> list[str]:
    """The requests of a list: a word that is no function continues the one before, as v in "bias/q,v"."""
    requests: list[str] = []
    for word in (word.strip() for word in text.split(",")):
        head = word.split("/")[0]
        if requests and "/" in requests[-1] and head not in FUNCTIONS and not _is_of_frame(head):
            requests[-1] += f",{word}"
        elif word:
            requests.append(word)
    return requests


def read_request(equations: Equations, text: str) -> Request:
    """The request a text stands for."""
    function = _function(equations, text)
    require_lasting(equations, function)
    rest = text[len(function) :].strip("/ ")
    levels = tuple(_level(level) for level in rest.split("/")) if rest else ()
    for words in (level.words for level in levels):
        if len(set(words)) < len(words):
            twice = "/".join([function, words[0], words[0]])
            raise TorseurError(f"{text}: the same derivative is requested twice. Second derivatives read {twice}.")
    if len(levels) > HIGHEST_ORDER:
        raise UnsupportedError(f"{text}: derivatives go up to order {HIGHEST_ORDER}, this is order {len(levels)}.")
    if any(level.along and not level.words[0] for level in levels):
        raise TorseurError(f"{text}: a direction is of inputs, such as {function}/{ALONG}q,v.")
    return Request(function, levels)


def _level(text: str) -> Level:
    words = text.strip().removeprefix(ALONG).split(",")
    return Level(tuple(word.strip() for word in words), text.strip().startswith(ALONG))


def _function(equations: Equations, text: str) -> str:
    """The function at the head of a request."""
    if not _is_of_frame(text):
        return text.split("/")[0]
    mechanism = equations.mechanism
    known = [*dict(mechanism.frames), *(body.name for body in mechanism.bodies)]
    kind, _, named = text.partition(":")
    fitting = [name for name in known if named == name or named.startswith(f"{name}/")]
    if not fitting:
        raise TorseurError(unknown_name("frame or body", named.split("/")[0], known))
    return f"{kind}:{max(fitting, key=len)}"


def _is_of_frame(text: str) -> bool:
    """Whether a request is for a function of a frame or body."""
    return ":" in text and text.split(":")[0] in FRAME_FUNCTIONS


def program_for(equations: Equations, request: Request) -> Program:
    """The program of a request, with the inputs that its function always has and those it needs besides."""
    groups = {group.name: group for group in all_inputs(equations)}
    differentiation = Differentiation(equations, request.function)
    chosen = _chosen_variables(request, groups)
    directions = {group.name: group for level in chosen for way in level for group in _inputs_of(way)}
    outputs = [] if chosen else outputs_of(equations, request.function)
    for ways in _without_repetition(list(product(*chosen))) if chosen else ():
        outputs += differentiation.outputs(ways)
    groups["u"], nodes = _undetermined_inputs(equations, [e for output in outputs for e in output.entries])
    groups |= directions
    used = set(nodes)
    always = {*ARGUMENTS.get(request.function.split(":")[0], ("q",)), PARAMETERS, *directions}
    inputs = [g for g in groups.values() if len(g) and (g.name in always or used & set(g.nodes))]
    if directions or len(chosen) > 1:
        return Program(request.name, tuple(inputs), tuple(outputs), known=nodes)
    first = [way for way in chosen[0] if isinstance(way, Variables)] if chosen else []
    solved = differentiation.column_system(inputs, first) if first else None
    limbs = folded_of(equations, request.function)
    if limbs is None:
        return Program(request.name, tuple(inputs), tuple(outputs), solved, known=nodes)
    if solved is not None:
        solved = batched_system(equations, solved, inputs, first, limbs)
        return Program(request.name, tuple(inputs), tuple(outputs), solved, known=nodes)
    simd = _simd_program(equations, request, inputs, outputs, first, limbs)
    return Program(request.name, tuple(inputs), tuple(outputs), simd=simd, known=nodes)


def _chosen_variables(request: Request, groups: dict[str, Input]) -> list[list[Variables | Direction]]:
    """For each differentiation the ways to go: one for each of its variables, or one along all of them."""
    levels: list[list[Variables | Direction]] = []
    for level in request.levels:
        ways = [_variables(word, groups, request.function) for word in level.words]
        number = 1 + sum(earlier.along for earlier in request.levels[: len(levels)])
        levels.append([Direction(tuple(ways), number)] if level.along else [*ways])
    return levels


def _inputs_of(way: Variables | Direction) -> list[Input]:
    return way.inputs if isinstance(way, Direction) else []


def _simd_program(
    equations: Equations,
    request: Request,
    inputs: list[Input],
    outputs: list[Output],
    ways: list[Variables],
    limbs: BatchedTree,
) -> Program | None:
    """The program with limbs that are alike side by side, where the request allows it."""
    results: list[Output] | None
    if ways:
        results = batched_derivatives(equations, request.function, ways, outputs, limbs)
    else:
        results = batched_outputs(equations, request.function, limbs)
    return None if results is None else batched_program(limbs, request.name, inputs, results)


def _variables(word: str, groups: dict[str, Input], function: str) -> Variables:
    """A whole input, one of its entries, or displacements along the speeds."""
    if word == DISPLACEMENT:
        return Variables(word, groups["v"].nodes, along=True)
    if word in groups:
        if not len(groups[word]):
            raise TorseurError(f"{function}/{word}: this mechanism has no {word}.")
        return Variables(word, groups[word].nodes)
    entries = {_name(node): node for group in groups.values() for node in group.nodes}
    if word not in entries:
        raise TorseurError(unknown_name("input", word, [*groups, DISPLACEMENT, *entries], f"{function}/{word}: "))
    return Variables(word, (entries[word],), single=True)


def _name(node: Expr) -> str:
    return node.data.name if node.op in ("symbol", "apply") else str(node)


def _without_repetition(pairs: list[Ways]) -> list[Ways]:
    """The ways to differentiate, each once: by q then v is the same as by v then q."""
    kept: list[Ways] = []
    for pair in pairs:
        if pair[::-1] not in kept:
            kept.append(pair)
    return kept


def _undetermined_inputs(equations: Equations, entries: Sequence[Expr]) -> tuple[Input, list[Expr]]:
    """The undetermined functions of the loads, then those that only these results contain, derivatives for instance.

    With them, all that the results depend on once they are given.
    """
    nodes = live_nodes(entries)
    every = [node for node in nodes if node.op == "apply"]
    if not every:
        return Input("u", ()), nodes
    needed = [node for node in live_nodes(entries, every) if node.op == "apply"]
    given = (
        (*equations.undetermined, *(node for node in needed if node not in equations.undetermined)) if needed else ()
    )
    return Input("u", given), live_nodes(entries, given)
