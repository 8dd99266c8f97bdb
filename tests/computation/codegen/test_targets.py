"""The three targets give the same numbers as a walk of the graph, for every operation of the table."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torseur.algebra.graph import OPERATIONS, PI, Input, Output, Program, matrix, symbol, vector
from torseur.algebra.graph import scalar as s
from torseur.computation.codegen import compile_program
from torseur.computation.codegen.straight_line import layout

TOLERANCE = 1e-13
BACKENDS = ("python", "c", "llvm")
Q = tuple(symbol(f"q{i}") for i in range(4))
P = tuple(symbol(f"p{i}") for i in range(3))

# Each keeps its result between about -2 and 2, so that rounding is not magnified; steps depend on inputs directly.
UNARY = {
    "neg": lambda a: -a,
    "sqrt": lambda a: s.sqrt(a * a + 0.25),
    "sin": s.sin,
    "cos": s.cos,
    "tan": lambda a: s.tan(s.tanh(a)),
    "asin": lambda a: s.asin(s.sin(a) * 0.9),
    "acos": lambda a: s.acos(s.tanh(a) * 0.9),
    "atan": s.atan,
    "sinh": lambda a: s.sinh(s.sin(a)),
    "cosh": lambda a: s.cosh(s.sin(a)),
    "tanh": s.tanh,
    "exp": lambda a: s.exp(-(a * a)),
    "log": lambda a: s.log(1.5 + s.cos(a)),
    "abs": abs,
}
BINARY = {
    "add": lambda a, b: (a + b) / 2,
    "sub": lambda a, b: a - b / 3,
    "mul": lambda a, b: a * b / 2,
    "div": lambda a, b: a / (1.5 + s.cos(b)),
    "atan2": lambda a, b: s.atan2(a, 2.5 + b * b),
    "min": s.minimum,
    "max": s.maximum,
    "pow": lambda a, b: s.power(1.5 + s.sin(a), b / 3),
}
STEPS = {
    "sign": lambda x, y: s.sign(x - 0.21),
    "floor": lambda x, y: s.floor(7 * x) / 7,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: y <= 0.37,
    "both": lambda x, y: s.both(x < 0.5, y <= 0.4),
    "invert": lambda x, y: s.invert(x <= y),
    "where": lambda x, y: s.where(x < y, x * 2, -y),
}


def test_every_operation_is_tried():
    assert {*UNARY, *BINARY, *STEPS} == set(OPERATIONS)


@st.composite
def programs(draw):
    """A program of random formulas; every operation occurs at least once over its outputs."""
    pool, labels = [*Q, *P, PI / 3], {}
    names = draw(st.permutations([*UNARY, *BINARY, *STEPS]))
    names += draw(st.lists(st.sampled_from([*UNARY, *BINARY]), max_size=60))
    for name in names:
        if name in STEPS:
            made = STEPS[name](draw(st.sampled_from(Q)), draw(st.sampled_from(P)))
        elif name in UNARY:
            made = UNARY[name](draw(st.sampled_from(pool)))
        else:
            made = BINARY[name](draw(st.sampled_from(pool)), draw(st.sampled_from(pool)))
        pool.append(made)
        if not draw(st.integers(0, 9)):
            labels[made] = draw(st.text(max_size=8))
    return Program("random", (Input("q", Q), Input("p", P)), (vector("y", pool),), labels=labels)


@pytest.mark.slow
@given(programs(), st.lists(st.floats(-2.0, 2.0).map(lambda x: round(x, 3) + 1e-4), min_size=7, max_size=7))
@settings(max_examples=12, deadline=None)
def test_targets_agree_on_random_formulas(program, numbers):
    """Oracle: Program.evaluate, which walks the graph with Python floats."""
    q, p = numbers[:4], numbers[4:]
    expected = np.array(program.evaluate({"q": q, "p": p})["y"], dtype=float)
    for backend in BACKENDS:
        for parameters in ((), ("p",)):
            result = compile_program(program, backend, parameters)(q, p)["y"]
            assert np.max(np.abs(result - expected)) < TOLERANCE * max(1.0, np.max(np.abs(expected))), backend


def long_chain(length):
    """A program of many operations with values that live long and outputs computed early, late and not at all."""
    x, y, z = symbol("x"), symbol("y"), symbol("z")
    values = [s.sin(x), s.cos(x), x * y]
    for k in range(length):
        a, b = values[-1], values[(k * k + 3) % len(values)]
        values.append((a * 0.75 + s.sin(b)) if k % 7 == 0 else (b * 0.5 - a * y if k % 2 else a * 0.25 + b * x))
    entries = [*values[:3], values[len(values) // 2], values[len(values) // 3], x, *values[-3:], z, PI, values[0]]
    return Program("long chain", (Input("q", (x, y)), Input("r", (z,))), (matrix("m", [entries[:6], entries[6:]]),))


@pytest.mark.parametrize("length", [0, 1, 150, 399, 1500])
def test_long_programs_are_cut_into_chunks(length, backend):
    program = long_chain(length)
    expected = np.array(program.evaluate({"q": [0.4, -0.8], "r": [2.5]})["m"], dtype=float).reshape(2, 6)
    result = compile_program(program, backend)([0.4, -0.8], [2.5])["m"]
    assert np.allclose(result, expected, rtol=1e-12, atol=1e-13)


@given(st.integers(1, 60), st.integers(0, 300))
@settings(max_examples=20, deadline=None)
def test_scratch_slots_hold_what_chunks_read(chunk, length):
    """The chunks run one after the other on a scratch list give the graph's values, and slots are used again."""
    program = long_chain(length)
    plan = layout(program, chunk=chunk)
    inputs = {"q": [0.4, -0.8], "r": [2.5]}
    scratch, out = [None] * plan.slots, [None] * 12
    for piece in plan.chunks:
        assert len(piece.operations) <= chunk + 1
        known = {node: inputs[program.inputs[i].name][j] for node, (i, j) in piece.inputs.items()}
        known |= {node: scratch[slot] for node, slot in piece.restored.items()}
        for node in piece.operations:
            known[node] = OPERATIONS[node.op].value(*[known[a] if a in known else float(a) for a in node.args])
            if node in piece.saved:
                scratch[piece.saved[node]] = known[node]
        for node, places in piece.results.items():
            for _, j in places:
                out[j] = known[node] if node in known else float(node)
    assert out == pytest.approx(program.evaluate(inputs)["m"], rel=1e-12)
    assert plan.slots <= max(1, len(program.operations))


