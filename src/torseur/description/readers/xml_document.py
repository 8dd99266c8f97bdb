"""XML files as elements that remember what was read of them; what a hostile file could abuse is refused.

There are no entities, no document types and no network; size, depth and number of elements are bounded. Every element
and attribute carries a mark that reading sets, so that what nobody asked for can be listed afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from torseur.edges.budgets import bounded_bytes
from torseur.errors import TorseurError


# The refusal of a robot file: which file, which line, what is wrong, what would do.
class RobotFileError(TorseurError):
    """A robot file that cannot be read or written; the text says where and why."""


LARGEST_FILE = 32 * 2**20
DEEPEST = 500
MOST_ELEMENTS = 200_000
LONGEST_VALUE = 2**20


@dataclass(eq=False)
class Attribute:
    """The value of an attribute as written, whether anybody read it, and the default it stands in front of."""

    value: str
    used: bool = False
    behind: Attribute | None = None

    def read(self) -> str:
        """The value; it and what it replaces count as read."""
        seen: Attribute | None = self
        while seen is not None and not seen.used:
            seen.used = True
            seen = seen.behind
        return self.value


@dataclass(eq=False)
class Element:
    """An element: its tag, attributes, children and text (if it has no children), and where it stands."""

    tag: str
    attributes: dict[str, Attribute]
    file: str
    line: int
    children: list[Element] = field(default_factory=list)
    used: bool = False
    content: str = ""
    folder: Path | None = None
    """The folder of an included file, beside which other files may be that the element names."""

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}"

    def text(self, name: str) -> str | None:
        """The attribute as written, or None; it counts as read."""
        attribute = self.attributes.get(name)
        return None if attribute is None else attribute.read()

    def all(self, *tags: str) -> list[Element]:
        """The children with one of the tags; they count as read."""
        # What nobody asks for stays unread, and is listed at the end: nothing of a file is dropped in silence.
        children = [child for child in self.children if child.tag in tags]
        for child in children:
            child.used = True
        return children

    def first(self, tag: str) -> Element | None:
        """The first child with the tag, or None; only that one counts as read."""
        for child in self.children:
            if child.tag == tag:
                child.used = True
                return child
        return None

    def take(self) -> None:
        """Counts the element and all inside it as read."""
        for element in self.walk():
            element.used = True
            for attribute in element.attributes.values():
                attribute.read()

    def walk(self) -> Iterator[Element]:
        """The element and all inside it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    def fault(self, message: str) -> RobotFileError:
        """A refusal at this element."""
        return RobotFileError(f"{self.where}: {message}")


def read_document(path: Path) -> Element:
    """The root element of an XML file."""
    return parse_document(_bytes_of(path), path.name)


def parse_document(content: bytes, file: str) -> Element:
    """The root element of an XML text; `file` names it in messages."""
    if len(content) > LARGEST_FILE:
        raise RobotFileError(f"{file}: the file has {len(content)} bytes; the limit is {LARGEST_FILE}.")
    builder = _Builder(file)
    parser = builder.parser
    try:
        # Robots in use have blank lines before the XML declaration, which XML itself does not allow.
        parser.Parse(content.lstrip(b" \t\r\n"), True)
    except expat.ExpatError as problem:
        reason = expat.ErrorString(problem.code)
        raise RobotFileError(
            f"{file}:{problem.lineno}:{problem.offset + 1}: this is not well-formed XML: {reason}."
        ) from None
    except (LookupError, ValueError) as problem:
        raise RobotFileError(f"{file}: the text's encoding cannot be read: {problem}.") from None
    assert builder.root is not None
    return builder.root


def _bytes_of(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise RobotFileError(f"{path}: the file has {size} bytes; the limit is {LARGEST_FILE}.")
        return bounded_bytes(path, LARGEST_FILE)
    except OSError as problem:
        raise RobotFileError(f"{path}: cannot be read: {problem.strerror}.") from None
    except ValueError as problem:
        raise RobotFileError(f"the path {str(path)!r} cannot be opened: {problem}.") from None


class _Builder:
    """Collects elements as the parser meets them."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.add_text
        self.parser.buffer_text = True
        self.text: list[str] = []
        # Entities can grow to gigabytes from a few lines, and reach for other files.
        self.parser.StartDoctypeDeclHandler = self.refuse_document_type
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        # Declarations of name spaces say nothing about the robot.
        marked = {name: Attribute(value, name.startswith("xmlns")) for name, value in attributes.items()}
        element = Element(tag, marked, self.file, line)
        self.count += 1
        if self.count > MOST_ELEMENTS:
            raise element.fault(f"the file has more than {MOST_ELEMENTS} elements.")
        if len(self.open) >= DEEPEST:
            raise element.fault(f"elements are nested deeper than {DEEPEST}.")
        if any(len(value) > LONGEST_VALUE for value in attributes.values()):
            raise element.fault(f"an attribute of <{tag}> is longer than {LONGEST_VALUE} characters.")
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)
        self.text.clear()

    def add_text(self, text: str) -> None:
        self.text.append(text)

    def end(self, tag: str) -> None:
        element = self.open.pop()
        if not element.children:
            element.content = "".join(self.text)
        self.text.clear()

    def refuse_document_type(self, *_: object) -> None:
        line = self.parser.CurrentLineNumber
        raise RobotFileError(
            f"{self.file}:{line}: the file declares a document type. Those can define entities, which are not read; "
            "remove the <!DOCTYPE ...> declaration."
        )
