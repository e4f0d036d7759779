"""A jaxpr as one flat list of ops: calls inlined, counted loops unrolled.

`ckpt.jax.problem` describes the list to the planner, and `ckpt.jax.emit` runs
its ops again in the order of a plan. Only public names of JAX are used.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
import re
import sysconfig
from collections import Counter
from collections.abc import Sequence
from typing import Any

import jax
import jax.extend.core as jex
import jax.numpy as jnp
import numpy as np

from ..equations import scan_counts
from ..errors import UnsupportedStep

# Primitives of `jax.checkpoint`, by version.
REMATS = ("checkpoint", "remat", "remat2")
# Primitives that only call a jaxpr, and the parameter that holds it.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    **{name: "jaxpr" for name in REMATS},
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
}


# A scan whose values are this many times smaller, by op, than those of the step stays one op: unrolled, it would add
# many ops to the plan and to XLA's program, and few bytes to choose among.
_SMALLER = 16
# Primitives that only say something about their operands.
_IDENTITIES = ("name", "optimization_barrier")


class Value:
    """What one op makes, or an input or a constant (`op` is None)."""

    __slots__ = ("aval", "op", "number")

    def __init__(self, aval: Any, op: Op | None = None) -> None:
        self.aval = aval
        self.op = op
        self.number = -1


Operand = Value | jex.Literal


def bytes_of(aval: Any) -> int:
    """Bytes of one value; keys and tokens included."""
    if not hasattr(aval, "shape") or not hasattr(aval, "dtype"):
        return 0
    return math.prod(aval.shape) * aval.dtype.itemsize


@dataclasses.dataclass(eq=False)
class Op:
    """One equation of a jaxpr with the values that it reads and makes here."""

    eqn: Any
    inputs: list[Operand]
    outputs: list[Value]
    scope: str

    @property
    def name(self) -> str:
        return self.eqn.primitive.name

    @functools.cached_property
    def layer(self) -> str:
        return layer_of(self.scope)

    @property
    def reads(self) -> list[Value]:
        """The inputs that are no literals."""
        return [operand for operand in self.inputs if isinstance(operand, Value)]

    @functools.cached_property
    def _function(self) -> tuple[Any, list[Any]]:
        variables = list(dict.fromkeys(v for v in self.eqn.invars if not isinstance(v, jex.Literal)))
        names: dict[str, Any] = {}
        if hasattr(jex, "DebugInfo"):
            blank = tuple("" for _ in variables), tuple("" for _ in self.eqn.outvars)
            names["debug_info"] = jex.DebugInfo("op", "op", *blank)
        jaxpr = jex.Jaxpr((), variables, list(self.eqn.outvars), [self.eqn], self.eqn.effects, **names)
        return jex.jaxpr_as_fun(jex.ClosedJaxpr(jaxpr, ())), variables

    def run(self, operands: Sequence[Any]) -> list[Any]:
        """Binds the primitive to `operands`, one per input; literals are ignored."""
        function, variables = self._function
        given = dict(zip(_keys(self.eqn.invars), operands))
        return function(*(given[variable] for variable in variables))


def _keys(invars: Sequence[Any]) -> list[Any]:
    return [None if isinstance(v, jex.Literal) else v for v in invars]


@dataclasses.dataclass
class Program:
    """A step: inputs and constants, ops in order, and outputs.

    Attributes:
        outside: the equations outside of unrolled scans.
        longest: the most iterations of an unrolled scan.
    """

    inputs: list[Value]
    constants: dict[Value, Any]
    ops: list[Op]
    outputs: list[Operand]
    outside: int
    longest: int


@dataclasses.dataclass
class _Size:
    """Equations of a jaxpr and bytes of their results, calls inlined and scans of up to `most` iterations unrolled.

    Attributes:
        unrolled: the equations of unrolled scans.
        longest: the most iterations of an unrolled scan.
    """

    ops: int = 0
    nbytes: int = 0
    unrolled: int = 0
    longest: int = 0

    @staticmethod
    def of(jaxpr: Any, most: float) -> _Size:
        size = _Size()
        for eqn in jaxpr.eqns:
            inner, times = eqn.params.get(CALLS.get(eqn.primitive.name, "")), 1
            is_unrolled = eqn.primitive.name == "scan" and eqn.params["length"] <= most
            if is_unrolled:
                inner, times = eqn.params["jaxpr"], eqn.params["length"]
            if inner is None:
                one = _Size(1, sum(bytes_of(variable.aval) for variable in eqn.outvars))
            else:
                one = _Size.of(getattr(inner, "jaxpr", inner), most)
            size.ops += times * one.ops
            size.nbytes += times * one.nbytes
            size.unrolled += times * (one.ops if is_unrolled else one.unrolled)
            size.longest = max(size.longest, one.longest, times if is_unrolled else 0)
        return size


class _Flattener:
    def __init__(self, most: float, step: _Size) -> None:
        self.most = most
        self.step = step
        self.longest = 0
        self.ops: list[Op] = []
        self.constants: dict[Value, Any] = {}
        # The values of a stack that an unrolled loop made: a loop that slices
        # the stack reads them without it.
        self.parts: dict[Value, list[Operand]] = {}

    def inline(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Operand], scope: str) -> list[Operand]:
        env: dict[Any, Operand] = dict(zip(jaxpr.invars, args))
        for variable, constant in zip(jaxpr.constvars, consts):
            if not isinstance(constant, Value):
                value = Value(variable.aval)
                self.constants[value] = constant
                constant = value
            env[variable] = constant

        def read(operand: Any) -> Operand:
            return operand if isinstance(operand, jex.Literal) else env[operand]

        for eqn in jaxpr.eqns:
            inputs = [read(operand) for operand in eqn.invars]
            where = f"{scope}/{scope_of(eqn)}"
            env.update(zip(eqn.outvars, self._equation(eqn, inputs, where)))
        return [read(operand) for operand in jaxpr.outvars]

    def _equation(self, eqn: Any, inputs: list[Operand], scope: str) -> Sequence[Operand]:
        name = eqn.primitive.name
        called = eqn.params.get(CALLS.get(name, ""))
        if called is not None and not _has_shardings(eqn):
            if isinstance(called, jex.ClosedJaxpr):
                return self.inline(called.jaxpr, called.consts, inputs, scope)
            return self.inline(called, (), inputs, scope)
        if name == "scan" and self._is_worth_unrolling(eqn):
            return self._unroll(eqn, inputs, scope)
        if name in _IDENTITIES:
            return inputs
        if name == "split" and len(set(eqn.params["sizes"])) > 1:
            return self._slices(eqn, inputs[0], scope)
        if any(_is_reference(variable.aval) for variable in (*eqn.invars, *eqn.outvars)):
            raise UnsupportedStep(
                f"{name} ({_place(eqn.source_info.traceback)}): a plan cannot order reads and writes of a reference; "
                "return the new value instead, as x.at[i].set(y) makes it"
            )
        op = Op(eqn, inputs, [], scope)
        op.outputs = [Value(variable.aval, op) for variable in eqn.outvars]
        self.ops.append(op)
        return op.outputs

    def _is_worth_unrolling(self, eqn: Any) -> bool:
        body = _Size.of(eqn.params["jaxpr"].jaxpr, self.most)
        is_small = body.nbytes * self.step.ops * _SMALLER < self.step.nbytes * body.ops
        return not is_small and eqn.params["length"] <= self.most

    def trace(self, function: Any, *args: Operand, scope: str) -> Operand:
        """The ops of `function`, which has one result, on `args`."""
        closed = jax.make_jaxpr(function)(*(arg.aval.update(weak_type=False) for arg in args))
        return self.inline(closed.jaxpr, closed.consts, list(args), scope)[0]

    def _slices(self, eqn: Any, whole: Operand, scope: str) -> list[Operand]:
        """The parts of a split; a fused op has results of one shape."""
        axis, sizes = eqn.params["axis"], eqn.params["sizes"]
        ends = list(itertools.accumulate(sizes))
        return [
            self.trace(lambda t, s=end - size, e=end: jax.lax.slice_in_dim(t, s, e, axis=axis), whole, scope=scope)
            for size, end in zip(sizes, ends)
        ]

    def _unroll(self, eqn: Any, args: list[Operand], scope: str) -> list[Operand]:
        params = eqn.params
        constants, carries = scan_counts(params)
        length, body = params["length"], params["jaxpr"]
        self.longest = max(self.longest, length)
        fixed, carry = args[:constants], args[constants : constants + carries]
        stacks = args[constants + carries :]
        order = range(length - 1, -1, -1) if params["reverse"] else range(length)
        made: list[list[Operand]] = [[]] * length
        for i in order:
            where = f"{scope}/{i}"
            slices = [self._slice(stack, i, where) for stack in stacks]
            results = self.inline(body.jaxpr, body.consts, [*fixed, *carry, *slices], where)
            carry, made[i] = results[:carries], results[carries:]
        joined = [
            self._join([each[k] for each in made], variable.aval, scope)
            for k, variable in enumerate(eqn.outvars[carries:])
        ]
        return [*carry, *joined]

    def _slice(self, stack: Operand, i: int, scope: str) -> Operand:
        if isinstance(stack, Value) and stack in self.parts:
            return self.parts[stack][i]
        return self.trace(lambda t: jax.lax.index_in_dim(t, i, keepdims=False), stack, scope=scope)

    def _join(self, parts: list[Operand], aval: Any, scope: str) -> Operand:
        if not parts:
            return self.trace(lambda: jnp.zeros(aval.shape, aval.dtype), scope=scope)
        values = [
            self.trace(lambda p=part: jnp.full(p.aval.shape, p.val, p.aval.dtype), scope=scope)
            if isinstance(part, jex.Literal)
            else part
            for part in parts
        ]
        stack = self.trace(lambda *each: jnp.stack(each), *values, scope=scope)
        assert isinstance(stack, Value)
        self.parts[stack] = values
        return stack


def _is_reference(aval: Any) -> bool:
    """Whether a value is memory that ops change: `jax.new_ref` makes it."""
    return hasattr(aval, "inner_aval")


def _is_outer(eqn: Any) -> bool:
    """Whether each element of a product is one product of two numbers, such as in the gradient of a weight by one example.

    XLA makes an elementwise op of it, which needs no place in memory.
    """
    (contracted, _), _ = eqn.params["dimension_numbers"]
    left, right, out = (variable.aval for variable in (*eqn.invars, *eqn.outvars))
    is_wide = out.dtype.itemsize >= max(left.dtype.itemsize, right.dtype.itemsize)
    return is_wide and math.prod(left.shape[d] for d in contracted) == 1 and eqn.params.get("out_sharding") is None


def _outer(eqn: Any, left: Any, right: Any) -> Any:
    (left_contracted, right_contracted), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    dtype = eqn.outvars[0].aval.dtype

    def ordered(x: Any, batch: Sequence[int], contracted: Sequence[int]) -> tuple[Any, list[int]]:
        free = [d for d in range(x.ndim) if d not in (*batch, *contracted)]
        return jax.lax.transpose(x.astype(dtype), (*batch, *free, *contracted)), [x.shape[d] for d in free]

    left, rows = ordered(left, left_batch, left_contracted)
    right, columns = ordered(right, right_batch, right_contracted)
    batches = left.shape[: len(left_batch)]
    return left.reshape(*batches, *rows, *[1] * len(columns)) * right.reshape(*batches, *[1] * len(rows), *columns)


def _has_shardings(eqn: Any) -> bool:
    """A jit inside the step that places its arguments stays one op."""
    shardings = (*eqn.params.get("in_shardings", ()), *eqn.params.get("out_shardings", ()))
    return any(isinstance(sharding, jax.sharding.Sharding) for sharding in shardings)


def _attributes(op: Op) -> Any:
    """A key that is equal for ops that compute the same from the same operands."""
    params = op.eqn.params
    if op.eqn.effects or any("jaxpr" in key for key in params):
        return id(op)
    try:
        key = (op.name, tuple(sorted(params.items())), tuple(str(v.aval) for v in op.outputs))
        hash(key)
    except TypeError:
        return id(op)
    return key


def _simplify(program: Program) -> None:
    """Removes common subexpressions and dead ops, as XLA does before it fuses."""
    same: dict[Value, Value] = {}
    seen: dict[Any, Op] = {}

    def resolve(operand: Operand) -> Operand:
        return same.get(operand, operand) if isinstance(operand, Value) else operand

    def key(operand: Operand) -> Any:
        if isinstance(operand, Value):
            return id(operand)
        return str(operand.aval), np.asarray(operand.val).tobytes()

    kept = []
    for op in program.ops:
        op.inputs = [resolve(operand) for operand in op.inputs]
        first = seen.setdefault((_attributes(op), *map(key, op.inputs)), op)
        if first is op:
            kept.append(op)
        else:
            same.update(zip(op.outputs, first.outputs))
    program.outputs = [resolve(operand) for operand in program.outputs]
    needed = {operand for operand in program.outputs if isinstance(operand, Value)}
    alive = []
    for op in reversed(kept):
        if op.eqn.effects or any(value in needed for value in op.outputs):
            alive.append(op)
            needed.update(op.reads)
    program.ops = alive[::-1]


def _swapped(product: Op, transpose: Op) -> Op | None:
    """The product with its operands exchanged, if that makes the result of `transpose`."""
    params, (left, right) = product.eqn.params, product.inputs
    (left_contracted, right_contracted), (left_batch, right_batch) = params["dimension_numbers"]
    batches = len(left_batch)
    left_free, right_free = (
        len(operand.aval.shape) - len(contracted) - batches
        for operand, contracted in ((left, left_contracted), (right, right_contracted))
    )
    order = [*range(batches), *range(batches + left_free, batches + left_free + right_free)]
    order += range(batches, batches + left_free)
    sharding = params.get("out_sharding")
    is_placed = sharding is not None and any(axis is not None for axis in sharding.spec)
    if list(transpose.eqn.params["permutation"]) != order or is_placed:
        return None
    changed = {"dimension_numbers": ((right_contracted, left_contracted), (right_batch, left_batch))}
    if isinstance(params["precision"], tuple):
        changed["precision"] = params["precision"][::-1]
    eqn = product.eqn.replace(
        invars=product.eqn.invars[::-1], outvars=transpose.eqn.outvars, params={**params, **changed}
    )
    return Op(eqn, [right, left], transpose.outputs, product.scope)


def _exchange(program: Program) -> None:
    """Exchanges the operands of products of which only a transpose is read, such as the gradients of weights.

    XLA would do so; behind the barrier of a kernel it cannot, and a loop reads each product across its rows.
    """
    readers = Counter(value for op in program.ops for value in op.reads)
    readers.update(operand for operand in program.outputs if isinstance(operand, Value))
    place = {op: i for i, op in enumerate(program.ops)}
    ops: list[Op | None] = list(program.ops)
    for op in program.ops:
        product = op.reads[0].op if op.name == "transpose" and op.reads else None
        if product is None or product.name != "dot_general" or readers[product.outputs[0]] > 1:
            continue
        swapped = _swapped(product, op)
        if swapped is not None:
            swapped.outputs[0].op = swapped
            place[swapped] = place[product]
            ops[place[product]], ops[place[op]] = swapped, None
    program.ops = [op for op in ops if op is not None]


def _multiply(program: Program) -> None:
    """Writes products of single numbers as elementwise ops."""
    flattener, same = _Flattener(0, _Size()), {}
    resolve = lambda operand: same.get(operand, operand) if isinstance(operand, Value) else operand
    for op in program.ops:
        op.inputs = [resolve(operand) for operand in op.inputs]
        if op.name == "dot_general" and _is_outer(op.eqn):
            same[op.outputs[0]] = flattener.trace(functools.partial(_outer, op.eqn), *op.inputs, scope=op.scope)
        else:
            flattener.ops.append(op)
    program.ops, program.outputs = flattener.ops, [resolve(operand) for operand in program.outputs]


def flatten(closed: Any, *, unroll_limit: int = 60_000, most: float = math.inf) -> Program:
    """Returns the ops of `closed` (a ClosedJaxpr) as one list.

    Args:
        closed: what `jax.make_jaxpr` returns.
        unroll_limit: the equations of all unrolled scans; the longest scans stay one op each until these are within it.
        most: a scan of more iterations stays one op.
    """
    size = _Size.of(closed.jaxpr, most)
    while size.unrolled > unroll_limit:
        most = size.longest - 1
        size = _Size.of(closed.jaxpr, most)
    flattener = _Flattener(most, size)
    inputs = [Value(variable.aval) for variable in closed.jaxpr.invars]
    outputs = flattener.inline(closed.jaxpr, closed.consts, inputs, "")
    outside = size.ops - size.unrolled
    program = Program(inputs, flattener.constants, flattener.ops, outputs, outside, flattener.longest)
    _simplify(program)
    _exchange(program)
    _multiply(program)
    return program


_STANDARD_LIBRARY = sysconfig.get_path("stdlib")
_TRANSFORM = re.compile(r"(?:jvp|transpose|vmap|checkpoint|rematted_computation)\(([^()]*)\)")


def layer_of(scope: str) -> str:
    """Returns the names that the user gave, such as "h_0/attn"."""
    previous = None
    while previous != scope:
        previous, scope = scope, _TRANSFORM.sub(r"\1", scope)
    names = [name for name in scope.split("/") if name]
    return "/".join(name for name in names if "(" not in name and name not in ("jvp", "transpose"))


def scope_of(eqn: Any) -> str:
    """Returns the scopes of an equation and the transformations around them, such as "transpose(jvp(h_0))/attn"."""
    scopes: list[str] = []
    for element in reversed(eqn.source_info.name_stack.stack):
        element.wrap(scopes)
        if not scopes:
            # Old versions of JAX leave a transformation out that wraps no scope.
            scopes.append("")
            element.wrap(scopes)
    return "/".join(reversed(scopes))


def is_backward(op: Op) -> bool:
    """True for an op that transposition made."""
    return "transpose(" in op.scope


def place_of(op: Op) -> str:
    """Returns "file.py:12" of the user's code, or an empty string."""
    return _place(getattr(op.eqn.source_info, "traceback", None))


@functools.cache
def _is_users(file_name: str) -> bool:
    is_standard = file_name.startswith("<") or os.path.dirname(file_name) == _STANDARD_LIBRARY
    return "/jax/" not in file_name and "/ckpt/" not in file_name and not is_standard


# The iterations of an unrolled loop share the equations of its body.
@functools.lru_cache(maxsize=4096)
def _place(traceback: Any) -> str:
    for frame in traceback.frames if traceback is not None else ():
        if _is_users(frame.file_name):
            return f"{frame.file_name.rsplit('/', 1)[-1]}:{frame.line_num}"
    return ""
