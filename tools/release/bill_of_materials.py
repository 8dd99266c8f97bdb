"""The bill of materials of a release, as CycloneDX 1.5: what the package ships and what it is installed with.

    python tools/release/bill_of_materials.py [OUTPUT.json]

Versions and licences of dependencies are those of the environment that runs this; parts of other projects that are
copied into the package are read from the licence texts that lie beside them.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

PROJECT = Path(__file__).parents[2]
ASSETS = PROJECT / "src" / "torseur" / "presentation"
CODEMIRROR = ASSETS / "studio" / "assets" / "js" / "vendor" / "codemirror.LICENSE.txt"
FONT = ASSETS / "report" / "assets" / "font" / "stix-two-math-subset.woff2"
PACKAGE = re.compile(r"^(@?[\w./-]+) (\d+\.\d+\.\d+)$", re.MULTILINE)


def shipped() -> list[dict[str, Any]]:
    """Components of other projects inside the package."""
    editor = [
        component(name, version, "MIT", f"pkg:npm/{name.replace('@', '%40')}@{version}")
        for name, version in PACKAGE.findall(CODEMIRROR.read_text(encoding="utf-8"))
    ]
    return [*editor, component("STIX Two Math (subset)", "", "OFL-1.1", "")]


def installed(names: list[str]) -> list[dict[str, Any]]:
    """Dependencies and what they depend on in turn, in the order of their names."""
    found: dict[str, dict[str, Any]] = {}
    waiting = list(names)
    while waiting:
        requirement = Requirement(waiting.pop())
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        version = package.version
        found[name] = component(name, version, licence_of(package), f"pkg:pypi/{name}@{version}")
        waiting += package.requires or []
    return [found[name] for name in sorted(found)]


def licence_of(package: Distribution) -> str:
    """What a package says of its licence, in one line."""
    about = package.metadata
    classifiers = [line.split("::")[-1].strip() for line in about.get_all("Classifier") or () if line[:7] == "License"]
    # Older packages put the whole text of their licence into the field.
    return about.get("License-Expression") or ", ".join(classifiers) or (about.get("License") or "").split("\n")[0]


def component(name: str, version: str, licence: str, url: str) -> dict[str, Any]:
    about: dict[str, Any] = {"type": "library", "name": name}
    about |= {"version": version} if version else {}
    about |= {"licenses": [{"license": {"name": licence}}]} if licence else {}
    return about | ({"purl": url, "bom-ref": url} if url else {})


def bill() -> dict[str, Any]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component("torseur", project["version"], project["license"], "")},
        "components": [*shipped(), *installed(project["dependencies"])],
    }


if __name__ == "__main__":
    text = json.dumps(bill(), indent=2)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
