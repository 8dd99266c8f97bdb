"""Times below which a batch cannot come on this processor: its products alone, and its results written alone."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from torseur.algebra.graph import Program

TURN_PRODUCTS = 22
"""Products in the sine and cosine of an angle."""

PLACES = 4096
"""Vectors written: 256 kB, more than the first cache holds and less than the second."""


@dataclass(frozen=True)
class Limits:
    """Nanoseconds per product and per store of eight numbers."""

    product: float
    store: float

    def products(self, program: Program) -> float:
        """Nanoseconds per state of a batch that does nothing but multiply, all sums on the way."""
        counts = program.counts
        angles = {node.args[0] for node in program.operations if node.op in ("sin", "cos")}
        total = counts.get("multiplication", 0) + counts.get("division", 0) + TURN_PRODUCTS * len(angles)
        return total * self.product / 8

    def stores(self, program: Program) -> float:
        """Nanoseconds per state of a batch that does nothing but write its results."""
        varying = sum(entry.op not in ("constant", "pi") for output in program.outputs for entry in output.entries)
        return varying * self.store / 8


def measured(compiler: str, folder: Path) -> Limits:
    target = folder / "limits.so"
    native = ["-march=native"] if platform.machine() in ("x86_64", "AMD64") else []
    source = Path(__file__).with_name("limits.c")
    flags = ["-O2", "-ffp-contract=fast", *native, "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(source), "-o", str(target)], check=True)
    dll = ctypes.CDLL(str(target))
    dll.seconds_per_product.restype = dll.seconds_per_store.restype = ctypes.c_double
    room = np.zeros(8 * (PLACES + 2))
    start = ctypes.c_void_p(room.ctypes.data + -room.ctypes.data % 64)
    half = np.full(16, 0.5)
    factor = ctypes.c_void_p(half.ctypes.data + -half.ctypes.data % 64)
    rounds = range(200)
    product = min(dll.seconds_per_product(start, factor) for _ in rounds)
    store = min(dll.seconds_per_store(start, PLACES, factor) for _ in rounds)
    return Limits(1e9 * product, 1e9 * store)
