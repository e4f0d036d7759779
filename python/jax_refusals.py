"""What a step of JAX's may not hold, found before it is lowered, where each operation has its place in the user's file."""

import re
import sys
from collections.abc import Iterator
from typing import Any

from jax.extend import source_info_util
from jax_rules import drop
from mlir_text import NO_FORM, Unsupported

# Effects on the outside world: without results they are left out, their results cannot be.
CALLBACKS = ("debug_callback", "debug_print", "io_callback", "pure_callback")
OUTSIDE = "compute it outside of the step and pass the result as an argument"
# Primitives without a form, and what to write instead.
WAYS_OUT = {
    "eig": f"use jnp.linalg.eigh where the matrix is symmetric, or {OUTSIDE}",
    "geqrf": OUTSIDE,
    "hessenberg": OUTSIDE,
    "householder_product": OUTSIDE,
    "qr": f"use jnp.linalg.cholesky of x.T @ x where x is well conditioned, or {OUTSIDE}",
    "schur": OUTSIDE,
    "svd": f"use jnp.linalg.eigh of x.T @ x where x is well conditioned, or {OUTSIDE}",
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


def refuse_equations(jaxpr: Any) -> None:
    """Lowers prints and other callbacks without results to nothing, with a remark; refuses what has no form."""
    refused = []
    for equation, place in equations_of(jaxpr):
        name = equation.primitive.name
        if name in WAYS_OUT:
            refused.append(f"{name} ({place}): {WAYS_OUT[name]}")
        if name not in CALLBACKS:
            continue
        if equation.params.get("ordered"):
            refused.append(f"{name} ({place}): leave out ordered=True")
            continue
        if equation.outvars:
            refused.append(f"{name} ({place}): pass its result as an argument of the step")
            continue
        print(f"{place}: remark: {name} is left out", file=sys.stderr)
        drop(equation.primitive)
    if refused:
        raise Unsupported("\n  ".join([NO_FORM, *dict.fromkeys(refused)]))
