"""Combinations of features, ways and questions, so that every two of them meet in some case.

A covering array of strength two: for any two factors, every pair of their levels occurs in at least one row. It is built
greedily, row by row, from the pair that is still missing: small enough for every run of the tests, and the same every time.
Questions are dealt out last, to as few rows as meet every level of every other factor: accelerations cost a tenth of most.
`everything` goes on from there with random rows for as long as one likes.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

from truth.generator import CONSTRAINTS, KINDS, LOADS, PARTS, SPEEDS, STARTS, Wish
from truth.questions import QUESTIONS, Way

FORMALISMS = (
    "recursive", "newton_euler", "dalembert", "lagrange", "lagrange_multipliers", "hamilton", "kane", "gibbs_appell",
    "boltzmann_hamel", "lie_group", "inertia_tensors",
)  # fmt: skip
FACTORS = {
    "kind": KINDS,
    "reversed": (False, True),
    "speeds": SPEEDS,
    "constraint": CONSTRAINTS,
    "load": LOADS,
    "start": STARTS,
    "part": PARTS,
    "formalism": FORMALISMS,
    "method": ("auto", "explicit", "radau5", "radau9"),
    "formulation": ("augmented", "partitioned", "projector"),
    "backend": ("auto", "c", "python"),
    "target": ("c", "cpp", "cuda", "fortran", "matlab", "python"),
    "question": tuple(QUESTIONS),
}
CHEAPEST = "acceleration"
_WISHED = ("kind", "reversed", "speeds", "constraint", "load", "start", "part")


@dataclass(frozen=True)
class Combination:
    """One row: what the mechanism has, how it is asked, and the seed of everything else."""

    levels: tuple
    seed: int

    def __getitem__(self, factor):
        return dict(self.levels)[factor]

    @property
    def wish(self):
        return Wish(**{factor: self[factor] for factor in _WISHED})

    @property
    def way(self):
        return Way(self["formalism"], self["method"], self["formulation"], self["backend"], self["target"])

    @property
    def question(self):
        return self["question"]

    def __str__(self):
        return " ".join(str(level).replace(" ", "_") for _, level in self.levels) + f" #{self.seed}"


def _row(levels, seed):
    return Combination(tuple((factor, levels[factor]) for factor in FACTORS), seed)


@cache
def pairwise_rows():
    """Rows in which every two levels of different factors meet."""
    rng = random.Random("pairwise")
    names = [factor for factor in FACTORS if factor != "question"]
    missing = {((f, x), (g, y)): None for f, g in combinations(names, 2) for x, y in product(FACTORS[f], FACTORS[g])}
    rows = []
    while missing:
        best, covered = None, []
        # Of some rows that hold the first missing pair, the one that covers most.
        (first, second) = next(iter(missing))
        for _ in range(4):
            levels = _filled(dict((first, second)), names, missing, rng)
            pairs = [p for p in combinations([(n, levels[n]) for n in names], 2) if p in missing]
            if len(pairs) > len(covered):
                best, covered = levels, pairs
        for pair in covered:
            del missing[pair]
        rows.append(best)
    return tuple(_row(levels | {"question": question}, k) for k, (levels, question) in enumerate(_asked(rows, rng)))


def _asked(rows, rng):
    """Each row with its question: all but the first question go to the fewest rows that meet all levels."""
    questions = dict.fromkeys(range(len(rows)), CHEAPEST)
    for question in FACTORS["question"]:
        if question == CHEAPEST:
            continue
        missing = {(factor, level) for factor in FACTORS if factor != "question" for level in FACTORS[factor]}
        while missing:
            left = [k for k in questions if questions[k] == CHEAPEST]
            rng.shuffle(left)
            k = max(left, key=lambda k: len(missing & set(rows[k].items())))
            questions[k] = question
            if not missing & set(rows[k].items()):  # no row is left that has them: one more
                rows.append(dict(rows[k]) | dict(rng.sample(sorted(missing, key=str), 1)))
                questions[len(rows) - 1] = question
                k = len(rows) - 1
            missing -= set(rows[k].items())
    return [(row, questions[k]) for k, row in enumerate(rows)]


def _filled(levels, names, missing, rng):
    """A row completed factor by factor, each with the level that meets most missing pairs."""
    open_factors = [n for n in names if n not in levels]
    rng.shuffle(open_factors)
    for factor in open_factors:
        choices = list(FACTORS[factor])
        rng.shuffle(choices)
        levels[factor] = max(
            choices, key=lambda x: sum(_pair(names, (factor, x), item) in missing for item in levels.items())
        )
    return levels


def _pair(names, one, other):
    return (one, other) if names.index(one[0]) < names.index(other[0]) else (other, one)


def everything(first=0):
    """The covering rows, then random ones without end; from the row with a given number, which is its seed."""
    rows = pairwise_rows()
    yield from rows[first:]
    seed = max(first, len(rows))
    while True:
        rng = random.Random(f"everything {seed}")
        yield _row({factor: rng.choice(levels) for factor, levels in FACTORS.items()}, seed)
        seed += 1
