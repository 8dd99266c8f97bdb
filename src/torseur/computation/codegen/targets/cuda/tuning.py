"""Kernels on the device, and how they are launched: a few variants measured once, and the fastest remembered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from torseur.cache import cache_key, load, store
from torseur.computation.codegen.targets.cuda.cuda_entries import KernelSource, StageSource
from torseur.errors import CompilationError

SMALL = 16384
"""States below which a launch is latency, whatever its shape: nothing is measured."""
REPETITIONS = 5
SHARED = 228 * 1024
"""Bytes of shared memory of a multiprocessor."""
OF_BLOCK = 1024
"""Bytes of it that every block takes for itself."""
UNASKED = 48 * 1024
"""Bytes of shared memory that a kernel may have without asking."""


@dataclass(frozen=True)
class Launch:
    """Threads per block, and blocks that must fit on a multiprocessor, which caps the registers of a thread.

    With `spills`, values that find no register then wait in shared memory.
    """

    block: int = 128
    resident: int = 1
    spills: bool = False

    @property
    def registers(self) -> int:
        """What a thread has: a quarter of a multiprocessor holds 16384 registers, given out in eights."""
        # A multiprocessor has four parts with 64 KiB (16384 words) of registers each; a warp of 32 threads runs on one
        # part.
        warps = -(-self.block * self.resident // (32 * 4))
        return min(255, 16384 // (32 * warps) // 8 * 8)

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory that a thread may take."""
        return (SHARED // self.resident - OF_BLOCK) // self.block if self.spills else 0

    @property
    def options(self) -> tuple[str, ...]:
        """What the compiler is told."""
        bounds = f"__launch_bounds__({self.block},{self.resident})"
        return f"-DTORSEUR_BLOCK={self.block}", f"-DTORSEUR_BOUNDS={bounds}"


VARIANTS = (
    *(Launch(128, resident) for resident in (1, 3, 4, 5, 6, 8)),
    *(Launch(64, resident) for resident in (1, 7)),
)
"""Registers left to a thread: 255, 168, 128, 96, 80, 64; 255 and 128."""
SPILLING = tuple(Launch(64, resident, spills=True) for resident in (4, 5, 6, 8, 10))
"""Registers left to a thread: 255, 168, 168, 128, 96; the fewer threads, the more shared memory each has."""
LARGE = 6000
"""Operations above which compiling takes long and few caps make sense."""
FEW_VARIANTS = (Launch(128, 1), Launch(128, 3))
FEW_SPILLING = SPILLING[:3]
# No --use_fast_math: it would replace the sines by those of the special function unit, which FAST_SINES asks for by
# itself. Divisions are few and are followed by products of the same precision.
OPTIONS = ("-DTORSEUR_ZEROS_ARE_THERE", "-std=c++14", "--prec-div=false", "--ftz=true", "--fmad=true")
FAST_SINES = "-DTORSEUR_FAST_SINES"


class Launchable:
    """One kernel: compiled for several ways to launch it, launched in the one that was fastest on this device."""

    def __init__(self, source: KernelSource | StageSource, options: Sequence[str] = ()) -> None:
        self.source, self.options = source, (*OPTIONS, *options)
        self.text = source_for(source, Launch()).text
        self.cupy = cupy()
        self.chosen: Launch | None = None
        self._functions: dict[Launch, tuple[Any, KernelSource]] = {}

    def tune(self, arguments: tuple[Any, ...], n: int) -> bool:
        """Measures a few ways to launch, once for a source and a device; False where nothing was run.

        A kernel may change what it reads: after measurements the results are to be computed again.
        """
        if self.chosen is not None or n < SMALL:
            return False
        key = cache_key("cuda launch, spills", _device(self.cupy), *self.options, self.text)
        # Kept with the compiled code: the same source on the same device is measured once in its life.
        known = load(key)
        if known is None:
            fastest = min(variants_of(self.source), key=lambda launch: self._seconds(launch, arguments, n))
            store(key, json.dumps(asdict(fastest)).encode())
        self.chosen = fastest if known is None else Launch(**json.loads(known))
        return known is None

    def run(self, arguments: tuple[Any, ...], n: int, launch: Launch | None = None) -> None:
        how = launch or self.chosen or Launch()
        function, source = self._function(how)
        function((-(-n // how.block),), (how.block,), arguments, shared_mem=source.shared_bytes * how.block)

    def _function(self, launch: Launch) -> tuple[Any, KernelSource]:
        if launch not in self._functions:
            source = source_for(self.source, launch)
            options = (*self.options, *launch.options)
            module = self.cupy.RawModule(code=source.text, options=options, backend=_compiler(self.cupy))
            function = module.get_function(source.name)
            if source.shared_bytes * launch.block > UNASKED:
                function.max_dynamic_shared_size_bytes = source.shared_bytes * launch.block
            self._functions[launch] = function, source
        return self._functions[launch]

    def compile(self) -> None:
        """Compiles the variant that is launched first; several kernels can do so side by side."""
        self._function(self.chosen or Launch())

    def _seconds(self, launch: Launch, arguments: tuple[Any, ...], n: int) -> float:
        """The shortest of some launches."""
        self.run(arguments, n, launch)
        times = []
        for _ in range(REPETITIONS):
            begin, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
            begin.record()
            self.run(arguments, n, launch)
            end.record()
            end.synchronize()
            times.append(float(self.cupy.cuda.get_elapsed_time(begin, end)))
        return min(times)


def source_for(source: KernelSource | StageSource, launch: Launch) -> KernelSource:
    return source.within(launch.registers, launch.shared_bytes)


def variants_of(source: KernelSource | StageSource) -> list[Launch]:
    """The ways to launch that are worth a measurement."""
    plain, spilling = (VARIANTS, SPILLING) if source.operations < LARGE else (FEW_VARIANTS, FEW_SPILLING)
    return [*plain, *(launch for launch in spilling if source.spills(launch.registers, launch.shared_bytes))]


def run_all(stages: Sequence[Launchable], arguments: tuple[Any, ...], n: int) -> None:
    """All stages one after the other; the first time with many states, each is measured after those before it."""
    if len(stages) > 1:
        with ThreadPoolExecutor() as pool:
            list(pool.map(Launchable.compile, stages))
    # Stages read what those before them wrote, and measuring runs a stage several times: all run again at the end.
    measured = False
    for stage in stages:
        measured |= stage.tune(arguments, n)
        stage.run(arguments, n)
    if measured:
        for stage in stages:
            stage.run(arguments, n)


def _compiler(cupy: Any) -> str:
    """NVRTC, or nvcc where that library is missing."""
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception:  # whatever the loader of libraries raises
        return "nvcc"
    return "nvrtc"


def _device(cupy: Any) -> str:
    return str(cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"])


def cupy() -> Any:
    """CuPy with a device behind it; says what is missing."""
    try:
        import cupy as library
    except ImportError:
        raise CompilationError(
            "backend 'cuda' needs CuPy (pip install cupy-cuda13x, or the one of your CUDA version). "
            "Sources are generated without: target 'cuda'."
        ) from None
    try:
        devices = library.cuda.runtime.getDeviceCount()
    except library.cuda.runtime.CUDARuntimeError as problem:
        raise CompilationError(f"backend 'cuda' found no usable GPU: {problem}.") from None
    if not devices:
        raise CompilationError("backend 'cuda' found no GPU.")
    return library
