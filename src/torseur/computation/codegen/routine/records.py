"""Records and typed arrays: what annotations of a routine mean once compile-time integers are known.

A record lies in at most two flat blocks, one of floats and one of integers. Every field has a place in its block that
is known at translation, so that compiled code sees the same flat arrays as if it had been written with offsets by hand,
and Python sees NumPy views of the same memory:

    class Motion(Record):                         floats  [ time | state 0 … state N-1 | piece.start … ]
        time: float                               ints    [ steps | done | piece.… ]
        state: Annotated[Array, N]
        steps: int = 0
        done: bool
        piece: Piece                              a record inside
        pieces: Annotated[list[Piece], 3]         several of them side by side
        rows: Annotated[Array, ..., N]            a reference: an array without a size of its own lies elsewhere

Both blocks are made when a record is, and references are given to it.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from inspect import get_annotations
from math import prod
from typing import Annotated, Any, ClassVar, Self, get_args, get_origin

import numpy as np

from torseur.computation.codegen.routine.record_attributes import install_attributes
from torseur.computation.codegen.routine.routine_language import Array, IntArray, Kind, RoutineError, StaticInteger
from torseur.errors import unknown_name

Shape = tuple[int | None, ...]

_SCALARS: dict[Any, Kind] = {float: Kind.FLOAT, int: Kind.INT, bool: Kind.BOOL, None: Kind.NONE, type(None): Kind.NONE}
_ARRAYS = ((Array, Kind.ARRAY), (IntArray, Kind.INT_ARRAY))


@dataclass(frozen=True)
class Type:
    """What an annotation says: a kind, for arrays the shape (None where it is open), for records which.

    An array annotated without a shape is flat and of unknown size.
    """

    kind: Kind
    shape: Shape = ()
    record: type[Record] | None = None

    @property
    def is_reference(self) -> bool:
        """Whether a field of this type lies outside its record."""
        return self.kind.is_array and (not self.shape or None in self.shape)

    @property
    def size(self) -> int:
        """Entries of an array, or of records side by side, that lie in their record; one otherwise."""
        return prod(n for n in self.shape if n is not None)

    def __str__(self) -> str:
        if self.record is not None:
            return self.record.__name__
        extents = " x ".join("..." if n is None else str(n) for n in self.shape)
        return f"{self.kind.value} of {extents}" if extents else self.kind.value


# Counted in numbers of the block. A field advances only the count of its own kind, so that of two consecutive fields
#     time: float   (floats 0, ints 0)
#     steps: int    (floats 1, ints 0)
# the second stands at ints 0.
@dataclass(frozen=True)
class Field:
    """A field of a record; `floats` and `ints` are its place in the two blocks."""

    name: str
    type: Type
    floats: int
    ints: int
    default: float | int | bool


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the fields of a record stand, and how large its two blocks are."""

    record: type[Record]
    fields: Mapping[str, Field]
    floats: int
    ints: int

    # In depth-first order of declaration: `component_types`, the constructor and the compiled signature all count on
    # it.
    @cached_property
    def references(self) -> dict[str, Type]:
        """Arrays that lie elsewhere, by their path: those of inner records too."""
        references: dict[str, Type] = {}
        for field in self.fields.values():
            if field.type.record is not None:
                inner = field.type.record.layout().references
                references |= {f"{field.name}.{path}": type_ for path, type_ in inner.items()}
            elif field.type.is_reference:
                references[field.name] = field.type
        return references

    @cached_property
    def components(self) -> tuple[str, ...]:
        """The names under which a record holds its blocks and references, in the order of `component_types`."""
        blocks = (("floats", self.floats), ("ints", self.ints))
        return (*(name for name, size in blocks if size), *self.references)

    @cached_property
    def numbers(self) -> tuple[dict[str, int], dict[str, int]]:
        """The places of numbers in the two blocks."""
        fields = self.fields.values()
        floats = {field.name: field.floats for field in fields if field.type.kind is Kind.FLOAT}
        return floats, {field.name: field.ints for field in fields if field.type.kind in (Kind.INT, Kind.BOOL)}

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """References that have rows."""
        return tuple(path for path, type_ in self.references.items() if len(type_.shape) > 1)

    @cached_property
    def start(self) -> tuple[Array, IntArray]:
        """Both blocks as they are made."""
        floats, ints = self.defaults
        return np.array(floats), np.array(ints, dtype=np.int64)

    # At least one entry each: ctypes gives no pointer into an empty array.
    @cached_property
    def defaults(self) -> tuple[list[float], list[int]]:
        """The numbers that they start with."""
        floats, ints = [0.0] * max(self.floats, 1), [0] * max(self.ints, 1)
        for field in self.fields.values():
            if field.type.record is not None:
                inner = field.type.record.layout()
                own_floats, own_ints = inner.defaults
                for k in range(field.type.size):
                    start, first = field.floats + k * inner.floats, field.ints + k * inner.ints
                    floats[start : start + inner.floats] = own_floats[: inner.floats]
                    ints[first : first + inner.ints] = own_ints[: inner.ints]
            elif field.type.kind is Kind.FLOAT:
                floats[field.floats] = float(field.default)
            elif not field.type.kind.is_array:
                ints[field.ints] = int(field.default)
        return floats, ints

    def field(self, name: str) -> Field:
        if name not in self.fields:
            raise RoutineError(f"record '{self.record.__name__}': " + unknown_name("field", name, list(self.fields)))
        return self.fields[name]


