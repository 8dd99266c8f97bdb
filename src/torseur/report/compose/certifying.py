"""The certificate of a report: the equations derived by every formalism that applies, and compared."""

from __future__ import annotations

from torseur.equations import Equations
from torseur.errors import TorseurError
from torseur.formalisms import certify
from torseur.report.content import Certificate, Formalism

TITLES = {
    "recursive": "Recursive, spatial algebra", "newton_euler": "Newton-Euler", "dalembert": "d'Alembert",
    "lagrange": "Lagrange", "lagrange_multipliers": "Lagrange with multipliers", "hamilton": "Hamilton", "kane": "Kane",
    "gibbs_appell": "Gibbs-Appell", "boltzmann_hamel": "Boltzmann-Hamel", "lie_group": "Lie group",
    "inertia_tensors": "Global inertia tensors",
}  # fmt: skip
MOST_FREEDOMS = 18  # beyond which a page would wait long for it


def certificate_of(equations: Equations) -> Certificate:
    """The certificate of a mechanism, or why the page has none."""
    mechanism, freedoms = equations.mechanism, len(equations.layout.speeds)
    if freedoms > MOST_FREEDOMS:
        return Certificate(True, f"Not compared here, for {freedoms} speeds; torseur certify does it.", ())
    try:
        found = certify(mechanism, points=1)
    except TorseurError as problem:
        return Certificate(False, f"Not compared: {problem}", ())
    rows = [
        Formalism(TITLES[e.formalism], e.operations, e.seconds * 1e3, e.difference, e.reason) for e in found.entries
    ]
    count = sum(not row.reason for row in rows)
    verdict = (
        f"{count} formalisms, each derived from its own principle, give the same M, b and Q, {found.method}."
        if found.agrees else f"The formalisms disagree, {found.method}."
    )  # fmt: skip
    return Certificate(found.agrees, verdict, tuple(rows))
