"""Functions over batches of states: every width of vectors, every operation, tails, threads, hostile names."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import WITHOUT_VECTORS, expected, module_functions, run, write
from computation.codegen.targets.test_hostile import hostile_module
from computation.codegen.test_targets import BINARY, STEPS, UNARY, long_chain
from torseur.algebra.graph import PI, Input, Program, Table, scalar, symbol, vector
from torseur.computation.codegen.kernels.batch_kernel import compile_batch
from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.codegen.targets.c.c_compiler import find_compiler
from torseur.computation.functions.function_requests import programs_of
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError

WAYS = {
    "chosen at run time": ["-O1"],
    "this processor": ["-O1", "-DTORSEUR_NATIVE", "-march=native", "-ffp-contract=fast"],
    "plain": ["-O1", "-DTORSEUR_NATIVE"],
    "without vectors": ["-O1", "-DTORSEUR_NATIVE", *WITHOUT_VECTORS],
}
POINTER = ctypes.POINTER(ctypes.c_double)
Q = tuple(symbol(f"q{i}") for i in range(3))
P = tuple(symbol(f"p{i}") for i in range(2))


def all_operations():
    x, y, z = Q
    entries = [f(x) for f in UNARY.values()] + [f(x + 0.25 * z) for f in UNARY.values()]
    entries += [f(y, P[0]) for f in BINARY.values()] + [f(x * z, y) for f in BINARY.values()]
    entries += [f(x, P[1]) for f in STEPS.values()]
    entries += [x + 2 * PI / 3, scalar.sin(2 * PI / 3) * y, scalar.sin(2 * PI / 3 + x)]  # operations of constants alone
    table = Table("heights", (-2.0, -1.0, 0.0, 1.0, 2.0), (0.0, 1.0, 0.5, 2.0, 0.0))
    program = Program("operations", (Input("q", Q), Input("p", P)), (vector("r", [*entries, table(x), y]),))
    return Module("all of them", (program,), Input("p", P))


def compiled(module, folder, flags):
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("no C compiler is installed")
    paths = {path.name: path for path in write(generate_files(module, "c", batch=True), folder)}
    sources = [name for name in paths if name.endswith(".c")]
    strict = ["-std=c11", "-Wall", "-Werror", "-Wno-unused-function"]
    run(compiler.path, *strict, *flags, "-fPIC", "-shared", *sources, "-o", "batch.so", "-lm", cwd=folder)
    header = next(path for name, path in paths.items() if name.endswith("_batch.h"))
    names = [line.split("(")[0].split()[-1] for line in header.read_text().splitlines() if line.startswith("void ")]
    single = next(
        path for name, path in paths.items() if name.endswith(".h") and "_batch" not in name and "_lanes" not in name
    )
    plain = [line.split("(")[0].split()[-1] for line in single.read_text().splitlines() if line.startswith("void ")]
    return ctypes.CDLL(str(folder / "batch.so")), names, plain


def evaluated(module, folder, states, shared, flags):
    """Outputs by program, from the generated sources, `states` being arrays with a column per state."""
    dll, names, plain = compiled(module, folder, flags)
    results, remaining = [], iter(plain)
    count = next(iter(states.values())).shape[1]
    for name, function in zip(names[::3], module_functions(module, vectors=True), strict=True):
        given = {key: np.ascontiguousarray(value) for key, value in states.items()}
        if function.prepare is not None:
            prepared = np.zeros(len(function.prepare.outputs[0]))
            arguments = [np.array(shared[g.name], dtype=float) for g in function.prepare.inputs]
            getattr(dll, next(remaining))(*[a.ctypes.data_as(POINTER) for a in (*arguments, prepared)])
            given["prepared"] = prepared
        next(remaining)
        outputs = [np.full((len(o), count), np.nan) for o in function.program.outputs]
        arrays = [given[g.name] for g in function.evaluate.inputs] + outputs
        sizes = [ctypes.c_ssize_t(x) for x in (0, count, count)]
        getattr(dll, name)(*sizes, *[a.ctypes.data_as(POINTER) for a in arrays])
        results.append(outputs)
    return results


@pytest.mark.parametrize("way", WAYS)
def test_every_operation_in_every_width(way, tmp_path):
    """Oracle: the graph's own evaluation. 19 states leave a rest for every width."""
    module = all_operations()
    random = np.random.default_rng(1)
    states, shared = {"q": random.uniform(-1.5, 1.5, (3, 19))}, {"p": [0.4, -0.7]}
    ((found,),) = evaluated(module, tmp_path, states, shared, WAYS[way])
    for i in range(19):
        ((exact,),) = expected(module, {"q": states["q"][:, i].tolist(), **shared})
        assert np.abs(found[:, i] - exact).max() < 1e-13 * max(1.0, np.abs(exact).max())


