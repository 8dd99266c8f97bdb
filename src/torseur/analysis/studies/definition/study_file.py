"""Study files: TOML whose every name is known, every value has a unit that fits, and every fault names its place."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np

from torseur.analysis.sensitivity import Criterion
from torseur.analysis.studies.definition.axes import Axis, read_axis, read_tolerance
from torseur.analysis.studies.definition.design import Design
from torseur.analysis.studies.definition.study import Device, Integration, OperatingPoints, SweepStudy, system
from torseur.computation.simulation import System
from torseur.derivation.equations import Equations
from torseur.derivation.equations.parameter_values import known_values
from torseur.derivation.formalisms import derive
from torseur.description.language.formulas.quantities_with_units import number_in
from torseur.description.library import PREFIX
from torseur.description.mechanism import Guess, Mechanism
from torseur.edges.budgets import NUMBER, PYTHON_NUMBER, bounded_text, parsed_toml, require_memory
from torseur.edges.file_names import ROBOT_SUFFIXES
from torseur.errors import TorseurError, unknown_name

KEY = "operating_points"


def read_operating_points(given: Any, units: Mapping[str, str], at: Callable[[str], str]) -> OperatingPoints:
    """[operating_points] with values of some parameters, or [[operating_points]] with a name and values each."""
    if isinstance(given, list) and given and all(isinstance(each, Mapping) for each in given):
        return _named_points(given, units, at)
    if not isinstance(given, Mapping):
        raise TorseurError(f"{at(KEY)}: expected a table of values, or [[{KEY}]] with a name and values each.")
    if not given:
        return OperatingPoints()
    axes = [read_axis(n, _unit(n, units, at), table, at(f"{KEY}.{n}")) for n, table in given.items()]
    for axis in axes:
        if not axis.is_listed:
            raise TorseurError(f"{at(f'{KEY}.{axis.name}')}: expected from, to and count, or values.")
    rows = tuple(tuple(row) for row in Design("grid").points(axes).tolist())
    names = tuple(", ".join(f"{a.name} = {x:.6g} {a.unit}" for a, x in zip(axes, row, strict=True)) for row in rows)
    return OperatingPoints(tuple(axes), rows, names)


def _named_points(
    given: list[Mapping[str, Any]], units: Mapping[str, str], at: Callable[[str], str]
) -> OperatingPoints:
    varied = [name for name in given[0] if name != "name"]
    rows, names = [], []
    for number, point in enumerate(given, 1):
        where = at(f"{KEY} {number}")
        if not isinstance(point.get("name"), str):
            raise TorseurError(f"{where}: expected a name and values.")
        if sorted(point) != sorted(["name", *varied]):
            raise TorseurError(f"{where}: expected values of {', '.join(varied)}, as in the first one.")
        rows.append(tuple(number_in(point[n], _unit(n, units, at), f"{where}: {n}") for n in varied))
        names.append(str(point["name"]))
    if len(set(names)) < len(names):
        raise TorseurError(f"{at(KEY)}: two have the same name.")
    columns = list(zip(*rows, strict=True))
    axes = tuple(Axis(n, units[n], "values", tuple(column)) for n, column in zip(varied, columns, strict=True))
    return OperatingPoints(axes, tuple(rows), tuple(names))


def _unit(name: str, units: Mapping[str, str], at: Callable[[str], str]) -> str:
    if name not in units:
        raise TorseurError(unknown_name("parameter", name, units, f"{at(KEY)}: "))
    return units[name]


SWEEPING = ("mechanism", "until", "rtol", "atol", "max_step", "integrator", "vary", "tolerances", "operating_points",
            "design", "values", "initial", "criteria", "derivatives", "outputs", "samples", "chunk",
            "backend", "gpu", "costs")  # fmt: skip
FORMER_KEYS = {"slopes": "derivatives"}  # still read; goes when the aliases of `FormerName` go
OPTIMISING = ("objective", "constraints", "starts", "algorithm")
CRITERION_KINDS = {
    "value": "value",
    "integral": "integral",
    "maximum": "maximum",
    "minimum": "minimum",
    "event": "event",
    "event_time": "event time",
}
EVENT_KEYS = ("when", "direction", "occurrence")
INITIAL = "(0)"
BACKENDS = ("cpu", "cuda")
INTEGRATORS = ("auto", "radau5", "radau9")


def read_study(path: str | Path) -> SweepStudy:
    """The study of a TOML file, or of the library ("library:suspension"); every fault names its place."""
    file, source, folder = _locate(path)
    try:
        text = bounded_text(source) if isinstance(source, Path) else source.read_text(encoding="utf-8")
        tables = parsed_toml(text)
    except OSError as problem:
        raise TorseurError(f"'{file}': {problem.strerror or problem}.") from problem
    except ValueError as problem:
        raise TorseurError(f"'{file}': {problem}.") from problem
    for old, new in FORMER_KEYS.items():
        if old in tables and new not in tables:
            warnings.warn(f"'{file}': `{old}` is now called `{new}`.", DeprecationWarning, stacklevel=2)
            tables[new] = tables.pop(old)
    for key in tables:
        if key not in (*SWEEPING, *OPTIMISING):
            raise TorseurError(unknown_name("table", key, (*SWEEPING, *OPTIMISING), f"'{file}': "))
    return _Reader(file, folder, text, tables).study()


def _locate(path: str | Path) -> tuple[Path, Path | Traversable, Path | Traversable]:
    """The name results are put beside, where the text is, and the folder of its mechanism.

    Results of a study of the library come into the present folder.
    """
    if not str(path).startswith(PREFIX):
        return Path(path), Path(path), Path(path).parent
    name, folder = str(path).removeprefix(PREFIX), files("torseur.description.library").joinpath("study_files")
    known = sorted(each.name.removesuffix(".toml") for each in folder.iterdir() if each.name.endswith(".toml"))
    if name not in known:
        raise TorseurError(unknown_name("study of the library", name, known))
    return Path(f"{name}.toml"), folder.joinpath(f"{name}.toml"), folder


class _Reader:
    """Turns the tables of a file into a study."""

    def __init__(self, file: Path, folder: Path | Traversable, text: str, tables: Mapping[str, Any]) -> None:
        self.file, self.folder, self.text, self.tables = file, folder, text, tables

    def study(self) -> SweepStudy:
        values, initial = self._numbers("values", self._constants), self._numbers("initial", self._starts)
        axes = [*self._varied_axes(), *self._tolerances(values)]
        operating = read_operating_points(self.tables.get("operating_points", {}), self._units, self._at)
        self._refuse_twice([*axes, *operating.axes])
        if not axes and not operating.axes and "objective" not in self.tables:
            raise TorseurError(f"{self._at('vary')}: nothing varies.")
        criteria, outputs = self._criteria("criteria"), self._criteria("outputs")
        if not criteria and not outputs:
            raise TorseurError(f'{self._at("criteria")}: no criterion is given, such as energy = "energy".')
        self._refuse_labels([*axes, *operating.axes], criteria, outputs)
        return SweepStudy(
            self.file, self.text, self._source, self._until, self._integration(), tuple(axes), operating,
            self._design(), values, initial, criteria, self._differentiate_by(), outputs, self._samples(bool(outputs)),
            self._whole("chunk", 0), self._device(), self.tables, self._costs(),
        )  # fmt: skip

    def _at(self, place: str) -> str:
        return f"'{self.file}': {place}"

    def _require(self, key: str) -> Any:
        if key not in self.tables:
            raise TorseurError(f"'{self.file}': '{key}' is missing.")
        return self.tables[key]

    def _table(self, key: str) -> Mapping[str, Any]:
        table = self.tables.get(key, {})
        if not isinstance(table, Mapping):
            raise TorseurError(f"{self._at(key)}: expected a table, [{key}].")
        return table

    def _table_of(self, key: str, names: Sequence[str]) -> Mapping[str, Any]:
        """A table whose keys are all among some names."""
        for name in self._table(key):
            if name not in names:
                raise TorseurError(unknown_name("key", name, names, f"{self._at(key)}: "))
        return self._table(key)

    def _whole(self, key: str, default: int) -> int:
        value = self.tables.get(key, default)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise TorseurError(f"{self._at(key)}: expected a whole number, got {value!r}.")
        return value

    @cached_property
    def _source(self) -> Mechanism | str:
        named = self._require("mechanism")
        if not isinstance(named, str):
            raise TorseurError(f"{self._at('mechanism')}: expected a file or a library name, got {named!r}.")
        if named.startswith(PREFIX):
            from torseur.description import library

            name = named.removeprefix(PREFIX)
            return name if name in library.SYSTEMS else library.load(name)
        beside = self.folder.joinpath(named)
        if not beside.is_file():
            raise TorseurError(f"{self._at('mechanism')}: there is no file '{named}' beside the study.")
        with as_file(beside) as file:
            return _load_mechanism(file)

    @cached_property
    def _model(self) -> Equations | System:
        return system(self._source) if isinstance(self._source, str) else derive(self._source)

    @cached_property
    def _constants(self) -> dict[str, str]:
        """Units of the parameters."""
        if isinstance(self._model, System):
            return {quantity.name: quantity.unit for quantity in self._model.parameters}
        return {str(p.name): p.data.unit for p in self._model.layout.parameters}

    @cached_property
    def _starts(self) -> dict[str, str]:
        """Units of initial values."""
        if isinstance(self._model, System):
            return {quantity.name: quantity.unit for quantity in self._model.states}
        layout = self._model.layout
        return {str(x.name): x.data.unit for x in (*layout.coordinates, *layout.speeds, *layout.rates)}

    @property
    def _units(self) -> dict[str, str]:
        """Units of what can be varied: parameters, and initial values under their name with (0)."""
        return self._constants | {f"{name}{INITIAL}": unit for name, unit in self._starts.items()}

    @cached_property
    def _until(self) -> float:
        until = number_in(self._require("until"), "s", self._at("until"))
        if not until > 0.0:
            raise TorseurError(f"{self._at('until')}: expected a time after the start, got {until:g} s.")
        return until

    def _integration(self) -> Integration:
        rtol = number_in(self.tables.get("rtol", 1e-9), "1", self._at("rtol"))
        longest = self.tables.get("max_step")
        step = None if longest is None else number_in(longest, "s", self._at("max_step"))
        if step is not None and not step > 0.0:
            raise TorseurError(f"{self._at('max_step')}: expected a positive time, got {step:g} s.")
        return Integration(rtol, self._atol(), step, self._integrator())

    def _integrator(self) -> str:
        name, place = self.tables.get("integrator", "auto"), self._at("integrator")
        if name not in INTEGRATORS:
            raise TorseurError(unknown_name("integrator", str(name), INTEGRATORS, f"{place}: "))
        return str(name)

    def _atol(self) -> dict[str, float] | float | None:
        """An absolute tolerance for all states, in SI, or one for each that is named, with its unit."""
        given = self.tables.get("atol")
        if isinstance(given, Mapping):
            return self._numbers("atol", self._states)
        return None if given is None else number_in(given, "1", self._at("atol"))

    @property
    def _states(self) -> dict[str, str]:
        if isinstance(self._model, System):
            return self._starts
        layout = self._model.layout
        return {str(x.name): x.data.unit for x in (*layout.coordinates, *layout.speeds)}

    def _varied_axes(self) -> list[Axis]:
        return [
            read_axis(name, self._unit(name, "vary"), table, self._at(f"vary.{name}"))
            for name, table in self._table("vary").items()
        ]

    def _tolerances(self, values: Mapping[str, float]) -> list[Axis]:
        """Axes about nominal values: those of [values], or of the mechanism."""
        axes = []
        for name, given in self._table("tolerances").items():
            unit, where = self._unit(name, "tolerances"), self._at(f"tolerances.{name}")
            nominal = values.get(name, self._nominal(name))
            if nominal is None:
                raise TorseurError(f"{where}: '{name}' has no value that the tolerance is about. Give it in [values].")
            axes.append(read_tolerance(name, unit, nominal, given, where))
        return axes

    def _nominal(self, name: str) -> float | None:
        if isinstance(self._model, System):
            names = [quantity.name for quantity in self._model.parameters]
            return self._model.values[names.index(name)] if name in names else None
        return known_values(self._model, {}).get(name)

    def _unit(self, name: str, key: str) -> str:
        if name not in self._units:
            raise TorseurError(unknown_name("parameter", name, self._units, f"{self._at(key)}: "))
        return self._units[name]

    def _refuse_twice(self, axes: Sequence[Axis]) -> None:
        names = [axis.name for axis in axes]
        for name in names:
            if names.count(name) > 1:
                raise TorseurError(
                    f"{self._at(name)}: varies twice. Name it in one of vary, tolerances and operating_points."
                )

    def _refuse_labels(self, axes: Sequence[Axis], criteria: Sequence[Criterion], outputs: Sequence[Criterion]) -> None:
        """Names of columns of the store must differ."""
        taken = {axis.name: "varies" for axis in axes} | {
            "status": "is a name of the store",
            "time": "is a name of the store",
        }
        for kind, listed in (("criteria", criteria), ("outputs", outputs)):
            for criterion in listed:
                if criterion.label in taken:
                    raise TorseurError(
                        f"{self._at(kind)}: '{criterion.label}' already {taken[criterion.label]}. Give another name."
                    )
                taken[criterion.label] = f"stands under {kind}"

    def _numbers(self, key: str, units: Mapping[str, str]) -> dict[str, float]:
        numbers = {}
        for name, given in self._table(key).items():
            if name not in units:
                raise TorseurError(unknown_name("name", name, units, f"{self._at(key)}: "))
            is_guess = key == "initial" and isinstance(given, str) and given.strip().startswith("about ")
            value = given.strip().removeprefix("about ") if is_guess else given
            number = number_in(value, units[name], self._at(f"{key}.{name}"))
            numbers[name] = Guess(number) if is_guess else number
        return numbers

    def _design(self) -> Design:
        known = self._table_of("design", ("kind", "count", "seed"))
        try:
            return Design(**known)
        except TorseurError as problem:
            raise TorseurError(f"{self._at('design')}: {problem}") from problem

    def _device(self) -> Device:
        kind, table = self.tables.get("backend", "cpu"), self._table_of("gpu", ("step", "method", "precision"))
        step = number_in(table.get("step", 0.0), "s", self._at("gpu.step"))
        method, precision = str(table.get("method", "rk4")), str(table.get("precision", "float64"))
        return Device(check_backend(kind, self._at("backend")), step, method, precision)

    def _differentiate_by(self) -> tuple[str, ...]:
        given = self.tables.get("derivatives", [])
        if not isinstance(given, list) or not all(isinstance(name, str) for name in given):
            raise TorseurError(f'{self._at("derivatives")}: expected a list of parameters, such as ["m1", "q1(0)"].')
        return tuple(given)

    def _costs(self) -> dict[str, float]:
        """What a change of a parameter costs, by which influences are ranked."""
        costs = self._numbers("costs", dict.fromkeys(self._differentiate_by(), "1"))
        if wrong := [name for name, cost in costs.items() if not cost > 0.0]:
            raise TorseurError(f"{self._at('costs')}: the cost of '{wrong[0]}' must be positive.")
        return costs

    def _samples(self, has_outputs: bool) -> tuple[float, ...]:
        """Times at which outputs are kept."""
        given = self.tables.get("samples", 101)
        if not has_outputs:
            if "samples" in self.tables:
                raise TorseurError(f"{self._at('samples')}: there are no [outputs] to keep there.")
            return ()
        if isinstance(given, list):
            times = [number_in(each, "s", self._at("samples")) for each in given]
            if not times or sorted(set(times)) != times or times[0] < 0.0 or times[-1] > self._until:
                raise TorseurError(f"{self._at('samples')}: expected rising times from 0 to {self._until:g} s.")
            return tuple(times)
        each = len(self._table("outputs")) * NUMBER + PYTHON_NUMBER
        require_memory(self._whole("samples", 101), each, f"{self._at('samples')} = {given}")
        if self._whole("samples", 101) < 2:
            raise TorseurError(f"{self._at('samples')}: expected at least 2, the start and the end.")
        return tuple(np.linspace(0.0, self._until, given).tolist())

    def _criteria(self, key: str) -> tuple[Criterion, ...]:
        return tuple(self._criterion(key, name, given) for name, given in self._table(key).items())

    def _criterion(self, key: str, name: str, given: Any) -> Criterion:
        where = self._at(f"{key}.{name}")
        if isinstance(given, str):
            return Criterion(given, name=name)
        if key == "outputs":
            raise TorseurError(f"{where}: expected a formula, kept at every sample.")
        kinds = [word for word in CRITERION_KINDS if isinstance(given, Mapping) and word in given]
        if len(kinds) != 1:
            raise TorseurError(f"{where}: expected a formula, or a table with one of {', '.join(CRITERION_KINDS)}.")
        more = {word: value for word, value in given.items() if word != kinds[0]}
        for word in more:
            if word not in EVENT_KEYS:
                raise TorseurError(unknown_name("key", word, EVENT_KEYS, f"{where}: "))
        formula = given[kinds[0]]
        try:
            if kinds[0] == "event_time":
                return Criterion("t", "event time", name, when=formula, **more)
            return Criterion(formula, CRITERION_KINDS[kinds[0]], name, **more)
        except TorseurError as problem:
            raise TorseurError(f"{where}: {problem}") from problem


def check_backend(name: Any, where: str) -> str:
    """The name of a backend that studies know."""
    if name not in BACKENDS:
        raise TorseurError(unknown_name("backend", str(name), BACKENDS, f"{where}: "))
    return str(name)


def _load_mechanism(file: Path) -> Mechanism:
    """The mechanism of a file, in the language or as a robot."""
    if file.suffix.lower() in ROBOT_SUFFIXES:
        from torseur.description.readers import read_robot

        return read_robot(file).mechanism
    from torseur.description.language import load

    return load(file)
