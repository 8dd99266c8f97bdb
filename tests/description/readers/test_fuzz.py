"""Mutated robot files are read or refused with a message: no crash, no hang, no traceback."""

from __future__ import annotations

import pytest

from description.readers.fuzz import search


@pytest.mark.slow
def test_mutants_are_read_or_refused(tmp_path):
    outcomes, failures = search(1000, seed=20, folder=tmp_path, deep_every=50)
    assert failures == []
    assert min(outcomes.values()) > 100
