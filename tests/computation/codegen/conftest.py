"""A cache folder of its own for every test, and the backends of this machine."""

import pytest

from torseur.computation.codegen.kernels.backends import choose_backend
from torseur.errors import CompilationError


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    folder = tmp_path / "kernels"
    monkeypatch.setenv("TORSEUR_CACHE", str(folder))
    return folder


@pytest.fixture(params=["python", "c", "llvm"])
def backend(request):
    return available(request.param)


@pytest.fixture(params=["c", "llvm"])
def compiled_backend(request):
    return available(request.param)


def available(name):
    try:
        return choose_backend(name)
    except CompilationError as missing:
        pytest.skip(str(missing))
