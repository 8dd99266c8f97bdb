"""Functions and derivatives by request: how requests are read, and that derivatives are derivatives."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

import torseur as ts
from torseur.computation.functions.function_requests import programs_of, read_request, split_requests
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError


@pytest.fixture(scope="module")
def equations():
    return {
        name: ts.derive(library.load(name)) for name in ("double_pendulum", "four_bar", "satellite", "spinning_top")
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mass_matrix", ["mass_matrix"]),
        ("mass_matrix, bias", ["mass_matrix", "bias"]),
        ("bias/q,v", ["bias/q,v"]),
        ("inverse_dynamics/q,v,mass_matrix/q/q,bias", ["inverse_dynamics/q,v", "mass_matrix/q/q", "bias"]),
        ("forward_dynamics/q,v/q,tau,frame:arm/q", ["forward_dynamics/q,v/q,tau", "frame:arm/q"]),
        ("", []),
    ],
)
def test_lists_of_requests(text, found):
    assert split_requests(text) == found


def test_one_text_is_read_as_in_commands(equations):
    for text, listed in (("mass_matrix", ["mass_matrix"]), ("mass_matrix, bias/q,v", ["mass_matrix", "bias/q,v"])):
        one, other = (ts.compile(equations["double_pendulum"], functions) for functions in (text, listed))
        assert [output.name for output in one.program.outputs] == [output.name for output in other.program.outputs]


def test_names_say_what_is_differentiated(equations):
    programs = programs_of(equations["double_pendulum"], "inverse_dynamics/q,v,bias/q/v,mass_matrix/m1")
    assert [p.name for p in programs] == ["inverse_dynamics_by_q_v", "bias_by_q_by_v", "mass_matrix_by_m1"]
    shapes = [{o.name: o.shape for o in p.outputs} for p in programs]
    assert shapes == [
        {"dtau_dq": (2, 2), "dtau_dv": (2, 2)},
        {"d2bias_dq_dv": (2, 2, 2)},
        {"dmass_matrix_dm1": (2, 2)},
    ]


def test_interface_does_not_depend_on_the_mechanism():
    """A pendulum's inverse dynamics does not depend on its speed, but takes it."""
    (program,) = programs_of(ts.derive(library.load("pendulum")), ["inverse_dynamics"])
    assert [group.name for group in program.inputs] == ["q", "v", "vdot", "p"]


DRIVEN = """param m = 2 kg ;
let block = body mass = m, centre = [0, 0, 0], inertia = diag(1 kg*m^2, 1 kg*m^2, 1 kg*m^2) end ;
join earth and block.frame with prismatic(x) force = push(t) end ;
law push(t) in N ;"""

# Each request's derivative is compared with differences of the plain function in 40 digits.
DERIVATIVES = {
    "double_pendulum": ["inverse_dynamics/q,v,vdot,p", "forward_dynamics/q,v,tau,p", "energies/q,v", "mass_matrix/l2",
                        "frame:blade/q"],
    "four_bar": ["constraint_residuals/q", "constraint_gamma/q,v", "bias/p"],
    "spinning_top": ["inverse_dynamics/q,v,vdot", "forward_dynamics/q,v,tau", "rates/q"],
}  # fmt: skip


def numbers(program, seed=0):
    random = np.random.default_rng(seed)
    return {g.name: [mpmath.mpf(x) for x in random.uniform(0.3, 1.2, len(g)).tolist()] for g in program.inputs}


def difference(program, values, group, j, step):
    """Central difference of all outputs."""
    sides = []
    for sign in (1, -1):
        moved = {name: list(entries) for name, entries in values.items()}
        moved[group][j] += sign * step
        sides.append([x for output in program.evaluate(moved).values() for x in output])
    return [(a - b) / (2 * step) for a, b in zip(*sides, strict=True)]


@pytest.mark.parametrize(("name", "request_text"), [(n, r) for n, texts in DERIVATIVES.items() for r in texts])
def test_first_derivatives(name, request_text, equations):
    function, _, by = request_text.partition("/")
    plain, derived = programs_of(equations[name], [function, request_text])
    with mpmath.workdps(40):
        values = numbers(derived)
        found = derived.evaluate(values)
        entries = {str(p.name): j for j, p in enumerate(equations[name].layout.parameters)}
        outputs = iter(derived.outputs)
        for word in by.split(","):
            group, places = ("p", [entries[word]]) if word in entries else (word, range(len(values[word])))
            columns = [difference(plain, values, group, j, mpmath.mpf(10) ** -12) for j in places]
            ours = [x for _ in plain.outputs for x in found[next(outputs).name]]
            theirs = [column[i] for i in range(len(columns[0])) for column in columns]
            assert max(abs(a - b) / (1 + abs(b)) for a, b in zip(ours, theirs, strict=True)) < 1e-18


@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
@pytest.mark.parametrize("pair", ["q/q", "q/v", "v/v", "q/p", "m1/q"])
def test_second_derivatives(function, pair, equations):
    """Oracle: differences of the first derivatives, which have their own test."""
    first, second = pair.split("/")
    once, twice = programs_of(equations["double_pendulum"], [f"{function}/{first}", f"{function}/{pair}"])
    with mpmath.workdps(40):
        values = numbers(twice)
        ours = [x for output in twice.evaluate(values).values() for x in output]
        columns = [difference(once, values, second, j, mpmath.mpf(10) ** -12) for j in range(len(values[second]))]
        theirs = [column[i] for i in range(len(columns[0])) for column in columns]
        assert max(abs(a - b) / (1 + abs(b)) for a, b in zip(ours, theirs, strict=True)) < 1e-18


