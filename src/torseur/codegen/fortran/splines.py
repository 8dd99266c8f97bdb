"""Tabulated functions in Fortran: bisection on the knots, then the interval's polynomial."""

from __future__ import annotations

from torseur.codegen.fortran.language import constants
from torseur.codegen.straight import Spline

_BODY = """\
    integer :: low, high, middle, power
    low = 1
    high = {intervals} + 1
    do while (high - low > 1)
      middle = (low + high) / 2
      if (x >= knots(middle)) then
        low = middle
      else
        high = middle
      end if
    end do
    y = coefficients({columns} * low)
    do power = {columns} - 1, 1, -1
      y = y * (x - knots(low)) + coefficients({columns} * (low - 1) + power)
    end do"""


def spline_function(name: str, spline: Spline) -> list[str]:
    """A pure function of one number."""
    return [
        f"  pure function {name}(x) result(y)",
        "    real(dp), intent(in) :: x",
        "    real(dp) :: y",
        *constants("knots", spline.knots, "    "),
        *constants("coefficients", spline.flat, "    "),
        _BODY.format(intervals=spline.intervals, columns=spline.columns),
        f"  end function {name}",
    ]
