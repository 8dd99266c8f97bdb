"""Products of small matrices of vectors in C, in tiles that stay in registers, and inverses of small matrices.

A tile is some rows and columns of a result; each of its factors is read once. All sizes are numbers in the code and
loops are written out: a tile of a humanoid took 13 % longer with loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Protocol

# Why tiles, and what was tried without gain: docs/decisions/0016-batch-columns-as-small-matrix-products.md.
WIDEST = 6
"""Columns of a tile at most: with four rows it leaves eight of the 32 registers of AVX-512 for factors."""

# Sums of a tile at most: 24 of 32 registers, which leaves eight for factors.
_SUMS = 24
_TALLEST = 6
_FEW = (4, 3)
"""Rows and columns of a tile at most where there are 16 registers: with more, AVX2 gains nothing over straight code."""


def tallest(columns: int) -> int:
    """Rows of a tile with so many columns at most."""
    return min(_TALLEST, _SUMS // columns)


def parts(count: int, most: int) -> list[range]:
    """A number of rows or columns in nearly equal parts of at most so many."""
    number = -(-count // most)
    return [range(count * k // number, count * (k + 1) // number) for k in range(number)]


class Function(Protocol):
    """A C function: the end of its name, its parameters by name with their types, and its statements."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> Mapping[str, str]: ...

    @property
    def lines(self) -> list[str]: ...


def function_text(function: Function, prefix: str) -> str:
    parameters = ", ".join(f"{kind}{name}" for name, kind in function.parameters.items())
    head = f"static TORSEUR_NOINLINE void {prefix}_{function.name}({parameters}) {{"
    return "\n".join([head, *_indent(function.lines), "}", ""])


def _indent(lines: Iterable[str]) -> Iterable[str]:
    depth = 1
    for line in lines:
        depth -= line == "}"
        yield line if line.startswith("#") else "  " * depth + line
        depth += line == "{"


def call_text(function: Function, prefix: str, arguments: Mapping[str, str]) -> str:
    return f"  {prefix}_{function.name}({', '.join(arguments[name] for name in function.parameters)});"


_READ, _WRITTEN, _STEP = "const lanes *restrict ", "lanes *restrict ", "ptrdiff_t "


@dataclass(frozen=True)
class SubtractProduct:
    """c <- c - aᵀ b, or -aᵀ b where c is `fresh`; a and b have n rows. Widths are those of the whole matrices."""

    rows: int
    columns: int
    n: int
    widths: tuple[int, int, int]
    fresh: bool = False

    @property
    def name(self) -> str:
        kind = "made" if self.fresh else "taken"
        return f"{kind}_{self.rows}x{self.columns}_{self.n}_{'_'.join(map(str, self.widths))}"

    @property
    def parameters(self) -> Mapping[str, str]:
        return {"a": _READ, "b": _READ, "c": _WRITTEN}

    @property
    def lines(self) -> list[str]:
        return _in_tiles(self.tile, self.rows, self.columns)

    def tile(self, rows: range, columns: range) -> list[str]:
        a, b, c = self.widths
        places = list(product(rows, columns))
        lines = [f"lanes x{i}{j} = {'{0}' if self.fresh else f'c[{i * c + j}]'};" for i, j in places]
        for k in range(self.n):
            lines += _accumulate("-=", {i: f"a[{k * a + i}]" for i in rows}, {j: f"b[{k * b + j}]" for j in columns})
        return [*lines, *(f"c[{i * c + j}] = x{i}{j};" for i, j in places)]


