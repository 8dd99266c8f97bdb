"""Human36 as a description: its parameters, segments, joints and markers in LSD, for the proportions of any table."""

from __future__ import annotations

from collections.abc import Iterator

from torseur.analysis.biomechanics.person_model.anthropometry import CENTRAL, LIMBS, Anthropometry, Proportions

# Markers: four on each long segment, so that every segment's rotation follows from its own. Labels on the right begin
# with R, on the left with L. Distances are parts of the segment's length, or of stature across it: a model set, to be
# replaced by the places that a standing trial of the person gives.
# label: segment, forward, up, right; "L" stands for the segment's length, "H" for stature.
_MIDDLE = {
    "C7": ("trunk", "-0.045*H", "L", "0"),
    "T10": ("trunk", "-0.065*H", "0.42*L", "0"),
    "CLAV": ("trunk", "0.045*H", "0.84*L", "0"),
    "STRN": ("trunk", "0.068*H", "0.48*L", "0"),
}
_PAIRS = {
    "FHD": ("head", "0.055*H", "0.72*L", "0.042*H"),
    "BHD": ("head", "-0.05*H", "0.72*L", "0.042*H"),
    "SHO": ("trunk", "0", "0.92*L", "0.105*H"),
    "ASI": ("pelvis", "0.055*H", "0.62*L", "0.07*H"),
    "PSI": ("pelvis", "-0.062*H", "0.68*L", "0.028*H"),
    "UPA": ("upper_arm", "0.02*H", "-0.35*L", "0.02*H"),
    "UPB": ("upper_arm", "-0.028*H", "-0.6*L", "0.01*H"),
    "ELB": ("upper_arm", "0", "-0.98*L", "0.024*H"),
    "ELM": ("upper_arm", "0", "-0.98*L", "-0.024*H"),
    "FRA": ("forearm", "0.022*H", "-0.4*L", "0.012*H"),
    "FRB": ("forearm", "-0.02*H", "-0.55*L", "0.01*H"),
    "WRA": ("forearm", "0", "-0.98*L", "0.018*H"),
    "WRB": ("forearm", "0", "-0.98*L", "-0.018*H"),
    "FIN": ("hand", "-0.01*H", "-0.5*L", "0"),
    "HNA": ("hand", "-0.008*H", "-0.4*L", "0.02*H"),
    "HNB": ("hand", "-0.008*H", "-0.4*L", "-0.02*H"),
    "THI": ("thigh", "0.03*H", "-0.45*L", "0.035*H"),
    "THB": ("thigh", "-0.03*H", "-0.65*L", "0.03*H"),
    "KNE": ("thigh", "0", "-0.99*L", "0.032*H"),
    "KNM": ("thigh", "0", "-0.99*L", "-0.032*H"),
    "TIB": ("shank", "0.025*H", "-0.4*L", "0.022*H"),
    "TBB": ("shank", "-0.028*H", "-0.6*L", "0.02*H"),
    "ANK": ("shank", "0", "-0.99*L", "0.022*H"),
    "ANM": ("shank", "0", "-0.99*L", "-0.022*H"),
    "HEE": ("foot", "-0.25*L", "-0.02*H", "0"),
    "TOE": ("foot", "0.5*L", "-0.018*H", "0"),
    "MT5": ("foot", "0.38*L", "-0.03*H", "0.026*H"),
    "MT1": ("foot", "0.42*L", "-0.026*H", "-0.024*H"),
}
_CENTRAL = ("head", "trunk", "pelvis")


def marker_lines() -> Iterator[str]:
    """Named frames of the mechanism, one a line."""
    for label, (segment, *place) in _MIDDLE.items():
        yield _line(label, segment, place)
    for side, sign in (("r", ""), ("l", "-")):
        for label, (segment, x, y, z) in _PAIRS.items():
            name = segment if segment in _CENTRAL else f"{side}_{segment}"
            yield _line(side.upper() + label, name, [x, y, z if z == "0" else _with_sign(sign, z)])


def _with_sign(sign: str, text: str) -> str:
    return text.removeprefix("-") if sign and text.startswith("-") else sign + text


def _line(label: str, segment: str, place: list[str]) -> str:
    spelled = ", ".join(part.replace("L", f"{segment}_length").replace("H", "height") for part in place)
    return f"let {label} = [{spelled}] ++ 1 @ {segment} ;"


