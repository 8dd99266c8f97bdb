"""What is being worked on, kept on disk as it is typed, so that neither a browser nor a server that ends loses it.

A session has one file in the user's own state folder, readable by nobody else. The user's file is written only when
the user says so, and not when somebody else has changed it in the meantime unless the user says so again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, field, fields, replace
from math import isfinite
from pathlib import Path
from typing import Any
from uuid import uuid4

from torseur.description.library import PREFIX, source_of
from torseur.edges.budgets import bounded_text, parsed_json
from torseur.edges.file_names import split_query
from torseur.errors import TorseurError
from torseur.presentation.studio.messages import LONGEST_TEXT

START = "library:double_pendulum"


class SessionError(TorseurError):
    """A file that cannot be read or written."""


@dataclass(frozen=True)
class State:
    """A text and what is looked at; `revision` counts changes, so that the newer of two copies is known."""

    text: str
    revision: int = 0
    values: dict[str, float] = field(default_factory=dict)
    initial: dict[str, float] = field(default_factory=dict)
    until: float = 10.0
    formalism: str = "recursive"
    level: str = "scalar"
    criterion: str = ""
    outputs: str = ""
    over: str = ""
    arrows: str = ""
    suspension: str = ""  # the wheel whose curves are drawn
    name: str = ""  # of the mechanism of the library that it started from


class Session:
    """The state of the page for one file, or for none."""

    def __init__(self, file: Path | None, entry: str = START, folder: Path | None = None) -> None:
        """`entry` is what a session without a file begins with: a mechanism of the library, or a robot file."""
        self.file, self.entry = file, entry
        self.store = (folder or state_folder()) / f"{_key(file, entry)}.json"
        self.written = _read_text(file) if file is not None and file.exists() else None
        kept, first = self._last_state(), self._first()
        self.recovered = kept is not None and kept.text != first
        self.state = kept or State(first)
        self._limits = {} if file is not None or entry.startswith(PREFIX) else _robot_limits(entry)

    def _first(self) -> str:
        """The text without anything kept: that of the file, the library or the robot; for a new file nearly nothing."""
        if self.written is not None:
            return self.written
        if self.file is not None:
            return f"mechanism {re.sub(r'[^A-Za-z0-9_]', '_', self.file.stem) or 'new'} ;\n\n"
        if not self.entry.startswith(PREFIX):
            return _robot_text(self.entry)
        return source_of(self.entry)

    @property
    def limits(self) -> dict[str, tuple[float | None, float | None]]:
        """Limits of coordinates by name, of the robot file whose text this is."""
        return {} if self.state.name else self._limits  # a mechanism of the library has taken the robot's place

    @property
    def is_saved(self) -> bool:
        """Whether the user's file holds the text."""
        return self.file is not None and self.state.text == self.written

    def keep(self, changes: dict[str, Any]) -> None:
        """Takes over changes and writes them to disk; all of them or, after a crash, none."""
        known = {one.name for one in fields(State)}
        self.state = replace(self.state, **{name: value for name, value in changes.items() if name in known})
        _write(self.store, json.dumps(asdict(self.state)), private=True)

    def save(self, overwrite: bool = False) -> str:
        """Writes the text to the user's file; what stands in the way, or an empty text when it is done."""
        if self.file is None:
            return "This text has no file yet; export it instead."
        on_disk = _read_text(self.file) if self.file.exists() else None
        # Either what we read or wrote last, or already what is to be saved: in both cases nothing of others gets lost.
        if on_disk not in (self.written, self.state.text) and not overwrite:
            return f"'{self.file.name}' was changed by something else since it was read."
        _write(self.file, self.state.text)
        self.written = self.state.text
        return ""

    def read_again(self) -> None:
        """Drops what was kept for the text of the file, or of the library."""
        if self.file is not None and self.file.exists():
            self.written = _read_text(self.file)
        self.keep({"text": self._first(), "revision": self.state.revision + 1, "values": {}, "initial": {}})

    def last_address(self) -> tuple[str, int]:
        """Token and port of a server that has crashed, so that open pages find back; otherwise a new token and 0."""
        try:
            token, port = self._address.read_text(encoding="ascii").split()
            if re.fullmatch(r"[A-Za-z0-9_-]{32}", token):
                return token, int(port) % 65536
        except (OSError, ValueError):
            pass
        return secrets.token_urlsafe(24), 0

    def keep_address(self, token: str, port: int) -> None:
        """Remembers where the server is for the case of a crash."""
        _write(self._address, f"{token} {port}", private=True)

    @property
    def _address(self) -> Path:
        return self.store.with_suffix(".address")

    def leave(self) -> None:
        """The server ends as it should: the next one has another token."""
        self._address.unlink(missing_ok=True)

    def _last_state(self) -> State | None:
        """What was kept last; None when there is nothing, or nothing that can be read."""
        try:
            data = parsed_json(bounded_text(self.store, 16 * LONGEST_TEXT))
            known = {one.name: data[one.name] for one in fields(State) if one.name in data}
            state = State(**known)
        except (OSError, ValueError, TypeError):
            return None
        right = isinstance(state.text, str) and isinstance(state.values, dict) and isinstance(state.initial, dict)
        return state if right else None


