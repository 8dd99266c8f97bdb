"""Trajectories in files: CSV, NetCDF and JSON, written whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from torseur.computation.simulation.loop.integrator import Statistics
from torseur.computation.simulation.model.system import Quantity
from torseur.computation.simulation.output.trajectory import Column, Kind, Occurrence, Trajectory
from torseur.edges.budgets import bounded_text, parsed_json
from torseur.edges.plain_text import cell, cell_text
from torseur.errors import TorseurError

if TYPE_CHECKING:
    import xarray

FORMAT = "torseur trajectory 1"
TIME = Quantity("time", "s")


def write(trajectory: Trajectory, path: Path, suffix: str, overwrite: bool) -> Path:
    """Writes the format of a suffix. The file appears under its name only when it is complete."""
    writer = _choose(_WRITERS, suffix, path)
    if path.exists() and not overwrite:
        raise TorseurError(f"'{path}' exists already. Give another name, or overwrite=True to replace it.")
    if not path.parent.is_dir():
        raise TorseurError(f"cannot write '{path}': there is no folder '{path.parent}'.")
    # Beside its place, since only on one disk a file is renamed in one step: an interrupt leaves the former one whole.
    draft = path.with_name(f".{path.stem}-{uuid4().hex}{suffix}")
    try:
        writer(trajectory, draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def read(path: Path) -> Trajectory:
    """Reads a file that `write` made."""
    reader = _choose(_READERS, path.suffix, path)
    if not path.is_file():
        raise TorseurError(f"there is no file '{path}'.")
    try:
        return reader(path)
    # A file of our own that is damaged anywhere: a missing key, a number that is none, cells that do not fit.
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, OSError, csv.Error) as error:
        raise TorseurError(f"'{path}' is not a trajectory in the format its suffix names: {error}.") from error


def dataset_of(trajectory: Trajectory) -> xarray.Dataset:
    """The trajectory as an xarray Dataset over time; events lie along a dimension of their own."""
    import xarray

    variables: dict[str, Any] = _event_variables(trajectory)
    for slot, column in enumerate(trajectory.columns):
        attributes = _attributes(column.quantity) | {"kind": column.kind.value}
        variables[column.name] = ("time", trajectory.values[:, slot].copy(), attributes)
    # Attributes of NetCDF are texts and numbers, so that what has parts is written as JSON.
    statistics = asdict(trajectory.statistics) if trajectory.statistics else {}
    return xarray.Dataset(
        variables,
        coords={"time": ("time", trajectory.time.copy(), _attributes(TIME))},
        attrs={
            "format": FORMAT,
            "title": trajectory.name,
            "statistics": json.dumps(statistics),
            "notes": json.dumps(trajectory.notes),
        },
    )


def _attributes(quantity: Quantity) -> dict[str, str]:
    meaning = {"long_name": quantity.meaning} if quantity.meaning else {}
    return {"units": quantity.unit} | meaning


def _event_variables(trajectory: Trajectory) -> dict[str, Any]:
    if not trajectory.events:
        return {}
    states = [list(event.state.values()) for event in trajectory.events]
    return {
        "event_name": ("event", [event.name for event in trajectory.events]),
        "event_time": ("event", [event.time for event in trajectory.events], {"units": "s"}),
        "event_state": (("event", "state"), states, {"states": " ".join(trajectory.events[0].state)}),
    }


def _write_netcdf(trajectory: Trajectory, path: Path) -> None:
    trajectory.dataset.to_netcdf(path)


def _read_netcdf(path: Path) -> Trajectory:
    import xarray

    with xarray.open_dataset(path, decode_times=False) as dataset:
        dataset.load()
    if dataset.attrs.get("format") != FORMAT:
        raise ValueError(f"its attribute 'format' is not '{FORMAT}'")
    named = {str(name): variable for name, variable in dataset.data_vars.items() if variable.dims == ("time",)}
    columns = tuple(_column(name, variable.attrs) for name, variable in named.items())
    values = np.column_stack([variable.values for variable in named.values()])
    return Trajectory(
        time=np.array(dataset["time"].values),
        values=values,
        columns=columns,
        name=dataset.attrs["title"],
        events=_events_in(dataset),
        statistics=_statistics(json.loads(dataset.attrs["statistics"])),
        notes=tuple(json.loads(dataset.attrs.get("notes", "[]"))),
    )


def _column(name: str, attributes: dict[str, Any]) -> Column:
    quantity = Quantity(name, attributes["units"], attributes.get("long_name", ""))
    return Column(quantity, Kind(attributes["kind"]))


def _events_in(dataset: xarray.Dataset) -> tuple[Occurrence, ...]:
    if "event_name" not in dataset:
        return ()
    names = dataset["event_state"].attrs["states"].split()
    rows = zip(dataset["event_name"].values, dataset["event_time"].values, dataset["event_state"].values, strict=True)
    return tuple(
        Occurrence(str(name), float(time), dict(zip(names, state.tolist(), strict=True))) for name, time, state in rows
    )


def _write_csv(trajectory: Trajectory, path: Path) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow([f"{TIME.name} [{TIME.unit}]", *(cell(column.heading) for column in trajectory.columns)])
        table.writerows(np.column_stack([trajectory.time, trajectory.values]).tolist())


def _read_csv(path: Path) -> Trajectory:
    headings, *rows = list(csv.reader(bounded_text(path).splitlines()))
    quantities = [_quantity(cell_text(heading)) for heading in headings]
    table = np.array(rows, dtype=float).reshape(len(rows), len(headings))
    columns = tuple(Column(quantity, Kind.OUTPUT) for quantity in quantities[1:])
    return Trajectory(time=table[:, 0].copy(), values=table[:, 1:].copy(), columns=columns, name=path.stem)


def _quantity(heading: str) -> Quantity:
    match = re.fullmatch(r"(.+) \[(.*)\]", heading)
    if match is None:
        raise ValueError(f"heading '{heading}' is not of the form 'name [unit]'")
    return Quantity(match[1], match[2])


def _write_json(trajectory: Trajectory, path: Path) -> None:
    columns = [
        {**asdict(column.quantity), "kind": column.kind.value, "values": _numbers(trajectory.values[:, slot])}
        for slot, column in enumerate(trajectory.columns)
    ]
    document = {
        "format": FORMAT,
        "name": trajectory.name,
        "time": {**asdict(TIME), "values": _numbers(trajectory.time)},
        "columns": columns,
        "events": [{"name": e.name, "time": e.time, "state": dict(e.state)} for e in trajectory.events],
        "statistics": asdict(trajectory.statistics) if trajectory.statistics else None,
        "notes": list(trajectory.notes),
    }
    path.write_text(json.dumps(document, allow_nan=False), encoding="utf-8")


def _numbers(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    """Numbers as JSON has them; what is not finite becomes null."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _read_json(path: Path) -> Trajectory:
    document = parsed_json(bounded_text(path))
    if document.get("format") != FORMAT:
        raise ValueError(f"its entry 'format' is not '{FORMAT}'")
    time = np.array(document["time"]["values"], dtype=float)
    columns = tuple(Column(Quantity(c["name"], c["unit"], c["meaning"]), Kind(c["kind"])) for c in document["columns"])
    values = np.array([c["values"] for c in document["columns"]], dtype=float).reshape(len(columns), len(time)).T
    events = tuple(Occurrence(e["name"], e["time"], e["state"]) for e in document["events"])
    return Trajectory(
        time=time,
        values=values.copy(),
        columns=columns,
        name=document["name"],
        events=events,
        statistics=_statistics(document["statistics"]),
        notes=tuple(document.get("notes", ())),
    )


def _statistics(data: dict[str, Any] | None) -> Statistics | None:
    return Statistics(**data) if data else None


def _choose(formats: dict[str, Callable[..., Any]], suffix: str, path: Path) -> Callable[..., Any]:
    if suffix not in formats:
        raise TorseurError(f"cannot tell the format of '{path}': expected one of the suffixes {', '.join(formats)}.")
    return formats[suffix]


_WRITERS: dict[str, Callable[..., Any]] = {".csv": _write_csv, ".nc": _write_netcdf, ".json": _write_json}
_READERS: dict[str, Callable[..., Any]] = {".csv": _read_csv, ".nc": _read_netcdf, ".json": _read_json}
