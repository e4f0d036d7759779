"""A plan as a policy of `jax.checkpoint`: one decision for all layers and all iterations of a scan.

`ckpt.jax.policy` plans the gradient of a loss and names the values that the plan keeps for the
backward pass. The loss then runs once more with these names and with the policy, so that XLA
says what the policy takes; names are dropped until that meets the budget.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend.core as jex
from jax.ad_checkpoint import checkpoint_name

from ..budget import Budget, exact_bytes, format_bytes, parse_budget
from ..equations import scan_counts
from ..errors import BudgetError
from ..planner import Plan
from ..progress import Progress
from . import xla
from .kernels import KernelModel, describe
from .program import CALLS, REMATS, Op, Program, Value, bytes_of, is_backward, layer_of, place_of, scope_of
from .step import CompiledStep, PlanOptions, compile_step

# Layer without numbers, place, primitive and type of a value: equal in all layers.
_Key = tuple[str, str, str, str]


def _key(eqn: Any, variable: Any, scope: str) -> _Key:
    op = Op(eqn, [], [], scope)
    parts = [re.sub(r"\d+", "", part) for part in layer_of(scope).split("/")]
    return "/".join(filter(None, parts)), place_of(op), op.name, str(variable.aval)


@dataclasses.dataclass
class _Sizes:
    """Of all values with one key: bytes, bytes that the plan keeps, and FLOPs that make the values."""

    nbytes: int = 0
    kept: int = 0
    flops: int = 0


def _forward_values(program: Program, plan: Plan, model: KernelModel) -> dict[_Key, _Sizes]:
    """The values of the forward pass.

    The first run of an op keeps a value if the backward pass, or an op that runs
    again for it, reads the value from memory.
    """
    late: set[Op] = set()
    sizes: dict[_Key, _Sizes] = defaultdict(_Sizes)
    for op in program.ops:
        if is_backward(op) or any(value.op in late for value in op.reads):
            late.add(op)
            continue
        for value in op.outputs:
            of = sizes[_key(op.eqn, value, op.scope)]
            of.nbytes += bytes_of(value.aval)
            of.flops += describe(op, model).flops
    outputs = {value.number: value for op in program.ops for value in op.outputs}
    runs: Counter[Op] = Counter()
    first: set[Value] = set()
    for numbers, written in plan.kernels:
        ops = [program.ops[number] for number in numbers]
        runs.update(ops)
        if any(op in late or runs[op] > 1 for op in ops):
            for value in {value for op in ops for value in op.reads} & first:
                first.remove(value)
                sizes[_key(value.op.eqn, value, value.op.scope)].kept += bytes_of(value.aval)
        values = [outputs[number] for number in written]
        first.difference_update(values)
        first.update(value for value in values if runs[value.op] == 1 and value.op not in late)
    return sizes


def _inner(eqn: Any) -> Any:
    """The jaxpr that a call or a scan runs, or None."""
    inner = eqn.params.get("jaxpr" if eqn.primitive.name == "scan" else CALLS.get(eqn.primitive.name, ""))
    return getattr(inner, "jaxpr", inner)


def _has(jaxpr: Any, primitives: Sequence[str]) -> bool:
    return any(
        eqn.primitive.name in primitives or ((inner := _inner(eqn)) is not None and _has(inner, primitives))
        for eqn in jaxpr.eqns
    )


def _flops(jaxpr: Any, model: KernelModel) -> int:
    """The FLOPs of all equations, loops by their iterations."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = _inner(eqn)
        if inner is not None:
            total += _flops(inner, model) * eqn.params.get("length", 1)
            continue
        inputs = [v if isinstance(v, jex.Literal) else Value(v.aval) for v in eqn.invars]
        total += describe(Op(eqn, inputs, [Value(v.aval) for v in eqn.outvars], ""), model).flops
    return total


class _Names:
    """The values of one loss that a policy may name.

    Attributes:
        given: names that the user's model has already, by the key of the value.
        places: by name: where the value is made.
    """

    def __init__(self, keys: Sequence[_Key], given: dict[_Key, str]) -> None:
        self.of: dict[_Key, str] = {}
        self.places: dict[str, str] = {}
        for key in keys:
            layer, place, primitive, kind = key
            scopes = [scope for scope in layer.split("/") if scope.isidentifier()]
            name = stem = given.get(key, f"{scopes[-1] if scopes else 'step'}_{primitive}")
            number = 1
            while name in self.places:
                number += 1
                name = f"{stem}_{number}"
            self.of[key] = name
            self.places[name] = f"{primitive} {kind} ({place or layer})"


