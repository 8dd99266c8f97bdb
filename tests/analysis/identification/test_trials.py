"""Recordings with faults: each is named plainly, and nothing is altered in silence."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.identification.arms import TWO_R, arm
from analysis.identification.recordings import channels, forces, sines
from torseur.analysis.identification import Derivatives, Extras, Options, Treatment, identify, linear_model, make_trial
from torseur.analysis.identification.data.channel_faults import saturation_mask
from torseur.analysis.identification.data.data_files import read_table
from torseur.analysis.identification.data.differentiation import cross_validated
from torseur.errors import IdentificationError


@pytest.fixture(scope="module")
def model():
    return linear_model(arm(TWO_R, (0, -9.81, 0)))


def data(model, count: int = 300):
    t, q, v, a = sines(2, count)
    tau = forces(model.equations.mechanism, q, v, a)
    return t, channels(q, v, a), {"q1": tau[:, 0].copy(), "q2": tau[:, 1].copy()}


def test_gaps_are_refused_or_left_out_and_counted(model):
    t, motion, tau = data(model)
    tau["q2"][[17, 18, 40]] = np.nan
    with pytest.raises(
        IdentificationError, match=r"force on q2' is not a number at 3 of 300 samples, the first at t = 0.56"
    ):
        make_trial(model, t, motion, tau)
    trial = make_trial(model, t, motion, tau, treatment=Treatment(gaps="leave_out"))
    assert len(trial) == 297 and "they were left out" in trial.notes[0]
    assert np.isnan(tau["q2"]).sum() == 3  # the data themselves are as they were
    found = identify(model, [trial])
    assert any("left out" in note for note in found.notes)


def test_saturated_channels_are_refused(model):
    t, motion, tau = data(model)
    limit = 0.6 * np.max(tau["q1"])
    tau["q1"] = np.minimum(tau["q1"], limit)
    with pytest.raises(IdentificationError, match="force on q1' stays at its limit, as if saturated"):
        make_trial(model, t, motion, tau)
    trial = make_trial(model, t, motion, tau, treatment=Treatment(saturation="leave_out"))
    assert np.all(trial.tau[:, 0] < limit) and "left out" in trial.notes[0]
    kept = make_trial(model, t, motion, tau, treatment=Treatment(saturation="keep"))
    assert len(kept) == 300


def test_rest_and_quantised_channels_are_not_saturated():
    t = np.linspace(0, 1, 400)
    rest = np.where(t < 0.3, 0.0, np.sin((t - 0.3) * 5) ** 2)
    assert not saturation_mask(rest).any()
    assert not saturation_mask(np.round(np.sin(7 * t), 2)).any()
    assert not saturation_mask(np.ones(50)).any()
    assert saturation_mask(np.clip(np.sin(9 * t), -2, 0.8)).any()


def test_wrong_units_show_in_the_rates(model):
    t, motion, tau = data(model)
    motion["q1"] = np.degrees(motion["q1"])
    with pytest.raises(IdentificationError, match=r"'q1'' is 0.017\d* times the rate of 'q1'. Wrong units"):
        make_trial(model, t, motion, tau)
    _, motion, _ = data(model)
    motion["q2'"] = -motion["q2'"]
    with pytest.raises(IdentificationError, match="'q2'' is -"):
        make_trial(model, t, motion, tau)


def test_unexcited_motion_is_named(model):
    t, motion, tau = data(model)
    motion = {name: (values if name.startswith("q2") else 0 * values) for name, values in motion.items()}
    found = identify(model, [make_trial(model, t, motion, {"q2": tau["q2"]})])
    assert found.names == ["link2.h.x", "link2.h.y", "link2.Izz"]
    assert any("does not excite link1.h.x, link1.h.y, link1.Izz" in text for text in found.warnings)
    still = {name: 0 * values for name, values in motion.items()}
    horizontal = linear_model(arm(TWO_R, (0, 0, -9.81)))
    with pytest.raises(IdentificationError, match="unexcited motion"):
        identify(horizontal, [make_trial(horizontal, t, still, tau)])


FAULTS = {
    "time goes back": (lambda t, m, f: (t[::-1], m, f), "time does not increase"),
    "short channel": (lambda t, m, f: (t, {**m, "q1": m["q1"][:-1]}, f), "channel 'q1' has 299 samples, time has 300"),
    "unknown channel": (lambda t, m, f: (t, {**m, "q3": m["q1"]}, f), "unknown channel 'q3'"),
    "unknown force": (lambda t, m, f: (t, m, {"q7": f["q1"]}), "unknown coordinate 'q7'"),
    "no force": (lambda t, m, f: (t, m, {}), "no force is recorded"),
    "no coordinate": (lambda t, m, f: (t, {k: x for k, x in m.items() if not k.startswith("q2")}, f), "coordinate q2 not recorded"),
    "one sample": (lambda t, m, f: (t[:1], {k: x[:1] for k, x in m.items()}, {k: x[:1] for k, x in f.items()}), "at least two samples"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(model, fault):
    change, words = FAULTS[fault]
    with pytest.raises(IdentificationError, match=words):
        make_trial(model, *change(*data(model)), name="run 1")


def test_unknown_names_are_named(model):
    with pytest.raises(IdentificationError, match="unknown coordinate 'q9'"):
        linear_model(arm(TWO_R), Extras(viscous=["q9"]))
    with pytest.raises(IdentificationError, match="unknown parameter 'l9'"):
        linear_model(arm(TWO_R), parameters={"l9": 1.0})
    with pytest.raises(IdentificationError, match="unknown method 'magic'"):
        identify(model, [make_trial(model, *data(model))], "magic")
    with pytest.raises(IdentificationError, match="unknown payload 'tool'"):
        make_trial(model, *data(model), payload="tool")
    with pytest.raises(IdentificationError, match="at least one trial"):
        identify(model, [])
    with pytest.raises(IdentificationError, match="such as 0.95, not 95"):
        Options(confidence=95)


@pytest.mark.parametrize(
    ("how", "tolerance"),
    [
        (Derivatives("central"), 0.02),
        (Derivatives("savitzky_golay", 9, 5), 0.01),
        (Derivatives("spline"), 1e-3),
        (Derivatives("fourier", harmonics=10), 1e-9),
        (Derivatives("cross_validated"), 1e-3),
    ],
)
def test_derivatives(how, tolerance):
    """Oracle: the exact derivatives of sums of sines."""
    t, q, v, a = sines(1, 500)
    speed, acceleration = how.of(t, q[:, 0])
    inner = slice(10, -10)
    for found, exact in ((speed, v[:, 0]), (acceleration, a[:, 0])):
        assert np.abs(found - exact)[inner].max() < tolerance * np.abs(exact).max()


def test_cross_validation_finds_the_noise():
    """Oracle: the exact accelerations. A window of 15 samples leaves more than ten times as much noise of an encoder."""
    t, q, _, a = sines(1, 2000)
    noisy = q[:, 0] + np.random.default_rng(1).normal(0, 1e-3, len(t))
    left = {
        how: (Derivatives(how).of(t, noisy)[1] - a[:, 0])[20:-20].std() for how in ("cross_validated", "savitzky_golay")
    }
    assert left["cross_validated"] < 0.1 * left["savitzky_golay"]
    z = cross_validated(noisy)
    assert (noisy - z).std() == pytest.approx(1e-3, rel=0.05)
    assert cross_validated(np.linspace(0, 3, 50) ** 2) == pytest.approx(np.linspace(0, 3, 50) ** 2, abs=1e-9)


def test_derivatives_of_a_recording_with_a_hole_are_refused(model):
    t, motion, tau = data(model)
    bare = {name: motion[name] for name in ("q1", "q2")}
    trial = make_trial(model, t, bare, tau)
    assert any("smoothed by cross-validation" in note for note in trial.notes)
    kept = np.r_[0:100, 130:300]
    hole = {name: x[kept] for name, x in bare.items()}
    with pytest.raises(IdentificationError, match="not evenly spaced: 1.03333 s after"):
        make_trial(model, t[kept], hole, {name: x[kept] for name, x in tau.items()})
    with pytest.raises(IdentificationError, match="derivatives are by"):
        Derivatives("magic")


def test_forces_of_some_joints_are_enough(model):
    """The shoulder's torque alone: the elbow's equation is not used, and the result says so."""
    t, motion, tau = data(model)
    found = identify(model, [make_trial(model, t, motion, {"q1": tau["q1"]})])
    assert any("no force was recorded along q2" in note for note in found.notes)
    assert len(found.values) == 6 and found.fits[0].relative < 1e-9


def written(path, text: str, encoding: str = "utf-8"):
    path.write_bytes(text.encode(encoding))
    return read_table(path)


def test_tables_as_loggers_write_them(tmp_path):
    """Semicolons, decimal commas, a row of units, notes in front, a column of words, an older encoding."""
    text = "# logger 3\n\nZeit;Winkel;Moment;Bemerkung\ns;°;Nmm;-\n0,0;90;1500,5;ok\n0,1;-45,5;n/a;\n\n"
    table = written(tmp_path / "odd.csv", text, "cp1252")
    assert np.allclose(table.quantity("Zeit", "s"), [0, 0.1])
    assert np.allclose(table.quantity("Winkel", "rad"), np.radians([90, -45.5]))
    assert np.allclose(table.quantity("Moment", "N*m"), [1.5005, np.nan], equal_nan=True)
    with pytest.raises(IdentificationError, match="sample 1: 'ok' in column 'Bemerkung' is not a number"):
        table.quantity("Bemerkung", "1")


@pytest.mark.parametrize(
    ("unit", "wanted", "factor"),
    [
        ("N m", "N*m", 1),
        ("rad s-2", "rad/s^2", 1),
        ("kNm", "N*m", 1e3),
        ("deg s-1", "rad/s", np.pi / 180),
        ("N.m", "N*m", 1),
    ],
)
def test_units_as_others_write_them(tmp_path, unit, wanted, factor):
    table = written(tmp_path / "units.csv", f"time (s),x [{unit}]\n0,2\n1,3\n")
    assert np.allclose(table.quantity("x", wanted), [2 * factor, 3 * factor])


def test_faults_of_tables_are_named(tmp_path):
    with pytest.raises(IdentificationError, match="sample 2: 3 cells, the headings have 2"):
        written(tmp_path / "a.csv", "time,x\n0,1\n1,2,3\n")
    with pytest.raises(IdentificationError, match="two columns are named 'x'"):
        written(tmp_path / "b.csv", "x,x\n0,1\n1,2\n")
    with pytest.raises(IdentificationError, match="no samples below its headings"):
        written(tmp_path / "c.csv", "time,x\n")
    with pytest.raises(IdentificationError, match="unknown unit 'furlongs/fn'"):
        written(tmp_path / "d.csv", "time,x [furlongs/fn]\n0,1\n1,2\n").quantity("x", "m")


def test_gaps_are_differentiated_on_either_side(model):
    """Oracle: the exact speeds; what stands beside a gap or an end is left out and counted."""
    t, q, v, a = sines(2, 400)
    tau = forces(model.equations.mechanism, q, v, a)
    q[150:160, 0] = np.nan
    late = np.r_[0:300, 320:400]
    channels, force = {"q1": q[late, 0], "q2": q[late, 1]}, {"q1": tau[late, 0], "q2": tau[late, 1]}
    how = Treatment(gaps="leave_out", derivatives=Derivatives(window=9, order=5))
    trial = make_trial(model, t[late], channels, force, treatment=how)
    exact = np.searchsorted(t, trial.time)
    assert np.abs(trial.v - v[exact]).max() < 1e-3 * np.abs(v).max()
    assert np.abs(trial.vdot - a[exact]).max() < 1e-2 * np.abs(a).max()
    assert len(trial) == 380 - 10 - 2 * 4 * 3
    assert any("nothing was recorded between t = " in note for note in trial.notes)
    assert any("24 samples beside ends and gaps were left out" in note for note in trial.notes)
    with pytest.raises(IdentificationError, match="has gaps, and a Fourier series"):
        fourier = Treatment(gaps="leave_out", derivatives=Derivatives("fourier"))
        make_trial(model, t[late], channels, force, treatment=fourier)


def test_forces_in_other_units_or_signs_are_doubted():
    mechanism = arm(TWO_R, (0, -9.81, 0))
    model = linear_model(mechanism)
    t, q, v, a = sines(2, 200)
    tau = forces(mechanism, q, v, a)
    motion = {f"q{k + 1}{dots}": x[:, k] for k in (0, 1) for dots, x in (("", q), ("'", v), ("''", a))}
    trial = make_trial(model, t, motion, {"q1": -tau[:, 0], "q2": tau[:, 1] / 1000})
    found = identify(model, [trial], "ordinary")
    assert any("the force of q1 in trial has the opposite sign" in text for text in found.warnings)
    assert any("the force of q2 in trial is 0.001 times what" in text for text in found.warnings)