class Record:
    """Base of records. A class whose fields have compile-time sizes is `bound` to them before it is used.

    References are given by position, in their order, and numbers by name.
    """

    _bound: ClassVar[dict[Any, Any]]
    _layout: ClassVar[Layout | None] = None
    floats: Array
    ints: IntArray

    def __init_subclass__(cls) -> None:
        cls._bound = {}

    @classmethod
    def bound(cls, statics: Mapping[str, int]) -> type[Self]:
        """This record with its compile-time integers in place."""
        if cls._layout is not None:
            return cls
        # Equal sizes give the same class: the translator compares layouts by identity, and a record made by one caller
        # must pass for the record of another.
        key = tuple([(name, statics[name]) for name in _static_names(cls) if name in statics])
        if key not in cls._bound:
            cls._bound[key] = _make_bound(cls, dict(key))
        return cls._bound[key]

    @classmethod
    def layout(cls) -> Layout:
        """Where the fields stand."""
        layout = cls._layout
        if layout is None:
            layout = cls.bound({})._layout
            assert layout is not None
        return layout

    @classmethod
    def arrays(cls) -> dict[str, Kind]:
        """The fields that are arrays, whatever their sizes."""
        types = {name: resolve_type(node, names, _Any()) for name, (node, _, names) in _fields_of(cls).items()}
        return {name: type_.kind for name, type_ in types.items() if type_ is not None and type_.kind.is_array}

    def __init__(self, *references: Any, **values: Any) -> None:
        """Of a class that needs no sizes; bound classes have a constructor made for their layout."""
        # The bound class has its own __init__, generated for its fields (record_attributes.py); the second call ends
        # there.
        self.__class__ = type(self).bound({})
        self.__init__(*references, **values)  # type: ignore[misc]

    @classmethod
    def view(cls, floats: Any) -> Self:
        """The record that lies in a given array of floats."""
        layout = cls.layout()
        if layout.ints or layout.references:
            raise RoutineError(f"record '{cls.__name__}' has more than floats and cannot lie in an array of them.")
        result = object.__new__(cls.bound({}))
        result.floats, result.ints = floats, _NO_INTEGERS
        return result


def _make_bound(cls: type[Record], statics: Mapping[str, int]) -> Any:
    """A class whose attributes are the fields in their memory."""
    bound: Any = type(cls.__name__, (cls,), {"__module__": cls.__module__})
    bound._layout = _make_layout(bound, cls, statics)
    install_attributes(bound, bound._layout)
    return bound


_NO_INTEGERS = np.zeros(1, dtype=np.int64)


def component_types(name: str, layout: Layout) -> Iterator[tuple[str, Type]]:
    """The flat arrays that a record called `name` is lowered to: its blocks, then its references."""
    if layout.floats:
        yield f"{name}.floats", Type(Kind.ARRAY, (layout.floats,))
    if layout.ints:
        yield f"{name}.ints", Type(Kind.INT_ARRAY, (layout.ints,))
    for path, type_ in layout.references.items():
        yield f"{name}.{path}", type_


def resolve_type(node: ast.expr | None, names: Mapping[str, Any], statics: Mapping[str, int]) -> Type | None:
    """What an annotation means, None when it is not of the language; a static that is missing raises."""
    if node is None:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        node = ast.parse(node.value, mode="eval").body
    try:
        if isinstance(node, ast.Name) and node.id in names:
            return _type_of(names[node.id], statics)
        # `from __future__ import annotations` leaves texts. They are evaluated with compile-time integers in place of
        # their declarations, so that `Annotated[Array, 2 * N]` comes out with a number.
        code = compile(ast.Expression(node), "annotation", "eval")
        return _type_of(eval(code, {}, _Integers(names, statics)), statics)
    except (NameError, AttributeError, TypeError):
        return None


