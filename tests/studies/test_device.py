"""Sweeps on a GPU: the text that runs there compiled as plain C++, against the CPU's own integrator."""

from __future__ import annotations

import numpy as np
import pytest

from simulation.test_rollouts import Emulated
from torseur.errors import TorseurError
from torseur.studies import read_study, sweep
from torseur.studies.device import DeviceMotions
from torseur.studies.evaluation import Evaluator

STUDY = """
mechanism = "library:double_pendulum"
until = "1 s"
rtol = 1e-10
backend = "cuda"
{more}
[gpu]
{gpu}
[vary]
m1 = {{ values = ["3 kg", "5 kg"] }}
"q1(0)" = {{ values = ["30 deg", "60 deg"] }}
[criteria]
q1_end = "q1"
energy_end = "energy"
"""


class EmulatedRollouts:
    """`Rollouts` motion by motion on the CPU."""

    def __init__(self, folder, model, method, precision, *, outputs, sensitivities):
        assert precision == "float64"
        self.slopes = len(sensitivities)
        self.move = Emulated(folder, model.mechanism, method, outputs, sensitivities, own_parameters=True)

    def __call__(self, q, v, *, step, steps, every, parameters, rtol, atol):
        found = []
        for k in range(q.shape[1]):
            changes = {name: float(np.broadcast_to(value, q.shape[1])[k]) for name, value in parameters.items()}
            found.append(self.move(q[:, k], v[:, k], step, steps, every, changes, rtol, atol))
        out = np.stack(found, axis=-1)
        return out.reshape(len(out), 1 + self.slopes, -1, q.shape[1]) if self.slopes else out


def on_device(folder, more="", gpu='method = "dopri5"'):
    path = folder / "s.toml"
    path.write_text(STUDY.format(more=more, gpu=gpu))
    found = Evaluator(read_study(path))
    make = lambda *given, **options: EmulatedRollouts(folder / "emulated", *given, **options)  # noqa: E731
    found.device = DeviceMotions(found.study, found._starts, found.criteria, found.outputs, make)
    return found


@pytest.mark.parametrize(
    ("more", "gpu"),
    [
        ('slopes = ["m2", "q2(0)"]\noutputs = { a = "q2" }\nsamples = 5', 'method = "dopri5"'),
        ('outputs = { a = "q2" }\nsamples = 5', 'step = "0.5 ms"'),
        ("", 'step = "0.5 ms"'),
    ],
)
def test_the_same_numbers_as_on_the_cpu(more, gpu, tmp_path):
    found = on_device(tmp_path, more, gpu)
    points = found.study.points()
    there, here = found(points), Evaluator(found.study.on("cpu"))(points)
    assert not there.failures
    assert np.allclose(there.values, here.values, rtol=1e-6, atol=1e-6)
    assert np.allclose(there.outputs, here.outputs, rtol=1e-6, atol=1e-7)


MISTAKES = {
    "step": ("", "", "give the length of a step"),
    "whole": ("", 'step = "0.3 s"', "does not divide"),
    "samples": ("outputs = { a = 'q1' }\nsamples = [0.1, 0.2]", 'step = "1 ms"', "even times"),
    "unit": ("", 'step = "1 m"', "expected a time"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_mistakes(case, tmp_path):
    more, gpu, words = MISTAKES[case]
    with pytest.raises(TorseurError, match=words):
        on_device(tmp_path, more, gpu)


def test_what_a_gpu_does_not_do_is_said(tmp_path):
    path = tmp_path / "s.toml"
    text = STUDY.format(more="", gpu='method = "dopri5"')
    path.write_text(text + 'high = { maximum = "q1" }\n')
    with pytest.raises(TorseurError, match=r"criteria.high: backend 'cuda' knows values at the end, not the maximum"):
        sweep(path)
    path.write_text(
        'mechanism = "library:four_bar"\nuntil = 1\n[vary]\na = { values = [0.4] }\n[criteria]\nx = "alpha"\n'
    )
    with pytest.raises(TorseurError, match="closed loops"):
        sweep(path, backend="cuda")
    with pytest.raises(TorseurError, match="Did you mean 'cuda'"):
        sweep(path, backend="cud")


def test_without_a_device_it_is_said_and_no_store_is_left(tmp_path):
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            pytest.skip("there is a device")
    except Exception:
        pass
    path = tmp_path / "s.toml"
    path.write_text(STUDY.format(more="", gpu='method = "dopri5"'))
    with pytest.raises(TorseurError, match=r"(?i)gpu|cupy|cuda"):
        sweep(path)
    assert not (tmp_path / "s.zarr").exists()
