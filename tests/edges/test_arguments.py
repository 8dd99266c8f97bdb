"""Public functions called with what they cannot use: an error of the package that says so, never one of Python or NumPy."""

from __future__ import annotations

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest

import torseur as ts
from torseur.description import library
from torseur.edges.arguments import ArgumentError
from torseur.errors import TorseurError

FUNCTIONS = sorted(
    name for name in ts.__all__ if name != "__version__" and inspect.isfunction(getattr(ts, name)) and name != "symbol"
)
WRONG = {
    "None": None,
    "a number": 3,
    "text": "x",
    "a list": [],
    "a table": {},
    "NaN": float("nan"),
    "infinity": float("inf"),
    "an object": object(),
    "no numbers": np.zeros(0),
    "a matrix": np.full((2, 3), np.nan),
    "huge": 10**400,
    "bytes": b"\xff\x00",
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_are_said_by_name(name):
    """Every argument without a default is wrong in the same way, then there is one too many."""
    function = getattr(ts, name)
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    named = {p.name for p in parameters if p.default is p.empty and p.kind is p.KEYWORD_ONLY}
    for what, wrong in WRONG.items():
        try:
            function(*[wrong] * len(needed), **dict.fromkeys(named, wrong))
        except (TorseurError, OSError):
            continue
        except Exception as raw:
            raise AssertionError(f"{name}({what}) gives {type(raw).__name__}: {raw}") from raw
    with pytest.raises(TorseurError):
        function(*[None] * len(needed), no_such_argument=1)


FEWER = {"None": None, "text": "x", "a list": [], "an object": object(), "a matrix": np.full((2, 3), np.nan)}
OWNERS = ("", "algebra", "biomechanics", "identification", "intrinsic", "library", "vehicles")


def public(owner):
    """Functions and classes of a public folder, and the classes of the package itself."""
    room = getattr(ts, owner) if owner else ts
    values = {name: getattr(room, name) for name in room.__all__ if name not in ("Expr", "Guess", "__version__")}
    kinds = {n: v for n, v in values.items() if inspect.isclass(v) and not issubclass(v, Exception)}
    return kinds if not owner else kinds | {n: v for n, v in values.items() if callable(v) and not inspect.isclass(v)}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("owner", OWNERS)
def test_folders_and_classes_say_wrong_arguments_by_name(owner):
    raws = []
    for name, call in public(owner).items():
        parameters = [p for p in inspect.signature(call).parameters.values() if p.default is p.empty]
        needed = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        named = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY}
        wrongs = [([each] * len(needed), dict.fromkeys(named, each)) for each in FEWER.values() if parameters]
        for args, keywords in (*wrongs, ([1] * 40, {}), ([], {"no_such": 1})):
            try:
                call(*args, **keywords)
            except (TorseurError, OSError):
                continue
            except Exception as raw:
                raws.append(f"{name}({args[:1]}): {raw!r}")
    assert raws == []


@pytest.fixture(scope="module")
def equations():
    return ts.derive(library.load("double_pendulum"))


SIMULATE = [
    {"until": "1 s"}, {"until": np.nan}, {"until": None}, {"samples": "x"}, {"samples": -1}, {"samples": 10**15}, {"samples": [np.nan]},
    {"outputs": [3]}, {"outputs": 3}, {"events": [3]}, {"events": 7}, {"parameters": [1]}, {"parameters": {"m1": "x"}},
    {"parameters": {"m1": "5 m"}}, {"parameters": {"m1": np.nan}}, {"parameters": {"m1": -5}}, {"parameters": {1: 2}},
    {"initial": {"q1": np.inf}}, {"initial": {"q1": "5 kg"}}, {"initial": {"q1": object()}}, {"initial": 3},
    {"initial": {"q1": 10**400}}, {"rtol": "x"}, {"rtol": np.nan}, {"atol": "x"}, {"atol": {"q1": "x"}}, {"max_step": "x"},
    {"max_steps": "x"}, {"method": 3}, {"formulation": 3}, {"formulation": "loose"}, {"backend": 3}, {"laws": 3}, {"start": "x"}, {"start": np.inf},
]  # fmt: skip


@pytest.mark.parametrize("wrong", SIMULATE, ids=lambda wrong: re.sub(" at 0x[0-9a-f]+", "", str(wrong)))
def test_one_wrong_argument_of_a_simulation(equations, wrong):
    with pytest.raises(TorseurError) as told:
        ts.simulate(equations, **{"until": 1.0, **wrong})
    assert str(told.value)


