"""A hostile text can at most be refused: size, nesting and work are bounded, and nothing outside its folder is read."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from counting import calls_of
from torseur.description.language import diagnose

HOSTILE = {
    "brackets": "param x = " + "(" * 10_000 + "1" + ")" * 10_000 + " ;",
    "square brackets": "param x = " + "[" * 10_000,
    "signs": "param x = " + "-" * 100_000 + "1 ;",
    "powers": "param x = " + "2^" * 10_000 + "1 ;",
    "functions": "param x = " + "sin(" * 5_000 + "1" + ")" * 5_000 + " ;",
    "comments": "(*" * 100_000,
    "long sum": "param x = " + "1 + " * 60_000 + "1 ;",
    "long product": "param x = " + "?a * " * 20_000 + "1 ;",
    "exponents": "param x = 9^9^9^9^9^9 ;",
    "hidden exponents": "param x = 9^9^90 ; param k ; param y = k^(2^60) ; param z = 2^-(2^80) ; param u = (1/3)^(7^70) ;",
    "towers": "param x = ((((((10^60)^60)^60)^60)^60)^60)^60 ;",
    "squares by name": "".join(f"let a{i + 1} = a{i}*a{i} ; " for i in range(200)) + "let a0 = 7 ; param x = a200 ;",
    "squares of a symbol": "param k ; let a0 = 7*k ; "
    + "".join(f"let a{i + 1} = a{i}*a{i} ; " for i in range(60))
    + "param x = a60 ;",
    "digits": "param x = " + "9" * 100_000 + " ;",
    "ten to the": "param x = 1e99999999999 m ;",
    "tiny": "param x = 1e-99999999999 m ;",
    "unit powers": "param x = 1 m^999999999 ;",
    "name": "param " + "x" * 100_000 + " = 1 ;",
    "string": 'param x = 1 "' + "x" * 500_000 + '" ;',
    "statements": "param x = 1 ;" * 20_000,
    "nothing": ";" * 100_000,
    "too large": " " * 1_000_001,
    "null": "\x00" * 10_000,
    "undetermined": "".join(f"param a{i} ; " for i in range(5_000)) + "param x = " + "*".join(f"a{i}" for i in range(5_000)) + " ;",
    "chained unknowns": "".join(f"param a{i} ; param b{i} = a{i} + a{i + 1} ; " for i in range(2_000)) + "param a2000 ;",
    "many names": "".join(f"let b{i} = body mass = ?m, centre = [?s, ?s, ?s] end ; " for i in range(1_500)),
    "coordinates": "join earth and b.frame with link(" + ",".join(f"x{i}" for i in range(5_000)) + ") end ;",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_work_grows_with_the_text_and_not_faster(name):
    """Calls of functions for each character, of texts that nest, repeat and refer to themselves."""
    text = HOSTILE[name]
    assert calls_of(lambda: diagnose(text)) < 10_000 + 300 * len(text)


@pytest.mark.parametrize("name", ["brackets", "square brackets", "powers", "functions", "exponents", "hidden exponents", "towers", "digits",
                                  "squares by name", "squares of a symbol", "ten to the", "tiny", "unit powers",
                                  "name", "too large", "null", "comments"])  # fmt: skip
def test_refused_with_a_message(name):
    found = diagnose(HOSTILE[name])
    assert found and all(len(d.message) < 500 for d in found)


@pytest.mark.parametrize(
    "file", ["../secret.csv", "/etc/passwd", "sub/../../secret.csv", "link.csv", "", ".", "\x00", "a" * 5000]
)
def test_tables_are_read_from_their_folder_only(file, tmp_path):
    folder = tmp_path / "mechanisms"
    folder.mkdir()
    (tmp_path / "secret.csv").write_text("0 1\n1 2\n2 3\n3 4\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    found = diagnose(f'table f = "{file}" ;', directory=folder)
    assert len(found) == 1 and "secret" not in found[0].message.replace(file, "")
    assert "must lie in the folder" in found[0].message or "cannot be read" in found[0].message


def test_table_files_are_bounded(tmp_path):
    (tmp_path / "long.csv").write_text("".join(f"{i} {i}\n" for i in range(100_002)))
    (found,) = diagnose('table f = "long.csv" ;', directory=tmp_path)
    assert "more than 100000 rows" in found.message
    (tmp_path / "words.csv").write_text("x y\n0 1\n1 nan\n")
    (found,) = diagnose('table f = "words.csv" ;', directory=tmp_path)
    assert "line 3: expected 2 numbers" in found.message


def test_no_code_is_run(tmp_path):
    marker = tmp_path / "marker"
    for attack in (
        f"__import__('os').system('touch {marker}')",
        f"open('{marker}', 'w')",
        "exec(1)",
        "eval(1)",
        "().__class__",
    ):
        assert diagnose(f"param x = {attack} ;")
    assert not marker.exists()


def test_the_grammar_has_no_hidden_conflicts(caplog):
    """LALR conflicts resolved silently would read a text in a way nobody chose."""
    from lark import Lark, logger

    import torseur.description.language

    text = (Path(torseur.description.language.__file__).parent / "syntax/grammar.lark").read_text(encoding="utf-8")
    caplog.set_level(logging.DEBUG, logger=logger.name)
    logger.propagate = True
    Lark(text, parser="lalr", start="statement", debug=True)
    assert not [record for record in caplog.records if "conflict" in record.getMessage().lower()]
