"""Records as Python sees them: attributes that read and set the memory which compiled code works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torseur.computation.codegen.routine.routine_language import Kind, RoutineError

if TYPE_CHECKING:
    from torseur.computation.codegen.routine.records import Field, Layout, Record, Type


def install_attributes(bound: Any, layout: Layout) -> None:
    """Gives a class of records its constructor, and the fields of the layout as attributes."""
    bound.__init__ = _make_init(layout)
    for name, field in layout.fields.items():
        kind = field.type.kind
        place: Any = _Part(field)
        if field.type.is_reference:
            place = _Reference(field)
        elif kind is Kind.FLOAT:
            place = _Number("floats", field.floats, kind)
        elif kind in (Kind.INT, Kind.BOOL):
            place = _Number("ints", field.ints, kind)
        setattr(bound, name, place)


def _make_init(layout: Layout) -> Callable[..., None]:
    """The constructor of records with this layout: a motion of a few steps makes four, and should not wait for them."""
    names, tables = tuple(layout.references), layout.tables
    floats, ints = layout.numbers
    copy_floats, copy_ints, count = layout.start[0].copy, layout.start[1].copy, len(names)

    def initialise(self: Record, *references: Any, **values: Any) -> None:
        self.floats, self.ints = copy_floats(), copy_ints()
        if len(references) != count:
            raise RoutineError(f"record '{type(self).__name__}' takes the arrays {list(names)}.")
        if count:
            own = self.__dict__
            for k, name in enumerate(names):  # a strict zip takes as long as all the rest
                own[name] = references[k]
            for name in tables:
                if own[name].ndim == 1:
                    own[name] = _rows(own[name], layout.references[name])
        if values:
            for name, value in values.items():
                if name in floats:
                    self.floats[floats[name]] = value
                elif name in ints:
                    self.ints[ints[name]] = value
                else:
                    layout.field(name)
                    getattr(self, name)[...] = value

    return initialise


class _Number:
    """A number in one of the blocks."""

    def __init__(self, block: str, place: int, kind: Kind) -> None:
        self.block, self.place, self.is_bool = block, place, kind is Kind.BOOL

    def __get__(self, record: Any, kind: Any = None) -> Any:
        value = record.__dict__[self.block].item(self.place)
        return value != 0 if self.is_bool else value  # item() is twice as fast as an index

    def __set__(self, record: Any, value: Any) -> None:
        record.__dict__[self.block][self.place] = value


class _Part:
    """An array or a record inside a record: a view, made when it is first asked for and kept by the record."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def __get__(self, record: Any, kind: Any = None) -> Any:
        type_ = self.field.type
        if type_.record is not None:
            inner = [self._inner(record, type_.record, k) for k in range(type_.size)]
            value: Any = inner if type_.shape else inner[0]
        else:
            is_float = type_.kind is Kind.ARRAY
            block, start = (record.floats, self.field.floats) if is_float else (record.ints, self.field.ints)
            value = block[start : start + type_.size].reshape(type_.shape)
        record.__dict__[self.field.name] = value
        return value

    def _inner(self, record: Any, kind: type[Record], k: int) -> Record:
        result, layout = object.__new__(kind), kind.layout()
        # Open at its end: places are counted from the start of the block, and compiled code takes no length.
        result.floats = record.floats[self.field.floats + k * layout.floats :]
        result.ints = record.ints[self.field.ints + k * layout.ints :]
        for path in layout.references:
            result.__dict__[path] = record.__dict__[f"{self.field.name}.{path}"]
        return result


class _Reference:
    """An array that lies elsewhere."""

    def __init__(self, field: Field) -> None:
        self.field = field

    def __get__(self, record: Any, kind: Any = None) -> Any:
        return record.__dict__[self.field.name]

    def __set__(self, record: Any, value: Any) -> None:
        record.__dict__[self.field.name] = _rows(value, self.field.type)


def _rows(array: Any, type_: Type) -> Any:
    """The array with rows where its type has some; compiled code takes any shape."""
    return array.reshape(-1, *type_.shape[1:]) if len(type_.shape) > array.ndim else array
