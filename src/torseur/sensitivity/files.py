"""Sensitivities written to files: curves as CSV, everything as JSON."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from torseur.errors import TorseurError
from torseur.sensitivity.results import Sensitivities

SUFFIXES = (".csv", ".json")


def write(found: Sensitivities, path: Path, overwrite: bool) -> Path:
    """Writes the file its suffix asks for."""
    if path.suffix not in SUFFIXES:
        raise TorseurError(f"'{path}': expected a name that ends in {' or '.join(SUFFIXES)}.")
    if path.exists() and not overwrite:
        raise TorseurError(f"'{path}' exists already: say overwrite=True, or choose another name.")
    if path.suffix == ".json":
        path.write_text(json.dumps(document(found), indent=1) + "\n", encoding="utf-8")
        return path
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        over = found.responses[0].over if found.responses else "time [s]"
        writer.writerow(["criterion", over, "value", "unit", *(f"d/d {p.name}" for p in found.parameters)])
        for response in found.responses:
            for t, value, row in zip(response.time, response.values, response.slopes, strict=True):
                writer.writerow([response.name, repr(float(t)), repr(float(value)), response.unit, *_numbers(row)])
    return path


def _numbers(row: np.ndarray) -> list[str]:
    return [repr(float(x)) for x in row]


def document(found: Sensitivities) -> dict[str, object]:
    """Everything as plain data."""
    return {
        "name": found.name,
        "method": found.method,
        "reason": found.reason,
        "trusted": found.trusted,
        "notes": list(found.notes),
        "agreement": [vars(agreement) for agreement in found.agreement],
        "parameters": [
            {"name": p.name, "value": p.value, "unit": p.unit, "meaning": p.meaning} for p in found.parameters
        ],
        "criteria": [
            {
                "name": response.name,
                "unit": response.unit,
                "kind": response.kind,
                "over": response.over,
                "time": response.time.tolist(),
                "values": response.values.tolist(),
                "slopes": response.slopes.tolist(),
                "hessian": None if response.hessian is None else response.hessian.tolist(),
            }
            for response in found.responses
        ],
        "statistics": None if found.statistics is None else vars(found.statistics),
    }
