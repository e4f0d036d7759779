"""JAX's private names, all in this file: each says why no public one does. Tested with the oldest and the newest JAX."""

import dataclasses
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

from jax.interpreters import mlir


@dataclasses.dataclass
class JitOptions:
    """The arguments of jax.jit that decide how a step is called."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()


def jit_options(step: Callable) -> JitOptions:
    """The options that the user gave to jax.jit. Only the state for pickling holds those of a jitted function."""
    if isinstance(step, MethodType):
        # A jitted method counts its object as argument 0.
        options = jit_options(step.__func__)
        behind = lambda numbers: tuple(number - 1 if number > 0 else number for number in numbers if number != 0)
        return JitOptions(behind(options.static_argnums), options.static_argnames, behind(options.donate_argnums))
    if not (hasattr(step, "trace") and hasattr(step, "__getstate__")):
        return JitOptions()
    state = step.__getstate__()
    numbers, names = state["static_argnums"], state["static_argnames"]
    return JitOptions(tuple(numbers), tuple(names), tuple(state["global_cache_key"].donate_argnums))


def lower_by(rules: Sequence[tuple[Any, Callable]], traced: Any, platform: str) -> Any:
    """Lowers for `platform` by `rules` first. Public ways to give a rule are for the whole process."""
    parameters = mlir.LoweringParameters(override_lowering_rules=tuple(rules))
    return traced.lower(lowering_platforms=(platform,), _private_parameters=parameters)


def rule_on(platform: str, primitive: Any) -> Callable:
    """JAX's own rule for a primitive, which takes another platform for that of the lowering. Only JAX's table holds the rule."""
    entry = mlir._lowerings[primitive]
    rule = getattr(entry, "rule", entry)
    return lambda context, *operands, **parameters: rule(context.replace(platforms=(platform,)), *operands, **parameters)
