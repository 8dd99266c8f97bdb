"""The account of a reading: what was noticed on the way, and what of the file nobody asked for."""

from __future__ import annotations

from collections.abc import Mapping

from torseur.description.readers.robot_file import ASSUMED, NOT_MODELLED, RENAMED, Finding
from torseur.description.readers.xml_document import Element


class Ledger:
    """Collects findings; the same remark about many elements is kept once, with a count."""

    def __init__(self) -> None:
        self._entries: dict[tuple[str, str], Finding] = {}

    def note(self, kind: str, message: str, element: Element | None = None) -> None:
        """Adds a finding, at the first place where it is met."""
        key = (kind, message)
        where = element.where if element is not None else ""
        known = self._entries.get(key)
        count = 1 if known is None else known.count + 1
        self._entries[key] = Finding(kind, message, where if known is None else known.where, count)

    def note_unmodelled(self, message: str, element: Element | None = None) -> None:
        self.note(NOT_MODELLED, message, element)

    def note_assumption(self, message: str, element: Element | None = None) -> None:
        self.note(ASSUMED, message, element)

    def note_renaming(self, changes: list[tuple[str, str, str]]) -> None:
        for kind, old, new in changes:
            self.note(RENAMED, f"{kind} '{old}' is called '{new}' here.")

    def unread(self, root: Element, meanings: Mapping[str, str]) -> None:
        """Lists every element and attribute under a root that was never read.

        `meanings` says about an element ("gazebo") or attribute ("geom friction") what its absence means;
        "material *" stands for all attributes of an element.
        """
        waiting = [root]
        while waiting:
            element = waiting.pop()
            if not element.used:
                self.note_unmodelled(_explain(f"<{element.tag}>", element.tag, meanings), element)
                continue
            for name, attribute in element.attributes.items():
                if not attribute.used:
                    what = f"{name} of <{element.tag}>"
                    self.note_unmodelled(_explain(what, f"{element.tag} {name}", meanings), element)
            waiting.extend(reversed(element.children))

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._entries.values())


def _explain(what: str, key: str, meanings: Mapping[str, str]) -> str:
    meaning = meanings.get(key) or meanings.get(f"{key.split()[0]} *" if " " in key else "")
    return f"{what}: {meaning}." if meaning else f"{what}."
