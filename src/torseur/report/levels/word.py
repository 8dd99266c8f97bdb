"""A Word document (.docx) with the equations as native, editable formulas."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

from torseur.report.levels.statement import Statement
from torseur.report.levels.writing import omml_of
from torseur.report.markup import escape

_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MOMENT = (1980, 1, 1, 0, 0, 0)  # the same equations give the same file

_TYPES = (
    f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    '<Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
    f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>'
)


def write_word(path: Path, title: str, listed: Sequence[Statement]) -> None:
    """Writes the statements below a title."""
    body = [_paragraph(title, bold=True)]
    for statement in listed:
        if statement.title:
            body.append(_paragraph(statement.title))
        body.append(f"<w:p>{omml_of(statement)}{_run(statement.remark.text)}</w:p>")
    whole = f'{_HEAD}<w:document xmlns:w="{_WORD}"><w:body>{"".join(body)}</w:body></w:document>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in (
            ("[Content_Types].xml", _TYPES),
            ("_rels/.rels", _RELATIONS),
            ("word/document.xml", whole),
        ):
            file.writestr(zipfile.ZipInfo(name, _MOMENT), content.encode("utf-8"), zipfile.ZIP_DEFLATED)


def _paragraph(content: str, bold: bool = False) -> str:
    return f"<w:p>{_run(content, bold)}</w:p>"


def _run(content: str, bold: bool = False) -> str:
    if not content:
        return ""
    properties = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(content)}</w:t></w:r>'