LINK = "lumbar_spine"
# Over stature: Drillis and Contini's heights of the ankle and the shoulder and half their breadth of the shoulders;
# half a typical distance of the hip joints.
ANKLE_HEIGHT, SHOULDER_HEIGHT, SHOULDER_HALF, HIP_HALF = 0.039, 0.818, 0.1295, 0.05
HEEL = 0.25  # the ankle's distance from the heel, over the foot's length

_HEAD = """\
mechanism human36 "person of fifteen segments, thirty-six degrees of freedom" ;

(* Proportions: {title}.
   Axes: x forward, y up, z right. Every segment's frame stands at its proximal joint and, in the neutral posture
   (upright, arms hanging, palms forward), along the laboratory's axes. The spine bends in one joint and turns in
   another, with a massless link between them. Angles are positive for flexion, adduction, internal rotation, pronation
   and inversion on both sides; in the spine for extension, bending to the right and turning to the left. Every length,
   mass and radius may be changed alone; the spine is as long as stature leaves it. *)
param g = 9.81 m/s^2 "gravity", height = 1.74 m "stature", mass = 63 kg "mass of the body" ;
param ankle_height = {ankle:g} * height "height of the ankles above the floor",
      hip_half_width = {hip:g} * height "half the distance of the hip joints",
      shoulder_half_width = {half:g} * height "half the distance of the shoulder joints",
      shoulder_height = {shoulder:g} * height "height of the shoulder joints above the floor",
      hip_height = ankle_height + r_shank_length + r_thigh_length "height of the hips above the floor",
      spine_length = height - head_length - hip_height "from the hips to the seventh cervical vertebra" ;
gravity = [0, -g, 0] ;
"""

_SPINE = """
let lumbar_spine = body mass = 0 kg, centre = [0, 0, 0], inertia = 0 end "massless link of the spine" ;
join earth and pelvis.frame as root
    with link(pelvis_x, pelvis_y, pelvis_z, pelvis_tilt, pelvis_list, pelvis_rotation)
    dof1 = [pelvis_x, pelvis_y, pelvis_z], dof2 = pelvis_tilt || [0, 0, 1], dof3 = pelvis_list || [1, 0, 0],
    dof4 = pelvis_rotation || [0, 1, 0] end ;
join [0, pelvis_length, 0] ++ 1 @ pelvis and lumbar_spine.frame as lumbar
    with universal(lumbar_extension, lumbar_bending) about [0, 0, 1] then [1, 0, 0] end ;
join lumbar_spine.frame and trunk.frame as thoracic with revolute(thoracic_rotation) about [0, 1, 0] end ;
join [0, trunk_length, 0] ++ 1 @ trunk and head.frame as neck
    with spherical(neck_extension, neck_bending, neck_rotation) angles zxy end ;
"""

_LIMBS = """
join [0, shoulder_height - hip_height - pelvis_length, {s}shoulder_half_width] ++ 1 @ trunk and {k}_upper_arm.frame
    as {k}_shoulder with {ball} ;
join [0, -{k}_upper_arm_length, 0] ++ 1 @ {k}_upper_arm and {k}_forearm.frame as {k}_elbow
    with universal({k}_elbow_flexion, {k}_elbow_pronation) about [0, 0, 1] then [0, {i}, 0] end ;
join [0, -{k}_forearm_length, 0] ++ 1 @ {k}_forearm and {k}_hand.frame as {k}_wrist
    with revolute({k}_wrist_flexion) about [0, 0, 1] end ;
join [0, 0, {s}hip_half_width] ++ 1 @ pelvis and {k}_thigh.frame as {k}_hip with {hip} ;
join [0, -{k}_thigh_length, 0] ++ 1 @ {k}_thigh and {k}_shank.frame as {k}_knee
    with revolute({k}_knee_flexion) about [0, 0, -1] end ;
join [0, -{k}_shank_length, 0] ++ 1 @ {k}_shank and {k}_foot.frame as {k}_ankle
    with universal({k}_ankle_flexion, {k}_ankle_inversion) about [0, 0, 1] then [{i}, 0, 0] end ;
"""


