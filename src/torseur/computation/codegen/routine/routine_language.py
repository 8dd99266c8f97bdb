"""The words of the routine language: what a numerical method imports to be translatable.

A routine stays an ordinary Python function; these names give it compile-time integers, functions bound later,
and flat local arrays. The subset is described in README.md beside this file.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from torseur.errors import CompilationError, unknown_name

Array: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
IntArray: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


class Kind(Enum):
    """Type of a value in a routine."""

    FLOAT = "float"
    INT = "int"
    BOOL = "bool"
    ARRAY = "Array"
    INT_ARRAY = "IntArray"
    RECORD = "record"
    NONE = "None"

    @property
    def is_array(self) -> bool:
        return self in (Kind.ARRAY, Kind.INT_ARRAY)

    @property
    def element(self) -> Kind:
        """Type of an array's elements."""
        return Kind.FLOAT if self is Kind.ARRAY else Kind.INT


class RoutineError(CompilationError):
    """A routine leaves the translatable subset of Python; the message gives file and line."""


@dataclass(frozen=True)
class Parameter:
    """A named, typed argument of a routine or external function."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Argument:
    """An argument of an external; `record` is the class where it is a record."""

    name: str
    kind: Kind
    record: Any = None

    @property
    def plain_parameters(self) -> tuple[Parameter, ...]:
        """The argument, or the arrays of the record."""
        if self.record is None:
            return (Parameter(self.name, self.kind),)
        return tuple(Parameter(name, kind) for name, kind in self.record.arrays().items())


@dataclass(frozen=True)
class StaticInteger:
    """An integer known when a routine is compiled, e.g. the number of states; sums and products of such are, too."""

    name: str
    default: int | StaticInteger | None = None

    @property
    def names(self) -> frozenset[str]:
        """The integers that it depends on."""
        return frozenset((self.name,)) | (self.default.names if isinstance(self.default, StaticInteger) else set())

    def value(self, statics: Mapping[str, int]) -> int:
        """The integer that was given."""
        if self.name in statics:
            return int(statics[self.name])
        if isinstance(self.default, StaticInteger):
            return self.default.value(statics)
        if self.default is not None:
            return self.default
        raise RoutineError(unknown_name("static", self.name, statics) + " Give it in statics={...}.")

    def __add__(self, other: Any) -> StaticInteger:
        return StaticExpression("+", None, self, other)

    def __mul__(self, other: Any) -> StaticInteger:
        return StaticExpression("*", None, self, other)

    __radd__, __rmul__ = __add__, __mul__


@dataclass(frozen=True)
class StaticExpression(StaticInteger):
    """The sum or the product of two integers, one of them a static."""

    a: Any = 0
    b: Any = 0

    @property
    def names(self) -> frozenset[str]:
        return frozenset(n for part in (self.a, self.b) if isinstance(part, StaticInteger) for n in part.names)

    def value(self, statics: Mapping[str, int]) -> int:
        a, b = (part.value(statics) if isinstance(part, StaticInteger) else int(part) for part in (self.a, self.b))
        return a + b if self.name == "+" else a * b


def Static(name: str, default: Any = None) -> Any:
    """Declares an integer that is known when a routine is compiled, with the value it has where none is given.

    That value is a number, or another static.
    """
    return StaticInteger(name, default)


class External:
    """A function bound when a routine is compiled: a Program, another routine or a callback.

    The signature is written as in a definition: `External("rhs", "t: float, y: Array, dy: Array")`, with
    `-> float` (or int, bool) at its end when it returns a number. Records that it names are given behind it: a routine
    takes them as they are, a Program or a callback takes their arrays one by one, under the names of the fields.
    """

    def __init__(self, name: str, signature: str, *records: Any) -> None:
        self.name = name
        self.arguments, self.returns = _parse_signature(name, signature, {r.__name__: r for r in records})

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """What a Program or a callback takes."""
        return tuple(p for argument in self.arguments for p in argument.plain_parameters)

    def __call__(self, *arguments: Any) -> Any:
        raise RoutineError(f"external '{self.name}' is not bound. Give it in externals={{'{self.name}': ...}}.")

    def __repr__(self) -> str:
        return f"External({self.name!r})"


@dataclass(frozen=True, eq=False)
class Routine:
    """A function of the translatable subset; calling it directly runs it as plain Python."""

    function: Callable[..., Any]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled by its name: under that its module has the routine, and not the function in it."""
        return _routine_of, (self.function.__module__, self.name)

    @property
    def name(self) -> str:
        return self.function.__name__

    @cached_property
    def definition(self) -> ast.FunctionDef:
        """The function's syntax tree, its line numbers those of the file."""
        code: Any = self.function.__code__
        linecache.checkcache(self.file)
        text = "".join(linecache.getlines(self.file))
        definition = _definitions(text).get((code.co_firstlineno, code.co_name))
        if definition is None:
            raise RoutineError(f"routine '{self.name}' has no source text to translate, or its file has changed.")
        return definition

    @cached_property
    def file(self) -> str:
        return str(self.function.__code__.co_filename)

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return f"Routine({self.name!r})"