def _robot_text(path: str) -> str:
    """A robot file as a description, with its shapes and meshes drawn, and what it says beside as comments."""
    from torseur.description.language import to_text
    from torseur.description.readers import open_robot, summary
    from torseur.description.readers.writing.robot_drawings import drawn_mechanism

    robot = open_robot(path)
    notes = [f"(* {line.replace('(*', '( *').replace('*)', '* )')} *)" for line in summary(robot.findings)]
    text = "\n".join([to_text(drawn_mechanism(robot)), *notes, ""])
    if len(text) > LONGEST_TEXT:
        raise SessionError(f"'{path}' is a description of {len(text)} characters; the studio takes {LONGEST_TEXT}.")
    return text


def _robot_limits(path: str) -> dict[str, tuple[float | None, float | None]]:
    """What a robot file says of its joints, by coordinate; what follows a joint limits that one."""
    from torseur.analysis.robotics import Robot

    try:
        robot = Robot(path)
        low, high = robot.limits
    except (TorseurError, OSError):
        return {}  # the file has gone since
    bounds = zip(robot.coordinate_names, low, high, strict=True)
    known = {name: tuple(float(x) if isfinite(x) else None for x in pair) for name, *pair in bounds}
    return {name: (pair[0], pair[1]) for name, pair in known.items() if pair != (None, None)}


def state_folder() -> Path:
    """Where sessions are kept: the user's state folder, or where TORSEUR_STATE says."""
    given = os.environ.get("TORSEUR_STATE")
    base = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return Path(given) if given else base / "torseur" / "studio"


def _key(file: Path | None, entry: str) -> str:
    """The name of a session: that of its file or robot and a hash of where it is, or that of a library mechanism."""
    if file is None and entry.startswith(PREFIX):
        return "library-" + re.sub(r"[^A-Za-z0-9_]", "_", entry.removeprefix(PREFIX))[:80]
    # A robot read with other options is another session.
    where = str(file.resolve()) if file is not None else entry
    stem = (file or Path(split_query(entry)[0])).stem
    digest = hashlib.sha256(where.encode()).hexdigest()[:12]
    return f"{re.sub(r'[^A-Za-z0-9_-]', '_', stem)[:40]}-{digest}"


def _read_text(file: Path) -> str:
    try:
        if file.stat().st_size > 4 * LONGEST_TEXT:
            raise SessionError(f"'{file}' is larger than a description may be.")
        return bounded_text(file, 4 * LONGEST_TEXT)
    except UnicodeDecodeError as problem:
        raise SessionError(f"'{file}' is not UTF-8 text (byte {problem.start}).") from problem
    except OSError as problem:
        raise SessionError(f"'{file}' cannot be read: {problem.strerror or problem}.") from problem


def _write(file: Path, text: str, private: bool = False) -> None:
    """Writes a file that appears whole or not at all."""
    draft = file.with_name(f".{file.name}-{uuid4().hex}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700 if private else 0o777)
        mode = 0o600 if private else _mode(file)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as target:
            target.write(text)
            target.flush()
            # Before the rename: after a power cut the name must not stand for an empty file.
            os.fsync(target.fileno())
        os.replace(draft, file)
    except UnicodeEncodeError as problem:
        raise SessionError(f"'{file}' cannot be written: the text holds half of a character.") from problem
    except OSError as problem:
        raise SessionError(f"'{file}' cannot be written: {problem.strerror or problem}.") from problem
    finally:
        draft.unlink(missing_ok=True)


def _mode(file: Path) -> int:
    return file.stat().st_mode & 0o777 if file.exists() else 0o666
