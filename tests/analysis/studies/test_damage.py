"""Damaged stores and logs: every byte that is not as it was written is noticed, named and computed again.

Oracle: a store that was never touched, bit by bit.
"""

from __future__ import annotations

import random
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from torseur.analysis.studies import check_sweep, optimise, sweep
from torseur.cli.app import app
from torseur.edges.integrity import seal, unseal
from torseur.errors import TorseurError

STUDY = """
mechanism = "library:mass_spring_damper"
until = "2 s"
samples = 5
chunk = 3

[vary]
m = { from = "0.5 kg", to = "2 kg", count = 4 }
c = { values = [0.5, 0.6, 0.7] }

[criteria]
x = "x"

[outputs]
place = "x"
"""
OPTIMISATION = """
mechanism = "library:mass_spring_damper"
until = "1 s"
rtol = 1e-8
objective = "miss"
starts = 3
[vary]
k = { from = "10 N/m", to = "35 N/m" }
[criteria]
miss = "(x - 0.05)^2"
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    study = folder / "s.toml"
    study.write_text(STUDY)
    return study, sweep(study, folder / "s.zarr", cores=1).store


def same_bits(one, other):
    return set(one) == set(other) and all(one[name].values.tobytes() == other[name].values.tobytes() for name in one)


def flip(file, generator):
    content = bytearray(file.read_bytes())
    content[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
    file.write_bytes(bytes(content))


def truncate(file, generator):
    file.write_bytes(file.read_bytes()[: generator.randrange(file.stat().st_size)])


def delete(file, generator):
    file.unlink()


def empty(file, generator):
    file.write_bytes(b"")


def garbage(file, generator):
    file.write_bytes(generator.randbytes(file.stat().st_size))


def folder_instead(file, generator):
    file.unlink()
    file.mkdir()


DAMAGES = [flip, truncate, delete, empty, garbage, folder_instead]


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_any_file_of_a_store_may_be_damaged(made, tmp_path, damage):
    """Every file in turn: numbers, status, metadata, checksums."""
    study, whole = made
    expected, generator = whole.dataset(), random.Random(7)
    names = sorted(file.relative_to(whole.path) for file in whole.path.rglob("*") if file.is_file())
    assert len(names) > 25
    # Every file meets one kind of damage; the kinds go on from file to file. `make edges` tries all with all.
    for name in names[DAMAGES.index(damage) :: len(DAMAGES)]:
        copy = tmp_path / "copy.zarr"
        shutil.copytree(whole.path, copy)
        damage(copy / name, generator)
        assert check_sweep(study, copy), name
        again = sweep(study, copy, cores=1)
        assert again.damage and same_bits(again.store.dataset(), expected), name
        assert not check_sweep(study, copy)
        shutil.rmtree(copy)


def test_a_deleted_chunk_is_named_and_computed_again(made, tmp_path):
    study, whole = made
    copy = tmp_path / "copy.zarr"
    shutil.copytree(whole.path, copy)
    (copy / "x" / "c" / "2").unlink()
    assert [str(damage) for damage in check_sweep(study, copy)] == ["'x', chunk 2: missing"]
    checked = CliRunner().invoke(app, ["sweep", str(study), "-o", str(copy), "--check"])
    assert checked.exit_code == 1 and "damaged: 'x', chunk 2: missing" in checked.stdout
    again = sweep(study, copy, cores=1)
    assert again.computed == 3 and np.isfinite(again.store.column("x")).all()
    checked = CliRunner().invoke(app, ["sweep", str(study), "-o", str(copy), "--check"])
    assert checked.exit_code == 0 and "as it was written" in checked.stdout


def test_chunks_that_changed_places_are_noticed(made, tmp_path):
    study, whole = made
    copy = tmp_path / "copy.zarr"
    shutil.copytree(whole.path, copy)
    for name in ("x/c", "status/seals"):
        first, second = copy / name / "0", copy / name / "1"
        content = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(content)
    assert {damage.chunk for damage in check_sweep(study, copy)} == {0, 1}


def test_a_store_without_its_status_is_computed_again(made, tmp_path):
    study, whole = made
    copy = tmp_path / "copy.zarr"
    shutil.copytree(whole.path, copy)
    shutil.rmtree(copy / "status")
    again = sweep(study, copy, cores=1)
    assert again.computed == 12 and again.damage and same_bits(again.store.dataset(), whole.dataset())


def test_a_line_is_sealed_against_every_change():
    line = seal({"a": 1, "b": [0.1, float("inf")], "c": "é'"})
    assert unseal(line) == {"a": 1, "b": [0.1, float("inf")], "c": "é'"}
    for place in range(len(line)):
        for bit in range(8):
            changed = line[:place] + bytes([line[place] ^ 1 << bit]) + line[place + 1 :]
            assert unseal(changed) is None
        assert unseal(line[:place]) is None


@pytest.fixture(scope="module")
def logged(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logged")
    study = folder / "o.toml"
    study.write_text(OPTIMISATION)
    return study, optimise(study, folder / "log.jsonl", cores=1), (folder / "log.jsonl").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip, delete, garbage])
def test_any_line_of_a_log_may_be_damaged(logged, tmp_path, damage):
    study, whole, content = logged
    generator, lines = random.Random(3), content.splitlines(keepends=True)
    log = tmp_path / "log.jsonl"
    # Every ninth line is enough for all kinds: the first, steps of each start, the ends.
    for place in sorted({0, len(lines) - 1, *range(0, len(lines), 9)}):
        line = tmp_path / "line"
        line.write_bytes(lines[place])
        damage(line, generator)
        rest = line.read_bytes() if line.exists() else b""
        log.write_bytes(b"".join([*lines[:place], rest, *lines[place + 1 :]]))
        again = optimise(study, log, cores=1)
        assert again.point["k"] == pytest.approx(whole.point["k"], rel=1e-6), place
        # An end that is gone cannot be told from a search that was stopped, and the first line says nothing that the
        # others do not say.
        assert again.damage or (damage is delete and b'"step":' not in lines[place]), place


def test_a_file_that_is_no_log_stays(logged, tmp_path):
    study, _, _ = logged
    notes = tmp_path / "notes.txt"
    notes.write_text("do not touch\n")
    with pytest.raises(TorseurError, match="not a readable optimisation log"):
        optimise(study, notes)
    assert notes.read_text() == "do not touch\n"
