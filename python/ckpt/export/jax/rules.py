"""How primitives that have no linalg form are lowered: by others that have one."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import mlir

from . import factorizations
from .cumulative import along_last, cumulate, cumulate_exponentials
from .private import rule_on
from .refusals import equations_of
from .sorting import approximate_top_k, sort, top_k

# No device of this platform is in the process, and JAX's rules for it are its general ones: random
# bits without a loop, for one, so that masks are elementwise.
PLATFORM = "tpu"
# The platform of the branch that jax.lax.platform_dependent takes, as in JAX itself where the step runs.
RUNS_ON = "cpu"


# A primitive, and the function that lowers it.
Rule = tuple[Any, Callable]


def cumulative(function: Callable) -> Callable:
    """A rule for one kind of cumulation."""
    return lambda x, *, axis, reverse: along_last(function, x, axis, reverse)


def traced(name: str, function: Callable, *arguments: Any) -> Any:
    """A primitive that JAX names in traces only."""
    equations = equations_of(jax.make_jaxpr(function)(*arguments))
    return next(equation.primitive for equation, _ in equations if equation.primitive.name == name)


def factorized() -> list[Any]:
    """The primitives of factorizations and solves."""
    linalg = jax.lax.linalg
    geqrf = traced("geqrf", functools.partial(jnp.linalg.qr, mode="raw"), jnp.ones((1, 1)))
    names = ("cholesky", "eigh", "householder_product", "lu", "qr", "triangular_solve")
    return [geqrf, *(getattr(linalg, f"{name}_p") for name in names)]


def choosing() -> list[Any]:
    """The primitives of jax.lax.platform_dependent: one numbers the branches, the other one keeps that of the platform."""
    branches = functools.partial(jax.lax.platform_dependent, cpu=jnp.sin, default=jnp.cos)
    return [traced("platform_index", branches, 0.0), jax.lax.cond_p]


@functools.cache
def rules() -> tuple[Rule, ...]:
    """The rules, which one call of a lowering is given: JAX itself stays as it is."""
    made = []
    for kind in ("cumsum", "cumprod", "cummax", "cummin"):
        rule = mlir.lower_fun(cumulative(functools.partial(cumulate, kind)), multiple_results=False)
        made.append((getattr(jax.lax, f"{kind}_p"), rule))
    made.append((jax.lax.cumlogsumexp_p, mlir.lower_fun(cumulative(cumulate_exponentials), multiple_results=False)))
    approximate = traced("approx_top_k", functools.partial(jax.lax.approx_max_k, k=1), jnp.ones(1))
    for primitive, function in ((jax.lax.sort_p, sort), (jax.lax.top_k_p, top_k), (approximate, approximate_top_k)):
        made.append((primitive, mlir.lower_fun(function, multiple_results=True)))
    for primitive in factorized():
        function = getattr(factorizations, primitive.name)
        made.append((primitive, mlir.lower_fun(function, multiple_results=primitive.multiple_results)))
    made += [(primitive, rule_on(RUNS_ON, primitive)) for primitive in choosing()]
    return tuple(made)
