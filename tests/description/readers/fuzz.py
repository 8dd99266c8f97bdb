"""Mutants of robot files: each must be read, or refused with an error of the package, quickly.

Run as a script for a long search:  python tests/description/readers/fuzz.py --count 100000 --seed 1
What fails is written to the folder given by --keep.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))
from osim_models import EXTRAS, osim_model  # noqa: E402

SEEDS = (*sorted((HERE / "samples").glob("*.urdf")), *sorted((HERE / "samples").glob("*.xml")),
         *sorted((HERE.parent / "oracles" / "robots").glob("*.urdf")))  # fmt: skip
SLOWEST = 5.0  # seconds of work that one mutant may take

NASTY = (
    "", " ", "0", "-1", "1e308", "-1e308", "1e-320", "nan", "inf", "-inf", "1_0", "0x10", "１２", "1,2", "1e", "--1", "-0",
    "1 2", "0 0 0", "1 0 0", "1e30 1e30 1e30", "0 0 0 0", "1 2 3 4 5 6 7 8 9", "\t", "&lt;", "&amp;", "&#0;", "&#x41;",
    "${x}", "earth", "world", "t", "pi", "length", "`", "a`b", "a'b", "q'", "x" * 200, "🤖", "\u202e", "..", "+1", ".",
    "../../etc/passwd", "/dev/zero", "file:///dev/zero", "http://localhost/x.stl", "package://a/b.stl", "true", "false",
    "auto", "hinge", "free", "ball", "floating", "mesh", "main", "9" * 500, "1e400", "-.5e-3",
)  # fmt: skip
SNIPPETS = (
    "<!DOCTYPE a [<!ENTITY b 'c'>]>", "&b;", "<!-- -- -->", "<![CDATA[x]]>", "<?xml version='1.0'?>", "<a", "</robot>",
    "</mujoco>", "<include file='everything.xml'/>", "<include file='/etc/passwd'/>", "<default><default/></default>",
    "<link name='forearm'/>", "<joint/>", "<body><freejoint/></body>", "<frame>", "<geom/>", "\x00", "\ufeff",
    "<joint name='loop' type='fixed'><parent link='finger'/><child link='base link'/></joint>",
    "<equality><connect body1='cart' body2='cart' anchor='0 0 0'/></equality>",
)  # fmt: skip
_VALUE = re.compile(r'="([^"]*)"')
_NAME = re.compile(r'\b[a-zA-Z_]+(?==")')
_CONTENT = re.compile(r">([^<>]+)<")
_TAG = re.compile(r"</?([a-zA-Z_:]+)")
_ELEMENT = re.compile(r"<[a-zA-Z_:]+[^<>]*/>")


def _replaced(text: str, pattern: re.Pattern[str], new: str, rng: random.Random, group: int = 0) -> str:
    """The text with one match of a pattern replaced."""
    found = list(pattern.finditer(text))
    if not found:
        return text + new
    chosen = rng.choice(found)
    return text[: chosen.start(group)] + new + text[chosen.end(group) :]


def _value(text: str, rng: random.Random) -> str:
    others = [match[1] for match in _VALUE.finditer(text)] or ["0"]
    return _replaced(text, _VALUE, rng.choice(NASTY) if rng.random() < 0.6 else rng.choice(others), rng, 1)


def _content(text: str, rng: random.Random) -> str:
    """What stands between tags, where SDF and OpenSim write their values."""
    others = [match[1] for match in _CONTENT.finditer(text)] or ["0"]
    return _replaced(text, _CONTENT, rng.choice(NASTY) if rng.random() < 0.6 else rng.choice(others), rng, 1)


def _attribute(text: str, rng: random.Random) -> str:
    names = [match[0] for match in _NAME.finditer(text)] or ["name"]
    return _replaced(text, _NAME, rng.choice(names), rng)


def _tag(text: str, rng: random.Random) -> str:
    tags = [match[1] for match in _TAG.finditer(text)] or ["a"]
    return _replaced(text, _TAG, rng.choice(tags), rng, 1)


def _element(text: str, rng: random.Random) -> str:
    """An element taken away, doubled, or moved elsewhere."""
    found = list(_ELEMENT.finditer(text))
    if not found:
        return text
    chosen, other = rng.choice(found), rng.choice(found)
    if rng.random() < 0.5:
        return text[: chosen.start()] + text[chosen.end() :]
    return text[: other.start()] + chosen[0] + text[other.start() :]


def _span(text: str, rng: random.Random) -> str:
    """A stretch of text taken away, doubled, or moved."""
    a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    b = min(b, a + rng.choice((1, 10, 200, 2000)))
    piece, rest = text[a:b], text[:a] + text[b:]
    if rng.random() < 0.4:
        return rest
    at = rng.randrange(len(rest) + 1)
    return (text if rng.random() < 0.5 else rest)[:at] + piece + rest[at:]


def _snippet(text: str, rng: random.Random) -> str:
    places = [match.end() for match in re.finditer(">", text)] or [0]
    at = rng.choice(places) if rng.random() < 0.8 else rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(SNIPPETS) + text[at:]


def _character(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    return (
        text[:at] + chr(rng.choice((0, 9, 60, 62, 34, 38, 47, 233, 0x1F600, rng.randrange(32, 127)))) + text[at + 1 :]
    )


MUTATIONS = (
    _value,
    _value,
    _value,
    _content,
    _content,
    _attribute,
    _tag,
    _element,
    _element,
    _span,
    _snippet,
    _character,
)


def mutants(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Mutated files with the suffix of their kind."""
    rng = random.Random(seed)
    texts = [(path.suffix, path.read_text(encoding="utf-8")) for path in SEEDS]
    texts += [(".osim", text) for text in (osim_model(extra=EXTRAS), osim_model(30000))]
    for _ in range(count):
        suffix, text = rng.choice(texts)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            text = rng.choice(MUTATIONS)(text, rng)
        content = text.encode("utf-8", errors="surrogatepass")
        if rng.random() < 0.03 and content:
            at = rng.randrange(len(content))
            content = content[:at] + bytes([rng.randrange(256)]) + content[at + 1 :]
        yield suffix, content


