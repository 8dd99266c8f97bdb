"""Motions compiled together: the same numbers as one by one, derivatives and outputs against closed forms."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.analysis.sensitivity.extended_loop import routine_of
from torseur.analysis.studies import read_study, sweep
from torseur.analysis.studies.batch import Batch
from torseur.analysis.studies.batch.batch_programs import widen
from torseur.analysis.studies.batch.lanes import EIGHT, lane_motions
from torseur.analysis.studies.sweeps.evaluation import Evaluator
from torseur.analysis.studies.sweeps.worker_pool import Pool

OSCILLATOR = """
mechanism = "library:mass_spring_damper"
until = "2 s"
rtol = 1e-11
{more}

[vary]
m = {{ from = "0.5 kg", to = "2 kg", count = 4 }}
"x(0)" = {{ from = "5 cm", to = "20 cm", count = 3 }}

[criteria]
{criteria}
"""
CRITERIA = """
x = "x"
sum = { integral = "x" }
lowest = { minimum = "x" }
crossing = { event_time = "x", direction = -1 }
speed = { event = "x'", when = "x", direction = -1 }
"""


def evaluator(folder, more="", criteria=CRITERIA):
    path = folder / "s.toml"
    path.write_text(OSCILLATOR.format(more=more, criteria=criteria))
    return Evaluator(read_study(path))


def displacement(m, x0, t, k=40.0, c=0.5):
    d = c / (2 * m)
    w = np.sqrt(k / m - d**2)
    return x0 * np.exp(-d * t) * (np.cos(w * t) + d / w * np.sin(w * t))


def crossing(m, k=40.0, c=0.5):
    d = c / (2 * m)
    w = np.sqrt(k / m - d**2)
    return (np.pi - np.arctan2(w, d)) / w


def difference(function, x, step=1e-4):
    """Central difference of fourth order."""
    near, far = function(x + step) - function(x - step), function(x + 2 * step) - function(x - 2 * step)
    return (8 * near - far) / (12 * step)


def test_derivatives_against_closed_forms(tmp_path):
    """Oracle: differences of the closed form of the damped oscillator."""
    found = evaluator(tmp_path, 'derivatives = ["m", "x(0)"]')
    assert not found.reason
    points, labels = found.study.points(), [column.label for column in found.columns]
    results = found(points)
    assert not results.failures
    values = dict(zip(labels, results.values.T, strict=True))
    for row, (m, x0) in enumerate(points):
        assert values["x by m"][row] == pytest.approx(difference(lambda m, x=x0: displacement(m, x, 2.0), m), abs=1e-8)
        assert values["x by x(0)"][row] == pytest.approx(displacement(m, 1.0, 2.0), abs=1e-8)
        assert values["crossing"][row] == pytest.approx(crossing(m), abs=1e-9)
        assert values["crossing by m"][row] == pytest.approx(difference(crossing, m), abs=1e-8)
        at_crossing = lambda m, x=x0: difference(lambda t: displacement(m, x, t), crossing(m), 1e-3)  # noqa: E731
        assert values["speed by m"][row] == pytest.approx(difference(at_crossing, m, 1e-3), abs=1e-6)
    units = {column.label: column.unit for column in found.columns}
    assert units["x by m"] == "m/kg" and units["crossing by x(0)"] == "s/m"


def test_together_and_one_by_one_agree(tmp_path):
    """Two roads to the same criteria, derivatives and outputs."""
    more = 'derivatives = ["k"]\noutputs = { v = "x\'" }\nsamples = [0.0, 0.5, 1.7]'
    found = evaluator(tmp_path, more, CRITERIA.replace("speed", "#"))
    points = found.study.points()
    together = found(points)
    for row, point in enumerate(points):
        values, outputs = found.single(point)
        assert np.allclose(values, together.values[row], rtol=1e-9, atol=1e-12)
        assert np.allclose(outputs, together.outputs[row], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("backend", ["python", "llvm", "c"])
def test_every_backend(backend, tmp_path):
    if backend == "c":
        needs_compiler()
    found = evaluator(tmp_path)
    whole = found.batch
    batch = Batch(whole.starts, whole.criteria, whole.until, whole.outputs, whole.times, backend)
    points = found.study.points(0, 3)
    assert np.allclose(batch(points).values, found(points).values, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_outputs_at_samples(tmp_path):
    found = evaluator(tmp_path, 'outputs = { place = "x" }\nsamples = 21')
    data = sweep(found.study, tmp_path / "s.zarr").store.dataset()
    assert data["place"].dims == ("point", "time") and data["time"].attrs["units"] == "s"
    expected = displacement(data["m"].values[:, None], data["x(0)"].values[:, None], data["time"].values)
    assert np.allclose(data["place"], expected, atol=1e-9)


def test_an_event_that_does_not_happen_says_so(tmp_path):
    found = evaluator(tmp_path, criteria='late = { event_time = "x", occurrence = 40 }')
    results = found(found.study.points(0, 2))
    assert "the event happens only" in results.failures[0] and np.isnan(results.values).all()


def test_initial_values_that_follow_from_parameters(tmp_path):
    """A mechanism whose own initial values are formulas: y0 = l sin(a) for every point."""
    (tmp_path / "slide.lsd").write_text(
        "mechanism slide ;\nparam m = 1 kg, l = 2 m, k = 0 N/m ;\n"
        "let block = body mass = m, centre = 0, inertia = 0 end ;\n"
        "join earth and block.frame as rail with prismatic(s) along [1, 0, 0] stiffness = k end ;\n"
        "init s = l^2/(1 m), s' = 3 m/s ;\n"
    )
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "slide.lsd"\nuntil = 2\nderivatives = ["l"]\n[vary]\nl = { values = [1, 2, 3] }\n[criteria]\nplace = "s"\n'
    )
    found = Evaluator(read_study(path))
    results = found(found.study.points())
    assert np.allclose(results.values, [[7, 2], [10, 4], [15, 6]], atol=1e-9)


def test_speeds_that_constraints_complete(tmp_path):
    """Derivatives of starts whose speeds follow from constraints and masses, against differences of motions."""
    (tmp_path / "bead.lsd").write_text(
        "mechanism bead ; param L = 1 m ;\nlet bead = body mass = 2 kg, centre = [0, 0, 0], inertia = 0 end ;\n"
        "join earth and bead.frame as free with link(x, y, z) dof1 = [x, y, z] end ;\n"
        "constrain distance earth to bead = L ;\n"
        "init x = 0.3 m, y = 0.4 m, z = sqrt(L^2 - 0.25 m^2), x' = 1 m/s ;\n"
    )
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "bead.lsd"\nuntil = 0.5\nrtol = 1e-11\nderivatives = ["L"]\n[vary]\nL = { values = [1, 1.2] }\n'
        '[criteria]\nplace = "y"\n'
    )
    found, mechanism = Evaluator(read_study(path)), ts.load(tmp_path / "bead.lsd")

    def y(length):
        return ts.simulate(mechanism, until=0.5, samples=2, rtol=1e-13, parameters={"L": length})["y"][-1]

    expected = [[y(length), difference(y, length, 1e-3)] for length in (1.0, 1.2)]
    assert np.allclose(found(found.study.points()).values, expected, rtol=1e-7)


def test_a_stiff_motion_is_left_to_the_implicit_method(tmp_path):
    """x'' = -k x - c x' with c so large that explicit steps are tiny: x ~ x0 exp(-k t / c)."""
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = 2\nrtol = 1e-7\n[values]\nc = 1e6\n[vary]\n'
        'k = { values = [1e5, 2e5] }\n[criteria]\nx = "x"\nsum = { integral = "x" }\n'
    )
    found = Evaluator(read_study(path))
    results = found(found.study.points())
    assert not results.failures and found.leaves_many and "stiff" in Pool(found).words
    rate = np.array([1e5, 2e5]) / 1e6
    assert np.allclose(results.values[:, 0], 0.1 * np.exp(-2 * rate), rtol=1e-5)
    assert np.allclose(results.values[:, 1], 0.1 * (1 - np.exp(-2 * rate)) / rate, rtol=1e-4)
    path.write_text('integrator = "radau5"\nderivatives = ["k"]\n' + path.read_text())
    asked = Evaluator(read_study(path))
    again = asked(asked.study.points()).values
    assert "radau5 is asked for" in asked.reason
    assert np.allclose(again[:, :2], results.values, rtol=1e-4)
    assert np.allclose(again[:, 2], -2e-6 * results.values[:, 0], rtol=1e-4)


