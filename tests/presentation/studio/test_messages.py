"""What the page says is checked before anything is done with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentation.studio.answering import taken_apart
from torseur.errors import TorseurError
from torseur.presentation.studio.messages import LONGEST_TEXT, binary_message, read_data, read_request

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ("kind", "number", "text", "values", "initial", "until", "formalism", "level", "criterion", "what", "detail")


def test_a_request_keeps_what_it_carries():
    read = read_request({"kind": "move", "number": 7, "text": "x", "values": {"m": 2}, "until": 3, "level": "matrix"})
    assert (read.kind, read.number, read.text, read.values, read.until) == ("move", 7, "x", {"m": 2.0}, 3.0)
    assert read.level == "matrix" and read.formalism == "recursive"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"kind": "dance"}, "unknown request"),
        ({"number": "1"}, "whole number"),
        ({"number": -1}, "whole number"),
        ({"text": 3}, "must be text"),
        ({"text": "x" * (LONGEST_TEXT + 1)}, "limit"),
        ({"values": {"m": "2"}}, "must be a number"),
        ({"values": {"m": float("nan")}}, "finite"),
        ({"values": {"m": 10**400}}, "finite"),
        ({"values": [1]}, "table"),
        ({"until": 0}, "above 0"),
        ({"until": 1e9}, "up to"),
    ],
)
def test_wrong_requests_are_refused_with_a_reason(wrong, said):
    with pytest.raises(TorseurError, match=said):
        read_request({"kind": "describe", "number": 1, **wrong})


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_any_json_is_read_or_refused(data):
    try:
        read_request(data)
    except TorseurError as problem:
        assert str(problem)


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", "3", "[" * 100_000])
def test_what_is_no_json_object_is_refused(text):
    with pytest.raises(TorseurError):
        read_data(text)


def test_arrays_travel_unchanged():
    curves, steps = np.linspace(0, 1, 17, dtype="f4"), np.arange(-5, 6, dtype="i2")
    found = taken_apart(binary_message("motion", 3, {"curve": curves, "steps": steps, "none": np.zeros(0)}, word="ü"))
    assert found["kind"] == "motion" and found["number"] == 3 and found["word"] == "ü"
    np.testing.assert_array_equal(found["arrays"]["curve"], curves)
    np.testing.assert_array_equal(found["arrays"]["steps"], steps)
    assert found["arrays"]["none"].size == 0
