"""Mutants of every kind of file are read or refused with a message: no crash, no hang, no traceback.

A few hundred of each in the quick suite, ten thousand where a mutant takes less than a millisecond, and a million in all
by `make edges`.
"""

from __future__ import annotations

import pytest

from edges.fuzz import PROCESS_EACH, formats, search

DEEP = ("lsd", "urdf", "mjcf", "study", "saved state", "optimisation log", "identification", "table")
"""What is built from these takes milliseconds, or what is written waits for a disk."""

ROBOTS = ("sdf", "osim", "collada")


@pytest.mark.parametrize("name", formats())
def test_hundreds_of_mutants(name, tmp_path):
    count = 8 if name in PROCESS_EACH else 100 if name in ROBOTS else 300
    outcomes, failures = search(name, count, 20, tmp_path)
    assert failures == []
    assert outcomes["read"] > 0 and (outcomes["refused"] > 0 or name == "saved state")


@pytest.mark.slow
@pytest.mark.parametrize("name", formats())
def test_thousands_of_mutants(name, tmp_path):
    count = 100 if name in PROCESS_EACH else 1_000 if name in (*DEEP, *ROBOTS) else 10_000
    outcomes, failures = search(name, count, 21, tmp_path)
    assert failures == []
    assert sum(outcomes.values()) == count
