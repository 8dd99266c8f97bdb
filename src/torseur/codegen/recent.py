"""What was made last, kept for the next time: as much as a process that runs for days can afford."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

V = TypeVar("V")


class Recent(Generic[V]):
    """Values by key, those asked for last; beyond `most` of them the one not asked for longest goes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: dict[Hashable, tuple[V]] = {}
        self._moving = Lock()

    def get(self, key: Hashable, make: Callable[[], V]) -> V:
        """The value of a key, made if it is not there."""
        with self._moving:
            found = self._values.pop(key, None)
        kept = found if found is not None else (make(),)
        with self._moving:
            self._values[key] = kept
            while len(self._values) > self.most:
                del self._values[next(iter(self._values))]
        return kept[0]

    def __len__(self) -> int:
        return len(self._values)
