"""Builds the documentation site into build/site/html: pages of the repository, and references made from the code.

    python tools/site/build_site.py            warnings are errors, as `make docs` has it
    python tools/site/build_site.py --lenient  warnings are printed only, for work on a page

The pages are copied into build/site/source in the places that they have in the repository, so that their links hold
in both; what is generated stands beside them under reference/ and is never committed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
FONT = PROJECT / "src/torseur/presentation/report/assets/font/stix-two-math-subset.woff2"
# What is read beside docs/: pages at the root, and the results of the benchmarks.
PAGES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "README.md")
sys.path.insert(0, str(HERE))


def copy_pages(source: Path) -> None:
    shutil.copytree(PROJECT / "docs", source / "docs", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copytree(PROJECT / "benchmarks" / "results", source / "benchmarks" / "results")
    for page in PAGES:
        shutil.copy(PROJECT / page, source / page)
    for page in sorted((HERE / "pages").glob("*.md")):
        shutil.copy(page, source / page.name)
    static = shutil.copytree(HERE / "static", source / "static")
    shutil.copy(FONT, static / FONT.name)


def list_folders(source: Path) -> None:
    """Pages of a folder belong to its README, whose text links to them in an order of its own."""
    for index in sorted(source.glob("docs/*/README.md")):
        pages = "\n".join(page.stem for page in sorted(index.parent.glob("*.md")) if page != index)
        with index.open("a", encoding="utf-8") as file:
            file.write(f"\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n")


def write_references(source: Path) -> None:
    from api_reference import api_pages
    from command_reference import command_page
    from grammar_diagrams import grammar_page

    folder = source / "reference"
    folder.mkdir()
    for name, text in {"commands": command_page(), "grammar": grammar_page(), **api_pages()}.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def build(output: Path, lenient: bool) -> int:
    from sphinx.cmd.build import main

    source = output / "source"
    shutil.rmtree(output, ignore_errors=True)
    source.mkdir(parents=True)
    copy_pages(source)
    list_folders(source)
    write_references(source)
    strict = [] if lenient else ["--fail-on-warning", "--keep-going"]
    words = ["-b", "html", "-q", "-c", str(HERE), "-d", str(output / "doctrees"), *strict]
    return main([*words, str(source), str(output / "html")])


def run() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lenient", action="store_true", help="print warnings without failing")
    parser.add_argument("--output", type=Path, default=PROJECT / "build" / "site", help="where to build")
    given = parser.parse_args()
    status = build(given.output, given.lenient)
    if status == 0:
        print(f"The documentation is in {given.output / 'html' / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(run())
