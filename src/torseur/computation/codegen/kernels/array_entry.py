"""A compiled function of pointers as a function of Python that takes and returns NumPy arrays.

The entry is machine code called through CPython's vector call: it looks into the arrays itself (class, float64, C
order, length), makes the arrays of the results and calls the compiled function, without a Python object in between.
What it does not take as it is (lists, other types, several states at once) it hands to a Python function. LLVM makes
it, so that no compiler is needed; where LLVM is missing, or the interpreter keeps its objects elsewhere, that Python
function answers all calls.

    entry(self, args, count, names)  self: the Python function for everything else; names: of keyword arguments
        count == inputs, no names?
        each: type, flags, dtype, 1 dimension of its length?  ── no ──> PyObject_Vectorcall(self, args, count, names)
        results = PyArray_New(...)                       new arrays, not initialised
        function(data of args..., data of results...)
        one result: that array; several: a tuple
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from torseur.computation.codegen.kernels.machine_code import Library, Shape

# Places in NumPy's and Python's objects, from the end of the object's head (PyArrayObject_fields, stable since 1.7).
_DATA, _DIMENSIONS_COUNT, _DIMENSIONS, _DTYPE, _FLAGS = 0, 8, 16, 40, 48
_C_ORDER_ALIGNED = 0x1 | 0x100
_FLOAT64_NUMBER = 12
# Rows of NumPy's table of functions, which never change their places.
_ARRAY_TYPE, _ARRAY_NEW = 2, 93
# METH_FASTCALL | METH_KEYWORDS of CPython's methodobject.h.
_FASTCALL_WITH_KEYWORDS = 0x80 | 0x2
_TABLE = "table"
# The addresses that the code finds at run time: it has none in it, so that it is kept from process to process.
_TYPE, _NEW, _DTYPE_ADDRESS, _VECTORCALL, _TUPLE_NEW, _TUPLE_SET, _FUNCTION = range(7)


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def array_entry(
    library: Library,
    symbol: str,
    inputs: Sequence[int],
    outputs: Sequence[tuple[int, ...]],
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """A function of arrays with these numbers of entries, which returns arrays of these shapes (one, or a tuple).

    `symbol` is a function of the library: pointers to the inputs, then to the outputs. `otherwise` is called with the
    arguments as given where they are not such arrays.
    """
    if not _can_look_into_arrays():
        return otherwise
    from torseur.computation.codegen.targets.llvm import llvm_compiler

    # The machine code holds no address (a process that loads it from the cache has others): seven words of its table
    # are filled in here, when it is loaded.
    made = llvm_compiler.build(_source(inputs, outputs), Shape.STRAIGHT)
    table = (ctypes.c_void_p * 7).from_address(made.lookup(made.owner, _TABLE))
    numpy_table = _numpy_table()
    table[_TYPE], table[_NEW] = numpy_table[_ARRAY_TYPE], numpy_table[_ARRAY_NEW]
    table[_DTYPE_ADDRESS] = id(np.dtype(np.float64))
    for slot, name in (
        (_VECTORCALL, "PyObject_Vectorcall"),
        (_TUPLE_NEW, "PyTuple_New"),
        (_TUPLE_SET, "PyTuple_SetItem"),
    ):
        table[slot] = ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
    table[_FUNCTION] = library.lookup(library.owner, symbol)
    method = _Method(symbol.encode(), made.lookup(made.owner, "entry"), _FASTCALL_WITH_KEYWORDS, None)
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    # The code, its library and its description live as long as the function that it hands the rest to.
    # A bound method takes no attributes; a partial does.
    rest = partial(otherwise)
    rest.kept = (made, library, method)  # type: ignore[attr-defined]
    entry: Callable[..., Any] = new(ctypes.addressof(method), rest, None)
    return entry


@cache
def _numpy_table() -> Any:
    module = import_module("numpy._core._multiarray_umath")

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.cast(pointer(module._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))


@cache
def _can_look_into_arrays() -> bool:
    """Whether this interpreter keeps arrays as the entry expects, tried on one."""
    from torseur.computation.codegen.kernels.backends import choose_backend

    if sys.implementation.name != "cpython" or choose_backend("auto") != "llvm":
        return False
    probe = np.arange(3.0)
    head = id(probe) + object.__basicsize__
    seen = (
        ctypes.c_void_p.from_address(head + _DATA).value,
        ctypes.c_int.from_address(head + _DIMENSIONS_COUNT).value,
        ctypes.c_void_p.from_address(head + _DTYPE).value,
        ctypes.c_int.from_address(head + _FLAGS).value & _C_ORDER_ALIGNED,
        # The last word of an object's head is its class: under free threading the head is longer, its end is the same.
        ctypes.c_void_p.from_address(id(probe) + object.__basicsize__ - 8).value,
    )
    return seen == (probe.ctypes.data, 1, id(probe.dtype), _C_ORDER_ALIGNED, id(np.ndarray))


def _source(inputs: Sequence[int], outputs: Sequence[tuple[int, ...]]) -> str:
    """The entry in LLVM's assembly, for these lengths and shapes."""
    head = object.__basicsize__
    lines = [
        f"@{_TABLE} = global [7 x ptr] zeroinitializer",
        "define ptr @entry(ptr %self, ptr %args, i64 %count, ptr %names) {",
        "start:",
    ]
    for slot, name in enumerate(("type", "new", "dtype", "vectorcall", "tuple_new", "tuple_set", "function")):
        lines += [
            f"  %at_{name} = getelementptr [7 x ptr], ptr @{_TABLE}, i64 0, i64 {slot}",
            f"  %{name} = load ptr, ptr %at_{name}",
        ]
    lines += [
        f"  %all = icmp eq i64 %count, {len(inputs)}",
        "  %unnamed = icmp eq ptr %names, null",
        "  %plain = and i1 %all, %unnamed",
        "  br i1 %plain, label %look0, label %otherwise",
    ]
    for k, size in enumerate(inputs):
        lines += _look(k, size, head)
    lines += [f"look{len(inputs)}:"]
    for k, shape in enumerate(outputs):
        lines += _make(k, shape, head)
    data = [f"ptr %data{k}" for k in range(len(inputs))] + [f"ptr %space{k}" for k in range(len(outputs))]
    lines += [f"  call void %function({', '.join(data)})", *_answer(len(outputs))]
    lines += [
        "otherwise:",
        "  %rest = call ptr %vectorcall(ptr %self, ptr %args, i64 %count, ptr %names)",
        "  ret ptr %rest",
        "failed:",
        "  ret ptr null",
        "}",
    ]
    return "\n".join(lines) + "\n"


