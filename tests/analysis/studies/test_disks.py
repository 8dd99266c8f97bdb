"""Stores that survive: workers and clients killed, disks that are full or read-only, two sweeps at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray

import torseur as ts
from torseur.analysis.studies import sweep
from torseur.analysis.studies.sweeps import sweep as sweeping
from torseur.errors import TorseurError

SOURCE = Path(ts.__file__).resolve().parents[1]
STUDY = """
mechanism = "library:mass_spring_damper"
until = "2 s"
rtol = 1e-10
chunk = {chunk}

[vary]
m = {{ from = "0.5 kg", to = "2 kg", count = {count} }}
k = {{ from = "30 N/m", to = "50 N/m", count = {count} }}

[criteria]
x = "x"
sum = {{ integral = "x" }}
"""


def write(folder, chunk=3, count=5):
    path = folder / "oscillator.toml"
    path.write_text(STUDY.format(chunk=chunk, count=count))
    return path


def run(script, *arguments, **options):
    """A Python process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options
    )


def same_bits(one, other):
    """Whether two datasets hold the same numbers, bit by bit."""
    return set(one) == set(other) and all(one[name].values.tobytes() == other[name].values.tobytes() for name in one)


SLOW = """
import sys, time
from torseur.analysis.studies import sweep
from torseur.analysis.studies.sweeps.result_store import Store
finish = Store.finish
def slow(self, number, failures):
    finish(self, number, failures)
    print(number, flush=True)
    time.sleep(0.3)
Store.finish = slow
sweep(sys.argv[1], sys.argv[2], cores=2)
"""


@pytest.mark.slow
def test_a_killed_client_and_two_sweeps_at_once(tmp_path):
    study, store = write(tmp_path), tmp_path / "killed.zarr"
    client = run(SLOW, study, store)
    first = client.stdout.readline().strip()
    assert first.isdigit()
    with pytest.raises(TorseurError, match="another sweep"):
        sweep(study, store)
    client.send_signal(signal.SIGKILL)
    client.wait()
    halfway = xarray.open_zarr(store, consolidated=False).load()
    assert set(np.unique(halfway["status"])) == {0, 1}
    done = halfway["status"].values == 1
    assert np.isfinite(halfway["x"].values[done]).all() and np.isfinite(halfway["m"].values[done]).all()
    whole = sweep(study, tmp_path / "whole.zarr").store.dataset()
    rest = sweep(study, store)
    assert 0 < rest.computed < 25 and same_bits(whole, rest.store.dataset())
    assert sweep(study, store).computed == 0


KILLING = """
import os, pathlib, signal, sys
from torseur.analysis.studies import sweep
from torseur.analysis.studies.sweeps.result_store import Store
finish, killed = Store.finish, []
def kill_a_worker(self, number, failures):
    finish(self, number, failures)
    if not killed:
        lists = [path.read_text().split() for path in pathlib.Path(f"/proc/{os.getpid()}/task").glob("*/children")]
        children = [pid for listed in lists for pid in listed]
        found = [int(pid) for pid in children if b"spawn_main" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]
        os.kill(found[0], signal.SIGKILL)
        killed.append(found[0])
Store.finish = kill_a_worker
if __name__ == "__main__":
    sweep(sys.argv[1], sys.argv[2], **eval(sys.argv[3]))
    print("killed", len(killed))
"""
CLOSED = """
mechanism = "library:four_bar"
until = "0.2 s"
chunk = 1
[vary]
a = { from = "0.35 m", to = "0.45 m", count = 8 }
[criteria]
angle = "alpha"
"""


ORPHANS = """
import sys
from torseur.analysis.studies import sweep
from torseur.analysis.studies.sweeps.result_store import Store
finish = Store.finish
def say(self, number, failures):
    finish(self, number, failures)
    print(number, flush=True)
Store.finish = say
if __name__ == "__main__":
    sweep(sys.argv[1], sys.argv[2], cores=2)
"""


