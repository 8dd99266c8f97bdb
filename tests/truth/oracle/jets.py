"""Quantities with their first two time derivatives: the only differentiation that the oracle knows.

A jet (x, x', x'') of a curve x(t) goes through formulas by the rules of Leibniz and of the chain. Whoever knows where
things are as functions of a moving state therefore knows their velocities and accelerations too, and nobody has to
derive screws, Jacobians or centripetal terms by hand. Entries are NumPy arrays whose first axis is a batch of curves
(one per unit velocity, see `state.py`); their numbers are floats, complex numbers (for complex steps) or mpmath's.
"""

from __future__ import annotations

import mpmath
import numpy as np


class Jet:
    """(value, rate, second) of a scalar (batch,), a vector (batch, 3) or a matrix (batch, 3, 3)."""

    __slots__ = ("rate", "second", "value")

    # So that a number or an array on the left leaves the operation to the jet on the right.
    __array_ufunc__ = None

    def __init__(self, value, rate=0.0, second=0.0):
        self.value, self.rate, self.second = value, rate, second

    def __add__(self, other):
        o = jet(other)
        return Jet(self.value + o.value, self.rate + o.rate, self.second + o.second)

    __radd__ = __add__

    def __neg__(self):
        return Jet(-self.value, -self.rate, -self.second)

    def __sub__(self, other):
        return self + (-other)

    def __rsub__(self, other):
        return (-self) + other

    def __mul__(self, other):
        """Leibniz: (x y)'' = x'' y + 2 x' y' + x y''."""
        return _leibniz(self, jet(other), lambda x, y: x * y)

    def __rmul__(self, other):
        return self * other

    def __matmul__(self, other):
        return _leibniz(self, jet(other), np.matmul)

    def __truediv__(self, other):
        if isinstance(other, Jet):
            return self * other.through(lambda y: 1 / y, lambda y: -1 / (y * y), lambda y: 2 / (y * y * y))
        return self * (1 / other)

    def __rtruediv__(self, other):
        return jet(other) / self

    def through(self, function, first, second):
        """f(x) with f' and f'' given: (f(x))'' = f''(x) x'² + f'(x) x''."""
        slope = first(self.value)
        return Jet(
            function(self.value),
            slope * self.rate,
            second(self.value) * self.rate * self.rate + slope * self.second,
        )

    def map(self, linear):
        """The image under a linear map of arrays, such as a transposition."""
        shape = np.shape(self.value)
        return Jet(
            linear(self.value),
            *(linear(np.broadcast_to(x, shape) if np.ndim(x) == 0 else x) for x in (self.rate, self.second)),
        )

    @property
    def derivative(self):
        """The jet of x'. Its second derivative would be x''', which nobody knows here, so it must not be used."""
        shape = np.shape(self.value)
        return Jet(*(np.zeros(shape) if _nothing(x) else x for x in (self.rate, self.second)), np.nan)


def jet(x):
    """A jet, or a constant as one."""
    return x if isinstance(x, Jet) else Jet(x)


def _leibniz(x, y, product):
    """(x y)'' = x'' y + 2 x' y' + x y'' of a bilinear product, with the levels below."""
    return Jet(
        product(x.value, y.value),
        _times(x.rate, y.value, product) + _times(x.value, y.rate, product),
        _times(x.second, y.value, product) + 2 * _times(x.rate, y.rate, product) + _times(x.value, y.second, product),
    )


def _times(a, b, product):
    # Plain zeros are rates of constants; a product with one is nothing, whatever the shapes are. What is not known
    # (see `derivative`), a plain nan, stays unknown.
    unknown = False
    for factor in (a, b):
        if isinstance(factor, float):
            if factor == 0.0:
                return 0.0
            unknown = unknown or factor != factor
    return np.nan if unknown else product(a, b)


def _nothing(a):
    return isinstance(a, float) and a == 0.0


