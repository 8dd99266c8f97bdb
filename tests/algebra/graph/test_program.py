"""Straight-line programs: order, counts, splitting, digest and errors."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from algebra.graph.recipes import built, numbers, recipes
from torseur.algebra.graph import (
    PI,
    Input,
    Program,
    Table,
    UndeterminedFunction,
    as_expr,
    matrix,
    scalar,
    symbol,
    vector,
)
from torseur.errors import TorseurError

x, y, z = (symbol(name) for name in "xyz")
m, g = symbol("m", "kg"), symbol("g", "m/s^2")
Q, P = Input("q", (x, y)), Input("p", (m, g))
WEIGHT = m * g
PENDULUM = Program(
    "pendulum", (Q, P), (vector("tau", [WEIGHT * scalar.sin(x), WEIGHT * y / 2]), matrix("M", [[m, 0], [0, 2 * m]]))
)


def test_operations_come_after_their_arguments():
    known = {x, y, m, g}
    for node in PENDULUM.operations:
        assert all(a in known or a.op in ("constant", "pi") for a in node.args)
        known.add(node)
    assert {entry for output in PENDULUM.outputs for entry in output.entries if entry.args} <= known


def test_shared_operations_are_counted_once():
    """By hand: m g; sin x; m g sin x; m g y; its half; 2 m."""
    assert PENDULUM.counts == {"multiplication": 5, "trigonometric": 1}
    assert PENDULUM.cost == 5 * 1 + 15


def test_counts_name_the_kind():
    kinds = [x + y, x - y, x * y, x / y, -x, scalar.sqrt(x), scalar.cos(x), scalar.exp(x), x < y, scalar.where(x, y, z)]
    program = Program("kinds", (Input("v", (x, y, z)),), (vector("r", kinds),))
    assert program.counts == {
        "addition": 2,
        "multiplication": 1,
        "division": 1,
        "negation": 1,
        "square root": 1,
        "trigonometric": 1,
        "function": 1,
        "comparison": 2,
    }
    cam = Table("cam", (0, 1, 2, 3), (0, 1, 0, 2))
    assert Program("t", (Input("v", (x,)),), (vector("r", [cam(x)]),)).counts == {"table": 1}


def test_values_in_any_scalar():
    result = PENDULUM.evaluate({"q": [0.5, 2.0], "p": [3.0, 10.0]})
    assert result == {"tau": [pytest.approx(30 * np.sin(0.5)), 30.0], "M": [3.0, 0, 0, 6.0]}
    formal = PENDULUM.evaluate({"q": [z, 0], "p": [1, 2]})
    assert formal["tau"] == [2 * scalar.sin(z), as_expr(0)]


def test_shapes():
    assert PENDULUM.output("M").shape == (2, 2)
    assert PENDULUM.output("tau").shape == (2,)
    assert len(PENDULUM.input("q")) == 2
    assert matrix("empty", []).shape == (0, 0)


MISTAKES = {
    "needs symbol 'y', which is not one of its inputs": lambda: Program(
        "p", (Input("a", (x,)),), (vector("r", [x + y]),)
    ),
    "needs function 'f(x)', which is not one of its inputs": lambda: Program(
        "p", (Input("a", (x,)),), (vector("r", [UndeterminedFunction("f", 1)(x)]),)
    ),
    "is given 'x' 2 times": lambda: Program("p", (Input("a", (x, x)),), ()),
    "has 2 inputs named 'a'": lambda: Program("p", (Input("a", (x,)), Input("a", (y,))), ()),
    "cannot take the constant '2' as an input": lambda: Program("p", (Input("a", (as_expr(2),)),), ()),
    "unknown input 'qq'. Inputs: q, p.": lambda: PENDULUM.input("qq"),
    "unknown output 'tao'. Outputs: tau, M. Did you mean 'tau'?": lambda: PENDULUM.output("tao"),
    "needs a value for its input 'p'": lambda: PENDULUM.evaluate({"q": [1, 2]}),
    "needs 2 values for 'q', got 3": lambda: PENDULUM.evaluate({"q": [1, 2, 3], "p": [1, 2]}),
    "unknown input 'mass'": lambda: PENDULUM.split(["mass"]),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes_are_named(message):
    with pytest.raises(TorseurError) as caught:
        MISTAKES[message]()
    assert message in str(caught.value)
    assert str(caught.value).startswith("program 'p")


def test_a_function_may_be_an_input():
    call = UndeterminedFunction("f", 1)(x)
    program = Program("p", (Input("a", (x,)), Input("f", (call,))), (vector("r", [2 * call + x]),))
    assert program.evaluate({"a": [1.0], "f": [5.0]}) == {"r": [11.0]}


def test_split_hoists_what_depends_on_parameters_only():
    prepare, per_state = PENDULUM.split(["p"])
    assert prepare.inputs == (P,)
    assert {WEIGHT, 2 * m} <= set(prepare.output("prepared").entries)
    assert [group.name for group in per_state.inputs] == ["q", "prepared"]
    assert all(m not in node.args and g not in node.args for node in per_state.operations)
    assert sum(per_state.counts.values()) < sum(PENDULUM.counts.values())


def test_split_hoists_constant_work():
    program = Program("p", (Q,), (vector("r", [x * scalar.sin(as_expr(1)) + PI * y]),))
    prepare, per_state = program.split([])
    assert prepare.counts == {"trigonometric": 1}
    assert per_state.counts == {"multiplication": 2, "addition": 1}


def test_split_passes_parameters_and_results_through():
    program = Program("p", (Q, P), (vector("r", [m, 2 * m, x + g, as_expr(4)]),))
    prepare, per_state = program.split(["p"])
    prepared = prepare.evaluate({"p": [3.0, 10.0]})["prepared"]
    assert per_state.evaluate({"q": [1.0, 2.0], "prepared": prepared}) == {"r": [3.0, 6.0, 11.0, 4]}


@pytest.mark.slow
@given(st.lists(recipes(numbers), min_size=1, max_size=4), st.sampled_from([["a"], ["b"], ["a", "b"], []]))
@settings(max_examples=100, deadline=None)
def test_split_computes_the_same(several, parameters):
    """Oracle: the whole program, exactly: in expressions, where equal means the same node."""
    try:
        program = Program(
            "p",
            (Input("a", (x,)), Input("b", (y,)), Input("c", (z,))),
            (vector("r", [built(recipe, [x, y, z]) for recipe in several]),),
        )
    except TorseurError:
        assume(False)
    prepare, per_state = program.split(parameters)
    values = {"a": [x], "b": [y], "c": [z]}
    prepared = (
        prepare.evaluate({name: values[name] for name in parameters})["prepared"]
        if parameters
        else list(prepare.output("prepared").entries)
    )
    states = {name: value for name, value in values.items() if name not in parameters}
    assert per_state.evaluate(states | {"prepared": prepared}) == program.evaluate(values)
    given = set(prepare.output("prepared").entries)
    assert not given & set(per_state.operations)


def make(names, order):
    """One program, its symbols under the given names and its parts built in the given order."""
    a, b, c = (symbol(name) for name in names)
    parts = {
        "sum": lambda: a + b * c,
        "swapped": lambda: c * b + a,
        "trig": lambda: scalar.sin(a) * scalar.cos(b),
        "square": lambda: (a - c) ** 2 / 3,
    }
    for part in order:
        parts[part]()
    kept = [parts[name]() for name in order]
    entries = [parts["sum"](), parts["trig"](), parts["square"](), scalar.minimum(c, a)]
    return Program(names[0], (Input(names[1], (a, b)), Input(names[2], (c,))), (vector("r", entries),)), kept


def test_digest_does_not_depend_on_names_or_history():
    symbol("later"), symbol("first")
    one, _ = make(["first", "second", "third"], ["sum", "trig", "square"])
    two, _ = make(["w", "v", "later"], ["square", "trig", "swapped"])
    assert one.digest == two.digest


def test_digest_tells_programs_apart():
    base = [x + y, x * z]
    programs = [
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", base),)),
        Program("p", (Input("a", (y, x)), Input("b", (z,))), (vector("r", [x - y, x * z]),)),
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", [x - y, x * z]),)),
        Program("p", (Input("a", (x,)), Input("b", (y, z))), (vector("r", base),)),
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", base[::-1]),)),
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", base[:1]), vector("s", base[1:]))),
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", [x + y + 1, x * z]),)),
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", [x + y + 1 + 2**-52, x * z]),)),
        Program("p", (Input("a", (x, y)), Input("b", (z,))), (vector("r", [x * 0.5, x * z]),)),
    ]
    assert len({program.digest for program in programs}) == len(programs)


def test_digest_knows_the_numbers_of_a_table_and_not_its_name():
    def digest(name, values):
        return Program("p", (Input("a", (x,)),), (vector("r", [Table(name, (0, 1, 2, 3), values)(x)]),)).digest

    assert digest("cam", (0, 1, 0, 2)) == digest("tyre", (0, 1, 0, 2))
    assert digest("cam", (0, 1, 0, 2)) != digest("cam", (0, 1, 0, 2.5))


PROGRAM_TEXT = """
from torseur.algebra.graph import *
from torseur.algebra.graph import scalar
noise = [symbol(n) for n in {noise!r}]
a, b = symbol("a"), symbol("b")
program = Program("p", (Input("v", (a, b)),), (vector("r", [scalar.sin(a * 0.1) + b / 3, b * a]),))
print(program.digest)
"""


def test_digest_is_the_same_in_every_process():
    """Hash randomisation and other symbols made before must not matter."""
    source = Path(__file__).resolve().parents[3] / "src"
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM_TEXT.format(noise=noise)],
            env={"PYTHONPATH": str(source), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for noise, seed in (("", "1"), ("bxa", "2"))
    }
    assert len(digests) == 1


def test_names_of_intermediate_results_belong_to_the_program():
    """The node that another program calls differently is the same one; a name goes to the first of its nodes there."""
    rates = (symbol("rate 1"), symbol("rate 2"))
    node = rates[0] * rates[1]
    program = Program("p", (Input("v", rates),), (vector("r", [node + 1]),))
    first = program.with_labels({"w_arm_z": [rates[0] + 5, node], "w_leg_z": [node], "none": [rates[1] / 7]})
    second = program.with_labels({"turn": [node]})
    assert first.labels == {node: "w_arm_z"} and second.labels == {node: "turn"} and program.labels == {}
    assert first == second == program
    prepare, rest = first.split(("v",))
    assert prepare.labels == rest.labels == first.labels


def test_a_program_travels():
    back = pickle.loads(pickle.dumps(PENDULUM))
    assert back == PENDULUM
    assert back.digest == PENDULUM.digest
    assert len(pickle.dumps(PENDULUM)) < 4000
