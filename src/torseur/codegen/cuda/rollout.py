"""Rollouts as sources: the device functions of a motion's programs, and the text that integrates them in a thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torseur.codegen.cpp.module import spline_text
from torseur.codegen.cuda import events_text as events
from torseur.codegen.cuda import rollout_text as plain
from torseur.codegen.cuda import watched_text as watched
from torseur.codegen.cuda.device import Printer
from torseur.codegen.cuda.entry import BY_VALUE, SCALARS, KernelSource, on_device
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.notes import Watch, dispatch_text, notes_text
from torseur.codegen.cuda.scalar import HEAD
from torseur.codegen.cuda.stages import Plan
from torseur.codegen.kernel import PREPARED
from torseur.codegen.names import Names
from torseur.codegen.straight import Layout, Splines, arranged, fewest_live, pair_sines, result_orders
from torseur.errors import UnsupportedError, unknown_name
from torseur.graph.program import Program

METHODS = {
    "rk4": (plain.RK4, plain.FIXED),
    "semi_implicit": (plain.SEMI_IMPLICIT, plain.FIXED),
    "dopri5": (plain.DOPRI5, plain.ADAPTIVE),
}
STEPS = {"rk4": watched.STEP_RK4, "semi_implicit": watched.STEP_SEMI_IMPLICIT, "dopri5": plain.DOPRI5}
ADAPTIVE = "dopri5"
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


def rollout_source(parts: RolloutParts, suffix: str, method: str) -> KernelSource:
    """The source of a rollout kernel."""
    if method not in METHODS:
        raise UnsupportedError(unknown_name("method", method, METHODS))
    programs = parts.programs
    names = Names(CUDA.reserved)
    splines = Splines.of(list(programs.values()), names)
    printer = Printer(splines)
    tables = [on_device(spline_text(name, spline)) for name, spline in splines.items()]
    functions = [printer.templates(name, Plan(_in_one(program, printer))) for name, program in programs.items()]
    words = _words(parts, method)
    inside = "\n".join([BY_VALUE, *tables, *functions, *_texts(parts, method, words)])
    kernel = plain.KERNEL.format(suffix=suffix, **_kernel_words(parts, suffix))
    text = f"{HEAD}\n{plain.ZEROS}\nnamespace kernels {{\n\n{inside}\n}}\n#if defined(__CUDACC__)\n{kernel}#endif\n"
    operations = sum(len(program.operations) for program in programs.values()) * (6 if method == ADAPTIVE else 1)
    return KernelSource(text, f"kernels_rollout_{suffix}", operations)


def _texts(parts: RolloutParts, method: str, words: Mapping[str, object]) -> list[str]:
    """The texts around the programs, filled."""
    programs, watch = parts.programs, parts.watch
    chosen = [plain.STATE, plain.SETTLE if "correction" in programs else plain.FREE]
    if "observe" in programs:
        chosen.append(plain.RECORD)
    if watch is None:
        return [text.format(**words) for text in (*chosen, *METHODS[method])]
    if watch.directions:
        piece = events.STRAIGHT_PIECE if method == "semi_implicit" else events.SMOOTH_PIECE
        chosen += [events.SIDES, piece, events.SEARCH]
    steps = [watched.FINITE, STEPS[method]]
    notes = notes_text(watch, words, {name: _called(p, words) for name, p in programs.items()})
    return [*(text.format(**words) for text in (*chosen, *steps)), notes, watched.WATCHED.format(**words)]


def _in_one(program: Program, printer: Printer) -> Layout:
    order = pair_sines(fewest_live(program.operations, *result_orders(program)))
    return arranged(program, [order], printer.taken)


def _constants(programs: Mapping[str, Program]) -> list[tuple[str, int]]:
    """Inputs that stay as they are along a motion, with their sizes."""
    return [(group.name, len(group)) for group in programs["motion"].inputs if group.name not in CHANGING]


def _words(parts: RolloutParts, method: str) -> dict[str, object]:
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
        "bend_given": "",
        "bend_passed": "",
        "bend": "",
        "adaptive": int(method == ADAPTIVE),
    }
    words |= _called_words(programs, words) | _settling_words(programs, words)
    return words if parts.watch is None else words | _watch_words(parts, parts.watch, method, words)


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
        return {"first_settle": "", "settle_again": ""}
    passed = words["passed"]
    return {
        "first_settle": f"  for (int k = 0; k < 3; ++k) settle<T, F>(start, x, {passed});\n",
        "settle_again": f"  if (error <= T(1)) {{\n    settle<T, F>(t + h, next, {passed});\n"
        f"    rates_of<T, F>(t + h, next, {passed}, ends);\n  }}\n",
    }


def _watch_words(parts: RolloutParts, watch: Watch, method: str, words: Mapping[str, object]) -> dict[str, object]:
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
        "bend_given": ", T *bend",
        "bend_passed": ", bend",
        "lands": "fired >= 0",
        "reach": "landing.reach",
        "dispatch": dispatch_text(watch, str(passed)),
    }
    both = {**words, **found}
    found["bend"] = (watched.BENT if method == ADAPTIVE else watched.STRAIGHT).format(**both)
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
