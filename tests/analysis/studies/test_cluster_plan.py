"""The simulation of clusters behind the plan of a large study: cases whose time is known."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def plan():
    sys.path.insert(0, str(FOLDER))
    try:
        import cluster_plan
    finally:
        sys.path.remove(str(FOLDER))
    return cluster_plan


def test_one_worker_takes_the_sum_of_all_chunks(plan):
    found = plan.simulate(50, 1, 2.0, 0.0, 0.0, spread=0.0)
    assert found.seconds == pytest.approx(100.0) and found.workers_busy == pytest.approx(1.0)


def test_workers_share_the_work(plan):
    found = plan.simulate(1000, 10, 2.0, 0.0, 0.0, spread=0.0)
    assert found.seconds == pytest.approx(200.0)
    uneven = plan.simulate(1000, 10, 2.0, 0.0, 0.0, spread=0.3)
    assert 200.0 * 0.97 < uneven.seconds < 200.0 * 1.05


def test_a_slow_disk_or_scheduler_is_what_is_waited_for(plan):
    """1000 workers, chunks of 2 s: writing 20 ms each takes 20 s for 1000 chunks, after the first 2 s."""
    written = plan.simulate(1000, 1000, 2.0, 0.02, 0.0, spread=0.0)
    assert written.seconds == pytest.approx(2.0 + 1000 * 0.02) and written.client_busy > 0.9
    handed_out = plan.simulate(1000, 1000, 2.0, 0.0, 0.01, spread=0.0)
    assert handed_out.seconds == pytest.approx(2.0 + 1000 * 0.01, rel=1e-6)


def test_a_cluster_that_writes_by_itself_does_not_wait_for_the_client(plan):
    """0.1 s a chunk to write, 1 ms to finish: a thousand workers are a hundred times faster when they write."""
    costs = plan.Costs(motion=1e-6, bytes_a_point=20, write=0.1, write_a_point=0.0, finish=1e-3, task=1e-3)
    by_client, by_workers = (plan.plan(10**9, costs, 1000, 10**5, shared) for shared in (False, True))
    assert by_client.seconds == pytest.approx(10**4 * 0.101, rel=0.01)
    assert by_workers.seconds == pytest.approx(10**4 * 1e-3, rel=0.05)


@pytest.mark.slow
def test_measured_costs_are_those_of_a_store(plan):
    """Four numbers and a status a point are stored; random digits hardly compress."""
    pytest.importorskip("distributed")
    costs = plan.measured(4000)
    assert 1e-7 < costs.motion < 1e-3 and 10 < costs.bytes_a_point < 40 and 0 < costs.task < 0.1
    long = replace(costs, motion=0.1)  # so that workers are waited for, however slow this disk is
    one, ten = (plan.plan(10**6, long, workers, 10_000).seconds for workers in (1, 10))
    assert one / ten == pytest.approx(10, rel=0.1)
