"""`torseur sensitivity`: how criteria of a motion change with the parameters of a mechanism."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from torseur.cli.commands.analysis.sensitivity_options import (
    CriterionOptions,
    ForceOptions,
    MotionOptions,
    ResultOptions,
    SensitivityOptions,
)
from torseur.cli.shared.option_rules import Rule, force_needs, option_rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from torseur.analysis.sensitivity import Criterion, Jump, Sensitivities, Surface
    from torseur.cli.shared.prepared_model import Work
    from torseur.computation.simulation.model.system import Vector

SUFFIXES = (".csv", ".json")
PICTURES = (".png", ".svg", ".pdf")
_JUMP = re.compile(r"\s*(.+?)\s*(?:\s(rises|falls))?\s*:\s*(.+)")
_GRID = re.compile(r"\s*([^=]+?)\s*=\s*([^:]+):([^:]+):\s*(\d+)\s*")

STILL_KINDS = "--kind=steady --kind=eigenvalues --kind=response"
EVENTS = "--kind=event --kind=event_time"
SINGLE = f"--kind=maximum --kind=minimum {EVENTS}"
RANKED = f"--kind=value --kind=integral --kind=maximum --kind=minimum {EVENTS} --kind=steady --kind=response"


@option_rules(
    Rule("--until --second-order --integrator --max-step --equilibrium --jump --contact --rtol --integral --over",
         not_with=STILL_KINDS, why="it belongs to a motion"),
    Rule("--samples", not_with=f"{SINGLE} {STILL_KINDS}", why="only values and integrals along a motion have a course"),
    Rule("--kind", not_with="--integral", why="that is a kind itself"),
    Rule("--when --direction --occurrence", needs=EVENTS, why="it says which event is meant"),
    Rule("--restitution", needs="--contact", why="it is the part of the speed that a contact gives back"),
    Rule("--method", not_with="--kind=eigenvalues --kind=response", why="small motions have one method"),
    Rule("--criterion", not_with="--kind=eigenvalues", why="frequencies and damping ratios are the criteria"),
    Rule("--input --from --to --points", needs="--kind=response", why="it belongs to an oscillating force"),
    Rule("--moving --fix", needs=STILL_KINDS, why="it says which steady motion is looked for"),
    Rule("--tolerance", not_with="--over --kind=eigenvalues", why="no parameters are ranked there"),
    Rule("--cost", needs=f"--pareto {RANKED}", why="it weighs a ranking or a picture of influence against cost"),
    Rule("--cost --pareto", not_with="--over", why="no parameters are ranked there"),
    Rule("--pareto", needs="--cost", why="it shows influence against cost"),
    Rule("--form", needs="--samples --out --plot --json --over --kind=eigenvalues --kind=response",
         why="the table of a single number has every form"),
    force_needs("--out", "--plot", "--pareto"),
)  # fmt: skip
def sensitivity(options: SensitivityOptions) -> None:
    """Compute derivatives of criteria with respect to parameters: which one matters, how much, and when.

    Example: torseur sensitivity library:double_pendulum --criterion kinetic_energy --parameters m1,r2 --until 5
    """
    from torseur.cli.commands.analysis.influences import Shown
    from torseur.cli.shared.console import progress
    from torseur.cli.shared.prepared_model import Work

    wanted = options.results
    _require_files(wanted)
    work = Work.begin(options.source, options.values)
    work.require_determined(work.equations("recursive"))
    shown = Shown(wanted, _numbers("--tolerance", wanted.tolerance), _numbers("--cost", wanted.cost))
    kind = options.criteria.kind
    if kind == "eigenvalues":
        shown.modes(work, options.parameters, {**_steady_search(work, options), "verify": options.verify})
        return
    with progress(f"{work.source.mechanism.name}: sensitivities", wanted.json) as follow:
        if kind == "steady":
            result = _of_steady_state(work, options)
        elif kind == "response":
            result = _of_response(work, options)
        elif wanted.over:
            shown.surface(_surface(work, options))
            return
        else:
            result = _of_motion(work, options, follow)
    shown.sensitivities(result)


def _require_files(wanted: ResultOptions) -> None:
    from torseur.cli.shared.output_files import require_outputs

    require_outputs(wanted.force, (wanted.out, SUFFIXES), (wanted.plot, PICTURES), (wanted.pareto, PICTURES))


def _of_motion(work: Work, options: SensitivityOptions, follow: Callable[[float], None] | None) -> Sensitivities:
    """Derivatives of criteria of a motion."""
    from torseur.analysis.sensitivity.sensitivity_analysis import sensitivity as compute

    criteria, requests = _criteria(options.criteria), _motion_requests(work, options.motion)
    return compute(
        work.source.mechanism, criteria, options.parameters, verify=options.verify, progress=follow, **requests
    )


def _motion_requests(work: Work, motion: MotionOptions) -> dict[str, Any]:
    """What the sensitivity analysis is asked for, in its own words."""
    from torseur.cli.shared.prepared_model import duration
    from torseur.cli.shared.value_options import contacts

    return {
        "until": duration(_require(motion.until, "--until")),
        "rtol": motion.rtol,
        "samples": motion.samples,
        "method": motion.method,
        "integrator": motion.integrator,
        "max_step": None if motion.max_step is None else duration(motion.max_step, "--max-step"),
        "second_order": motion.second_order,
        "from_equilibrium": motion.equilibrium,
        "jumps": [*map(_jump, motion.jump or ()), *contacts(work.tree, motion.contact, motion.restitution)],
        "values": dict(work.values.parameters),
        "initial": dict(work.values.initial),
    }


def _steady_search(work: Work, options: SensitivityOptions) -> dict[str, Any]:
    """What the search for a steady state is given."""
    options.steady.require_movable(work.tree)
    near = {"moving": options.steady.moving or (), "fixed": options.steady.fix or ()}
    return {"at": dict(work.values.initial), "values": dict(work.values.parameters), **near}


def _require(value: Any, option: str) -> Any:
    from torseur.cli.shared.exits import USAGE, CommandError

    if not value:
        example = {"--criterion": "kinetic_energy", "--until": "5", "--input": "x"}[option]
        raise CommandError(f"{option} is missing, such as {option} {example}.", USAGE)
    return value


def _criteria(options: CriterionOptions) -> list[Criterion]:
    from torseur.analysis.sensitivity import Criterion

    kind = "integral" if options.integral else options.kind.replace("_", " ")
    return [
        Criterion(formula, kind, when=options.when, direction=options.direction, occurrence=options.occurrence)
        for formula in _require(options.criterion, "--criterion")
    ]


def _jump(text: str) -> Jump:
    from torseur.analysis.sensitivity import Jump
    from torseur.cli.shared.exits import USAGE, CommandError

    match = _JUMP.fullmatch(text)
    pairs = [part.partition("=") for part in match[3].split(";")] if match else []
    if match is None or not all(name.strip() and equals and value.strip() for name, equals, value in pairs):
        raise CommandError(f"--jump {text}: expected 'WHEN: STATE=EXPR', such as \"z falls: z'=-0.8*z'\".", USAGE)
    direction = {"rises": 1, "falls": -1, None: 0}[match[2]]
    return Jump(match[1], {name.strip(): value.strip() for name, _, value in pairs}, direction)


def _frequencies(options: ForceOptions) -> Vector:
    """Angular frequencies, evenly spaced in their logarithm."""
    import numpy as np

    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.edges.budgets import FREQUENCY, require_memory

    first, last = options.first, options.last
    if not 0 < first <= last:
        raise CommandError(f"--from {first:g} --to {last:g}: expected 0 < first <= last.", USAGE)
    require_memory(options.points, FREQUENCY, f"--points {options.points}")
    return np.asarray(2 * np.pi * np.geomspace(first, last, options.points))


def _of_response(work: Work, options: SensitivityOptions) -> Sensitivities:
    """Derivatives of gain and phase."""
    from dataclasses import replace

    from torseur.analysis.sensitivity.steady.small_motion_sensitivity import frequency_response_sensitivity

    outputs = _require(options.criteria.criterion, "--criterion")
    along, omega = _require(options.oscillation.along, "--input"), _frequencies(options.oscillation)
    mechanism, search = work.source.mechanism, _steady_search(work, options)
    parts = [
        frequency_response_sensitivity(
            mechanism, along, output, omega, options.parameters, verify=options.verify, **search
        ).criteria
        for output in outputs
    ]
    return replace(
        parts[0],
        responses=tuple(response for part in parts for response in part.responses),
        notes=tuple(note for part in parts for note in part.notes),
        agreement=tuple(agreement for part in parts for agreement in part.agreement),
        trusted=all(part.trusted for part in parts),
    )


def _of_steady_state(work: Work, options: SensitivityOptions) -> Sensitivities:
    """Derivatives in equilibrium."""
    from torseur.analysis.sensitivity.steady.steady_states import steady_sensitivity

    formulas, search = _require(options.criteria.criterion, "--criterion"), _steady_search(work, options)
    method = "direct" if options.motion.method == "auto" else options.motion.method
    return steady_sensitivity(
        work.source.mechanism, formulas, options.parameters, method=method, verify=options.verify, **search
    )


def _surface(work: Work, options: SensitivityOptions) -> Surface:
    """Derivatives over one or two operating parameters."""
    import numpy as np

    from torseur.analysis.sensitivity import sensitivity_surface
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.description.language.formulas.quantities_with_units import quantity

    criteria, requests = _criteria(options.criteria), _motion_requests(work, options.motion)
    requests["verify"] = options.verify
    if len(criteria) > 1:
        raise CommandError("--over takes one --criterion.", USAGE)
    grid = {}
    for text in options.results.over or ():
        match = _GRID.fullmatch(text)
        if match is None:
            raise CommandError(f"--over {text}: expected NAME=FIRST:LAST:COUNT, such as --over V=10:40:5.", USAGE)
        first, last = (quantity(match[k], match[1])[0] for k in (2, 3))
        grid[match[1]] = np.linspace(first, last, int(match[4]))
    if len(grid) > 2:
        raise CommandError(f"--over takes one or two parameters, not {len(grid)}: {', '.join(grid)}.", USAGE)
    return sensitivity_surface(work.source.mechanism, criteria[0], options.parameters, grid, **requests)


def _numbers(option: str, texts: list[str] | None) -> dict[str, float]:
    from torseur.cli.shared.exits import USAGE, CommandError
    from torseur.description.language.formulas.quantities_with_units import quantity

    values = {}
    for text in texts or ():
        name, equals, value = text.rpartition("=")
        if not equals:
            raise CommandError(f"{option} {text}: expected NAME=VALUE, such as {option} 'm1=0.1 kg'.", USAGE)
        values[name.strip()] = quantity(value, name)[0]
    return values
