"""The arguments of a step: which are static, which are donated, and when two calls share a plan.

`ckpt.jax.jit` splits each call by `Statics`; `ckpt.jax.step` compiles for the others.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax

from ..errors import ArrayError, UnsupportedStep

# Settings of JAX that decide what a function is traced to, and what is donated: a step that was planned under others is another one.
SETTINGS = (
    "jax_debug_infs",
    "jax_debug_nans",
    "jax_default_matmul_precision",
    "jax_default_prng_impl",
    "jax_enable_x64",
    "jax_numpy_dtype_promotion",
    "jax_threefry_partitionable",
)
# Options of `jax.jit` about static arguments, which a planned step no longer has.
STATIC_OPTIONS = ("static_argnums", "static_argnames")


def _several(option: Any) -> tuple[Any, ...]:
    if option is None:
        return ()
    return (option,) if isinstance(option, (int, str)) else tuple(option)


@dataclasses.dataclass(frozen=True)
class Statics:
    """Arguments that are part of the program: positions of a call, negative ones from its end, and names."""

    positions: tuple[int, ...] = ()
    names: tuple[str, ...] = ()

    @staticmethod
    def of(function: Callable[..., Any], options: Mapping[str, Any]) -> Statics:
        """As `jax.jit` has it, names follow from positions, and positions from names, if only one is given."""
        positions, names = (_several(options.get(option)) for option in STATIC_OPTIONS)
        if bool(positions) == bool(names):
            return Statics(positions, names)
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:  # a builtin function without a signature
            return Statics(positions, names)
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        ordered = [p.name for p in parameters if p.kind in kinds]
        if names:
            return Statics(tuple(ordered.index(name) for name in names if name in ordered), names)
        return Statics(positions, tuple(ordered[i] for i in positions if -len(ordered) <= i < len(ordered)))

    def split(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """Returns the static arguments as a key, and the arguments that are left.

        Raises `UnsupportedStep` for a static argument that cannot be hashed.
        """
        positions = {i % len(args) for i in self.positions if -len(args) <= i < len(args)}
        key = (
            tuple((i, args[i]) for i in sorted(positions)),
            tuple((name, kwargs[name]) for name in sorted(kwargs) if name in self.names),
        )
        try:
            hash(key)
        except TypeError as error:
            raise UnsupportedStep(f"expected static arguments that can be hashed: {error}") from None
        left = {name: value for name, value in kwargs.items() if name not in self.names}
        return key, tuple(arg for i, arg in enumerate(args) if i not in positions), left


def donation_options(args_info: Any) -> dict[str, Any]:
    """The options that donate the arguments that `args_info` of a traced step says, static ones left out."""

    def donated(tree: Any) -> bool:
        return any(leaf.donated for leaf in jax.tree.leaves(tree))

    args, kwargs = args_info
    return {
        "donate_argnums": tuple(i for i, tree in enumerate(args) if donated(tree)),
        "donate_argnames": tuple(name for name, tree in kwargs.items() if donated(tree)),
    }


def require_function(function: Any) -> None:
    """Raises `UnsupportedStep` for what cannot be called."""
    if not callable(function):
        raise UnsupportedStep(f"expected a function of arrays, but got {function!r}")


def _default_device() -> Any:
    return jax.config.jax_default_device or jax.local_devices()[0]


def signature(args: Any, kwargs: Any) -> Any:
    """A key that is equal for arguments of equal structure, shapes and places, under equal settings of JAX.

    Raises:
        ArrayError: an earlier call received the argument as a donation.
        UnsupportedStep: an argument is no array.
    """
    leaves, tree = jax.tree.flatten((args, kwargs))
    shapes, home = [], {_default_device()}
    for number, leaf in enumerate(leaves):
        try:
            aval = jax.typeof(leaf)
        except TypeError:
            raise UnsupportedStep(
                f"expected arrays and numbers as arguments of the step, but got {leaf!r}: bind it with "
                "functools.partial, or split its tree into arrays and other leaves, as equinox.partition does"
            ) from None
        is_traced = isinstance(leaf, jax.core.Tracer)
        is_placed = isinstance(leaf, jax.Array) and not is_traced
        if is_placed and leaf.is_deleted():
            raise ArrayError(
                f"array {number} among the arguments, {aval.dtype}{list(aval.shape)}, was donated to an earlier call, "
                "which returned what replaces it"
            )
        sharding = leaf.sharding if is_placed and leaf.sharding.device_set != home else None
        # The type of a value in another trace says along which axes of a mesh it varies, and where it lies.
        place = aval if is_traced else sharding
        shapes.append((aval.shape, str(aval.dtype), getattr(aval, "weak_type", False), place))
    return tree, tuple(shapes), tuple(getattr(jax.config, name, None) for name in SETTINGS)
