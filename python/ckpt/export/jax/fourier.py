"""Fourier transforms as products with small tables, of real and imaginary parts.

A transform of n = p q numbers is q transforms of p numbers, a rotation of each result, and p transforms of q
numbers (Cooley and Tukey, 1965). Factors up to LARGEST are one product with a table of sines and cosines. A
length without such a factor is a convolution, which is transforms of a power of two (Bluestein, 1970).
"""

import math

import jax
import jax.numpy as jnp
import numpy as np

# A table of that many rows costs less than another pass over the numbers.
LARGEST = 32

each = jax.tree.map
# The real and the imaginary part, None where all of it is zero.
Pair = tuple[jax.Array, jax.Array | None]


def rotations(angles: np.ndarray, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Cosines and sines of multiples of a full turn."""
    turns = 2 * np.pi * (angles % 1.0)
    return np.cos(turns).astype(dtype), np.sin(turns).astype(dtype)


def rotate(x: Pair, factors: tuple[np.ndarray, np.ndarray]) -> Pair:
    (real, imag), (cosine, sine) = x, factors
    if imag is None:
        return real * cosine, real * sine
    return real * cosine - imag * sine, real * sine + imag * cosine


def factor_of(length: int) -> int:
    """The divisor nearest to the square root that a table is for; 1 if there is none."""
    divisors = [some for some in range(2, LARGEST + 1) if length % some == 0]
    return min(divisors, key=lambda some: abs(some * some - length), default=1)


def by_table(x: Pair, sign: int) -> Pair:
    length = x[0].shape[-1]
    places = np.arange(length)
    cosine, sine = rotations(sign * (np.outer(places, places) % length) / length, x[0].dtype)
    exact = lambda a, b: jnp.matmul(a, b, precision="highest")
    if x[1] is None:
        return exact(x[0], cosine), exact(x[0], sine)
    return exact(x[0], cosine) - exact(x[1], sine), exact(x[0], sine) + exact(x[1], cosine)


def by_convolution(x: Pair, sign: int) -> Pair:
    """A length without a divisor that a table is for."""
    length = x[0].shape[-1]
    padded = 1 << (2 * length - 2).bit_length()
    squares = np.arange(length, dtype=np.int64) ** 2 % (2 * length)
    chirp = rotations(sign * squares / (2 * length), x[0].dtype)
    wide = [(0, 0)] * (x[0].ndim - 1) + [(0, padded - length)]
    turned = each(lambda part: jnp.pad(part, wide), rotate(x, chirp))
    kernel = np.zeros(padded, np.complex128)
    kernel[:length] = np.exp(-1j * np.pi * sign * squares / length)
    kernel[padded - length + 1 :] = kernel[1:length][::-1]
    kernel = np.fft.fft(kernel) / padded
    spectrum = rotate(along_last(turned, -1), (kernel.real.astype(x[0].dtype), kernel.imag.astype(x[0].dtype)))
    return rotate(first(along_last(spectrum, 1), length), chirp)


def along_last(x: Pair, sign: int) -> Pair:
    """The sums of x[j] exp(sign 2 pi i j k / n) over j, along the last axis."""
    *outer, length = x[0].shape
    if length <= LARGEST:
        return by_table(x, sign)
    columns = factor_of(length)
    if columns == 1:
        return by_convolution(x, sign)
    rows = length // columns
    split = each(lambda part: jnp.swapaxes(part.reshape(*outer, columns, rows), -1, -2), x)
    inner = each(lambda part: jnp.swapaxes(part, -1, -2), by_table(split, sign))
    turns = sign * np.outer(np.arange(columns), np.arange(rows)) / length
    found = along_last(rotate(inner, rotations(turns, x[0].dtype)), sign)
    return each(lambda part: jnp.swapaxes(part, -1, -2).reshape(*outer, length), found)


def along(x: Pair, axis: int, sign: int) -> Pair:
    moved = each(lambda part: jnp.moveaxis(part, axis, -1), x)
    return each(lambda part: jnp.moveaxis(part, -1, axis), along_last(moved, sign))


def first(x: Pair, count: int) -> Pair:
    return each(lambda part: part[..., :count], x)


def completed(x: Pair, length: int) -> Pair:
    """The whole spectrum of real numbers along the last axis, which holds its first half: the others are conjugates."""
    real, imag = first(x, length // 2 + 1)
    mirror = lambda part: jnp.flip(part[..., 1 : (length + 1) // 2], -1)
    imag = jnp.zeros_like(real) if imag is None else imag
    return jnp.concatenate([real, mirror(real)], -1), jnp.concatenate([imag, -mirror(imag)], -1)


def fourier(x: Pair, kind: str, lengths: tuple[int, ...]) -> Pair:
    """jax.lax.fft over the last axes: FFT, IFFT and RFFT give a pair, IRFFT real numbers and None."""
    last = x[0].ndim - 1
    outer = range(last + 1 - len(lengths), last)
    sign = -1 if kind in ("FFT", "RFFT") else 1
    if kind == "RFFT":
        x = first(along(x, last, sign), lengths[-1] // 2 + 1)
    for axis in outer:
        x = along(x, axis, sign)
    if kind == "IRFFT":
        x = (along(completed(x, lengths[-1]), last, sign)[0], None)
    elif kind != "RFFT":
        x = along(x, last, sign)
    count = math.prod(lengths) if sign > 0 else 1
    return each(lambda part: part / count, x)