def stack(components):
    """Scalars, numbers or jets, as one vector jet."""
    jets = [jet(c) for c in components]

    def column(parts):
        # Like np.stack of broadcast arrays, in a quarter of the time: most of the oracle's time went there.
        parts = [np.asarray(part) for part in parts]
        batch = max(part.size for part in parts)
        table = np.empty((batch, len(parts)), dtype=np.result_type(*[part.dtype for part in parts]))
        for k, part in enumerate(parts):
            table[:, k] = part
        return table

    return Jet(*(column([getattr(j, part) for j in jets]) for part in ("value", "rate", "second")))


def component(vector, k):
    """One component of a vector jet."""
    return vector.map(lambda x: x[..., k])


def scaled(scalar, array):
    """A vector or a matrix jet times a scalar jet."""
    if not isinstance(scalar, Jet):
        return array * scalar
    more = np.ndim(array.value) - 1
    wide = scalar.map(lambda x: np.reshape(x, (*np.shape(x), *[1] * more)) if np.ndim(x) else x)
    return wide * array


def dot(a, b):
    """a · b of vector jets."""
    return (a * b).map(lambda x: x.sum(axis=-1))


def cross(a, b):
    """a x b of vector jets."""
    return _leibniz(a, b, _cross_product)


def _cross_product(x, y):
    pairs = ((1, 2), (2, 0), (0, 1))
    return np.stack([x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in pairs], axis=-1)


def applied(matrix, vector):
    """A v of a matrix and a vector jet."""
    return (matrix @ vector.map(lambda x: x[..., None])).map(lambda x: x[..., 0])


def transposed(matrix):
    return matrix.map(lambda x: np.swapaxes(x, -1, -2))


def root(x):
    """The square root of a scalar jet or number."""
    return function("sqrt", x)


def _of(name):
    """An elementary function for floats, complex numbers and mpmath's numbers, alone or in arrays."""
    plain = getattr(np, {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name))
    precise = np.frompyfunc(getattr(mpmath, name), 1, 1)

    def value(x):
        return precise(x) if isinstance(x, mpmath.mpf) or getattr(x, "dtype", None) == np.dtype(object) else plain(x)

    return value


_sqrt, _sin, _cos, _sinh, _cosh, _exp, _log = map(_of, ("sqrt", "sin", "cos", "sinh", "cosh", "exp", "log"))
_tan, _tanh, _asin, _acos, _atan = map(_of, ("tan", "tanh", "asin", "acos", "atan"))

# Value, first and second derivative of the functions of the language.
_FUNCTIONS = {
    "sqrt": (_sqrt, lambda x: 0.5 / _sqrt(x), lambda x: -0.25 / (x * _sqrt(x))),
    "sin": (_sin, _cos, lambda x: -_sin(x)),
    "cos": (_cos, lambda x: -_sin(x), lambda x: -_cos(x)),
    "tan": (_tan, lambda x: 1 / _cos(x) ** 2, lambda x: 2 * _sin(x) / _cos(x) ** 3),
    "sinh": (_sinh, _cosh, _sinh),
    "cosh": (_cosh, _sinh, _cosh),
    "tanh": (_tanh, lambda x: 1 / _cosh(x) ** 2, lambda x: -2 * _sinh(x) / _cosh(x) ** 3),
    "exp": (_exp, _exp, _exp),
    "log": (_log, lambda x: 1 / x, lambda x: -1 / (x * x)),
    "asin": (_asin, lambda x: 1 / _sqrt(1 - x * x), lambda x: x / _sqrt(1 - x * x) ** 3),
    "acos": (_acos, lambda x: -1 / _sqrt(1 - x * x), lambda x: -x / _sqrt(1 - x * x) ** 3),
    "atan": (_atan, lambda x: 1 / (1 + x * x), lambda x: -2 * x / (1 + x * x) ** 2),
}
FUNCTIONS = frozenset(_FUNCTIONS)


def function(name, x):
    """An elementary function of a number or of a jet."""
    value, first, second = _FUNCTIONS[name]
    return x.through(value, first, second) if isinstance(x, Jet) else value(x)
