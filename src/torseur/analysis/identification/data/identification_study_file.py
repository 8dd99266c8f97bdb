"""Study files: their tables, read from TOML and checked entry by entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torseur.analysis.identification.identify import CONSISTENT, METHODS
from torseur.analysis.identification.model.columns import FORCE_LAWS
from torseur.edges.budgets import bounded_text, parsed_toml
from torseur.errors import IdentificationError, unknown_name

OUTPUT_ERROR, SEGMENTS = "output_error", "segments"
EVERY_METHOD = (*METHODS, SEGMENTS, OUTPUT_ERROR)
TABLES = {
    "": ("mechanism", "method", "loads", "data", "treatment", "parameters", "payloads", "limits", "known", "prior",
         "values", "unknown", "initial", "options"),
    "data": ("trials", "validation", "instruments", "time", "channels", "forces", "wrench", "units", "payload"),
    "treatment": ("gaps", "saturation", "derivatives", "window", "order", "smoothing", "harmonics"),
    "parameters": (*FORCE_LAWS, "threshold"),
    "prior": ("weight",),
    "options": ("confidence", "bootstrap", "cross", "seed", "rtol", "fit", "positive", "iterations"),
}  # fmt: skip

# Entries that only some methods read: a table by itself, or one of its entries.
APPLIES: dict[tuple[str, ...], tuple[str, ...]] = {
    ("limits",): CONSISTENT, ("known",): CONSISTENT, ("prior",): CONSISTENT,
    ("loads",): METHODS, ("parameters",): METHODS, ("payloads",): METHODS,
    ("treatment",): (*METHODS, SEGMENTS),
    ("unknown",): (OUTPUT_ERROR,), ("initial",): (OUTPUT_ERROR,),
    ("data", "forces"): METHODS, ("data", "validation"): METHODS, ("data", "payload"): METHODS,
    ("data", "instruments"): ("instrumental",), ("data", "wrench"): (SEGMENTS,),
    **{("options", key): METHODS for key in ("confidence", "bootstrap", "cross", "seed")},
    **{("options", key): (OUTPUT_ERROR,) for key in ("rtol", "fit")},
    **{("options", key): (SEGMENTS,) for key in ("positive", "iterations")},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Study:
    """A study file: its tables, and the folder its files are named from."""

    path: Path
    tables: Mapping[str, Any]

    @property
    def mechanism(self) -> str:
        """The mechanism's file or library name; a relative file is one beside the study."""
        named = self.tables.get("mechanism")
        if not isinstance(named, str):
            raise IdentificationError(
                f"'{self.path}': which mechanism? Write mechanism = \"arm.lsd\" or a library name."
            )
        beside = self.path.parent / named
        return str(beside) if beside.is_file() else named

    @property
    def method(self) -> str:
        name = self.tables.get("method", "weighted")
        if name not in EVERY_METHOD:
            raise IdentificationError(unknown_name("method", str(name), EVERY_METHOD, f"'{self.path}': "))
        return str(name)

    def require_applicable(self) -> None:
        """Refuses entries that the method has no use for: they would be without effect, silently."""
        for (first, *rest), methods in APPLIES.items():
            inside = self.tables if not rest else self.table(first)
            if self.method not in methods and inside.get(rest[0] if rest else first):
                entry = f"[{first}]: {rest[0]}" if rest else f"[{first}]" if first != "loads" else first
                raise IdentificationError(
                    f"'{self.path}': {entry} does not apply to the method {self.method}, only to {', '.join(methods)}. "
                    "Leave it out, or choose another method."
                )

    def table(self, name: str) -> dict[str, Any]:
        table = self.tables.get(name, {})
        if not isinstance(table, dict):
            raise IdentificationError(f"'{self.path}': expected a table [{name}].")
        return table

    @property
    def data(self) -> dict[str, Any]:
        return self.table("data")

    def number(self, table: str, key: str, default: float | None = None, *, whole: bool = False) -> float:
        """An entry that is a number (in SI), or a default."""
        inside = self.table(table)
        if key not in inside and default is not None:
            return default
        return self.as_number(f"[{table}]: {key}", inside.get(key), whole=whole)

    def as_number(self, what: str, value: Any, *, whole: bool = False) -> float:
        """A value as a number; `what` names it in the message."""
        kinds = (int,) if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            kind = "a whole number" if whole else "a number (in SI)"
            raise IdentificationError(f"'{self.path}', {what} = {value!r} is not {kind}.")
        return float(value)

    def numbers(self, table: str) -> dict[str, float]:
        """A table of numbers by name."""
        return {name: self.as_number(f"[{table}]: {name}", value) for name, value in self.table(table).items()}

    def as_numbers(self, what: str, value: Any, count: int) -> tuple[float, ...]:
        """A value as a list of so many numbers."""
        if not isinstance(value, list) or len(value) != count:
            raise IdentificationError(f"'{self.path}', {what} = {value!r} is not a list of {count} numbers.")
        return tuple(self.as_number(what, x) for x in value)

    def texts(self, key: str) -> dict[str, str]:
        """A table of [data] that gives texts by name: columns, units or payloads."""
        inside = self.data.get(key, {})
        if not isinstance(inside, dict) or not all(isinstance(x, str) for x in inside.values()):
            raise IdentificationError(f"'{self.path}', [data]: {key} is a table of texts, such as q1 = \"column\".")
        return {str(name): text for name, text in inside.items()}

    def files(self, kind: str) -> list[Path]:
        """Data files of a kind: trials, validation or instruments."""
        names = self.data.get(kind, [])
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise IdentificationError(f'\'{self.path}\': {kind} is a list of files, such as ["run1.csv", "run2.nc"].')
        if kind == "trials" and not names:
            raise IdentificationError(f"'{self.path}': no data. Write [data] with trials = [\"run1.csv\"].")
        return [self.path.parent / name for name in names]


def read_study(path: str | Path) -> Study:
    """A study from its file."""
    file = Path(path)
    if not file.is_file():
        raise IdentificationError(f"there is no file '{file}'.")
    try:
        tables = parsed_toml(bounded_text(file))
    except ValueError as problem:
        raise IdentificationError(f"'{file}' cannot be read as TOML: {problem}.") from problem
    for name, known in TABLES.items():
        inside = tables if not name else tables.get(name, {})
        for key in inside if isinstance(inside, dict) else ():
            if key not in known:
                where = f"'{file}': " if not name else f"'{file}', [{name}]: "
                raise IdentificationError(unknown_name("entry", key, known, where))
    return Study(file, tables)
