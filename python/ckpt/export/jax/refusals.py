"""What a step of JAX's may not hold, found before it is lowered, where each operation has its place in the user's file."""

import re
import sys
from collections.abc import Iterator
from typing import Any

from jax.extend import source_info_util

from ...errors import UnsupportedStep
from ..text import NO_FORM
from .parts import KNOWN, meets_complex, programs_in
from .rules import Rule, drop

# Effects on the outside world: without results they are left out, their results cannot be.
CALLBACKS = ("debug_callback", "debug_print", "io_callback", "pure_callback")
OUTSIDE = "compute it outside of the step and pass the result as an argument"
# Primitives without a form, and what to write instead.
WAYS_OUT = {
    "eig": OUTSIDE,
    "geqrf": OUTSIDE,
    "hessenberg": OUTSIDE,
    "householder_product": OUTSIDE,
    "schur": OUTSIDE,
    "svd": OUTSIDE,
    "tridiagonal": OUTSIDE,
    "tridiagonal_solve": OUTSIDE,
}


def equations_of(jaxpr: Any, caller: str = "unknown place") -> Iterator[tuple[Any, str]]:
    """All equations, at any depth, with file and line of the user's that each stems from."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        found = re.match(r"(.*?:\d+)", source_info_util.summarize(equation.source_info))
        place = found[1] if found else caller
        yield equation, place
        for inner in programs_in(equation):
            yield from equations_of(inner, place)


def refuse_equations(jaxpr: Any) -> tuple[Rule, ...]:
    """Refuses what has no form; returns rules that leave out callbacks without results, each with a remark."""
    refused = []
    dropped = {}
    for equation, place in equations_of(jaxpr):
        name = equation.primitive.name
        if name in WAYS_OUT:
            refused.append(f"{name} ({place}): {WAYS_OUT[name]}")
        elif equation.params.get("pivoting") or equation.params.get("subset_by_index"):
            refused.append(f"{name} with pivoting or a subset ({place}): {OUTSIDE}")
        elif name not in KNOWN and meets_complex(equation):
            refused.append(f"{name} of complex numbers ({place}): write it with their real and imaginary parts")
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
