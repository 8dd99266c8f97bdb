"""What no event-driven motion goes on from: contacts that never stay, jamming friction, modes that do not agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from torseur.errors import SimulationError


def refuse_endless(t: float, names: Sequence[str]) -> NoReturn:
    """Contacts change again and again at one time, and approach no slower."""
    raise SimulationError(
        f"contacts ({_quoted(names)}) open and close without end at t = {t:.9g} s. Raise rest_speed, or choose "
        "method='time_stepping'."
    )


def refuse_jamming(t: float, names: Sequence[str]) -> NoReturn:
    """Friction raises its own normal force without bound."""
    raise SimulationError(
        f"friction ({_quoted(names)}) jams at t = {t:.9g} s: sliding would raise its own normal force without bound, "
        "so no finite force solves the equations (Painlevé's paradox). Choose method='time_stepping', which goes on "
        "with an impulse, a smaller coefficient, or a compliant contact."
    )


def refuse_modes(t: float, names: Sequence[str]) -> NoReturn:
    """No combination of modes agrees with the accelerations it leads to."""
    raise SimulationError(
        f"no combination of sticking, sliding, touching and opening of {_quoted(names)} agrees with the forces at t = "
        f"{t:.9g} s. Either none exists (Painlevé's paradox, where sliding raises its own normal force without "
        "bound), or, with several contacts in space, the search has missed it. Choose method='time_stepping', a "
        "smaller coefficient, or a compliant contact."
    )


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def refuse_contradiction(t: float, names: list[str]) -> None:
    """Ends a motion in which no impulse keeps bodies out of each other."""
    if names:
        raise SimulationError(contradiction_words(t, names))


def contradiction_words(t: float, names: list[str]) -> str:
    """What is said of contacts that nothing keeps shut."""
    listing = ", ".join(f"'{name}'" for name in names)
    return (
        f"contact {listing} contradicts other contacts or constraints at t = {t:.9g} s: these move the bodies into "
        "each other, and no impulse stops them. Let one of them give way, by a spring or by play."
    )
