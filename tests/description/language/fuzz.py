"""Mutated descriptions: whatever the text, the reader answers with a mechanism or with diagnostics, and soon.

Run by hand for as long as wanted:  PYTHONPATH=src python tests/description/language/fuzz.py 1000000 [seed]
"""

from __future__ import annotations

import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from torseur.description.language import diagnose, parse, to_text
from torseur.errors import TorseurError

SAMPLES = Path(__file__).parent / "samples"
LONGEST_SECONDS = 2.0  # of computing
LONGEST_WAIT = 120  # in real time, however busy the machine is
PIECES = (
    "let", "join", "param", "body", "end", "and", "with", "as", "in", "on", "at", "of", "apply", "force", "torque", "spring",
    "between", "constrain", "rolling", "distance", "init", "law", "table", "measure", "gravity", "mechanism", "joint",
    "(", ")", "[", "]", "[0,0,1]", "++", "||", "@", ";", ",", "=", "+", "-", "*", "/", "^", "'", ".", "?", "?k", "?f(x, x')",
    "(*", "*)", "\"", "`", "1", "0", "1/0", "9^9^9", "1e400", "1e-400", "pi", "t", "earth", "frame", "iframe", "mass",
    "kg", "3 m", "2 N*m", "5 deg", "[1,2,3] m", "sqrt(-1)", "log(0)", "0^-1", "where(1 < 2, 3, 4)", "atan2(0, 0)", "\x00", "é", "Ω",
    "𝔘", "\n", "\r\n", "\t", "speeds in", "angles quaternion", "table \"../../etc/passwd\"", "diag(1,2,3)", "rod", "sphere radius = 1",
)  # fmt: skip


def corpus() -> list[str]:
    """The texts that mutations start from."""
    return [path.read_text(encoding="utf-8") for path in sorted(SAMPLES.glob("*.lsd"))]


def mutated(rng: random.Random, texts: list[str]) -> str:
    """A few statements of the corpus, or a whole text, with some changes."""
    text = rng.choice(texts)
    if rng.random() < 0.9:
        statements = [s for t in texts for s in t.split(";")]
        text = ";".join(rng.choices(statements, k=rng.randint(1, 4))) + ";"
    for _ in range(rng.choice((0, 1, 1, 2, 3, 5, 10))):
        text = rng.choice(CHANGES)(rng, text)
    return text


def _cut(rng: random.Random, text: str) -> str:
    start = rng.randint(0, len(text))
    return text[:start] + text[start + rng.randint(1, 20) :]


def _insert(rng: random.Random, text: str) -> str:
    place = rng.randint(0, len(text))
    return f"{text[:place]} {rng.choice(PIECES)} {text[place:]}"


def _repeat(rng: random.Random, text: str) -> str:
    start = rng.randint(0, len(text))
    piece = text[start : start + rng.randint(1, 30)]
    return text[:start] + piece * rng.choice((2, 2, 2, 3, 3, 30)) + text[start:]


def _swap_words(rng: random.Random, text: str) -> str:
    words = re.findall(r"\w+|\W", text)
    if len(words) < 2:
        return text
    i, j = rng.randrange(len(words)), rng.randrange(len(words))
    words[i], words[j] = words[j], words[i]
    return "".join(words)


def _replace_word(rng: random.Random, text: str) -> str:
    words = re.findall(r"\w+|\W", text)
    if words:
        words[rng.randrange(len(words))] = rng.choice(PIECES)
    return "".join(words)


def _noise(rng: random.Random, text: str) -> str:
    place = rng.randint(0, len(text))
    return text[:place] + chr(rng.choice((rng.randrange(32, 127), rng.randrange(0xD800), 0x1F600))) + text[place:]


def _misspell(rng: random.Random, text: str) -> str:
    letters = [i for i, c in enumerate(text) if c.isalpha()]
    if not letters:
        return text
    place = rng.choice(letters)
    return text[:place] + rng.choice("abcxyz") + text[place + 1 :]


def _nest(rng: random.Random, text: str) -> str:
    place, depth = rng.randint(0, len(text)), rng.choice((3, 30, 200))
    opening = rng.choice(("(", "[", "-", "2^", "(*", "sin("))
    return text[:place] + opening * depth + text[place:]


CHANGES = (
    _cut,
    _insert,
    _insert,
    _repeat,
    _swap_words,
    _replace_word,
    _replace_word,
    _noise,
    _misspell,
    _misspell,
    _nest,
)


def check(text: str, write: bool) -> str:
    """What became of a text: "read" or "refused". Anything else is a fault of ours and raises AssertionError."""
    started = time.process_time()
    diagnostics = diagnose(text, "fuzz.lsd", SAMPLES)
    seconds = time.process_time() - started
    assert seconds < LONGEST_SECONDS, f"took {seconds:.1f} s"
    for d in diagnostics:
        assert 1 <= d.line <= text.count("\n") + 1 and d.column >= 1 and d.end_column > d.column and d.message, d
    if diagnostics:
        return "refused"
    if write:
        _check_writing(text)
    return "read"


def _check_writing(text: str) -> None:
    mechanism = parse(text, "fuzz.lsd", SAMPLES)
    try:
        written = to_text(mechanism)
    except TorseurError:
        return
    assert parse(written) == mechanism


def fuzz(count: int, seed: int = 0) -> Counter[str]:
    """Outcomes of so many mutated texts; stops at the first fault with the text that caused it."""
    rng, texts, outcomes = random.Random(seed), corpus(), Counter[str]()
    signal.signal(signal.SIGALRM, _too_long)
    for number in range(count):
        text = mutated(rng, texts)
        signal.alarm(LONGEST_WAIT)
        try:
            outcomes[check(text, write=number % 10 == 0)] += 1
        except Exception as problem:
            raise AssertionError(f"text {number} of seed {seed}: {problem!r}\n{text!r}") from problem
        finally:
            signal.alarm(0)
    return outcomes


def _too_long(signal_number: int, frame: object) -> None:
    raise TimeoutError(f"no answer in {LONGEST_WAIT} s")


if __name__ == "__main__":
    total, seed = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for block in range(0, total, 10_000):
        started = time.perf_counter()
        outcome = fuzz(min(10_000, total - block), seed + block)
        print(f"{block + sum(outcome.values()):>9} {dict(outcome)} {time.perf_counter() - started:.1f} s", flush=True)