def test_values_may_have_units(equations):
    plain = ts.simulate(equations, until=1, samples=3, parameters={"m1": 5.0}, initial={"q1": np.pi / 6})
    named = ts.simulate(equations, until=1, samples=3, parameters={"m1": "5000 g"}, initial={"q1": "30 deg"})
    assert np.allclose(plain.values, named.values, rtol=1e-12)
    with pytest.raises(TorseurError, match="parameter 'm1' is '5 m', a length: expected a mass"):
        ts.simulate(equations, until=1, parameters={"m1": "5 m"})


def test_numbers_that_are_none_are_named():
    loops = ts.derive(library.load("four_bar"))
    with pytest.raises(TorseurError, match="initial value of 'alpha' is nan"):
        ts.simulate(loops, until=1, initial={"alpha": np.nan})
    with pytest.raises(TorseurError, match="parameter 'a' is inf"):
        ts.simulate(loops, until=1, parameters={"a": np.inf})


CRANKS = """mechanism cranks ;
param l = 1 m ;
let a = body mass = 1 kg end ; let b = body mass = 1 kg end ;
join earth and a with revolute(q1) about [0, 0, 1] end ; join 0 + [2*l, 0, 0] @ earth and b with revolute(q2) about [0, 0, 1] end ;"""
MAP = (("q1", 0.0, 1.0), ("q2", 0.0, 1.0), ["q1", "q2"])
ONE_WRONG = {
    "'axis' is {.*expected Sequence": lambda e: ts.along({1, 2}),
    "'time' is None": lambda e: ts.first_order_filter("a", 1, None),
    "'unit' is .*half of a character": lambda e: ts.pade_delay("a", 1, 2, unit="m\ud800"),
    "'arguments' is .*half of a character": lambda e: ts.law("f", ["x", "\udfff"], lambda x, y: x + y),
    "'frequencies' is .*'x'": lambda e: ts.frequency_response(ts.linearise(e), "q1", "q1", ["x"]),
    "'frequencies' is .*3": lambda e: ts.frequency_response(ts.linearise(e), "q1", "q1", [[1, 2], [3]]),
    "'seed' is -1": lambda e: ts.loops(library.load("four_bar"), seed=-1),
    "alpha.* needs 960 PB": lambda e: ts.singularities_along(library.load("four_bar"), "alpha", 0, 1e15),
    "nodes.* -1": lambda e: ts.singular_map(ts.parse(CRANKS), *MAP, nodes=-1),
    "'nodes' is 1e.300": lambda e: ts.singular_map(ts.parse(CRANKS), *MAP, nodes=1e300),
    "1000000000000 by 1000000000000 poses needs": lambda e: ts.singular_map(ts.parse(CRANKS), *MAP, nodes=10**12),
    "starts = -1": lambda e: ts.assemble(library.load("four_bar"), starts=-1),
    "starts = 1000000000000000 needs": lambda e: ts.assemble(library.load("four_bar"), starts=10**15),
    "atol has 3 values.*4 states": lambda e: ts.simulate(e, until=1, atol=(1, 2, 3)),
    "unknown coordinate 'x'. Coordinates: q1": lambda e: e.mechanism.joints[0].coordinate("x"),
    "save: 'path' is None": lambda e: ts.simulate(e, until=1, samples=2).save(None),
    "then: 'other' is None": lambda e: ts.Transform(np.eye(3)).then(None),
    "Joint: missing a required argument: 'name'. Its arguments: name": lambda e: ts.Joint(),
    "find: 'name' is 3: expected str": lambda e: library.find(3),
    "about: 'angle' is 10.*none beyond all bounds": lambda e: ts.Transform.about([0, 0, 1], 10**400),
    "cos: 'x' is .*expected an array of numbers": lambda e: ts.cos(np.array([None, "x"], dtype=object)),
    "direction.* is array": lambda e: ts.Event("a", "q1", direction=np.zeros(3)),
    "Mechanism: 'bodies' is 3": lambda e: ts.Mechanism("m", bodies=3),
    "'bodies': mass of a Body is .1: 2.: expected Expr": lambda e: ts.Mechanism("m", bodies=[ts.Body("b", {1: 2})]),
    "frequencies.* nan": lambda e: ts.frequency_response(ts.linearise(e), "q1", "q1", [1.0, None]),
    "reflect.* axis.* 'x': expected 0, 1 or 2": lambda e: ts.reflect(e.mechanism, "x"),
    "expected a number or an expression of SymPy": lambda e: ts.algebra.normal_form("open('x')"),
    "no file has the character": lambda e: ts.load("a\0b.lsd"),
}


