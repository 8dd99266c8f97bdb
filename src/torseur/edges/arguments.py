"""Arguments of public functions that do not fit: said by name, instead of whatever breaks further inside.

Nothing is judged while all goes well. When a call fails with an error of Python or NumPy, its arguments are compared
with the annotations of the function: one that does not fit is the cause, and is named with what was expected. Where all
fit, the error is a fault of ours and stays what it is.
"""

from __future__ import annotations

import inspect
import operator
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Callable as CallableClass
from collections.abc import Iterable as IterableClass
from collections.abc import Mapping as MappingClass
from collections.abc import Sequence as SequenceClass
from collections.abc import Set as SetClass
from functools import wraps
from typing import Any, SupportsIndex, TypeVar

from torseur.edges.budgets import BudgetError
from torseur.errors import TorseurError, unknown_name

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type[Any])

RAW = (
    TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, AssertionError, StopIteration
)  # fmt: skip
"""What Python and NumPy raise for a value that they cannot use (numpy.linalg.LinAlgError is a ValueError)."""


class ArgumentError(TorseurError):
    """An argument of a public function that cannot be used."""


def explain_arguments(function: F) -> F:
    """The function, which says what is wrong with its arguments where they make it fail."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TorseurError:
            raise
        except RAW as problem:
            reason = _unfit(function, args, kwargs) or _outside_domain(args, problem)
            if reason is None:
                raise
            raise ArgumentError(f"{function.__name__}: {reason}") from problem
        except MemoryError as problem:
            raise BudgetError(f"{function.__name__}: this needs more memory than there is. Ask for less.") from problem

    return typing.cast(F, run)


def explain_methods(kind: C) -> C:
    """The class, whose public methods say what is wrong with their arguments where they make them fail."""
    for name, method in list(vars(kind).items()):
        if inspect.isfunction(method) and (name == "__call__" or not name.startswith("_")):
            setattr(kind, name, explain_arguments(method))
    return kind


def _outside_domain(args: tuple[Any, ...], problem: Exception) -> str | None:
    """Where an elementary function of plain numbers has no value; Python's own words for it do not say of what."""
    if str(problem) not in ("math domain error", "math range error"):
        return None
    return f"it has no value at {', '.join(map(_text_of, args))}."


def _unfit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """What is wrong with the arguments; None where they fit."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as problem:
        unknown = [name for name in kwargs if name not in signature.parameters]
        # A misspelt name comes before the one that is then missing.
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            return unknown_name("argument", unknown[0], signature.parameters)
        return f"{problem}. Its arguments: {', '.join(signature.parameters)}."
    for name, value in _each(signature, given):
        hint = _hint(function, signature.parameters[name].annotation)
        if not _fits(value, hint):
            wanted = signature.parameters[name].annotation
            return f"'{name}' is {_text_of(value)}: expected {wanted if isinstance(wanted, str) else _text_of(wanted)}."
    for name, value in _each(signature, given):
        if _is_out_of_range(value):
            return f"'{name}' is {_text_of(value)}: expected finite numbers, at least one and none beyond all bounds."
        if _is_half_text(value):
            return f"'{name}' is {_text_of(value)}: half of a character is no text. Write the whole character."
        if name == "seed" and not (isinstance(value, SupportsIndex) and operator.index(value) >= 0):
            return f"'seed' is {_text_of(value)}: expected a whole number, 0 or more."
    return None


def _each(signature: inspect.Signature, given: inspect.BoundArguments) -> Iterator[tuple[str, Any]]:
    """Arguments one by one, those of *args and **kwargs too, under the name of their parameter."""
    for name, value in given.arguments.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            yield from ((name, each) for each in value)
        elif kind is inspect.Parameter.VAR_KEYWORD:
            yield from ((name, each) for each in value.values())
        else:
            yield name, value


def _hint(function: Callable[..., Any], annotation: Any) -> Any:
    """The type that an annotation stands for; Any where its names are there for type checkers alone."""
    if not isinstance(annotation, str):
        return Any if annotation is inspect.Parameter.empty else annotation
    try:
        return eval(annotation, getattr(inspect.unwrap(function), "__globals__", {}))
    except Exception:
        return Any


def _fits(value: Any, hint: Any) -> bool:
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
        return any(_fits(value, each) for each in inside)
    if origin is typing.Literal:
        return value in inside
    if origin is typing.Annotated:
        return _fits(value, inside[0])
    if hasattr(origin, "__value__"):  # a type alias, as NumPy 2.5 writes NDArray
        return _fits(value, origin.__value__)
    return _fits_class(value, hint if origin is None else origin, inside)


def _fits_variable(value: Any, hint: TypeVar) -> bool:
    """Whether a value may stand for a type variable; one without a bound is a scalar, which can be reckoned with."""
    allowed = hint.__constraints__ or ((hint.__bound__,) if hint.__bound__ is not None else ())
    if allowed:
        return any(_fits(value, each) for each in allowed)
    return hasattr(value, "__sub__") and hasattr(value, "__mul__")


def _fits_class(value: Any, wanted: Any, inside: tuple[Any, ...]) -> bool:
    if not isinstance(wanted, type):
        return True
    if wanted is int:
        return isinstance(value, SupportsIndex)
    if wanted in (float, complex):
        # NumPy's numbers are numbers; a truth is none that anybody means.
        return hasattr(value, "__float__") and not isinstance(value, str) and getattr(value, "ndim", 0) == 0
    if wanted is CallableClass:
        return callable(value)
    if issubclass(wanted, MappingClass):
        inner = inside if len(inside) == 2 else (Any, Any)
        return isinstance(value, Mapping) and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    if wanted in (SequenceClass, IterableClass, list, tuple):
        if isinstance(value, str):
            return bool(inside) and inside[0] is str
        if not hasattr(value, "__iter__") or (wanted is not IterableClass and isinstance(value, (Mapping, SetClass))):
            return False
        alike = wanted is not tuple or (len(inside) == 2 and inside[1] is Ellipsis)
        if not alike and inside and isinstance(value, (list, tuple)):
            return len(value) == len(inside) and all(map(_fits, value, inside))
        sized = hasattr(value, "__len__") and not hasattr(value, "dtype")
        return not (inside and alike and sized) or all(_fits(each, inside[0]) for each in value)
    if wanted.__module__.startswith("numpy"):
        return hasattr(value, "__array__") or (isinstance(value, (list, tuple)) and _holds_numbers(value))
    try:
        return isinstance(value, wanted)
    except TypeError:  # a protocol that cannot be asked
        return True


def _is_out_of_range(value: Any) -> bool:
    """Whether numbers are not finite, or larger than any floating point number, or an array holds none."""
    if isinstance(value, Mapping):
        return not value or any(_is_out_of_range(each) for each in value.values())
    if isinstance(value, (list, tuple)):
        return not value or any(_is_out_of_range(each) for each in value)
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


def _holds_numbers(value: list[Any] | tuple[Any, ...]) -> bool:
    """Whether an array of numbers can be made of a list; of rows of unequal lengths, texts and tables it cannot."""
    import numpy as np

    try:
        return np.asarray(value).dtype.kind in "biufc"
    except ValueError:
        return False


def _is_half_text(value: Any) -> bool:
    """Whether a text, or one in a list, holds half of a character, which no file and no encoding takes."""
    if isinstance(value, str):
        return any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, (list, tuple, Mapping)):
        return any(map(_is_half_text, value))
    return False


def _text_of(value: Any) -> str:
    text = getattr(value, "__name__", None) or repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."
