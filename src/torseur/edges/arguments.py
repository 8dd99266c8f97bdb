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
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, SupportsIndex, TypeVar

from torseur.edges.argument_types import (
    MOST_AXES,
    fits,
    holds_texts,
    is_half_text,
    is_out_of_range,
    text_of,
    type_of,
    unfit_field,
)
from torseur.edges.budgets import BudgetError
from torseur.errors import TorseurError, unknown_name

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type[Any])

RAW = (
    TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError, AssertionError, StopIteration
)  # fmt: skip
"""What Python and NumPy raise for a value that they cannot use (numpy.linalg.LinAlgError is a ValueError)."""

EXPLAINED = "_explains_its_arguments"
"""Mark of a function that does already: a name may be public in two places."""
COUNTLESS = ("Expr",)
"""Classes whose methods are called for every node of every formula, by this package much more than by users."""


class ArgumentError(TorseurError):
    """An argument of a public function that cannot be used."""


def explain_arguments(function: F) -> F:
    """The function, which says what is wrong with its arguments where they make it fail."""
    return _explained(function, function.__name__, drop=0)


def explain_methods(kind: C) -> C:
    """The class, whose public methods say what is wrong with their arguments where they make them fail."""
    for name, method in list(vars(kind).items()):
        if name not in ("__call__", "__getitem__") and name.startswith("_"):
            continue
        inner = getattr(method, "__func__", method)
        if not inspect.isfunction(inner) or hasattr(inner, EXPLAINED):
            continue
        explained = _explained(inner, name, drop=0 if isinstance(method, staticmethod) else 1)
        setattr(kind, name, type(method)(explained) if isinstance(method, (staticmethod, classmethod)) else explained)
    return kind


def explain_making(kind: C) -> C:
    """The class, which says what is wrong with what it shall be made of."""
    making = vars(kind).get("__init__")
    if inspect.isfunction(making) and not hasattr(making, EXPLAINED):
        kind.__init__ = _explained(making, kind.__name__, drop=1)
    first = kind.__new__
    if inspect.isfunction(first) and first.__module__.startswith("torseur") and not hasattr(first, EXPLAINED):
        kind.__new__ = staticmethod(_explained(first, kind.__name__, drop=1))
    return kind


def explain(value: Any) -> Any:
    """A public value: functions and classes explain what is wrong with their arguments, others stay what they are."""
    if isinstance(value, types.FunctionType):
        return value if hasattr(value, EXPLAINED) else explain_arguments(value)
    if hasattr(value, "cache_clear"):  # a function that remembers what it gave
        kept = explain_arguments(value)
        kept.cache_clear, kept.cache_info = value.cache_clear, value.cache_info
        return kept
    if isinstance(value, type) and value.__module__.startswith("torseur") and not issubclass(value, BaseException):
        return explain_making(value if value.__name__ in COUNTLESS else explain_methods(value))
    return value


def explain_names(names: dict[str, Any]) -> None:
    """The same for the names that a public folder lists."""
    names.update({name: explain(names[name]) for name in names["__all__"] if name in names})


def _explained(function: F, called: str, drop: int) -> F:
    """The function with its own words for wrong arguments; the first `drop` (self) are none of the caller's."""

    @wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TorseurError:
            raise
        except RAW as problem:
            reason = _unfit(function, args, kwargs, drop) or _outside_domain(args, problem)
            if reason is None:
                raise
            raise ArgumentError(f"{called}: {reason}") from problem
        except MemoryError as problem:
            raise BudgetError(f"{called}: this needs more memory than there is. Ask for less.") from problem

    setattr(run, EXPLAINED, True)
    return typing.cast(F, run)


def _outside_domain(args: tuple[Any, ...], problem: Exception) -> str | None:
    """Where an elementary function of plain numbers has no value; Python's own words for it do not say of what."""
    if str(problem) not in ("math domain error", "math range error"):
        return None
    return f"it has no value at {', '.join(map(text_of, args))}."


def _unfit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], drop: int = 0) -> str | None:
    """What is wrong with the arguments; None where they fit."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as problem:
        unknown = [name for name in kwargs if name not in signature.parameters]
        # A misspelt name comes before the one that is then missing.
        if unknown and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            return unknown_name("argument", unknown[0], list(signature.parameters)[drop:])
        return f"{problem}. Its arguments: {', '.join(list(signature.parameters)[drop:])}."
    values = [(name, value) for name, value in _each(signature, given) if not (drop and value is args[0])]
    for name, value in values:
        wanted = signature.parameters[name].annotation
        if not fits(value, type_of(function, wanted)):
            return f"'{name}' is {text_of(value)}: expected {wanted if isinstance(wanted, str) else text_of(wanted)}."
    for name, value in values:
        if is_out_of_range(value):
            return f"'{name}' is {text_of(value)}: expected finite numbers, at least one and none beyond all bounds."
        if holds_texts(value):
            return f"'{name}' is {text_of(value)}: expected an array of numbers."
        if getattr(value, "ndim", 0) > MOST_AXES:
            return f"'{name}' is an array of shape {value.shape}: expected {MOST_AXES} axes at most."
        if is_half_text(value):
            return f"'{name}' is {text_of(value)}: half of a character is no text. Write the whole character."
        if isinstance(value, str) and "\0" in value:
            return f"'{name}' is {text_of(value)}: no name and no file has the character \\0."
        if name == "seed" and not (isinstance(value, SupportsIndex) and operator.index(value) >= 0):
            return f"'seed' is {text_of(value)}: expected a whole number, 0 or more."
    for name, value in values:
        if (inside := unfit_field(value)) is not None:
            return f"'{name}': {inside}"
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
