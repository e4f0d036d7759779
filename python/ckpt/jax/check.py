"""A planned step beside the unplanned one: XLA's bytes and the results."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from ..budget import format_bytes


@dataclasses.dataclass
class Check:
    """What a planned step does to memory and results.

    Attributes:
        plain_temp_bytes, temp_bytes: XLA's temporary memory without and with the plan.
        largest_difference: of a result, by the largest magnitude in that result.
        equal_results: how many results have the same bits.
        results: how many results there are.
    """

    plain_temp_bytes: int
    temp_bytes: int
    largest_difference: float
    equal_results: int
    results: int

    def __str__(self) -> str:
        return (
            f"plain jit takes {format_bytes(self.plain_temp_bytes)}, the planned step "
            f"{format_bytes(self.temp_bytes)}; {self.equal_results} of {self.results} results have the same bits, "
            f"the largest difference is {self.largest_difference:.1e}"
        )


def _host(leaf: Any) -> np.ndarray:
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.random.key_data(leaf)
    return np.asarray(leaf)


def _difference(actual: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference by the largest magnitude; numbers that are none equal each other."""
    kind = np.complex128 if np.iscomplexobj(expected) else np.float64
    wide, other = expected.astype(kind), actual.astype(kind)
    same = (wide == other) | (np.isnan(wide) & np.isnan(other))
    if same.all():
        return 0.0
    magnitude = np.abs(wide[np.isfinite(wide)]).max(initial=np.finfo(np.float64).tiny)
    difference = np.abs(other[~same] - wide[~same]).max()
    return float(np.nan_to_num(difference / magnitude, nan=np.inf, posinf=np.inf))


def compare(temp_bytes: int, plain_temp_bytes: int, actual: Any, expected: Any) -> Check:
    """Compares the bytes and the results of a planned step with those of plain `jit`."""
    pairs = [(_host(a), _host(e)) for a, e in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True)]
    return Check(
        plain_temp_bytes=plain_temp_bytes,
        temp_bytes=temp_bytes,
        largest_difference=max((_difference(a, e) for a, e in pairs), default=0.0),
        equal_results=sum(a.tobytes() == e.tobytes() for a, e in pairs),
        results=len(pairs),
    )
