"""What is typed survives; the user's file is written only when the user says so."""

from __future__ import annotations

import os
import stat

import pytest

from torseur.description.library import source_of
from torseur.errors import TorseurError
from torseur.presentation.studio.session import Session


def test_a_new_session_begins_with_a_mechanism(tmp_path):
    assert Session(None, folder=tmp_path).state.text == source_of("double_pendulum")


def test_what_was_kept_is_there_after_a_crash(tmp_path):
    first = Session(None, folder=tmp_path)
    first.keep({"text": "mechanism a ;", "values": {"m": 2.0}, "revision": 4, "unknown": 1})
    again = Session(None, folder=tmp_path)
    assert again.state == first.state
    assert again.state.values == {"m": 2.0} and again.state.revision == 4


def test_each_mechanism_of_the_library_has_a_session(tmp_path):
    Session(None, "library:four_bar", tmp_path).keep({"text": "changed"})
    assert Session(None, folder=tmp_path).state.text == source_of("double_pendulum")
    again = Session(None, "library:four_bar", tmp_path)
    assert again.recovered and again.state.text == "changed"
    again.read_again()
    assert again.state.text == source_of("four_bar")


def test_a_file_is_read_and_left_alone(tmp_path):
    file = tmp_path / "arm.lsd"
    file.write_text("mechanism arm ;\n")
    session = Session(file, folder=tmp_path / "state")
    assert session.is_saved and session.state.text == "mechanism arm ;\n"
    session.keep({"text": "mechanism other ;\n"})
    assert not session.is_saved and file.read_text() == "mechanism arm ;\n"


def test_unsaved_changes_come_back_and_can_be_dropped(tmp_path):
    file = tmp_path / "arm.lsd"
    file.write_text("one")
    Session(file, folder=tmp_path / "state").keep({"text": "two"})
    again = Session(file, folder=tmp_path / "state")
    assert again.recovered and again.state.text == "two"
    again.read_again()
    assert again.state.text == "one" and file.read_text() == "one"


def test_saving_writes_the_file_and_keeps_its_mode(tmp_path):
    file = tmp_path / "arm.lsd"
    file.write_text("one")
    file.chmod(0o640)
    session = Session(file, folder=tmp_path / "state")
    session.keep({"text": "two"})
    assert session.save() == "" and file.read_text() == "two" and session.is_saved
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [one.name for one in tmp_path.iterdir() if one.name.startswith(".")] == []


def test_a_file_changed_by_somebody_else_is_not_overwritten_unasked(tmp_path):
    file = tmp_path / "arm.lsd"
    file.write_text("one")
    session = Session(file, folder=tmp_path / "state")
    session.keep({"text": "mine"})
    file.write_text("theirs")
    assert "changed by something else" in session.save()
    assert file.read_text() == "theirs"
    assert session.save(overwrite=True) == "" and file.read_text() == "mine"


def test_two_files_of_the_same_name_have_two_sessions(tmp_path):
    places = [tmp_path / folder / "arm.lsd" for folder in ("a", "b")]
    for place in places:
        place.parent.mkdir()
    sessions = [Session(place, folder=tmp_path / "state") for place in places]
    sessions[0].keep({"text": "first"})
    assert Session(places[1], folder=tmp_path / "state").state.text != "first"


@pytest.mark.parametrize("content", ["", "{", "[]", '{"text": 3}', '{"text": "a", "values": []}', "\0" * 100])
def test_a_damaged_state_is_forgotten(tmp_path, content):
    (tmp_path / "library-double_pendulum.json").write_text(content)
    assert Session(None, folder=tmp_path).state.text == source_of("double_pendulum")


@pytest.mark.skipif(os.name != "posix", reason="modes of files are POSIX")
def test_state_and_address_are_private(tmp_path):
    session = Session(None, folder=tmp_path / "state")
    session.keep({"revision": 1})
    session.keep_address(*session.last_address())
    for one in (tmp_path / "state").iterdir():
        assert stat.S_IMODE(one.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_the_address_outlives_a_crash_and_not_a_proper_end(tmp_path):
    session = Session(None, folder=tmp_path)
    token, port = session.last_address()
    assert len(token) == 32 and port == 0
    session.keep_address(token, 8461)
    crashed = Session(None, folder=tmp_path)
    assert crashed.last_address() == (token, 8461)
    crashed.leave()
    assert Session(None, folder=tmp_path).last_address()[0] != token


@pytest.mark.parametrize("content", ["", "short 8461", "a b c", "é", "x" * 32 + " port"])
def test_a_damaged_address_is_forgotten(tmp_path, content):
    session = Session(None, folder=tmp_path)
    (tmp_path / "library-double_pendulum.address").write_text(content, encoding="utf-8")
    token, port = session.last_address()
    assert token not in content and port == 0


def test_what_cannot_be_read_is_said(tmp_path):
    file = tmp_path / "arm.lsd"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(TorseurError, match="not UTF-8"):
        Session(file, folder=tmp_path / "state")
