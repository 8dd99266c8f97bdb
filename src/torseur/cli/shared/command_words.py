"""Commands as Typer runs them, with plainer words for a forgotten value, for a wrong choice and for flags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command that names an option whose value was left out, instead of taking the next option for the value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for option, following in _without_value(self.get_params(ctx), args):
            message = f"a value is missing; '{following}' is an option itself."
            raise typer.BadParameter(message, ctx=ctx, param_hint=f"'{option}'")
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            # Typer 0.29 hands on Pydantic's words with their category in front.
            error.message = error.message.removeprefix("Value error, ")
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_type_of_flags(super().get_params(ctx))


class Group(TyperGroup):
    """The program itself, whose flags are shown as those of its commands are."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_type_of_flags(super().get_params(ctx))


def _without_value(parameters: Sequence[Any], words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options that need a value and are followed by another option of the command, with that one."""
    options = [one for one in parameters if one.param_type_name == "option"]
    names = {name for one in options for name in (*one.opts, *one.secondary_opts)}
    valued = {name for one in options if not (one.is_flag or one.count) for name in one.opts}
    rest = iter(words)
    for word in rest:
        if word == "--":
            return
        following = next(rest, None) if word in valued else None
        if following in names:
            yield word, str(following)


def _without_type_of_flags(parameters: list[Any]) -> list[Any]:
    """The parameters, of which flags show no type in the help: `--json <bool>` looks as if a value belonged there."""
    for one in parameters:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return parameters
