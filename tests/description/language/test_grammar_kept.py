"""Tables of the grammar are kept between runs: the same statements with and without, and never a reason to fail."""

from __future__ import annotations

import hashlib
import os
import pickle
import subprocess
import sys

import pytest

from torseur import cache
from torseur.description.language import parse, to_text
from torseur.description.language.syntax.grammar import grammar
from torseur.description.library import source_of
from torseur.errors import TorseurError

NAMES = ("double_pendulum", "four_bar", "satellite")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache folder of its own, and no grammar at hand before and after."""
    monkeypatch.setenv("TORSEUR_CACHE", str(tmp_path / "kept"))
    monkeypatch.setattr(cache, "_warned", set())
    grammar.cache_clear()
    yield tmp_path / "kept"
    grammar.cache_clear()


def written():
    """Library mechanisms read and written by a grammar that was just made."""
    grammar.cache_clear()
    return [to_text(parse(source_of(name))) for name in NAMES]


def only_file(folder):
    (file,) = folder.glob("*.kernel")
    return file


@pytest.mark.slow
def test_kept_tables_read_the_same(folder, monkeypatch):
    first, again = written(), written()
    only_file(folder)
    words, spellings = grammar().keywords, grammar().spellings
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    assert first == again == written()
    assert (grammar().keywords, grammar().spellings) == (words, spellings)


@pytest.mark.slow
def test_a_fault_is_told_in_the_same_words(folder, monkeypatch):
    def told():
        grammar.cache_clear()
        with pytest.raises(TorseurError, match="expected") as caught:
            parse("mechanism m;\nparam l = 1 m\njoin a on b;")
        return str(caught.value)

    built, kept = told(), told()
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    assert built == kept == told()


@pytest.mark.slow
def test_kept_tables_are_what_is_used(folder, monkeypatch):
    expected = written()
    monkeypatch.setattr("lark.lark.load_grammar", None)  # what builds tables
    assert written() == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage", [lambda old: b"", lambda old: old[: len(old) // 2], lambda old: old[:80] + b"x" * 50]
)
def test_damaged_tables_are_built_anew(folder, damage):
    expected = written()
    file = only_file(folder)
    whole = file.stat().st_size
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(UserWarning, match="created again"):
        assert written() == expected
    assert only_file(folder).stat().st_size == pytest.approx(whole, rel=0.1)


@pytest.mark.slow
def test_a_folder_that_cannot_be_used_is_no_matter(folder, monkeypatch, recwarn):
    folder.write_text("a file stands where the folder should be")
    expected = written()
    folder.unlink()
    folder.mkdir(mode=0o700)
    folder.chmod(0o777)  # others could write what would be run here
    assert written() == expected and not list(folder.iterdir())
    folder.chmod(0o700)
    monkeypatch.setattr("tempfile.mkstemp", lambda **_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    assert written() == expected and not list(folder.iterdir())
    assert [str(warning.message).split(":")[0] for warning in recwarn.list] == ["compiled code is not kept"] * 3


@pytest.mark.slow
def test_a_planted_pickle_does_not_run(folder):
    """As another user would plant it, in every file of the folder and with the checksum that anybody can compute."""
    expected, place = written(), folder.parent / "ran"
    file = only_file(folder)
    planted = pickle.dumps(RunsWhenRead(f"open({str(place)!r}, 'w')"))
    for content in (planted, b"torseur cache 2\n" + hashlib.sha256(file.stem.encode() + planted).digest() + planted):
        for other in (file, file.with_suffix(".grammar"), folder / "planted.grammar"):
            other.write_bytes(content)
        cache._warned.clear()
        with pytest.warns(UserWarning, match="not written by torseur"):
            assert written() == expected
    assert not place.exists()


class RunsWhenRead:
    """Its pickle runs code as soon as it is read."""

    def __init__(self, code):
        self.code = code

    def __reduce__(self):
        return exec, (self.code,)


@pytest.mark.slow
def test_processes_at_once(folder):
    code = "from torseur.description.library import load; print(load('four_bar').name)"
    children = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=dict(os.environ))
        for _ in range(3)
    ]
    assert len({child.communicate(timeout=120)[0] for child in children}) == 1
    assert not any(child.returncode for child in children)
    only_file(folder)
