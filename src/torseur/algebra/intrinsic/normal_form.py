"""The normal form of an expression of vectors and matrices: a sum of shortest words, and back to SymPy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from torseur.algebra.intrinsic.operators import Cross, Dot, IntrinsicError, Matrix, Tilde, Vector, as_expression
from torseur.algebra.intrinsic.words import (
    Letter,
    Scalar,
    Word,
    cancels,
    key_of,
    matrix_letter,
    scalar_of,
    trace_of,
    transpose,
    without_inverses,
)

Scalars = tuple[Scalar, ...]
Term = tuple[Scalars, Word]
Sum = Mapping[Term, Any]
Raw = tuple[Any, Scalars, Word]  # coefficient, scalars and a word not yet shortened

ONE: Term = ((), ())


def normal_form(expression: Any) -> Any:
    """The expression as a sum of shortest products, equal for expressions that the rules make equal."""
    return as_sympy(expand(expression), getattr(expression, "shape", (1, 1)))


def expand(expression: Any) -> Sum:
    """The terms of the normal form with their coefficients."""
    import sympy
    from sympy.matrices import expressions as m

    expression = as_expression(expression)
    match expression:
        case Vector():
            return {((), (Letter("v", expression),)): sympy.S.One}
        case Matrix():
            return {((), (matrix_letter(expression),)): sympy.S.One}
        case Tilde():
            return _reduce((c, s, _tilde(w)) for (s, w), c in expand(expression.args[0]).items())
        # u x w = ũ w, so that one set of rules for tildes serves both writings.
        case Cross():
            a, b = expression.args
            return expand(Tilde(a) * b)
        # u · w = uᵀ w: a row and a vector, which `_without_scalar` takes out as a scalar.
        case Dot():
            a, b = expression.args
            return product(_transpose(expand(a)), expand(b))
        case m.MatAdd() | sympy.Add():
            return plus(item for a in expression.args for item in expand(a).items())
        case m.MatMul() | sympy.Mul():
            total: Sum = {ONE: sympy.S.One}
            for factor in expression.args:
                total = product(total, expand(factor))
            return total
        case m.Transpose():
            return _transpose(expand(expression.args[0]))
        case m.Inverse():
            return _inverse(expand(expression.args[0]))
        case m.MatPow() | sympy.Pow():
            return _power(expression)
        case m.Trace():
            return plus(item for term, c in expand(expression.args[0]).items() for item in _trace(term, c))
        case m.ZeroMatrix():
            return {}
        case m.Identity():
            return {ONE: sympy.S.One}
    if isinstance(expression, m.MatrixExpr):
        raise IntrinsicError(f"'{expression}' is not a declared vector or matrix; make it with vector() or matrix().")
    return {ONE: expression} if expression != 0 else {}


def plus(items: Iterable[tuple[Term, Any]]) -> Sum:
    """Terms added up; what cancels disappears."""
    import sympy

    total: dict[Term, Any] = {}
    for term, coefficient in items:
        total[term] = total.get(term, sympy.S.Zero) + coefficient
    # SymPy adds without expanding: (a + b)(a - b) - a² + b² would stay, and look like a term that is not zero.
    expanded_terms = ((term, sympy.expand(c)) for term, c in total.items())
    return {term: c for term, c in expanded_terms if c != 0}


def product(first: Sum, second: Sum) -> Sum:
    """Two sums multiplied out and reduced."""
    return _reduce((c * d, s + t, v + w) for (s, v), c in first.items() for (t, w), d in second.items())


def _reduce(raw: Iterable[Raw]) -> Sum:
    """Raw products brought to shortest words."""
    # Work list instead of recursion. It empties: each rule takes away letters, tildes of crosses or pairs of tildes,
    # moves a rotation to the right past a tilde, or exchanges u x w for the one order of the two; no rule undoes
    # another.
    waiting, done = list(raw), []
    while waiting:
        coefficient, scalars, word = waiting.pop()
        step = _shorter(coefficient, scalars, word)
        if step is None:
            done.append(((tuple(sorted(scalars, key=lambda s: s.key)), word), coefficient))
        else:
            waiting.extend(step)
    return plus(done)


def _shorter(c: Any, scalars: Scalars, word: Word) -> list[Raw] | None:
    """One rule applied to a word; None where none applies."""
    for k, letter in enumerate(word):
        # First, because the rule for two tildes makes rows out of a tilde's word, which must be a plain vector by then.
        if letter.kind == "t" and letter.word[0].kind == "t":
            return _tilde_of_cross(c, scalars, word, k)
    for k, (a, b) in enumerate(pairwise(word)):
        before, after = word[:k], word[k + 2 :]
        if cancels(a, b):
            return [(c, scalars, before + after)]
        # R ũ = (R u)~ R holds for proper rotations only (det R = 1); a reflection would change the sign.
        if a.has("rotation") and b.kind == "t":
            turned = Letter("t", word=without_inverses((a, *b.word)))
            return [(c, scalars, (*before, turned, a, *after))]
        if a.kind == "t" and b.kind == "t":
            # ũ w̃ = w uᵀ - (u · w) 1. The dot product stays in the word as a row before its vector: it is taken out as
            # a scalar in a later pass, when what stands between the two can no longer be shortened.
            sign, row = transpose(a.word)
            dyad = (c * sign, scalars, before + b.word + row + after)
            return [dyad, (-c * sign, scalars, row + b.word + before + after)]
    # Last, so that a scalar has its shortest writing when it is compared with others.
    return _without_scalar(c, scalars, word) if _scalar_segment(word) else _order_cross_product(c, scalars, word)


def _without_scalar(c: Any, scalars: Scalars, word: Word) -> list[Raw]:
    """A scalar taken out of a word."""
    first, last = _scalar_segment(word) or (0, 0)
    sign, scalar = scalar_of(word[first:last])
    rest = word[:first] + word[last:]
    return [(c * sign, scalars + ((scalar,) if scalar else ()), rest)] if sign else []


def _tilde_of_cross(c: Any, scalars: Scalars, word: Word, place: int) -> list[Raw]:
    """(u x w)~ = w uᵀ - u wᵀ."""
    inner, *rest = word[place].word
    u, w = inner.word, tuple(rest)
    (first, u_row), (second, w_row) = transpose(u), transpose(w)
    before, after = word[:place], word[place + 1 :]
    return [(c * first, scalars, before + w + u_row + after), (-c * second, scalars, before + u + w_row + after)]


def _scalar_segment(word: Word) -> tuple[int, int] | None:
    """Where a row and the vector that closes it stand."""
    start = None
    for k, letter in enumerate(word):
        # The last row before the first vector: of nested pairs this is the inner one, with no other scalar inside.
        if letter.kind == "r":
            start = k
        elif letter.kind == "v" and start is not None:
            return start, k + 1
    return None


def _order_cross_product(c: Any, scalars: Scalars, word: Word) -> list[Raw] | None:
    """u x w with the lesser first: the last tilde before a vector, or the first one after a row."""
    for k, letter in enumerate(word):
        if letter.kind != "t":
            continue
        # ũ M w = u x (M w): the tilde before a vector, whatever matrices stand between.
        ahead = _vector_after(word, k)
        if ahead and (swapped := _swap(letter.word, ahead)) is not None:
            rest = word[:k], word[k + 1 + len(ahead) :]
            return [(-c, scalars, rest[0] + swapped + rest[1])] if swapped else []
        # xᵀ ũ = (x x u)ᵀ: on the side of a row the cross product reads backwards.
        behind = _row_before(word, k)
        sign, vector = transpose(behind)
        if behind and (swapped := _swap(letter.word, vector)) is not None:
            turned, row = transpose(swapped)
            rest = word[: k - len(behind)], word[k + 1 :]
            return [(sign * turned * c, scalars, rest[0] + row + rest[1])] if swapped else []
    return None


def _swap(u: Word, w: Word) -> Word | None:
    """w x u as a word where w comes before u, nothing where they are equal, None where u x w is in order."""
    if u == w:
        return ()
    return (Letter("t", word=w), *u) if key_of(w) < key_of(u) else None


def _vector_after(word: Word, place: int) -> Word:
    """The matrices and the vector that a tilde acts on; empty when another letter comes first."""
    for k in range(place + 1, len(word)):
        if word[k].kind == "v":
            return word[place + 1 : k + 1]
        if word[k].kind != "m":
            break
    return ()


def _row_before(word: Word, place: int) -> Word:
    for k in range(place - 1, -1, -1):
        if word[k].kind == "r":
            return word[k:place]
        if word[k].kind != "m":
            break
    return ()


def _tilde(word: Word) -> Word:
    return (Letter("t", word=word),)


def _transpose(terms: Sum) -> Sum:
    flipped = ((c, s, transpose(w)) for (s, w), c in terms.items())
    return _reduce((c * sign, s, w) for c, s, (sign, w) in flipped)


def _inverse(terms: Sum) -> Sum:
    """Of one product letter by letter; of a sum as a matrix of its own."""
    if len(terms) == 1:
        # (A B)⁻¹ = B⁻¹ A⁻¹. Words with a vector in them (dyads) have no inverse, and scalars stay with the whole.
        (((scalars, word), c),) = terms.items()
        if not scalars and all(letter.kind == "m" for letter in word):
            turned = tuple(matrix_letter(x.symbol, x.is_transpose, not x.inverse) for x in reversed(word))
            return _reduce([(1 / c, (), turned)])
    # A letter of its own without properties: its normal form is one writing for equal sums, so equal inverses are
    # equal.
    whole = as_sympy(terms, (3, 3))
    import sympy

    return {((), (Letter("m", whole, inverse=True),)): sympy.S.One}


def _power(expression: Any) -> Sum:
    base, exponent = expression.args
    if not (exponent.is_Integer and (hasattr(base, "shape") or expression.has(Dot))):
        return {ONE: expression}
    # 1 / (u · w)² is no polynomial in words: it stays a coefficient, which SymPy cancels or not.
    if exponent < 0 and not hasattr(base, "shape"):
        return {ONE: expression}
    factor = expand(base) if exponent > 0 else _inverse(expand(base))
    import sympy

    total: Sum = {ONE: sympy.S.One}
    for _ in range(abs(int(exponent))):
        total = product(total, factor)
    return total


def _trace(term: Term, c: Any) -> Iterator[tuple[Term, Any]]:
    scalars, word = term
    rows = [k for k, letter in enumerate(word) if letter.kind == "r"]
    if rows:  # a dyad: the trace closes the row with its vector
        # tr(v wᵀ M) = wᵀ M v: a trace is cyclic.
        cyclic = word[rows[0] :] + word[: rows[0]]
        yield from _reduce([(c, scalars, cyclic)]).items()
        return
    sign, scalar = trace_of(word)
    if sign:
        factors = (*scalars, scalar) if scalar else scalars
        yield (tuple(sorted(factors, key=lambda s: s.key)), ()), c * sign


def as_sympy(terms: Sum, shape: tuple[Any, Any]) -> Any:
    """The sum as a SymPy expression of a shape."""
    import sympy
    from sympy.matrices.expressions import MatAdd, ZeroMatrix

    ordered = sorted(terms.items(), key=lambda item: (key_of(item[0][1]), [s.key for s in item[0][0]]))
    size = tuple(int(n) for n in shape)
    if size == (1, 1):
        return sympy.Add(*(c * sympy.Mul(*map(_scalar, scalars)) for (scalars, _), c in ordered))
    parts = [c * sympy.Mul(*map(_scalar, scalars)) * _word(word) for (scalars, word), c in ordered]
    return MatAdd(*parts).doit(deep=False) if parts else ZeroMatrix(*size)


def _scalar(scalar: Scalar) -> Any:
    from sympy.matrices.expressions import Trace

    if scalar.kind == "triple":
        x, y, z = map(_word, scalar.words)
        return Dot(x, Cross(y, z))
    (word,) = scalar.words
    if scalar.kind == "trace":
        return Trace(_word(word))
    return Dot(_letter(Letter("v", word[0].symbol)), _word(word[1:]))


def _word(word: Word) -> Any:
    """A word as a product; a tilde before a vector is a cross product."""
    from sympy.matrices.expressions import Identity

    if not word:
        return Identity(3)
    made = _letter(word[-1])
    for letter in reversed(word[:-1]):
        column = tuple(int(n) for n in made.shape) == (3, 1)
        made = Cross(_word(letter.word), made) if letter.kind == "t" and column else _letter(letter) * made
    return made


def _letter(letter: Letter) -> Any:
    if letter.kind == "t":
        return Tilde(_word(letter.word))
    made = letter.symbol
    if letter.kind == "r" or letter.is_transpose:
        made = made.T
    return made.I if letter.inverse else made
