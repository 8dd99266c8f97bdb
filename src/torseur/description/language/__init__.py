"""LSD, the language of descriptions: text to Mechanism and back."""

from __future__ import annotations

from pathlib import Path

from torseur.description.language.description_errors import Diagnostic, LanguageError, Report, Source
from torseur.description.language.reading.read_mechanism import DEFAULT_NAME, Reader
from torseur.description.language.syntax.parser import LARGEST_TEXT, parse_statements
from torseur.description.language.writing.write_document import to_text
from torseur.description.mechanism import Mechanism
from torseur.edges.budgets import bounded_text

BYTE_ORDER_MARK = "\ufeff"

__all__ = ["Diagnostic", "LanguageError", "diagnose", "load", "parse", "to_text"]


def parse(text: str, source: str = "<text>", directory: str | Path | None = None) -> Mechanism:
    """The mechanism a text describes; LanguageError with every fault found when it describes none.

    `source` is the name reported in messages. Tables that the text names are read from `directory`, and only there.
    """
    mechanism, report = _read_text(text, source, directory, DEFAULT_NAME)
    if mechanism is None:
        raise LanguageError(report.diagnostics)
    return mechanism


def load(path: str | Path) -> Mechanism:
    """The mechanism a file describes. A file that does not name its mechanism names it by its own name."""
    file = Path(path)
    text = _text_of(file)
    mechanism, report = _read_text(text, str(path), file.parent, file.stem)
    if mechanism is None:
        raise LanguageError(report.diagnostics)
    return mechanism


def diagnose(text: str, source: str = "<text>", directory: str | Path | None = None) -> list[Diagnostic]:
    """The faults of a text in the order of their places; none when it can be read."""
    return _read_text(text, source, directory, DEFAULT_NAME)[1].diagnostics


def _read_text(text: str, source: str, directory: str | Path | None, name: str) -> tuple[Mechanism | None, Report]:
    report = Report(Source(text.removeprefix(BYTE_ORDER_MARK), source))
    if report.source.text.lstrip().startswith("<"):
        report.add(
            0,
            1,
            "this is XML, not a description.",
            "Robot files end in .urdf, .xacro, .sdf, .world, .osim or .xml (MJCF); Python reads them with read_robot.",
        )
        return None, report
    parsed = parse_statements(report.source, report)
    folder = None if directory is None else Path(directory)
    return Reader(parsed, report, name, folder).mechanism(), report


def _text_of(file: Path) -> str:
    try:
        size = file.stat().st_size
        if size > 4 * LARGEST_TEXT:
            raise LanguageError([_at_start(file, f"the file has {size} bytes; the limit is {4 * LARGEST_TEXT}.")])
        return bounded_text(file, 4 * LARGEST_TEXT)
    except OSError as problem:
        ready = " Ready mechanisms are given by torseur.library.load." if str(file).startswith("library:") else ""
        raise LanguageError([_at_start(file, f"cannot be read: {problem.strerror}.{ready}")]) from problem
    except UnicodeDecodeError as problem:
        raise LanguageError([_at_start(file, f"is not UTF-8 text (byte {problem.start}).")]) from problem


def _at_start(file: Path, message: str) -> Diagnostic:
    return Diagnostic(str(file), 1, 1, 2, message)
