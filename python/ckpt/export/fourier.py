"""Fourier transforms as products with small tables, of real and imaginary parts, for the exporters of all frameworks.

A transform of n = p q numbers is q transforms of p numbers, a rotation of each result, and p transforms of q
numbers (Cooley and Tukey, 1965). Factors up to LARGEST are one product with a table of sines and cosines. A
length without such a factor is a convolution, which is transforms of a power of two (Bluestein, 1970).
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

# A table of that many rows costs less than another pass over the numbers.
LARGEST = 32

# The real and the imaginary part of an array, None where all of it is zero.
Parts = tuple[Any, Any | None]


def each(function: Callable[[Any], Any], x: Parts) -> Parts:
    return function(x[0]), None if x[1] is None else function(x[1])


def rotations(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of multiples of a full turn, exact at quarters of it: the sum of a sequence has no imaginary part."""

    def sine(turns: np.ndarray) -> np.ndarray:
        halves = np.round(2 * turns)
        return np.where(halves % 2, -1, 1) * np.sin(2 * np.pi * (turns - halves / 2)) + 0.0

    return sine(angles + 0.25), sine(angles)


def factor_of(length: int) -> int:
    """The divisor nearest to the square root that a table is for; 1 if there is none."""
    divisors = [some for some in range(2, LARGEST + 1) if length % some == 0]
    return min(divisors, key=lambda some: abs(some * some - length), default=1)


def first(x: Parts, count: int) -> Parts:
    return each(lambda part: part[..., :count], x)


@dataclasses.dataclass(frozen=True)
class Transforms:
    """Transforms of the arrays of a framework.

    Attributes:
        constant: a table in float64 as an array of the type of another one.
        product: of matrices, in the whole precision of their type.
        pad: zeros behind the elements of the last axis, a number of them.
        concatenate: a list of arrays, along the last axis.
        flip: the elements of the last axis in reverse order.
    """

    constant: Callable[[np.ndarray, Any], Any]
    product: Callable[[Any, Any], Any]
    pad: Callable[[Any, int], Any]
    concatenate: Callable[[list[Any]], Any]
    flip: Callable[[Any], Any]

    def rotate(self, x: Parts, factors: tuple[np.ndarray, np.ndarray]) -> Parts:
        cosine, sine = (self.constant(factor, x[0]) for factor in factors)
        if x[1] is None:
            return x[0] * cosine, x[0] * sine
        return x[0] * cosine - x[1] * sine, x[0] * sine + x[1] * cosine

    def by_table(self, x: Parts, sign: int) -> Parts:
        length, product = x[0].shape[-1], self.product
        places = np.arange(length)
        table = rotations(sign * (np.outer(places, places) % length) / length)
        cosine, sine = (self.constant(part, x[0]) for part in table)
        if x[1] is None:
            return product(x[0], cosine), product(x[0], sine)
        return product(x[0], cosine) - product(x[1], sine), product(x[0], sine) + product(x[1], cosine)

    def by_convolution(self, x: Parts, sign: int) -> Parts:
        """A length without a divisor that a table is for."""
        length = x[0].shape[-1]
        padded = 1 << (2 * length - 2).bit_length()
        squares = np.arange(length, dtype=np.int64) ** 2 % (2 * length)
        chirp = rotations(sign * squares / (2 * length))
        turned = each(lambda part: self.pad(part, padded - length), self.rotate(x, chirp))
        kernel = np.zeros(padded, np.complex128)
        kernel[:length] = np.exp(-1j * np.pi * sign * squares / length)
        kernel[padded - length + 1 :] = kernel[1:length][::-1]
        kernel = np.fft.fft(kernel) / padded
        spectrum = self.rotate(self.along_last(turned, -1), (kernel.real, kernel.imag))
        return self.rotate(first(self.along_last(spectrum, 1), length), chirp)

    def along_last(self, x: Parts, sign: int) -> Parts:
        """The sums of x[j] exp(sign 2 pi i j k / n) over j, along the last axis."""
        *outer, length = x[0].shape
        if length <= LARGEST:
            return self.by_table(x, sign)
        columns = factor_of(length)
        if columns == 1:
            return self.by_convolution(x, sign)
        rows = length // columns
        split = each(lambda part: part.reshape(*outer, columns, rows).swapaxes(-1, -2), x)
        inner = each(lambda part: part.swapaxes(-1, -2), self.by_table(split, sign))
        turns = sign * np.outer(np.arange(columns), np.arange(rows)) / length
        found = self.along_last(self.rotate(inner, rotations(turns)), sign)
        return each(lambda part: part.swapaxes(-1, -2).reshape(*outer, length), found)

    def along(self, x: Parts, axis: int, sign: int) -> Parts:
        exchange = lambda part: part.swapaxes(axis, -1)
        return each(exchange, self.along_last(each(exchange, x), sign))

    def completed(self, x: Parts, length: int) -> Parts:
        """The whole spectrum of real numbers along the last axis, which holds its first half: the others are conjugates."""
        real, imag = first(x, min(length, length // 2 + 1))
        mirror = lambda part: self.flip(part[..., 1 : (length + 1) // 2])
        return self.concatenate([real, mirror(real)]), None if imag is None else self.concatenate([imag, -mirror(imag)])