def try_mutant(path: Path, deep: bool) -> str:
    """What became of a mutant: read or refused; any other exception is a failure of the reader.

    `deep` goes on to the tree, to text, and to both formats.
    """
    from torseur.derivation.tree import build_tree
    from torseur.description.language import to_text
    from torseur.description.readers import read_robot
    from torseur.description.readers.writing.write_robot import robot_text
    from torseur.errors import TorseurError

    try:
        robot = read_robot(path, merge_fixed=deep, base="floating" if deep else "file")
    except TorseurError as refusal:
        assert str(refusal).strip()
        return "refused"
    if deep:
        for further in (
            lambda: build_tree(robot.mechanism),
            lambda: to_text(robot.mechanism),
            lambda: robot_text(robot, path.with_suffix(".urdf"), partial=True),
            lambda: robot_text(robot, path.with_suffix(".xml"), partial=True),
        ):
            try:
                further()
            except TorseurError as refusal:
                assert str(refusal).strip()
    return "read"


def search(count: int, seed: int, folder: Path, deep_every: int = 10) -> tuple[dict[str, int], list[str]]:
    """Tries mutants; how many were read and refused, and a description of each failure."""
    outcomes = {"read": 0, "refused": 0}
    failures = []
    for number, (suffix, content) in enumerate(mutants(count, seed)):
        path = folder / f"mutant{suffix}"
        path.write_bytes(content)
        start = time.process_time()
        try:
            outcomes[try_mutant(path, deep=number % deep_every == 0)] += 1
        except Exception:
            kept = path.rename(folder / f"failure_{seed}_{number}{suffix}")
            failures.append(f"{kept}: {traceback.format_exc(limit=-4)}")
        if time.process_time() - start > SLOWEST:
            failures.append(f"mutant {number} of seed {seed} took {time.process_time() - start:.1f} s")
    return outcomes, failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "fuzz_readers")
    arguments = parser.parse_args()
    arguments.keep.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    outcomes, failures = search(arguments.count, arguments.seed, arguments.keep)
    print(f"{outcomes['read']} read, {outcomes['refused']} refused, {len(failures)} failures "
          f"in {time.perf_counter() - start:.0f} s")  # fmt: skip
    print("\n".join(failures[:20]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
