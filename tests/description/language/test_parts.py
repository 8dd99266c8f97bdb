"""Parts and their uses in texts: what they expand to, what is kept when they are written, and what is refused where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import torseur as ts
from torseur.description.language import LanguageError, load, parse, to_text

LINK = """
part link(l = 0.5 m, m = 1 kg) attach base
    let rod = body rod length = l along [1, 0, 0] mass = m end ;
    let tip = [l, 0, 0] @ rod ;
    join base and rod.frame as hinge with revolute(q) about [0, 0, 1] torque = -pull(q) - 0.1 N*m*s * q' end ;
    law pull(x) = 2 N*m * sin(x) ;
    measure height = position.y of tip ;
    state z = 0 m, z' = height/1 s - z/2 s ;
    init q = 20 deg ;
end ;
"""
CHAIN = f"""
mechanism pair ;
param g = 9.81 m/s^2 ;
gravity = [0, -g, 0] ;
{LINK}
use link[i = 1..2](l = 0.1 m * i) attach base to earth chain tip to base ;
apply force [0, 1 N, 0] on link_2.tip as push ;
init link_2.q = 0.3 ;
"""
BY_HAND = """
mechanism pair ;
param g = 9.81 m/s^2, link_1.l = 0.1 m, link_1.m = 1 kg, link_2.l = 0.2 m, link_2.m = 1 kg ;
gravity = [0, -g, 0] ;
let link_1.rod = body rod length = link_1.l along [1, 0, 0] mass = link_1.m end ;
let link_2.rod = body rod length = link_2.l along [1, 0, 0] mass = link_2.m end ;
let link_1.tip = [link_1.l, 0, 0] @ link_1.rod ;
let link_2.tip = [link_2.l, 0, 0] @ link_2.rod ;
join earth and link_1.rod.frame as link_1.hinge with revolute(link_1.q) about [0, 0, 1] end ;
join link_1.tip and link_2.rod.frame as link_2.hinge with revolute(link_2.q) about [0, 0, 1] end ;
apply force [0, 1 N, 0] on link_2.tip as push ;
apply torque -link_1.pull(link_1.q) - 0.1 N*m*s * link_1.q' on link_1.q as link_1.hinge.torque ;
apply torque -link_2.pull(link_2.q) - 0.1 N*m*s * link_2.q' on link_2.q as link_2.hinge.torque ;
law link_1.pull(x) = 2 N*m * sin(x) ;
law link_2.pull(x) = 2 N*m * sin(x) ;
measure link_1.height = position.y of link_1.tip ;
measure link_2.height = position.y of link_2.tip ;
state link_1.z = 0 m, link_1.z' = link_1.height/1 s - link_1.z/2 s ;
state link_2.z = 0 m, link_2.z' = link_2.height/1 s - link_2.z/2 s ;
init link_2.q = 0.3, link_1.q = 20 deg ;
"""


@pytest.mark.slow
def test_uses_are_what_one_would_write_by_hand():
    """Oracle: the same mechanism without parts, name by name."""
    used, written = parse(CHAIN), parse(BY_HAND)
    assert used == written


def test_text_keeps_parts_and_values():
    mechanism = parse(CHAIN)
    assert "use link as link_2(l = 0.2 m) attach base to link_1.tip ;" in to_text(mechanism)
    heavier = mechanism.with_values(**{"link_2.m": 7})
    assert "link_2(l = 0.2 m, m = 7 kg)" in to_text(heavier)
    for one in (mechanism, heavier):
        again = parse(to_text(one))
        assert again == one
        assert [instance.name for instance in again.instances] == ["link_1", "link_2"]


def test_a_mechanism_that_is_no_longer_made_of_its_parts_is_written_out():
    changed = replace(parse(CHAIN), loads=())
    assert "use" not in to_text(changed)
    assert parse(to_text(changed)) == changed


def test_the_same_in_python():
    pair = parse(CHAIN)
    link = pair.instances[0].part
    first = ts.use(link, "link_1", attach={"base": ts.EARTH}, values={"l": 0.1})
    second = ts.use(link, "link_2", attach={"base": first.frame("tip")}, values={"l": 0.2})
    push = ts.force("push", second.frame("tip"), (0, 1, 0))
    g = ts.parameter("g", 9.81, "m/s^2")
    again = ts.Mechanism(
        "pair", parameters=[g], gravity=(0, -g, 0), loads=[push], parts=[first, second], initial={"link_2.q": 0.3}
    )
    assert again == pair


def test_what_is_inside_has_names_outside():
    mechanism = parse(
        CHAIN
        + """apply torque link_1.pull(link_2.q) * link_1.rod.mass / 1 kg * link_2.z / 1 m on link_1.q as extra ;
             measure speed = velocity.x of link_2.rod.iframe in link_1.rod ; actuate link_2.q ;
             param ratio = link_1.l / link_2.l ; """.replace("link_1.rod.mass", "link_1.m")
    )
    assert mechanism.actuated == ("link_2.q",)
    assert "extra" in [load.name for load in mechanism.loads]


AXLE = """
gravity = [0, 0, -9.81] ;
let car = body mass = 600 kg, centre = 0, inertia = diag(200, 300, 400) kg*m^2 end ;
let rack = body mass = 3 kg, centre = 0, inertia = 0 end ;
join earth and car with prismatic(heave) along [0, 0, 1] end ;
join [0.1, 0, 0] m @ car and rack with prismatic(s) along [0, 1, 0] stiffness = 1e6 N/m end ;
use double_wishbone as left from "library:parts/suspension" attach chassis to [0, 0.75, 0] m @ car, rack to [-0.1, 0.75, 0] m @ rack ;
use double_wishbone as right mirrored left across [0, 1, 0] ;
apply force [0, 0, 3500 N] on left.wheel ;
apply force [0, 0, 3500 N] on right.wheel ;
"""


@pytest.mark.slow
def test_a_mirrored_corner_moves_symmetrically():
    """Oracle: the symmetry of the axle. The wheels move as images in the plane y = 0, and the rack stays."""
    outputs = [f"{side}.wheel.{q}.{c}" for side in ("left", "right") for q in ("position", "rotation") for c in "xyz"]
    motion = ts.simulate(ts.derive(parse(AXLE), "recursive"), until=0.2, samples=5, outputs=outputs).dataset
    signs = {"position": (1, -1, 1), "rotation": (-1, 1, -1)}
    for quantity, (x, y, z) in signs.items():
        for c, sign in zip("xyz", (x, y, z), strict=True):
            left, right = (motion[f"{side}.wheel.{quantity}.{c}"].values for side in ("left", "right"))
            np.testing.assert_allclose(right, sign * left, atol=1e-9)
    assert np.ptp(motion["left.wheel.position.z"].values) > 1e-4
    np.testing.assert_allclose(motion["s"].values, 0, atol=1e-9)


@pytest.mark.slow
def test_storeys_of_a_lift():
    """Oracle: crossed arms of length l at the angle a rise by l sin a each."""
    text = """gravity = [0, -9.81, 0] ;
    let slider = body mass = 1 kg, centre = 0, inertia = 0 end ;
    join earth and slider with prismatic(x) along [1, 0, 0] end ;
    use scissors as floor_1 from "library:parts/linkages" attach hinge to earth, slide to slider ;
    use scissors as floor_2 attach hinge to floor_1.top_hinge, slide to floor_1.top_slide ;
    init x = 0.8 m ; """
    outputs = ["floor_2.top_hinge.position.y", "floor_2.top_slide.position.y"]
    motion = ts.simulate(ts.derive(parse(text), "recursive"), until=0.01, samples=2, outputs=outputs).dataset
    for name in outputs:
        assert motion[name].values[0] == pytest.approx(2 * 0.6, abs=1e-8)


URDF = """<robot name="arm"><link name="base"/><link name="upper"><inertial><origin xyz="0.1 0.2 0.3"/><mass value="2"/>
<inertia ixx="0.4" iyy="0.5" izz="0.6" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/>
<axis xyz="0.6 0 0.8"/><limit effort="1" velocity="1" lower="-1" upper="1"/></joint></robot>"""


@pytest.mark.slow
def test_robots_are_parts(tmp_path):
    """Oracle: Mᵀ of two arms that share nothing is the mass of one, twice, whatever carries them."""
    (tmp_path / "arm.urdf").write_text(URDF)
    text = """gravity = [0, 0, -9.81] ;
    use arm as left from "arm.urdf" at [0, 0.3, 0] m @ earth ;
    use arm as right mirrored left across [0, 1, 0] ;"""
    both, one = parse(text, directory=tmp_path), ts.load(tmp_path / "arm.urdf")
    alone = ts.simulate(ts.derive(one, "recursive"), until=0.3, samples=3).q
    together = ts.simulate(ts.derive(both, "recursive"), until=0.3, samples=3).q
    np.testing.assert_allclose(together, np.repeat(alone, 2, axis=1), atol=1e-9)
    assert parse(to_text(both)) == both


FAULTS = {
    "use link as a ;": "<text>:12:1: part 'link' (<text>:2:6) is attached by 'base', and this does not say to what.",
    "use lnk as a attach base to earth ;": "<text>:12:5: unknown part 'lnk'. Parts: link. Did you mean 'link'?",
    "use link as a attach bse to earth, base to earth ;": "<text>:12:22: part 'link' (<text>:2:6) has no attachment 'bse'.",
    "use link as a(k = 2) attach base to earth ;": "<text>:12:15: part 'link' (<text>:2:6) has no parameter 'k'. Parameters: l, m.",
    "use link as a(m = 2 m) attach base to earth ;": "<text>:12:19: expected a mass, got 2 m (length).",
    "use link as a attach base to eart ;": "unknown body 'eart'",
    "use link as a attach base to earth ; use link as a attach base to earth ;": "<text>:12:50: 'a' is defined twice, first at <text>:12:13.",
    "let a = body mass = 1 kg end ; join earth and a with fixed end ; use link as a attach base to earth ;": "'a' is defined twice, first at <text>:12:5.",
    "param a.l = 3 m ; use link as a attach base to earth ;": "<text>:12:7: 'a.l' is defined twice, first by the part 'a' at <text>:12:31.",
    "use link as a attach base to b.tip ; use link as b attach base to b.tip ;": "itself",
    "use link as a attach base to earth ; use link as b mirrored c across [0,1,0] ;": "unknown instance 'c'. Instances: a.",
    "use link as a attach base to earth ; use link as b mirrored a across [0,0,0] ;": "three numbers, not all zero",
    "use link[i = 3..1] attach base to earth ;": "expected two whole numbers that rise, got 3..1.",
    "use link[i = 1..2, j = 1..2] attach base to earth chain tip to base ;": "a chain is counted by one index.",
    "use link[i = 1..2] attach base to earth chain top to base ;": "unknown frame 'top'. Frames: tip, rod",
    "use link[i = 1..99999] attach base to earth ;": "more than 50000 bodies, joints and names",
    "use link as a from \"other.lsd\" ;": "this text has no folder",
    "use link as a from \"library:parts/susspension\" ;": "Did you mean 'library:parts/suspension'?",
    "use link as a attach base to earth at earth at earth ;": "this is said twice.",
    "part loop use loop as again ; end ; use loop as a ;": "part 'loop' (<text>:12:6) uses itself: 'loop' uses 'loop'.",
    "part p use q as a ; end ; part q use p as b ; end ;": "uses itself: 'p' uses 'q' uses 'p'.",
    "part p gravity = [0, 0, 1] ; end ;": "<text>:12:8: gravity belongs to the whole, not to a part.",
    "part p let b = body mass = 1 end ; end ;": "body 'b' is not joined to anything.",
    "part p let b = body mass 1 end ; end ;": "<text>:12:26: expected",
    "part p part q end ; end ;": "<text>:12:8: a part is defined inside another.",
    "part p let b = body mass = 1 kg end ;": "this part is never closed.",
    "part link end ;": "part 'link' is defined twice, first at <text>:2:6.",
}  # fmt: skip


@pytest.mark.parametrize("statement", FAULTS)
def test_faults_have_their_places(statement):
    with pytest.raises(LanguageError) as refusal:
        parse(f"{LINK.rstrip()}\n\n{statement}")
    assert FAULTS[statement] in str(refusal.value), refusal.value


def test_faults_in_files_have_both_places(tmp_path):
    (tmp_path / "corner.lsd").write_text("part corner attach chassis\n  join chassis and ram with fixed end ;\nend ;\n")
    (tmp_path / "car.lsd").write_text('use corner as a attach chassis to earth\n   from "corner.lsd" ;\n')
    with pytest.raises(LanguageError) as refusal:
        load(tmp_path / "car.lsd")
    text = str(refusal.value).replace(f"{tmp_path}/", "")
    assert text == "corner.lsd:2:20: unknown body 'ram'. Bodies: chassis. Used at car.lsd:1:5."


def test_files_are_confined_and_bounded(tmp_path):
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.lsd").write_text(LINK)
    (inside / "link.lsd").symlink_to(tmp_path / "secret.lsd")
    for file in ("../secret.lsd", "link.lsd", str(tmp_path / "secret.lsd"), ""):
        with pytest.raises(LanguageError, match="must lie in the folder of the description"):
            parse(f'use link as a from "{file}" ;', directory=inside)
    for k in range(40):
        (inside / f"p{k}.lsd").write_text(f'part p{k} use p{k + 1} as next from "p{k + 1}.lsd" ; end ;')
    with pytest.raises(LanguageError, match="nested too deeply"):
        parse('use p0 as a from "p0.lsd" ;', directory=inside)
    (inside / "a.lsd").write_text('part a use b as b from "b.lsd" ; end ;')
    (inside / "b.lsd").write_text('part b use a as a from "../inside/a.lsd" ; end ;')
    with pytest.raises(LanguageError, match="part 'a' .*uses itself: 'a' uses 'b' uses 'a'"):
        parse('use a as a from "a.lsd" ;', directory=inside)


def test_files_of_files_lie_beside_them(tmp_path):
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link.lsd").write_text(LINK)
    (tmp_path / "links" / "pair.lsd").write_text(
        'part pair attach base use link as a from "link.lsd" attach base to base ; '
        "use link as b attach base to a.tip ; let tip = 0 @ b.rod ; end ;"
    )
    mechanism = parse('use pair as p from "links/pair.lsd" attach base to earth ;', directory=tmp_path)
    assert [body.name for body in mechanism.bodies] == ["p.a.rod", "p.b.rod"]
    assert parse(to_text(mechanism)) == mechanism


def test_measures_of_a_part_that_is_carried_are_refused():
    text = LINK + "use link as a at [1, 0, 0] m @ earth attach base to earth ;"
    with pytest.raises(LanguageError, match="measures positions from its own earth"):
        parse(text)
