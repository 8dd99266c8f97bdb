"""Functions of a mechanism and their derivatives by request: "mass_matrix", "frame:hand", "forward_dynamics/q,v".

A slash asks for derivatives: f/q by the coordinates, f/q,v by the coordinates and by the speeds, f/q/v first by the
one and then by the other. What to differentiate by is an input (t, q, v, vdot, tau, u, p) or an entry of one, by name;
"displacement" is by the configuration along each speed, where a quaternion has three directions and not four.
f/along:q,v is the derivative along one direction of q and v together, given by more inputs q_direction, v_direction;
f/along:q,v/q,v is that differentiated again, f/along:q,v/along:q,v along a second direction q_direction2, v_direction2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from torseur.dynamics.limbs import Folded
from torseur.equations.abreast import (
    derivatives_abreast,
    folded_of,
    outputs_abreast,
    program_abreast,
    solved_abreast,
)
from torseur.equations.differentiation import Differentiation
from torseur.equations.equations import Equations
from torseur.equations.functions import FRAME_FUNCTIONS, FUNCTIONS, PARAMETERS, all_inputs, outputs_of
from torseur.equations.variables import Direction, Variables
from torseur.errors import TorseurError, UnsupportedError, unknown_name
from torseur.graph import Expr, Input, Output, Program, live_nodes
from torseur.graph.collection import without_collection

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


def programs_of(equations: Equations, requests: str | Sequence[str]) -> tuple[Program, ...]:
    """One program per request; a text may hold several, separated by commas."""
    texts = split_requests(requests) if isinstance(requests, str) else requests
    with without_collection():
        return tuple(program_for(equations, read_request(equations, text)) for text in texts)


def split_requests(text: str) -> list[str]:
    """The requests of a list: a word that is no function continues the one before, as v in "bias/q,v"."""
    found: list[str] = []
    for word in (word.strip() for word in text.split(",")):
        head = word.split("/")[0]
        if found and "/" in found[-1] and head not in FUNCTIONS and not _is_of_frame(head):
            found[-1] += f",{word}"
        elif word:
            found.append(word)
    return found


def read_request(equations: Equations, text: str) -> Request:
    """The request a text stands for."""
    function = _function(equations, text)
    rest = text[len(function) :].strip("/ ")
    levels = tuple(_level(level) for level in rest.split("/")) if rest else ()
    for words in (level.words for level in levels):
        if len(set(words)) < len(words):
            twice = "/".join([function, words[0], words[0]])
            raise TorseurError(f"{text}: the same derivative is asked for twice. Second derivatives read {twice}.")
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
    chosen = _chosen(request, groups)
    directions = {group.name: group for level in chosen for way in level for group in _inputs_of(way)}
    outputs = [] if chosen else outputs_of(equations, request.function)
    for ways in _without_repetition(list(product(*chosen))) if chosen else ():
        outputs += differentiation.outputs(ways)
    groups["u"], nodes = _undetermined(equations, [e for output in outputs for e in output.entries])
    groups |= directions
    used = set(nodes)
    always = {*ARGUMENTS.get(request.function.split(":")[0], ("q",)), PARAMETERS, *directions}
    inputs = [g for g in groups.values() if len(g) and (g.name in always or used & set(g.nodes))]
    if directions or len(chosen) > 1:
        return Program(request.name, tuple(inputs), tuple(outputs), known=nodes)
    first = [way for way in chosen[0] if isinstance(way, Variables)] if chosen else []
    solved = differentiation.solved(inputs, first) if first else None
    limbs = folded_of(equations, request.function)
    if limbs is None:
        return Program(request.name, tuple(inputs), tuple(outputs), solved, known=nodes)
    if solved is not None:
        solved = solved_abreast(equations, solved, inputs, first, limbs)
        return Program(request.name, tuple(inputs), tuple(outputs), solved, known=nodes)
    abreast = _abreast(equations, request, inputs, outputs, first, limbs)
    return Program(request.name, tuple(inputs), tuple(outputs), abreast=abreast, known=nodes)


def _chosen(request: Request, groups: dict[str, Input]) -> list[list[Variables | Direction]]:
    """For each differentiation the ways to go: one for each of its variables, or one along all of them."""
    found: list[list[Variables | Direction]] = []
    for level in request.levels:
        ways = [_variables(word, groups, request.function) for word in level.words]
        number = 1 + sum(earlier.along for earlier in request.levels[: len(found)])
        found.append([Direction(tuple(ways), number)] if level.along else [*ways])
    return found


def _inputs_of(way: Variables | Direction) -> list[Input]:
    return way.inputs if isinstance(way, Direction) else []


def _abreast(
    equations: Equations,
    request: Request,
    inputs: list[Input],
    outputs: list[Output],
    ways: list[Variables],
    limbs: Folded,
) -> Program | None:
    """The program with limbs that are alike side by side, where the request allows it."""
    found: list[Output] | None
    if ways:
        found = derivatives_abreast(equations, request.function, ways, outputs, limbs)
    else:
        found = outputs_abreast(equations, request.function, limbs)
    return None if found is None else program_abreast(limbs, request.name, inputs, found)


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


def _undetermined(equations: Equations, entries: Sequence[Expr]) -> tuple[Input, list[Expr]]:
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