def test_motion_of_a_frame(equations):
    """Oracle: its velocity is the Jacobian times the speeds, its acceleration the rate of the velocity."""
    place, motion = programs_of(equations["double_pendulum"], "frame:blade,motion:blade")
    assert [group.name for group in motion.inputs] == ["q", "v", "vdot", "p"]
    with mpmath.workdps(40):
        values = numbers(motion)
        jacobian = place.evaluate({"q": values["q"], "p": values["p"]})["blade.jacobian"]
        found = motion.evaluate(values)
        product = [sum(jacobian[2 * i + j] * values["v"][j] for j in range(2)) for i in range(6)]
        assert max(abs(a - b) for a, b in zip(found["blade.velocity"], product, strict=True)) < 1e-30
        step, sides = mpmath.mpf(10) ** -12, []
        for h in (step, -step):
            v = [x + h * a for x, a in zip(values["v"], values["vdot"], strict=True)]
            q = [x + h * s + h * h / 2 * a for x, s, a in zip(values["q"], values["v"], values["vdot"], strict=True)]
            sides.append(motion.evaluate({**values, "q": q, "v": v})["blade.velocity"])
        rates = [(a - b) / (2 * step) for a, b in zip(*sides, strict=True)]
        assert max(abs(a - b) for a, b in zip(found["blade.acceleration"], rates, strict=True)) < 1e-18


def test_several_second_derivatives_come_once(equations):
    (program,) = programs_of(equations["double_pendulum"], ["inverse_dynamics/q,v/q,v"])
    assert [o.name for o in program.outputs] == ["d2tau_dq_dq", "d2tau_dq_dv", "d2tau_dv_dv"]


def test_triangle_of_the_mass_matrix(equations):
    full, triangle = programs_of(equations["double_pendulum"], "mass_matrix,mass_matrix_triangle")
    (matrix,), (entries,) = full.outputs, triangle.outputs
    assert entries.entries == (matrix.entries[0], matrix.entries[2], matrix.entries[3])


def test_undetermined_functions_are_inputs_with_their_derivatives(equations):
    plain, derived = programs_of(equations["satellite"], "loads,loads/q")
    u, more = plain.input("u").nodes, derived.input("u").nodes
    assert more[: len(u)] == u
    assert all(any(node.data.orders) for node in more[len(u) :]) and len(more) > len(u)


def test_derivative_by_an_undetermined_function():
    """Oracle: by hand. A block of mass m on a rail under the force f: x'' = f / m."""
    block = ts.derive(ts.parse(DRIVEN))
    (by_hand,) = programs_of(block, ["forward_dynamics/push"])
    assert by_hand.evaluate({"q": [0.3], "v": [0.1], "tau": [0.0], "p": [2.5]})["dvdot_dpush"] == [1 / 2.5]


MISTAKES = {
    "inverse_dynamic": "Did you mean 'inverse_dynamics'",
    "mass_matrix/w": "unknown input 'w'",
    "bias/q,q": "Second derivatives read bias/q/q",
    "bias/q/q/q": "up to order 2",
    "frame:blad": "Did you mean 'blade'",
    "constraint_residuals": "has no loops and no constraints",
    "bias/u": "has no u",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_named(text, equations):
    with pytest.raises(TorseurError, match=MISTAKES[text]):
        programs_of(equations["double_pendulum"], [text])


def test_closed_loops_have_no_formula_for_accelerations(equations):
    with pytest.raises(UnsupportedError, match="no formula for mechanism 'four_bar'"):
        programs_of(equations["four_bar"], ["forward_dynamics/q"])


def test_a_frame_may_have_any_name(equations):
    assert read_request(equations["double_pendulum"], "frame:blade/q,v").function == "frame:blade"


def test_derivatives_are_compiled_by_request():
    """Oracle: central differences of the compiled function itself."""
    equations = ts.derive(library.load("double_pendulum"))
    plain, slopes = ts.compile(equations, ["forward_dynamics"]), ts.compile(equations, ["forward_dynamics/q,v"])
    q, v, tau, p = np.array([0.3, -0.7]), np.array([0.2, 0.5]), np.zeros(2), np.array([9.81, 4.0, 2.0, 5.0, 2.0])
    found = slopes(q, v, tau, p)
    for name, x in (("dvdot_dq", q), ("dvdot_dv", v)):
        for j in range(2):
            step = 1e-6 * np.eye(2)[j]
            ends = [plain(*(y + sign * step if y is x else y for y in (q, v)), tau, p)["vdot"] for sign in (1, -1)]
            assert np.allclose(found[name][:, j], (ends[0] - ends[1]) / 2e-6, rtol=1e-7, atol=1e-8)
    several = ts.compile(equations, ["forward_dynamics", "forward_dynamics/q"])
    assert set(several(q, v, tau, p)) == {"vdot", "dvdot_dq"}
