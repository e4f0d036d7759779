"""From a step written in JAX to StableHLO, by public interfaces of JAX, its oldest and its newest supported version.

The step is lowered for a platform that this process has no device of: what its lowering is told
(rules.py) stays apart from how JAX itself runs the step, which is what results are compared with.
"""

import functools
import inspect
import json
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...errors import OtherCall, UnsupportedStep
from ..text import unpack_booleans
from .callbacks import callback_rules
from .parts import Parts, holds_complex, is_complex, of_parts, split
from .private import jit_options, lower_by
from .refusals import refuse_equations
from .rules import PLATFORM, rules
from .sharding import strip_sharding


# Settings of JAX that decide what a step computes.
SETTINGS = ("default_matmul_precision", "default_prng_impl", "enable_x64", "numpy_dtype_promotion", "threefry_partitionable")

# What JAX knows the type of.
KINDS = (bool, int, float, complex, np.generic, np.ndarray, jax.Array)


def settings() -> dict[str, Any]:
    return {name: getattr(jax.config, f"jax_{name}", None) for name in SETTINGS}


def is_array(leaf: Any) -> bool:
    """Whether JAX takes a leaf of the arguments as an array: what else there is belongs to the function."""
    return hasattr(leaf, "dtype") or isinstance(leaf, (bool, int, float, complex))


def is_weak(leaf: Any) -> bool:
    """Whether results take the types of other operands than a leaf, as beside numbers of Python."""
    return type(leaf) in (int, float, complex) or bool(getattr(leaf, "weak_type", False))


def narrowed(leaf: Any) -> Any:
    """An array of NumPy, or a complex number, in the type that JAX gives it: 32 bits for 64 where x64 is off."""
    if not isinstance(leaf, (np.ndarray, complex)):
        return leaf
    array = np.asarray(leaf)
    return array if (dtype := jax.dtypes.canonicalize_dtype(array.dtype)) == array.dtype else array.astype(dtype)


class Step:
    """A step and its example arguments, traced: static arguments and leaves that are no arrays are fixed in it."""

    def __init__(self, step: Callable, example: tuple):
        options = jit_options(step)
        static = {number % len(example) for number in options.static_argnums if number < len(example)}
        self.count, self.settings = len(example), settings()
        self.static = {number: example[number] for number in static}
        leaves, tree = self._leaves(example)
        fixed = [None if is_array(leaf) else leaf for leaf in leaves]
        self.fixed = fixed
        self.weak = [is_weak(leaf) for leaf in leaves if is_array(leaf)]
        arrays = tree.unflatten([leaf if is_array(leaf) else None for leaf in leaves])
        self.tree = tree

        @functools.wraps(step)
        def of_arrays(*arguments):
            given = iter(jax.tree_util.tree_leaves(arguments))
            whole = tree.unflatten([next(given) if leaf is None else leaf for leaf in fixed])
            whole = [self.static.get(i, argument) for i, argument in enumerate(whole)]
            results = step(*whole)
            return jax.tree_util.tree_map(lambda leaf: leaf if is_array(leaf) else None, results)

        self.step, self.arrays = step, arrays
        self.jitted = jax.jit(of_arrays, keep_unused=True, donate_argnums=options.donate_argnums)
        try:
            self.traced = self.jitted.trace(*arrays)
        except Exception as error:
            raise UnsupportedStep(f"JAX refuses the step: {summary_of(error)}") from error
        self.donated = options.donate_argnums

    def _leaves(self, arguments: tuple) -> tuple[list[Any], Any]:
        """The leaves of all arguments but the static ones, and their tree."""
        dynamic = [None if i in self.static else argument for i, argument in enumerate(arguments)]
        return jax.tree_util.tree_flatten(dynamic)

    def flatten(self, arguments: tuple) -> list[Any]:
        """The arrays of a call, in the order of the file's arguments."""
        if len(arguments) != self.count:
            raise OtherCall(f"expected {self.count} arguments, but got {len(arguments)}")
        if (now := settings()) != self.settings:
            raise OtherCall(f"expected settings of JAX as when the step was compiled, {self.settings}, but got {now}")
        for number, traced in self.static.items():
            if type(arguments[number]) is not type(traced) or arguments[number] != traced:
                raise OtherCall(f"expected static argument {number} as in the example, {traced!r}, but got {arguments[number]!r}")
        leaves, tree = self._leaves(arguments)
        if tree != self.tree:
            raise OtherCall(f"expected arguments as in the example, {self.tree}, but got {tree}")
        for leaf, fixed in zip(leaves, self.fixed):
            if fixed is not None and leaf is not fixed and (is_array(leaf) or leaf != fixed):
                raise OtherCall(f"expected {fixed!r} as in the example, which is no array and so part of the step, but got {leaf!r}")
        arrays = [leaf for leaf, fixed in zip(leaves, self.fixed) if fixed is None]
        infos = jax.tree_util.tree_leaves(self.traced.args_info)
        for number, (array, weak, info) in enumerate(zip(arrays, self.weak, infos, strict=True)):
            refuse_another_type(array, info.dtype, weak, number)
        return jax.tree_util.tree_leaves([split(narrowed(array)) for array in arrays])

    def unflatten(self, results: list[Any]) -> Any:
        """The return value of a call; a leaf that is no array is None."""
        infos, tree = jax.tree_util.tree_flatten(self.traced.out_info)
        given = iter(results)
        made = [
            join(Parts(next(given), next(given))) if is_complex(info) else signed_as(next(given), info.dtype)
            for info in infos
        ]
        refuse_numbers(made)
        return tree.unflatten(made)

    def bind(self, arguments: tuple) -> tuple[list[Any], Callable[[list[Any]], Any]]:
        """The arrays of a call, and its return value as a function of results."""
        return self.flatten(arguments), self.unflatten

    def release(self) -> None:
        """Lets go of the arrays of the example, which calls do not need."""
        del self.arrays

    def inputs(self) -> list[np.ndarray]:
        """The example arguments in the types that were lowered; a key as its data, a complex array as its parts."""
        infos = jax.tree_util.tree_leaves(self.traced.args_info)
        return parts_of_all([numbers_of(leaf, info.dtype) for leaf, info in zip(jax.tree_util.tree_leaves(self.arrays), infos)])

    def expected(self) -> list[np.ndarray]:
        """The results as JAX itself computes them."""
        results = jax.tree_util.tree_leaves(jax.jit(self.jitted.__wrapped__)(*self.arrays))
        return parts_of_all([numbers_of(result, result.dtype) for result in results])

    def traced_of_parts(self) -> Any:
        """The step as it is lowered: without complex numbers."""
        if not holds_complex(self.traced.jaxpr):
            return self.traced
        arguments = jax.tree_util.tree_map(lambda leaf: split(narrowed(leaf)), self.arrays)
        function = functools.wraps(self.step)(of_parts(self.traced.jaxpr))
        return jax.jit(function, keep_unused=True, donate_argnums=self.donated).trace(*arguments)

    def stablehlo(self) -> str:
        """Text whose locations carry JAX's name stack, which names layers."""
        refuse_equations(self.traced.jaxpr)
        # One line of the user's per operation, not the stack of calls that led there.
        option = "jax_include_full_tracebacks_in_locations"
        before = getattr(jax.config, option)
        jax.config.update(option, False)
        try:
            module = lower_by((*rules(), *callback_rules()), self.traced_of_parts(), PLATFORM).compiler_ir("stablehlo")
        except NotImplementedError as error:
            raise UnsupportedStep(f"JAX has no general form: {summary_of(error)}") from error
        finally:
            jax.config.update(option, before)
        strip_sharding(module)
        text = unpack_booleans(module.operation.get_asm(enable_debug_info=True))
        # JAX gives the function itself no place; messages about the whole step name where it begins.
        if code := getattr(inspect.unwrap(self.step), "__code__", None):
            place = f"loc({json.dumps(code.co_filename)}:{code.co_firstlineno}:1)"
            text = re.sub(r"^(#loc\d*) = loc\(unknown\)$", lambda found: f"{found[1]} = {place}", text, flags=re.M)
        return text


