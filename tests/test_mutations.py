"""The faults that `make mutants` puts into modules."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools" / "mutants"))

from mutations import mutated, mutations

TEXT = '''
"""A module."""
LIMIT = 3

def power(a: "float" = -1, b: float = 2) -> float:
    """a * b."""
    if a < b and not a == 7:
        raise ValueError(f"a is {-a}")
    return min(a, -b) + sin(a) * b
'''


def test_every_fault_changes_what_is_computed_and_nothing_else():
    texts = [mutated(TEXT, one) for one in mutations(TEXT)]
    assert len(texts) == len(set(texts)) == 11
    for text in texts:
        compile(text, "mutant", "exec")
        assert "LIMIT = 3" in text and "b: float=2" in text and "a * b." in text and "{-a}" in text


def test_a_fault_that_is_not_there_is_said():
    with pytest.raises(LookupError, match="line 9"):
        mutated(TEXT.replace("min(", "max("), next(one for one in mutations(TEXT) if one.text == "min becomes max"))
