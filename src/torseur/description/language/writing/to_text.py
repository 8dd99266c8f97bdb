"""From a mechanism to the text that describes it."""

from __future__ import annotations

from torseur.description.language.description_errors import Report, Source
from torseur.description.language.reading.read_mechanism import DEFAULT_NAME, Reader
from torseur.description.language.syntax.parser import parse_statements
from torseur.description.language.writing.write_document import mechanism_text
from torseur.description.mechanism import Mechanism
from torseur.errors import UnsupportedError


def to_text(mechanism: Mechanism) -> str:
    """The description of a mechanism; reading it gives the same mechanism back, always.

    The short form, which leaves out what the reader would say itself, is checked by reading it; where it says something
    else, the plain form is used.
    """
    short = mechanism_text(mechanism, short=True)
    if _reading(short)[0] == mechanism:
        return short
    plain = mechanism_text(mechanism, short=False)
    read, report = _reading(plain)
    if read != mechanism:
        reason = (
            report.diagnostics[0].message if report.diagnostics else "its parts do not follow the language's own rules"
        )
        raise UnsupportedError(f"mechanism '{mechanism.name}' cannot be written as text: {reason}.".replace("..", "."))
    return plain


def _reading(text: str) -> tuple[Mechanism | None, Report]:
    report = Report(Source(text))
    return Reader(parse_statements(report.source, report), report, DEFAULT_NAME, None).mechanism(), report
