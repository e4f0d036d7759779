"""How primitives that have no linalg form are lowered: by others that have one."""

import functools
from collections.abc import Callable
from typing import Any

import jax
from jax.interpreters import mlir

from .cumulative import along_last, cumulate, cumulate_exponentials
from .sorting import sort, top_k

# No device of this platform is in the process, and JAX's rules for it are its general ones: random
# bits without a loop, for one, so that masks are elementwise.
PLATFORM = "tpu"


def drop(primitive: Any) -> None:
    """Lowers a primitive without results to nothing."""
    mlir.register_lowering(primitive, lambda context, *arguments, **parameters: [], platform=PLATFORM)


def cumulative(function: Callable) -> Callable:
    """A rule for one kind of cumulation."""
    return lambda x, *, axis, reverse: along_last(function, x, axis, reverse)


def register_rules() -> None:
    """Tells JAX the rules."""
    for kind in ("cumsum", "cumprod", "cummax", "cummin"):
        rule = mlir.lower_fun(cumulative(functools.partial(cumulate, kind)), multiple_results=False)
        mlir.register_lowering(getattr(jax.lax, f"{kind}_p"), rule, platform=PLATFORM)
    rule = mlir.lower_fun(cumulative(cumulate_exponentials), multiple_results=False)
    mlir.register_lowering(jax.lax.cumlogsumexp_p, rule, platform=PLATFORM)
    for primitive, function in ((jax.lax.sort_p, sort), (jax.lax.top_k_p, top_k)):
        mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=True), platform=PLATFORM)
