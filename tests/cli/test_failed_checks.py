"""A check that fails is in the document, on stderr and in the exit code, and `--json` prints one document all the same."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from torseur.analysis.published_studies import marker_count

PENDULUM = "library:pendulum"


def test_a_report_whose_check_fails_is_written_and_ends_with_1(torseur: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from torseur.presentation.report.compose import compose_report
    from torseur.presentation.report.page.report_content import Check

    monkeypatch.setattr(compose_report, "checks_of", lambda *about: [Check(False, "Energy: lost"), Check(True, "Mass")])
    result = torseur("report", PENDULUM, "--until", "1", "--json")
    assert result.exit_code == 1 and "Energy: lost" in result.stderr
    assert json.loads(result.stdout)["failed_checks"] == ["Energy: lost"]
    assert "Energy: lost" in Path("pendulum.html").read_text(encoding="utf-8")
    shown = torseur("report", PENDULUM, "--until", "1", "--force")
    assert shown.exit_code == 1 and "written: pendulum.html" in shown.stdout


def test_formalisms_that_disagree_print_one_document(torseur: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torseur.derivation.formalisms as formalisms

    right = formalisms.certify

    def wrong(*about: Any) -> Any:
        certificate = right(*about)
        first, *others = certificate.entries
        return replace(certificate, entries=(replace(first, difference=1.0), *others))

    monkeypatch.setattr(formalisms, "certify", wrong)
    result = torseur("certify", PENDULUM, "--json")
    assert result.exit_code == 4 and "disagree" in result.stderr
    assert json.loads(result.stdout)["agrees"] is False


def test_swapped_markers_end_with_1(torseur: Any) -> None:
    from torseur.analysis.biomechanics import write_csv

    box = marker_count.box_markers()
    positions = box.positions.copy()
    positions[80:, [0, 1]] = positions[80:, [1, 0]]
    write_csv(Path("box.csv"), replace(box, positions=positions))
    result = torseur("recording", "box.csv", "--segment", "box=P1,P2,P3,P4", "--json")
    assert result.exit_code == 1 and "P1" in result.stderr
    assert json.loads(result.stdout)["faults"]


def test_frames_that_were_not_followed_end_with_1(torseur: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torseur.analysis.biomechanics as biomechanics

    right, box = biomechanics.inverse_kinematics, marker_count.box_markers()
    biomechanics.write_csv(Path("box.csv"), replace(box, positions=box.positions[:5], time=box.time[:5]))
    lost = np.array([True, True, False, True, True])
    monkeypatch.setattr(biomechanics, "inverse_kinematics", lambda *a, **b: replace(right(*a, **b), converged=lost))
    result = torseur("kinematics", "library:box_on_string", "box.csv", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["failed_checks"] == ["the search ended early in 1 frames"]


def test_constraints_that_no_point_keeps_end_with_1(torseur: Any) -> None:
    Path("o.toml").write_text(
        'mechanism = "library:mass_spring_damper"\nuntil = "1 s"\nobjective = { maximise = "place" }\n'
        '[vary]\nk = { from = "10 N/m", to = "35 N/m" }\n[criteria]\nplace = "x"\n'
        '[constraints]\nplace = { at_least = "100 m" }\n',
        encoding="utf-8",
    )
    result = torseur("optimise", "o.toml", "--cores", "1", "--json")
    assert result.exit_code == 1, result.stderr
    assert json.loads(result.stdout)["failed_checks"] == ["no point was found that satisfies all constraints"]


def test_mobility_that_its_check_denies_ends_with_1(torseur: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import torseur.derivation.loops.loop_doctor as doctor
    from torseur.derivation.loops.mobility.mobility_check import MobilityCheck

    monkeypatch.setattr(doctor, "check_mobility", lambda here: MobilityCheck(0.5))
    result = torseur("loops", "library:four_bar", "--json")
    assert result.exit_code == 1 and "DISAGREES by 5.0e-01" in result.stderr
    assert json.loads(result.stdout)["trusted"] is False
    assert torseur("loops", "library:four_bar", "--no-verify").exit_code == 0


def test_a_turn_in_speeds_that_are_not_constant_names_the_constraint(torseur: Any) -> None:
    """A disc rolls in a circle: its velocity turns in earth axes, so x' and y' cannot both be constant."""
    Path("disc.lsd").write_text(
        "gravity = [0, 0, -9.81] ; param r = 0.3 m ;\n"
        "let d = body mass = 2 kg, centre = 0, inertia = diag(0.045, 0.045, 0.09) end ;\n"
        "join earth and d.frame as j with free(x, y, z, psi, th, phi) angles zxz speeds "
        "ux = x', p, q, w = rotation in d, uy = y', uz = z' end ;\n"
        "constrain rolling d.frame radius r on earth normal [0,0,1] as c ;\n"
        "init th = 70 deg, z about r, w = 5, psi = 0 ;\n",
        encoding="utf-8",
    )
    moving = [part for name in ("psi", "phi", "x", "y") for part in ("--moving", name)]
    result = torseur("equilibrium", "disc.lsd", *moving)
    assert result.exit_code == 1 and "does not hold at constant speeds" in result.stderr and not result.stdout
