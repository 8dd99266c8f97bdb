"""What it means for the mechanism that a part of a model is not modelled."""

_CONTACT = "contact is not modelled"
_SOLVER = "a setting of MuJoCo's solver; constraints are exact here"
_MISSING = "these parts of the model are missing here"
_PICTURE = "pictures are drawn without it"

BODIES_MISSING = ("deformable", "flexcomp", "composite")
"""Elements that stand for bodies: without them degrees of freedom are lost."""

MEANINGS = {
    "contact": _CONTACT,
    "sensor": "sensors are not part of the motion",
    "visual": _PICTURE,
    "statistic": _PICTURE,
    "camera": _PICTURE,
    "light": _PICTURE,
    "texture": _PICTURE,
    "skin": _PICTURE,
    "hfield": _PICTURE,
    "size": "a setting of memory",
    "custom": "data for other programs",
    "keyframe": "a state to start from; choose one with keyframe=...",
    "key": "another state to start from",
    "extension": "plugins are not run",
    "plugin": "plugins are not run",
    "deformable": _MISSING,
    "flexcomp": _MISSING,
    "composite": _MISSING,
    "flag": "a switch of MuJoCo",
    "lengthrange": "a setting of muscles",
    "joint springyield": "springs stay elastic",
    "joint actuatorgravcomp": "gravity is compensated, but not counted as an actuator's force",
    "material *": _PICTURE,
    "site *": _PICTURE,
    "mesh *": _PICTURE,
    "geom hfield": _PICTURE,
    "compiler texturedir": _PICTURE,
    "joint group": _PICTURE,
    "tendon limited": "limits of tendons",
    "tendon range": "limits of tendons",
    "spatial range": "limits of tendons",
    "fixed range": "limits of tendons",
    "option density": "there is no fluid",
    "option viscosity": "there is no fluid",
    "option wind": "there is no fluid",
    "tendon armature": "the inertia of a tendon",
    "spatial armature": "the inertia of a tendon",
}
MEANINGS |= {f"geom {name}": _CONTACT for name in (
    "friction", "condim", "contype", "conaffinity", "priority", "solmix", "solref", "solimp", "margin", "gap",
    "adhesion", "surfacevel")}  # fmt: skip
MEANINGS |= {
    f"joint {name}": _SOLVER for name in ("solreflimit", "solimplimit", "solreffriction", "solimpfriction", "margin")
}
MEANINGS |= {
    f"{tag} {name}": _SOLVER
    for tag in ("connect", "weld", "joint", "tendon", "equality")
    for name in ("solref", "solimp")
}
MEANINGS |= {f"option {name}": "a setting of MuJoCo's solver" for name in (
    "timestep", "integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "ls_iterations",
    "noslip_iterations",     "impratio", "apirate", "o_solref", "o_solimp", "o_margin", "magnetic")}  # fmt: skip
