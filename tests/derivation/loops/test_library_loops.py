"""The loop mechanisms of the library, as text: the published ranks and mobilities, in any unit of length, by any tree.

Oracle: values found by an independent program before this one was written; the closed forms named in the tests.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.algebra.graph import evaluate
from torseur.derivation.loops import assemble, constraint_equations, loops
from torseur.description import library

# freedoms, mobility by count, generic rank, rank where closed, infinitesimal and finite mobility
TABLE = {
    "four_bar": (4, -2, 3, 3, 1, 1),
    "flat_parallelogram": (4, -2, 3, 2, 2, 1),
    "stretched_four_bar": (4, -2, 3, 2, 2, 0),
    "parallelogram_with_bar": (6, -6, 6, 5, 1, 1),
    "bennett": (4, -2, 4, 3, 1, 1),
    "sarrus": (6, 0, 5, 5, 1, 1),
    "stewart_platform": (36, 6, 30, 30, 6, 6),
    "delta_robot": (21, -9, 21, 18, 3, 3),
    "antenna_mesh": (9, 3, 6, 5, 4, 3),
    "antenna_chain?n=1": (9, 3, 6, 5, 4, 3),
    "antenna_chain?n=2": (15, 3, 11, 10, 5, 4),
    "antenna_chain?n=4": (27, 3, 21, 20, 7, 6),
    "antenna_chain?n=8": (51, 3, 41, 40, 11, 10),
    "antenna_chain?n=12": (75, 3, 61, 60, 15, 14),
}
# infinitesimal and finite mobility of the others
OTHERS = {
    "simplest": (3, 3),
    "slider_crank": (1, 1),
    "saliere": (1, 1),
    "constant_velocity_joint": (1, 1),
    "bricard": (1, 1),
    "peaucellier": (1, 1),
    "jansen_leg": (1, 1),
}
SMALL = ("four_bar", "flat_parallelogram", "bennett", "saliere", "sarrus", "slider_crank")
SINGLE = [*(name for name in TABLE if "?" not in name), *OTHERS, "antenna_chain?n=2", "antenna_grid?width=2&height=2"]


def slow_unless_small(names):
    return [name if name in SMALL else pytest.param(name, marks=pytest.mark.slow) for name in names]


def told(found):
    return found.freedoms, found.count, found.generic_rank, found.rank, found.infinitesimal, found.finite


@pytest.mark.parametrize(
    "name", [n if n != "antenna_chain?n=12" else pytest.param(n, marks=pytest.mark.slow) for n in TABLE]
)
def test_text_gives_the_numbers_of_the_table(name):
    assert told(loops(library.load(name))) == TABLE[name]


@pytest.mark.parametrize("name", OTHERS)
def test_text_gives_the_known_mobility(name):
    found = loops(library.load(name))
    assert (found.infinitesimal, found.finite) == OTHERS[name]


def test_branches_of_the_fold_cross_where_it_lies_flat():
    """Oracle: closure cos a2 = cos a3, sin a1 sin a2 = 0, cos a1 sin a2 = sin a3."""
    found = loops(library.load("saliere"), {"a1": 0, "a2": 0, "a3": 0})
    assert (found.infinitesimal, found.finite, found.branches) == (2, 1, (1, 1))
    assert {frozenset(way.rates) & {"a1", "a2", "a3"} for way in found.ways} == {
        frozenset({"a1"}),
        frozenset({"a2", "a3"}),
    }


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 2), (3, 2)])
def test_grids_have_one_motion_per_post(width, height):
    """Oracle: posts stay upright; struts keep one common length and every post but the first has a height."""
    posts = (width + 1) * (height + 1)
    found = loops(library.load(f"antenna_grid?width={width}&height={height}"))
    assert (found.infinitesimal, found.finite) == (posts + 1, posts)


SCALED = [name for name in SINGLE if name != "stewart_platform"]  # its dimensions are numbers, not parameters


@pytest.mark.parametrize("name", slow_unless_small(SCALED))
@pytest.mark.parametrize("unit", [1e-6, pytest.param(1e-3, marks=pytest.mark.slow), 1e6])
def test_unit_of_length_plays_no_role(name, unit):
    mechanism = library.load(name)
    scaled = mechanism.with_values(**{p.name: p.value * unit for p in mechanism.parameters if is_length(p)})
    usual, other = loops(mechanism), loops(scaled)
    assert told(usual) == told(other)
    assert (usual.redundant, usual.branches) == (other.redundant, other.branches)


def is_length(parameter):
    from torseur.algebra.graph import symbols_of

    return parameter.si_unit == "m" and parameter.value is not None and not symbols_of([parameter.value])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["four_bar", "slider_crank", "parallelogram_with_bar", "bricard", "jansen_leg", "antenna_mesh"]
)
def test_choice_of_tree_plays_no_role(name):
    mechanism = library.load(name)
    usual = loops(mechanism)
    for joint in mechanism.joints:
        joints = [replace(j, role="loop" if j is joint else "auto") for j in mechanism.joints]
        other = loops(replace(mechanism, joints=tuple(joints)))
        assert joint.name in other.cut.closing
        assert told(other)[:2] + told(other)[3:] == told(usual)[:2] + told(usual)[3:]
        assert other.redundant == usual.redundant


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_unless_small(SINGLE))
def test_nineteen_of_twenty_random_starts_assemble(name):
    """Every coordinate of a start is random; what closes is checked by the symbolic closure equations."""
    mechanism, rng = library.load(name), np.random.default_rng(8)
    tree = ts.build_tree(mechanism)
    residuals = [e.residual for e in constraint_equations(tree) if e.is_holonomic]
    values = {p.symbol: p.value for p in mechanism.parameters}
    closed = 0
    for seed in range(20):
        rough = {q.name: rng.uniform(-np.pi, np.pi) if q.unit == "rad" else rng.uniform(-1, 1)
                 for joint in mechanism.joints for q in joint.coordinates}  # fmt: skip
        found = assemble(mechanism, rough, seed=seed, starts=6)
        if found.found:
            at = found.configurations[0].coordinates
            closed += is_closed(residuals, {q: at[q.name] for q in tree.layout.coordinates}, values)
    assert closed >= 19


def is_closed(residuals, at, values):
    from torseur.algebra.graph import substitute

    settled = substitute(substitute(residuals, values), values)  # some parameters follow from others
    return bool(np.allclose(np.array(evaluate(settled, at), float), 0, atol=1e-7))


def test_peaucellier_draws_a_straight_line():
    """Oracle: the far corner stays at x = (a² - c²) / (2 r) however the crank turns."""
    mechanism = library.load("peaucellier")
    a, c, r = 0.5, 0.25, 0.2
    for theta in (-0.6, -0.2, 0.3, 0.7):
        at = assemble(mechanism, {"theta": theta}, locked=["theta"]).configurations[0].coordinates
        far = a * np.cos(at["phi1"]) + c * np.cos(at["phi1"] + at["f1"])
        assert far == pytest.approx((a * a - c * c) / (2 * r), abs=1e-9)


def test_locked_legs_make_the_stewart_platform_rigid():
    legs = [f"s{k}" for k in range(1, 7)]
    found = loops(library.load("stewart_platform"), locked=legs)
    assert (found.infinitesimal, found.finite) == (0, 0)
    assert found.cut.constraints == tuple(f"{leg} held" for leg in legs)


def test_sarrus_table_stays_level():
    """Oracle: its table translates along z only, so all rows of Psi for it vanish but one."""
    found = loops(library.load("sarrus"))
    rows = np.asarray(found.partition.bodies).reshape(-1, 6, 1)[list(found.partition.body_names).index("table"), :, 0]
    assert np.allclose(rows[:5], 0, atol=1e-9)
    assert abs(rows[5]) > 0.1
