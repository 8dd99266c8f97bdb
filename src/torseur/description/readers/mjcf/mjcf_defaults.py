"""Defaults: classes of attribute values that elements inherit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from torseur.description.readers.xml_document import Attribute, Element
from torseur.errors import unknown_name

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle", "adhesion",
    "orientation", "pid", "dcmotor", "plugin",
)  # fmt: skip
_TAGS = ("joint", "geom", "site", "mesh", "material", "equality", "tendon", *ACTUATORS)
Values = dict[str, dict[str, Attribute]]


class Defaults:
    """Attribute values by class and tag; `main` is the class of elements that name none."""

    def __init__(self) -> None:
        self.classes: dict[str, Values] = {}
        self.actuators: dict[str, tuple[Element, ...]] = {}
        self.main = "main"
        self._elements: list[Element] = []
        self._reached: set[int] = set()

    def define(self, element: Element, name: str, parent: str | None) -> None:
        """Adds a class from its <default> element, with what it inherits."""
        values: Values = {tag: dict(given) for tag, given in self.classes.get(parent or "", {}).items()}
        for child in element.all(*_TAGS):
            known = values.setdefault(_kind(child.tag), {})
            for attribute_name, attribute in child.attributes.items():
                attribute.behind = known.get(attribute_name)
                known[attribute_name] = attribute
            self._elements.append(child)
        self.classes[name] = values
        self.actuators[name] = (*self.actuators.get(parent or "", ()), *element.all(*ACTUATORS))

    def apply(self, element: Element, inherited: str | None, tag: str | None = None) -> Element:
        """The element with the defaults of its class, or of the class its ancestors give it."""
        name = element.text("class") or inherited or self.main
        if name not in self.classes and name != self.main:
            raise element.fault(unknown_name("default class", name, self.classes))
        attributes = dict(self.classes.get(name, {}).get(_kind(tag or element.tag), {}))
        self._reach(attributes)
        for attribute_name, attribute in element.attributes.items():
            if attribute.behind is None and attribute_name in attributes:
                attribute.behind = attributes[attribute_name]
            attributes[attribute_name] = attribute
        return replace(element, attributes=attributes)

    def actuators_of(self, element: Element) -> tuple[Element, ...]:
        """The defaults of actuators in the class of an element, outer ones first."""
        return self.actuators.get(element.text("class") or self.main, ())

    def _reach(self, values: dict[str, Attribute]) -> None:
        """Remembers which values an element of the model takes or replaces."""
        for value in values.values():
            seen: Attribute | None = value
            while seen is not None:
                self._reached.add(id(seen))
                seen = seen.behind

    def forget_idle(self) -> None:
        """Counts defaults as read that no element of the model could take."""
        for element in self._elements:
            for attribute in element.attributes.values():
                attribute.used = attribute.used or id(attribute) not in self._reached


def _kind(tag: str) -> str:
    """All actuators take the defaults of all: inside MuJoCo they are one kind."""
    return "actuator" if tag in ACTUATORS else tag


def read_defaults(root: Element, attached: Sequence[Element] = ()) -> Defaults:
    """All classes of a model; those of attached models inherit nothing from it."""
    defaults = Defaults()
    for element, parent in _walk(list(attached)):
        element.used = True
        own = element.text("class") or ""
        defaults.define(element, own, own if own in defaults.classes else parent)
    for element, parent in _walk(root.all("default")):
        name = element.text("class")
        if parent is None:
            name = name or "main"
            defaults.main = name
        if not name:
            raise element.fault('<default> inside another needs class="...".')
        defaults.define(element, name, name if name in defaults.classes else parent)
    return defaults


def _walk(tops: list[Element]) -> Iterator[tuple[Element, str | None]]:
    """Every <default> with the class it stands in, outer ones first."""
    waiting: list[tuple[Element, str | None]] = [(element, None) for element in reversed(tops)]
    while waiting:
        element, parent = waiting.pop()
        yield element, parent
        name = element.text("class") or ("main" if parent is None else "")
        waiting += [(child, name) for child in reversed(element.all("default"))]
