"""Study files: tolerances, operating points, integrators' tolerances, and mistakes in them."""

from __future__ import annotations

import numpy as np
import pytest

from torseur.analysis.studies import read_study, summarise, sweep
from torseur.errors import TorseurError

HEAD = 'mechanism = "library:mass_spring_damper"\nuntil = "1 s"\n'
TAIL = '\n[criteria]\nplace = "x"\n'


def study(folder, text, head=HEAD, tail=TAIL):
    path = folder / "s.toml"
    path.write_text(head + text + tail)
    return read_study(path)


def test_tolerances_are_distributions_about_nominal_values(tmp_path):
    found = study(
        tmp_path,
        '[tolerances]\nm = "3 %"\nk = { plus_minus = "0.002 N/mm", distribution = "uniform" }\n'
        'c = { plus_minus = "0.1 N*s/m", distribution = "triangular" }\n[values]\nm = "2 kg"\n[design]\nkind = "sobol"\ncount = 8\n',
    )
    shapes = {axis.name: (axis.shape, axis.numbers) for axis in found.axes}
    assert shapes["m"] == ("normal", pytest.approx((2.0, 0.02)))
    assert shapes["k"] == ("uniform", pytest.approx((38.0, 42.0)))
    assert shapes["c"] == ("triangular", pytest.approx((0.4, 0.5, 0.6)))


def test_operating_points_multiply_the_design(tmp_path):
    """Every design point at every operating point, the whole design at the first one first."""
    found = study(
        tmp_path,
        '[[operating_points]]\nname = "soft"\nk = "10 N/m"\n[[operating_points]]\nname = "hard"\nk = "90 N/m"\n'
        '[vary]\nm = { values = ["1 kg", "2 kg", "3 kg"] }\n',
    )
    assert found.size == 6
    assert found.points().tolist() == [[10, 1], [10, 2], [10, 3], [90, 1], [90, 2], [90, 3]]
    assert np.array_equal(found.points(2, 5), found.points()[2:5])
    swept = sweep(found)
    names = [spread.operating_point for spread in summarise(swept.store).spreads]
    assert names == ["soft", "hard"]
    data = swept.store.dataset()
    assert set(data.coords) == {"k", "m"} and data["k"].attrs["role"] == "operating point"
    m, k, c = data["m"].values, data["k"].values, 0.5
    w = np.sqrt(k / m - (c / (2 * m)) ** 2)
    expected = 0.1 * np.exp(-c / (2 * m)) * (np.cos(w) + c / (2 * m * w) * np.sin(w))
    assert np.allclose(data["place"], expected, atol=1e-8)


def test_parameters_are_ranked_by_influence_per_cost(tmp_path):
    """Oracle: differences of the closed form by 1 % of each parameter; costs turn the order."""
    more = (
        "[operating_points]\nc = { values = [0.3, 0.9] }\n[values]\nk = 40.0\nm = 2.0\n[initial]\nx = 0.1\n"
        "[costs]\nm = 50\n"
    )
    swept = sweep(study(tmp_path, more, HEAD + 'derivatives = ["m", "k"]\n'))

    def place(m: float, k: float, c: float) -> float:
        w = np.sqrt(k / m - (c / (2 * m)) ** 2)
        return float(0.1 * np.exp(-c / (2 * m)) * (np.cos(w) + c / (2 * m * w) * np.sin(w)))

    h, base = 1e-4, {"m": 2.0, "k": 40.0}
    for rank in summarise(swept.store).ranking:
        up, down = ({**base, rank.parameter: base[rank.parameter] * (1 + s * h)} for s in (1, -1))
        each = [abs(place(**up, c=c) - place(**down, c=c)) / (2 * h) * 0.01 for c in (0.3, 0.9)]
        assert rank.change == pytest.approx(np.sqrt(np.mean(np.square(each))), rel=1e-5)
        assert rank.largest == pytest.approx(max(each), rel=1e-5)
        assert rank.merit == pytest.approx(rank.change / {"m": 50, "k": 1}[rank.parameter])
    assert [(r.parameter, r.first) for r in summarise(swept.store).ranking] == [("k", 1.0), ("m", 0.0)]


