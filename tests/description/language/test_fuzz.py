"""Mutated texts never break the reader; more of them by hand: see fuzz.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("fuzz", Path(__file__).with_name("fuzz.py"))
fuzzing = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fuzzing)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1_000, pytest.param(9_000, marks=pytest.mark.slow)])
def test_mutated_texts_are_read_or_refused(count):
    outcomes = fuzzing.fuzz(count, seed=count)
    assert outcomes["read"] > 0 and outcomes["refused"] > 0
