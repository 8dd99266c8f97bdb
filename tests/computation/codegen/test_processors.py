"""Generated C on other processors: AVX2 and plain x86 and NEON in emulation, against the graph's own evaluation.

Skipped where the emulator (qemu-user-static) or, for NEON, the cross compiler (gcc-aarch64-linux-gnu) is missing.
"""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import run, tool, write
from robots import robot
from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.functions.function_requests import programs_of

STATES = 11  # leaves a rest for every width of vectors
PROCESSORS = {
    "this one": ("", "", "cc"),
    "AVX2": ("qemu-x86_64-static", "Haswell", "gcc"),
    "SSE2": ("qemu-x86_64-static", "Nehalem", "gcc"),
    "NEON": ("qemu-aarch64-static", "max", "aarch64-linux-gnu-gcc"),
}
MAIN = """\
#include "robot.h"
#include "robot_batch.h"
#include <stdio.h>

int main(void) {
  @ARRAYS@
  @CALLS@
#if defined(__x86_64__)
  printf("%d %d\\n", !!__builtin_cpu_supports("avx512f"), !!__builtin_cpu_supports("avx2"));
#else
  printf("0 0\\n");
#endif
  @PRINTED@
  return 0;
}
"""


def robot_module() -> Module:
    equations = ts.derive(robot("solo12"), formalism="recursive")
    return Module("robot", programs_of(equations, ["forward_dynamics", "mass_matrix_triangle"]))


def program_text(module: Module, states: dict[str, np.ndarray]) -> str:
    """A C program that prints what the first state gives by itself, then what all states give as a batch."""
    arrays, calls, printed = [], [], []
    for name, columns in states.items():
        for suffix, values in (("", columns[:, 0]), ("_all", columns.ravel())):
            listing = ", ".join(float(x).hex() for x in values)
            arrays.append(f"static const double {name}{suffix}[] = {{{listing}}};")
    for k, program in enumerate(module.programs):
        size = len(program.outputs[0])
        given = [group.name for group in program.inputs]
        arrays.append(f"static double one{k}[{size}], all{k}[{size * STATES}];")
        calls.append(f"robot_{program.name}({', '.join(given)}, one{k});")
        every = ", ".join(f"{name}_all" for name in given)
        calls.append(f"robot_{program.name}_batch(0, {STATES}, {STATES}, {every}, all{k});")
        for array, count in ((f"one{k}", size), (f"all{k}", size * STATES)):
            printed.append(f'for (int i = 0; i < {count}; i++) printf("%a\\n", {array}[i]);')
    text = MAIN.replace("@ARRAYS@", "\n  ".join(arrays)).replace("@CALLS@", "\n  ".join(calls))
    return text.replace("@PRINTED@", "\n  ".join(printed))


def states_of(module: Module) -> dict[str, np.ndarray]:
    random = np.random.default_rng(4)
    groups = {group.name: group for program in module.programs for group in program.inputs}
    states = {name: random.uniform(-1, 1, (len(group), STATES)) for name, group in groups.items()}
    states["q"][3:7] /= np.linalg.norm(states["q"][3:7], axis=0)
    return states


@pytest.mark.slow
@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_quadruped_alone_and_in_batches(processor, tmp_path):
    emulator, model, compiler = PROCESSORS[processor]
    built_by = tool(compiler)
    runner = [tool(emulator), "-cpu", model] if emulator else []
    module = robot_module()
    states = states_of(module)
    write(generate_files(module, "c", batch=True), tmp_path)
    (tmp_path / "main.c").write_text(program_text(module, states))
    flags = ["-std=c11", "-O1", "-ffp-contract=fast", "-Wall", "-Werror", "-Wno-unused-function", "-static"]
    run(built_by, *flags, "main.c", "robot.c", "robot_batch.c", "-o", "main", "-lm", cwd=tmp_path)
    kinds, *numbers = run(*runner, "./main", cwd=tmp_path).splitlines()
    if emulator:
        assert kinds == ("0 1" if processor == "AVX2" else "0 0")
    compare(module, states, np.array([float.fromhex(number) for number in numbers]))


def compare(module: Module, states: dict[str, np.ndarray], numbers: np.ndarray) -> None:
    for program in module.programs:
        size = len(program.outputs[0])
        one, every, numbers = np.split(numbers, [size, size * (STATES + 1)])
        every = every.reshape(size, STATES)
        for i in (0, STATES // 2, STATES - 1):
            given = {group.name: states[group.name][:, i].tolist() for group in program.inputs}
            exact = np.array(program.evaluate(given)[program.outputs[0].name], dtype=float)
            largest = max(1.0, float(np.abs(exact).max()))
            assert np.abs(every[:, i] - exact).max() < 1e-12 * largest
            if i == 0:
                assert np.abs(one - exact).max() < 1e-12 * largest
    assert not len(numbers)
