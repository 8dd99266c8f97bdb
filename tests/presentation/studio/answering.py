"""Answers of the studio, taken apart as the page takes them apart."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

TYPES = {"f4": np.dtype("<f4"), "i2": np.dtype("<i2")}


def taken_apart(message: bytes) -> dict[str, Any]:
    """A message of a worker: its head, with arrays or the bytes of a file."""
    letter, content = message[:1], message[1:]
    if letter == b"T":
        return json.loads(content)
    assert letter == b"B"
    length = int.from_bytes(content[:4], "little")
    head, body = json.loads(content[4 : 4 + length]), content[4 + length :]
    if "arrays" not in head:
        return {**head, "body": body}
    arrays = {
        name: np.frombuffer(body[place["offset"] : place["offset"] + place["bytes"]], TYPES[place["type"]])
        for name, place in head["arrays"].items()
    }
    return {**head, "arrays": arrays}


def all_of(messages: Iterable[bytes]) -> list[dict[str, Any]]:
    return [taken_apart(message) for message in messages]


def last(messages: Iterable[bytes], kind: str) -> dict[str, Any]:
    """The last message of a kind."""
    found = [message for message in all_of(messages) if message["kind"] == kind]
    assert found, f"no message of kind {kind}"
    return found[-1]
