"""What notebooks show: of every kind of value, complete in itself, and never a dump."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import torseur as ts
from torseur.presentation.notebook.painters import still_scene
from torseur.presentation.report.drawing.curve_svg import HEIGHT, WIDTH, Series, curve_svg
from torseur.presentation.scene.orientation import rotation

TEXT = """mechanism swing "a <b>swing</b>" ; gravity = [0, 0, -9.81] m/s^2 ;
param k = 40 N/m ;
let rod = body mass = 0, inertia = 0 end ;
let bob = body mass = 1 kg, centre = 0, inertia = 0 end ;
join earth and rod with revolute(theta) about [0, 1, 0] end ;
join rod and bob as slide with prismatic(r) along [0, 0, -1] stiffness = k, rest = 1 m end ;
init theta = 0.5, r = 1.3 m, theta' = 0, r' = 0 ;
"""


@pytest.fixture(scope="module")
def values():
    mechanism = ts.parse(TEXT)
    equations = ts.derive(mechanism, "lagrange")
    motion = ts.simulate(equations, until=0.5, samples=21, outputs=["energy"])
    results = ts.sensitivity(mechanism, ["energy"], "k", until=0.2)
    loops = ts.loops(ts.library.load("four_bar"))
    return {"mechanism": mechanism, "equations": equations, "motion": motion, "sensitivities": results, "loops": loops}


@pytest.mark.parametrize("kind", ["mechanism", "equations", "motion", "sensitivities", "loops"])
def test_a_value_shows_itself(values, kind):
    """A line in a terminal; in a notebook HTML that is well formed, holds no script and no user's markup."""
    value = values[kind]
    assert len(repr(value)) < 200 and "\n" not in repr(value)
    bundle = value._repr_mimebundle_()
    assert bundle["text/plain"] == repr(value)
    ET.fromstring(f"<div>{bundle['text/html']}</div>".replace(" open>", ' open="">'))
    assert (
        kind != "sensitivities" or "<td>k</td>" in bundle["text/html"]
    )  # names as they are written, not as they are spoken
    assert "<script" not in bundle["text/html"] and "<b>swing</b>" not in bundle["text/html"]


def test_equations_are_typeset_and_unfold(values):
    bundle = values["equations"]._repr_mimebundle_()
    assert 'display="block"' not in bundle["text/html"]  # centred beyond the edge of the page where a line is long
    assert bundle["text/html"].count("<details") == 3 and "<math" in bundle["text/html"]
    assert bundle["text/latex"].startswith("\\begin{align*}")


def test_the_viewer_is_complete_in_itself(values):
    """Everything is in the frame: no address leaves it, and its policy allows its own script alone."""
    shown = ts.view(values["mechanism"], values["motion"]).frame()
    page = html.unescape(
        re.fullmatch(r'<iframe srcdoc="(.*?)" style="[^"]*" title="[^"]*"></iframe>', shown, re.DOTALL)[1]
    )
    assert "default-src &#x27;none&#x27;" in page and 'id="scene"' in page and 'id="play"' in page
    assert not re.findall(r'(?:src|href)="(?!data:)', page)
    assert "Equations of motion" not in page


def test_a_mechanism_without_values_still_has_a_picture():
    scene = still_scene(ts.parse(TEXT.replace("1.3 m", "L").replace("param k = 40 N/m", "param k in N/m, L in m")))
    assert np.linalg.norm(scene.motion.positions[0, scene.index("bob")]) == pytest.approx(
        1.0
    )  # an unknown length is 1 m


