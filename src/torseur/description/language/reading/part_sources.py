"""Where parts come from: the text itself, another text, or a robot file; bounded, and confined to folders."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path

from torseur.description.language.description_errors import Report, Source, listing
from torseur.description.language.syntax import part_nodes as parts_of
from torseur.description.language.syntax import syntax_nodes as x
from torseur.description.language.syntax.parser import LARGEST_TEXT, Parsed, parse_statements
from torseur.description.mechanism import Mechanism, Part
from torseur.description.mechanism.transformations.parts import held_by
from torseur.edges.budgets import bounded_text
from torseur.errors import TorseurError, nearest

DEEPEST_FILES = 16
MOST_FILES = 200
LIBRARY = "library:"
ROBOTS = (".urdf", ".xml", ".mjcf")
TYRES, TYRE_PART = ".tir", ("pacejka_tyre", "library:parts/pacejka")  # files of coefficients, and the part they are of
Read = Callable[[Parsed, Report, str, "PartSources"], Mechanism | None]


@dataclass
class Reading:
    """What one reading of a text has opened so far, counted over all files, and the parts that are open now."""

    read: Read
    files: int = 0
    depth: int = 0
    open: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Found:
    """A part, and the words for where it is described."""

    part: Part
    defaults: dict[str, x.Expression | None]
    place: str


@dataclass
class PartSources:
    """The parts that a text can use: those it defines, and those of files in its folder."""

    report: Report
    directory: Path | None
    root: Path | None
    reading: Reading
    identity: str = "<text>"
    defined: dict[str, parts_of.PartIs] = field(default_factory=dict)
    _parts: dict[str, Found | None] = field(default_factory=dict)
    _files: dict[str, PartSources | Part | None] = field(default_factory=dict)

    def place(self, node: x.Node) -> str:
        line, column = self.report.source.position(node.start)
        return f"{self.report.source.file}:{line}:{column}"

    def define(self, statements: tuple[x.Statement, ...]) -> None:
        """Takes note of the parts that a text defines."""
        for statement in statements:
            if not isinstance(statement, parts_of.PartIs):
                continue
            name = statement.name
            if name.text in self.defined:
                first = self.place(self.defined[name.text].name)
                self.report.add(name.start, name.end, f"part '{name.text}' is defined twice, first at {first}.")
            else:
                self.defined[name.text] = statement

    def read_all(self) -> None:
        """Reads every part once, so that faults in those that nothing uses are seen."""
        for name, statement in self.defined.items():
            self.own(name, statement.name)

    # Parts of the text

    def own(self, name: str, at: x.Node) -> Found | None:
        """A part that the text defines; None, noted, where it cannot be read or leads back to itself."""
        statement = self.defined[name]
        key = f"{self.identity}:{name}"
        if key in self.reading.open:
            # Open parts are a stack: from the first that is met again on, they are the circle.
            cycle = [entry.rpartition(":")[2] for entry in self.reading.open[self.reading.open.index(key) :]]
            way = " uses ".join(f"'{part}'" for part in (*cycle, name))
            self.report.add(at.start, at.end, f"part '{name}' ({self.place(statement.name)}) uses itself: {way}.")
            return None
        if name not in self._parts:
            self.reading.open.append(key)
            self._parts[name] = self._read_own(statement)
            self.reading.open.pop()
        return self._parts[name]

    def _read_own(self, statement: parts_of.PartIs) -> Found | None:
        for inside in statement.statements:
            if isinstance(inside, (x.MechanismIs, x.GravityIs)):
                what = "gravity" if isinstance(inside, x.GravityIs) else "a name of the mechanism"
                self.report.add(inside.start, inside.end, f"{what} belongs to the whole, not to a part.")
                return None
        head = statement.head
        stand_ins = [s for attachment in head.attachments for s in _stand_in(attachment.name)]
        own = Report(self.report.source)
        parsed = Parsed((*head.parameters, *stand_ins, *statement.statements), statement.doubtful)
        # Parts know each other, whatever their order; the faults inside are collected apart from those outside.
        sources = PartSources(
            own, self.directory, self.root, self.reading, self.identity, self.defined, self._parts, self._files
        )
        mechanism = self.reading.read(parsed, own, statement.name.text, sources)
        self.report.include(own)
        if mechanism is None:
            return None
        defaults = {a.name.text: a.to for a in head.attachments}
        part = Part(_with_meaning(mechanism, head.meaning), tuple(defaults))
        return Found(part, defaults, self.place(statement.name))

    # Parts of files

    def of_file(self, name: x.Name, file: x.Text) -> Found | None:
        """The part of a name that a file describes; None, noted, where there is none."""
        if file.text not in self._files:
            self._files[file.text] = self._open(file)
        source = self._files[file.text]
        if source is None:
            return None
        if isinstance(source, Part):
            if name.text not in (source.name, Path(file.text).stem):
                known = list(dict.fromkeys([source.name, Path(file.text).stem]))
                self._unknown(name, file, known)
                return None
            return Found(source, {}, file.text)
        if name.text in source.defined:
            before = len(source.report.noted)
            self.reading.depth += 1
            part = source.own(name.text, source.defined[name.text].name)
            self.reading.depth -= 1
            if len(source.report.noted) > before:
                self.report.include(source.report, name, self.place(name))
            return part
        self._unknown(name, file, list(source.defined))
        return None

    def _unknown(self, name: x.Name, file: x.Text, known: list[str]) -> None:
        guess = nearest(name.text, known)
        hint = f"Did you mean '{guess}'?" if guess else ""
        self.report.add(
            name.start, name.end, f"'{file.text}' has no part '{name.text}'. {listing('part', known)}", hint
        )

    def _open(self, file: x.Text) -> PartSources | Part | None:
        path = self._path_of(file)
        if path is None:
            return None
        self.reading.files += 1
        if self.reading.files > MOST_FILES or self.reading.depth >= DEEPEST_FILES:
            what = f"more than {MOST_FILES} files" if self.reading.files > MOST_FILES else "files nested too deeply"
            self.report.add(file.start, file.end, f"'{file.text}' is not read: this text uses {what}.")
            return None
        if path.suffix.lower() in ROBOTS:
            return self._robot(file, path)
        if path.suffix.lower() == TYRES:
            return self._tyre(file, path)
        try:
            text = bounded_text(path, 4 * LARGEST_TEXT)
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "it is not UTF-8 text"
            self.report.add(file.start, file.end, f"'{file.text}' cannot be read: {reason}.")
            return None
        return self._text(file, path, text)

    def _text(self, file: x.Text, path: Path, text: str) -> PartSources | Part | None:
        """The parts of a text, or the mechanism it describes where it defines none."""
        shown = file.text if file.text.startswith(LIBRARY) else self._path_text(file)
        inner = Report(Source(text.removeprefix("\ufeff"), shown))
        parsed = parse_statements(inner.source, inner)
        root = path.parent if file.text.startswith(LIBRARY) else self.root
        sources = PartSources(inner, path.parent, root, self.reading, str(path.resolve()))
        sources.define(parsed.statements)
        if not sources.defined and not inner.noted:
            key = f"{sources.identity}:{path.stem}"
            if key in self.reading.open:
                self.report.add(file.start, file.end, f"'{file.text}' uses itself.")
                return None
            self.reading.open.append(key)
            self.reading.depth += 1
            mechanism = self.reading.read(parsed, inner, path.stem, sources)
            self.reading.depth -= 1
            self.reading.open.pop()
            if mechanism is not None:
                return Part(mechanism)
        if inner.noted:
            self.report.include(inner, file, self.place(file))
            return None
        return sources

    def _robot(self, file: x.Text, path: Path) -> Part | None:
        from torseur.description.readers import read_robot, summary

        try:
            robot = read_robot(path)
            for line in summary(robot.findings):
                warnings.warn(line, stacklevel=2)
            return Part(robot.mechanism)
        except (TorseurError, OSError) as problem:
            self.report.add(file.start, file.end, f"'{file.text}': {problem}")
            return None

    def _tyre(self, file: x.Text, path: Path) -> Part | None:
        """The tyre of the library with the coefficients of a file."""
        from torseur.description.language.formulas.tyre_files import read_tyre_file

        name, place = TYRE_PART
        part = self.of_file(x.Name(file.start, file.end, name), x.Text(file.start, file.end, place))
        if part is None:
            return None
        mechanism = part.part.mechanism
        try:
            tyre = read_tyre_file(path, self._path_text(file), frozenset(p.name for p in mechanism.parameters))
        except TorseurError as problem:
            self.report.add(file.start, file.end, str(problem))
            return None
        side = f", measured at the {tyre.side.lower()}" if tyre.side in ("LEFT", "RIGHT") else ""
        whole = replace(mechanism.with_values(**tyre.values), meaning=f"tyre of {path.name}{side}")
        return Part(whole, part.part.attachments)

    def _path_text(self, file: x.Text) -> str:
        return str(Path(self.report.source.file).parent / file.text)

    def _path_of(self, file: x.Text) -> Path | None:
        """The file's path, in the folder of the text that is read or in that of the library's parts."""
        if file.text.startswith(LIBRARY):
            return self._library_file(file)
        if self.directory is None or self.root is None:
            message = f"'{file.text}' cannot be found: this text has no folder. Load it from a file."
            self.report.add(file.start, file.end, message)
            return None
        root = self.root.resolve()
        try:
            path = (self.directory / file.text).resolve()
        except (OSError, ValueError, RuntimeError):
            path = Path("/")
        if not file.text or not path.is_relative_to(root) or path == root:
            message = f"'{file.text}' must lie in the folder of the description."
            self.report.add(file.start, file.end, message, "Copy it there, or take a part of the library.")
            return None
        if not path.is_file():
            near = nearest(path.name, sorted(p.name for p in path.parent.glob("*.lsd")) if path.parent.is_dir() else [])
            hint = f"Did you mean '{near}'?" if near else ""
            self.report.add(file.start, file.end, f"there is no file '{file.text}'.", hint)
            return None
        return path

    def _library_file(self, file: x.Text) -> Path | None:
        folder = Path(str(files("torseur.description.library").joinpath("parts")))
        name = file.text.removeprefix(LIBRARY).removeprefix("parts/")
        known = sorted(path.stem for path in folder.glob("*.lsd"))
        if name in known:
            return folder / f"{name}.lsd"
        near = nearest(name, known)
        hint = f"Did you mean '{LIBRARY}parts/{near}'?" if near else ""
        message = f"the library has no parts '{name}'. {listing('file', known)}"
        self.report.add(file.start, file.end, message, hint)
        return None


def _with_meaning(mechanism: Mechanism, meaning: str) -> Mechanism:
    return replace(mechanism, meaning=meaning) if meaning else mechanism


def _stand_in(name: x.Name) -> list[x.Statement]:
    """The statements of a body without mass, held by a joint, in the place of one that the part is attached to."""
    place = (name.start, name.end)
    zero = x.Number(*place, 1, "0", None)
    items = tuple(x.Property(*place, x.Name(*place, what), None, zero) for what in ("mass", "centre", "inertia"))
    earth, body = (x.Reference(*place, 1, tuple(path.split(".")), 0) for path in ("earth", name.text))
    joint = x.JointIs(*place, earth, body, False, x.Name(*place, held_by(name.text)), x.Name(*place, "fixed"), (), ())
    return [x.BodyIs(*place, name, items, ""), joint]
