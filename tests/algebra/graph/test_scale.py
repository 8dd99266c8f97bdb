"""Large graphs: work, depth and memory."""

import gc
import pickle
import weakref

import pytest

from counting import calls_of, forget_caches
from torseur.algebra.graph import (
    Input,
    Program,
    as_expr,
    directional_derivative,
    evaluate,
    gradient,
    jacobian,
    scalar,
    substitute,
    symbol,
    symbols_of,
    vector,
)
from torseur.algebra.graph.printing import to_text

x, y = symbol("x"), symbol("y")


@pytest.mark.slow
def test_a_node_costs_the_same_in_a_large_graph():
    """Calls for each pair of nodes, of 2,500 and of 25,000 pairs: seventeen."""
    variables = [symbol(f"speed {i}") for i in range(50)]
    kept = []

    def build(pairs):
        total = symbol(f"start of {pairs}")  # shares no node with the others
        for i in range(pairs):
            total = total * variables[i % 50] + variables[(7 * i + 3) % 50]
            kept.append(total)

    forget_caches()
    few, many = calls_of(lambda: build(2_500)), calls_of(lambda: build(25_000))
    assert many == pytest.approx(10 * few, rel=0.01) and many < 25 * 25_000
    assert len({id(node) for node in kept}) == 27_500


DEPTH = 100_000


@pytest.fixture(scope="module")
def chain():
    """y + sin(y + sin(... x)): 100,000 nodes deep."""
    node = x
    for _ in range(DEPTH // 2):
        node = scalar.sin(node) + y
    return node


@pytest.mark.slow
def test_a_chain_has_a_value(chain):
    """Oracle: the same iteration on floats."""
    import math

    expected = 0.5
    for _ in range(DEPTH // 2):
        expected = math.sin(expected) + 0.25
    assert evaluate([chain], {x: 0.5, y: 0.25}) == [expected]


@pytest.mark.slow
def test_a_chain_is_differentiated(chain):
    """Oracle: the recursion s <- s cos(v) + 1 for the slope by y, on floats."""
    import math

    value, slope = 0.5, 0.0
    for _ in range(DEPTH // 2):
        slope, value = slope * math.cos(value) + 1, math.sin(value) + 0.25
    derivatives = [*gradient(chain, [y]), *directional_derivative([chain], {y: 1}), jacobian([chain], [y])[0, 0]]
    for result in evaluate(derivatives, {x: 0.5, y: 0.25}):
        assert result == pytest.approx(slope, rel=1e-12)


@pytest.mark.slow
def test_a_chain_is_written(chain):
    text = to_text(chain)
    assert text.startswith("sin(sin(") and text.endswith(" + y) + y")
    assert text.count("sin") == DEPTH // 2
    assert repr(chain).endswith("...")


@pytest.mark.slow
def test_a_chain_is_substituted_and_searched(chain):
    z = symbol("z")
    assert symbols_of(substitute([chain], {x: z})) == [y, z]


@pytest.mark.slow
def test_a_chain_is_a_program(chain):
    program = Program("chain", (Input("v", (x, y)),), (vector("r", [chain]),))
    assert program.counts == {"trigonometric": DEPTH // 2, "addition": DEPTH // 2}
    assert len(program.digest) == 64
    prepare, per_state = program.split(["v"])
    assert len(per_state.operations) == 0
    assert len(prepare.operations) == DEPTH


@pytest.mark.slow
def test_a_chain_travels(chain):
    assert pickle.loads(pickle.dumps(chain)) is chain


@pytest.mark.slow
def test_a_chain_is_deleted():
    node = symbol("deleted")
    for _ in range(DEPTH):
        node = scalar.sin(node) * y
    ghost = weakref.ref(node)
    del node
    gc.collect()
    assert ghost() is None


@pytest.mark.slow
def test_nested_choices_are_deep_too():
    node = as_expr(0)
    for i in range(20_000):
        node = scalar.where(x < i, node, node * x + 1)
    assert evaluate([node], {x: -1.0}) == [0]
    assert not gradient(node, [x])[0].is_zero
