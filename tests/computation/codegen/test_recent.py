"""What is kept for the next time, and what goes."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from torseur.cache import Recent


@given(st.lists(st.integers(0, 9)), st.integers(1, 6))
def test_those_asked_for_last_are_there(keys, most):
    """Oracle: the different keys of the list, from its end."""
    recent, made = Recent(most), []
    for number, key in enumerate(keys):
        before = list(dict.fromkeys(reversed(keys[:number])))[:most]
        count = len(made)
        assert recent.get(key, lambda key=key: made.append(key) or -key) == -key
        assert (len(made) == count) == (key in before)
    assert len(recent) == min(most, len(set(keys)))


def test_a_smaller_bound_holds_from_the_next_value_on():
    recent = Recent(8)
    for key in range(8):
        recent.get(key, lambda: None)
    recent.most = 2
    recent.get("next", lambda: None)
    assert len(recent) == 2


def test_threads_share_it():
    recent, wrong = Recent(3), []

    def work():
        for k in range(2000):
            if recent.get(k % 7, lambda k=k: k % 7) != k % 7:
                wrong.append(k)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(recent) == 3
