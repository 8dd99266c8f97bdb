"""Sources of the functions of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torseur.algebra.graph import Input
from torseur.computation.codegen import bake
from torseur.computation.codegen.sources.generate_files import generate_files
from torseur.computation.codegen.sources.source_module import Module
from torseur.computation.functions.control_laws import CONTROL_LAWS, control_law
from torseur.computation.functions.function_requests import pause_collection, programs_of, split_requests
from torseur.computation.functions.mechanism_functions import PARAMETERS
from torseur.derivation.dynamics.recursion import motion_names
from torseur.derivation.equations import values_for
from torseur.derivation.equations.equations import Equations, require_equations
from torseur.display import Displayed
from torseur.errors import TorseurError, unknown_name


class Sources(dict[str, str], Displayed):
    """Generated sources by file name."""

    def __repr__(self) -> str:
        files = ", ".join(f"{name} ({text.count(chr(10)) + 1} lines)" for name, text in self.items())
        return f"Sources: {files}"


def generate(
    equations: Equations,
    functions: str | Sequence[str],
    target: str,
    parameters: Mapping[str, float] | None = None,
    baked: bool = False,
    batch: bool = False,
) -> Sources:
    """The sources of some functions of a mechanism, by file name.

    functions   such as "inverse_dynamics,mass_matrix,frame:hand,forward_dynamics/q,v", or laws of control,
                "computed_torque" and "pd_with_gravity"
    target      c, cpp, cuda, fortran, python, jax, matlab or controller (C99 with a fixed workspace)
    parameters  values that replace those of the description
    baked       writes the parameters' values into the code, in place of an argument p
    batch       adds functions over many states at once (target c)
    """
    with pause_collection():
        files = generate_files(module_of(for_target(equations, target), functions, parameters, baked), target, batch)
        return Sources(files)


def for_target(equations: Equations, target: str) -> Equations:
    """The equations as a language is best given them: kernels of a GPU compute in single precision too."""
    require_equations(equations)
    few_digits = target == "cuda"
    return equations if equations.few_digits == few_digits else replace(equations, few_digits=few_digits)


def module_of(
    equations: Equations,
    functions: str | Sequence[str],
    parameters: Mapping[str, float] | None = None,
    baked: bool = False,
) -> Module:
    """The functions asked for, as programs that belong together."""
    texts = split_requests(functions) if isinstance(functions, str) else list(functions)
    programs = tuple(
        control_law(equations, text) if text in CONTROL_LAWS else programs_of(equations, [text])[0] for text in texts
    )
    if not programs:
        raise TorseurError("no function is requested; name one, such as inverse_dynamics.")
    accelerated = any(node in program.given for program in programs for node in equations.layout.accelerations)
    names = motion_names(equations.tree, accelerated)
    programs = tuple(program.with_labels(names) for program in programs)
    name, meaning = equations.mechanism.name, equations.mechanism.meaning
    group = Input(PARAMETERS, equations.layout.parameters)
    if baked and len(group):
        nodes = [node for program in programs for node in program.nodes]
        numbers = values_for(equations, nodes, parameters or {})
        programs = tuple(bake(program, {PARAMETERS: numbers}) for program in programs)
    if baked or not len(group):
        return Module(name, programs, meaning=meaning)
    return Module(name, programs, group, _known_values(equations, parameters or {}), meaning)


def _known_values(equations: Equations, changes: Mapping[str, float]) -> tuple[float | None, ...]:
    """Values of the parameters in their order, None for those that nobody gives."""
    names = equations.layout.parameter_names
    for name in changes:
        if name not in names:
            raise TorseurError(unknown_name("parameter", name, names))
    given = {p.name: p.value for p in equations.mechanism.parameters}
    return tuple(_number(changes.get(name, given.get(name))) for name in names)


def _number(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]
