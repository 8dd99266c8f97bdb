"""Rollouts without a GPU: the text that runs on the device compiled as plain C++, one lane after the other."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from codegen.targets.runners import run, tool
from torseur.codegen.cuda.kernel import TYPES, suffix_of
from torseur.codegen.cuda.module import SCALARS
from torseur.codegen.cuda.motion import LONGEST
from torseur.codegen.cuda.rollout import CHANGING, rollout_source, split_together

_WRAPPER = """
extern "C" void all_motions({T} *q, {T} *v, {arguments}, {T} *out, {T} *judged, {T} start, {T} h, long long steps,
                            long long every, {T} rtol, {T} *atol, {T} longest, long long n) {{
  for (long long lane = 0; lane < n; ++lane)
    kernels::rollout<{T}, {F}>(q + lane, v + lane, {passed}, out + lane, {judged}start, h, steps, every, rtol, atol,
                               longest, n);
}}
"""
_C_TYPES = {np.float32: ctypes.c_float, np.float64: ctypes.c_double}


class OnDevice(np.ndarray):
    """An array that is fetched as one on a device would be."""

    def get(self):
        return np.asarray(self)


class EmulatedRollout:
    """`CudaRollout` on the CPU."""

    def __init__(self, folder, parts, parameters, method, precision, fast_sines=False):
        suffix = suffix_of(precision)
        self.type, self.fine = TYPES[suffix]
        self.prepare = None
        if parameters:
            self.prepare, programs = split_together(parts.programs, parameters)
            parts = replace(parts, programs=programs)
        self.inputs = [g.name for g in parts.programs["motion"].inputs if g.name not in CHANGING]
        self.source = rollout_source(parts, suffix, method)
        observe = parts.programs.get("observe")
        self.seen = 0 if observe is None else sum(len(output) for output in observe.outputs)
        self.judged = None if parts.watch is None else (parts.watch.criteria, parts.watch.width)
        self.run = self._built(folder, suffix)

    def _built(self, folder, suffix):
        scalar, fine = SCALARS[suffix]
        shared = {"prepared"}
        arguments = [f"{fine if name in shared else scalar} *{name}" for name in self.inputs]
        passed = [name if name in shared else f"{name} + lane" for name in self.inputs]
        words = {"T": scalar, "F": fine, "arguments": ", ".join(arguments), "passed": ", ".join(passed)}
        judged = "judged + lane, " if self.judged is not None else ""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "source.cpp").write_text(self.source.text + _WRAPPER.format(judged=judged, **words))
        compiler = tool("g++", "clang++")
        flags = ["-std=c++14", "-O1", "-DTORSEUR_ZEROS_ARE_THERE", "-fPIC", "-shared"]
        run(compiler, *flags, "source.cpp", "-o", "source.so", cwd=folder)
        return ctypes.CDLL(str(folder / "source.so")).all_motions

    def __call__(self, q, v, others, steps):
        number = _C_TYPES[self.type]
        q0, v0 = (np.ascontiguousarray(x, dtype=self.type) for x in (q, v))
        n = q0.shape[1]
        out = np.empty((steps.records, self.seen, n), dtype=self.type)
        judged = np.empty((*(self.judged or (0, 0)), n), dtype=self.type)
        constants = [self._constant(name, others, n) for name in self.inputs]
        arrays = [q0, v0, *constants, out, judged]
        longest = min(steps.longest, LONGEST)
        atol = np.array(steps.atol, dtype=self.type)
        self.run(
            *(a.ctypes.data_as(ctypes.c_void_p) for a in arrays), number(steps.start), number(steps.length),
            ctypes.c_longlong(steps.number), ctypes.c_longlong(steps.every or steps.number), number(steps.rtol),
            atol.ctypes.data_as(ctypes.c_void_p), number(longest), ctypes.c_longlong(n),
        )  # fmt: skip
        return out.view(OnDevice), None if self.judged is None else judged.view(OnDevice)

    def _constant(self, name, others, n):
        if name == "prepared":
            given = {group.name: list(others[group.name]) for group in self.prepare.inputs}
            return np.array(self.prepare.evaluate(given)["prepared"], dtype=self.fine)
        value = np.asarray(others[name], dtype=self.type)
        wide = value if value.ndim == 2 else np.broadcast_to(value[:, None], (len(value), n))
        return np.ascontiguousarray(wide)


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """`Rollouts` run on the CPU as long as the test does."""
    numbers = count()
    make = lambda *given: EmulatedRollout(tmp_path / f"rollout {next(numbers)}", *given)  # noqa: E731
    monkeypatch.setattr("torseur.simulation.rollouts.CudaRollout", make)
