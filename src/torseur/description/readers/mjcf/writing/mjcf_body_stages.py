"""The bodies of an MJCF file: several joints in one body where a mechanism has bodies without mass between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torseur.algebra.spatial import NULL, SAME, Transform, Vec3
from torseur.description.readers.shapes.shape_inertia import central
from torseur.description.readers.writing.file_outline import Limb, Outline
from torseur.description.readers.writing.numeric_values import Values
from torseur.description.readers.writing.simple_joints import Motion, Offset, Step, merge_offsets, steps_of
from torseur.errors import UnsupportedError


@dataclass(frozen=True)
class Hinge:
    """A joint of a body in MJCF: a motion about or along an axis through a point, both in the body's frame."""

    motion: Motion
    axis: Vec3
    point: Vec3


@dataclass(frozen=True)
class Stage:
    """A body of the file, the body that carries it, and the steps between their frames."""

    body: str
    parent: str
    steps: tuple[Step, ...]

    @property
    def place(self) -> Transform:
        """The body's frame in its parent's with all coordinates at zero."""
        place = SAME
        for step in self.steps:
            place = place.then(step.place) if isinstance(step, Offset) else place
        return place

    @property
    def motions(self) -> list[Motion]:
        return [step for step in self.steps if isinstance(step, Motion)]

    @property
    def is_free(self) -> bool:
        """Whether the body moves as by a free joint of MuJoCo: its own frame by x, y, z and a quaternion."""
        kinds = [(step.kind, tuple(step.axis)) for step in self.steps if isinstance(step, Motion)]
        slides = [("slide", (1, 0, 0)), ("slide", (0, 1, 0)), ("slide", (0, 0, 1))]
        return len(kinds) == len(self.steps) and kinds[:3] == slides and [kind for kind, _ in kinds[3:]] == ["ball"]

    def hinges(self) -> Iterator[Hinge]:
        """The motions in order, seen from the body's frame with all coordinates at zero."""
        before, whole = SAME, self.place
        for step in self.steps:
            if isinstance(step, Offset):
                before = before.then(step.place)
                continue
            body = before.inverse.then(whole)
            yield Hinge(step, body.rotation.to_child(step.axis), body.inverse.point_to_parent(NULL))


def stages_of(tree: Outline, referenced: set[str], values: Values) -> list[Stage]:
    """The bodies of the file, parents first; bodies without mass that only join others become further joints."""
    stages: list[Stage] = []
    pending: dict[str, tuple[str, tuple[Step, ...]]] = {}
    for limb in tree.limbs:
        parent, before = pending.pop(limb.parent, (limb.parent, ()))
        steps = tuple(merge_offsets([*before, *steps_of(limb, values)]))
        if _only_joins(limb, tree, referenced, values):
            pending[limb.body] = (parent, steps)
            continue
        stage = Stage(limb.body, parent, steps)
        _require_mass(stage, tree, values)
        stages.append(stage)
    return stages


def _mass(body: str, values: Values) -> float:
    inertia = values.inertia(values.mechanism.body(body))
    return float(inertia.mass) + sum(abs(float(entry)) for entry in central(inertia)[3])


def _only_joins(limb: Limb, tree: Outline, referenced: set[str], values: Values) -> bool:
    carried = tree.on(limb.body)
    if len(carried) != 1 or limb.body in referenced or _mass(limb.body, values) > 0.0:
        return False
    own, next_ = (
        [step.kind for step in steps_of(one, values) if isinstance(step, Motion)] for one in (limb, carried[0])
    )
    kinds = [*own, *next_]
    return bool(own and next_) and not ("ball" in kinds and ("hinge" in kinds or kinds.count("ball") > 1))


def _require_mass(stage: Stage, tree: Outline, values: Values) -> None:
    """MuJoCo refuses a moving body without mass."""
    rigid, total = [stage.body], 0.0
    while rigid:
        body = rigid.pop()
        total += _mass(body, values)
        rigid += [limb.body for limb in tree.on(body) if not limb.joint.motions]
    if stage.motions and total == 0.0:
        raise UnsupportedError(
            f"body '{stage.body}' moves and has no mass, which MuJoCo does not accept. Give it some."
        )
