"""Entries of study files that are not what they should be: each is named with its file, table and entry."""

from __future__ import annotations

import numpy as np
import pytest

import torseur as ts
from analysis.identification.test_command import LSD, write_csv
from torseur.analysis.identification.data.identification_study import study_model, study_options, study_trials
from torseur.analysis.identification.data.identification_study_file import read_study
from torseur.errors import TorseurError

STUDY = """mechanism = "arm.lsd"
[data]
trials = ["run.csv"]
{}
[data.forces]
q1 = "tau1"
q2 = "tau2"
{}
"""
MISTAKES = {
    "[options]\nbootstrap = 'many'": "bootstrap = 'many' is not a whole number",
    "[options]\nconfidence = 2": "confidence is a part of one",
    "[options]\nseed = 1.5": "seed = 1.5 is not a whole number",
    "[treatment]\nwindow = 'wide'": "window = 'wide' is not a whole number",
    "[treatment]\nderivatives = 'fourier'\nharmonics = 0": "at least one harmonic",
    "[treatment]\nsaturation = 'mend'": "treatment of saturation: 'refuse' or 'leave_out' or 'keep', not 'mend'",
    "[parameters]\ncoulomb = 'all'\nthreshold = -1": "a speed of at least 0, not -1",
    "[limits.fore]\nmass = 2": "mass = 2 is not a list of 2 numbers",
    "[limits.fore]\nmass = [-1, 2]": "least mass cannot be negative",
    "[limits.fore]\nsemi_axes = [0.1, 0.1]": "is not a list of 3 numbers",
    "[limits.fore]\nsemi_axes = [1, 1, 1]\naxes = [[1, 0, 0], [0, 1, 0], [0, 1, 1]]": "three orthogonal unit vectors",
    "[limits.fore]\nsemi_axes = [1, 1, 1]\ndensity = -4": "greatest density must be positive",
    "[limits]\nfore = [1, 2]": "expected a table .limits.fore.",
    "[known]\n'fore.mass' = '2 kg'": "fore.mass = '2 kg' is not a number",
    "[prior]\nweight = 0": "weight of a prior must be positive",
    "[payloads.box]\nbody = 'fore'\nposition = 'here'": "position = 'here' is not a list of 3 numbers",
    "[payloads.box]\nbody = 'earth'": "a payload on 'earth' does not move",
}
IN_DATA = {
    "units = ['deg']": "units is a table of texts",
    "payload = {'run.csv' = 'bag'}": "unknown payload 'bag'",
    "channels = {q1 = 4}": "channels is a table of texts",
    "validation = 'run.csv'": "validation is a list of files",
    "time = 'clock'": "unknown column 'clock'",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mistakes")
    (place / "arm.lsd").write_text(LSD)
    t = np.linspace(0, 1, 60)
    columns = [t, np.sin(5 * t), np.cos(7 * t), np.cos(5 * t), np.sin(3 * t)]
    write_csv(
        place / "run.csv", ["time [s]", "q1 [rad]", "q2 [rad]", "tau1 [N*m]", "tau2 [N*m]"], np.column_stack(columns)
    )
    return place


@pytest.mark.parametrize(("text", "words"), [*MISTAKES.items(), *IN_DATA.items()])
def test_mistakes_are_named(folder, text, words):
    inside = text in IN_DATA
    (folder / "study.toml").write_text(STUDY.format(text if inside else "", "" if inside else text))
    with pytest.raises(TorseurError, match=words):
        study = read_study(folder / "study.toml")
        model = study_model(study, ts.load(folder / "arm.lsd"))
        study_trials(study, model)
        study_options(study, model)
