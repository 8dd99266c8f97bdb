"""Every two features of the product meet in some case, and each case is answered as the oracle answers it, or refused."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from truth.generator import Unreachable, generate
from truth.known_faults import known
from truth.matrix import pairwise_rows
from truth.questions import answer

PARTS = 30


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_every_two_features_meet(part):
    faults = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for combination in pairwise_rows()[part::PARTS]:
            try:
                text = generate(combination.seed, combination.wish)
            except Unreachable:
                continue
            outcome = answer(text, combination.question, replace(combination.way, quick=True))
            if outcome.is_fault and not known(combination, text, outcome):
                faults.append(f"{combination}: {outcome.verdict} {outcome.detail}\n{text}")
    assert not faults, "\n".join(faults)


@pytest.mark.slow
def test_few_are_refused_or_left_open():
    """The matrix would say nothing if most of its cases were not answered."""
    drawn = [
        c
        for c in pairwise_rows()
        if c["start"] == "full" and c["constraint"] == "none" and c.question == "acceleration"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = [answer(generate(c.seed, c.wish), c.question, c.way).verdict for c in drawn]
    assert verdicts.count("agrees") >= 0.6 * len(verdicts)
