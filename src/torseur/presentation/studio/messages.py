"""What page, server and workers say to each other.

The page asks in JSON. Answers are JSON too, or binary where they hold curves and poses: the length of a JSON head (four
bytes, little-endian), the head, then arrays whose places the head lists. Between a worker and the server a letter comes
before each message: what it is for.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torseur.errors import TorseurError, unknown_name

LONGEST_TEXT = 400_000  # characters
LONGEST_LIST = 2000  # of quantities to plot
LONGEST_MOTION = 3600.0  # seconds
MOST_VALUES = 5000
TEXT, BINARY, DONE = b"T", b"B", b"D"
WORDS = ("formalism", "level", "criterion", "over", "arrows", "suspension", "known", "what", "detail")
KINDS = ("describe", "move", "examine", "survey", "export", "open", "inscribe")


class MessageError(TorseurError):
    """A message of the page that cannot be understood."""


@dataclass(frozen=True)
class Request:
    """One question about one text; everything an answer depends on is in it, so that any worker can answer.

    `values` and `initial` differ from those of the text; `outputs` are quantities to plot, between semicolons, also
    drawn `over` another one; `arrows` are kinds of arrows such as force=0.002, between semicolons; `suspension` is a
    wheel and its body, such as fl.hub in body; `known` is the digest of the shapes that the page has; `what` names an
    export or a mechanism of the library; `detail` says more about it.
    """

    kind: str
    number: int
    text: str = ""
    values: Mapping[str, float] = field(default_factory=dict)
    initial: Mapping[str, float] = field(default_factory=dict)
    until: float = 10.0
    formalism: str = "recursive"
    level: str = "scalar"
    criterion: str = ""
    outputs: str = ""
    over: str = ""
    arrows: str = ""
    suspension: str = ""
    known: str = ""
    what: str = ""
    detail: str = ""


def read_request(data: Mapping[str, Any]) -> Request:
    """A request of the page, every field checked."""
    kind = data.get("kind")
    if kind not in KINDS:
        raise MessageError(unknown_name("request", str(kind)[:40], KINDS))
    words = {name: _text(data, name) for name in WORDS}
    return Request(
        kind=kind,
        number=_whole(data.get("number")),
        text=_text(data, "text", LONGEST_TEXT),
        values=_numbers(data, "values"),
        initial=_numbers(data, "initial"),
        until=_duration(data.get("until", 10.0)),
        outputs=_text(data, "outputs", LONGEST_LIST),
        **{name: word for name, word in words.items() if word},
    )


def read_data(message: str) -> dict[str, Any]:
    """A message of the page as a JSON object."""
    try:
        data = json.loads(message)
    except (ValueError, RecursionError) as problem:
        raise MessageError(f"a message is not JSON: {problem}.") from problem
    if not isinstance(data, dict):
        raise MessageError("a message must be a JSON object.")
    return data


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
        raise MessageError("the number of a request must be a whole number.")
    return value


def _text(data: Mapping[str, Any], name: str, longest: int = 300) -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise MessageError(f"'{name}' must be text.")
    if len(value) > longest:
        raise MessageError(f"'{name}' has {len(value)} characters; the limit is {longest}.")
    return value


def _numbers(data: Mapping[str, Any], name: str) -> dict[str, float]:
    given = data.get(name, {})
    if not isinstance(given, dict) or len(given) > MOST_VALUES:
        raise MessageError(f"'{name}' must be a table of at most {MOST_VALUES} numbers.")
    return {key: finite(value, f"{name}.{key[:40]}") for key, value in given.items()}


def _duration(value: object) -> float:
    seconds = finite(value, "until")
    if not 0.0 < seconds <= LONGEST_MOTION:
        raise MessageError(f"until = {seconds:g} s: expected a time above 0 and up to {LONGEST_MOTION:g} s.")
    return seconds


def finite(value: object, name: str) -> float:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise MessageError(f"'{name}' must be a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise MessageError(f"'{name}' must be a finite number.")
    return number


def text_message(kind: str, number: int, **content: Any) -> bytes:
    """An answer in JSON, as a worker sends it."""
    return TEXT + _json({"kind": kind, "number": number, **content})


def binary_message(kind: str, number: int, arrays: Mapping[str, NDArray[Any]], **content: Any) -> bytes:
    """An answer with arrays: single precision floats, or 16-bit integers, one after the other."""
    parts, places, offset = [], {}, 0
    for name, array in arrays.items():
        whole = np.issubdtype(array.dtype, np.integer)
        with np.errstate(over="ignore"):  # what is beyond single precision is drawn nowhere
            packed = np.ascontiguousarray(array, dtype="<i2" if whole else "<f4").tobytes()
        places[name] = {"offset": offset, "bytes": len(packed), "type": "i2" if whole else "f4"}
        parts.append(packed)
        offset += len(packed)
    head = _json({"kind": kind, "number": number, "arrays": places, **content})
    return b"".join([BINARY, len(head).to_bytes(4, "little"), head, *parts])


def file_message(number: int, name: str, kind: str, content: bytes) -> bytes:
    """A file for the user to save."""
    head = _json({"kind": "file", "number": number, "name": name, "type": kind})
    return b"".join([BINARY, len(head).to_bytes(4, "little"), head, content])


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
