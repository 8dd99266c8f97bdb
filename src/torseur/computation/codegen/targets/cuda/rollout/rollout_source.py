"""Rollouts as sources: device functions of a motion's programs, and the routines that integrate them in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torseur.algebra.graph.program import Program
from torseur.computation.codegen.kernels.kernel import PREPARED
from torseur.computation.codegen.routine import Kind, Record, Routine
from torseur.computation.codegen.sources.identifiers import Names
from torseur.computation.codegen.straight_line import (
    Layout,
    Splines,
    arrange_chunks,
    fewest_live,
    pair_sines,
    result_orders,
)
from torseur.computation.codegen.targets.cpp.cpp_module import spline_text
from torseur.computation.codegen.targets.cuda.cuda_entries import BY_VALUE, SCALARS, KernelSource, on_device
from torseur.computation.codegen.targets.cuda.cuda_routine import Constants, DeviceFunction, DeviceRoutines
from torseur.computation.codegen.targets.cuda.cuda_scalar import CUDA, HEAD
from torseur.computation.codegen.targets.cuda.device_functions import Printer
from torseur.computation.codegen.targets.cuda.rollout import rollout_text as texts
from torseur.computation.codegen.targets.cuda.stages.cuda_stages import Plan

CHANGING = ("t", "q", "v", "z", "rates", "vdot")
"""Inputs that change along a motion: time, coordinates, speeds, integrals, and the derivatives of the first two."""


@dataclass(frozen=True)
class Take:
    """A number that is noted for a criterion: of which kind that is, and at which occurrence of an event it counts."""

    criterion: int
    kind: str
    occurrence: int = 0


@dataclass(frozen=True)
class Watch:
    """What is taken at the start, at each event, and at the end or where an event stops the motion.

    columns     parameters by which the derivatives of each number are taken with it
    directions  of the changes of sign that are events: 1, -1, or 0 for both
    followed    whether every change of sign counts, or only the best value among them, for each event
    stop        which event ends the motion, and at which of its occurrences; None where nothing does
    """

    criteria: int
    columns: int
    start: tuple[Take, ...]
    end: tuple[Take, ...]
    events: tuple[tuple[Take, ...], ...] = ()
    directions: tuple[int, ...] = ()
    followed: tuple[bool, ...] = ()
    stop: tuple[int, int] | None = None

    @property
    def width(self) -> int:
        """Numbers of a criterion: its value and its derivatives."""
        return 1 + self.columns

    @property
    def instants(self) -> tuple[tuple[Take, ...], ...]:
        """What is taken at each instant: at the events, then at the start, at the end, and at a stop."""
        return (*self.events, self.start, self.end, self.end if self.stop is not None else ())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the instants."""
        return (*(f"event_{k}" for k in range(len(self.events))), "start", "end", "stop")


@dataclass(frozen=True)
class RolloutParts:
    """The programs of a rollout, by name, and what is taken of a motion.

    motion gives rates, vdot and, where there are integrals, flow; observe what is recorded; correction the changes that
    settle a state after a step; watch the event functions; at_start, at_end, at_stop and at_event_K what criteria note.
    `routines` are those that depend on what is taken.
    """

    programs: Mapping[str, Program]
    watch: Watch | None = None
    routines: Mapping[str, Routine] = field(default_factory=dict)


@dataclass(frozen=True)
class RolloutMethod:
    """The routines of a method.

    move       a whole motion: from its start to its last record
    watched    the same, with criteria
    plan       the record of what is asked of a motion
    kept       derivatives that are kept of a step
    terms      of its dense output
    is_smooth  whether that is a polynomial; else states and derivatives go evenly from the start of a step to its end
    externals  what the loops call besides the programs
    """

    move: Routine
    watched: Routine
    plan: type[Record]
    kept: int
    terms: int
    is_adaptive: bool = False
    is_smooth: bool = True
    externals: Mapping[str, Routine] = field(default_factory=dict)


