"""Mobility carries an independent check, which fails where the rates are wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur import library
from torseur.derivation.loops.assembly.assembly import closed_state
from torseur.derivation.loops.configuration import closed_configuration
from torseur.derivation.loops.mobility.mobility_check import check_mobility
from torseur.derivation.loops.model.loop_model import loop_system


@pytest.mark.parametrize("name", ["four_bar", "bennett", "flat_parallelogram", "rolling_disc", "pendulum"])
def test_reports_are_checked_unless_told_otherwise(name):
    report = ts.loops(library.load(name))
    assert report.trusted and report.check.error < 1e-8 and report.to_dict()["trusted"] is True
    assert ts.loops(library.load(name), verify=False).check is None


@pytest.mark.parametrize("fault", ["a rate", "a motion"])
def test_wrong_rates_and_motions_are_found(fault):
    """One entry of the Jacobian off by a thousandth, or a direction that is no motion called one."""
    system = loop_system(library.load("four_bar"), 0.0)
    here = closed_configuration(system, closed_state(system, None), np.random.default_rng(0))
    if fault == "a rate":
        jacobian = here.rank.jacobian.copy()
        jacobian[np.unravel_index(np.argmax(np.abs(jacobian)), jacobian.shape)] *= 1.001
        wrong = replace(here.rank, jacobian=jacobian)
    else:
        wrong = replace(here.rank, motions=np.eye(system.n))
    assert check_mobility(here).agrees
    assert not check_mobility(replace(here, rank=wrong)).agrees
