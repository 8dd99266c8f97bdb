"""Combinations that are known to be answered wrongly, each with what is wrong; to be emptied.

A rule takes a combination, its text and its outcome, and says whether it is that fault. Cases that match are neither counted as
agreement nor as news. There is no rule for refusals: a refusal is an answer.
"""

from __future__ import annotations

import re

RULES = {
    # Mechanisms in which nothing can move: implicit methods ask for states that are not there (KeyError: 'floats'), and
    # starts under constraints stack no columns (ValueError: need at least one array). Others say that nothing moves.
    "nothing can move": lambda combination, text, outcome: (
        outcome.verdict == "crashes" and not re.search(r"with (?!fixed)\w+\(", text)
    ),
}


def known(combination, text, outcome):
    """The name of the known fault that an outcome shows, or nothing."""
    return next((name for name, rule in RULES.items() if rule(combination, text, outcome)), "")
