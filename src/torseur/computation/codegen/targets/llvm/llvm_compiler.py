"""LLVM in this process: assembly text to machine code, without any program outside Python."""

from __future__ import annotations

import ctypes.util
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from torseur.cache import cache_key, load, store
from torseur.computation.codegen.kernels.machine_code import Library, Shape
from torseur.errors import CompilationError

_CODE_GENERATION_LEVEL = 1
"""Level 2 takes 20 to 40 % longer and gains at most 3 %; level 0 halves the speed of large programs."""

# Straight-line code was folded, shared and ordered before it was printed (docs/decisions/0008): what is left to LLVM is
# to copy small programs into their callers and to turn stack slots into registers.
_STRAIGHT_PASSES = ("always_inliner", "sroa", "simplify_cfg")
_LOOP_PASSES = (
    "always_inliner",
    "sroa",
    "simplify_cfg",
    "instruction_combine",
    "loop_rotate",
    "loop_unroll",
    # A second time, for what unrolling has made constant; the first gives rotation and unrolling constant bounds.
    "instruction_combine",
    "sroa",
    "simplify_cfg",
    "dead_store_elimination",
    "global_dead_code_eliminate",
)
"""An integrator compiles in a third of the time of LLVM's own pipeline at level 2 and runs as fast."""

# LLVM's pass builders and target machines are shared by the process and keep state while they run.
_lock = threading.Lock()


@cache
def _binding() -> Any:
    """llvmlite, loaded when the first unit is compiled; it takes a tenth of a second."""
    import llvmlite.binding

    return llvmlite.binding


def build(source: str, shape: Shape) -> Library:
    """The loaded code of a module, compiled or taken from the cache."""
    with _lock:
        start = time.perf_counter()
        # The machine code depends on the processor: a cache on a shared disk holds one entry for each kind.
        # (source, shape, LLVM, processor) decide the machine code: nothing else may enter the generated text.
        key = cache_key("llvm", source, shape.value, _identity())
        code = load(key)
        cached = code is not None
        if code is None:
            code = _compile(source, shape)
            store(key, code)
        engine = _engine(code)
        return Library("llvm", source, time.perf_counter() - start, cached, engine, _symbol_address)


def _compile(source: str, shape: Shape) -> bytes:
    """Machine code. The source has a context of its own: the common one keeps every number of every source for good."""
    llvm = _binding()
    context = llvm.create_context()
    try:
        # `verify` before any pass: a pass that is given ill-formed code may end the process instead of raising.
        with llvm.parse_assembly(source, context) as module:
            module.verify()
            with _passes(shape) as manager:
                manager.run(module, _builder(shape))
            return bytes(_machine().emit_object(module))
    except RuntimeError as error:
        raise CompilationError(f"LLVM refused the generated code: {error}") from error
    finally:
        context.close()


@contextmanager
def _passes(shape: Shape) -> Iterator[Any]:
    """The chosen passes, or LLVM's own pipeline where loops are long. They keep what they found out about a module."""
    manager = _binding().create_new_module_pass_manager()
    if shape is Shape.LONG_LOOPS or not hasattr(manager, "add_sroa_pass"):
        _dispose(manager)
        manager = _builder(shape).getModulePassManager()
    else:
        for name in _STRAIGHT_PASSES if shape is Shape.STRAIGHT else _LOOP_PASSES:
            getattr(manager, f"add_{name}_pass")()
    try:
        yield manager
    finally:
        _dispose(manager)


def _dispose(manager: Any) -> None:
    """Gives passes back to LLVM, which their Python object has not done up to llvmlite 0.50: half a megabyte each."""
    ffi = _binding().ffi
    if type(manager)._dispose is ffi.ObjectRef._dispose and hasattr(ffi.lib, "LLVMPY_DisposeNewModulePassManger"):
        ffi.lib.LLVMPY_DisposeNewModulePassManger(manager)
        manager.detach()
    manager.close()


@cache
def _builder(shape: Shape) -> Any:
    llvm = _binding()
    options = llvm.create_pipeline_tuning_options(speed_level=1)
    # What pays for long loops slows short ones down: LONG_LOOP in kernels/linking.py.
    options.loop_vectorization = shape is Shape.LONG_LOOPS
    options.slp_vectorization = False
    return llvm.create_pass_builder(_machine(), options)


def _engine(code: bytes) -> Any:
    llvm = _binding()
    _provide_c_library()
    # An engine takes its machine for good, so that each gets a new one; the code comes as an object beside an empty
    # module, which is how code from the cache is loaded too.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(), use_lmm=False)
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


@cache
def _provide_c_library() -> None:
    """Makes the C library known to the linker: generated code calls it by name, and so does LLVM on its own."""
    llvm = _binding()
    libraries = {"win32": ("ucrtbase.dll",), "darwin": ("/usr/lib/libSystem.dylib",)}
    for name in libraries.get(sys.platform, ("libm.so.6", "libc.so.6")):
        try:
            llvm.load_library_permanently(name)
        except RuntimeError:
            path = ctypes.util.find_library(name.partition(".")[0].removeprefix("lib"))
            if path is None:
                raise CompilationError(f"the C library '{name}' was not found. Use backend='c'.") from None
            llvm.load_library_permanently(path)


def _symbol_address(engine: Any, symbol: str) -> int:
    address = int(engine.get_function_address(symbol))
    assert address, symbol
    return address


@cache
def _machine() -> Any:
    """The code generator for this processor."""
    return _new_machine()


def _new_machine() -> Any:
    llvm = _binding()
    _initialise()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=_CODE_GENERATION_LEVEL,
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _initialise() -> None:
    llvm = _binding()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def _identity() -> str:
    """What makes two compilations of one source differ: LLVM's version, the processor, the passes."""
    llvm = _binding()
    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features().flatten()
    passes = " ".join((*_STRAIGHT_PASSES, *_LOOP_PASSES, str(_CODE_GENERATION_LEVEL)))
    return f"{version} {llvm.get_default_triple()} {llvm.get_host_cpu_name()} {features} {passes}"
