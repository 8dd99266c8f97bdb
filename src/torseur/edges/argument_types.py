"""Whether a value may be what an annotation says, and whether numbers and texts can be used; asked after a failure."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable as CallableClass
from collections.abc import Iterable as IterableClass
from collections.abc import Mapping as MappingClass
from collections.abc import Sequence as SequenceClass
from collections.abc import Set as SetClass
from importlib import import_module
from typing import Any, SupportsIndex, TypeVar

MOST_AXES = 3
"""Axes of an array: frames, markers and components are three; no public function takes more."""
MOST_FIELDS = 20_000
"""Values that are looked into for one that does not fit; more are no description that somebody wrote by hand."""


def type_of(owner: Any, annotation: Any) -> Any:
    """The type that an annotation of a function or class stands for; Any where it cannot be told."""
    if not isinstance(annotation, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    module = sys.modules.get(getattr(inspect.unwrap(owner), "__module__", ""))
    try:
        return eval(annotation, vars(module) if module else {})
    except NameError:
        pass
    except Exception:
        return Any
    try:
        return eval(annotation, {**vars(module), **_names_for_checkers(module)})
    except Exception:
        return Any


def _names_for_checkers(module: Any) -> dict[str, Any]:
    """What a module imports for type checkers alone."""
    names: dict[str, Any] = {}
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for line in (each for each in node.body if isinstance(each, ast.ImportFrom) and each.module):
                source = import_module(typing.cast(str, line.module))
                names |= {alias.asname or alias.name: getattr(source, alias.name, Any) for alias in line.names}
    return names


def fits(value: Any, hint: Any) -> bool:
    """Whether a value may be what an annotation says; where that cannot be told, it may."""
    if isinstance(hint, (str, typing.ForwardRef)):
        return value is not None  # a name that type checkers alone resolve; None would stand beside it
    if hint is Any:
        return True
    if isinstance(hint, TypeVar):
        return _fits_variable(value, hint)
    if hint is None or hint is type(None):
        return value is None
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, each) for each in inside)
    if origin is typing.Literal:
        return isinstance(value, typing.Hashable) and value in inside
    if origin is typing.Annotated:
        return fits(value, inside[0])
    if hasattr(origin, "__value__"):  # a type alias, as NumPy 2.5 writes NDArray
        return fits(value, origin.__value__)
    return _fits_class(value, hint if origin is None else origin, inside)


def _fits_variable(value: Any, hint: TypeVar) -> bool:
    """Whether a value may stand for a type variable; one without a bound is a scalar, which can be reckoned with."""
    allowed = hint.__constraints__ or ((hint.__bound__,) if hint.__bound__ is not None else ())
    if allowed:
        return any(fits(value, each) for each in allowed)
    return hasattr(value, "__sub__") and hasattr(value, "__mul__")


def _fits_class(value: Any, wanted: Any, inside: tuple[Any, ...]) -> bool:
    if not isinstance(wanted, type):
        return True
    if wanted is int:
        return isinstance(value, SupportsIndex) and getattr(value, "ndim", 0) == 0
    if wanted in (float, complex):
        # NumPy's numbers are numbers; a truth is none that anybody means.
        return hasattr(value, "__float__") and not isinstance(value, str) and getattr(value, "ndim", 0) == 0
    if wanted is CallableClass:
        return callable(value)
    if issubclass(wanted, MappingClass):
        key, item = inside if len(inside) == 2 else (Any, Any)
        return isinstance(value, MappingClass) and all(fits(k, key) and fits(v, item) for k, v in value.items())
    if wanted in (SequenceClass, IterableClass, list, tuple):
        return _fits_list(value, wanted, inside)
    if wanted.__module__.startswith("numpy"):
        return hasattr(value, "__array__") or (isinstance(value, (list, tuple)) and _holds_numbers(value))
    try:
        return isinstance(value, wanted)
    except TypeError:  # a protocol that cannot be asked
        return True


def _fits_list(value: Any, wanted: Any, inside: tuple[Any, ...]) -> bool:
    alike = wanted is not tuple or (len(inside) == 2 and inside[1] is Ellipsis)
    if isinstance(value, str):
        return bool(inside) and alike and inside[0] is str
    if not hasattr(value, "__iter__") or (wanted is not IterableClass and isinstance(value, (MappingClass, SetClass))):
        return False
    if not alike and inside and isinstance(value, (list, tuple)):
        return len(value) == len(inside) and all(map(fits, value, inside))
    if not (inside and alike and hasattr(value, "__len__")):
        return True
    if getattr(getattr(value, "dtype", None), "kind", "O") in "biufc":  # an array of numbers: all alike
        return len(value) == 0 or fits(value[0], inside[0])
    return all(fits(each, inside[0]) for each in value)


def is_out_of_range(value: Any) -> bool:
    """Whether numbers are not finite, or larger than any floating point number, or an array holds none."""
    if isinstance(value, MappingClass):
        return not value or any(is_out_of_range(each) for each in value.values())
    if isinstance(value, (list, tuple)):
        return not value or any(is_out_of_range(each) for each in value)
    if isinstance(value, (str, bool)):
        return False
    if isinstance(value, bytes):
        return True
    if isinstance(value, (int, float)) or hasattr(value, "dtype"):
        import numpy as np

        try:
            numbers = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            return False
        except OverflowError:
            return True
        return numbers.size == 0 or not bool(np.all(np.isfinite(numbers)))
    return False


def holds_texts(value: Any) -> bool:
    """Whether an array holds texts or nothing at places of numbers."""
    if getattr(getattr(value, "dtype", None), "kind", "") not in ("O", "U", "S"):
        return False
    return any(each is None or isinstance(each, (str, bytes)) for each in value.ravel().tolist())


def _holds_numbers(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether an array of numbers can be made of a list; of rows of unequal lengths, texts and tables it cannot."""
    import numpy as np

    try:
        return np.asarray(value).dtype.kind in "biufc"
    except ValueError:
        return False


def is_half_text(value: Any) -> bool:
    """Whether a text, or one in a list, holds half of a character, which no file and no encoding takes."""
    if isinstance(value, str):
        return any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, (list, tuple, MappingClass)):
        return any(map(is_half_text, value))
    return False


def unfit_field(value: Any) -> str | None:
    """The first field, anywhere inside of what users put together of classes of this package, that does not fit."""
    waiting: list[Any] = [value]
    seen: set[int] = set()
    while waiting and len(seen) < MOST_FIELDS:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, MappingClass):
            waiting += [*one.values()]
        elif isinstance(one, (list, tuple)):
            waiting += one
        elif dataclasses.is_dataclass(one) and type(one).__module__.startswith("torseur"):
            for field in dataclasses.fields(one):
                inside = getattr(one, field.name, None)
                if not fits(inside, type_of(type(one), field.type)):
                    return f"{field.name} of a {type(one).__name__} is {text_of(inside)}: expected {field.type}."
                waiting.append(inside)
    return None


def text_of(value: Any) -> str:
    """A value in an error: its name, or its beginning."""
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
