"""Random mechanisms as parts, mounted anywhere and mirrored, answered by the oracle for the text written out by hand."""

import random
import warnings
from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from truth.case import Case, Unclear, Way
from truth.draft import DATA
from truth.generator import Unreachable, generate
from truth.matrix import pairwise_rows
from truth.oracle import Model
from truth.questions import solved_accelerations
from truth.wrapping import NAME, component_sign, wrapped

ROWS = 12


@pytest.mark.slow
@pytest.mark.parametrize("mirrored", [False, True])
def test_a_part_moves_as_its_text_does(mirrored):
    """Oracle: accelerations in maximal coordinates of the text without parts, in the formalism of each row."""
    agreed = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for row in pairwise_rows()[mirrored :: len(pairwise_rows()) // ROWS]:
            agreed += _agrees(row, mirrored)
    assert agreed > ROWS / 2


def _agrees(row, mirrored):
    try:
        text = generate(row.seed, replace(row.wish, part="none"))
        case = Case(text, Way())
        expected, _ = case.accelerations()
    except (Unreachable, Unclear, ts.TorseurError):
        return False
    whole = wrapped(text, random.Random(row.seed), mirrored)
    mechanism = ts.parse(whole.text, directory=DATA)
    assert ts.parse(ts.to_text(mechanism)) == mechanism
    try:
        equations = ts.derive(mechanism, row["formalism"])
    except ts.TorseurError:
        return False
    signs = np.array([_sign(name, case.mechanism, whole.axis) for name in case.names])
    layout = equations.layout
    assert [str(q.name) for q in (*layout.coordinates, *layout.speeds)] == [f"{NAME}.{name}" for name in case.names]
    _, _, solution = solved_accelerations(equations, signs * case.initial, Model(mechanism).constants)
    scale = max(1.0, float(np.max(np.abs(expected), initial=0)))
    theirs = (signs[len(case.coordinates) :] * solution[: len(expected)]) / scale
    np.testing.assert_allclose(theirs, expected / scale, rtol=0, atol=1e-7, err_msg=f"{row}\n{whole.text}")
    return True


def _sign(name, mechanism, axis):
    owners = [j for j in mechanism.joints if name.startswith(f"{j.name}.") or _names(name, j)]
    return 1 if axis is None or not owners else component_sign(name, owners[0], axis)


def _names(name, joint):
    return name.rstrip("'") in [q.name for q in joint.coordinates] or name in [speed.name for speed in joint.speeds]
