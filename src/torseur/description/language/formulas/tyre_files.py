"""Coefficients of a tyre from a `.tir` file: the Magic Formula of versions 5.0 to 5.2, PAC2002 among them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from torseur.edges.budgets import bounded_text
from torseur.errors import TorseurError

LARGEST = 1_000_000  # characters
VERSIONS = ("PAC2002", "MF-TYRE", "MF_05", "MF05", "MF52", "MF-05", "PAC_02")  # names of the property file's format
FITS = (5, 6, 21, 52)  # numbers of the fit that are this version
UNITS = {"LENGTH": ("meter", "metre", "m"), "FORCE": ("newton", "n"), "ANGLE": ("radians", "radian", "rad")}
# What the part calls what the file names otherwise.
NAMES = {
    "UNLOADED_RADIUS": "R",
    "VERTICAL_STIFFNESS": "k",
    "VERTICAL_DAMPING": "c",
    "FNOMIN": "F_0",
}
_LINE = re.compile(r"^\s*([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$")


class TyreFileError(TorseurError):
    """A `.tir` file that cannot be read, with its line."""


@dataclass(frozen=True)
class TyreFile:
    """The coefficients of a tyre by name (SI), and the side on which it was measured."""

    values: dict[str, float]
    side: str


def read_tyre_file(path: Path, shown: str, known: frozenset[str]) -> TyreFile:
    """The values among `known` that a file gives; it is refused where its version, units or numbers are others."""
    try:
        text = bounded_text(path, LARGEST)
    except (OSError, UnicodeDecodeError) as problem:
        raise TyreFileError(f"'{shown}' cannot be read: {getattr(problem, 'strerror', 'it is not text')}.") from problem
    lines = _entries(text)
    _require_version(lines, shown)
    _require_units(lines, shown)
    values: dict[str, float] = {}
    for key, (number, written) in lines.items():
        name = NAMES.get(key, key)
        if name in known:
            values[name] = _number(written, f"{shown}:{number}: {key}")
    for key in ("FNOMIN", "UNLOADED_RADIUS", "PKY1", "PDY1", "PCY1"):
        if key not in lines:
            raise TyreFileError(f"{shown}: there is no {key}, without which a tyre has no forces.")
    # A coefficient that the file does not have is none: those of the library are of another tyre.
    zero = {name: 1.0 if name.startswith("L") else 0.0 for name in known if name[:1] in "PQRSL" and name[1:2].isupper()}
    return TyreFile({**zero, **_shapes(values), **values}, _word(lines.get("TYRESIDE", (0, ""))[1]))


def _shapes(values: dict[str, float]) -> dict[str, float]:
    """Shapes that a file without forward or combined slip leaves out: one, so that nothing is divided by zero."""
    return {name: 1.0 for name in ("PCX1", "PKX1", "PDX1", "QCZ1", "RCX1", "RCY1", "PKY2") if not values.get(name)}


def _entries(text: str) -> dict[str, tuple[int, str]]:
    """(line number, what stands there) by key; the first counts, comments and tables do not."""
    entries: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip()[:1] in ("!", "$", "[", "{"):
            continue
        match = _LINE.match(line)
        if match is not None:
            written = re.split(r"[$!]", match[2])[0].strip()
            entries.setdefault(match[1].upper(), (number, written))
    return entries


def _word(written: str) -> str:
    return written.strip("'\" ").upper()


def _require_version(lines: dict[str, tuple[int, str]], shown: str) -> None:
    number, written = lines.get("PROPERTY_FILE_FORMAT", (0, ""))
    format_name = _word(written)
    fit_line, fit_written = lines.get("FITTYP", (0, ""))
    fit = _number(fit_written, f"{shown}:{fit_line}: FITTYP") if fit_written else None
    if format_name in VERSIONS and (fit is None or fit in FITS):
        return
    if format_name in ("", "USER") and fit in FITS:
        return
    line, said = (fit_line, f"FITTYP = {fit:g}") if fit is not None and fit not in FITS else (number, format_name)
    if not said:
        raise TyreFileError(f"{shown}: neither PROPERTY_FILE_FORMAT nor FITTYP says the version of the Magic Formula.")
    raise TyreFileError(
        f"{shown}:{line}: {said} is another version of the Magic Formula; versions 5.0 to 5.2 are read "
        "(PROPERTY_FILE_FORMAT = 'PAC2002' or 'MF_05', FITTYP = 5, 6, 21 or 52). Export it as one of these."
    )


def _require_units(lines: dict[str, tuple[int, str]], shown: str) -> None:
    for key, allowed in UNITS.items():
        number, written = lines.get(key, (0, allowed[0]))
        if _word(written).lower() not in allowed:
            raise TyreFileError(f"{shown}:{number}: {key} is {written}; expected '{allowed[0]}'. Export it in SI.")


def _number(written: str, where: str) -> float:
    try:
        value = float(written.strip("'\"").replace("D", "e").replace("d", "e"))
    except ValueError:
        value = float("nan")
    if not abs(value) < 1e300:
        raise TyreFileError(f"{where}: expected a number, got '{written}'.")
    return value