def test_what_is_the_same_in_every_state_is_written_once(tmp_path):
    """NAME_again leaves entries alone that NAME writes, in whole vectors and in what is left over."""
    x, y, _ = Q
    entries = [0, x * y, 2.5, x - y, 0]
    module = Module("limbs", (Program("limbs", (Input("q", Q),), (vector("r", entries),)),))
    dll, (name, again, _), _ = compiled(module, tmp_path, WAYS["chosen at run time"])
    q = np.random.default_rng(4).uniform(-1, 1, (3, 19))
    found = np.full((5, 19), 7.0)
    arguments = [*(ctypes.c_ssize_t(n) for n in (0, 19, 19)), q.ctypes.data_as(POINTER), found.ctypes.data_as(POINTER)]
    getattr(dll, again)(*arguments)
    assert (found[[0, 2, 4]] == 7.0).all()
    assert found[[1, 3]] == pytest.approx(np.array([q[0] * q[1], q[0] - q[1]]), rel=1e-15)
    getattr(dll, name)(*arguments)
    assert found[[0, 2, 4], 0].tolist() == [0.0, 2.5, 0.0]
    assert (found[[0, 2, 4]] == found[[0, 2, 4], :1]).all()


def test_kernels_fill_in_what_is_the_same_in_every_state():
    x, y, _ = Q
    program = Program("limbs", (Input("q", Q),), (vector("r", [0, x * y, 2.5]),))
    q = np.random.default_rng(4).uniform(-1, 1, (3, 21))
    found = compile_batch(program)(q=q)["r"]
    assert found == pytest.approx(np.array([np.zeros(21), q[0] * q[1], np.full(21, 2.5)]), rel=1e-15)


@pytest.mark.slow
def test_hostile_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = hostile_module()
    random = np.random.default_rng(0)
    first, second, rare = module.programs[0].inputs
    states = {g.name: random.uniform(0.1, 2.9, (len(g), 3)) for g in (first, second)}
    shared = {rare.name: random.uniform(0.1, 2.9, len(rare)).tolist()}
    found = evaluated(module, tmp_path, states, shared, ["-O0"])
    for i in range(3):
        exact = expected(module, {name: array[:, i].tolist() for name, array in states.items()} | shared)
        for ours, theirs in zip(found, exact, strict=True):
            for a, b in zip(ours, theirs, strict=True):
                assert np.abs(a[:, i] - b).max() < 1e-12
    assert not list(tmp_path.rglob("injected*"))


def test_only_c_has_batches():
    with pytest.raises(UnsupportedError, match="batch"):
        generate_files(all_operations(), "fortran", batch=True)


@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 1000])
@pytest.mark.parametrize("threads", [1, 3])
def test_kernels_over_batches(count, threads):
    equations = ts.derive(library.load("puma560"))
    (program,) = programs_of(equations, ["forward_dynamics"])
    batch = compile_batch(program, parameters=["p"], threads=threads)
    random = np.random.default_rng(count)
    values = {g.name: random.uniform(0.5, 1.5, (len(g), count)) for g in program.inputs if g.name != "p"}
    p = random.uniform(0.5, 1.5, len(program.input("p")))
    found = batch(**values, p=p)["vdot"]
    single = ts.compile_program(program, parameters=["p"])
    for i in {0, count // 2, count - 1}:
        exact = single(**{name: np.ascontiguousarray(a[:, i]) for name, a in values.items()}, p=p)["vdot"]
        assert found[:, i] == pytest.approx(exact, rel=1e-9, abs=1e-9)


def test_long_functions_and_numpy(monkeypatch):
    """The same without a C compiler, by NumPy."""
    program = long_chain(1500)
    values = {"q": np.random.default_rng(2).uniform(-1, 1, (2, 33)), "r": np.array([2.5])}
    by_c = compile_batch(program, threads=1)(**values)["m"]
    monkeypatch.setattr("torseur.computation.codegen.kernels.batch_kernel._has_c", lambda: False)
    assert compile_batch(program)(**values)["m"] == pytest.approx(by_c, rel=1e-11, abs=1e-12)
    assert by_c.shape == (2, 6, 33)


def test_wrong_arguments_are_named():
    batch = compile_batch(Program("f", (Input("q", Q),), (vector("y", [Q[0] * 2]),)))
    with pytest.raises(TorseurError, match="missing"):
        batch()
    with pytest.raises(TorseurError, match="expected \\(3, states\\)"):
        batch(q=np.zeros((2, 5)))
    with pytest.raises(TorseurError, match="'w'"):
        batch(q=np.zeros((3, 5)), w=1.0)
    with pytest.raises(TorseurError, match="'z'"):
        compile_batch(Program("f", (Input("q", Q),), (vector("y", [Q[0] * 2]),)), parameters=["z"])