@pytest.mark.parametrize(
    "values",
    [
        np.linspace(3.0, 3.0 + 1e-13, 50),
        np.linspace(-1e-7, 2e-7, 50),
        np.linspace(1e6, 3e6, 50),
        np.full(50, np.nan),
        np.linspace(0.999, 1.001, 50),
    ],
    ids=["constant", "tiny", "large", "missing", "near one"],
)
def test_axes_have_two_numbers_at_least_and_nothing_leaves_the_picture(values):
    """Oracle: the numbers as they are printed."""
    svg = ET.fromstring(curve_svg(Series("x", np.linspace(0, 2, 50)), [Series("y", values)], "s", "m"))
    texts = [
        (t.text, float(t.get("x")), float(t.get("y")), t.get("text-anchor"))
        for t in svg.iter()
        if t.tag.endswith("text")
    ]
    rows = [(float(text), y) for text, x, y, anchor in texts if anchor == "end"]
    columns = [float(text) for text, _, y, anchor in texts if anchor == "middle" and re.fullmatch(r"-?[\d.e-]+", text)]
    assert len(rows) >= 2 and len({value for value, _ in rows}) == len(rows)
    assert len(columns) >= 2 and min(columns) >= 0 and max(columns) <= 2
    for text, x, y, anchor in texts:
        width = 6.4 * len(text)
        left = x - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        assert left >= -1 and left + width <= WIDTH + 1 and 0 < y < HEIGHT, text


@pytest.mark.slow
def test_results_of_other_rooms_show_themselves(tmp_path):
    """Sections, spectra, sources, FMUs and motions: a line in a terminal, a table or a picture in a notebook."""
    mechanism = ts.parse(TEXT)
    motion = ts.simulate(mechanism, 1.0, samples=32)
    assert "<iframe srcdoc" in motion._repr_html_()
    assert "<svg" in ts.spectrum(motion)._repr_html_()
    assert "<svg" in ts.poincare_section(mechanism, motion.states[0].name, 5.0, direction=0)._repr_html_()
    sources = ts.generate(ts.derive(mechanism), "mass_matrix", "python")
    assert repr(sources).startswith("Sources: ") and "<details>" in sources._repr_html_()
    assert "\n" not in repr(sources) + repr(ts.spectrum(motion))


def test_the_picture_of_a_motion_has_its_parameters():
    """Oracle: a rod of another length is drawn with that length."""
    text = "param l = 1 m ; let b = body mass = 1 kg, centre = [l, 0, 0], inertia = 0 end ; join earth and b.frame with revolute(q) end ;"
    mechanism = ts.parse(text)
    usual = ts.simulate(mechanism, 1.0, samples=8)
    longer = ts.simulate(mechanism, 1.0, samples=8, parameters={"l": 3.0})
    assert dict(longer.parameters) == {"l": 3.0}
    assert usual._repr_html_() != longer._repr_html_()


def test_a_mechanism_is_shown_with_its_loops_closed_and_its_masses():
    """Oracle: the coupler of the four-bar joins crank and rocker; its bars have 2 kg/m."""
    mechanism = ts.library.load("four_bar")
    scene = still_scene(mechanism)
    ends = []
    for name, length in (("coupler", 1.0), ("rocker", 0.8)):
        number = scene.index(name)
        turn = rotation(scene.motion.quaternions[0, number])
        ends.append(scene.motion.positions[0, number] + turn @ np.array([length, 0, 0]))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-9)
    shown = mechanism._repr_mimebundle_()["text/html"]
    assert all(f"<td>{mass}</td>" in shown for mass in ("0.8", "2", "1.6"))
    # The heading is a line of its own: a drawing is set in the line of the words before it.
    assert re.search(r"<div><b>four-bar[^<]*</b></div><svg", shown)


def test_what_is_not_trusted_says_so():
    """Notebooks take style sheets out of what is not trusted, and with them what hides the word."""
    names = set()
    for name in ("pendulum", "four_bar"):
        shown = ts.library.load(name)._repr_mimebundle_()["text/html"]
        hidden = re.match(r"<style>\.(torseur-\w+){display:none}</style>", shown)
        assert hidden and "trusted" in re.search(rf'<p class="{hidden[1]}">(.*?)</p>', shown)[1]
        names.add(hidden[1])
    # Styles of one notebook hold in another that is open beside it.
    assert len(names) == 2