HOSTILE = [
    'x; system("rm -rf /")',
    "*/ int main(void) { abort(); } /*",
    "a\n#include <stdlib.h>",
    "q[0] = 1; //",
    "double",
    "%s %n",
    "été",
    "",
    "__import__('os')",
    "sin",
    "x}\ndefine void @evil() {",
    "lambda",
    "1abc",
    "a" * 500,
    "x.at",
    "scratch",
    "??/",
    "{0}",
    "\\",
    '"',
    "ctx",
    "entry",
]


def hostile_program():
    nodes = [symbol(name) for name in HOSTILE]
    outputs = [node * node + 1 for node in nodes]
    labels = dict(zip(outputs, HOSTILE, strict=True))
    return Program(HOSTILE[1], (Input(HOSTILE[0], tuple(nodes)),), (vector(HOSTILE[2], outputs),), labels=labels)


def test_hostile_names_cannot_inject(backend):
    """Names of symbols, intermediate results, inputs, outputs and the program itself."""
    program = hostile_program()
    kernel = compile_program(program, backend)
    numbers = np.linspace(-1.0, 1.0, len(HOSTILE))
    assert np.allclose(kernel(numbers)[HOSTILE[2]], numbers**2 + 1.0, rtol=1e-15)
    body = kernel.source.split("generated in", 1)[1]
    assert not re.search(r"system *\(|abort *\(|__import__ *\(|<stdlib|evil *\(|main *\(", body)
    header = kernel.source.split("generated in", 1)[0]
    assert all(line.startswith(("/* ", "; ", "# ")) for line in header.splitlines())


def test_names_survive(backend):
    x = symbol("crank_angle")
    reach = s.sin(x) * 2
    program = Program("f", (Input("q", (x,)),), (vector("y", [reach + 1]),), labels={reach: "reach"})
    source = compile_program(program, backend).source
    assert "crank_angle" in source and "reach" in source


def test_sine_and_cosine_stand_together():
    x, y = symbol("x"), symbol("y")
    early = s.sin(x) * y
    for _ in range(500):
        early = early * y + x
    program = Program("f", (Input("q", (x, y)),), (vector("z", [early + s.cos(x)]),))
    order = [node.op for node in layout(program).chunks[0].operations]
    assert abs(order.index("sin") - order.index("cos")) == 1


def test_exported_function_has_the_plain_interface(compiled_backend):
    """void NAME(const double *in0, ..., const double *prepared, double *out0, ...)."""
    x, k = symbol("x"), symbol("k")
    program = Program(
        "spring", (Input("q", (x,)), Input("p", (k,))), (vector("f", [s.exp(k) * x]), Output("u", (), (x * x,)))
    )
    kernel = compile_program(program, compiled_backend, ("p",))
    library = kernel.library
    pointer = ctypes.POINTER(ctypes.c_double)
    function = library.function("spring_kernel", None, pointer, pointer, pointer, pointer)
    f, u = ctypes.c_double(), ctypes.c_double()
    function(ctypes.c_double(3.0), ctypes.c_double(kernel.prepare([0.5])[0]), f, u)
    assert (f.value, u.value) == (pytest.approx(3.0 * np.exp(0.5)), 9.0)
