"""Findings do not depend on the unit of length, on the choice of tree, or on where the search starts."""

from __future__ import annotations

from dataclasses import replace

import pytest

import torseur.description.mechanism as tm
from derivation.loops import curious as c
from derivation.loops import mechanisms as m
from torseur.derivation.loops import loops

MAKERS = (m.four_bar, m.flat_parallelogram, m.stretched_four_bar, m.parallelogram_with_bar, m.slider_crank, m.bennett,
          m.sarrus, m.stewart, m.delta, m.saliere, m.constant_velocity, lambda unit=1: m.antenna_strip(2, unit))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
def test_unit_of_length_plays_no_role(make, unit):
    usual, scaled = loops(make()), loops(make(unit=unit))
    for attribute in ("rank", "infinitesimal", "finite", "redundant", "count", "generic_rank", "branches"):
        assert getattr(usual, attribute) == getattr(scaled, attribute), attribute


def recut(mechanism: tm.Mechanism, closing: str) -> tm.Mechanism:
    """The mechanism with one joint forced to close a loop."""
    joints = [replace(joint, role="loop") if joint.name == closing else joint for joint in mechanism.joints]
    return tm.Mechanism(mechanism.name, bodies=mechanism.bodies, joints=joints, constraints=mechanism.constraints,
                        initial=mechanism.initial, parameters=mechanism.parameters)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("make", [m.four_bar, m.flat_parallelogram, m.bennett, m.sarrus, m.saliere, c.screws])
def test_choice_of_tree_plays_no_role(make):
    mechanism = make()
    usual = loops(mechanism)
    for joint in mechanism.joints:
        other = loops(recut(mechanism, joint.name))
        assert other.cut.closing == (joint.name,)
        assert (other.rank, other.infinitesimal, other.finite) == (usual.rank, usual.infinitesimal, usual.finite)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_random_numbers_play_no_role(seed):
    for make, finite in ((c.rhombus, 1), (c.concurrent_bars, 0), (c.parallel_hexapod, 2), (c.k33_on_circle, 3)):
        assert loops(make(), seed=seed).finite == finite
