"""Models written for one test."""

from __future__ import annotations

import pytest

from torseur.description.readers import read_robot


@pytest.fixture
def read_mjcf(tmp_path):
    def reading(bodies: str, rest: str = "", compiler: str = 'angle="radian"', **options):
        path = tmp_path / "robot.xml"
        text = f"<mujoco><compiler {compiler}/>{rest}<worldbody>{bodies}</worldbody></mujoco>"
        path.write_text(text, encoding="utf-8")
        return read_robot(path, **options)

    return reading
