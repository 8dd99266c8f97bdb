"""Programs that compute standard bases: python-flint always, Singular and msolve where they are installed."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from torseur.algebra.exact.flint_ring import ORDERS, FlintRing, primitive, remainder
from torseur.errors import UnsupportedError

# Members of a basis, terms of a polynomial and bits of a coefficient, beyond which python-flint gives up: Buchberger's
# algorithm without criteria does not come back from there.
LIMITS = (500, 4000, 4000)
# The same for what is computed where it is asked for, which cannot be stopped; beyond, a process of its own goes on.
MOMENTARY = (100, 400, 1000)
_HARMLESS = 11  # variables up to which these limits are reached in a moment, those of modules not counted
_SHORT = 60  # terms of equations that are looked at for being a basis already
# Processor seconds, so that a busy machine answers like a quiet one; by the clock twenty times as many at most, which
# is the only limit where processor time cannot be limited (Windows).
FLINT_SECONDS = 30
SECONDS = 300
_PATIENCE = 20


class TooLarge(UnsupportedError):
    """A basis that grew beyond what is reasonable."""


def basis_of(
    polynomials: Sequence[Any], ring: FlintRing, engine: str | None, seconds: int | None = None
) -> tuple[str, list[Any]]:
    """(engine, reduced basis with whole coefficients, least leading monomial first).

    Each program may compute for `seconds` of the processor, by default as long as is usual for it.
    """
    if not any(p != 0 for p in polynomials):
        return engine or "flint", []
    if engine is not None:
        return engine, ENGINES[engine](polynomials, ring, seconds)
    try:
        return "flint", _flint_at_once(polynomials, ring)
    except TooLarge:
        pass
    # Programs made for this are asked before python-flint goes on in a process of its own: where its limits are
    # reached it seldom ends within its half-minute, and they mostly do within a second.
    for name in ("singular", "msolve"):
        if shutil.which(_PROGRAMS[name]) and not (name == "msolve" and ring.order != "grevlex"):
            with suppress(UnsupportedError):
                return name, ENGINES[name](polynomials, ring, seconds)
    try:
        return "flint", _flint_apart(ring.vector(polynomials), ring, seconds)
    except TooLarge as reason:
        raise TooLarge(
            f"{reason} Programs made for this are used where they are installed: Singular, msolve. Fewer variables "
            "help too: give lengths and angles that may have a value one."
        ) from reason


def _flint(polynomials: Sequence[Any], ring: FlintRing, seconds: int | None = None) -> list[Any]:
    try:
        return _flint_at_once(polynomials, ring)
    except TooLarge:
        return _flint_apart(ring.vector(polynomials), ring, seconds)


def _flint_at_once(polynomials: Sequence[Any], ring: FlintRing) -> list[Any]:
    """The basis where python-flint finds it in a moment; raises TooLarge elsewhere."""
    given = ring.vector(polynomials)
    if any(p.is_constant() for p in given):
        return [ring.context.from_dict({(0,) * len(ring.variables): 1})]
    if len(ring.variables) - ring.linear > _HARMLESS:
        # A process takes a fifth of a second to start; equations solved for a variable each are a basis already.
        short = given.autoreduction()
        if sum(len(p) for p in short) <= _SHORT and short.is_groebner():
            return _by_leading_term([*short], ring)
        raise TooLarge(f"{len(ring.variables)} variables are too many for a moment.")
    return limited_basis(polynomials, ring, LIMITS if ring.linear else MOMENTARY)


def limited_basis(polynomials: Sequence[Any], ring: FlintRing, limits: tuple[int, int, int] = LIMITS) -> list[Any]:
    """The basis by python-flint within limits; raises TooLarge beyond."""
    given = ring.vector(polynomials)
    basis, complete = given.autoreduction().buchberger_naive(limits=limits)
    if not complete:
        raise TooLarge(
            f"the standard basis in {len(ring.variables)} variables grows beyond {limits[0]} polynomials, "
            f"{limits[1]} terms or {limits[2]} bits."
        )
    return _by_leading_term([*basis.autoreduction()], ring)


def _flint_apart(given: Any, ring: FlintRing, seconds: int | None = None) -> list[Any]:
    """The same in a process of its own, which can be stopped: python-flint cannot be interrupted."""
    terms = [[[*map(int, m), str(int(c))] for m, c in p.to_dict().items()] for p in given]
    question = json.dumps([len(ring.variables), ORDERS[ring.order], terms])
    patience = FLINT_SECONDS if seconds is None else seconds
    try:
        done = _limited([sys.executable, "-c", _APART], question, patience)
    except TimeoutError as error:
        count = len(ring.variables)
        raise TooLarge(
            f"python-flint found no standard basis in {count} variables in {patience} s of computing."
        ) from error
    if done.returncode:
        raise UnsupportedError(f"python-flint failed: {done.stderr.strip()[-300:]}")
    members = [
        ring.context.from_dict({tuple(powers): int(c) for *powers, c in polynomial})
        for polynomial in json.loads(done.stdout)
    ]
    return _by_leading_term(members, ring)


def _limited(command: list[str], given: str, seconds: int) -> subprocess.CompletedProcess[str]:
    """A program that may compute for so many seconds; raises TimeoutError where it would take more."""
    # An intermediate process sets its own limit: see _LIMIT.
    limit = [] if sys.platform == "win32" else [sys.executable, "-c", _LIMIT, str(seconds)]
    try:
        done = subprocess.run([*limit, *command], input=given, capture_output=True, text=True, check=False,
                              timeout=seconds * _PATIENCE)  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error
    if sys.platform != "win32" and -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        raise TimeoutError
    return done


# Set by the process itself before it becomes the program: what runs between fork and exec must not be Python where
# there are threads.
_LIMIT = """
import os, resource, sys
seconds = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.execvp(sys.argv[2], sys.argv[2:])
"""
_APART = """
import json, sys
from flint import Ordering, fmpz_mpoly_ctx, fmpz_mpoly_vec
count, order, terms = json.load(sys.stdin)
ring = fmpz_mpoly_ctx.get([f"x{k}" for k in range(count)], getattr(Ordering, order))
given = [ring.from_dict({tuple(m): int(c) for *m, c in p}) for p in terms]
basis = fmpz_mpoly_vec(given, ring).autoreduction().buchberger_naive().autoreduction()
print(json.dumps([[[*map(int, m)] + [str(int(c))] for m, c in p.to_dict().items()] for p in basis]))
"""


def _by_leading_term(members: Sequence[Any], ring: FlintRing) -> list[Any]:
    whole = [primitive(p) for p in members if p != 0]
    return sorted(whole, key=lambda p: (sum(ring.leading(p)), ring.leading(p)))


def _singular(polynomials: Sequence[Any], ring: FlintRing, seconds: int | None = None) -> list[Any]:
    """By Singular: std in a ring of characteristic 0."""
    order = {"grevlex": "dp", "grlex": "Dp", "lex": "lp"}[ring.order]
    ideal = ",\n".join(_text(p) for p in polynomials if p != 0)
    start = f"ring r = 0,({_variables(ring)}),{order};\noption(redSB);\nshort = 0;\n"
    script = f"{start}ideal i = {ideal};\nideal b = std(i);\nprint(b);\nquit;\n"
    output = _run("singular", ["-q"], script, seconds)
    return _require_standard_basis(
        "singular", polynomials, [_read(line, ring) for line in re.split(r",\s*\n", output.strip()) if line], ring
    )


def _msolve(polynomials: Sequence[Any], ring: FlintRing, seconds: int | None = None) -> list[Any]:
    """By msolve, whose bases are in grevlex."""
    if ring.order != "grevlex":
        raise UnsupportedError("msolve computes bases in the order 'grevlex' only.")
    ideal = ",\n".join(_text(p) for p in polynomials if p != 0)
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "ideal.ms", Path(folder) / "basis.ms"
        given.write_text(f"{_variables(ring)}\n0\n{ideal}\n", encoding="ascii")
        _run("msolve", ["-g", "2", "-f", str(given), "-o", str(result)], "", seconds)
        output = result.read_text(encoding="ascii")
    inside = re.search(r"\[(.*)\]", re.sub(r"^#.*$", "", output, flags=re.MULTILINE), re.DOTALL)
    if inside is None:
        raise UnsupportedError("msolve: its answer holds no basis.")
    return _require_standard_basis("msolve", polynomials, [_read(part, ring) for part in inside[1].split(",")], ring)


def _run(name: str, options: list[str], script: str, seconds: int | None) -> str:
    program = shutil.which(_PROGRAMS[name])
    if program is None:
        raise UnsupportedError(
            f"{name} is not installed: no program '{_PROGRAMS[name]}' on the path. Leave `engine` out for python-flint."
        )
    patience = SECONDS if seconds is None else seconds
    try:
        done = _limited([program, *options], script, patience)
    except TimeoutError as error:
        raise TooLarge(f"{name} found no basis in {patience} s of computing.") from error
    if done.returncode or "? " in done.stdout:
        raise UnsupportedError(f"{name} failed: {(done.stderr or done.stdout).strip()[:300]}")
    return done.stdout


def _require_standard_basis(name: str, given: Sequence[Any], members: list[Any], ring: FlintRing) -> list[Any]:
    """What another program answered is a standard basis, and all that was given reduces to zero by it."""
    if not ring.vector(members).is_groebner() or any(remainder(p, members)[1] != 0 for p in given if p != 0):
        raise UnsupportedError(f"{name}: its answer is no standard basis of what was given.")
    return _by_leading_term(members, ring)


def _variables(ring: FlintRing) -> str:
    return ",".join(ring.context.names())


def _text(polynomial: Any) -> str:
    return str(polynomial)


def _read(text: str, ring: FlintRing) -> Any:
    """A polynomial as computer algebra prints it: 2*x0^2*x1-3."""
    import sympy as sp

    names = dict(zip(ring.context.names(), ring.variables, strict=True))
    total = sp.Integer(0)
    for sign, term in re.findall(r"([+-]?)\s*([^+-]+)", text.strip()):
        product = sp.Integer(-1 if sign == "-" else 1)
        for factor in term.strip().split("*"):
            base, _, power = factor.partition("^")
            value = names[base] if base in names else sp.Rational(base)
            product *= value ** int(power or 1)
        total += product
    return ring.from_sympy(total)


ENGINES: dict[str, Callable[[Sequence[Any], FlintRing, int | None], list[Any]]] = {
    "flint": _flint,
    "singular": _singular,
    "msolve": _msolve,
}
_PROGRAMS = {"singular": "Singular", "msolve": "msolve"}
