"""Random routines behave alike on every backend: loops, branches, jumps, indices and arithmetic in any nesting."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

from torseur.computation.codegen import compile_routine

HEAD = """
import math
from torseur.computation.codegen.routine import Array, IntArray, Static, routine, static_range
N: int = Static("N")
T = ((0.5, -1.0), (0.0, 2.0), (1.5, 0.25))

@routine
def touch(a: Array, x: float) -> float:
    a[1] = math.cos(x)
    return a[0] + x
"""
INTEGERS = (
    "{r}",
    "{i} + {i}",
    "{i} - {i} % 7",
    "{i} * {i} % 1000",
    "{i} // 3",
    "{i} % -4",
    "abs({i})",
    "min({i}, {i})",
    "max({i}, N)",
    "w[abs({i}) % 4]",
    "{i} if {b} else {i}",
    "len(T)",
    "N",
    "math.floor(math.tanh({f}) * 9.0)",
)
FLOATS = (
    "{u}",
    "{f} + {f}",
    "{f} - {f}",
    "{f} * {f}",
    "{f} / (1.5 + abs({f}))",
    "math.sin({f})",
    "math.tanh({f})",
    "min({f}, {i})",
    "max({f}, {f})",
    "a[abs({i}) % 4]",
    "T[abs({i}) % 3][1]",
    "T[2][0]",
    "math.tanh({f}) ** 3",
    "float({i})",
    "{i} / 8",
    "{f} if {b} else {f}",
    "-{f}",
)
TESTS = ("{i} < {i}", "{f} > {f}", "{i} <= {i} < {i}", "{b} and {b}", "{b} or {b}", "not {b}", "{i} == N", "N == 3")
SIMPLE = (
    "n = ({i}) % 1000",
    "m += ({i}) % 50",
    "x = math.tanh({f})",
    "y -= math.sin({f})",
    "a[abs({i}) % 4] = math.sin({f})",
    "a[abs({i}) % 4] += 0.5",
    "w[abs({i}) % 4] = ({i}) % 100",
    "x = touch(a[abs({i}) % 2:], math.tanh({f}))",
)
HEADS = (
    "if {b}:",
    "for K in range(3):",
    "for K in range(4, -1, -2):",
    "for K in range(abs({i}) % 4):",
    "for K in static_range(N):",
    "for K in static_range(2, -1, -1):",
)


class Writer:
    """Writes one routine from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.indices = ["n", "m"]
        self.loops = 0

    def text(self, patterns, depth=0):
        pattern = self.random.choice(patterns if depth < 3 else patterns[:1])
        while "{" in pattern:
            place = pattern.index("{")
            pattern = pattern[:place] + self.part(pattern[place + 1], depth) + pattern[place + 3 :]
        return pattern

    def part(self, kind, depth):
        if kind == "r":
            return self.random.choice([*self.indices, str(self.random.randint(-5, 9))])
        if kind == "u":
            return self.random.choice(["x", "y", repr(round(self.random.uniform(-3, 3), 2))])
        return f"({self.text({'i': INTEGERS, 'f': FLOATS, 'b': TESTS}[kind], depth + 1)})"

    def block(self, indent, count, in_loop=False):
        lines = []
        for _ in range(count):
            chance = self.random.random()
            if chance < 0.35 and len(indent) < 16:
                lines += self.compound(indent, in_loop)
            elif chance < 0.45:
                jump = self.random.choice(["break", "continue"]) if in_loop else f"return {self.text(FLOATS)}"
                lines += [f"{indent}if {self.text(TESTS)}:", f"{indent}    {jump}"]
            else:
                lines.append(indent + self.text(SIMPLE))
        return lines

    def compound(self, indent, in_loop):
        head = self.text(HEADS)
        is_loop = head.startswith("for")
        known = list(self.indices)
        if is_loop:
            self.loops += 1
            index = f"k{self.loops}"
            head = head.replace("K", index)
            self.indices = [*known, index]
        lines = [indent + head, *self.block(indent + "    ", self.random.randint(1, 3), in_loop or is_loop)]
        self.indices = known
        if not is_loop and self.random.random() < 0.5:
            lines += [indent + "else:", *self.block(indent + "    ", 1, in_loop)]
        return lines

    def routine(self, name):
        head = f"@routine\ndef {name}(n: int, m: int, x: float, y: float, a: Array, w: IntArray) -> float:"
        return "\n".join([head, *self.block("    ", 8), "    return x + y + n + m", ""])


@pytest.mark.parametrize("seed", range(8))
def test_backends_agree(seed, tmp_path, compiled_backend):
    file = tmp_path / f"random_{seed}.py"
    file.write_text(HEAD + "\n\n" + Writer(seed).routine("made"))
    spec = importlib.util.spec_from_file_location(f"random_{seed}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    python = compile_routine(module.made, {"N": 3}, backend="python")
    compiled = compile_routine(module.made, {"N": 3}, backend=compiled_backend)
    generator = np.random.default_rng(seed)
    for _ in range(5):
        numbers = (*generator.integers(-9, 20, 2).tolist(), *generator.normal(size=2).tolist())
        mine, theirs = ((np.linspace(-1.0, 1.0, 6), np.arange(4)) for _ in range(2))
        assert compiled(*numbers, *mine) == pytest.approx(python(*numbers, *theirs), rel=1e-9, abs=1e-9)
        assert np.allclose(mine[0], theirs[0], rtol=1e-9, atol=1e-9) and np.array_equal(mine[1], theirs[1])
