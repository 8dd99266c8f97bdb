"""The certificate as a part of the report."""

from __future__ import annotations

from torseur.derivation.formalisms import derive
from torseur.derivation.formalisms.kane import Kane
from torseur.description import library
from torseur.presentation.report.compose.make_report import Occasion, certificate_of, content_of
from torseur.presentation.report.page.report_page import render


def test_every_formalism_stands_in_the_report():
    content = content_of(library.load("double_pendulum"), Occasion(until=10.0))
    assert content.certificate.agrees and len(content.certificate.rows) == 11
    assert all(row.operations > 0 and row.difference == 0 for row in content.certificate.rows)
    page = render(content)
    assert 'id="certificate"' in page and "Boltzmann-Hamel" in page and "compared exactly" in page
    assert len(page.encode()) < 500_000


def test_what_does_not_apply_is_said():
    page = render(content_of(library.load("free_body"), Occasion(until=1.0)))
    assert "Hamilton: momenta need independent coordinates" in page


def test_disagreement_is_a_warning(monkeypatch):
    """Oracle: a formalism spoilt on purpose."""
    right = Kane.bias
    monkeypatch.setattr(Kane, "bias", lambda self: [entry + 1 for entry in right(self)])
    content = content_of(library.load("pendulum"), Occasion(until=1.0))
    assert not content.certificate.agrees
    assert '<p class="warning">The formalisms disagree' in render(content)


def test_large_mechanisms_are_left_to_the_command():
    found = certificate_of(derive(library.load("pendulum_chain?n=30")))
    assert "torseur certify" in found.verdict and found.rows == ()


def test_it_can_be_left_out():
    content = content_of(library.load("pendulum"), Occasion(until=1.0, certificate=False))
    assert content.certificate is None and 'id="certificate"' not in render(content)
