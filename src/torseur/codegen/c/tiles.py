"""Products of small matrices of vectors in C, in tiles that stay in registers, and inverses of small matrices.

A tile is some rows and columns of a result; each of its factors is read once. All sizes are numbers in the code and
loops are written out: a tile of a humanoid took 13 % longer with loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

WIDEST = 6
"""Columns of a tile at most: with four rows it leaves eight of the 32 registers of AVX-512 for factors."""

_SUMS = 24
_TALLEST = 6


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
    return "\n".join([head, *(f"  {line}" for line in function.lines), "}", ""])


def call_text(function: Function, prefix: str, arguments: Mapping[str, str]) -> str:
    return f"  {prefix}_{function.name}({', '.join(arguments[name] for name in function.parameters)});"


_READ, _WRITTEN, _STEP = "const lanes *restrict ", "lanes *restrict ", "ptrdiff_t "


@dataclass(frozen=True)
class Taken:
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
        a, b, c = self.widths
        tile = list(product(range(self.rows), range(self.columns)))
        lines = [f"lanes x{i}{j} = {'{0}' if self.fresh else f'c[{i * c + j}]'};" for i, j in tile]
        for k in range(self.n):
            lines += _summed("-=", _entries("a", k * a, 1, self.rows), _entries("b", k * b, 1, self.columns))
        return [*lines, *(f"c[{i * c + j}] = x{i}{j};" for i, j in tile)]


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
        size, across, depth = self.size, self.columns, self.depth
        tile = list(product(range(self.rows), range(across)))
        part = self.part and size
        lines = [f"lanes x{i}{j} = {f'-h[{i * size + j}]' if part else '{0}'};" for i, j in tile]
        for k in range(0 if self.part else size):
            lines += _summed("+=", _entries("h", k * size, 1, self.rows), _entries("b", k * across, 1, across))
        for k in range(depth):
            lines += _summed("-=", _entries("p", k, depth, self.rows), _entries("path", k * across, 1, across))
        lines += [f"lanes_store(to + {i} * row + {j} * column, x{i}{j});" for i, j in tile]
        if self.mirrored:
            turned = product(range(across), range(self.rows))
            lines += [f"lanes_store(mirror + {j} * row + {i} * column, x{i}{j});" for j, i in turned]
        return lines + [f"kept[{i * across + j}] = x{i}{j};" for i, j in tile if self.kept]


@dataclass(frozen=True)
class Gathered:
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


def _summed(sign: str, left: Sequence[str], right: Sequence[str]) -> list[str]:
    """A tile's sums with one more term each. Factors are loaded once, which gcc has to be told."""
    lines = ["{"]
    lines += [f"  lanes r{j} = {factor};\n    LANES_ONCE(r{j});" for j, factor in enumerate(right)]
    for i, factor in enumerate(left):
        lines.append(f"  lanes l{i} = {factor};\n    LANES_ONCE(l{i});")
        lines += [f"  x{i}{j} {sign} l{i} * r{j};" for j in range(len(right))]
    return [*lines, "}"]


def _entries(name: str, start: int, step: int, count: int) -> list[str]:
    """Entries of a matrix, from one on."""
    return [f"{name}[{start + k * step}]" for k in range(count)]
