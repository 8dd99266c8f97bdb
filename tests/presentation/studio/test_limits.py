"""Memory of a process that runs for days, as the system counts it. In processes of their own: these set what stays set."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process holds for itself")

START = """
import ctypes, gc, re
from torseur.presentation.studio.limits import return_memory, settle_memory

def held():
    with open("/proc/self/smaps_rollup") as shares:
        return int(re.search(r"Private_Dirty:\\s+(\\d+)", shares.read())[1]) / 1024

if not hasattr(ctypes.CDLL(None), "malloc_trim"):
    raise SystemExit("not glibc")
"""


def said(program: str) -> list[float]:
    """The numbers that a program prints."""
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, timeout=120)
    if "not glibc" in done.stderr:
        pytest.skip("only glibc can be asked to return memory")
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_freed_memory_below_what_is_in_use_returns_to_the_system():
    before, full, freed, returned = said(
        """
before = held()
blocks = [bytes(60_000) + b"x" for _ in range(1000)]
full = held()
blocks = blocks[-1:]  # stands at the end of the heap, which cannot shrink beyond it
freed = held()
return_memory()
print(before, full, freed, held())
"""
    )
    assert full > before + 50 and freed > before + 50, "otherwise this tests nothing"
    assert returned < before + 5


def test_a_settled_process_collects_soon_and_maps_large_blocks():
    frozen, young, before, after = said(
        """
settle_memory()
print(gc.get_freeze_count(), len(gc.get_objects()))
last = bytes(1_000_000)
before = held()
for size in (2_000_000, 30_000_000, 200_000):
    block = bytearray(size)
    rest = bytes(5000)
    del block
print(before, held())
"""
    )
    assert frozen > 1000 > young
    assert after < before + 1
