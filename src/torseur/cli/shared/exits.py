"""How a command ends: one clear message, one exit code, never a traceback for a user's mistake.

0    done
1    the input is wrong, a file cannot be read or written, or a check of the result failed
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
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NoReturn

from torseur.edges.plain_text import visible
from torseur.errors import TorseurError

# Python drops an exception that is raised while it frees objects or follows a weak reference, which deriving equations
# does all the time. An interrupt that was dropped is raised again at the next sign of progress.
_asked = False


@contextmanager
def remember_interrupts() -> Iterator[None]:
    """Remembers an interrupt while a command runs; threads beside the main one get none anyway."""
    global _asked
    _asked = False
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _note(number: int, frame: FrameType | None) -> None:
    global _asked
    _asked = True
    raise KeyboardInterrupt


def raise_dropped_interrupt() -> None:
    """Raises an interrupt that came and was dropped."""
    if _asked:
        raise KeyboardInterrupt


_DRAFT = re.compile(r"(?<![^/])\.(?=[^/]+-[0-9a-f]{32})|-[0-9a-f]{32}(?=(\.\w+)?$)")  # under which files are begun
DONE, WRONG, USAGE, ENDED_EARLY, DISAGREE, FAULT, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 4, 70, 130, 141


class CommandError(TorseurError):
    """A message and the exit code that goes with it."""

    def __init__(self, message: str, code: int = WRONG) -> None:
        super().__init__(message)
        self.code = code


def guard(command: Callable[..., Any]) -> Callable[..., None]:
    """The command with every way it can fail turned into a message on stderr and an exit code."""

    @functools.wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            with remember_interrupts(), warnings.catch_warnings():
                warnings.showwarning = _print_warning
                command(*args, **kwargs)
            sys.stdout.flush()
        except (TorseurError, OSError, KeyboardInterrupt, MemoryError, RecursionError) as problem:
            leave(problem)
        except Exception as problem:
            # Only unexpected errors: those above are the user's, and a traceback would hide their message.
            if os.environ.get("TORSEUR_DEBUG"):
                raise
            leave(problem)

    return run


def _print_warning(message: Warning | str, *about: object, **more: object) -> None:
    """A warning of the package, without the line of code that gave it."""
    print(visible(f"warning: {message}"), file=sys.stderr)


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
    print(visible(message), file=sys.stderr)
    # From the words themselves: an error may come before the command has its options.
    if "--json" in sys.argv:
        print(json.dumps({"error": {"kind": type(problem).__name__, "message": str(problem), "exit_code": code}}))
        sys.stdout.flush()
    raise SystemExit(code)


def end_with(failed: Sequence[str]) -> None:
    """Ends the process with 1, after all output, where checks of the result failed; their names go to stderr."""
    if failed:
        sys.stdout.flush()
        print(visible(f"torseur: the result is not to be trusted, failed: {'; '.join(failed)}."), file=sys.stderr)
        raise SystemExit(WRONG)


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