def children_of(pid):
    lists = [path.read_text().split() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(child) for listed in lists for child in listed]


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks at processes")
def test_workers_end_with_a_killed_sweep(tmp_path):
    """A sweep over loops has processes; none outlives it, also those at work."""
    study = tmp_path / "loops.toml"
    study.write_text(CLOSED.replace("count = 8", "count = 60"))
    (tmp_path / "run.py").write_text(ORPHANS)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "run.py", str(study), "killed.zarr"]
    client = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True)
    assert client.stdout.readline().strip().isdigit()
    workers = children_of(client.pid)
    assert len(workers) >= 2
    client.kill()
    client.wait()
    for _ in range(500):
        if not any(Path(f"/proc/{pid}").exists() for pid in workers):
            return
        time.sleep(0.02)
    raise AssertionError("workers outlive their sweep")


def killed_once(folder, study, options):
    (folder / "run.py").write_text(KILLING)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "run.py", str(study), "killed.zarr", options]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "killed 1" in done.stdout, done.stderr[-2000:]
    whole = sweep(study, folder / "whole.zarr", cores=1).store.dataset()
    again = sweep(study, folder / "killed.zarr", cores=1)
    assert again.computed == 0 and same_bits(whole, again.store.dataset())


@pytest.mark.slow
def test_a_killed_process_is_replaced(tmp_path):
    """A closed loop runs in processes; one of them dies after the first chunk."""
    study = tmp_path / "loop.toml"
    study.write_text(CLOSED)
    killed_once(tmp_path, study, "dict(cores=2)")


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_is_replaced(tmp_path):
    pytest.importorskip("distributed")
    killed_once(tmp_path, write(tmp_path), "dict(workers=2)")


@pytest.mark.slow
def test_a_killed_worker_that_writes_its_chunks_itself(tmp_path):
    pytest.importorskip("distributed")
    killed_once(tmp_path, write(tmp_path), "dict(workers=2, shared=True)")


FULL = """
import resource, sys
from torseur.errors import TorseurError
from torseur.analysis.studies import sweep
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    sweep(sys.argv[1], sys.argv[2])
except TorseurError as problem:
    print(problem)
"""


@pytest.mark.slow
def test_a_file_that_may_not_grow(tmp_path):
    """A limit on the size of files stops the first chunk; the store opens, and the sweep goes on without the limit."""
    study, store = write(tmp_path, chunk=900, count=30), tmp_path / "full.zarr"
    said, errors = run(FULL, study, store, 6000).communicate(timeout=60)
    assert "File too large. What was stored is kept" in said, errors
    assert np.isnan(xarray.open_zarr(store, consolidated=False)["x"]).all()
    assert sweep(study, store).computed == 900


@pytest.mark.slow
def test_a_full_disk(tmp_path, monkeypatch):
    """A disk of 300 kB; some chunks fit, the next says so, and what is there can be read."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    # Others may fill a disk while a sweep runs: what is judged before it begins is not what is left in the end.
    monkeypatch.setattr(sweeping, "require_disk", lambda *_: None)
    try:
        study = write(tmp_path, chunk=100, count=100)
        with pytest.raises(TorseurError, match=r"No space left on device. What was stored is kept"):
            sweep(study, disk / "s.zarr")
        data = xarray.open_zarr(disk / "s.zarr", consolidated=False).load()
        done = data["status"].values == 1
        assert 0 < done.sum() < 10_000 and np.isfinite(data["x"].values[done]).all()
        with pytest.raises(TorseurError, match="No space left"):
            sweep(study, disk / "s.zarr")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_store_that_may_only_be_read(tmp_path):
    """A disk that is remounted for reading only, with something left to do."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)], capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        study = write(tmp_path)
        store = sweep(study, disk / "s.zarr").store
        (store.path / "status" / "c" / "0").unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(TorseurError, match=r"s.zarr': Read-only file system. What was stored is kept"):
            sweep(study, disk / "s.zarr")
        assert xarray.open_zarr(disk / "s.zarr", consolidated=False).load().sizes["point"] == 25
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_nothing_half_made_is_left_beside(tmp_path):
    """A store that cannot be made leaves nothing under its name."""
    study = write(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(TorseurError, match=r"Not a directory|File exists"):
        sweep(study, tmp_path / "file" / "s.zarr")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "oscillator.toml"]


def test_what_is_no_store_is_said(tmp_path):
    study = write(tmp_path)
    store = sweep(study).store
    (store.path / "zarr.json").write_text("{")
    (store.path / "status" / "seals" / "layout").write_text("{")
    with pytest.raises(TorseurError, match="not a readable store"):
        sweep(study)
    (tmp_path / "empty").mkdir()
    assert sweep(study, tmp_path / "empty").computed == 25
