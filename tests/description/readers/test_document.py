"""XML that a hostile or careless file may hold."""

from __future__ import annotations

import pytest

from torseur.description.readers import RobotFileError, read_robot
from torseur.description.readers.xml_document import DEEPEST, LARGEST_FILE, MOST_ELEMENTS, parse_document

ROBOT = '<robot name="r"><link name="a"/></robot>'


def refused(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(RobotFileError) as caught:
        parse_document(data, "robot.urdf")
    return str(caught.value)


def test_lines_are_kept():
    root = parse_document(b"<robot>\n  <link/>\n\n  <joint/>\n</robot>", "robot.urdf")
    assert [child.line for child in root.children] == [2, 4]
    assert root.children[1].where == "robot.urdf:4"


@pytest.mark.parametrize("prefix", ["", "\n  \n", "\ufeff", '<?xml version="1.0"?>', ' \n<?xml version="1.0"?>'])
def test_what_may_stand_before_the_root(prefix):
    assert parse_document((prefix + ROBOT).encode(), "f").tag == "robot"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><robot name="hé"/>'
    assert parse_document(text.encode(encoding), "f").text("name") == "hé"


DANGEROUS = {
    "entity": '<!DOCTYPE r [<!ENTITY a "b">]><robot name="&a;"/>',
    "billion laughs": '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><robot>&b;</robot>',
    "external entity": '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="&a;"/>',
    "external type": '<!DOCTYPE r SYSTEM "http://localhost/r.dtd"><robot/>',
    "parameter entity": '<!DOCTYPE r [<!ENTITY % a SYSTEM "http://localhost/a"> %a;]><robot/>',
}


@pytest.mark.parametrize("case", DANGEROUS)
def test_document_types_are_refused(case):
    assert "document type" in refused(DANGEROUS[case])


def test_undefined_entities_are_refused():
    assert "undefined entity" in refused('<robot name="&secret;"/>')


def test_depth_is_bounded():
    assert "nested deeper" in refused("<a>" * (DEEPEST + 1) + "</a>" * (DEEPEST + 1))
    parse_document(("<a>" * DEEPEST + "</a>" * DEEPEST).encode(), "f")


def test_number_of_elements_is_bounded(monkeypatch):
    assert MOST_ELEMENTS <= 1_000_000
    monkeypatch.setattr("torseur.description.readers.xml_document.MOST_ELEMENTS", 1000)
    assert "more than 1000" in refused("<a>" + "<b/>" * 1000 + "</a>")


def test_size_is_bounded(tmp_path):
    path = tmp_path / "large.urdf"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with pytest.raises(RobotFileError, match="the limit is"):
        read_robot(path)


@pytest.mark.parametrize(
    ("text", "place"),
    [("<robot>\n<link></robot>", "robot.urdf:2:"), ("", "robot.urdf:1:"), ("hello", "robot.urdf:1:1:")],
)
def test_malformed_text_is_located(text, place):
    assert refused(text).startswith(place)


def test_unknown_encoding_is_named():
    assert "encoding" in refused('<?xml version="1.0" encoding="klingon"?><robot/>')


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("scene.xml", "<scene/>", "expected <robot>"),
        ("no.urdf", None, "cannot be read"),
        ("\0.urdf", None, "cannot be"),
    ],
)
def test_other_files(tmp_path, name, content, reason):
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(RobotFileError, match=reason):
        read_robot(path)


def test_a_summary_leaves_nothing_out():
    """Findings with one reason share a line, and every one of them is still named in it."""
    from pathlib import Path

    from torseur.description.readers import summary

    for sample in ("everything.urdf", "everything.xml"):
        findings = read_robot(Path(__file__).parent / "samples" / sample).findings
        lines = summary(findings)
        assert len(lines) <= len(findings)
        for finding in findings:
            what, _, reason = finding.message.partition(": ")
            assert any(
                what.rstrip(".") in line and reason.rstrip(".") in line and finding.kind in line for line in lines
            )