class _NamedLoss:
    """The user's loss, evaluated with names and a policy.

    Each `jax.checkpoint` of the model receives the policy, and each scan whose
    body has none receives one; a loss with neither is checkpointed as a whole.
    """

    def __init__(self, closed: Any, tree: Any, names: _Names | None, policy: Callable[..., bool]) -> None:
        self.closed, self.tree, self.names, self.policy = closed, tree, names, policy

    def __call__(self, *args: Any) -> Any:
        run = self._whole
        if not _has(self.closed.jaxpr, (*REMATS, "scan")):
            run = jax.checkpoint(run, policy=self.policy)
        return jax.tree.unflatten(self.tree, run(*jax.tree.leaves(args)))

    def _whole(self, *flat: Any) -> list[Any]:
        return self._run(self.closed.jaxpr, self.closed.consts, flat, "")

    def _run(self, jaxpr: Any, consts: Sequence[Any], args: Sequence[Any], scope: str) -> list[Any]:
        env: dict[Any, Any] = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

        def read(operand: Any) -> Any:
            return operand.val if isinstance(operand, jex.Literal) else env[operand]

        for eqn in jaxpr.eqns:
            where = f"{scope}/{scope_of(eqn)}"
            results = self._equation(eqn, [read(operand) for operand in eqn.invars], where)
            for variable, result in zip(eqn.outvars, results):
                env[variable] = self._named(eqn, variable, result, where)
        return [read(operand) for operand in jaxpr.outvars]

    def _named(self, eqn: Any, variable: Any, result: Any, scope: str) -> Any:
        name = self.names.of.get(_key(eqn, variable, scope)) if self.names else None
        return checkpoint_name(result, name) if name else result

    def _equation(self, eqn: Any, args: list[Any], scope: str) -> Sequence[Any]:
        params = eqn.params
        if eqn.primitive.name in REMATS:
            body = params["jaxpr"]
            inner = jax.checkpoint(
                lambda *a: self._run(body, (), a, scope), policy=self.policy, prevent_cse=params["prevent_cse"]
            )
            return inner(*args)
        if eqn.primitive.name == "scan":
            return self._scan(params, args, scope)
        return Op(eqn, [], [], scope).run(args)

    def _scan(self, params: Any, args: list[Any], scope: str) -> list[Any]:
        (fixed, carries), body = scan_counts(params), params["jaxpr"]

        def one(carry: list[Any], slices: list[Any]) -> tuple[list[Any], list[Any]]:
            results = self._run(body.jaxpr, body.consts, [*args[:fixed], *carry, *slices], scope)
            return results[:carries], results[carries:]

        if not _has(body.jaxpr, REMATS):
            one = jax.checkpoint(one, policy=self.policy, prevent_cse=False)
        split = fixed + carries
        options = {key: params[key] for key in ("length", "reverse", "unroll")}
        carry, stacks = jax.lax.scan(one, args[fixed:split], args[split:], **options)
        return [*carry, *stacks]


def _keys_in(jaxpr: Any, scope: str, is_inside: bool, given: dict[_Key, str]) -> set[_Key]:
    """The keys of values that a checkpoint makes in the user's own code; `given` receives the names there.

    Results of the checkpoint stay without a name.
    """
    keys: set[_Key] = set()
    made: dict[Any, _Key] = {}
    for eqn in jaxpr.eqns:
        where = f"{scope}/{scope_of(eqn)}"
        if eqn.primitive.name == "scan" or eqn.primitive.name in REMATS:
            keys |= _keys_in(_inner(eqn), where, True, given)
        if eqn.primitive.name == "name" and eqn.invars[0] in made:
            given[made[eqn.invars[0]]] = eqn.params["name"]
        for variable in eqn.outvars:
            made[variable] = _key(eqn, variable, where)
    if not is_inside:
        return keys
    return keys | {key for variable, key in made.items() if variable not in jaxpr.outvars}


@dataclasses.dataclass(eq=False)
class Policy:
    """A policy of `jax.checkpoint` with its price; sizes are bytes of XLA per device.

    Attributes:
        names: the values to keep. Put `checkpoint_name(value, name)` of
            `jax.ad_checkpoint` where the text says; a name that the model has
            already is used as it is.
        plain_temp_bytes: of the loss and its gradient as they are.
        temp_bytes, extra_flops_share: with the policy.
        plan_temp_bytes, plan_extra_flops_share: of a planned step in this budget.
    """

    names: dict[str, str]
    budget_bytes: int
    plain_temp_bytes: int
    temp_bytes: int
    extra_flops_share: float
    plan_temp_bytes: int
    plan_extra_flops_share: float

    def __call__(self, primitive: Any, *avals: Any, **params: Any) -> Any:
        return jax.checkpoint_policies.save_only_these_names(*self.names)(primitive, *avals, **params)

    def __str__(self) -> str:
        lines = [f"ckpt: a policy that keeps {len(self.names)} names"]
        lines += [f"  {name:24} {place}" for name, place in self.names.items()]
        lines.append(f"  plain jit, by XLA       {format_bytes(self.plain_temp_bytes):>14}")
        lines.append(f"  budget                  {format_bytes(self.budget_bytes):>14}")
        for title, nbytes, share in (
            ("with the policy, by XLA", self.temp_bytes, self.extra_flops_share),
            ("planned step, by XLA", self.plan_temp_bytes, self.plan_extra_flops_share),
        ):
            lines.append(f"  {title:23} {format_bytes(nbytes):>14}, {100 * share:.2f} % extra work")
        return "\n".join(lines)


