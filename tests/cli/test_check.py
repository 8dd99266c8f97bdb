"""What `torseur check` lists of a mechanism."""

from __future__ import annotations

import json


def test_stops_are_listed(torseur, tmp_path):
    text = """let b = body mass = 1 kg end ;
        join earth and b.frame as rail with prismatic(x) along [1,0,0] stops -1 m, 2 m restitution 0.5 end ;"""
    (tmp_path / "a.lsd").write_text(text)
    said = torseur("check", str(tmp_path / "a.lsd")).stdout
    assert "rail.lower" in said and "bound 2 - x >= 0, restitution 0.5" in " ".join(said.split())
    document = json.loads(torseur("check", str(tmp_path / "a.lsd"), "--json").stdout)
    assert [name for name, _ in document["switching"]] == ["rail.lower", "rail.upper"]