def rollout_source(parts: RolloutParts, suffix: str, method: RolloutMethod) -> KernelSource:
    """The source of a rollout kernel."""
    programs = parts.programs
    names = Names(CUDA.reserved)
    splines = Splines.of(list(programs.values()), names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    functions = [printer.templates(name, Plan(_in_one(program, printer))) for name, program in programs.items()]
    words = _words(parts)
    entry = method.move if parts.watch is None else method.watched
    statics = _statics(parts, method, words) | {"SINGLE": int(SCALARS[suffix][0] == "float")}
    externals: dict[str, Routine | DeviceFunction] = {
        **_device_functions(parts, words),
        **method.externals,
        **parts.routines,
    }
    routines = DeviceRoutines.of([entry], statics, externals, _constants_of(parts, words))
    words |= _plan_words(method, routines, entry.name)
    written = [*_state_functions(parts, words), routines.text, texts.ROLLOUT.format(**words)]
    inside = "\n".join([BY_VALUE, *tables, *functions, *written])
    kernel = texts.KERNEL.format(suffix=suffix, **_kernel_words(parts, suffix))
    text = f"{HEAD}\n{texts.ZEROS}\nnamespace kernels {{\n\n{inside}\n}}\n#if defined(__CUDACC__)\n{kernel}#endif\n"
    operations = sum(len(program.operations) for program in programs.values()) * (6 if method.is_adaptive else 1)
    return KernelSource(text, f"kernels_rollout_{suffix}", operations)


def _state_functions(parts: RolloutParts, words: Mapping[str, object]) -> list[str]:
    """The programs as functions of time and state, as the routines call them."""
    programs = parts.programs
    chosen = [texts.STATE, texts.SETTLE if "correction" in programs else texts.FREE]
    chosen += [texts.RECORD] if "observe" in programs else []
    written = [text.format(**words) for text in chosen]
    sizes = {group.name: len(group) for group in programs["watch"].inputs} if "watch" in programs else {}
    for name, program in programs.items():
        if name == "watch" or name.startswith("at_"):
            # Event functions look at the states alone, what is noted at their derivatives by parameters, too.
            own = {"nq": sizes["q"], "nv": sizes["v"]} if name == "watch" else words
            called = f"{_arguments(program, own)}, values"
            written.append(texts.VALUES.format(name=name, called=called, constants=words["constants"]))
    return written


def _device_functions(parts: RolloutParts, words: Mapping[str, object]) -> dict[str, DeviceFunction]:
    """The externals of the routines that are programs."""
    passed = words["passed"]

    def noted_values(a: Sequence[str]) -> str:
        assert parts.watch is not None
        return f"values_of_at_{parts.watch.names[int(a[0])]}<T, F>({a[1]}, {a[2]}, {a[3]}, {passed}, {a[5]})"

    return {
        "rhs": DeviceFunction(lambda a: f"rates_of<T, F>({a[0]}, {a[1]}, {passed}, {a[3]})", frozenset((3,))),
        "settle_state": DeviceFunction(lambda a: f"settle<T, F>({a[0]}, {a[1]}, {passed})", frozenset((1,))),
        "record": DeviceFunction(lambda a: f"record<T, F>({a[0]}, {a[1]}, {passed}, {a[3]}, {a[4]})", frozenset((3,))),
        "watch": DeviceFunction(
            lambda a: f"values_of_watch<T, F>({a[0]}, {a[1]}, {a[2]}, {passed}, {a[4]})", frozenset((4,))
        ),
        "noted_at": DeviceFunction(noted_values, frozenset((5,))),
    }


def _statics(parts: RolloutParts, method: RolloutMethod, words: Mapping[str, object]) -> dict[str, int]:
    watch, programs = parts.watch, parts.programs
    numbers: dict[str, Any] = {"N": words["n"], "NQ": words["nq"], "SEEN": words.get("seen", 0), "KEPT": method.kept}
    numbers |= {"SETTLES": "correction" in programs, "ADAPTIVE": method.is_adaptive, "SMOOTH": method.is_smooth}
    if watch is not None:
        most = max(len(takes) for takes in watch.instants)
        numbers |= {"CRITERIA": watch.criteria, "WIDTH": watch.width, "NOTED": most * watch.width}
        numbers |= {"NG": len(watch.directions), "GIVES_DERIVATIVES": 1, "TERMS": method.terms}
    if "watch" in programs:
        sizes = {group.name: len(group) for group in programs["watch"].inputs}
        numbers |= {"NQ0": sizes["q"], "BASE": sizes["q"] + sizes["v"]}
    return {name: int(value) for name, value in numbers.items()} | {"PIECE_N": int(numbers.get("BASE", 0))}


def _constants_of(parts: RolloutParts, words: Mapping[str, object]) -> Constants:
    names = tuple(name for name, _ in _constants(parts.programs))
    return Constants(str(words["constants"]), str(words["passed"]), names)


def _plan_words(method: RolloutMethod, routines: DeviceRoutines, entry: str) -> dict[str, object]:
    """How the kernel fills the plan of a motion and calls the routine that moves it."""
    plan = method.plan.layout()
    floats = sorted((f.floats, f.name) for f in plan.fields.values() if f.type.kind is Kind.FLOAT)
    ints = sorted((f.ints, f.name) for f in plan.fields.values() if f.type.kind is Kind.INT)
    given = {"plan.floats": "plan_floats", "plan.ints": "plan_ints", "plan.atol": "plan_atol"}
    given |= {name: name for name in ("x", "out", "judged", "stride")}
    return {
        "plan": texts.PLAN.format(floats=", ".join(n for _, n in floats), ints=", ".join(n for _, n in ints)),
        "move": routines.call(entry, given),
    }


def _in_one(program: Program, printer: Printer) -> Layout:
    order = pair_sines(fewest_live(program.operations, *result_orders(program)))
    return arrange_chunks(program, [order], printer.taken)


def _constants(programs: Mapping[str, Program]) -> list[tuple[str, int]]:
    """Inputs that stay as they are along a motion, with their sizes."""
    return [(group.name, len(group)) for group in programs["motion"].inputs if group.name not in CHANGING]


def _words(parts: RolloutParts) -> dict[str, object]:
    """What the texts are filled with."""
    programs = parts.programs
    constants = _constants(programs)
    local = [(name, size) for name, size in constants if name != PREPARED]
    names = [name for name, _ in constants]
    sizes = {output.name: len(output) for output in programs["motion"].outputs}
    nq, nv, nz = sizes["rates"], sizes["vdot"], sizes.get("flow", 0)
    scalar = {name: "F" if name == PREPARED else "T" for name in names}
    loading = "".join(f"  TORSEUR_UNROLL for (int j = 0; j < {n}; ++j) {x}[j] = {x}_0[j * stride];\n" for x, n in local)
    given = [f"const {scalar[name]} *{name if name == PREPARED else f'{name}_0'}" for name in names]
    words: dict[str, object] = {
        "nq": nq,
        "nv": nv,
        "nz": nz,
        "n": nq + nv + nz,
        "settled": nq + nv,
        "constants": ", ".join(f"const {scalar[name]} *{name}" for name in names) or "int",
        "constants_unnamed": ", ".join(f"const {scalar[name]} *" for name in names) or "int",
        "given": ", ".join(given) or "int",
        "locals": "".join(f", {name}[{max(size, 1)}]" for name, size in local),
        "loading": loading,
        "passed": ", ".join(names) or "0",
        "judged": "T *judged, " if parts.watch is not None else "",
    }
    return words | _called_words(programs, words) | _settling_words(programs, words)


def _arguments(program: Program, words: Mapping[str, object], x: str = "x", dx: str = "dx") -> str:
    """The inputs of a program at the state x with derivatives dx, as arguments."""
    nq, nv = words["nq"], words["nv"]
    known = {"t": "&now", "q": x, "v": f"{x} + {nq}", "z": f"{x} + {nq} + {nv}", "rates": dx, "vdot": f"{dx} + {nq}"}
    return ", ".join(known.get(group.name, group.name) for group in program.inputs)


def _called_words(programs: Mapping[str, Program], words: Mapping[str, object]) -> dict[str, object]:
    """How the programs of a state are called."""
    nq, nv = words["nq"], words["nv"]
    flow = [f"dx + {nq} + {nv}"] if words["nz"] else []
    definitions: dict[str, object] = {
        "motion": ", ".join([_arguments(programs["motion"], words), "dx", f"dx + {nq}", *flow]),
    }
    if "correction" in programs:
        definitions["correction"] = f"{_arguments(programs['correction'], words)}, dx, dx + {nq}"
    if "observe" in programs:
        definitions["observe"] = f"{_arguments(programs['observe'], words)}, seen"
        definitions["seen"] = sum(len(output) for output in programs["observe"].outputs)
    return definitions


def _settling_words(programs: Mapping[str, Program], words: Mapping[str, object]) -> dict[str, object]:
    if "correction" not in programs:
        return {"first_settle": ""}
    return {"first_settle": f"  for (int k = 0; k < 3; ++k) settle<T, F>(start, x, {words['passed']});\n"}


def _kernel_words(parts: RolloutParts, suffix: str) -> dict[str, str]:
    scalar, fine = SCALARS[suffix]
    arguments, passed = [], []
    for name, size in _constants(parts.programs):
        if name == PREPARED:
            arguments.append(f"kernels::values_of<{fine}, {max(size, 1)}> {name}")
            passed.append(f"{name}.values")
        else:
            arguments.append(f"const {scalar} *{name}")
            passed.append(f"{name} + lane")
    return {
        "T": scalar,
        "F": fine,
        "arguments": ", ".join(arguments) or "int nothing",
        "passed": ", ".join(passed) or "nothing",
        "judged_given": f"{scalar} *judged, " if parts.watch is not None else "",
        "judged_passed": "judged + lane, " if parts.watch is not None else "",
    }


def split_together(programs: Mapping[str, Program], parameters: Sequence[str]) -> tuple[Program, dict[str, Program]]:
    """What depends on parameters only, computed once for all programs, and these after it."""
    # Reversed, so that of equal names the first program's input stands; all mean the same nodes.
    groups = {group.name: group for program in reversed(list(programs.values())) for group in program.inputs}
    outputs = tuple(output for program in programs.values() for output in program.outputs)
    # One split for all programs: what two of them need of the parameters is prepared once, in one vector.
    prepare, rest = Program("all", tuple(groups.values()), outputs).split(tuple(parameters), PREPARED)
    prepared = rest.input(PREPARED)
    after = {}
    for name, program in programs.items():
        own = [group for group in program.inputs if group.name not in parameters]
        after[name] = Program(program.name, (*own, prepared), program.outputs)
    return prepare, after
