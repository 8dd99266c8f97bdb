"""A worker process: takes requests one after the other and answers them.

It holds no state that matters: whoever starts it may end it at any time.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from torseur.algebra.graph import forget_unused
from torseur.description.library import source_of
from torseur.edges.processes import end_with_parent
from torseur.errors import TorseurError
from torseur.presentation.studio.limits import bound_memory, memory_in_use, return_memory
from torseur.presentation.studio.messages import DONE, Request, text_message

IDLE = 0.5  # seconds without a request after which a worker gives back what it does not need

Answer = Callable[[Request, Path | None], Iterator[bytes]]


def work(requests: Connection, folder: Path | None, megabytes: int, patience: int) -> None:
    """Answers requests until the other end goes away; the more patience, the more it lets others go first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt at the terminal is for the server
    os.chdir(os.sep)
    sys.stdin.close()
    end_with_parent()
    bound_memory(megabytes)
    if hasattr(os, "nice"):
        os.nice(patience)
    try:
        while True:
            request: Request | None = requests.recv()
            if request is not None:  # otherwise a sign that came too late
                _answer(request, requests, folder)
            if not requests.poll(IDLE):
                _tidy()
    except (EOFError, OSError):
        return


def _tidy() -> None:
    """Lets go of what past texts have left."""
    gc.collect()
    forget_unused()
    return_memory()


NO_MEMORY = "This takes more memory than a worker may use. Try a smaller mechanism or a shorter motion."


def _answer(request: Request, requests: Connection, folder: Path | None) -> None:
    """Sends answer after answer; stops between two of them at a sign that something newer waits."""
    try:
        for message in _answers()[request.kind](request, folder):
            requests.send_bytes(message)
            if requests.poll():
                break
    except MemoryError:
        requests.send_bytes(text_message("halt", request.number, reason=NO_MEMORY))
    except RecursionError:
        requests.send_bytes(text_message("halt", request.number, reason="This text is nested too deeply."))
    except (EOFError, OSError):
        raise
    except Exception as problem:
        # Python itself says so where memory ends inside an extension; any other fault is told as what it is.
        is_memory = isinstance(problem, SystemError) and "without exception set" in str(problem)
        reason = NO_MEMORY if is_memory else f"A fault of torseur itself: {type(problem).__name__}: {problem}"
        requests.send_bytes(text_message("halt", request.number, reason=reason[:600]))
    requests.send_bytes(DONE + f"{request.number} {memory_in_use()}".encode())


def open_entry(request: Request, folder: Path | None) -> Iterator[bytes]:
    """The text of the library's mechanism that `what` names, such as pendulum_chain?n=7."""
    try:
        yield text_message("opened", request.number, text=source_of(request.what), name=request.what)
    except TorseurError as problem:
        yield text_message("refusal", request.number, reason=str(problem))


def _answers() -> dict[str, Answer]:
    from torseur.presentation.studio.answers.describe_text import describe
    from torseur.presentation.studio.answers.examination import examine
    from torseur.presentation.studio.answers.export import export
    from torseur.presentation.studio.answers.inscription import inscribe
    from torseur.presentation.studio.answers.motion_answers import move
    from torseur.presentation.studio.answers.suspension_curves_card import survey

    return {
        "describe": describe,
        "move": move,
        "examine": examine,
        "survey": survey,
        "export": export,
        "open": open_entry,
        "inscribe": inscribe,
    }
