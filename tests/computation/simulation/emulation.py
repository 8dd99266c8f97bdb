"""Rollouts without a GPU: the text that runs on the device, kernel and all, compiled as plain C++; threads one by one."""

from __future__ import annotations

import ctypes
from itertools import count

import numpy as np
import pytest

from computation.codegen.targets.runners import run, tool

_BEFORE = """
#define __global__
#define TORSEUR_BOUNDS
static struct { int x; } blockIdx, blockDim, threadIdx;
extern "C" void choose_lane(int lane) { blockIdx.x = lane; blockDim.x = 1; threadIdx.x = 0; }
"""
_SCALARS = {
    np.float32: ctypes.c_float,
    np.float64: ctypes.c_double,
    np.int64: ctypes.c_longlong,
    np.int32: ctypes.c_int,
}


class OnDevice(np.ndarray):
    """An array that is fetched as one on a device would be."""

    def get(self):
        return np.asarray(self)


class Device:
    """What rollouts use of CuPy."""

    @staticmethod
    def asarray(x, dtype=None):
        return np.asarray(x, dtype=dtype).view(OnDevice)

    @staticmethod
    def empty(shape, dtype):
        return np.full(shape, np.pi, dtype=dtype).view(OnDevice)  # what is not written shows

    @staticmethod
    def ascontiguousarray(x):
        return np.ascontiguousarray(x).view(OnDevice)

    broadcast_to = staticmethod(np.broadcast_to)


class Launch:
    """A kernel that is run thread by thread."""

    def __init__(self, folder, source):
        head, _, kernel = source.text.partition('#if defined(__CUDACC__)\nextern "C"')
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "source.cpp").write_text(f'{head}\n{_BEFORE}\n#if 1\nextern "C"{kernel}')
        flags = ["-std=c++14", "-O1", "-DTORSEUR_ZEROS_ARE_THERE", "-fPIC", "-shared"]
        run(tool("g++", "clang++"), *flags, "source.cpp", "-o", "source.so", cwd=folder)
        library = ctypes.CDLL(str(folder / "source.so"))
        self.kernel, self.choose_lane = getattr(library, source.name), library.choose_lane

    def run(self, arguments, n):
        given = [_argument(argument) for argument in arguments]
        for lane in range(n):
            self.choose_lane(lane)
            self.kernel(*given)


def _argument(value):
    """An argument as the kernel takes it: a pointer, a number, or numbers by value."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        numbers = value["values"]
        kind = ctypes.c_float if numbers.dtype == np.float32 else ctypes.c_double
        packed = type("values_of", (ctypes.Structure,), {"_fields_": [("values", kind * numbers.size)]})
        return packed.from_buffer_copy(numbers.tobytes())
    if isinstance(value, np.ndarray):
        return value.ctypes.data_as(ctypes.c_void_p)
    return _SCALARS[type(value)](value)


@pytest.fixture
def emulated(tmp_path, monkeypatch):
    """Rollouts run on the CPU as long as the test does."""
    numbers, motion = count(), "torseur.computation.codegen.targets.cuda.rollout.rollout_kernel"
    monkeypatch.setattr(f"{motion}.cupy", lambda: Device)
    monkeypatch.setattr(f"{motion}.Launchable", lambda source, _: Launch(tmp_path / f"kernel {next(numbers)}", source))
    monkeypatch.setattr(f"{motion}.run_all", lambda stages, arguments, n: [stage.run(arguments, n) for stage in stages])
