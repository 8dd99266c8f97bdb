"""Rollouts as sources: the device functions of a motion's programs, and the text that integrates them in a thread."""

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
from torseur.computation.codegen.targets.cuda.rollout import events_text as events
from torseur.computation.codegen.targets.cuda.rollout import rollout_text as plain
from torseur.computation.codegen.targets.cuda.rollout import watched_text as watched
from torseur.computation.codegen.targets.cuda.rollout.noted_values import Watch, dispatch_text, notes_text
from torseur.computation.codegen.targets.cuda.stages.cuda_stages import Plan

CHANGING = ("t", "q", "v", "z", "rates", "vdot")
"""Inputs that change along a motion: time, coordinates, speeds, integrals, and the slopes of the first two."""


@dataclass(frozen=True)
class RolloutParts:
    """The programs of a rollout, by name, and what is taken of a motion.

    motion gives rates, vdot and, where there are integrals, flow; observe what is recorded; correction the changes that
    settle a state after a step; watch the event functions; at_start, at_end and at_event_K what criteria note.
    """

    programs: Mapping[str, Program]
    watch: Watch | None = None


@dataclass(frozen=True)
class RolloutMethod:
    """The routines of a method.

    move         a whole motion: from its start to its last record
    attempt      one step, for motions that are watched
    next_length  chooses the next step of a method that has its own
    plan         the record of what is asked of a motion, trial that of a step
    kept         derivatives that are kept of a step
    """

    move: Routine
    attempt: Routine
    next_length: Routine
    plan: type[Record]
    trial: type[Record]
    kept: int
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
    words = _words(parts, method)
    routines = _routines(parts, method, words)
    words |= _routine_words(parts, method, words, routines)
    if parts.watch is not None:
        words |= _watch_words(parts, parts.watch, words)
    inside = "\n".join([BY_VALUE, *tables, *functions, *_texts(parts, method, words, routines)])
    kernel = plain.KERNEL.format(suffix=suffix, **_kernel_words(parts, suffix))
    text = f"{HEAD}\n{plain.ZEROS}\nnamespace kernels {{\n\n{inside}\n}}\n#if defined(__CUDACC__)\n{kernel}#endif\n"
    operations = sum(len(program.operations) for program in programs.values()) * (6 if method.is_adaptive else 1)
    return KernelSource(text, f"kernels_rollout_{suffix}", operations)


def _texts(
    parts: RolloutParts, method: RolloutMethod, words: Mapping[str, object], routines: DeviceRoutines
) -> list[str]:
    """The texts around the programs, filled, with the routines behind what they call."""
    programs, watch = parts.programs, parts.watch
    chosen = [plain.STATE, plain.SETTLE if "correction" in programs else plain.FREE]
    if "observe" in programs:
        chosen.append(plain.RECORD)
    before = [*(text.format(**words) for text in chosen), routines.text]
    if watch is None:
        return [*before, plain.ROLLOUT.format(**words)]
    if watch.directions:
        piece = events.SMOOTH_PIECE if method.is_smooth else events.STRAIGHT_PIECE
        before += [text.format(**words) for text in (events.SIDES, piece, events.SEARCH)]
    notes = notes_text(watch, words, {name: _called(p, words) for name, p in programs.items()})
    return [*before, notes, watched.WATCHED.format(**words)]


def _routines(parts: RolloutParts, method: RolloutMethod, words: Mapping[str, object]) -> DeviceRoutines:
    """The routines of the method for this state, calling the programs by way of the texts."""
    passed, programs = words["passed"], parts.programs
    constants = Constants(str(words["constants"]), str(passed), tuple(name for name, _ in _constants(programs)))
    functions = {
        "rhs": DeviceFunction(lambda a: f"rates_of<T, F>({a[0]}, {a[1]}, {passed}, {a[3]})", frozenset((3,))),
        "settle_state": DeviceFunction(lambda a: f"settle<T, F>({a[0]}, {a[1]}, {passed})", frozenset((1,))),
        "record": DeviceFunction(lambda a: f"record<T, F>({a[0]}, {a[1]}, {passed}, {a[3]}, {a[4]})", frozenset((3,))),
    }
    entries = [method.move] if parts.watch is None else [method.attempt, method.next_length]
    return DeviceRoutines.of(entries, _statics(parts, method, words), {**functions, **method.externals}, constants)


def _statics(parts: RolloutParts, method: RolloutMethod, words: Mapping[str, object]) -> dict[str, int]:
    seen, settles = words.get("seen", 0), "correction" in parts.programs
    statics: dict[str, Any] = {"N": words["n"], "NQ": words["nq"], "SEEN": seen, "KEPT": method.kept}
    statics["SETTLES"] = settles
    if parts.watch is not None and parts.watch.directions:
        sizes = {group.name: len(group) for group in parts.programs["watch"].inputs}
        statics |= {"NQ0": sizes["q"], "BASE": sizes["q"] + sizes["v"]}
    return {name: int(value) for name, value in statics.items()}


