"""What a step of JAX's may not hold, found before it is lowered, where each operation has its place in the user's file."""

import re
from collections.abc import Iterator
from typing import Any

from jax.extend import source_info_util

from ...errors import UnsupportedStep
from ..text import NO_FORM
from .callbacks import primitives, refusal
from .parts import KNOWN, meets_complex, programs_in

OUTSIDE = "compute it outside of the step and pass the result as an argument"
# Primitives without a form, and what to write instead.
WAYS_OUT = {
    "eig": OUTSIDE,
    "hessenberg": OUTSIDE,
    "schur": OUTSIDE,
    "tridiagonal": OUTSIDE,
}


def equations_of(jaxpr: Any, caller: str = "unknown place") -> Iterator[tuple[Any, str]]:
    """All equations, at any depth, with file and line of the user's that each stems from."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        found = re.match(r"(.*?:\d+)", source_info_util.summarize(equation.source_info))
        place = found[1] if found else caller
        yield equation, place
        for inner in programs_in(equation):
            yield from equations_of(inner, place)


def refuse_equations(jaxpr: Any) -> None:
    """Refuses all equations that have no form, in one list."""
    refused = []
    if any(hasattr(var.aval, "inner_aval") for var in (*jaxpr.jaxpr.invars, *jaxpr.jaxpr.constvars)):
        refused.append("a reference (jax.new_ref) from outside of the step: pass its value and return the new one")
    callbacks = primitives()
    for equation, place in equations_of(jaxpr):
        name = equation.primitive.name
        if name in WAYS_OUT:
            refused.append(f"{name} ({place}): {WAYS_OUT[name]}")
        elif equation.params.get("pivoting") or equation.params.get("subset_by_index"):
            refused.append(f"{name} with pivoting or a subset ({place}): {OUTSIDE}")
        elif name not in KNOWN and meets_complex(equation):
            refused.append(f"{name} of complex numbers ({place}): write it with their real and imaginary parts")
        elif name == "scatter" and equation.params["update_jaxpr"] is not None:
            refused.append(f"a scatter that applies a function ({place}): set the elements to what it makes of them")
        elif name == "scatter-mul" and meets_complex(equation) and not equation.params["unique_indices"]:
            refused.append(f"{name} of complex numbers ({place}): say unique_indices=True, or write it with their real and imaginary parts")
        elif name in callbacks and (why := refusal(name, equation.params, bool(equation.outvars))):
            refused.append(f"{name} ({place}): {why}")
    if refused:
        raise UnsupportedStep("\n  ".join([NO_FORM, *dict.fromkeys(refused)]))
