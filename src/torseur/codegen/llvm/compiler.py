"""LLVM in this process: assembly text to machine code, without any program outside Python."""

from __future__ import annotations

import ctypes.util
import sys
import threading
import time
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from torseur.codegen.cache import cache_key, load, store
from torseur.codegen.library import Library
from torseur.errors import CompilationError

_lock = threading.Lock()


def build(source: str, level: int) -> Library:
    """The loaded code of a module, compiled at an optimisation level or taken from the cache."""
    with _lock:
        machine_key = _machine(level)[1]
        key = cache_key("llvm", source, machine_key, str(level))
        start = time.perf_counter()
        code = load(key)
        cached = code is not None
        if code is None:
            code = _compile(source, level)
            store(key, code)
        engine = _engine(code)
        return Library("llvm", source, time.perf_counter() - start, cached, engine, _symbol_address)


def _compile(source: str, level: int) -> bytes:
    machine = _machine(level)[0]
    try:
        module = llvm.parse_assembly(source)
    except RuntimeError as error:
        raise CompilationError(f"LLVM refused the generated code: {error}") from error
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))


def _engine(code: bytes) -> Any:
    _provide_math()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(0))
    engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


@cache
def _provide_math() -> None:
    """Makes the C library known to the linker: generated code calls it by name, and so does LLVM on its own."""
    libraries = {"win32": ("ucrtbase.dll",), "darwin": ("/usr/lib/libSystem.dylib",)}
    for name in libraries.get(sys.platform, ("libm.so.6", "libc.so.6")):
        try:
            llvm.load_library_permanently(name)
        except RuntimeError:
            found = ctypes.util.find_library(name.partition(".")[0].removeprefix("lib"))
            if found is None:
                raise CompilationError(f"the C library '{name}' was not found. Use backend='c'.") from None
            llvm.load_library_permanently(found)


def _symbol_address(engine: Any, symbol: str) -> int:
    address = int(engine.get_function_address(symbol))
    assert address, symbol
    return address


def _new_machine(level: int) -> Any:
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=level, codemodel="jitdefault",
        jit=True,
    )


@cache
def _machine(level: int) -> tuple[Any, str]:
    """A code generator for this processor, and what identifies its results."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    version = ".".join(map(str, llvm.llvm_version_info))
    features = llvm.get_host_cpu_features().flatten()
    return _new_machine(level), f"{version} {llvm.get_default_triple()} {llvm.get_host_cpu_name()} {features}"
