"""A study: one mechanism, what varies in it, and which numbers of its motions are wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from torseur.analysis.sensitivity import Criterion
from torseur.analysis.studies.definition.axes import Axis, Vector
from torseur.analysis.studies.definition.design import Design
from torseur.computation.simulation import System
from torseur.derivation.equations import Equations
from torseur.derivation.formalisms import derive
from torseur.description.library import SYSTEMS
from torseur.description.mechanism import Mechanism


def system(name: str) -> System:
    """The system of that name in the library: equations that are no bodies and joints."""
    made: System = getattr(import_module(SYSTEMS[name][0]), name)()
    return made


@dataclass(frozen=True)
class OperatingPoints:
    """States of use in which every point of the design is judged: values of some axes, with a name each."""

    axes: tuple[Axis, ...] = ()
    rows: tuple[tuple[float, ...], ...] = ((),)
    names: tuple[str, ...] = ("",)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Integration:
    """How motions are computed: tolerances of the integrator in SI, its longest step in seconds, and its kind."""

    rtol: float = 1e-9
    atol: Mapping[str, float] | float | None = None
    max_step: float | None = None
    integrator: str = "auto"


@dataclass(frozen=True)
class Device:
    """Where motions are computed: on processors, or on a GPU in fixed steps."""

    kind: str = "cpu"
    step: float = 0.0
    method: str = "rk4"
    precision: str = "float64"


@dataclass(frozen=True, eq=False)
class SweepStudy:
    """A mechanism (or a system of the library), the axes along which it varies, and the criteria of its motions.

    `axes` are those of the design; at each of its points the motion is computed in all operating points. `outputs` are
    kept at `samples`; all criteria are differentiated by the parameters `differentiate_by`, whose changes have `costs`.
    """

    path: Path
    text: str
    source: Mechanism | str
    until: float
    integration: Integration
    axes: tuple[Axis, ...]
    operating: OperatingPoints
    design: Design
    values: Mapping[str, float]
    initial: Mapping[str, float]
    criteria: tuple[Criterion, ...]
    differentiate_by: tuple[str, ...]
    outputs: tuple[Criterion, ...]
    samples: tuple[float, ...]
    chunk: int
    device: Device
    tables: Mapping[str, Any]
    costs: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def model(self) -> Equations | System:
        """What moves: the equations of the mechanism, or a system of the library."""
        if isinstance(self.source, str):
            return system(self.source)
        return derive(self.source)

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.source if isinstance(self.source, str) else self.source.name

    @property
    def all_axes(self) -> tuple[Axis, ...]:
        """Axes of the operating points, then those of the design."""
        return (*self.operating.axes, *self.axes)

    @cached_property
    def size(self) -> int:
        """The number of motions."""
        return len(self.operating) * self.design.size(self.axes)

    def points(self, start: int = 0, stop: int | None = None) -> Vector:
        """Rows of values of all axes; the whole design at the first operating point comes first."""
        stop, block = self.size if stop is None else stop, self.design.size(self.axes)
        parts = []
        for k in range(start // block, -(-stop // block)):
            own = self.design.points(self.axes, max(start - k * block, 0), min(stop - k * block, block))
            parts.append(np.hstack([np.tile(np.array(self.operating.rows[k], dtype=float), (len(own), 1)), own]))
        return np.vstack(parts) if parts else np.empty((0, len(self.all_axes)))

    @cached_property
    def digest(self) -> str:
        """What the results depend on, as a hash: the file and the mechanism."""
        from torseur.description.language import to_text

        content = self.text + (self.source if isinstance(self.source, str) else to_text(self.source))
        content += "" if self.device.kind == "cpu" else self.device.kind
        return hashlib.sha256(content.encode()).hexdigest()

    def on(self, backend: str) -> SweepStudy:
        """The same study on another backend, "cpu" or "cuda"."""
        return replace(self, device=replace(self.device, kind=backend))

    def __getstate__(self) -> dict[str, Any]:
        """What travels to workers: the description, not what was derived from it here."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
