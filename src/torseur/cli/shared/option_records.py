"""Commands take their options as records: named tuples of annotated fields, one field per option.

Typer reads a command's options from its signature, one parameter each, so that a command of twenty options would be a
function of twenty parameters. Here the options that belong together are one type, and a command is a function of a few
records:

    class SimulateOptions(NamedTuple):
        source: SourceArgument
        until: UntilOption
        rtol: RtolOption = 1e-9
        values: ValueOptions = ValueOptions()  # a record within a record: its fields are options as well

    def simulate(options: SimulateOptions) -> None: ...

Named tuples and not dataclasses, because every start of `torseur` makes them all: 0.08 ms each instead of 0.7 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeGuard, get_type_hints


def expand_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command as a function of its options one by one, in the order of the fields: what Typer can read."""

    @wraps(command)
    def run(**options: Any) -> Any:
        return command(**_arguments(command, options))

    # Typer asks inspect.signature, which believes this attribute; a name that two records share is refused here.
    run.__signature__ = Signature(list(_parameters(command)))  # type: ignore[attr-defined]
    return run


def _parameters(owner: Callable[..., Any]) -> Iterator[Parameter]:
    """The parameters of a command or record, those of records within it in their place."""
    types = get_type_hints(owner, include_extras=True)
    for name, parameter in signature(owner).parameters.items():
        if _is_record(types[name]):
            yield from _parameters(types[name])
        else:
            # By keyword only: a required option may follow one with a default.
            yield parameter.replace(annotation=types[name], kind=Parameter.KEYWORD_ONLY)


def _arguments(owner: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a command or record, with records filled from the options of their names."""
    types = get_type_hints(owner, include_extras=True)
    return {
        name: types[name](**_arguments(types[name], options)) if _is_record(types[name]) else options[name]
        for name in signature(owner).parameters
    }


def _is_record(kind: Any) -> TypeGuard[type[tuple[Any, ...]]]:
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")