def _routine_words(
    parts: RolloutParts, method: RolloutMethod, words: Mapping[str, object], routines: DeviceRoutines
) -> dict[str, object]:
    """How the texts call the routines, and where the parts of their records stand."""
    plan = method.plan.layout()
    floats = sorted((f.floats, f.name) for f in plan.fields.values() if f.type.kind is Kind.FLOAT)
    ints = sorted((f.ints, f.name) for f in plan.fields.values() if f.type.kind is Kind.INT)
    names = {"plan.floats": "plan_floats", "plan.ints": "plan_ints", "plan.atol": "plan_atol"}
    filled = plain.PLAN.format(floats=", ".join(n for _, n in floats), ints=", ".join(n for _, n in ints))
    found: dict[str, object] = {"plan": filled}
    if parts.watch is None:
        moved = {name: name for name in ("x", "out", "stride")} | names
        return found | {"move": routines.call(method.move.name, moved)}
    trial = method.trial.bound(_statics(parts, method, words)).layout()
    places = {name: trial.fields[name].floats for name in ("k", "y_next", "bend")}
    n = int(str(words["n"]))
    tried = {"t": "t", "h": "step", "x": "x", "trial.floats": "trial_floats", **names}
    chosen = {name: name for name in ("step", "error", "last", "length")} | names
    return found | {
        "trial": trial.floats,
        "ends": places["k"] + (method.kept - 1) * n,
        "next": places["y_next"],
        "bend": places["bend"],
        "attempt": routines.call(method.attempt.name, tried),
        "next_length": routines.call(method.next_length.name, chosen),
    }


def _in_one(program: Program, printer: Printer) -> Layout:
    order = pair_sines(fewest_live(program.operations, *result_orders(program)))
    return arrange_chunks(program, [order], printer.taken)


def _constants(programs: Mapping[str, Program]) -> list[tuple[str, int]]:
    """Inputs that stay as they are along a motion, with their sizes."""
    return [(group.name, len(group)) for group in programs["motion"].inputs if group.name not in CHANGING]


def _words(parts: RolloutParts, method: RolloutMethod) -> dict[str, object]:
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
        "adaptive": int(method.is_adaptive),
    }
    return words | _called_words(programs, words) | _settling_words(programs, words)


def _called(program: Program, words: Mapping[str, object], x: str = "x", dx: str = "dx") -> str:
    """The inputs of a program at the state x with slopes dx, as arguments."""
    nq, nv = words["nq"], words["nv"]
    known = {"t": "&now", "q": x, "v": f"{x} + {nq}", "z": f"{x} + {nq} + {nv}", "rates": dx, "vdot": f"{dx} + {nq}"}
    return ", ".join(known.get(group.name, group.name) for group in program.inputs)


def _called_words(programs: Mapping[str, Program], words: Mapping[str, object]) -> dict[str, object]:
    """How the programs of a state are called."""
    nq, nv = words["nq"], words["nv"]
    flow = [f"dx + {nq} + {nv}"] if words["nz"] else []
    found: dict[str, object] = {
        "motion": ", ".join([_called(programs["motion"], words), "dx", f"dx + {nq}", *flow]),
    }
    if "correction" in programs:
        found["correction"] = f"{_called(programs['correction'], words)}, dx, dx + {nq}"
    if "observe" in programs:
        found["observe"] = f"{_called(programs['observe'], words)}, seen"
        found["seen"] = sum(len(output) for output in programs["observe"].outputs)
    return found


def _settling_words(programs: Mapping[str, Program], words: Mapping[str, object]) -> dict[str, object]:
    if "correction" not in programs:
        return {"first_settle": ""}
    return {"first_settle": f"  for (int k = 0; k < 3; ++k) settle<T, F>(start, x, {words['passed']});\n"}


def _watch_words(parts: RolloutParts, watch: Watch, words: Mapping[str, object]) -> dict[str, object]:
    """What the texts of criteria and events are filled with."""
    programs, passed = parts.programs, words["passed"]
    found: dict[str, object] = {
        "judged": watch.width * watch.criteria,
        "start": f"  note_start<T, F>(t, x, slopes, {passed}, &taken, judged, stride);\n" if watch.start else "",
        "recording": watched.RECORDING.format(**words) if "observe" in programs else "",
        "lands": "false",
        "reach": "T(0)",
        "watching": "",
        "searching": "",
        "noting": "",
    }
    if not watch.directions:
        return found
    sizes = {group.name: len(group) for group in programs["watch"].inputs}
    own = {"nq": sizes["q"], "nv": sizes["v"]}
    found |= {
        "nq0": sizes["q"],
        "base": sizes["q"] + sizes["v"],
        "events": len(watch.directions),
        "directions": "".join(f"i == {i} ? {d} : " for i, d in enumerate(watch.directions)) + "0",
        "watch": f"{_called(programs['watch'], own)}, g",
        "watch_end": f"{_called(programs['watch'], words, 'next', 'ends')}, g",
        "lands": "fired >= 0",
        "reach": "landing.reach",
        "dispatch": dispatch_text(watch, str(passed)),
    }
    both = {**words, **found}
    found["watching"] = watched.WATCHING.format(**both)
    found["searching"] = watched.SEARCHING.format(**both)
    found["noting"] = watched.NOTING.format(**both)
    return found


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
    groups = {group.name: group for program in reversed(list(programs.values())) for group in program.inputs}
    outputs = tuple(output for program in programs.values() for output in program.outputs)
    prepare, rest = Program("all", tuple(groups.values()), outputs).split(tuple(parameters), PREPARED)
    prepared = rest.input(PREPARED)
    after = {}
    for name, program in programs.items():
        own = [group for group in program.inputs if group.name not in parameters]
        after[name] = Program(program.name, (*own, prepared), program.outputs)
    return prepare, after
