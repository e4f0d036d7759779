"""Arithmetic and functions of complex numbers as pairs of real tensors; `complex` rewrites graphs with it."""

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Pair(NamedTuple):
    """The parts of a complex tensor; `imag` is None where all of it is zero."""

    real: Any
    imag: Any


def pair_of(x: Any) -> Pair:
    """A pair of an operand that may be one, a real tensor or a Python number."""
    if isinstance(x, Pair):
        return x
    return Pair(x.real, x.imag or None) if isinstance(x, complex) else Pair(x, None)


def is_pair(x: Any) -> bool:
    return isinstance(x, Pair)


def plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def minus(a: Any, b: Any) -> Any:
    return a if b is None else -b if a is None else a - b


def times(a: Any, b: Any, product: Callable = operator.mul) -> Any:
    return None if a is None or b is None else product(a, b)


def add(x: Any, y: Any, *, alpha: complex = 1) -> Pair:
    x, y = pair_of(x), pair_of(y) if alpha == 1 else multiply(y, alpha)
    return Pair(plus(x.real, y.real), plus(x.imag, y.imag))


def subtract(x: Any, y: Any, *, alpha: complex = 1) -> Pair:
    return add(x, negate(y if alpha == 1 else multiply(y, alpha)))


def negate(x: Any) -> Pair:
    x = pair_of(x)
    return Pair(-x.real, None if x.imag is None else -x.imag)


def multiply(x: Any, y: Any, product: Callable = operator.mul) -> Pair:
    """A product that is linear in both operands, such as one of matrices."""
    x, y = pair_of(x), pair_of(y)
    real = minus(times(x.real, y.real, product), times(x.imag, y.imag, product))
    return Pair(real, plus(times(x.real, y.imag, product), times(x.imag, y.real, product)))


def multiply_add(x: Any, left: Any, right: Any, *, beta: complex = 1, alpha: complex = 1, product: Callable) -> Pair:
    """aten.addmm and its kind."""
    found = multiply(left, right, product)
    return add(found if alpha == 1 else multiply(found, alpha), x if beta == 1 else multiply(x, beta))


def conjugate(x: Any) -> Pair:
    x = pair_of(x)
    return Pair(x.real, None if x.imag is None else -x.imag)


def absolute(x: Any) -> torch.Tensor:
    x = pair_of(x)
    return x.real.abs() if x.imag is None else torch.hypot(x.real, x.imag)


def divide(x: Any, y: Any) -> Pair:
    """By a divisor of about one, so that its square is in range."""
    x, y = pair_of(x), pair_of(y)
    if y.imag is None:
        return Pair(x.real / y.real, None if x.imag is None else x.imag / y.real)
    if not isinstance(y.real, torch.Tensor):
        return multiply(x, 1 / complex(*y))
    scale = torch.maximum(y.real.abs(), y.imag.abs())
    scale = torch.where((scale == 0) | torch.isinf(scale), torch.ones_like(scale), scale)
    a, b = y.real / scale, y.imag / scale
    square = a * a + b * b
    real, imag = multiply(x, Pair(a, -b))
    return Pair(real / square / scale, imag / square / scale)


def sign(x: Any) -> Pair:
    """aten.sgn: of absolute value one; zero of zero."""
    size = absolute(x)
    is_zero = size == 0
    of = lambda part: torch.where(is_zero, torch.zeros_like(part), part / torch.where(is_zero, torch.ones_like(size), size))
    return Pair(of(x.real), None if x.imag is None else of(x.imag))


def filled(x: Any) -> Pair:
    """A pair with an imaginary part."""
    x = pair_of(x)
    return Pair(x.real, torch.zeros_like(x.real) if x.imag is None else x.imag)


def angle(x: Any) -> torch.Tensor:
    x = filled(x)
    return torch.atan2(x.imag, x.real)


def polar(size: torch.Tensor, turn: torch.Tensor) -> Pair:
    return Pair(size * torch.cos(turn), size * torch.sin(turn))


def exponential(x: Any) -> Pair:
    x = filled(x)
    return polar(torch.exp(x.real), x.imag)


def logarithm(x: Any) -> Pair:
    return Pair(torch.log(absolute(x)), angle(x))


def root(x: Any) -> Pair:
    """The square root with a real part that is not negative, without a difference of near numbers."""
    x = filled(x)
    half = torch.sqrt((absolute(x) + x.real.abs()) / 2)
    other = torch.where(half == 0, torch.zeros_like(half), x.imag.abs() / torch.where(half == 0, torch.ones_like(half), 2 * half))
    is_left = x.real < 0
    imag = torch.where(is_left, half, other)
    return Pair(torch.where(is_left, other, half), torch.copysign(imag, x.imag))


def power(x: Any, exponent: Any) -> Pair:
    """aten.pow with a number: products for small integers."""
    if exponent == 0.5:
        return root(x)
    if isinstance(exponent, complex) or exponent != int(exponent) or not 1 <= abs(exponent) <= 8:
        return exponential(multiply(logarithm(x), exponent))
    found = functools.reduce(multiply, [pair_of(x)] * int(abs(exponent)))
    return found if exponent > 0 else divide(1, found)


def sine(x: Any) -> Pair:
    x = filled(x)
    return Pair(torch.sin(x.real) * torch.cosh(x.imag), torch.cos(x.real) * torch.sinh(x.imag))


def cosine(x: Any) -> Pair:
    x = filled(x)
    return Pair(torch.cos(x.real) * torch.cosh(x.imag), -torch.sin(x.real) * torch.sinh(x.imag))


def hyperbolic_sine(x: Any) -> Pair:
    x = filled(x)
    return Pair(torch.sinh(x.real) * torch.cos(x.imag), torch.cosh(x.real) * torch.sin(x.imag))


def hyperbolic_cosine(x: Any) -> Pair:
    x = filled(x)
    return Pair(torch.cosh(x.real) * torch.cos(x.imag), torch.sinh(x.real) * torch.sin(x.imag))


def hyperbolic_tangent(x: Any) -> Pair:
    """Without exponentials, which overflow."""
    x = filled(x)
    tangent, sine, cosine = torch.tanh(x.real), torch.sin(x.imag), torch.cos(x.imag)
    whole = cosine * cosine + tangent * tangent * sine * sine
    return Pair(tangent / whole, sine * cosine * (1 - tangent * tangent) / whole)


def equal(x: Any, y: Any) -> torch.Tensor:
    x, y = pair_of(x), pair_of(y)
    of_real, (a, b) = x.real == y.real, (0 if part is None else part for part in (x.imag, y.imag))
    return of_real if x.imag is None and y.imag is None else of_real & (a == b)


def as_real(x: Any) -> torch.Tensor:
    return torch.stack(filled(x), -1)


def as_complex(x: torch.Tensor) -> Pair:
    return Pair(x.select(-1, 0), x.select(-1, 1))


def imaginary(x: Any) -> torch.Tensor:
    return filled(x).imag
