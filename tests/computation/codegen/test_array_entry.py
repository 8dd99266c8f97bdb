"""Kernels called through the compiled entry: the same numbers, and every argument that is no plain array."""

from __future__ import annotations

import pickle
import threading

import numpy as np
import pytest

from torseur.algebra.graph import Input, Program, matrix, scalar, symbol, vector
from torseur.computation.codegen import compile_program
from torseur.computation.codegen.kernels import array_entry
from torseur.errors import TorseurError

X = [symbol(f"x{k}") for k in range(3)]
Y = [symbol(f"y{k}") for k in range(2)]
ONE = Program("one", (Input("x", tuple(X)), Input("y", tuple(Y))), (vector("z", [scalar.sin(X[0]) * Y[1], X[2], 4]),))
TWO = Program(
    "two", (Input("x", tuple(X)),), (matrix("m", [[X[0], 0], [X[1] * X[2], 1]]), vector("s", [X[0] + X[1]]))
)  # fmt: skip


def is_builtin(function) -> bool:
    return type(function).__name__ == "builtin_function_or_method"


@pytest.fixture(scope="module")
def one():
    kernel = compile_program(ONE)
    if not array_entry._can_look_into_arrays():
        pytest.skip("no LLVM, or another interpreter")
    assert is_builtin(kernel.function)
    return kernel


def expected(x, y):
    return [np.sin(x[0]) * y[1], x[2], 4.0]


def test_arrays_go_straight_in(one):
    x, y = np.array([0.3, 1.0, -2.0]), np.array([5.0, 7.0])
    result = one.function(x, y)
    assert result.shape == (3,) and result.flags.owndata and result.flags.writeable
    np.testing.assert_allclose(result, expected(x, y), rtol=1e-15)
    assert one.function(x, y) is not result
    np.testing.assert_array_equal(one(x, y)["z"], result)


WIDE = np.arange(12.0).reshape(3, 4)
ODD = {
    "a list": [0.3, 1.0, -2.0],
    "integers": np.array([1, 2, 3]),
    "single precision": np.array([0.5, 1, 2], dtype=np.float32),
    "other byte order": np.array([0.5, 1, 2], dtype=np.dtype(np.float64).newbyteorder()),
    "every second": np.arange(6.0)[::2],
    "backward": np.arange(3.0)[::-1],
    "a column": WIDE[:, 1],
    "a row of a matrix": np.arange(3.0)[None],
    "a subclass": np.arange(3.0).view(np.matrix).T,
    "unaligned": np.frombuffer(b"?" + np.arange(3.0).tobytes(), dtype=np.uint8)[1:].view(np.float64),
    "objects": np.array([1.0, 2.0, 3.0], dtype=object),
}


@pytest.mark.parametrize("case", ODD)
def test_anything_else_is_converted(one, case):
    x, y = ODD[case], np.array([5.0, 7.0])
    plain = np.asarray(x, dtype=float).reshape(-1)
    np.testing.assert_allclose(one.function(x, y), expected(plain, y), rtol=1e-15)


def test_arguments_have_names_too(one):
    x, y = np.array([0.3, 1.0, -2.0]), np.array([5.0, 7.0])
    for result in (one.function(x, y=y), one.function(y=y, x=x)):
        np.testing.assert_allclose(result, expected(x, y), rtol=1e-15)


def test_mistakes_are_told(one):
    x, y = np.zeros(3), np.zeros(2)
    for arguments, words in (
        ((x,), "'y' is missing"),
        ((x, y, y), "has 2 inputs, got 3"),
        ((x, x), "input 'y' has 3 entries, expected 2"),
        ((np.zeros((2, 3)), y), "input 'x' has 6 entries"),
        ((np.zeros(0), y), "input 'x' has 0 entries"),
    ):
        with pytest.raises(TorseurError, match=words):
            one.function(*arguments)
    with pytest.raises(TorseurError, match="input 'x' has 1 entries"):
        one.function(None, y)


def test_several_results_are_a_tuple():
    first, second = compile_program(TWO).function(np.array([2.0, 3.0, 5.0]))
    np.testing.assert_array_equal(first, [[2, 0], [15, 1]])
    np.testing.assert_array_equal(second, [5])


def test_it_outlives_its_kernel_and_is_pickled_with_it(one):
    function = compile_program(ONE).function
    x, y = np.ones(3), np.ones(2)
    before = function(x, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).function(x, y), before)


def test_threads(one):
    """Results of one thread are never those of another."""
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(2000):
            x, y = rng.normal(size=3), rng.normal(size=2)
            if not np.allclose(one.function(x, y), expected(x, y)):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_references_balance(one):
    """Neither arguments nor results are kept."""
    import sys

    x, y = np.ones(3), np.ones(2)
    before = sys.getrefcount(x), sys.getrefcount(y)
    for _ in range(100):
        one.function(x, y)
        one.function(x, [1.0, 2.0])
    assert (sys.getrefcount(x), sys.getrefcount(y)) == before