def needs_compiler():
    if not any(map(shutil.which, (os.environ.get("CC") or "cc", "gcc", "clang"))):
        pytest.skip("there is no C compiler")


def in_lanes(folder, text="", backend="c"):
    """A batch with eight motions side by side."""
    path = folder / "lanes.toml"
    path.write_text(
        f'mechanism = "library:double_pendulum"\nuntil = "2 s"\nrtol = 1e-8\n{text}\n[vary]\n'
        'm1 = { uniform = ["3 kg", "5 kg"] }\n"q1(0)" = { uniform = ["10 deg", "80 deg"] }\n'
        "[design]\nkind = 'sobol'\ncount = 65536\n"
        '[criteria]\nsum = { integral = "kinetic_energy" }\nend = "q1"\nenergy_end = "energy"\n'
    )
    study = read_study(path)
    whole = Evaluator(study).batch
    return study, Batch(whole.starts, whole.criteria, whole.until, backend=backend, expected=study.size)


def test_motions_side_by_side_are_those_one_after_another(tmp_path):
    pytest.importorskip("llvmlite")
    study, batch = in_lanes(tmp_path)
    if batch.lanes is None:
        pytest.skip("there is no C compiler")
    points = study.points(0, 300)
    alone = replace(batch, backend="llvm")(points)
    together = batch(points)
    assert together.is_good.all() and np.allclose(together.values, alone.values, rtol=1e-7, atol=1e-9)
    shifted = batch(points[5:])
    assert together.values[5:].tobytes() == shifted.values.tobytes(), "a motion depends on its neighbours"