class _Choice:
    """Finds the names for one loss."""

    def __init__(self, loss: Callable[..., Any], args: tuple[Any, ...], options: PlanOptions) -> None:
        self.args, self.model = args, options.model()
        planned = compile_step(jax.value_and_grad(loss), args, {}, options, {})
        self.planned: CompiledStep = planned
        self.closed, shape = jax.make_jaxpr(loss, return_shape=True)(*args)
        self.tree = jax.tree.structure(shape)
        self.budget = parse_budget(options.budget, planned.report.plain_temp_bytes)

    def _gradient(self, names: _Names | None, policy: Callable[..., bool]) -> Callable[..., Any]:
        return jax.value_and_grad(_NamedLoss(self.closed, self.tree, names, policy))

    def _work(self, names: _Names | None, policy: Callable[..., bool]) -> int:
        return _flops(jax.make_jaxpr(self._gradient(names, policy))(*self.args).jaxpr, self.model)

    def _candidates(self) -> tuple[dict[_Key, _Sizes], dict[_Key, str]]:
        """Keys of which the plan keeps half of the bytes or more; the cheapest to make again last."""
        traced = self.planned.traced
        plan = self.planned.plan or traced.problem.solve(None)
        sizes = _forward_values(traced.program, plan, self.model)
        given: dict[_Key, str] = {}
        is_whole = not _has(self.closed.jaxpr, (*REMATS, "scan"))
        own = _keys_in(self.closed.jaxpr, "", is_whole, given)
        chosen = [key for key, of in sizes.items() if key in own and of.kept and 2 * of.kept >= of.nbytes]
        chosen.sort(key=lambda key: (-sizes[key].flops / sizes[key].nbytes, sizes[key].nbytes, key))
        return {key: sizes[key] for key in chosen}, given

    def run(self) -> Policy:
        kept, given = self._candidates()
        least = self.planned.report.plain_temp_bytes
        while True:
            names = _Names(list(kept), given)
            policy = jax.checkpoint_policies.save_only_these_names(*names.places)
            temp = xla.temp_bytes(xla.compiled(self._gradient(names, policy), self.args, {}))
            least = min(least, temp)
            if temp <= self.budget:
                return self._priced(names, policy, temp)
            if not kept:
                break
            over = temp - self.budget
            while kept and over > 0:
                over -= kept.popitem()[1].kept
        planned = self.planned.report
        raise BudgetError(
            f"no policy was found within {format_bytes(self.budget)}: the smallest found takes {exact_bytes(least)}; "
            f"a planned step takes {format_bytes(planned.temp_bytes)} (ckpt.jax.jit)",
            budget_bytes=self.budget,
            smallest_bytes=least,
        )

    def _priced(self, names: _Names, policy: Callable[..., bool], temp: int) -> Policy:
        everything = self._work(None, jax.checkpoint_policies.everything_saveable)
        report = self.planned.report
        return Policy(
            names=names.places,
            budget_bytes=self.budget,
            plain_temp_bytes=report.plain_temp_bytes,
            temp_bytes=temp,
            extra_flops_share=self._work(names, policy) / max(1, everything) - 1,
            plan_temp_bytes=report.temp_bytes,
            plan_extra_flops_share=report.extra_flops_share,
        )


def policy(
    loss: Callable[..., Any],
    *args: Any,
    budget: Budget,
    device: str | KernelModel | None = None,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Policy:
    """Returns a policy for the calls of `jax.checkpoint` in `loss`, and the names that it keeps.

    For models whose step may not change, and for scans: each name is one
    decision for all layers and iterations. A scan whose body has no
    `jax.checkpoint` is measured as if it had one.

    Args:
        loss: a scalar function, differentiated by its first argument.
        args: arrays or their shapes.
        budget: of the loss and its gradient, as in `ckpt.jax.jit`.
        device, time_limit, progress: as in `ckpt.jax.jit`.

    Raises:
        BudgetError: no policy meets the budget; says what a planned step takes.
        UnsupportedStep: JAX cannot trace the loss.
    """
    return _Choice(loss, args, PlanOptions(budget, device, None, False, time_limit, progress=progress)).run()