@pytest.mark.parametrize("said", ONE_WRONG)
def test_one_wrong_argument_or_method(equations, said):
    """What its neighbours hid when all arguments were wrong at once, and methods of values that users hold."""
    with pytest.raises(TorseurError, match=said):
        ONE_WRONG[said](equations)


FALLING = "let b = body sphere radius = 0.1 m, mass = 1 kg end ; join earth and b.frame with prismatic(x) end ;"


@pytest.mark.slow
def test_the_same_impact_twice_is_one():
    """Oracle: a ball at -1 m/s from 1 m rebounds at 1 s with half its speed and is at 1 m at 3 s."""
    ball = ts.derive(ts.parse(FALLING))
    for impacts in ([("a", 0.5)], [("a", 0.5), ("a", 0.5)], [("a", 0.5), ("b", 0.5)]):
        events = [ts.Impact(name, "x", restitution=e) for name, e in impacts]
        motion = ts.simulate(ball, until=3, samples=2, initial={"x": 1.0, "x'": -1.0}, events=events)
        assert motion.values[-1] == pytest.approx([1.0, 0.5], abs=1e-9)
    with pytest.raises(TorseurError, match="'a' and 'b' are of the same gap"):
        ts.simulate(ball, until=1, events=[ts.Impact("a", "x", restitution=0.5), ts.Impact("b", "x", restitution=0.7)])


def test_a_motion_of_no_length(equations):
    motion = ts.simulate(equations, until=0)
    assert motion.values.shape == (1, 4) and motion.time.tolist() == [0.0]


def test_functions_without_parameters_are_baked(equations):
    kernel = ts.compile(equations, ["rates"], baked={})
    assert kernel.parameters == ()


@pytest.mark.parametrize("name", ["four_bar", "double_pendulum"])
def test_a_dense_motion_is_pickled(name):
    motion = ts.simulate(ts.derive(library.load(name)), until=0.2, dense=True)
    read = pickle.loads(pickle.dumps(motion))
    assert np.array_equal(read.state_at(0.1), motion.state_at(0.1))


def test_generated_python_takes_time_as_a_number():
    text = FALLING.replace("prismatic(x) end", "prismatic(x) force = 2 N * sin(3 rad/s * t) end")
    (source,) = ts.generate(ts.derive(ts.parse(text)), "forward_dynamics", "python").values()
    namespace: dict = {}
    exec(source, namespace)
    x, v, tau = np.array([0.1]), np.array([0.2]), np.array([0.0])
    for t in (0.5, np.float64(0.5), np.array(0.5), np.array([0.5]), [0.5]):
        assert namespace["forward_dynamics"](t, x, v, tau) == pytest.approx([2 * np.sin(1.5)])
    lanes = namespace["forward_dynamics"](np.array([[0.5, 1.0]]), np.ones((1, 2)), np.ones((1, 2)), np.zeros((1, 2)))
    assert lanes[0] == pytest.approx([2 * np.sin(1.5), 2 * np.sin(3.0)])


def test_a_fault_of_ours_stays_what_it_is():
    """Arguments that fit are not blamed."""
    from torseur.edges.arguments import explain_arguments

    @explain_arguments
    def broken(x: float, y: str = "a") -> float:
        return {}[y]

    with pytest.raises(KeyError):
        broken(1.0)
    with pytest.raises(ArgumentError, match="'y' is 3: expected str"):
        broken(1.0, 3)
    with warnings.catch_warnings(), pytest.raises(ArgumentError, match="missing a required argument"):
        broken()


def test_misspelt_names_of_arguments_have_a_guess(tmp_path):
    """Robots pass their options on to the reader; a name that is missing because it is misspelt is told as misspelt."""
    model = library.load("pendulum")
    with pytest.raises(ArgumentError, match="simulate: unknown argument 'untl'.*Did you mean 'until'"):
        ts.simulate(model, untl=1.0)
    path = tmp_path / "arm.urdf"
    path.write_text("<robot name='arm'><link name='base'/></robot>", encoding="utf-8")
    for function in (ts.Robot, ts.load, ts.read_robot):
        with pytest.raises(TorseurError, match="'dampin'.*Did you mean 'damping'"):
            function(path, dampin=False)
