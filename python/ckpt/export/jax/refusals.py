"""What a step of JAX's may not hold, found before it is lowered, where each operation has its place in the user's file."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax.extend import source_info_util

from ...errors import UnsupportedStep
from ..text import NO_FORM
from .rules import Rule, drop

# Effects on the outside world: without results they are left out, their results cannot be.
CALLBACKS = ("debug_callback", "debug_print", "io_callback", "pure_callback")
OUTSIDE = "compute it outside of the step and pass the result as an argument"
# Primitives without a form, and what to write instead.
WAYS_OUT = {
    "cholesky": "write it with jax.lax.fori_loop over columns",
    "eig": OUTSIDE,
    "eigh": f"use products, such as a Newton-Schulz iteration for inverse roots, or {OUTSIDE}",
    "fft": "multiply by the cosines and the sines of the transform, as two real products",
    "geqrf": OUTSIDE,
    "hessenberg": OUTSIDE,
    "householder_product": OUTSIDE,
    "lu": "write it with jax.lax.fori_loop over columns",
    "qr": OUTSIDE,
    "schur": OUTSIDE,
    "svd": OUTSIDE,
    "triangular_solve": "write it with jax.lax.fori_loop over rows",
    "tridiagonal": OUTSIDE,
    "tridiagonal_solve": OUTSIDE,
}


def equations_of(jaxpr: Any, caller: str = "unknown place") -> Iterator[tuple[Any, str]]:
    """All equations, at any depth, with file and line of the user's that each stems from."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        found = re.match(r"(.*?:\d+)", source_info_util.summarize(equation.source_info))
        place = found[1] if found else caller
        yield equation, place
        for parameter in equation.params.values():
            for inner in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
                if hasattr(inner, "eqns") or hasattr(inner, "jaxpr"):
                    yield from equations_of(inner, place)


def is_complex(aval: Any) -> bool:
    """Whether a value is an array of complex numbers; tokens have no type of element."""
    return hasattr(aval, "dtype") and jax.dtypes.issubdtype(aval.dtype, np.complexfloating)


def refuse_equations(jaxpr: Any) -> tuple[Rule, ...]:
    """Refuses what has no form; returns rules that leave out callbacks without results, each with a remark."""
    refused = []
    dropped = {}
    for equation, place in equations_of(jaxpr):
        name = equation.primitive.name
        if name in WAYS_OUT:
            refused.append(f"{name} ({place}): {WAYS_OUT[name]}")
        elif any(is_complex(result.aval) for result in equation.outvars):
            refused.append(f"complex numbers ({place}): write their real and imaginary parts as two arrays")
        if name not in CALLBACKS:
            continue
        if equation.params.get("ordered"):
            refused.append(f"{name} ({place}): leave out ordered=True")
            continue
        if equation.outvars:
            refused.append(f"{name} ({place}): pass its result as an argument of the step")
            continue
        print(f"{place}: remark: {name} is left out", file=sys.stderr)
        dropped[equation.primitive] = drop(equation.primitive)
    if refused:
        raise UnsupportedStep("\n  ".join([NO_FORM, *dict.fromkeys(refused)]))
    return tuple(dropped.values())
