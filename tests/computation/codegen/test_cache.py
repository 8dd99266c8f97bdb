"""The cache of compiled code: used when whole, rebuilt when not, never a reason to fail."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest

from torseur import cache
from torseur.algebra.graph import Input, Program, symbol, vector
from torseur.algebra.graph.scalar import sin
from torseur.computation.codegen import compile_program, compile_routine
from torseur.computation.codegen.kernels import kernel
from torseur.computation.codegen.routine import routine
from torseur.edges import integrity

SOURCE = Path(__file__).resolve().parents[3] / "src"


def program(factor=2.0):
    x = symbol("x")
    return Program("f", (Input("x", (x,)),), (vector("y", [factor * sin(x)]),))


@routine
def square(x: float) -> float:
    return x * x


def value(backend, factor=2.0):
    made = compile_program(program(factor), backend)
    assert made(0.5)["y"][0] == pytest.approx(factor * np.sin(0.5), rel=1e-15)
    return made.timing.cached


@pytest.fixture(autouse=True)
def one_file_per_program(monkeypatch):
    """The entry that takes arrays, made at the first call, is a file of its own: here programs are called without it."""
    monkeypatch.setattr(kernel, "array_entry", lambda library, symbol, sizes, shapes, otherwise: otherwise)


def only_file(folder):
    (file,) = folder.glob("*.kernel")
    return file


def test_second_time_comes_from_the_cache(compiled_backend, cache_folder):
    assert not value(compiled_backend)
    assert value(compiled_backend)
    assert not value(compiled_backend, factor=3.0)
    assert len(list(cache_folder.glob("*.kernel"))) == 2
    assert not compile_routine(square, backend=compiled_backend).cached
    again = compile_routine(square, backend=compiled_backend)
    assert again.cached and again(3.0) == 9.0


def damage_truncate(content):
    return content[: len(content) // 2]


def damage_one_bit(content):
    return content[:-20] + bytes([content[-20] ^ 1]) + content[-19:]


DAMAGES = {
    "truncated": damage_truncate,
    "one bit": damage_one_bit,
    "empty": lambda content: b"",
    "garbage": lambda content: os.urandom(len(content)),
    "only the mark": lambda content: content[:17],
    "longer": lambda content: content + b"more",
    "text": lambda content: b"\x7fELF" + content,
}


@pytest.fixture(autouse=True)
def nothing_said_yet(monkeypatch):
    monkeypatch.setattr(cache, "_warned", set())


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_file_is_rebuilt(compiled_backend, cache_folder, damage):
    value(compiled_backend)
    file = only_file(cache_folder)
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(UserWarning, match="damaged or was not written by torseur"):
        assert not value(compiled_backend)
    assert value(compiled_backend)


def test_code_of_another_program_under_the_same_name_is_rebuilt(compiled_backend, cache_folder):
    value(compiled_backend, 2.0)
    first = only_file(cache_folder)
    value(compiled_backend, 3.0)
    (other,) = set(cache_folder.glob("*.kernel")) - {first}
    first.write_bytes(other.read_bytes())
    with pytest.warns(UserWarning, match="damaged or was not written by torseur"):
        assert not value(compiled_backend, 2.0)


def test_key_depends_on_every_part():
    different = [("a", "b"), ("ab", ""), ("", "ab"), ("a", "c"), ("a", "b", "")]
    assert len({cache.cache_key(*parts) for parts in different}) == 5


def test_off(monkeypatch, compiled_backend, tmp_path):
    monkeypatch.setenv("TORSEUR_CACHE", "off")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "elsewhere"))
    assert not value(compiled_backend) and not value(compiled_backend)
    assert not (tmp_path / "elsewhere").exists()


def test_platform_folder(monkeypatch, tmp_path):
    monkeypatch.delenv("TORSEUR_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "torseur"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.cache_folder() == Path.home() / "Library" / "Caches" / "torseur"


def warned_once(compiled_backend, message):
    cache._warned.clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not value(compiled_backend) and not value(compiled_backend)
    mine = [str(w.message) for w in caught if "compiled code is not kept" in str(w.message)]
    assert len(mine) == 1 and message in mine[0]


def test_folder_that_cannot_be_made(compiled_backend, cache_folder):
    cache_folder.write_text("a file stands where the folder should be")
    warned_once(compiled_backend, "TORSEUR_CACHE")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), PermissionError(13, "Permission denied")])
def test_folder_that_cannot_be_written(compiled_backend, cache_folder, monkeypatch, error):
    def refused(*_):
        raise error

    cache_folder.mkdir(mode=0o700)
    monkeypatch.setattr(cache, "_write_atomically", refused)
    warned_once(compiled_backend, error.strerror)
    assert not list(cache_folder.glob("*.kernel"))


@pytest.mark.skipif(os.name != "posix", reason="file modes")
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o720])
@pytest.mark.parametrize("above", [0, 1, 2])
def test_folder_open_to_others_is_not_trusted(cache_folder, monkeypatch, above, mode):
    """Whether the folder itself or one above it, through which another could be put in its place."""
    folder = cache_folder / "b" / "c"
    monkeypatch.setenv("TORSEUR_CACHE", str(folder))
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    (folder, *folder.parents)[above].chmod(mode)
    cache._warned.clear()
    with pytest.warns(UserWarning, match="other users can write") as told:
        cache.store("key", b"code")
        assert cache.load("key") is None
    assert len(told) == 1 and not list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix" or os.getuid(), reason="giving a folder away needs the system's rights")
@pytest.mark.parametrize("above", [0, 1, 2])
def test_folder_of_another_user_is_not_trusted(cache_folder, monkeypatch, above):
    folder = cache_folder / "b" / "c"
    monkeypatch.setenv("TORSEUR_CACHE", str(folder))
    folder.mkdir(parents=True, mode=0o700)
    os.chown((folder, *folder.parents)[above], 12345, -1)
    cache._warned.clear()
    with pytest.warns(UserWarning, match="belongs to another user"):
        cache.store("key", b"code")
    assert cache.load("key") is None and not list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="file modes")
def test_a_sticky_folder_above_is_no_matter(cache_folder):
    """As /tmp is: everybody writes there, nobody renames what is another's."""
    cache_folder.mkdir(mode=0o700)
    cache_folder.parent.chmod(0o1777)
    cache.store("key", b"code")
    assert cache.load("key") == b"code"


