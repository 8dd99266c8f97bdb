"""Equal expressions are one object, in every order of building, from every thread, after every journey."""

import copy
import gc
import pickle
import sys
import threading
import weakref
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings

from algebra.graph.recipes import built, numbers, recipes
from torseur.algebra.graph import Table, UndeterminedFunction, as_expr, expr, scalar, symbol
from torseur.algebra.graph.evaluation import live_nodes
from torseur.computation.functions.function_requests import pause_collection
from torseur.errors import TorseurError

x, y, z = (symbol(name) for name in "xyz")


def test_a_symbol_is_its_name_unit_and_meaning():
    assert symbol("m", "kg", "mass of the arm") is symbol("m", "kg", "mass of the arm")
    assert symbol("m", "kg") is not symbol("m", "g")
    assert symbol("m", "kg").name == "m"
    assert symbol("m", "kg", "mass").data.meaning == "mass"


@pytest.mark.parametrize(
    "operation",
    [lambda a, b: a + b, lambda a, b: a * b, scalar.minimum, scalar.maximum, lambda a, b: scalar.both(a < 1, b < 1)],
)
def test_commuted_operands_share_one_node(operation):
    assert operation(x, y) is operation(y, x)


@pytest.mark.parametrize(
    "operation",
    [lambda a, b: a - b, lambda a, b: a / b, lambda a, b: a**b, scalar.atan2, lambda a, b: a < b, lambda a, b: a <= b],
)
def test_order_matters_elsewhere(operation):
    assert operation(x, y) is not operation(y, x)


def test_comparisons_turn_around():
    assert (x > y) is (y < x)
    assert (x >= y) is (y <= x)
    assert (as_expr(1) < x) is (x > 1)


@pytest.mark.slow
@given(recipes(numbers))
@settings(max_examples=200, deadline=None)
def test_building_twice_gives_the_same_object(recipe):
    try:
        first = built(recipe, [x, y, z])
    except TorseurError:
        assume(False)
    assert built(recipe, [x, y, z]) is first


def test_arguments_come_before_the_node():
    formula = scalar.where(x < y, (x + y) * z, scalar.sin(z) / x)
    nodes = live_nodes([formula])
    assert all(nodes.index(a) < nodes.index(node) for node in nodes for a in node.args)
    assert len(set(nodes)) == len(nodes)


@pytest.mark.slow
def test_dropped_nodes_are_freed():
    node = scalar.sin(symbol("freed") * x) + 1
    grave = weakref.ref(node)
    inner = weakref.ref(node.args[1])
    del node
    gc.collect()
    assert grave() is None
    assert inner() is None


@pytest.mark.slow
def test_a_million_dropped_nodes_leave_no_trace():
    before = len(expr._nodes)
    total = symbol("start")
    for i in range(250_000):
        total = (total + x) * (i + 0.5) - y
        if i % 1000 == 0:
            total = symbol(f"start {i}")
    del total
    gc.collect()
    alive = sum(reference() is not None for reference in expr._nodes.values())
    assert alive <= before + 10
    assert len(expr._nodes) < 400_000


def test_a_rebuilt_node_is_shared_again():
    """A dead entry of the table is replaced by the new node, and everybody gets that one."""
    a = symbol("rebuilt")
    grave = weakref.ref(a * x)
    assert grave() is None
    again = a * x
    assert a * x is again


def test_threads_get_the_same_nodes():
    """Eight threads build the same formulas at once; frequent switches make a lost race likely."""
    results: list[list[object]] = [[] for _ in range(8)]
    start = threading.Barrier(8)

    def work(mine):
        start.wait()
        for i in range(300):
            s = symbol(f"thread symbol {i}")
            mine.append(scalar.sin(s * x + i) / (s - y))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(mine,)) for mine in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert all(len(mine) == 300 for mine in results)
    assert all(len({id(node) for node in column}) == 1 for column in zip(*results, strict=True))


def test_threads_build_while_others_sweep(monkeypatch):
    """A table that forgets dead nodes at every step still never holds two live nodes of one kind."""
    monkeypatch.setattr(expr, "_sweep_at", 0)
    kept: list[object] = []
    failures: list[object] = []

    def work():
        for i in range(40):
            s = symbol(f"swept {i}")
            node = s * y + s
            kept.append(node)
            if s * y + s is not node:
                failures.append(node)
            monkeypatch.setattr(expr, "_sweep_at", 0)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len({id(node) for node in kept}) == 40


def test_nodes_that_nobody_holds_are_forgotten():
    held = symbol("held") * y + 1
    expr.forget_unused()
    before = len(expr._nodes)
    for i in range(50):
        symbol("held") * i + y
    expr.forget_unused()
    assert len(expr._nodes) == before
    assert symbol("held") * y + 1 is held


def test_copies_are_the_node_itself():
    node = x * y + 1
    assert copy.copy(node) is node
    assert copy.deepcopy([node])[0] is node


@given(recipes(numbers))
@settings(max_examples=100, deadline=None)
def test_pickling_returns_the_node_itself(recipe):
    try:
        node = built(recipe, [x, y, z])
    except TorseurError:
        assume(False)
    assert pickle.loads(pickle.dumps(node)) is node


def test_functions_and_tables_travel():
    force = UndeterminedFunction("F", 2, "N", "tyre force")
    cam = Table("cam", (0, 1, 2, 3), (0, 1, 0, 2))
    node = force(x, y) + cam(z)
    back = pickle.loads(pickle.dumps([node, x]))
    assert back == [node, x]


def test_numbers_that_are_equal_but_not_alike_are_apart():
    assert as_expr(0.5) is as_expr(0.5) is not as_expr(Fraction(1, 2))
    assert as_expr(2.0**60).value == 2.0**60
    assert isinstance(as_expr(2.0**60).value, float) and isinstance(as_expr(2**60).value, int)
    assert as_expr(3.0) is as_expr(3)


def test_garbage_is_looked_for_again_afterwards():
    with pause_collection():
        assert not gc.isenabled()
        with pytest.raises(TorseurError), pause_collection():
            raise TorseurError("an error inside")
        assert not gc.isenabled()
    assert gc.isenabled()