def human36_text(table: Anthropometry) -> str:
    """The model with the proportions of a table."""
    parts = [
        _HEAD.format(title=table.title, ankle=ANKLE_HEIGHT, hip=HIP_HALF, half=SHOULDER_HALF, shoulder=SHOULDER_HEIGHT),
        "\n".join(_segment(name, name, table) for name in CENTRAL),
        _SPINE,
        *(_side(side, table) for side in "rl"),
        "\n(* markers *)\n" + "\n".join(marker_lines()),
        "\ninit pelvis_y = hip_height ;\n",
    ]
    return "\n".join(part.rstrip("\n") for part in parts) + "\n"


def _side(side: str, table: Anthropometry) -> str:
    title = {"r": "right", "l": "left"}[side]
    segments = "\n".join(_segment(f"{side}_{limb}", f"{title} {limb.replace('_', ' ')}", table) for limb in LIMBS)
    sign = {"r": "", "l": "-"}[side]
    inward = {"r": "1", "l": "-1"}[side]
    balls = {part: _ball(f"{side}_{part}", side) for part in ("shoulder", "hip")}
    joints = _LIMBS.format(k=side, s=sign, i=inward, ball=balls["shoulder"], hip=balls["hip"])
    return f"\n(* {title} limbs *)\n{segments}\n{joints}"


def _ball(name: str, side: str) -> str:
    """Flexion, adduction and rotation one after the other; on the left the last two the other way round."""
    angles = f"{name}_flexion, {name}_adduction, {name}_rotation"
    if side == "r":
        return f"spherical({angles}) angles zxy end"
    steps = [f"{name}_flexion || [0, 0, 1]", f"{name}_adduction || [-1, 0, 0]", f"{name}_rotation || [0, -1, 0]"]
    dofs = ",\n        ".join(f"dof{k + 1} = {step}" for k, step in enumerate(steps))
    return f"link({angles})\n        {dofs} end"


def _segment(name: str, title: str, table: Anthropometry) -> str:
    """The parameters of a segment and its body."""
    p = table[name.removeprefix("r_").removeprefix("l_")]
    rows = [
        f'{name}_mass = {p.mass:.6g} * mass "mass of the {title}"',
        f'{name}_length = {_length(name, p, table)} "length of the {title}"',
        f'{name}_centre = {_centre(name, p):.6g} * {name}_length "mass centre of the {title} from its joint"',
        *_radii(name, title, p),
    ]
    text = "param " + ",\n      ".join(rows) + " ;\n"
    moments = ",\n                   ".join(f"{name}_mass*{name}_r{axis}^2" for axis in "xyz")
    return text + (
        f'let {name} = body mass = {name}_mass, centre = {_place(name)},\n    inertia = diag({moments}) end "{title}" ;'
    )


def _length(name: str, p: Proportions, table: Anthropometry) -> str:
    if name in ("trunk", "pelvis"):
        # The spine is what stature leaves between hips and head: tables measure trunk and pelvis between other
        # landmarks.
        share = p.length / (table["trunk"].length + table["pelvis"].length)
        return f"{share:.6g} * spine_length"
    return f"{p.length:.6g} * height"


def _centre(name: str, p: Proportions) -> float:
    """From the proximal joint: head, trunk and pelvis are tabulated from above, the foot from the heel."""
    if name in CENTRAL:
        return 1 - p.centre
    return p.centre - HEEL if name.endswith("foot") else p.centre


def _place(name: str) -> str:
    if name in CENTRAL:
        return f"[0, {name}_centre, 0]"
    return f"[{name}_centre, -ankle_height/2, 0]" if name.endswith("foot") else f"[0, -{name}_centre, 0]"


def _radii(name: str, title: str, p: Proportions) -> Iterator[str]:
    """Radii of gyration about x, y and z; a foot lies along x, everything else along y.

    Those of the spine are of the table's own length: a shorter spine bends, its mass is where it was.
    """
    foot = name.endswith("foot")
    values = (p.longitudinal, p.sagittal, p.transverse) if foot else (p.sagittal, p.longitudinal, p.transverse)
    for axis, radius in zip("xyz", values, strict=True):
        size = f"{radius * p.length:.6g} * height" if name in ("trunk", "pelvis") else f"{radius:.6g} * {name}_length"
        yield f'{name}_r{axis} = {size} "radius of gyration of the {title} about {axis}"'