# The length is read last: `dimensions` of an array without dimensions may be any pointer.
def _look(k: int, size: int, head: int) -> list[str]:
    """Argument k: an array of float64 in C order, of one dimension with `size` entries; its data."""
    names = {"of": head - 8, "data_at": head + _DATA, "nd": head + _DIMENSIONS_COUNT, "shape": head + _DIMENSIONS,
             "kind": head + _DTYPE, "flags": head + _FLAGS}  # fmt: skip
    lines = [
        f"look{k}:",
        f"  %arg_at{k} = getelementptr ptr, ptr %args, i64 {k}",
        f"  %arg{k} = load ptr, ptr %arg_at{k}",
    ]
    lines += [f"  %{name}_at{k} = getelementptr i8, ptr %arg{k}, i64 {place}" for name, place in names.items()]
    # The class first: of anything else the fields behind the head are not those of an array.
    return [
        *lines,
        f"  %of{k} = load ptr, ptr %of_at{k}",
        f"  %is_array{k} = icmp eq ptr %of{k}, %type",
        f"  br i1 %is_array{k}, label %fields{k}, label %otherwise",
        f"fields{k}:",
        f"  %kind{k} = load ptr, ptr %kind_at{k}",
        f"  %is_float{k} = icmp eq ptr %kind{k}, %dtype",
        f"  %nd{k} = load i32, ptr %nd_at{k}",
        f"  %is_vector{k} = icmp eq i32 %nd{k}, 1",
        f"  %flags{k} = load i32, ptr %flags_at{k}",
        f"  %order{k} = and i32 %flags{k}, {_C_ORDER_ALIGNED}",
        f"  %is_ordered{k} = icmp eq i32 %order{k}, {_C_ORDER_ALIGNED}",
        f"  %both{k} = and i1 %is_float{k}, %is_vector{k}",
        f"  %good{k} = and i1 %both{k}, %is_ordered{k}",
        f"  br i1 %good{k}, label %length{k}, label %otherwise",
        f"length{k}:",
        f"  %shape{k} = load ptr, ptr %shape_at{k}",
        f"  %size{k} = load i64, ptr %shape{k}",
        f"  %fits{k} = icmp eq i64 %size{k}, {size}",
        f"  %data{k} = load ptr, ptr %data_at_at{k}",
        f"  br i1 %fits{k}, label %look{k + 1}, label %otherwise",
    ]


def _make(k: int, shape: tuple[int, ...], head: int) -> list[str]:
    """A new array for result k. That of an earlier one is lost when memory ends here: there is nothing left to save."""
    lines = [f"  %dims{k} = alloca [{max(1, len(shape))} x i64]"]
    for i, length in enumerate(shape):
        lines += [f"  %dim{k}_{i} = getelementptr i64, ptr %dims{k}, i64 {i}", f"  store i64 {length}, ptr %dim{k}_{i}"]
    return [
        *lines,
        f"  %result{k} = call ptr %new(ptr %type, i32 {len(shape)}, ptr %dims{k}, i32 {_FLOAT64_NUMBER}, ptr null, "
        "ptr null, i32 0, i32 0, ptr null)",
        f"  %none{k} = icmp eq ptr %result{k}, null",
        f"  br i1 %none{k}, label %failed, label %made{k}",
        f"made{k}:",
        f"  %space_at{k} = getelementptr i8, ptr %result{k}, i64 {head + _DATA}",
        f"  %space{k} = load ptr, ptr %space_at{k}",
    ]


def _answer(count: int) -> list[str]:
    if count == 1:
        return ["  ret ptr %result0"]
    lines = [
        f"  %tuple = call ptr %tuple_new(i64 {count})",
        "  %no_tuple = icmp eq ptr %tuple, null",
        "  br i1 %no_tuple, label %failed, label %fill",
        "fill:",
    ]
    lines += [f"  %set{k} = call i32 %tuple_set(ptr %tuple, i64 {k}, ptr %result{k})" for k in range(count)]
    return [*lines, "  ret ptr %tuple"]
