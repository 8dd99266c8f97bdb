"""Writes the cases of the GPU benchmark: CUDA sources, a main program for each, and answers to check against.

Run where torseur is installed:  python benchmarks/gpu/generate.py FOLDER [ROBOT.urdf ...]
Then, where nvcc is:             python benchmarks/gpu/run.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import torseur as ts
from torseur.codegen.cuda.language import CUDA
from torseur.codegen.cuda.module import Printer
from torseur.codegen.generation import generate_files
from torseur.codegen.module import Module
from torseur.codegen.names import Names
from torseur.codegen.straight import Layout, Splines
from torseur.equations.generation import module_of
from torseur.graph import Program
from torseur.readers import read_robot

HERE = Path(__file__).parent
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "inverse_dynamics/q,v", "forward_dynamics/q,v")
KNOWN = 32
CAPS = (1, 3, 4, 6)
LARGE = 8000  # operations above which the compiler is given fewer variants

_MAIN = """\
#include "{header}"
#include "harness.h"

namespace {{
{kernels}
template <class T> void sequence_{cap_name}(void **a, long long n);
}}  // namespace

int main(int count, char **words) {{
  std::vector<long long> batches;
  for (int i = 2; i < count; ++i) batches.push_back(std::atoll(words[i]));
  Case c{{"{robot}", "{function}", {{{inputs}}}, {{{outputs}}}, {scratch}, {operations}, {words}, {{{variants}}}}};
  return measure<SCALAR>(c, words[1], batches);
}}
"""


def program_of_case(path: Path, function: str) -> Program:
    """The function of a robot, everything known baked in; damping is left out, as in the published figures."""
    mechanism = replace(read_robot(path).mechanism, loads=())
    return module_of(ts.derive(mechanism), [function], baked=True).programs[0]


def answers(program: Program) -> np.ndarray:
    """Random states and what the graph itself computes there, in double precision."""
    random = np.random.default_rng(1)
    sizes = [len(group) for group in program.inputs]
    scale = {"q": 1.5, "v": 1.0, "vdot": 4.0, "tau": 4.0}
    states = [[random.uniform(-1, 1, n) * scale[g.name] for n, g in zip(sizes, program.inputs, strict=True)]
              for _ in range(KNOWN)]  # fmt: skip
    found = []
    for state in states:
        values = program.evaluate({g.name: x for g, x in zip(program.inputs, state, strict=True)})
        found.append(np.concatenate([values[o.name] for o in program.outputs]).astype(float))
    return np.concatenate([np.concatenate([np.concatenate(s) for s in states]), np.concatenate(found)])


def case_text(robot: str, function: str, program: Program, own: str, header: str) -> str:
    """A main program that checks and times one function with several caps on registers."""
    names = Names(CUDA.reserved)
    names.unique(own)
    name = names.unique(program.name)
    printer = Printer(Splines.of([program], names))
    plan = printer.layout(program)
    stages = printer.stages(name, plan)
    inputs, arrays = len(program.inputs), len(plan.arrays)
    arguments = ", ".join(f"{'const ' if i < inputs else ''}T *__restrict__ a{i}" for i in range(arrays))
    lanes = ", ".join(f"a{i} + lane" for i in range(arrays))
    staged = len(stages) > 1
    kernels = []
    for k, stage in enumerate(stages):
        scratch = ", scratch + lane" if staged else ""
        kernels.append(
            f"template <class T, int R> __global__ void __launch_bounds__(128, R) kernel_{k}({arguments}, T *scratch, "
            f"long long n) {{\n  const long long lane = blockIdx.x * 128LL + threadIdx.x;\n"
            f"  if (lane < n) {own}::{stage}<T>({lanes}, n{scratch});\n}}"
        )
    given = ", ".join(f"(T *)a[{i}]" for i in range(arrays + 1))
    launches = " ".join(f"kernel_{k}<T, R><<<(n + 127) / 128, 128>>>({given}, n);" for k in range(len(stages)))
    caps = CAPS if len(program.operations) < LARGE else CAPS[:2]
    kernels.append(f"template <class T, int R> void launch(void **a, long long n) {{ {launches} }}")
    variants = ", ".join(f"{{{r}, launch<SCALAR, {r}>, (const void *)kernel_0<SCALAR, {r}>}}" for r in caps)
    text = _MAIN.replace("template <class T> void sequence_{cap_name}(void **a, long long n);\n", "")
    return text.format(
        header=header, kernels="\n".join(kernels), robot=robot, function=function,
        inputs=", ".join(str(len(g)) for g in program.inputs), outputs=", ".join(str(len(o)) for o in program.outputs),
        scratch=plan.slots if staged else 0, operations=len(program.operations), words=_words(program, plan),
        variants=variants,
    )  # fmt: skip


def _words(program: Program, plan: Layout) -> int:
    """Numbers that go through memory per state: inputs, outputs that are not always zero, and scratch."""
    inputs = sum(len(group) for group in program.inputs)
    outputs = sum(not entry.is_zero for output in program.outputs for entry in output.entries)
    crossing = sum(len(chunk.saved) + len(chunk.restored) for chunk in plan.chunks)
    return inputs + outputs + crossing


def main() -> None:
    folder, robots = Path(sys.argv[1]), [Path(word) for word in sys.argv[2:]]
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "harness.h", folder)
    cases = []
    for path in robots:
        for function in FUNCTIONS:
            program = program_of_case(path, function)
            own = f"{path.stem}_{program.name}"
            files = generate_files(Module(own, (program,)), "cuda")
            for name, text in files.items():
                (folder / name).write_text(text, encoding="ascii")
            header = next(name for name in files if name.endswith(".cuh"))
            stem = header.removesuffix(".cuh")
            (folder / f"case_{stem}.cu").write_text(case_text(path.stem, function, program, stem, header))
            answers(program).tofile(folder / f"{stem}.answers")
            cases.append(stem)
            print(f"{stem}: {len(program.operations)} operations", flush=True)
    (folder / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main()
