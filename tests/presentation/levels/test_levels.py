"""The four levels in every format. Oracles: the graph evaluated, SymPy running the text, the XML parser."""

from __future__ import annotations

import random
import zipfile
from fractions import Fraction
from xml.etree import ElementTree

import pytest
import sympy

import torseur as ts
from torseur.algebra.graph import evaluate, symbols_of
from torseur.description import library
from torseur.errors import TorseurError, UnsupportedError
from torseur.presentation.levels.levels import LEVELS, statements
from torseur.presentation.levels.write_equations import FORMATS, document, write_equations, write_statements, write_word
from torseur.presentation.typesetting import latex, mathml, omml
from torseur.presentation.typesetting.formula_tree import Call, Infix, Name, Number, Power, Product, Sum
from torseur.presentation.typesetting.plain_text import plain_text
from torseur.presentation.typesetting.read_graph import read_name

MATH = "{http://www.w3.org/1998/Math/MathML}"
OFFICE = f"{{{omml.NAMESPACE}}}"


def derived(name="double_pendulum", formalism="recursive"):
    return ts.derive(library.load(name), formalism)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["double_pendulum", "slider_crank", "spinning_top"])
def test_every_level_has_every_format(name, level, form):
    text = write_equations(derived(name), level, form)
    assert text.strip()
    if form in ("mathml", "omml"):
        tag = f"{MATH}math" if form == "mathml" else f"{OFFICE}oMathPara"
        assert {ElementTree.fromstring(line).tag for line in text.splitlines()} == {tag}


def numbers(equations):
    chance = random.Random(1)
    return {str(x.name): chance.uniform(0.3, 1.4) for x in symbols_of(equations.residual)}


def test_recursive_level_in_sympy_gives_the_equations_of_motion():
    """Oracle: the residual by another formalism."""
    equations = derived()
    defined: dict = {}
    exec(write_equations(equations, "recursive", "sympy"), defined)
    given = numbers(equations)
    expected = evaluate(
        derived(formalism="lagrange").residual, {x: given[str(x.name)] for x in symbols_of(equations.residual)}
    )
    found = [defined[f"tau_q{k}"] for k in (1, 2)]
    assert [float(e.subs({s: given[s.name] for s in e.free_symbols})) for e in found] == pytest.approx(expected)


def test_intrinsic_level_in_sympy_is_the_algebra_itself():
    """The text builds the expressions: substituting the definitions leaves no acceleration unexplained."""
    defined: dict = {}
    exec(write_equations(derived(), "intrinsic", "sympy"), defined)
    forces, inertia = defined["balances"]["Forces on what shoulder carries"]
    for _ in range(5):
        inertia = inertia.xreplace(defined["definitions"])
    assert not [x for x in inertia.find(lambda e: hasattr(e, "properties")) if str(x).startswith(("a(", "omega"))]
    assert "R_shoulder" in str(forces)


@pytest.mark.parametrize("steps", range(4))
def test_steps_put_definitions_in(steps):
    listed = statements(derived(), "intrinsic", steps)
    shown = plain_text(listed[0].right)
    assert ("a(G_blade)" in shown) == (steps < 1)
    assert ("a(O_blade)" in shown) == (steps == 1)
    assert ("omega_blade" in shown) == (0 < steps < 3)


def test_terms_of_the_intrinsic_level_know_their_bodies():
    first = document(statements(derived(), "intrinsic")[0], "text")
    assert [term["bodies"] for term in first["terms"]] == [("arm",), ("blade",)]
    assert first["terms"][1]["origin"] == "Inertia of blade"


def test_recursive_intermediates_have_meaning_unit_and_owner():
    remarks = {s.name: s.remark for s in statements(derived(), "recursive")}
    assert remarks["w_blade_x"].meaning == "angular velocity of blade, x axis"
    assert (remarks["w_blade_x"].unit, remarks["w_blade_x"].joints) == ("rad/s", ("elbow",))
    assert (remarks["e_1"].unit, remarks["e_1"].joints) == ("kg*m/s^2", ("shoulder", "elbow"))
    assert all(remark.meaning for remark in remarks.values())


def test_units_are_not_guessed_where_numbers_stand_for_quantities():
    units = {s.remark.unit for s in statements(derived("puma560"), "recursive") if s.name.startswith("e_")}
    assert units == {""}


