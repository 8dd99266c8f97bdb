"""From the equations of a mechanism to an FMU: undetermined functions become its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from torseur.algebra.graph import Input, Program, directional_derivative, symbol, vector
from torseur.computation.codegen.kernels.linking import link
from torseur.computation.codegen.targets.fmu import BaseUnit, FmuModel, Variable, write_archive
from torseur.computation.codegen.targets.fmu.fmu_description import rate_unit
from torseur.computation.simulation.fmu.fmu_routine import laws_from_inputs, task
from torseur.computation.simulation.loop.routine_binding import Binding
from torseur.computation.simulation.model.first_order_form import Model, as_system
from torseur.computation.simulation.model.outputs_and_events import (
    Output,
    as_outputs,
    is_python,
    output_program,
    quantity_of,
)
from torseur.computation.simulation.model.system import Law, Quantity, System
from torseur.computation.simulation.simulate import system_on_constraints
from torseur.description.mechanism import require_smooth
from torseur.description.mechanism.units import parse_unit
from torseur.display import Displayed
from torseur.edges.arguments import explain_methods
from torseur.errors import UnitError, UnsupportedError, counted

_BASE = ("m", "kg", "s", "A", "K", "mol", "cd")  # in the order of torseur.description.mechanism.units


@explain_methods
@dataclass(frozen=True, repr=False)
class Fmu(Displayed):
    """An FMU that was written: its file, the platform of its binary (None: sources only), and its variables by name."""

    path: Path
    platform: str | None
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    parameters: tuple[str, ...]

    def __repr__(self) -> str:
        for_whom = self.platform or "sources only"
        counts = [counted(len(names), kind) for names, kind in
                  ((self.outputs, "output"), (self.inputs, "input"), (self.parameters, "parameter"))]  # fmt: skip
        return f"Fmu '{self.path.name}' ({for_whom}): {', '.join(counts)}"


def write_fmu(
    model: Model,
    path: str | Path,
    outputs: Sequence[str | Output] = (),
    parameters: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
) -> Fmu:
    """Writes a mechanism as an FMU for co-simulation and model exchange, and returns what was written.

    States and the given outputs (as in `simulate`) are outputs of the FMU; parameters can be changed while it runs;
    undetermined functions are inputs. Without a C compiler it has no platform: the FMU then holds sources only.
    """
    made = fmu_model(model, outputs, parameters, initial)
    names = {
        "outputs": tuple(v.name for v in (*made.states, *made.outputs)), "inputs": tuple(v.name for v in made.inputs),
        "parameters": tuple(v.name for v in made.parameters),
    }  # fmt: skip
    return Fmu(Path(path), write_archive(made, Path(path)), **names)


def fmu_model(
    model: Model,
    outputs: Sequence[str | Output] = (),
    parameters: Mapping[str, float] | None = None,
    initial: Mapping[str, float] | None = None,
) -> FmuModel:
    """What the FMU of a mechanism is made from."""
    chosen = as_system(model, parameters, initial)
    if chosen.programs is not None:
        require_smooth(chosen.programs.equations.mechanism, "an FMU")
    if not isinstance(chosen.rhs, Program):
        raise UnsupportedError(f"{chosen.name} is a Python function, which an FMU cannot hold.")
    wanted = as_outputs(outputs, chosen)
    for output in wanted:
        if is_python(output):
            raise UnsupportedError(f"output '{output.name}' is a Python function, which an FMU cannot hold.")
    still = {law.name: lambda *arguments: 0.0 for law in chosen.laws}
    system = system_on_constraints(chosen, still, 0.0, "augmented")
    formulas = output_program(wanted, system)
    statics, externals = _bindings(system, still, formulas)
    tangent = _tangent(system, formulas)
    statics["NT"] = 0 if tangent is None else len(tangent.outputs[0])
    externals |= {} if tangent is None else {"tangent": tangent}
    inputs = [_input(law) for law in system.laws]
    given = [quantity_of(output, system) for output in wanted]
    return FmuModel(
        name=system.name,
        description=_description(model),
        states=tuple(_variable(q, start) for q, start in zip(system.states, system.initial, strict=True)),
        nominal=tuple(system.state_scales(np.array(system.initial)).tolist()),
        parameters=tuple(_variable(q, value) for q, value in zip(system.parameters, system.values, strict=True)),
        settings=tuple(system.solver_parameters[len(system.values) :].tolist()),
        inputs=tuple(inputs),
        outputs=tuple(_variable(quantity) for quantity in given),
        task=link(task, statics, externals),
        has_manifold=bool(statics["PROJECT"]),
        has_tangent=tangent is not None,
        units=_units([*system.states, *system.parameters, *inputs, *given]),
    )


def _bindings(
    system: System, laws: Mapping[str, Any], formulas: Program | None
) -> tuple[dict[str, int], dict[str, Any]]:
    """Compile-time numbers and externals of the task; the values of laws follow the parameters and settings in p."""
    binding = Binding(system, laws)
    statics = binding.statics | {"NL": len(system.laws), "NZ": 0}
    externals = binding.externals | binding.derivative()
    if system.laws:
        slots = [symbol(f"slot {k}") for k in range(len(system.solver_parameters))]
        inputs = [symbol(f"input {k}") for k in range(len(system.laws))]
        externals["law_arguments"] = Program("inputs", (Input("p", (*slots, *inputs)),), (vector("a", inputs),))
        externals["law_values"] = laws_from_inputs
        statics["NA"] = len(inputs)
    if formulas is not None:
        statics["NZ"] = len(formulas.outputs[0])
        externals |= binding.formulas("outputs", formulas)
    return statics, externals


def _tangent(system: System, formulas: Program | None) -> Program | None:
    """Derivatives and outputs along a direction d of the states and of p; None where constraints leave no formula."""
    if system.constrained is not None or not isinstance(system.rhs, Program):
        return None
    groups = {group.name: group.nodes for program in (system.rhs, formulas) if program for group in program.inputs}
    y = groups.get("y", ())
    if len(y) != len(system.states) or set(groups) - {"t", "y", "p", "u"}:
        return None
    p = (*groups.get("p", tuple(symbol(f"slot {k}") for k in range(len(system.values)))), *groups.get("u", ()))
    if len(p) != len(system.values) + len(system.laws):
        return None
    direction = tuple(symbol(f"direction {k}") for k in range(len(y) + len(p)))
    entries = [*system.rhs.outputs[0].entries, *(formulas.outputs[0].entries if formulas else ())]
    changes = directional_derivative(entries, dict(zip((*y, *p), direction, strict=True)))
    inputs = [Input("y", y), Input("p", p), Input("d", direction)]
    inputs += [Input("t", groups["t"])] if "t" in groups else []
    return Program("tangent", tuple(inputs), (vector("z", changes),))


def _description(model: Model) -> str:
    mechanism = getattr(model, "mechanism", model)
    return str(getattr(mechanism, "meaning", ""))


def _variable(quantity: Quantity, start: float = 0.0) -> Variable:
    return Variable(quantity.name, quantity.unit, quantity.meaning, float(start))


def _input(law: Law) -> Variable:
    application = law.node.data
    if any(application.orders):
        return Variable(law.name, "1", f"derivative of {application.function.name}")
    return Variable(law.name, application.function.unit, application.function.meaning)


def _units(quantities: Iterable[Quantity | Variable]) -> dict[str, BaseUnit]:
    """The units that occur, and those of rates, as powers of base units."""
    names = [quantity.unit for quantity in quantities]
    base_units = {name: _base_unit(name) for name in dict.fromkeys([*names, *(rate_unit(name) for name in names)])}
    return {name: unit for name, unit in base_units.items() if unit is not None}


def _base_unit(name: str) -> BaseUnit | None:
    """None for a pure number, and for a unit that FMI has no base for."""
    try:
        factor, dimension = parse_unit(name)
    except UnitError:
        return None
    if name == "1" or not all(power.is_integer() for power in dimension):
        return None
    powers = {base: int(power) for base, power in zip(_BASE, dimension, strict=True) if power}
    return BaseUnit(factor, {**powers, "rad": 1} if name.startswith("rad") else powers)