def test_tolerances_of_the_integrator_count(tmp_path):
    """Loose absolute tolerances and long steps give other numbers than tight ones, and each is near the closed form."""
    axis = '[vary]\nm = { values = ["1 kg"] }\n'
    tight = sweep(study(tmp_path, axis, HEAD + "rtol = 1e-12\n"), tmp_path / "a.zarr").store.dataset()["place"].item()
    loose = study(tmp_path, axis, HEAD + 'rtol = 1e-3\natol = { x = "1 mm", "x\'" = "0.01 m/s" }\nmax_step = "1 s"\n')
    found = sweep(loose, tmp_path / "b.zarr").store.dataset()["place"].item()
    short = study(tmp_path, axis, HEAD + 'rtol = 1e-3\natol = 1e-3\nmax_step = "1 ms"\n')
    stepped = sweep(short, tmp_path / "c.zarr").store.dataset()["place"].item()
    c, k = 0.5, 40.0
    w = np.sqrt(k - c**2 / 4)
    exact = 0.1 * np.exp(-c / 2) * (np.cos(w) + c / (2 * w) * np.sin(w))
    assert abs(tight - exact) < 1e-11 and abs(stepped - exact) < 1e-10
    assert 1e-9 < abs(found - exact) < 1e-3


MISTAKES = {
    "percent": ('[tolerances]\nm = "x %"\n', "expected a number"),
    "no width": ("[tolerances]\nm = { distribution = 'normal' }\n", "'plus_minus' is missing"),
    "zero": ('[tolerances]\nm = "0 kg"\n', "expected more than zero"),
    "unit": ('[tolerances]\nm = "1 mm"\n', "expected a mass"),
    "distribution": ('[tolerances]\nm = { plus_minus = "1 g", distribution = "norml" }\n', "Did you mean 'normal'"),
    "deviations": (
        '[tolerances]\nm = { plus_minus = "1 g", distribution = "uniform", deviations = 2 }\n',
        "only a normal",
    ),
    "twice": ('[tolerances]\nm = "1 g"\n[vary]\nm = { values = [1] }\n', "varies twice"),
    "start": ("[tolerances]\n\"x(0)\" = '1 mm'\n", "has no value"),
    "operating": ("[operating_points]\nk = { from = 1, to = 2 }\n", "expected from, to and count"),
    "operating name": ("[operating_points]\nkk = { values = [1] }\n", "unknown parameter 'kk'"),
    "operating list": ("[[operating_points]]\nk = 1\n", "expected a name and values"),
    "operating keys": (
        "[[operating_points]]\nname = 'a'\nk = 1\n[[operating_points]]\nname = 'b'\nm = 1\n",
        "expected values of k",
    ),
    "same name": (
        "[[operating_points]]\nname = 'a'\nk = 1\n[[operating_points]]\nname = 'a'\nk = 2\n",
        "the same name",
    ),
    "atol": ("atol = { y = 1 }\n[vary]\nm = { values = [1] }\n", "unknown name 'y'"),
    "atol unit": ("atol = { x = '1 kg' }\n[vary]\nm = { values = [1] }\n", "expected a length"),
    "step": ("max_step = '-1 s'\n[vary]\nm = { values = [1] }\n", "expected a positive time"),
    "integrator": ("integrator = 'radau'\n[vary]\nm = { values = [1] }\n", "unknown integrator 'radau'"),
    "costs": (
        'derivatives = ["m"]\n[vary]\nk = { values = [1] }\n[costs]\nm = -2\n',
        "the cost of 'm' must be positive",
    ),
    "derivatives": ("derivatives = 'm'\n[vary]\nm = { values = [1] }\n", "expected a list of parameters"),
    "samples": ("samples = 5\n[vary]\nm = { values = [1] }\n", r"no \[outputs\]"),
    "times": ("samples = [0, 3]\noutputs = { a = 'x' }\n[vary]\nm = { values = [1] }\n", "rising times from 0 to 1 s"),
    "output": ("outputs = { a = { maximum = 'x' } }\n[vary]\nm = { values = [1] }\n", "expected a formula"),
    "label": ("outputs = { m = 'x' }\n[vary]\nm = { values = [1] }\n", "'m' already varies"),
    "backend": ("backend = 'gpu'\n[vary]\nm = { values = [1] }\n", "unknown backend 'gpu'"),
    "count": ("[vary]\nm = { uniform = [1, 2] }\n[design]\nkind = 'sobol'\ncount = 2.5\n", "expected a whole number"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, tmp_path):
    text, words = MISTAKES[case]
    with pytest.raises(TorseurError, match=words):
        study(tmp_path, text)
    with pytest.raises(TorseurError, match=r"s\.toml"):
        study(tmp_path, text)


def test_an_unknown_name_in_derivatives(tmp_path):
    with pytest.raises(TorseurError, match="unknown parameter 'mm'"):
        sweep(study(tmp_path, "derivatives = ['mm']\n[vary]\nm = { values = [1] }\n"))