def forge_with_plain_checksum(file, content):
    file.write_bytes(content[:16] + hashlib.sha256(b"key" + b"evil").digest() + b"evil")


def forge_with_own_secret(file, content):
    file.write_bytes(content[:16] + integrity.keyed_digest(b"guess" * 7, b"key", b"evil") + b"evil")


def forge_by_link(file, content):
    elsewhere = file.parent.parent / "elsewhere"
    elsewhere.write_bytes(content)
    file.unlink()
    file.symlink_to(elsewhere)


def forge_by_pipe(file, content):
    file.unlink()
    os.mkfifo(file)


def forge_by_mode(file, content):
    file.chmod(0o666)


FORGERIES = [forge_with_plain_checksum, forge_with_own_secret, forge_by_link, forge_by_pipe, forge_by_mode]


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and file modes")
@pytest.mark.parametrize("forge", FORGERIES)
def test_what_is_not_ours_is_ignored_with_one_line(cache_folder, forge):
    cache.store("key", b"code")
    file = only_file(cache_folder)
    forge(file, file.read_bytes())
    cache._warned.clear()
    with pytest.warns(UserWarning, match="ignored|other users") as told:
        assert cache.load("key") is None
        assert cache.load("key") is None
    assert len(told) == 1
    cache.store("key", b"code")
    assert cache.load("key") == b"code"


@pytest.mark.parametrize("spoil", [lambda s: s.write_bytes(b"short"), lambda s: s.chmod(0o644), lambda s: s.unlink()])
def test_a_secret_that_others_know_is_made_anew(cache_folder, spoil):
    cache.store("key", b"code")
    before = (cache_folder / "secret").read_bytes()
    spoil(cache_folder / "secret")
    cache._warned.clear()
    with pytest.warns(UserWarning, match="ignored"):
        assert cache.load("key") is None
    cache.store("key", b"code")
    assert cache.load("key") == b"code" and (cache_folder / "secret").read_bytes() != before


def test_failed_write_leaves_nothing_behind(cache_folder, monkeypatch):
    cache_folder.mkdir(mode=0o700)
    monkeypatch.setattr(cache.os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    cache._warned.clear()
    with pytest.warns(UserWarning, match="full"):
        cache.store("key", b"code")
    assert [file.name for file in cache_folder.iterdir()] == ["secret"]


def test_folder_stays_bounded(cache_folder, monkeypatch):
    monkeypatch.setattr(cache, "_LARGEST_NUMBER_OF_FILES", 8)
    for number in range(30):
        cache.store(f"key{number}", b"code")
    assert len(list(cache_folder.glob("*.kernel"))) <= 8
    assert cache.load("key29") == b"code"


CHILD = """
import sys
sys.path.insert(0, {source!r})
import numpy as np
from torseur.computation.codegen import compile_program
from torseur.algebra.graph import Input, Program, symbol, vector
x = symbol("x")
for factor in range(1, 7):
    program = Program("f", (Input("x", (x,)),), (vector("y", [factor * x + 0.25]),))
    result = compile_program(program, {backend!r})(2.0)["y"][0]
    assert result == 2.0 * factor + 0.25, result
print("done")
"""


@pytest.mark.slow
def test_processes_at_once(compiled_backend, cache_folder):
    code = textwrap.dedent(CHILD).format(source=str(SOURCE), backend=compiled_backend)
    children = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [child.communicate(timeout=120)[0].strip() for child in children] == ["done"] * 3
    names = sorted(file.name for file in cache_folder.iterdir())
    # Six programs, the entry that takes their arrays, and the secret.
    assert len(names) == 8 and names[-1] == "secret" and all(name.endswith(".kernel") for name in names[:-1])
    for file in cache_folder.glob("*.kernel"):
        assert cache.load(file.stem) is not None