def refuse_another_type(leaf: Any, dtype: Any, weak: bool, number: int) -> None:
    """Refuses an argument of another type in JAX than the example: the types of a file tell neither unsigned integers apart, nor weak types."""
    if leaf is None or not isinstance(leaf, KINDS) or jax.dtypes.issubdtype(dtype, jax.dtypes.extended):
        return
    given = jax.dtypes.result_type(leaf)
    if (given, is_weak(leaf)) != (dtype, weak):
        named = lambda dtype, weak: f"weak {dtype}" if weak else f"{dtype}"
        raise OtherCall(f"expected argument {number} of type {named(dtype, weak)}, but got {named(given, is_weak(leaf))}")


def signed_as(array: Any, dtype: Any) -> Any:
    """The array in JAX's type: the types of a file tell neither unsigned integers apart, nor the tangents of integers."""
    if dtype == jax.dtypes.float0:
        return np.zeros(array.shape, dtype)
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        dtype = np.dtype(np.uint32)
    return array.view(dtype) if jax.dtypes.issubdtype(dtype, np.unsignedinteger) and array.dtype != dtype else array


def refuse_numbers(results: list[Any]) -> None:
    """Raises JAX's error for the results that `jax_debug_nans` and `jax_debug_infs` look for."""
    for name, is_sought, holds in (("nan", jax.config.jax_debug_nans, np.isnan), ("inf", jax.config.jax_debug_infs, np.isinf)):
        for number, result in enumerate(results if is_sought else ()):
            if jax.dtypes.issubdtype(result.dtype, np.inexact) and holds(result).any():
                raise FloatingPointError(f"invalid value ({name}) encountered in result {number} of the step; jax.jit names the operation")


def summary_of(error: Exception) -> str:
    """Kind and first sentence of an error of JAX's, without the trace."""
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0]}" if str(error).strip() else repr(error)


def parts_of_all(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Complex arrays as two, as the file takes and returns them."""
    return jax.tree_util.tree_leaves([split(array) for array in arrays])


def join(parts: Parts) -> np.ndarray:
    """A complex array with the bits of its parts: the product of i and an infinity is not a number."""
    pairs = np.stack([parts.real, parts.imag], -1)
    return pairs.view(np.result_type(pairs, np.complex64))[..., 0]


def numbers_of(leaf: Any, dtype: Any) -> np.ndarray:
    """An array as ckpt-runner reads it."""
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return np.asarray(jax.random.key_data(leaf))
    return np.asarray(leaf).astype(dtype)
