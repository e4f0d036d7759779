"""Complex numbers as pairs of real ones, before a step is lowered: the file holds real arrays only.

`Step` traces a step that holds complex numbers a second time, through `evaluate`. A complex array is then `Parts`, or
one real array where its imaginary part is known to be zero: a product with a real factor stays one product.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import source_info_util

from ...equations import scan_counts
from . import factorizations
from .fourier import fourier


class Parts(NamedTuple):
    """The real and the imaginary part of a complex array, each of its shape."""

    real: Any
    imag: Any


# A complex array, while a step is traced: see above.
Complex = Any


def is_complex(aval: Any) -> bool:
    """Whether a value is an array of complex numbers; tokens have no type of element."""
    return hasattr(aval, "dtype") and jax.dtypes.issubdtype(aval.dtype, np.complexfloating)


def real_type(dtype: Any) -> np.dtype:
    """The type of the parts of a complex type."""
    return np.zeros((), dtype).real.dtype


def split(x: Any) -> Complex:
    """The parts of an array, as they are given to a step."""
    if not is_complex(x):
        return x
    if isinstance(x, jax.ShapeDtypeStruct):
        part = jax.ShapeDtypeStruct(x.shape, real_type(x.dtype))
        return Parts(part, part)
    contiguous = lambda part: np.array(part, order="C") if isinstance(part, (np.ndarray, np.generic)) else part
    return Parts(contiguous(np.real(x)), contiguous(np.imag(x)))


def split_constant(x: Any) -> Complex:
    """The parts of a constant, one array where all of it is real."""
    parts = split(x)
    return parts.real if isinstance(parts, Parts) and not np.any(parts.imag) else parts


def parts_of(x: Complex) -> Parts:
    return x if isinstance(x, Parts) else Parts(x, jnp.zeros_like(x))


def joined(real: Any, imag: Any) -> Parts:
    """Parts of one shape: JAX adds and joins a constant scalar and an array as they are."""
    return Parts(*jnp.broadcast_arrays(real, imag))


def add(x: Complex, y: Complex) -> Complex:
    if not isinstance(x, Parts) or not isinstance(y, Parts):
        x, y = (y, x) if isinstance(y, Parts) else (x, y)
        return joined(x.real + y, x.imag) if isinstance(x, Parts) else x + y
    return Parts(x.real + y.real, x.imag + y.imag)


def negate(x: Complex) -> Complex:
    return jax.tree.map(jnp.negative, x)


def multiply(x: Complex, y: Complex, product: Callable = jnp.multiply) -> Complex:
    """A product of two arrays that is linear in both, such as a matrix product."""
    if not isinstance(x, Parts):
        return jax.tree.map(lambda part: product(x, part), y)
    if not isinstance(y, Parts):
        return Parts(product(x.real, y), product(x.imag, y))
    real = product(x.real, y.real) - product(x.imag, y.imag)
    return Parts(real, product(x.real, y.imag) + product(x.imag, y.real))


def conjugate(x: Complex) -> Complex:
    return Parts(x.real, -x.imag) if isinstance(x, Parts) else x


def absolute(x: Complex) -> jax.Array:
    """The absolute value, without overflow in between."""
    if not isinstance(x, Parts):
        return jnp.abs(x)
    a, b = jnp.abs(x.real), jnp.abs(x.imag)
    large, small = jnp.maximum(a, b), jnp.minimum(a, b)
    ratio = small / jnp.where((large == 0) | jnp.isinf(large), 1, large)
    return large * jnp.sqrt(1 + jnp.where(jnp.isinf(large), 0, ratio * ratio))


def divide(x: Complex, y: Complex) -> Complex:
    if not isinstance(y, Parts):
        return jax.tree.map(lambda part: part / y, x)
    scale = jnp.maximum(jnp.abs(y.real), jnp.abs(y.imag))
    scale = jnp.where((scale == 0) | jnp.isinf(scale), 1, scale)
    scaled = Parts(y.real / scale, y.imag / scale)
    square = scaled.real * scaled.real + scaled.imag * scaled.imag
    return jax.tree.map(lambda part: part / square / scale, multiply(x, conjugate(scaled)))


def sign(x: Complex) -> Complex:
    if not isinstance(x, Parts):
        return jnp.sign(x)
    size = absolute(x)
    return jax.tree.map(lambda part: jnp.where(size == 0, 0, part / jnp.where(size == 0, 1, size)), x)


def of_size(size: jax.Array, factor: jax.Array) -> jax.Array:
    """The product, zero where the factor is, be the size infinite."""
    return jnp.where(factor == 0, factor, size * factor)


def exponential(x: Complex) -> Complex:
    x = parts_of(x)
    size = jnp.exp(x.real)
    return Parts(size * jnp.cos(x.imag), of_size(size, jnp.sin(x.imag)))


def exponential_less_one(x: Complex) -> Complex:
    x = parts_of(x)
    half = jnp.sin(x.imag / 2)
    real = jnp.expm1(x.real) * jnp.cos(x.imag) - 2 * half * half
    return Parts(real, of_size(jnp.exp(x.real), jnp.sin(x.imag)))


def logarithm(x: Complex) -> Parts:
    """With log1p where the absolute value is about one, as its own logarithm has no digits there."""
    x = parts_of(x)
    size = absolute(x)
    a, b = jnp.abs(x.real), jnp.abs(x.imag)
    large, small = jnp.maximum(a, b), jnp.minimum(a, b)
    near = (size > 0.5) & (size < 2)
    more = jnp.where(near, (large - 1) * (large + 1) + small * small, 0)
    return Parts(jnp.where(near, jnp.log1p(more) / 2, jnp.log(size)), jnp.arctan2(x.imag, x.real))


def logarithm_of_one_more(x: Complex) -> Parts:
    x = parts_of(x)
    more = x.real * (2 + x.real) + x.imag * x.imag
    return Parts(jnp.where(jnp.isinf(more), jnp.log(absolute(x)), jnp.log1p(more) / 2), jnp.arctan2(x.imag, 1 + x.real))


def square_root(x: Complex) -> Parts:
    x = parts_of(x)
    large = jnp.sqrt((absolute(x) + jnp.abs(x.real)) / 2)
    small = jnp.where(large == 0, 0, jnp.abs(x.imag) / jnp.where(large == 0, 1, 2 * large))
    right = x.real >= 0
    return Parts(jnp.where(right, large, small), jnp.copysign(jnp.where(right, small, large), x.imag))


def power(x: Complex, y: Complex) -> Parts:
    result = exponential(multiply(parts_of(y), logarithm(x)))
    base, exponent = parts_of(x), parts_of(y)
    zero = (base.real == 0) & (base.imag == 0)
    of_zero = (exponent.real == 0) & (exponent.imag == 0)
    return Parts(jnp.where(zero, jnp.where(of_zero, 1, 0), result.real), jnp.where(zero, 0, result.imag))


def integer_power(x: Complex, y: int) -> Complex:
    """By repeated squares."""
    if y < 0:
        return divide(jnp.ones_like(parts_of(x).real), integer_power(x, -y))
    result = jnp.ones_like(parts_of(x).real)
    while y:
        result = multiply(result, x) if y & 1 else result
        x = multiply(x, x) if y > 1 else x
        y >>= 1
    return result


def sine(x: Complex) -> Parts:
    x = parts_of(x)
    return Parts(of_size(jnp.cosh(x.imag), jnp.sin(x.real)), jnp.cos(x.real) * jnp.sinh(x.imag))


def cosine(x: Complex) -> Parts:
    x = parts_of(x)
    return Parts(jnp.cos(x.real) * jnp.cosh(x.imag), -of_size(jnp.sinh(x.imag), jnp.sin(x.real)))


def hyperbolic_tangent(x: Complex) -> Parts:
    """By tanh of the real and tan of the imaginary part, which stays finite where cosh does not."""
    x = parts_of(x)
    t, u = jnp.tanh(x.real), jnp.tan(x.imag)
    below = 1 + t * t * u * u
    inverse = 1 / jnp.cosh(jnp.minimum(jnp.abs(x.real), 40))
    return Parts(t * (1 + u * u) / below, u * inverse * inverse / below)


def turned(function: Callable[[Complex], Complex]) -> Callable[[Complex], Parts]:
    """A hyperbolic function, or a circular one, by its sibling of i times the number: i f(x) = g(i x)."""

    def of(x: Complex) -> Parts:
        x = parts_of(x)
        result = parts_of(function(Parts(-x.imag, x.real)))
        return Parts(result.imag, -result.real)

    return of


def hyperbolic_cosine(x: Complex) -> Parts:
    x = parts_of(x)
    return cosine(Parts(-x.imag, x.real))


def roots_about_one(x: Parts) -> tuple[Complex, Complex]:
    """The square roots of 1 - x and of 1 + x, on the right side of the cuts of inverse functions (Kahan, 1987)."""
    return square_root(Parts(1 - x.real, -x.imag)), square_root(Parts(1 + x.real, x.imag))


def arc_sine(x: Complex) -> Parts:
    x = parts_of(x)
    less, more = roots_about_one(x)
    return Parts(jnp.arctan2(x.real, multiply(less, more).real), jnp.arcsinh(multiply(conjugate(less), more).imag))


def arc_cosine(x: Complex) -> Parts:
    less, more = roots_about_one(parts_of(x))
    return Parts(2 * jnp.arctan2(less.real, more.real), jnp.arcsinh(multiply(conjugate(more), less).imag))


def arc_hyperbolic_cosine(x: Complex) -> Parts:
    x = parts_of(x)
    less, more = square_root(Parts(x.real - 1, x.imag)), square_root(Parts(x.real + 1, x.imag))
    return Parts(jnp.arcsinh(multiply(conjugate(less), more).real), 2 * jnp.arctan2(less.imag, more.real))


def arc_hyperbolic_tangent(x: Complex) -> Parts:
    x = parts_of(x)
    size = jnp.abs(x.real)
    real = jnp.log1p(4 * size / ((1 - size) ** 2 + x.imag**2)) / 4
    return Parts(jnp.copysign(real, x.real), jnp.arctan2(2 * x.imag, (1 - size) * (1 + size) - x.imag**2) / 2)


def equal(x: Complex, y: Complex) -> jax.Array:
    x, y = parts_of(x), parts_of(y)
    return (x.real == y.real) & (x.imag == y.imag)


# Of each primitive that takes arrays only: the function of complex arrays.
FUNCTIONS = {
    "abs": absolute,
    "acos": arc_cosine,
    "acosh": arc_hyperbolic_cosine,
    "add": add,
    "add_any": add,
    "asin": arc_sine,
    "asinh": turned(arc_sine),
    "atan": turned(arc_hyperbolic_tangent),
    "atanh": arc_hyperbolic_tangent,
    "complex": joined,
    "conj": conjugate,
    "cos": cosine,
    "cosh": hyperbolic_cosine,
    "div": divide,
    "eq": equal,
    "exp": exponential,
    "exp2": lambda x: exponential(multiply(x, math.log(2))),
    "expm1": exponential_less_one,
    "imag": lambda x: parts_of(x).imag,
    "is_finite": lambda x: jnp.isfinite(parts_of(x).real) & jnp.isfinite(parts_of(x).imag),
    "log": logarithm,
    "log1p": logarithm_of_one_more,
    "logistic": lambda x: divide(jnp.ones_like(parts_of(x).real), add(1, exponential(negate(x)))),
    "mul": multiply,
    "ne": lambda x, y: ~equal(x, y),
    "neg": negate,
    "one_minus_square": lambda x: multiply(add(1, x), add(1, negate(x))),
    "pow": power,
    "real": lambda x: parts_of(x).real,
    "rsqrt": lambda x: divide(jnp.ones_like(parts_of(x).real), square_root(x)),
    "sign": sign,
    "sin": sine,
    "sinh": turned(sine),
    "sqrt": square_root,
    "square": lambda x: multiply(x, x),
    "sub": lambda x, y: add(x, negate(y)),
    "tan": turned(hyperbolic_tangent),
    "tanh": hyperbolic_tangent,
}

# Primitives that move elements or are linear with real factors: each part by itself.
BY_PART = (
    "all_gather broadcast_in_dim concatenate copy copy_p cumsum device_put dynamic_slice dynamic_update_slice expand_dims "
    "optimization_barrier pad psum reduce_precision reduce_sum reduce_window_sum reshape rev select_n sharding_constraint slice "
    "split squeeze stack stop_gradient tile transpose unstack"
).split()
# The name of the parameter with the program that runs in place.
CALLS = {
    "checkpoint": "jaxpr",
    "closed_call": "call_jaxpr",
    "composite": "jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "remat2": "jaxpr",
}


def by_part(eqn: Any, *operands: Complex) -> Any:
    """Runs a primitive once for each part."""
    if not any(isinstance(operand, Parts) for operand in operands):
        return eqn.primitive.bind(*operands, **eqn.params)
    complex_ones = [is_complex(var.aval) for var in eqn.invars]
    both = [parts_of(x) if is_one else Parts(x, x) for is_one, x in zip(complex_ones, operands)]
    real, imag = (eqn.primitive.bind(*part, **eqn.params) for part in zip(*both))
    return [Parts(*part) for part in zip(real, imag)] if eqn.primitive.multiple_results else Parts(real, imag)


def gather(eqn: Any, x: Complex, indices: jax.Array) -> Complex:
    """Reads each part; outside of the array lies a number of which one part alone may be NaN."""
    fill = eqn.params["fill_value"]
    real, imag = (None, 0) if fill is None else (np.real(fill), np.imag(fill))
    of_part = lambda part, value: eqn.primitive.bind(part, indices, **{**eqn.params, "fill_value": value})
    return of_part(x, real) if not isinstance(x, Parts) and not imag else Parts(*map(of_part, parts_of(x), (real, imag)))


def scatter(eqn: Any, operand: Complex, indices: jax.Array, updates: Complex) -> Complex:
    """Writes, adds or subtracts each part: the parameters hold the combination of complex numbers, which goes."""
    names = ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")
    if eqn.primitive.name == "scatter-sub":
        updates = jax.tree.map(jnp.negative, updates)
    function = jax.lax.scatter if eqn.primitive.name == "scatter" else jax.lax.scatter_add
    of_part = lambda x, y: function(x, indices, y, **{name: eqn.params[name] for name in names})
    return Parts(*map(of_part, parts_of(operand), parts_of(updates)))


def scatter_factors(eqn: Any, operand: Complex, indices: jax.Array, updates: Complex) -> Complex:
    """Multiplies by updates at indices that differ: by an array of ones that holds them there."""
    names = ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")
    parts = parts_of(updates)
    written = lambda start, part: jax.lax.scatter(
        jnp.full_like(parts_of(operand).real, start), indices, part, **{name: eqn.params[name] for name in names}
    )
    return multiply(operand, Parts(written(1, parts.real), written(0, parts.imag)))


def convert(eqn: Any, x: Complex) -> Complex:
    """To a complex type or from one; the imaginary part goes as in JAX where the result is real."""
    dtype = eqn.params["new_dtype"]
    if not jax.dtypes.issubdtype(dtype, np.complexfloating):
        return jax.lax.convert_element_type(parts_of(x).real, dtype)
    return jax.tree.map(lambda part: jax.lax.convert_element_type(part, real_type(dtype)), x)


def product(eqn: Any, x: Complex, y: Complex) -> Complex:
    """A matrix product or a convolution."""
    params = dict(eqn.params)
    if (preferred := params.get("preferred_element_type")) is not None:
        params["preferred_element_type"] = real_type(preferred)
    return multiply(x, y, lambda a, b: eqn.primitive.bind(a, b, **params))


def product_along(eqn: Any, x: Complex) -> Complex:
    """The product of elements along some axes, two halves at a time."""
    axes = eqn.params["axes"]
    x = parts_of(x)
    kept = [size for axis, size in enumerate(x.real.shape) if axis not in axes]
    flat = lambda part: jnp.moveaxis(part, axes, range(len(axes))).reshape(-1, *kept)
    x = jax.tree.map(flat, x)
    one = Parts(jnp.ones((1, *kept), x.real.dtype), jnp.zeros((1, *kept), x.real.dtype))
    while (length := x.real.shape[0]) != 1:
        if length % 2 or not length:
            x = jax.tree.map(lambda part, other: jnp.concatenate([part, other]), x, one)
        half = x.real.shape[0] // 2
        x = multiply(*(jax.tree.map(lambda part: part[side], x) for side in (slice(half), slice(half, None)))) if half else x
    return jax.tree.map(lambda part: part[0], x)


def iota(eqn: Any, *operands: Any) -> jax.Array:
    return eqn.primitive.bind(*operands, **{**eqn.params, "dtype": real_type(eqn.params["dtype"])})


def transform(eqn: Any, x: Complex) -> Complex:
    """A Fourier transform."""
    kind = eqn.params["fft_type"]
    pair = x if isinstance(x, Parts) else (x, None)
    real, imag = fourier(pair, getattr(kind, "name", str(kind)).split(".")[-1], tuple(eqn.params["fft_lengths"]))
    return real if imag is None else Parts(real, imag)


def factorize(eqn: Any, *operands: Complex) -> Any:
    """A factorization or a solve: the function for real numbers holds for complex ones."""
    function = functools.partial(getattr(factorizations, eqn.primitive.name), **eqn.params)
    program = jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in eqn.invars))
    results = evaluate(program, operands)
    return results if eqn.primitive.multiple_results else results[0]


def whole(values: Sequence[Complex], variables: Sequence[Any]) -> list[Complex]:
    """Values that pass the border of a loop or of a branch: both parts, whatever is known to be zero."""
    return [parts_of(x) if is_complex(var.aval) else x for x, var in zip(values, variables)]


def run_scan(eqn: Any, *operands: Complex) -> list[Complex]:
    params, body = eqn.params, eqn.params["jaxpr"]
    operands = whole(operands, eqn.invars)
    constants, carries = scan_counts(params)
    first = constants + carries

    def iterate(carry, slices):
        results = whole(evaluate(body, [*operands[:constants], *carry, *slices]), body.jaxpr.outvars)
        return results[:carries], results[carries:]

    options = {name: params[name] for name in ("length", "reverse", "unroll")}
    carry, stacked = jax.lax.scan(iterate, operands[constants:first], operands[first:], **options)
    return [*carry, *stacked]


def run_while(eqn: Any, *operands: Complex) -> list[Complex]:
    operands = whole(operands, eqn.invars)
    first, second = eqn.params["cond_nconsts"], eqn.params["cond_nconsts"] + eqn.params["body_nconsts"]
    holds, body = eqn.params["cond_jaxpr"], eqn.params["body_jaxpr"]
    again = lambda carry: evaluate(holds, [*operands[:first], *carry])[0]
    iterate = lambda carry: whole(evaluate(body, [*operands[first:second], *carry]), body.jaxpr.outvars)
    return jax.lax.while_loop(again, iterate, operands[second:])


def run_branches(eqn: Any, index: jax.Array, *operands: Complex) -> list[Complex]:
    sides = [lambda *given, side=side: whole(evaluate(side, given), side.jaxpr.outvars) for side in eqn.params["branches"]]
    return jax.lax.switch(index, sides, *whole(operands, eqn.invars[1:]))


def programs_in(eqn: Any) -> list[Any]:
    """The programs among the parameters of an operation."""
    found = []
    for parameter in eqn.params.values():
        for inner in parameter if isinstance(parameter, (tuple, list)) else (parameter,):
            if hasattr(inner, "eqns") or hasattr(inner, "jaxpr"):
                found.append(getattr(inner, "jaxpr", inner))
    return found


def holds_complex(jaxpr: Any) -> bool:
    """Whether a program computes with complex numbers, at any depth."""
    jaxpr = getattr(jaxpr, "jaxpr", jaxpr)
    if any(is_complex(var.aval) for var in (*jaxpr.invars, *jaxpr.constvars, *jaxpr.outvars)):
        return True
    return any(meets_complex(eqn) for eqn in jaxpr.eqns)


def meets_complex(eqn: Any) -> bool:
    """Whether an operation takes, makes or computes complex numbers inside."""
    return any(is_complex(var.aval) for var in (*eqn.invars, *eqn.outvars)) or any(map(holds_complex, programs_in(eqn)))


def run_solve(eqn: Any, *operands: Complex) -> list[Complex]:
    """A solve with a derivative of its own: by its program, whose constants follow those of two others."""
    lengths, programs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    first = lengths.matvec + lengths.vecmat
    given = operands[sum(lengths) :]
    return evaluate(programs.solve, [*operands[first : first + lengths.solve], *given])


# Primitives whose parameters matter.
RULES = {
    **dict.fromkeys(BY_PART, by_part),
    **dict.fromkeys(("cholesky", "lu", "qr", "triangular_solve"), factorize),
    "cond": run_branches,
    "conv_general_dilated": product,
    "custom_linear_solve": run_solve,
    "convert_element_type": convert,
    "dot_general": product,
    "fft": transform,
    "gather": gather,
    "integer_pow": lambda eqn, x: integer_power(x, eqn.params["y"]),
    "iota": iota,
    "reduce_prod": product_along,
    "scan": run_scan,
    "scatter": scatter,
    "scatter-add": scatter,
    "scatter-mul": scatter_factors,
    "scatter-sub": scatter,
    "while": run_while,
}
# Every primitive that complex numbers may meet.
KNOWN = {*FUNCTIONS, *RULES, *CALLS}


def results_of(eqn: Any, operands: list[Complex]) -> Any:
    """Traces one operation of the step."""
    name = eqn.primitive.name
    if name in CALLS:
        program = eqn.params[CALLS[name]]
        return evaluate(program, operands)
    if not meets_complex(eqn):
        return eqn.primitive.bind(*operands, **eqn.params)
    return FUNCTIONS[name](*operands) if name in FUNCTIONS else RULES[name](eqn, *operands)


def evaluate(program: Any, arguments: Sequence[Complex]) -> list[Complex]:
    """Traces a program again, each operation at its place in the user's file and under its layer."""
    jaxpr, constants = getattr(program, "jaxpr", program), getattr(program, "consts", ())
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*map(split_constant, constants), *arguments]))
    read = lambda atom: split_constant(atom.val) if hasattr(atom, "val") else values[atom]
    for eqn in jaxpr.eqns:
        stack = source_info_util.current_name_stack() + eqn.source_info.name_stack
        # Inside a function of JAX's own, the place is that of its call.
        source = eqn.source_info if source_info_util.summarize(eqn.source_info) else source_info_util.current()
        with source_info_util.user_context(source.traceback, name_stack=stack):
            results = results_of(eqn, [read(atom) for atom in eqn.invars])
        many = eqn.primitive.multiple_results
        values.update(zip(eqn.outvars, results if many else [results]))
    return [read(atom) for atom in jaxpr.outvars]


def of_parts(program: Any) -> Callable[..., list[Complex]]:
    """The function that a program computes, of the leaves of its arguments: complex ones are `Parts`."""

    def function(*arguments):
        leaves = jax.tree.leaves(arguments, is_leaf=lambda leaf: isinstance(leaf, Parts))
        return whole(evaluate(program, leaves), program.jaxpr.outvars)

    return function