# Why a subset of Python, and not one integrator per target: docs/decisions/0002-numerical-methods-written-once.md.
def routine(function: Callable[..., Any]) -> Routine:
    """Marks a function as written in the routine language."""
    return Routine(function)


def zeros(*shape: int) -> Array:
    """A local array of zeros; in a routine the shape is known at translation."""
    return np.zeros(shape)


def izeros(*shape: int) -> IntArray:
    """A local integer array of zeros; in a routine the shape is known at translation."""
    return np.zeros(shape, dtype=np.int64)


def flat(array: Array) -> Array:
    """The same memory as one row of numbers."""
    return array.reshape(-1)


def static_range(*bounds: int) -> range:
    """A range unrolled at translation, so that its index is a compile-time number."""
    return range(*bounds)


@lru_cache(maxsize=64)
def _definitions(text: str) -> dict[tuple[int, str], ast.FunctionDef]:
    """Every function of a file by the line of its first decorator and its name."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {(min([f.lineno, *(d.lineno for d in f.decorator_list)]), f.name): f for f in functions}


def kind_of_annotation(node: ast.expr | None) -> Kind | None:
    """The type an annotation names, or None when it is not one of the language."""
    if node is None:
        return None
    text = node.value if isinstance(node, ast.Constant) else ast.unparse(node)
    name = str(text).rpartition(".")[2]
    return next((kind for kind in Kind if kind.value == name and kind is not Kind.RECORD), None)


def _parse_signature(name: str, signature: str, records: Mapping[str, Any]) -> tuple[tuple[Argument, ...], Kind]:
    where = f"external '{name}'"
    inside, arrow, result = signature.partition("->")
    try:
        definition = ast.parse(f"def f({inside}) -> {result if arrow else 'None'}: pass").body[0]
    except SyntaxError as error:
        raise RoutineError(f"{where} has a signature that is not readable: '{signature}'.") from error
    assert isinstance(definition, ast.FunctionDef)
    arguments = []
    for argument in definition.args.args:
        record = records.get(ast.unparse(argument.annotation)) if argument.annotation is not None else None
        kind = Kind.RECORD if record is not None else kind_of_annotation(argument.annotation)
        if kind is None or kind is Kind.NONE:
            raise RoutineError(
                f"{where}: argument '{argument.arg}' needs a type: float, int, bool, Array, IntArray or a record that "
                "is given behind the signature."
            )
        arguments.append(Argument(argument.arg, kind, record))
    returns = kind_of_annotation(definition.returns)
    if returns is None or returns.is_array:
        raise RoutineError(f"{where} returns '{result.strip()}': expected float, int, bool or nothing.")
    return tuple(arguments), returns


def _routine_of(module: str, name: str) -> Routine:
    routine: Routine = getattr(import_module(module), name)
    return routine
