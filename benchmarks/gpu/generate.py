"""Writes the cases of the GPU benchmark: CUDA sources, a main program for each, and answers to check against.

Run where torseur is installed:  python benchmarks/gpu/generate.py FOLDER ROBOT.urdf[:floating] ... CLOSED_LOOP ...
Then, where nvcc is:             python benchmarks/gpu/run.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

import torseur as ts
from torseur.algebra.graph import Program
from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.codegen.targets.cuda.cuda_entries import (
    SCALARS,
    StageSource,
    kernel_sources,
    scratch_of,
    stride,
)
from torseur.computation.codegen.targets.cuda.cuda_scalar import FOOT, HEAD
from torseur.computation.codegen.targets.cuda.device_functions import arrays_of
from torseur.computation.codegen.targets.cuda.stages.cuda_stages import Plan
from torseur.computation.codegen.targets.cuda.tuning import Launch, source_for, variants_of
from torseur.computation.functions.generate_sources import module_of
from torseur.computation.functions.single_precision import in_single_precision
from torseur.description import library
from torseur.description.readers import read_robot

HERE = Path(__file__).parent
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics/q,v", "forward_dynamics/q,v")
FLOATING = ("forward_dynamics", "forward_dynamics/displacement,v")
MORE = ("mass_matrix", "energies", "frame:{last}")
CLOSED = ("constraint_residuals", "constrained_forward_dynamics", "constrained_forward_dynamics/q,v")
KNOWN = 32

_MAIN = """\
#include "{functions}"
#include "harness.h"

namespace {{
{kernels}
}}  // namespace

int main(int count, char **words) {{
  std::vector<long long> batches;
  for (int i = 2; i < count; ++i) batches.push_back(std::atoll(words[i]));
  Case c{{"{robot}", "{function}", {{{inputs}}}, {{{outputs}}}, {scratch}, {operations}, {words}, {{{stages}}}}};
  return measure<SCALAR>(c, words[1], batches);
}}
"""


def program_of_case(path: Path, function: str, base: str = "file", single: bool = False) -> Program:
    """The function of a robot, everything known baked in; damping is left out, as in the published figures.

    A path without a suffix is a mechanism of the library.
    """
    mechanism = replace(read_robot(path, base=base).mechanism, loads=()) if path.suffix else library.load(str(path))
    equations = ts.derive(mechanism)
    return module_of(in_single_precision(equations) if single else equations, [function], baked=True).programs[0]


def answers(program: Program, floating: bool) -> np.ndarray:
    """Random states and what the graph itself computes there, in double precision."""
    random = np.random.default_rng(1)
    states = [_state(program, random, floating) for _ in range(KNOWN)]
    found = []
    for state in states:
        values = program.evaluate({g.name: x for g, x in zip(program.inputs, state, strict=True)})
        found.append(np.concatenate([values[o.name] for o in program.outputs]).astype(float))
    return np.concatenate([np.concatenate([np.concatenate(s) for s in states]), np.concatenate(found)])


def _state(program: Program, random: np.random.Generator, floating: bool) -> list[np.ndarray]:
    """One value per input. A floating base has three lengths and a unit quaternion in front."""
    scale = {"q": 1.5, "v": 1.0, "vdot": 4.0, "tau": 4.0, "t": 1.0}
    state = [random.uniform(-1, 1, len(g)) * scale[g.name] for g in program.inputs]
    for group, values in zip(program.inputs, state, strict=True):
        if floating and group.name == "q":
            values[3:7] /= np.linalg.norm(values[3:7])
    return state


def case_text(robot: str, function: str, program: Program, stem: str, suffix: str) -> tuple[str, str]:
    """A main program that checks and times one function, every stage launched in several ways, and the functions that
    it calls."""
    sources, scratch = kernel_sources(program, suffix)
    plan = sources[0].plan
    kernels, functions, ways = [], [], []
    for k, source in enumerate(sources):
        launches = variants_of(source)
        for form, launch in {_form(launch): launch for launch in launches}.items():
            name, places = f"{source.name}{form}", source.spilling(launch.registers, launch.shared_bytes)
            kernels.append(_kernel(source, launch, f"{stem}_{suffix}::{name}"))
            functions.append(source.printer.stage(plan, k, name, places))
        ways.append(f"{{{', '.join(_variant(k, launch) for launch in launches)}}}")
    main = _MAIN.format(
        functions=f"{stem}_{suffix}.cuh", kernels="\n".join(kernels),
        robot=robot, function=function, inputs=_sizes(program.inputs), outputs=_sizes(program.outputs),
        scratch=scratch, operations=sum(plan.operations), words=_words(program, plan), stages=", ".join(ways),
    )  # fmt: skip
    return main, f"{HEAD}\nnamespace {stem}_{suffix} {{\n" + "\n".join(functions) + f"}}\n{FOOT}"


def _form(launch: Launch) -> str:
    """What tells a kernel's text from that for any launch."""
    return f"_spills_{launch.resident}" if launch.spills else ""


