"""Every target gives the numbers of the graph: all operations, mechanisms, derivatives, tables, long functions."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from computation.codegen.targets.runners import RUNNERS, agree
from computation.codegen.test_targets import BINARY, STEPS, UNARY, long_chain
from torseur.algebra.graph import OPERATIONS, Input, Program, Table, dense_jacobian, matrix, symbol, vector
from torseur.algebra.graph import scalar as s
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.functions.function_requests import programs_of
from torseur.description import library

TARGETS = [name for name in RUNNERS]
Q = tuple(symbol(f"q{i}") for i in range(3))
P = tuple(symbol(f"p{i}") for i in range(2))


@pytest.fixture(params=TARGETS)
def target(request):
    return request.param


def points(groups, count, seed=0):
    """Values for every input; the same whatever target asks."""
    random = np.random.default_rng(seed)
    return [{group.name: random.uniform(-1.5, 1.5, len(group)).tolist() for group in groups} for _ in range(count)]


def test_every_operation(target, tmp_path):
    """Each operation of the table on inputs and on results of others."""
    x, y, z = Q
    entries = [f(x) for f in UNARY.values()] + [f(x + 0.25 * z) for f in UNARY.values()]
    entries += [f(y, P[0]) for f in BINARY.values()] + [f(x * z, y) for f in BINARY.values()]
    entries += [f(x, P[1]) for f in STEPS.values()]
    assert set(OPERATIONS) == {*UNARY, *BINARY, *STEPS}
    program = Program("operations", (Input("q", Q), Input("p", P)), (vector("r", entries),))
    module = Module("all of them", (program,), Input("p", P))
    agree(module, target, tmp_path, points([Input("q", Q), Input("p", P)], 6), 1e-13)


def test_values_that_do_not_exist_stay_so(target, tmp_path):
    """The square root of a negative number is not a number, and a branch that is not chosen does no harm."""
    x = Q[0]
    entries = [s.sqrt(x), s.log(x), s.asin(x * 4), s.acos(x * 4), s.power(x, 0.5), s.where(x < 0, -x, s.sqrt(x))]
    program = Program("roots", (Input("q", Q[:1]),), (vector("r", entries),))
    module = Module("m", (program,))
    ((found,),) = RUNNERS[target](module, tmp_path, [{"q": [-0.5]}])
    assert np.isnan(found[0][:5]).all()
    assert found[0][5] == 0.5


MECHANISMS = {
    "double_pendulum": "inverse_dynamics,forward_dynamics,mass_matrix,mass_matrix_triangle,bias,energies,"
    "inverse_dynamics/q,v,vdot,p,forward_dynamics/q,v,tau,forward_dynamics/q,v/q,v,inverse_dynamics/m1",
    "satellite": "inverse_dynamics,loads,inverse_dynamics/u,rates,frame:reflecteur",
    "four_bar": "mass_matrix,constraint_residuals,constraint_jacobian,constraint_gamma,constraint_residuals/q",
    "puma560": "forward_dynamics/q,v",
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms(name, target, tmp_path):
    equations = ts.derive(library.load(name))
    programs = programs_of(equations, MECHANISMS[name])
    module = Module(name, programs, Input("p", equations.layout.parameters))
    groups = {group.name: group for program in programs for group in program.inputs}
    agree(module, target, tmp_path, points(groups.values(), 2), 1e-11)


@pytest.mark.parametrize("degree", [3, 5])
def test_tables(degree, target, tmp_path):
    """Values and derivatives, inside, at a knot, and beyond the ends; one grid is even, one is not."""
    even = Table("even", tuple(np.linspace(-1, 1, 9)), tuple(np.sin(np.linspace(-1, 1, 9))), degree)
    uneven = Table("even", tuple(np.linspace(0, 1, 9) ** 2 - 0.5), tuple(np.cos(np.linspace(0, 3, 9))), degree)
    x, y = Q[:2]
    formulas = [even(x), uneven(y), even(x) * uneven(x * y)]
    slopes = dense_jacobian(formulas, [x, y])
    curvatures = dense_jacobian([entry for row in slopes for entry in row], [x, y])
    program = Program(
        "cam", (Input("q", (x, y)),), (vector("f", formulas), matrix("df", slopes), matrix("ddf", curvatures))
    )
    places = [[0.1, 0.2], [-1.0, 0.5], [-2.0, 3.0], [0.25, -0.5], [1.0, 0.499], [0.7, -0.6]]
    agree(Module("cam", (program,)), target, tmp_path, [{"q": place} for place in places], 1e-10)


def test_a_long_table(target, tmp_path):
    x = np.linspace(0.0, 1.0, 700)
    table = Table("long", tuple(x), tuple(np.sin(9 * x)))
    program = Program("f", (Input("q", Q[:1]),), (vector("y", [table(Q[0])]),))
    agree(Module("m", (program,)), target, tmp_path, [{"q": [0.123]}, {"q": [0.987]}], 1e-12)


def test_long_functions(target, tmp_path):
    """Functions that are cut into pieces in compiled languages."""
    program = long_chain(1500)
    module = Module("chain", (program,), program.input("r"))
    agree(module, target, tmp_path, [{"q": [0.4, -0.8], "r": [2.5]}], 1e-11)


def test_nothing_to_compute(target, tmp_path):
    """Results that are inputs, numbers, or empty."""
    x = Q[0]
    outputs = (vector("y", [x, 0, -1.5, ts.PI, 0]), vector("none", []), matrix("m", [[0, x], [1, 0]]))
    program = Program("copy", (Input("q", (x,)), Input("empty", ())), outputs)
    agree(Module("m", (program,)), target, tmp_path, [{"q": [0.3], "empty": []}], 1e-15)
