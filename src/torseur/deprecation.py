"""Former names of public attributes: they still work, and warn with the name that took their place."""

import warnings
from typing import Any


class FormerName:
    """An attribute under its former name: `slopes = FormerName("derivatives")` in the class that has `derivatives`.

    It stays until the name has been out of use for two minor versions (docs/public_surface.md).
    """

    def __init__(self, new: str) -> None:
        self.new, self.old = new, ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.old = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        kind = owner.__name__
        warnings.warn(f"{kind}.{self.old} is now called {kind}.{self.new}.", DeprecationWarning, stacklevel=2)
        return getattr(instance, self.new)
