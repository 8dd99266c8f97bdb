"""Words of the algebra: products of vectors, rows, tildes and matrices, and the rules that shorten them.

A word is a sequence of letters; a scalar within it (a row ... to a vector) stands apart. The rules, with u and w
vectors, R a rotation, S symmetric and M any matrix:

    R Rᵀ = 1, M M⁻¹ = 1, Sᵀ = S        R ũ = (R u)~ R                      ũ w̃ = w uᵀ - (u · w) 1
    (u x w)~ = w uᵀ - u wᵀ              u x w = -(w x u), u x u = 0          a scalar equals its transpose
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Letter:
    """One factor: kind "v" a vector, "r" its transpose, "t" the tilde of `word`, "m" a matrix."""

    kind: str
    symbol: Any = None
    is_transpose: bool = False
    inverse: bool = False
    word: tuple[Letter, ...] = ()

    @cached_property
    def key(self) -> tuple[Any, ...]:
        # Length first, so that the least of equal writings is the shortest; primes, because q and its derivative share
        # a name.
        name = "" if self.symbol is None else f"{self.symbol}{chr(39) * int(getattr(self.symbol, 'dots', 0))}"
        return (len(self.word), name, self.is_transpose, self.inverse, self.kind, *(one.key for one in self.word))

    def has(self, declared: str) -> bool:
        return declared in getattr(self.symbol, "properties", ())


Word = tuple[Letter, ...]


def key_of(word: Word) -> tuple[Any, ...]:
    """An order of words: shorter first."""
    return (sum(1 + len(one.word) for one in word), *(one.key for one in word))


def matrix_letter(symbol: Any, transposed: bool = False, inverse: bool = False) -> Letter:
    """A matrix in its simplest writing: a rotation's inverse is its transpose, a symmetric one has none."""
    letter = Letter("m", symbol, transposed, inverse)
    if inverse and letter.has("rotation"):
        letter = replace(letter, is_transpose=not transposed, inverse=False)
    if letter.is_transpose and letter.has("symmetric"):
        letter = replace(letter, is_transpose=False)
    return letter


def transpose(word: Word) -> tuple[int, Word]:
    """The transpose of a word, and the sign that its tildes and skew matrices give."""
    # (A B)ᵀ = Bᵀ Aᵀ, and ũᵀ = -ũ: the sign counts the tildes and skew matrices of the word.
    sign, letters = 1, []
    for letter in reversed(word):
        if letter.kind in "vr":
            letters.append(replace(letter, kind="r" if letter.kind == "v" else "v"))
        elif letter.kind == "t" or letter.has("skew"):
            sign, letters = -sign, [*letters, letter]
        else:
            letters.append(matrix_letter(letter.symbol, not letter.is_transpose, letter.inverse))
    return sign, tuple(letters)


def cancels(first: Letter, second: Letter) -> bool:
    """Whether two neighbours are a matrix and its inverse."""
    if first.kind != "m" or second.kind != "m" or first.symbol != second.symbol:
        return False
    if first.has("rotation"):
        return first.is_transpose != second.is_transpose
    return first.inverse != second.inverse and first.is_transpose == second.is_transpose


def without_inverses(word: Word) -> Word:
    """The word with matrices and their inverses cancelled."""
    # A stack: where a pair has cancelled, its neighbours meet and may cancel too.
    letters: list[Letter] = []
    for letter in word:
        if letters and cancels(letters[-1], letter):
            letters.pop()
        else:
            letters.append(letter)
    return tuple(letters)


@dataclass(frozen=True)
class Scalar:
    """A number made of vectors: "dot" a row word, "triple" x · (y x z) of three words, "trace" a cyclic word."""

    kind: str
    words: tuple[Word, ...]

    @cached_property
    def key(self) -> tuple[Any, ...]:
        return (self.kind, *(key_of(word) for word in self.words))


Signed = tuple[int, Scalar | None]  # a sign (0: the scalar vanishes) and the scalar (None: it is 1)


def scalar_of(segment: Word) -> Signed:
    """A word from a row to a vector as a scalar."""
    tildes = [place for place, letter in enumerate(segment) if letter.kind == "t"]
    if len(tildes) == 1:
        # xᵀ M ũ N y = (Mᵀ x) · (u x N y), a triple product; two tildes without a matrix between are dyads by now, and a
        # word that keeps two is left whole below.
        (place,) = tildes
        sign, left = transpose(segment[:place])
        number, scalar = triple(left, segment[place].word, segment[place + 1 :])
        return sign * number, scalar
    if len(segment) == 2 and segment[0].symbol == segment[1].symbol and segment[0].has("unit"):
        return 1, None
    sign, other = transpose(segment)
    # A scalar equals its transpose; with an odd number of signs it is its own opposite, such as x · (S x) of a skew S.
    if other == segment:
        return (1, Scalar("dot", (segment,))) if sign == 1 else (0, None)
    return (1, Scalar("dot", (segment,))) if key_of(segment) < key_of(other) else (sign, Scalar("dot", (other,)))


def triple(*words: Word) -> Signed:
    """x · (y x z) with its vectors in order and no rotation that all three could do without."""
    # det(R x, R y, R z) = det(x, y, z): a rotation that leads all three is left out; ties go by the order of words.
    best = min(_common_rotations(words), key=lambda choice: (sum(map(len, choice)), *sorted(map(key_of, choice))))
    if best != words:
        return triple(*best)
    order = sorted(range(3), key=lambda k: key_of(words[k]))
    ordered = tuple(words[k] for k in order)
    if ordered[0] == ordered[1] or ordered[1] == ordered[2]:
        return 0, None
    # Cyclic exchanges keep the sign of a determinant, all others turn it.
    even = tuple(order) in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
    return (1 if even else -1), Scalar("triple", ordered)


def _common_rotations(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """The three vectors as they are, and seen in the frame of each leading rotation."""
    yield words
    for word in words:
        if len(word) > 1 and word[0].has("rotation"):
            back = matrix_letter(word[0].symbol, not word[0].is_transpose)
            yield tuple(without_inverses((back, *other)) for other in words)


def trace_of(word: Word) -> Signed:
    """The trace of a word without vectors: the least of its cyclic writings; None with sign 3 for the identity."""
    while len(word) > 1 and cancels(word[-1], word[0]):
        word = word[1:-1]
    if not word:
        return 3, None
    sign, other = transpose(word)
    # tr(A B C) = tr(B C A), and tr(A) = tr(Aᵀ): the trace is known by the least of all these writings.
    cyclic = [(1, word[k:] + word[:k]) for k in range(len(word))]
    cyclic += [(sign, other[k:] + other[:k]) for k in range(len(other))]
    best = min(cyclic, key=lambda pair: key_of(pair[1]))
    # The same word with both signs is its own opposite: the trace of a skew matrix.
    if any(pair[1] == best[1] and pair[0] != best[0] for pair in cyclic):
        return 0, None
    return best[0], Scalar("trace", (best[1],))
