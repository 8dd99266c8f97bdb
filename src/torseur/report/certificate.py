"""The certificate: one table of the formalisms that gave the same equations."""

from __future__ import annotations

from torseur.report.content import Certificate, Formalism
from torseur.report.markup import Markup, element
from torseur.report.sections import section

NUMBERS = ("Operations", "Time (ms)", "Difference")


def certificate(content: Certificate | None) -> Markup:
    """Verdict, then formalism, operations, time to derive and largest relative difference."""
    if content is None:
        return Markup()
    verdict = element("p", content.verdict, class_="" if content.agrees else "warning")
    if not content.rows:
        return section("certificate", "Certificate", verdict)
    heads = [element("th", "Formalism", scope="col")]
    heads += [element("th", name, scope="col", class_="number") for name in NUMBERS]
    applied = [_row(row) for row in content.rows if not row.reason]
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *applied))
    refused = [element("p", f"{row.name}: {row.reason}", class_="note") for row in content.rows if row.reason]
    return section("certificate", "Certificate", verdict, table, *refused)


def _row(row: Formalism) -> Markup:
    name = element("td", row.name)
    cells = (f"{row.operations}", f"{row.milliseconds:.1f}", f"{row.difference:.1e}" if row.difference else "0")
    return element("tr", name, *(element("td", cell, class_="number") for cell in cells))
