"""Statements in every format: text, LaTeX, MathML, SymPy, OMML for word processors, and a Word document of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torseur.derivation.equations import Equations
from torseur.derivation.equations.linear_equations import LinearEquations
from torseur.errors import TorseurError, unknown_name
from torseur.presentation.levels.folding import Fold, fold_parts, require_foldable
from torseur.presentation.levels.levels import statements
from torseur.presentation.levels.statement import Statement
from torseur.presentation.levels.term_origins import PartOrigins
from torseur.presentation.typesetting import latex, mathml, omml
from torseur.presentation.typesetting.formula_tree import Node
from torseur.presentation.typesetting.markup import escape
from torseur.presentation.typesetting.plain_text import plain_text

if TYPE_CHECKING:  # half a second that only sensitivities need
    from torseur.analysis.sensitivity.model.sensitivity_equations import SensitivityEquations

_MATH = '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">'
FORMATS = ("text", "latex", "tex", "mathml", "sympy", "omml")


def write_equations(
    equations: Equations, level: str = "scalar", form: str = "text", steps: int = 0, fold: Fold | None = None
) -> str:
    """The equations of motion at a level of detail ("intrinsic", "recursive", "matrix", "scalar") in a format.

    Formats are "text", "latex" (an `align*` to paste), "tex" (a whole document), "mathml", "sympy" (a Python
    program) and "omml" (Word's own). `steps` of the
    intrinsic level (0 to 3) put the definitions of accelerations and angular velocities in. `fold` writes parts by
    names, with a table of what these stand for.
    """
    listed = statements(equations, level, steps)
    if fold is not None:
        require_foldable(level, form)
        listed = fold_parts(listed, fold, PartOrigins(equations))
    return write_statements(equations, listed, form)


def write_reduced_equations(
    equations: Equations, independent: Collection[str] = (), form: str = "text", solve: bool = False
) -> str:
    """The equations without multipliers, one per independent speed; with `solve` each solved for its acceleration."""
    from torseur.presentation.levels.forms.reduced_form import reduced_statements

    return write_statements(equations, reduced_statements(equations, independent, solve), form)


def write_linear_equations(linear: LinearEquations, level: str = "scalar", form: str = "text") -> str:
    """The equations of small motions that `linearised` gives: one per speed or, at level "matrix", M, D and K."""
    from torseur.presentation.levels.forms.simplified_statements import linear_statements

    return write_statements(linear.equations, linear_statements(linear, level), form)


def write_sensitivity_equations(
    system: SensitivityEquations,
    method: str = "direct",
    level: str = "matrix",
    form: str = "text",
    second_order: bool = False,
) -> str:
    """The direct or the adjoint system of `sensitivity_equations` at a level of detail in a format.

    "intrinsic" keeps the matrices by their letters, "matrix" adds their entries, "recursive" has these in terms of
    named intermediates, "scalar" writes one equation per speed or state. `second_order` adds the system of the second
    derivatives, or what the Hessian of the criterion needs beside the adjoints.
    """
    from torseur.presentation.levels.forms.sensitivity_form import sensitivity_statements

    if not hasattr(system, "equations"):
        raise TorseurError("write_sensitivity_equations: expected what ts.sensitivity_equations(...) gives.")
    return write_statements(system.equations, sensitivity_statements(system, method, level, second_order), form)


def write_statements(equations: Equations, listed: Sequence[Statement], form: str) -> str:
    """All statements in one format."""
    if form not in FORMATS:
        raise TorseurError(unknown_name("format", form, FORMATS))
    if form == "sympy":
        from torseur.presentation.levels.sympy_source import source

        return source(listed)
    if form in _WHOLE:
        return _WHOLE[form](listed)
    return "\n".join(_WRITERS[form](statement) for statement in listed)


def document(statement: Statement, form: str) -> dict[str, object]:
    """A statement as plain data."""
    spell = _SPELL.get(form, plain_text)
    entries = [[spell(entry) for entry in row] for row in statement.rows]
    shapes = {"scalar": lambda: entries[0][0], "vector": lambda: [row[0] for row in entries]}
    remark = statement.remark
    said = {"meaning": remark.meaning, "unit": remark.unit, "bodies": remark.bodies, "joints": remark.joints}
    content = {
        "name": statement.name,
        "left": spell(statement.left),
        "value": shapes.get(statement.shape, lambda: entries)(),
    }
    return content | {key: value for key, value in said.items() if value} | _terms(statement, spell)


def _terms(statement: Statement, spell: Callable[[Node], str]) -> dict[str, object]:
    """Each term with its origin, where that is known."""
    from torseur.presentation.levels.statement import terms_of

    if not statement.origins:
        return {}
    pairs = zip(terms_of(statement.right), statement.origins, strict=True)
    return {
        "terms": [{"term": spell(t), "origin": o.meaning, "bodies": o.bodies, "joints": o.joints} for t, o in pairs]
    }


def _text(statement: Statement) -> str:
    left = plain_text(statement.left)
    remark = f"    (* {statement.remark.text} *)" if statement.remark.text else ""
    if statement.shape == "name":
        return left + remark
    if statement.shape == "components":
        return f"{left} = [{', '.join(plain_text(row[0]) for row in statement.rows)}]{remark}"
    if statement.shape == "scalar":
        title = f"(* {statement.title} *)\n" if statement.title else ""
        return f"{title}{left} = {plain_text(statement.right)}{remark}"
    entries = [(i, j, plain_text(entry)) for i, row in enumerate(statement.rows, 1) for j, entry in enumerate(row, 1)]
    if statement.shape == "vector":
        heading = [f"(* {left}: {statement.remark.text} *)"] if statement.remark.text else []
        return "\n".join([*heading, *(f"{left}[{i}] = {text}" for i, _, text in entries)])
    triangle = statement.shape == "matrix"
    shown = [f"{left}[{i},{j}] = {text}" for i, j, text in entries if text != "0" and not (triangle and j < i)]
    how = "symmetric; " if triangle else ""
    size = f"{len(statement.rows)} x {len(statement.rows[0]) if statement.rows else 0}"
    return "\n".join([f"{left}: {size}, {how}entries not listed are 0", *shown])


def _latex(listed: Sequence[Statement]) -> str:
    """One `align*` of all statements, which LaTeX sets where it is pasted and KaTeX as a display."""
    lines = " \\\\\n".join(map(_latex_line, listed))
    return f"\\begin{{align*}}\n{lines}\n\\end{{align*}}"


def _latex_line(statement: Statement) -> str:
    left = latex.latex(statement.left)
    if statement.shape == "name":
        return rf"{left} &: \text{{{latex.words(statement.remark.text)}}}"
    if statement.shape == "scalar":
        return latex.broken_lines(left, statement.right, statement.remark.text)
    table = latex.matrix(tuple(tuple(latex.latex(entry) for entry in row) for row in statement.rows))
    said = rf" \\ & \qquad \text{{({latex.words(statement.remark.text)})}}" if statement.remark.text else ""
    return rf"{left} &= {table}{said}"


def _latex_document(listed: Sequence[Statement]) -> str:
    """A whole article that pdflatex turns into pages."""
    packages = "\\usepackage[utf8]{inputenc}\n\\usepackage{amsmath,amssymb}\n\\usepackage[margin=2cm]{geometry}"
    head = f"\\documentclass{{article}}\n{packages}\n\\allowdisplaybreaks"
    return f"{head}\n\\begin{{document}}\n{_latex(listed)}\n\\end{{document}}"


def _mathml(statement: Statement) -> str:
    if statement.shape == "name":
        said = f'<mo form="infix">:</mo><mtext>{escape(statement.remark.text)}</mtext>'
        return f"{_MATH}{mathml.mathml(statement.left)}{said}</math>"
    if statement.shape == "scalar":
        right = mathml.mathml(statement.right)
    else:
        right = mathml.matrix(tuple(tuple(mathml.mathml(entry) for entry in row) for row in statement.rows))
    body = mathml.mathml(statement.left) + mathml.operator("=") + right
    return f"{_MATH}{body}{mathml.remark(statement.remark.text)}</math>"


def omml_of(statement: Statement) -> str:
    """The statement as one OMML paragraph."""
    said = omml.text(f"    {statement.remark.text}") if statement.remark.text else ""
    if statement.shape == "name":
        return omml.paragraph(omml.omml(statement.left) + said)
    if statement.shape == "scalar":
        right = omml.omml(statement.right)
    else:
        right = omml.matrix(tuple(tuple(omml.omml(entry) for entry in row) for row in statement.rows))
    return omml.paragraph(omml.omml(statement.left) + omml.text("=") + right + said)


_WRITERS: dict[str, Callable[[Statement], str]] = {"text": _text, "mathml": _mathml, "omml": omml_of}
_WHOLE: dict[str, Callable[[Sequence[Statement]], str]] = {"latex": _latex, "tex": _latex_document}
_SPELL: dict[str, Callable[[Node], str]] = {
    "latex": latex.latex, "tex": latex.latex, "mathml": mathml.mathml, "omml": omml.omml,
}  # fmt: skip


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same equations give the same file

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
    """Writes a Word document (.docx): the statements as native, editable formulas below a title."""
    body = [_paragraph(title, bold=True)]
    for statement in listed:
        if statement.title:
            body.append(_paragraph(statement.title))
        body.append(f"<w:p>{omml_of(statement)}</w:p>")
    whole = f'{_HEAD}<w:document xmlns:w="{_WORD}"><w:body>{"".join(body)}</w:body></w:document>'
    import zipfile

    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in (
            ("[Content_Types].xml", _TYPES),
            ("_rels/.rels", _RELATIONS),
            ("word/document.xml", whole),
        ):
            file.writestr(zipfile.ZipInfo(name, _EPOCH), content.encode("utf-8"), zipfile.ZIP_DEFLATED)


def _paragraph(content: str, bold: bool = False) -> str:
    return f"<w:p>{_run(content, bold)}</w:p>"


def _run(content: str, bold: bool = False) -> str:
    if not content:
        return ""
    properties = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(content)}</w:t></w:r>'
