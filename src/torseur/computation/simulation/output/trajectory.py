"""`Trajectory`: a motion as labelled columns over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from torseur.computation.simulation.loop.integrator import Statistics
from torseur.computation.simulation.model.system import Quantity, Vector
from torseur.computation.simulation.output.dense_motion import DenseOutput
from torseur.description.mechanism import Mechanism
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.errors import TorseurError, counted, unknown_name

if TYPE_CHECKING:
    import xarray


class Kind(Enum):
    """What a column holds."""

    COORDINATE = "coordinate"
    VELOCITY = "velocity"
    OUTPUT = "output"


@dataclass(frozen=True)
class Column:
    """A quantity that varies in time."""

    quantity: Quantity
    kind: Kind

    @property
    def name(self) -> str:
        return self.quantity.name

    @property
    def heading(self) -> str:
        """Name with unit, as a table shows it."""
        return f"{self.name} [{self.quantity.unit}]"


@dataclass(frozen=True)
class Occurrence:
    """An event that happened: its name, its time and the state then."""

    name: str
    time: float
    state: Mapping[str, float]


@explain_methods
@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(Displayed):
    """A motion: time, one column per state and per requested output, the events met, and notes on how it was computed.

    `values` has one row per time and one column per entry of `columns`; `trajectory["q1"]` is one of them. `mechanism`
    is what moves, where it is one, with `parameters` that differ from its own, so that a notebook can show it.
    """

    time: Vector
    values: Vector
    columns: tuple[Column, ...]
    name: str = "motion"
    events: tuple[Occurrence, ...] = ()
    statistics: Statistics | None = None
    dense: DenseOutput | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()
    mechanism: Mechanism | None = field(default=None, repr=False)
    parameters: Mapping[str, float] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        # Of views: whoever made the arrays can go on writing into his own.
        for name in ("time", "values"):
            view = getattr(self, name).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __len__(self) -> int:
        return len(self.time)

    def __repr__(self) -> str:
        names = [column.name for column in self.columns]
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        span = f"{self.time[0]:.6g} to {self.time[-1]:.6g} s" if len(self) else "empty"
        return f"Trajectory '{self.name}': {span}, {counted(len(self), 'sample')} of {shown}"

    def __getitem__(self, name: str) -> Vector:
        names = [column.name for column in self.columns]
        if name == "time":
            return self.time
        if name not in names:
            raise TorseurError(unknown_name("column", name, ["time", *names]))
        return self.values[:, names.index(name)]

    @property
    def q(self) -> Vector:
        """Coordinates, one row per time."""
        return self._of(Kind.COORDINATE)

    @property
    def v(self) -> Vector:
        """Velocities, one row per time."""
        return self._of(Kind.VELOCITY)

    @property
    def outputs(self) -> Vector:
        """Requested outputs, one row per time."""
        return self._of(Kind.OUTPUT)

    @property
    def states(self) -> tuple[Column, ...]:
        """The columns that are coordinates or velocities."""
        return tuple(column for column in self.columns if column.kind is not Kind.OUTPUT)

    def state_at(self, t: float | Vector) -> Vector:
        """The state (q, v) at any time of the motion; one row per time when t is an array."""
        if self.dense is None:
            raise TorseurError("this trajectory holds its samples only: simulate with dense=True to ask for any time.")
        return self.dense.at(t)

    @cached_property
    def dataset(self) -> xarray.Dataset:
        """The trajectory as an xarray Dataset, with units and meanings as attributes."""
        from torseur.computation.simulation.output.trajectory_files import dataset_of

        return dataset_of(self)

    def to_csv(self, path: str | Path, overwrite: bool = False) -> Path:
        """Writes one line per time, headed by names and units."""
        return self._write(path, ".csv", overwrite)

    def to_netcdf(self, path: str | Path, overwrite: bool = False) -> Path:
        """Writes `dataset` as a NetCDF file."""
        return self._write(path, ".nc", overwrite)

    def to_json(self, path: str | Path, overwrite: bool = False) -> Path:
        """Writes everything but the dense output as JSON."""
        return self._write(path, ".json", overwrite)

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Writes CSV, NetCDF or JSON, by the suffix of the path."""
        return self._write(path, Path(path).suffix, overwrite)

    def _write(self, path: str | Path, suffix: str, overwrite: bool) -> Path:
        from torseur.computation.simulation.output.trajectory_files import write

        return write(self, Path(path), suffix, overwrite)

    @staticmethod
    def load(path: str | Path) -> Trajectory:
        """Reads what `save` wrote. CSV knows names and units only: its columns come back as outputs."""
        from torseur.computation.simulation.output.trajectory_files import read

        return read(Path(path))

    def _of(self, kind: Kind) -> Vector:
        chosen = [slot for slot, column in enumerate(self.columns) if column.kind is kind]
        result: Vector = self.values[:, chosen]
        return result
