"""How a command ends: one clear message, one exit code, never a traceback for a user's mistake.

0    done
1    the input is wrong, or a file cannot be read or written
2    the command line itself is wrong
3    the motion ended early; what was computed is kept
4    formalisms disagree
70   a fault of torseur itself (TORSEUR_DEBUG=1 shows where)
130  interrupted
141  the reader of a pipe went away
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from torseur.cli.interrupts import minding_interrupts
from torseur.errors import TorseurError

_DRAFT = re.compile(r"(?<![^/])\.(?=[^/]+-[0-9a-f]{32})|-[0-9a-f]{32}(?=(\.\w+)?$)")  # under which files are begun
DONE, WRONG, USAGE, ENDED_EARLY, DISAGREE, FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 4, 70, 130, 141


class CommandError(TorseurError):
    """A message and the exit code that goes with it."""

    def __init__(self, message: str, code: int = WRONG) -> None:
        super().__init__(message)
        self.code = code


def guarded(command: Callable[..., Any]) -> Callable[..., None]:
    """The command with every way it can fail turned into a message on stderr and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with minding_interrupts(), warnings.catch_warnings():
                warnings.showwarning = _told
                command(*args, **kwargs)
            sys.stdout.flush()
        except (TorseurError, OSError, KeyboardInterrupt, MemoryError, RecursionError) as problem:
            leave(problem)
        except Exception as problem:
            if os.environ.get("TORSEUR_DEBUG"):
                raise
            leave(problem)

    return run


def _told(message: Warning | str, *about: object, **more: object) -> None:
    """A warning of the package, without the line of code that gave it."""
    print(f"warning: {message}", file=sys.stderr)


def leave(problem: BaseException) -> NoReturn:
    """Says what went wrong and ends the process."""
    if isinstance(problem, BrokenPipeError):
        # What is still buffered would raise again when the interpreter closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(PIPE_CLOSED)
    if isinstance(problem, KeyboardInterrupt):
        print("\ntorseur: interrupted.", file=sys.stderr)
        raise SystemExit(INTERRUPTED)
    code, message = code_of(problem), message_of(problem)
    print(message, file=sys.stderr)
    if "--json" in sys.argv:
        print(json.dumps({"error": {"kind": type(problem).__name__, "message": str(problem), "exit_code": code}}))
        sys.stdout.flush()
    raise SystemExit(code)


def code_of(problem: BaseException) -> int:
    """The exit code of an error."""
    if isinstance(problem, CommandError):
        return problem.code
    return WRONG if isinstance(problem, (TorseurError, OSError)) else FAULT


def message_of(problem: BaseException) -> str:
    """The message of an error, complete."""
    if isinstance(problem, TorseurError):
        text = str(problem)
        return text if _has_place(problem) else f"torseur: {text}"
    if isinstance(problem, OSError):
        where = f"'{_DRAFT.sub('', str(problem.filename))}': " if problem.filename else ""
        return f"torseur: {where}{problem.strerror or problem}."
    what = f"{type(problem).__name__}: {problem}"
    return f"torseur: internal error, {what}\nThis is a fault of torseur. TORSEUR_DEBUG=1 shows where it happened."


def _has_place(problem: TorseurError) -> bool:
    """Messages that start with file, line and column stand as they are, so that editors can follow them."""
    return hasattr(problem, "diagnostics")