def test_motions_side_by_side_as_python(tmp_path):
    """The same routine as Python, against the compiled one."""
    needs_compiler()
    study, batch = in_lanes(tmp_path, "max_step = '0.2 s'")
    externals, statics = batch._externals_and_statics
    externals = {**externals, "rhs_lanes": widen(externals["rhs"], EIGHT)}
    statics = {**statics, "LANES": EIGHT}
    routine = routine_of(lane_motions, batch.starts.variation.size, statics, externals, "python")
    points = study.points(0, 3)
    found = batch._in_lanes(routine, points)
    assert np.allclose(found.values, batch(points).values, rtol=1e-7)


def test_lanes_leave_what_fails_and_what_is_stiff(tmp_path):
    """A motion that cannot start, one that is stiff, and healthy ones among them."""
    path = tmp_path / "s.toml"
    path.write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = 1\n[vary]\nm = { uniform = [1, 2] }\n'
        'c = { uniform = [0, 1] }\n[design]\nkind = "random"\ncount = 60000\n[criteria]\nend = "x"\n'
    )
    study = read_study(path)
    found = Evaluator(study)
    if found.batch.lanes is None:
        pytest.skip("there is no C compiler")
    points = study.points(0, 100)
    points[3, 0], points[17, 1] = 0.0, 1e7
    results = found.batch(points)
    assert list(np.flatnonzero(~results.is_good)) == [3, 17]
    whole = found(points)
    assert list(whole.failures) == [3] and whole.values[17, 0] == pytest.approx(0.1, rel=1e-4)
    m, c = points[:, 0], points[:, 1]
    good = results.is_good
    d, w = c[good] / (2 * m[good]), np.sqrt(40 / m[good] - (c[good] / (2 * m[good])) ** 2)
    assert np.allclose(results.values[good, 0], 0.1 * np.exp(-d) * (np.cos(w) + d / w * np.sin(w)), atol=1e-8)
