"""The page as text: complete, self-contained, small, and deaf to what hides in names."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from presentation.report.samples import double_pendulum, energies, run
from presentation.report.walker import walker
from torseur.presentation.report.page.report_content import Check, Curve, Joint, Plot, ReportContent, ReportError
from torseur.presentation.report.page.report_page import merge, render, script, write_report
from torseur.presentation.scene.palette import FIRST, GROUND, SERIES, Colour, body_colour
from torseur.presentation.scene.scene import Body, Motion
from torseur.presentation.scene.shapes import Sphere

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(2)>",
    "<!--</style><style>*{display:none}",
    "javascript:alert(3)\u2028\x00${alert(4)}",
)
ASSETS = Path(__file__).parents[3] / "src/torseur/presentation/report/assets"
JS = ASSETS / "js"


class Page(HTMLParser):
    """Elements and attributes of a page, as a browser's parser would meet them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.contents: dict[int, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.contents[len(self.elements) - 1] = self.contents.get(len(self.elements) - 1, "") + data

    def inside(self, tag: str) -> list[str]:
        """Texts directly after each opening of an element."""
        return [self.contents.get(k, "") for k, (name, _) in enumerate(self.elements) if name == tag]


@pytest.fixture(scope="module")
def page() -> str:
    return render(double_pendulum())


@pytest.fixture(scope="module")
def hostile_page() -> str:
    names = (HOSTILE[0], HOSTILE[1], HOSTILE[2])
    content = double_pendulum(names)
    texts = replace(content, title=HOSTILE[3], description=HOSTILE[0], summary=HOSTILE, warnings=HOSTILE)
    joints = tuple(replace(j, name=f"{n}{HOSTILE[0]}", kind=HOSTILE[1]) for n, j in enumerate(content.joints))
    return render(replace(texts, joints=joints, checks=(Check(True, HOSTILE[0], HOSTILE[1]),)))


def test_the_sample_moves_as_the_reference_says() -> None:
    """Oracle: reference states of the double pendulum at whole seconds."""
    case = json.loads((Path(__file__).parents[2] / "oracles/double_pendulum_states.json").read_text())
    motion = run(end=5.0, samples=6)
    assert motion.q[:, 0] == pytest.approx(case["q1"], abs=1e-7)
    assert motion.v[:, 1] == pytest.approx(case["q2d"], abs=1e-7)
    assert energies(motion)[0] == pytest.approx(case["T"], abs=1e-5)


def test_sizes() -> None:
    assert len(render(double_pendulum()).encode()) < 500_000
    assert len(render(walker()).encode()) < 2_000_000


def test_every_part_is_there(page: str) -> None:
    identifiers = {attributes.get("id") for _, attributes in Page(page).elements}
    assert {
        "mechanism",
        "freedom",
        "equations",
        "parameters",
        "checks",
        "reproduce",
        "plots",
        "scene",
    } <= identifiers


def test_parts_without_content_are_left_out() -> None:
    bare = Page(render(ReportContent("Nothing yet")))
    assert not [tag for tag, _ in bare.elements if tag in ("section", "canvas", "table")]


def test_nothing_is_fetched(page: str) -> None:
    for tag, attributes in Page(page).elements:
        for name in ("src", "href", "data", "action", "srcset"):
            assert not attributes.get(name), (tag, name)
    style = "".join(Page(page).inside("style"))
    assert all(address.startswith("data:") for address in re.findall(r"url\(([^)]*)\)", style))
    assert "@import" not in style


def test_the_policy_allows_only_this_script_and_this_style(page: str) -> None:
    parsed = Page(page)
    policy = next(a["content"] or "" for t, a in parsed.elements if t == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for text in (parsed.inside("script")[-1], parsed.inside("style")[0]):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_no_element_carries_a_style_or_a_handler(page: str, hostile_page: str) -> None:
    for text in (page, hostile_page):
        for tag, attributes in Page(text).elements:
            assert not [name for name in attributes if name == "style" or name.startswith("on")], tag


def test_hostile_names_add_no_element(hostile_page: str) -> None:
    elements = [tag for tag, _ in Page(hostile_page).elements]
    assert elements.count("script") == 2
    assert elements.count("style") == 1
    assert "img" not in elements
    assert "\x00" not in hostile_page


def test_hostile_names_come_back_as_data(hostile_page: str) -> None:
    data = json.loads(Page(hostile_page).inside("script")[0])
    assert [body["name"] for body in data["bodies"]] == list(HOSTILE[:3])


def test_names_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ReportError, match="Did you mean 'arm'"):
        ReportContent("x", bodies=(Body("arm"),), joints=(Joint("j", "revolute", "R", "arm", "amr"),))
    with pytest.raises(ReportError, match="two body entries are named 'a'"):
        ReportContent("x", bodies=(Body("a"), Body("a")))


