"""Response surfaces and what a sample says: closed forms, coverage of intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from torseur.analysis.studies import sweep
from torseur.analysis.studies.definition.axes import Axis
from torseur.analysis.studies.definition.design import Design
from torseur.analysis.studies.sweeps.response_surface import interpolate, leading_axes, quadratic, response_surface
from torseur.analysis.studies.sweeps.sweep_summary import sobol_errors, sobol_indices, spread_of, wilson
from torseur.errors import TorseurError


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=6, max_size=6))
def test_a_quadratic_is_found_exactly(c):
    points = Design("sobol", 32, 3).points(
        [Axis("a", "1", "uniform", (2.0, 5.0)), Axis("b", "1", "uniform", (-1.0, 0.5))]
    )
    f = lambda x: c[0] + x @ c[1:3] + c[3] * x[:, 0] ** 2 + c[4] * x[:, 0] * x[:, 1] + c[5] * x[:, 1] ** 2  # noqa: E731
    surface = quadratic("f", ["a", "b"], points, f(points))
    elsewhere = np.array([[3.3, 0.1], [4.9, -0.9]])
    assert np.allclose(surface(elsewhere), f(elsewhere), atol=1e-8) and surface.error < 1e-8


def test_the_error_of_a_quadratic_is_that_of_points_left_out():
    """Oracle: fitting anew without each point."""
    random = np.random.default_rng(1)
    points = random.uniform(size=(25, 2))
    values = np.sin(3 * points[:, 0]) + points[:, 1] ** 3
    missed = []
    for k in range(25):
        rest = np.arange(25) != k
        missed.append(values[k] - quadratic("f", ["a", "b"], points[rest], values[rest])(points[k])[0])
    assert quadratic("f", ["a", "b"], points, values).error == pytest.approx(
        np.sqrt(np.mean(np.square(missed))), rel=1e-6
    )
    with pytest.raises(TorseurError, match="has 6 coefficients and needs more points"):
        quadratic("f", ["a", "b"], points[:6], values[:6])


def test_an_interpolation_says_an_error_that_it_keeps():
    axes = [
        Axis("a", "1", "values", tuple(np.linspace(0, 2, 9))),
        Axis("b", "1", "values", tuple(np.linspace(0, 1, 9))),
    ]
    points = Design().points(axes)
    f = lambda x: np.sin(2 * x[:, 0]) * np.exp(x[:, 1])  # noqa: E731
    surface = interpolate("f", axes, f(points))
    between = np.random.default_rng(2).uniform(size=(500, 2)) * [2, 1]
    real = np.sqrt(np.mean((surface(between) - f(between)) ** 2))
    assert 0 < real < surface.error < 0.05 and leading_axes(surface) == [0, 1]


def test_surfaces_of_a_store(tmp_path):
    """m x'' = 0: the place after 2 s is x0 + 2 v0."""
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = 2\n[values]\nk = 0\nc = 0\n[vary]\n'
        '"x(0)" = { from = 0, to = 1, count = 5 }\n"x\'(0)" = { from = 0, to = 1, count = 4 }\n[criteria]\nplace = "x"\n'
    )
    store = sweep(path).store
    for kind in ("auto", "quadratic"):
        surface = response_surface(store, "place", kind=kind)
        assert surface(np.array([[0.3, 0.7]])) == pytest.approx([1.7], abs=1e-8)
    with pytest.raises(TorseurError, match="Did you mean 'place'"):
        response_surface(store, "plce")


def test_intervals_hold_what_they_promise():
    """Of 300 samples of a normal distribution about 95 % have the truth within their intervals."""
    random, held = np.random.default_rng(5), np.zeros(3)
    for _ in range(300):
        found = spread_of("x", "1", random.normal(3.0, 2.0, 200))
        low, high = found.deviation_interval
        first, last = found.quantile_intervals[1]
        held += [abs(found.mean - 3.0) < found.error, low < 2.0 < high, first < 3.0 < last]
    assert np.all(held / 300 > 0.91)
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)  # Wilson's interval, as tables have it


def test_intervals_of_sobol_indices():
    """f = x1 + 2 x2: indices 1/5 and 4/5, within their intervals and close to them."""
    axes = [Axis(name, "1", "uniform", (0.0, 1.0)) for name in "ab"]
    points = Design("saltelli", 1024, 2).points(axes)
    values = 100.0 + points @ [1.0, 2.0]
    for index, error, truth in zip(sobol_indices(values, 2), sobol_errors(values, 2), (0.2, 0.8), strict=True):
        assert index == pytest.approx((truth, truth), abs=0.02) and all(0 < e < 0.12 for e in error)


@pytest.mark.parametrize("kind", ["grid", "random", "sobol", "saltelli", "latin_hypercube", "morris"])
def test_any_range_of_a_design_is_part_of_the_whole(kind):
    shape = "values" if kind == "grid" else "uniform"
    axes = [Axis(name, "1", shape, (0.0, 0.4, 1.0) if kind == "grid" else (0.0, 1.0)) for name in "abc"]
    design = Design(kind, 0 if kind == "grid" else 6, 3)
    whole = design.points(axes)
    assert len(whole) == design.size(axes)
    for start, stop in ((0, 5), (4, 11), (5, 6)):
        stop = min(stop, len(whole))
        assert np.array_equal(design.points(axes, start, stop), whole[start:stop])


def test_equal_values_do_not_deviate():
    """The mean of equal decimals is rounded; their deviation is zero nonetheless."""
    assert spread_of("x", "1", np.full(42, 0.6)).deviation == 0.0