@dataclass(frozen=True)
class Outward:
    """x <- -H b - P x_a in some rows of a limb, -H being given; H - P x_a where it is `part` of A⁻¹ itself.

    H is left out where the limb's `size` is 0, P where its `depth` is. The result goes to an output; where it is
    `mirrored`, transposed to another place there; where it is `kept`, to the path of what the limb carries.
    """

    rows: int
    columns: int
    size: int
    depth: int
    kept: bool
    part: bool = False
    mirrored: bool = False

    @property
    def name(self) -> str:
        words = [*["part"] * self.part, *["mirrored"] * self.mirrored, *["kept"] * self.kept]
        return "_".join(["outward", f"{self.rows}x{self.columns}_{self.size}_{self.depth}", *words])

    @property
    def parameters(self) -> Mapping[str, str]:
        own = {"h": _READ} if self.size else {}
        right = {"b": _READ} if self.size and not self.part else {}
        carried = {"p": _READ, "path": _READ} if self.depth else {}
        to = {"to": "double *restrict ", "row": _STEP, "column": _STEP}
        mirror = {"mirror": "double *restrict "} if self.mirrored else {}
        return {**own, **right, **carried, **to, **mirror, **({"kept": _WRITTEN} if self.kept else {})}

    @property
    def lines(self) -> list[str]:
        return _in_tiles(self.tile, self.rows, self.columns)

    def tile(self, rows: range, columns: range) -> list[str]:
        size, across = self.size, self.columns
        places = list(product(rows, columns))
        part = self.part and size
        lines = [f"lanes x{i}{j} = {f'-h[{i * size + j}]' if part else '{0}'};" for i, j in places]
        for k in range(0 if self.part else size):
            right = {j: f"b[{k * across + j}]" for j in columns}
            lines += _accumulate("+=", {i: f"h[{k * size + i}]" for i in rows}, right)
        for k in range(self.depth):
            right = {j: f"path[{k * across + j}]" for j in columns}
            lines += _accumulate("-=", {i: f"p[{i * self.depth + k}]" for i in rows}, right)
        lines += [f"lanes_store(to + {i} * row + {j} * column, x{i}{j});" for i, j in places]
        if self.mirrored:
            transposed = product(columns, rows)
            lines += [f"lanes_store(mirror + {j} * row + {i} * column, x{i}{j});" for j, i in transposed]
        return lines + [f"kept[{i * across + j}] = x{i}{j};" for i, j in places if self.kept]


@dataclass(frozen=True)
class Gather:
    """path <- some rows and columns of an output."""

    rows: int
    columns: int

    @property
    def name(self) -> str:
        return f"gathered_{self.rows}x{self.columns}"

    @property
    def parameters(self) -> Mapping[str, str]:
        return {"path": _WRITTEN, "from": "const double *restrict ", "row": _STEP, "column": _STEP}

    @property
    def lines(self) -> list[str]:
        tile = product(range(self.rows), range(self.columns))
        return [f"path[{i * self.columns + j}] = lanes_load(from + {i} * row + {j} * column);" for i, j in tile]


@dataclass(frozen=True)
class Inverse:
    """h <- -A⁻¹ of a few rows, pivots swept one after the other; of A the lower triangle is read."""

    size: int
    width: int

    @property
    def name(self) -> str:
        return f"inverse_{self.size}_{self.width}"

    @property
    def parameters(self) -> Mapping[str, str]:
        return {"a": _READ, "h": _WRITTEN}

    @property
    def lines(self) -> list[str]:
        # The sweep operator: after pivot k, row and column k hold A⁻¹ of the rows swept so far (negative), the rest is
        # the Schur complement. No pivot is searched for: A is positive definite.
        every = range(self.size)
        lines = [f"lanes a{i}{j} = a[{i * self.width + j}];" for i in every for j in range(i + 1)]
        for k in every:
            others = [i for i in every if i != k]
            lines.append(f"const lanes d{k} = 1.0 / a{k}{k};")
            lines += [f"const lanes w{k}{i} = {_entry(i, k)} * d{k};" for i in others]
            lines += [f"{_entry(i, j)} -= w{k}{i} * {_entry(j, k)};" for i in others for j in others if j <= i]
            lines += [f"{_entry(i, k)} = w{k}{i};" for i in others]
            lines.append(f"a{k}{k} = -d{k};")
        return lines + [f"h[{i * self.size + j}] = {_entry(i, j)};" for i in every for j in every]


def _entry(i: int, j: int) -> str:
    return f"a{max(i, j)}{min(i, j)}"


def _in_tiles(tile: Callable[[range, range], list[str]], rows: int, columns: int) -> list[str]:
    """A function's statements: one tile for 32 registers, several smaller ones for 16."""
    whole = tile(range(rows), range(columns))
    tall, wide = _FEW
    if rows <= tall and columns <= wide:
        return whole
    smaller = [["{", *tile(i, j), "}"] for i in parts(rows, tall) for j in parts(columns, wide)]
    return [
        "#if LANES == 8 || defined(__aarch64__)",
        *whole,
        "#else",
        *(line for one in smaller for line in one),
        "#endif",
    ]


def _accumulate(sign: str, left: Mapping[int, str], right: Mapping[int, str]) -> list[str]:
    """A tile's sums with one more term each. Factors are loaded once, which gcc has to be told."""
    lines = ["{"]
    lines += [f"lanes r{j} = {factor}; LANES_ONCE(r{j});" for j, factor in right.items()]
    for i, factor in left.items():
        lines.append(f"lanes l{i} = {factor}; LANES_ONCE(l{i});")
        lines += [f"x{i}{j} {sign} l{i} * r{j};" for j in right]
    return [*lines, "}"]
