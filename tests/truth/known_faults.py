"""Combinations that are known to be answered wrongly, each with what is wrong; to be emptied.

A rule takes a combination, its text and its outcome, and says whether it is that fault. Cases that match are neither counted as
agreement nor as news. There is no rule for refusals: a refusal is an answer.
"""

from __future__ import annotations

RULES = {}


def known(combination, text, outcome):
    """The name of the known fault that an outcome shows, or nothing."""
    return next((name for name, rule in RULES.items() if rule(combination, text, outcome)), "")