def _kernel(source: StageSource, launch: Launch, function: str) -> str:
    """A kernel for any block and any number of blocks that fit, and the function that launches it."""
    plan = source.plan
    inputs, arrays = len(plan.layout.program.inputs), len(arrays_of(plan))
    arguments = ", ".join(f"{'const ' if i < inputs else ''}T *__restrict__ a{i}" for i in range(arrays))
    passed = ", ".join([*(f"a{i} + lane" for i in range(arrays)), stride(plan, source.stage), *scratch_of(plan)])
    given = ", ".join([*(f"(T *)a[{i}]" for i in range(arrays)), f"(FINE *)a[{arrays}]"])
    name = f"{source.stage}{_form(launch)}"
    return (
        f"template <class T, int B, int R> __global__ void __launch_bounds__(B, R) kernel_{name}({arguments}, "
        f"FINE *scratch, unsigned n) {{\n  const unsigned lane = blockIdx.x * B + threadIdx.x;\n"
        f"  if (lane < n) {function}<T, FINE>({passed});\n}}\n"
        f"template <class T, int B, int R> void launch_{name}(void **a, long long n) {{\n"
        f"  const int spilled = {source_for(source, launch).shared_bytes} * B;\n"
        f"  static const cudaError_t room = with_shared(kernel_{name}<T, B, R>, spilled);\n"
        f"  CHECK(room);\n  kernel_{name}<T, B, R><<<(n + B - 1) / B, B, spilled>>>({given}, n);\n}}"
    )


def _variant(k: int, launch: Launch) -> str:
    way = f"{k}{_form(launch)}<SCALAR, {launch.block}, {launch.resident}>"
    return f"{{{launch.block}, {launch.resident}, {int(launch.spills)}, launch_{way}, (const void *)kernel_{way}}}"


def _sizes(groups: Sequence[object]) -> str:
    return ", ".join(str(len(group)) for group in groups)  # type: ignore[arg-type]


def _words(program: Program, plan: Plan) -> int:
    """Numbers that go through memory per state: inputs, outputs that are not always zero, and scratch."""
    inputs = sum(len(group) for group in program.inputs)
    outputs = sum(not entry.is_zero for output in program.outputs for entry in output.entries)
    crossing = sum(len(chunk.saved) + len(chunk.restored) for chunk in plan.layout.chunks)
    return inputs + outputs + crossing


def write_case(folder: Path, robot: str, path: Path, function: str, base: str) -> str:
    """The files of one case; gives their common name."""
    exact, single = (program_of_case(path, function, base, is_single) for is_single in (False, True))
    short = exact.name.replace("constrained_forward_dynamics", "constrained")  # long names are cut
    stem = f"{robot}_{short}"
    for suffix in SCALARS:
        main, functions = case_text(robot, function, single if suffix == "f32" else exact, stem, suffix)
        (folder / f"case_{stem}_{suffix}.cu").write_text(main)
        (folder / f"{stem}_{suffix}.cuh").write_text(functions)
    answers(exact, base == "floating").tofile(folder / f"{stem}.answers")
    print(f"{stem}: {len(exact.operations)} operations, {len(single.operations)} in single precision", flush=True)
    return stem


def _last_body(path: Path) -> str:
    return str(read_robot(path).mechanism.bodies[-1].name)


def write_jax(folder: Path, robot: str, path: Path, function: str) -> str:
    """The same function as written by the target jax."""
    program = program_of_case(path, function)
    files = generate_files(Module(f"{robot}_jax", (program,)), "jax")
    for name, text in files.items():
        (folder / name).write_text(text)
    return f"{robot}_jax {program.name} {' '.join(str(len(group)) for group in program.inputs)}"


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "harness.h", folder)
    shutil.copy(HERE / "limits.cu", folder)
    cases, standins = [], []
    for number, word in enumerate(sys.argv[2:]):
        name, _, base = word.partition(":")
        path, floating = Path(name), base == "floating"
        robot = f"{path.stem}{'_floating' * floating}"
        if not path.suffix:
            functions = CLOSED if len(ts.derive(library.load(name)).layout.speeds) < 15 else CLOSED[:2]
        elif floating:
            functions = FLOATING
        else:
            functions = FUNCTIONS + (tuple(f.format(last=_last_body(path)) for f in MORE) if number == 0 else ())
        cases += [write_case(folder, robot, path, function, base or "file") for function in functions]
        if path.suffix and not floating and len(standins) < 2:
            standins.append(write_jax(folder, robot, path, "forward_dynamics"))
    (folder / "cases.json").write_text(json.dumps({"cases": cases, "jax": standins}))


if __name__ == "__main__":
    main()
