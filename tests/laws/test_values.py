"""Vectors, motions and inertias are values: frozen, equal by their parts, and they travel."""

import pickle
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from torseur.algebra.spatial import (
    NULL,
    SAME,
    Force,
    Inertia,
    Matrix3,
    Motion,
    Rotation,
    Symmetric3,
    Transform,
    Vec3,
    about,
)

VALUES = [
    Vec3(1, 2, 3),
    Symmetric3(1, 2, 3, 4, 5, 6),
    Matrix3((Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))),
    Motion(Vec3(1, 2, 3), NULL),
    Force(NULL, Vec3(1, 2, 3)),
    Inertia(2, Vec3(1, 2, 3), Symmetric3(1, 1, 1, 0, 0, 0)),
    Transform(Rotation(), Vec3(1, 2, 3)),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_values(value):
    name = fields(value)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, None)
    assert pickle.loads(pickle.dumps(value)) == value == replace(value)
    assert replace(value, **{name: other_part(getattr(value, name))}) != value
    assert hash(replace(value)) == hash(value)


def other_part(part):
    return {Vec3: Vec3(7, 8, 9), Rotation: about(Vec3(0, 0, 1), 0.5)}.get(type(part))


def test_parts_have_names_and_defaults():
    assert Vec3(z=3, x=1, y=2) == Vec3(1, 2, 3)
    assert Rotation() == SAME.rotation
    with pytest.raises(TypeError):
        Vec3(1, 2)