MINUS = Product((Number(Fraction(-1)), Sum((Name("a"), Name("b")))))


def test_a_minus_before_a_sum_keeps_its_brackets():
    assert plain_text(MINUS) == "-(a + b)"
    assert latex.latex(MINUS) == r"-\left(a + b\right)"
    for markup, brackets in ((mathml.mathml(MINUS), "<mo>(</mo>"), (omml.omml(MINUS), 'm:begChr m:val="("')):
        assert brackets in markup


def test_omml_shapes():
    """Oracle: the element names of the Office Math schema."""
    half = Product((Name("m"), Power(Number(Fraction(2)), Number(Fraction(-1)))))
    shapes = {
        "f": half,
        "sSup": Power(Name("x"), Number(Fraction(2))),
        "sSub": Name("q1"),
        "acc": Name("q", 2),
        "rad": Call("sqrt", (Name("x"),)),
        "func": Call("sin", (Name("x"),)),
        "d": Product((Name("m"), Infix("×", Name("a", bold=True), Name("b", bold=True)))),
    }
    for tag, node in shapes.items():
        root = ElementTree.fromstring(omml.paragraph(omml.omml(node)))
        assert root.find(f".//{OFFICE}{tag}") is not None, tag


def test_word_document(tmp_path):
    """The parts that every .docx has, well formed, with one formula per statement."""
    listed = statements(derived(), "matrix")
    write_word(tmp_path / "a.docx", 'Orthogonal "double" pendulum & more', listed)
    with zipfile.ZipFile(tmp_path / "a.docx") as file:
        assert set(file.namelist()) == {"[Content_Types].xml", "_rels/.rels", "word/document.xml"}
        roots = [ElementTree.fromstring(file.read(name)) for name in file.namelist()]
    assert len(roots[2].findall(f".//{OFFICE}oMathPara")) == len(listed)
    assert 'Orthogonal "double" pendulum & more' in "".join(roots[2].itertext())


def test_mistakes_are_named():
    with pytest.raises(TorseurError, match="Did you mean 'intrinsic'"):
        statements(derived(), "intrinsik")
    with pytest.raises(TorseurError, match="unknown format 'pdf'"):
        write_statements(derived(), [], "pdf")
    with pytest.raises(UnsupportedError, match="0 to 3 steps"):
        statements(derived(), "intrinsic", 7)


@pytest.mark.slow
def test_a_level_nobody_could_read_is_refused_with_its_size():
    with pytest.raises(UnsupportedError, match=r"has \d+ symbols after 3 steps"):
        statements(derived("quadruped"), "intrinsic", 3)


def test_explicit_components_of_the_normal_form_are_sympy():
    from torseur.algebra.intrinsic import Cross, normal_form, vector
    from torseur.presentation.typesetting.read_sympy import read_intrinsic

    a, b = vector("a"), vector("b")
    assert plain_text(read_intrinsic(normal_form(Cross(a, Cross(a, b))))) == "-(a · a)*b + (a · b)*a"
    assert isinstance(Cross(a, b).as_explicit(), sympy.MatrixBase)


def test_a_term_that_is_a_sum_keeps_its_origin():
    """I ω' + ω x I ω of one body are two terms with one origin."""
    first = document(statements(derived("spinning_top"), "intrinsic")[1], "text")
    spins = [term for term in first["terms"] if term["origin"].startswith("Spin of")]
    assert len(spins) == 2 and spins[0]["bodies"] == spins[1]["bodies"]


def test_recursive_level_with_a_loop_gives_the_equations_of_motion():
    """Oracle: the residual of the equations, multipliers included; beyond the constraint forces nothing is needed."""
    equations = derived("slider_crank").in_axes_to_read
    given = numbers(equations)
    defined: dict = {}
    exec(write_equations(equations, "recursive", "sympy"), defined)
    spelled = {plain_text(read_name(name)): value for name, value in given.items()}
    expected = evaluate(equations.residual, {x: given[str(x.name)] for x in symbols_of(equations.residual)})
    for name, value in zip(equations.layout.speed_names, expected, strict=True):
        formula = defined[f"tau_{name.rstrip(chr(39))}"].replace(sympy.Function("motor"), defined["formula_motor"])
        assert float(formula.subs({s: spelled[s.name] for s in formula.free_symbols})) == pytest.approx(value)
