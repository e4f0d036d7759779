"""The ops of a step: products come out as the step reads them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ckpt.jax
from ckpt.jax.program import flatten

RANDOM = np.random.default_rng(0)


def names(step, *arguments):
    return [op.name for op in flatten(jax.make_jaxpr(step)(*arguments)).ops]


def array(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def test_gradients_of_weights_are_products_without_a_transpose():
    def step(weight, x):
        return jax.grad(lambda weight: (jnp.tanh(x @ weight) ** 2).sum())(weight)

    arguments = array(8, 4), array(16, 8)
    assert "transpose" in str(jax.make_jaxpr(step)(*arguments))
    assert "transpose" not in names(step, *arguments)


def product(left, right, contracted, batch=((), ()), precision=None):
    return jax.lax.dot_general(left, right, (contracted, batch), precision=precision)


FIRST = ((0,), (0,))
STEPS = {
    "plain": (lambda x, y: product(x, y, FIRST).T, (3, 4), (3, 5)),
    "of one operand": (lambda x, y: (product(x, x, FIRST) + 1).T, (3, 4), (3, 5)),
    "transposed twice": (lambda x, y: product(x, y, FIRST).T.T.T * 2, (3, 4), (3, 5)),
    "two free dimensions": (lambda x, y: product(x, y, FIRST).transpose(2, 0, 1), (3, 4, 2), (3, 5)),
    "of a vector": (lambda x, y: product(x, y, FIRST).T, (3,), (3, 5)),
    "batches": (lambda x, y: product(x, y, ((1,), (1,)), ((0,), (0,))).mT, (2, 3, 4), (2, 3, 5)),
    "two precisions": (lambda x, y: product(x, y, FIRST, precision=("highest", "default")).T, (3, 4), (3, 5)),
    "another permutation": (lambda x, y: product(x, y, FIRST).transpose(1, 0, 2), (3, 4, 2), (3, 5)),
    "read twice": (lambda x, y: (lambda z: (z.T, jnp.sin(z)))(product(x, y, FIRST)), (3, 4), (3, 5)),
    "a result": (lambda x, y: (lambda z: (z, z.T + 1))(product(x, y, FIRST)), (3, 4), (3, 5)),
}


@pytest.mark.parametrize("name", STEPS)
def test_products_with_exchanged_operands_compute_what_jax_computes(name):
    step, *shapes = STEPS[name]
    arguments = [array(*shape) for shape in shapes]
    found = ckpt.jax.plan(step, *arguments)(*arguments)
    for a, e in zip(*map(jax.tree.leaves, (found, step(*arguments))), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)
    if name not in ("of one operand", "another permutation", "read twice", "a result"):
        assert "transpose" not in names(step, *arguments)


def test_unequal_parts_of_a_split_are_slices():
    def step(x):
        parts = jnp.split(jnp.sin(x), [3, 10], axis=1)
        return [part.sum(0) for part in parts], jnp.split(x, 4)

    x = array(8, 16)
    assert names(step, x).count("split") == 1
    for a, e in zip(*map(jax.tree.leaves, (ckpt.jax.plan(step, x)(x), step(x))), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-5, atol=1e-6)


def test_a_plan_without_extra_work_needs_no_bound(gpt, monkeypatch):
    step, arguments = gpt
    problem = ckpt.jax.jit(step, effort=0.2).compile(*arguments).traced.problem
    plan = problem.solve(None)
    monkeypatch.setattr(problem, "_problem", None)
    assert problem.extra_flops_bound(plan) == plan.extra_flops == 0


def test_names_of_unrolled_ops_take_one_look_each(monkeypatch):
    """Loops of many iterations make many ops: reading tracebacks and layers anew takes longer than all else."""
    from ckpt.jax import program
    from ckpt.jax.step import PlanOptions, TracedStep

    def step(x):
        with jax.named_scope("cells"):
            return jax.lax.scan(lambda h, _: (jnp.tanh(h @ x) + 1, h.sum()), x, length=50)

    layers = []
    monkeypatch.setattr(program, "layer_of", lambda scope, found=program.layer_of: layers.append(scope) or found(scope))
    program._place.cache_clear()
    traced = TracedStep(step, (array(4, 4),), {}, PlanOptions())
    assert traced.problem.text.count("test_jax_program.py:") >= 150 and "cells/49" in traced.problem.text
    assert len(layers) == len(traced.program.ops) >= 200
    assert program._place.cache_info().misses < 20


def tiny_loops(x):
    """A recurrence of a few numbers, as losses of alignments have it, beside large values."""

    def row(state, part):
        return jax.lax.scan(lambda c, p: (jnp.logaddexp(c, p),) * 2, state[0], part + state)[1], None

    return jax.lax.scan(row, jnp.zeros(16), x[:32, :16])[0].sum()


def test_a_scan_of_small_values_stays_one_op():
    def step(weights, x):
        def loss(weights):
            y, _ = jax.lax.scan(lambda y, w: (jnp.tanh(y @ w), None), x, weights)
            return tiny_loops(y)

        return jax.value_and_grad(loss)(weights)

    weights, x = array(3, 64, 64) / 8, array(512, 64)
    made = names(step, weights, x)
    # The scan over weights is unrolled, forward and backward.
    assert made.count("dot_general") == 8 and made.count("logaddexp") == 0
    assert len(made) < 300
    planned = ckpt.jax.jit(step, effort=0.2)(weights, x)
    for a, e in zip(*map(jax.tree.leaves, (planned, jax.jit(step)(weights, x))), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("first", [1.0, np.float32(1)])
def test_results_of_unrolled_loops_are_weakly_typed_as_in_jax(first):
    def step(x):
        return jax.lax.scan(lambda carry, x: ((carry[0] * 2.0, jnp.sin(carry[1] + x)), carry[0]), (first, x[0]), x)

    x = np.ones((4, 64), np.float32)
    planned = jax.eval_shape(ckpt.jax.planned(step, effort=0.1), x)
    types = lambda results: [(result.dtype, result.weak_type) for result in jax.tree.leaves(results)]
    assert types(planned) == types(jax.eval_shape(step, x))


def test_a_scan_over_layers_is_unrolled(scanned_gpt):
    step, arguments = scanned_gpt
    assert "scan" not in names(step, *arguments)


def selected(weights, x):
    """A recurrence of elementwise ops over time, as state-space models have it: a kernel may compute all earlier steps again."""
    decay, mixed = jnp.exp(-jax.nn.softplus(x @ weights[0])), x @ weights[1]

    def at(state, now):
        a, b = now
        state = a[..., None] * state + b[..., None] * b[:, None]
        return state, (state * a[:, None]).sum(-1)

    return x + jnp.tanh(jax.lax.scan(at, jnp.zeros((*x.shape[1:], x.shape[-1])), (decay, mixed))[1])


def averaged(weights, x):
    """Moving averages of what a network makes."""
    y = jnp.tanh(x @ weights[0])
    _, means = jax.lax.scan(lambda m, t: ((m := 0.9 * m + jnp.sin(t) * t), m * jnp.cos(m)), y[0], y)
    return x + means @ weights[1]


def recurrent(layer, layers, steps):
    def loss(weights, x):
        for each in weights:
            x = layer(each, x)
        return (x**2).mean()

    return jax.value_and_grad(loss), ([array(2, 16, 16) / 4 for _ in range(layers)], array(steps, 4, 16))


@pytest.mark.parametrize("layer", [selected, averaged])
def test_loops_whose_plan_is_too_much_to_compile_stay_one_op_each(layer, tmp_path):
    step, arguments = recurrent(layer, layers=4, steps=24)
    limit = len(names(step, *arguments))
    planned = ckpt.jax.jit(step, budget="75%", effort=0.2, unroll_limit=limit)
    made = planned.compile(*arguments)
    assert sum(len(ops) for ops, _ in made.plan.kernels) - made.traced.program.outside <= limit
    assert [op.name for op in made.traced.program.ops].count("scan") == 8
    assert made.report.temp_bytes <= made.report.budget_bytes
    assert "loops of 24 iterations stay one op each" in str(made.report)
    for a, e in zip(*map(jax.tree.leaves, (planned(*arguments), jax.jit(step)(*arguments))), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-4)
    path = str(tmp_path / "step.plan")
    planned.save(path)
    assert ckpt.jax.load(path, step).compile(*arguments).report.temp_bytes == made.report.temp_bytes


def test_loops_that_are_much_to_compile_are_unrolled_only_where_that_saves_work(monkeypatch, tmp_path):
    from ckpt.jax.step import TracedStep

    step, arguments = recurrent(averaged, layers=2, steps=24)
    monkeypatch.setattr(TracedStep, "MUCH_TO_COMPILE", 100)

    def made(budget):
        planned = ckpt.jax.jit(step, budget=budget, effort=0.2)
        result = planned.compile(*arguments)
        assert result.report.temp_bytes <= result.report.budget_bytes
        return planned, result, "scan" in {op.name for op in result.traced.program.ops}

    planned, result, is_rolled = made("70%")
    assert is_rolled and "loops of 24 iterations stay one op each" in str(result.report)
    path = str(tmp_path / "step.plan")
    planned.save(path)
    assert ckpt.jax.load(path, step).compile(*arguments).report.temp_bytes == result.report.temp_bytes
    _, result, is_rolled = made("90%")
    assert not is_rolled and not result.report.remarks and result.report.extra_flops_share == 0


def test_an_error_names_the_loops_that_stay_one_op_each():
    step, arguments = recurrent(selected, layers=1, steps=24)
    limit = len(names(step, *arguments))
    with pytest.raises(ckpt.BudgetError, match="loops of 24 iterations stay one op each"):
        ckpt.jax.jit(step, budget="10%", effort=0.2, unroll_limit=limit).compile(*arguments)
    inner = ckpt.jax.plan(step, *arguments, effort=0.2, unroll_limit=limit)
    assert inner.plan.extra_flops == 0 and len(inner.plan.kernels) < 50


def test_the_longest_loops_stay_one_op_first():
    def layers(weights, x):
        return jax.lax.scan(lambda x, weights: (selected(weights, x), None), x, weights)[0].sum()

    closed = jax.make_jaxpr(jax.grad(layers))(array(3, 2, 16, 16), array(40, 4, 16))
    assert flatten(closed).longest == 40
    program = flatten(closed, unroll_limit=1000)
    assert program.longest == 3
    assert {op.eqn.params["length"] for op in program.ops if op.name == "scan"} == {40}


def test_a_scan_over_layers_is_unrolled_at_every_budget(scanned_gpt):
    step, arguments = scanned_gpt
    made = ckpt.jax.jit(step, budget="25%", effort=0.2).compile(*arguments)
    assert not made.report.remarks
    assert all(op.name != "scan" for op in made.traced.program.ops)


def test_lines_of_progress_name_what_xla_compiles(gpt):
    step, arguments = gpt
    lines = []
    ckpt.jax.jit(step, budget="60%", effort=0.2, progress=lines.append).compile(*arguments)
    assert any(line.startswith("XLA compiles ") for line in lines)