def _type_of(meaning: Any, statics: Mapping[str, int]) -> Type | None:
    if meaning is None or (isinstance(meaning, type) and meaning in _SCALARS):
        return Type(_SCALARS[meaning])
    if isinstance(meaning, type) and issubclass(meaning, Record):
        return Type(Kind.RECORD, record=meaning.bound(statics))
    shape: Shape = ()
    if get_origin(meaning) is Annotated:
        meaning, *extents = get_args(meaning)
        shape = tuple(None if n is ... else _integer(n, statics) for n in extents)
        if get_origin(meaning) is list and issubclass(get_args(meaning)[0], Record):
            return Type(Kind.RECORD, shape, get_args(meaning)[0].bound(statics))
    kind = next((kind for alias, kind in _ARRAYS if meaning == alias), None)
    return None if kind is None else Type(kind, shape)


class _Integers(Mapping[str, Any]):
    """Names with compile-time integers in place of their declarations."""

    def __init__(self, names: Mapping[str, Any], statics: Mapping[str, int]) -> None:
        self.names, self.statics = names, statics

    def __getitem__(self, name: str) -> Any:
        value = self.names[name]
        return _integer(value, self.statics) if isinstance(value, StaticInteger) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


# The signature of an external lists the arrays of its records (`Record.arrays`) before any size is known.
class _Any(dict[str, int]):
    """Some number for every compile-time integer, where only kinds matter."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        return 1


def _integer(value: Any, statics: Mapping[str, int]) -> int:
    return value.value(statics) if isinstance(value, StaticInteger) else int(value)


def _read_fields(cls: Any) -> dict[str, tuple[ast.expr, Any, Mapping[str, Any]]]:
    """Annotation, default and the names it is written with, of each field; those of base records first."""
    fields: dict[str, tuple[ast.expr, Any, Mapping[str, Any]]] = {}
    # Base records first: a record that extends another begins with the other's places, and may be passed on as such.
    for base in reversed(cls.__mro__):
        if issubclass(base, Record) and base is not Record:
            names = vars(sys.modules[base.__module__])
            for name, text in get_annotations(base).items():
                node = ast.parse(text if isinstance(text, str) else repr(text), mode="eval").body
                fields[name] = (node, base.__dict__.get(name, 0), names)
    return fields


_fields_of: Callable[[Any], dict[str, tuple[ast.expr, Any, Mapping[str, Any]]]] = cache(_read_fields)


def _find_statics(cls: Any) -> set[str]:
    """The compile-time integers that the sizes of a record depend on."""
    statics: set[str] = set()
    for node, _, names in _fields_of(cls).values():
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                statics |= _static_names_in(names.get(part.id))
    return statics


_static_names: Callable[[Any], set[str]] = cache(_find_statics)


def _static_names_in(value: Any) -> set[str]:
    if isinstance(value, StaticInteger):
        return set(value.names)
    if isinstance(value, type) and issubclass(value, Record):
        return _static_names(value)
    if get_origin(value) in (Annotated, list):
        return {name for part in get_args(value) for name in _static_names_in(part)}
    return set()


def _make_layout(bound: type[Record], cls: type[Record], statics: Mapping[str, int]) -> Layout:
    fields: dict[str, Field] = {}
    floats = ints = 0
    for name, (node, default, names) in _fields_of(cls).items():
        type_ = resolve_type(node, names, statics)
        if type_ is None or type_.kind is Kind.NONE:
            raise RoutineError(
                f"field '{name}' of record '{cls.__name__}' is '{ast.unparse(node)}': expected float, int, bool, "
                "Array, IntArray, one of these with a shape, or a record."
            )
        fields[name] = Field(name, type_, floats, ints, default)
        more_floats, more_ints = _room(type_)
        floats, ints = floats + more_floats, ints + more_ints
    # A mechanism without freedoms leaves arrays without entries: they lie in a block all the same.
    has_arrays = any(field.type.kind is Kind.ARRAY and not field.type.is_reference for field in fields.values())
    has_integers = any(field.type.kind is Kind.INT_ARRAY and not field.type.is_reference for field in fields.values())
    return Layout(bound, fields, max(floats, int(has_arrays)), max(ints, int(has_integers)))


def _room(type_: Type) -> tuple[int, int]:
    """What a field takes of the two blocks."""
    if type_.record is not None:
        inner = type_.record.layout()
        return inner.floats * type_.size, inner.ints * type_.size
    if type_.is_reference:
        return 0, 0
    size = type_.size if type_.kind.is_array else 1
    return (size, 0) if type_.kind in (Kind.ARRAY, Kind.FLOAT) else (0, size)
