"""The tails of Student's t distribution, by the regularised incomplete beta function."""

from __future__ import annotations

import math

TINY = 1e-300  # in place of a zero in the continued fraction
CLOSE = 3e-16  # a factor so near to 1 changes nothing any more
TERMS = 10_000  # far more than it ever takes: about the square root of the larger parameter


def two_tails(t: float, freedom: float) -> float:
    """How probable it is that |T| is at least |t|, for so many degrees of freedom.

    Right to 1e-11 of itself, or better, up to thousands of degrees of freedom.
    """
    if not freedom > 0 or math.isnan(t):
        raise ValueError(f"There is no t of {t} with {freedom} degrees of freedom.")
    if math.isinf(t):
        return 0.0
    square = t * t
    return beta_share(freedom / 2, 0.5, freedom / (freedom + square), square / (freedom + square))


def beta_share(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function I_x(a, b); `rest` is 1 - x, without its rounding."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # where the fraction is slow: I_x(a, b) = 1 - I_(1-x)(b, a)
        return 1 - beta_share(b, a, rest, x)
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    # The logarithm of what is near to 1 is best taken from how far it is from it.
    logs = [
        math.log1p(-other) if other < 0.5 else math.log(part)
        for part, other in ((x, rest), (rest, x))
    ]
    return math.exp(scale + a * logs[0] + b * logs[1]) * _fraction(a, b, x) / a


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction 1 / (1 + d1 / (1 + d2 / ...)) of I_x(a, b), by Lentz's method."""
    upper, lower = 1.0, 1 / _nonzero(1 - (a + b) * x / (a + 1))
    value = lower
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for d in (even, odd):
            lower = 1 / _nonzero(1 + d * lower)
            upper = _nonzero(1 + d / upper)
            value *= upper * lower
        if abs(upper * lower - 1) < CLOSE:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > TINY else TINY