def test_motions_that_do_not_fit_are_refused() -> None:
    times, still = np.array([0.0, 1.0]), np.tile([1.0, 0, 0, 0], (2, 1, 1))
    with pytest.raises(ReportError, match=r"positions has shape \(2, 2, 3\), expected \(2, 1, 3\)"):
        ReportContent("x", bodies=(Body("a"),), motion=Motion(times, np.zeros((2, 2, 3)), still))
    with pytest.raises(ReportError, match="not finite"):
        ReportContent("x", bodies=(Body("a"),), motion=Motion(times, np.full((2, 1, 3), np.nan), still))
    with pytest.raises(ReportError, match="times must increase"):
        ReportContent("x", bodies=(Body("a"),), motion=Motion(times[::-1], np.zeros((2, 1, 3)), still))
    with pytest.raises(ReportError, match="curve 'c' has shape"):
        ReportContent("x", plots=(Plot("p", "m", times, (Curve("c", np.zeros(3)),)),))


def test_an_existing_file_is_kept(tmp_path: Path) -> None:
    content = ReportContent("One")
    target = write_report(content, tmp_path / "report.html")
    with pytest.raises(ReportError, match="exists"):
        write_report(content, target)
    assert write_report(replace(content, title="Two"), target, overwrite=True) == target
    assert "Two" in target.read_text(encoding="utf-8")
    with pytest.raises(ReportError, match="does not exist"):
        write_report(content, tmp_path / "nowhere" / "report.html")


def test_modules_merge_into_one_script() -> None:
    """One scope holds all modules once: no name is defined twice, and what a module uses stands before it."""
    merged = script()
    assert not re.findall(r"^(import|export)\b", merged, flags=re.MULTILINE)
    assert "@param" not in merged and "\n// " not in merged
    # In the modules, not in the script: there the lines of functions are no longer indented.
    top = r"^(export )?(?:async )?(?:function|class|const|let) (\w+)"
    modules = {path: re.findall(top, path.read_text(encoding="utf-8"), re.MULTILINE) for path in JS.rglob("*.js")}
    defined = [name for names in modules.values() for _, name in names]
    assert len(defined) == len(set(defined)), sorted({name for name in defined if defined.count(name) > 1})
    place = {name: re.search(rf"^(?:async )?(?:function|class|const|let) {name}\b", merged, re.M) for name in defined}
    assert None not in place.values()
    for path, names in modules.items():
        uses = re.findall(r"^import \{(.*?)\}", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        imported = [name.strip() for listed in uses for name in listed.split(",") if name.strip()]
        own = [name for exported, name in names if exported]
        assert set(imported) <= set(defined), path.name
        if own and imported:
            assert min(place[n].start() for n in own) > max(place[n].start() for n in imported), path.name


def test_merging_takes_out_imports_and_remarks() -> None:
    module = '// A module.\nimport {\n  a,\n} from "./a.js";\n\n/**\n * @returns {number}\n */\nexport const b = () => {\n  return a; // why\n};\n'
    assert merge(module) == "const b = () => {\nreturn a;\n};\n"
    # What looks like a remark within a text stays.
    assert merge('const there = "https://x"; // no\n') == 'const there = "https://x";\n'


def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first: str, second: str) -> float:
    """Contrast ratio of WCAG 2."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("colour", [GROUND, *FIRST, *SERIES, *(body_colour(k) for k in range(40))])
def test_colours_stand_out_in_both_themes(colour: Colour) -> None:
    """Graphics need a contrast of 3 to 1 (WCAG 2.1, 1.4.11)."""
    assert contrast(colour.light, "#ffffff") >= 3
    assert contrast(colour.dark, "#1a1e22") >= 3


def test_neighbouring_bodies_differ_in_colour() -> None:
    colours = [body_colour(k).light for k in range(40)]
    assert len(set(colours)) == 40


def test_a_lone_ball_makes_a_report() -> None:
    times = np.array([0.0, 1.0])
    motion = Motion(times, np.zeros((2, 1, 3)), np.tile([1.0, 0, 0, 0], (2, 1, 1)))
    text = render(ReportContent("Ball", bodies=(Body("ball", shapes=(Sphere((0, 0, 0), 1.0),)),), motion=motion))
    assert 'class="poster"' in text


def test_names_of_scripts_are_unique():
    """A page holds all scripts in one scope."""
    found = [
        name
        for script in JS.rglob("*.js")
        for name in re.findall(
            r"^(?:export )?(?:async )?(?:const|let|function\*?|class) (\w+)", script.read_text("utf-8"), re.MULTILINE
        )
    ]
    assert len(found) > 50
    assert sorted({name for name in found if found.count(name) > 1}) == []
