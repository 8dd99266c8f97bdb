"""Which options of a command apply under which others, declared beside the command and checked before any work.

An option that has nothing to act on is an error and never silently without effect. A command says so in one place:

    @option_rules(
        Rule("--order", needs="--small", why="it is the order kept in what is small"),
        Rule("--function --bake", not_with="--target=fmu", why="an FMU is the whole mechanism"),
    )
    def generate(options: GenerateOptions) -> None: ...

`tests/cli/test_option_pairs.py` runs every command with every pair of its options and holds it to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, NamedTuple, TypeVar

import typer

from torseur.cli.shared.exits import USAGE, CommandError

F = TypeVar("F", bound=Callable[..., Any])
FORCE_WHY = "it replaces an existing output file, and none is written"


class Rule(NamedTuple):
    """Options that apply only with one of some others, or with none of them.

    Options and conditions are words with spaces between them. A condition is an option that is given (`--small`), or
    one with its value, given or by default (`--kind=steady`, `--out=*.json`).
    """

    options: str
    needs: str = ""
    not_with: str = ""
    why: str = ""


def option_rules(*rules: Rule) -> Callable[[F], F]:
    """A command with its rules."""

    def mark(command: F) -> F:
        command.rules = rules  # type: ignore[attr-defined]
        return command

    return mark


def force_needs(*files: str) -> Rule:
    """The rule of `--force`, which every command with output files has."""
    return Rule("--force", needs=" ".join(files), why=FORCE_WHY)


def check_rules(command: Callable[..., Any], expanded: Callable[..., Any]) -> Callable[..., Any]:
    """The command, which refuses options that do not apply before it begins."""
    rules: tuple[Rule, ...] = getattr(command, "rules", ())

    @wraps(expanded)
    def run(context: typer.Context, **options: Any) -> Any:
        for complaint in complaints(rules, CommandLine.of(context)):
            raise CommandError(complaint, USAGE)
        return expanded(**options)

    # Typer hands its context to the parameter of this type, which no user sees.
    own = Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context)
    run.__signature__ = Signature([own, *signature(expanded).parameters.values()])  # type: ignore[attr-defined]
    return run


class CommandLine(NamedTuple):
    """The options that were typed, and the values of all of them, by name (`--out`)."""

    typed: frozenset[str]
    values: Mapping[str, str]

    @staticmethod
    def of(context: typer.Context) -> CommandLine:
        typed, values = set(), {}
        for parameter in context.command.params:
            # The first name is the long one; arguments are called as in the help, OUT.
            first, key = parameter.opts[0], parameter.name or ""
            name = first if first.startswith("-") else first.upper()
            value = context.params.get(key)
            values[name] = str(getattr(value, "value", value))
            # Not by comparison with the default: whoever types an option expects it to matter, whatever its value.
            source = context.get_parameter_source(key)
            if source is not None and source.name == "COMMANDLINE":
                typed.add(name)
                # A switch that is typed as --no-turns has that name too.
                if value is False:
                    typed.update(parameter.secondary_opts[:1])
        return CommandLine(frozenset(typed), values)

    def meets(self, condition: str) -> bool:
        """Whether an option is given, or has a value that matches."""
        name, equals, pattern = condition.partition("=")
        if not equals:
            return name in self.typed
        return fnmatchcase(self.values[name].replace(" ", "_"), pattern)

    def words(self, condition: str) -> str:
        """A condition as a user would type it."""
        return condition.replace("=*", " NAME", 1).replace("=", " ", 1)


def complaints(rules: tuple[Rule, ...], line: CommandLine) -> Iterator[str]:
    """What is wrong with a command line: the option, why it does not apply, and what to do."""
    for rule in rules:
        needs, barred = rule.needs.split(), rule.not_with.split()
        for option in (name for name in rule.options.split() if name in line.typed):
            reason = f": {rule.why}" if rule.why else ""
            if needs and not any(map(line.meets, needs)):
                wanted = _alternatives([line.words(need) for need in needs])
                yield f"{option} applies only with {wanted}{reason}. Add {wanted}, or leave {option} out."
            for other in filter(line.meets, barred):
                barrier = line.words(other)
                yield f"{option} does not apply with {barrier}{reason}. Leave out {option} or {barrier}."


def _alternatives(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
