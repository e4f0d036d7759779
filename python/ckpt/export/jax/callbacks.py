"""Calls of Python from inside a step: rules that leave out those that only watch, or check what cannot happen."""

import re
import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import io_callback
from jax.extend.mlir import ir
from jax.interpreters import mlir

from ...errors import UnsupportedStep
from ..text import NO_FORM

# Modules whose callbacks with results only raise an error: the results are never read.
CHECKS = ("equinox._errors",)
CALLS = (
    lambda x: jax.debug.print("{}", x),
    lambda x: jax.debug.callback(print, x),
    lambda x: io_callback(print, None, x),
    lambda x: jax.pure_callback(abs, x, x),
)


def primitives() -> dict[str, Any]:
    """The primitives of callbacks by name: JAX names none of them publicly, its traces hold them."""
    traced = (jax.make_jaxpr(call)(1.0).eqns[0].primitive for call in CALLS)
    return {primitive.name: primitive for primitive in traced}


def is_check(parameters: dict[str, Any]) -> bool:
    """Whether a callback with these parameters raises an error instead of returning."""
    function = getattr(parameters.get("callback"), "callback_func", None)
    return getattr(function, "__module__", None) in CHECKS


def refusal(name: str, parameters: dict[str, Any], has_results: bool) -> str | None:
    """What to do about a callback that cannot be left out; nothing for another one."""
    if parameters.get("ordered"):
        return "leave out ordered=True"
    if has_results and not is_check(parameters):
        return "pass its result as an argument of the step"
    return None


def failed(aval: Any) -> jax.Array:
    """The value of a result whose check failed: NaN, and the largest integer."""
    if jnp.issubdtype(aval.dtype, jnp.inexact):
        return jnp.full(aval.shape, jnp.nan, aval.dtype)
    highest = True if aval.dtype == bool else jnp.iinfo(aval.dtype).max
    return jnp.full(aval.shape, highest, aval.dtype)


def callback_rules() -> list[tuple[Any, Any]]:
    """Rules for one lowering: each place is named once."""
    said = set()

    def rule(name):
        def lower(context, *operands, **parameters):
            found = re.search(r'"([^"]*)":(\d+)', str(ir.Location.current))
            place = f"{found[1]}:{found[2]}" if found else "unknown place"
            if why := refusal(name, parameters, bool(context.avals_out)):
                raise UnsupportedStep(f"{NO_FORM}\n  {name} ({place}): {why}")
            text = "where this check fails, its results are NaN" if context.avals_out else f"{name} is left out"
            if (place, text) not in said:
                said.add((place, text))
                print(f"{place}: remark: {text}", file=sys.stderr)
            results = mlir.lower_fun(lambda *_: [failed(aval) for aval in context.avals_out], multiple_results=True)
            return results(context, *operands)

        return lower

    return [(primitive, rule(name)) for name, primitive in primitives().items()]
