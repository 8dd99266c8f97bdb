"""Backends of this machine."""

import pytest

from computation.simulation.emulation import emulated  # noqa: F401
from torseur.computation.codegen.kernels.backends import choose_backend
from torseur.errors import CompilationError


@pytest.fixture(params=["c", "llvm", "python"])
def backend(request):
    try:
        return choose_backend(request.param)
    except CompilationError as missing:
        pytest.skip(str(missing))
