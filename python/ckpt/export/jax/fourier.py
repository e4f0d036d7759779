"""jax.lax.fft of real and imaginary parts; `parts` calls it while it traces a step without complex numbers."""

import functools
import math

import jax.numpy as jnp

from ..fourier import Parts, Transforms, each, first

TRANSFORMS = Transforms(
    constant=lambda table, like: table.astype(like.dtype),
    product=functools.partial(jnp.matmul, precision="highest"),
    pad=lambda x, count: jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, count)]),
    concatenate=lambda arrays: jnp.concatenate(arrays, -1),
    flip=lambda x: jnp.flip(x, -1),
)


def fourier(x: Parts, kind: str, lengths: tuple[int, ...]) -> Parts:
    """jax.lax.fft over the last axes: FFT, IFFT and RFFT give a pair, IRFFT real numbers and None."""
    along = TRANSFORMS.along
    last = x[0].ndim - 1
    outer = range(last + 1 - len(lengths), last)
    sign = -1 if kind in ("FFT", "RFFT") else 1
    if kind == "RFFT":
        x = first(along(x, last, sign), lengths[-1] // 2 + 1)
    for axis in outer:
        x = along(x, axis, sign)
    if kind == "IRFFT":
        x = (along(TRANSFORMS.completed(x, lengths[-1]), last, sign)[0], None)
    elif kind != "RFFT":
        x = along(x, last, sign)
    count = math.prod(lengths) if sign > 0 else 1
    return each(lambda part: part / count, x)
