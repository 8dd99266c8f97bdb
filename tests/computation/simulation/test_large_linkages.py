"""Linkages with many loops: bodies and loops eliminated along the tree, against full matrices solved by NumPy."""

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.computation.functions.function_requests import programs_of
from torseur.computation.functions.many_constraints import ManyConstraints, constrained_system
from torseur.computation.functions.usual_rank import usual_rank
from torseur.computation.simulation.model.motion_programs import MechanismPrograms
from torseur.derivation.dynamics.constrained.elimination_order import is_long
from torseur.derivation.equations import equations as equations_module
from torseur.derivation.equations import motion_values
from torseur.description import library
from torseur.description.library.chains import four_bar_chain
from torseur.description.mechanism import TIME

GEAR_AND_DRIVER = "constrain 0 = a2 - 2*a3 + 0.4 as gear ;\nconstrain 0 = a5 - 1.45 + 1.5*sin(w*t) as driver ;"


def linkages(n, each=1, more=""):
    """n four-bars on a post that turns about an oblique axis, each carried by one before.

    With `each` of 2 couplers and rockers carry one each: a tree of loops.
    """
    lines = ["mechanism linkages ;", "param g = 9.81 m/s^2, m = 1 kg, w = 1 rad/s ;", "gravity = [0, 0.3*g, -g] ;"]
    lines.append("let post = body mass = 3 kg, centre = [0.1, 0, 0] m, inertia = diag(1, 2, 3) kg*m^2 end ;")
    lines.append(
        "join [0.3, -0.2, 0.5] ++ (0.7 || [1, 2, 3]) @ earth and post.frame with revolute(q0) about [1, 2, -1] end ;"
    )
    bases = ["post"]
    for k in range(1, n + 1):
        base = bases.pop(0)
        for name, length in (("crank", 0.5), ("rocker", 0.7), ("coupler", 1.0)):
            lines.append(f"let {name}{k} = body rod length = {length} m, mass = m along [1, 0, 0] end ;")
        hinges = (
            ("A", f"[0, 0, 0] ++ 1 @ {base}", f"crank{k}.frame", "a"),
            ("B", f"[0.9, 0.1, 0] ++ 1 @ {base}", f"rocker{k}.frame", "b"),
            ("C", f"[0.5, 0, 0] ++ 1 @ crank{k}", f"coupler{k}.frame", "c"),
            ("D", f"[1, 0, 0] ++ 1 @ coupler{k}", f"[0.7, 0, 0] ++ 1 @ rocker{k}", "d"),
        )
        for name, one, other, angle in hinges:
            lines.append(f"join {one} and {other} as {name}{k} with revolute({angle}{k}) about [0, 0, 1] end ;")
        lines.append(f"init a{k} = {1.2 + 0.05 * k}, b{k} about 1 ;")
        bases += [f"coupler{k}", f"rocker{k}"][:each]
    return ts.parse("\n".join([*lines, "init a1' = 0.4 ;", more]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "mechanism", [linkages(4), linkages(5, 2, GEAR_AND_DRIVER), four_bar_chain(6)], ids=["chain", "tree", "row"]
)
def test_solution_is_that_of_the_full_system(mechanism):
    """Oracle: [M Cᵀ; C 0] as numbers, solved by NumPy, at a state off the constraints."""
    equations = ts.derive(mechanism)
    layout, rng = equations.layout, np.random.default_rng(1)
    y = rng.uniform(-1, 1, len(layout.coordinates) + len(layout.speeds))
    p = rng.uniform(1, 2, len(layout.parameters))
    values = dict(zip((*layout.coordinates, *layout.speeds, *layout.parameters, TIME), (*y, *p, 0.3), strict=True))
    number = lambda rows: np.array([[float(x) for x in evaluate(list(row), values)] for row in rows])  # noqa: E731
    mass, rows = number(equations.mass_matrix), number([c.row for c in equations.constraints])
    n, m = len(mass), len(rows)
    force, gamma = rng.uniform(-1, 1, n), rng.uniform(-1, 1, m)
    programs = MechanismPrograms(equations).elimination
    state = {"t": [0.3], "y": y, "p": p, "sizes": np.ones(m), "least": [0.0]}
    factors = programs.eliminated.evaluate(state)["factors"]
    solution = programs.solved.evaluate({"factors": factors, "force": force, "gamma": gamma})
    expected = np.linalg.solve(np.block([[mass, rows.T], [rows, np.zeros((m, m))]]), [*force, *gamma])
    assert np.allclose([*solution["a"], *solution["l"]], expected, rtol=1e-9, atol=1e-9)
    rest = programs.unsolved.evaluate({"factors": factors, "force": force, "gamma": gamma, **solution})
    assert np.abs([*rest["force_left"], *rest["gamma_left"]]).max() < 1e-9


@pytest.mark.slow
def test_cost_grows_with_the_number_of_loops():
    """Operations per loop of a chain that hangs on one branch of the tree do not depend on its length."""
    counts = []
    for n in (8, 16, 32):
        equations = ts.derive(linkages(n))
        assert equations.is_sparse and not is_long(equations.regrouped_tree, *equations.rows_and_groups)
        elimination = MechanismPrograms(equations).elimination
        counts.append(len(elimination.eliminated.operations) + len(elimination.solved.operations))
    first, second = np.diff(counts) / (8, 16)
    assert second == pytest.approx(first, rel=0.02)


def test_rows_that_an_elimination_keeps_are_counted_as_the_rank():
    """Oracle: singular values of C at closed states; the gear is said twice."""
    twice = "constrain 0 = a2 - 2*a3 + 0.4 as gear ;\nconstrain 0 = 2*a2 - 4*a3 + 0.8 as again ;"
    equations = ts.derive(linkages(4, more=twice))
    kept = ManyConstraints(equations)._rows_in_force
    assert usual_rank(equations, kept) == usual_rank(equations) == len(kept) - 1


@pytest.mark.parametrize("is_massless", [True, False])
def test_joints_without_inertia_are_seen_one_by_one(is_massless):
    """Two hinges on one line: what lies between them turns with nothing, unless it has an inertia."""
    between = f"let ring = body mass = 0 kg, inertia = {0 if is_massless else 'diag(0, 0, 1e-6) kg*m^2'} end ;"
    hinges = """join earth and ring.frame as R with revolute(r) about [0, 0, 1] end ;
    join ring.frame and wheel.frame as W with revolute(s) about [0, 0, 1] end ;
    let wheel = body mass = 1 kg, centre = [1, 0, 0] m, inertia = diag(1, 1, 1) kg*m^2 end ;"""
    equations = ts.derive(linkages(8, more=between + hinges))
    assert isinstance(constrained_system(equations), ManyConstraints) != is_massless


@pytest.mark.slow
def test_motion_of_a_long_chain(monkeypatch):
    """Oracles: the motion by full matrices, and the energy."""
    with monkeypatch.context() as patch:
        patch.setattr(equations_module, "is_sparse", lambda tree, rows, groups: False)
        expected = ts.simulate(linkages(8), until=1, samples=11, rtol=1e-10)
    equations = ts.derive(linkages(8))
    assert equations.is_sparse
    motion = ts.simulate(equations, until=1, samples=11, rtol=1e-10, outputs=["energy"])
    assert np.ptp(motion["energy"]) < 1e-7
    for name in ("q0", "a1", "c4", "b8"):
        assert np.abs(motion[name] - expected[name]).max() < 1e-6


@pytest.mark.slow
def test_flat_passages_of_a_row_keep_energy():
    """All linkages of the row (IFToMM A02) are flat at the same times, where every loop loses a constraint."""
    motion = ts.simulate(four_bar_chain(10), until=3, samples=31, rtol=1e-9, outputs=["energy"])
    assert np.ptp(motion["energy"]) < 1e-5 and np.ptp(motion["a0"]) > 3


@pytest.mark.parametrize("name", ["bennett", "flat_parallelogram", "rolling_disc", "four_bar"])
def test_both_writings_of_generated_code_agree(monkeypatch, name):
    """Oracle: the writing with full matrices, along a motion; NaN where that one has it."""
    mechanism = library.load(name)
    programs = {}
    for is_sparse in (True, False):
        monkeypatch.setattr(equations_module, "is_sparse", lambda tree, rows, groups, given=is_sparse: given)
        equations = ts.derive(mechanism)
        (programs[is_sparse],) = programs_of(equations, ["constrained_forward_dynamics"])
    assert programs[True].digest != programs[False].digest
    motion, layout = ts.simulate(equations, until=0.2, samples=3, rtol=1e-10), equations.layout
    for k in range(3):
        given = {"q": [motion[n][k] for n in layout.coordinate_names], "v": [motion[n][k] for n in layout.speed_names]}
        given |= {"tau": [0.3] * len(layout.speeds), "p": list(motion_values(equations, {}).values()), "t": [0.1 * k]}
        arrays = {name: [np.array([x]) for x in numbers] for name, numbers in given.items()}  # NumPy has NaN
        with np.errstate(all="ignore"):
            values = [
                program.evaluate({g.name: arrays[g.name] for g in program.inputs}) for program in programs.values()
            ]
        for output in values[0]:
            ours, theirs = (np.array([np.squeeze(x) for x in value[output]]) for value in values)
            assert np.allclose(ours, theirs, rtol=1e-7, atol=1e-7, equal_nan=True), output
