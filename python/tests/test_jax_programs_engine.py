"""Calls of a step of JAX that differ from the ones before: each finds its program, or gets one."""

import functools
import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ckpt


def assert_equal(ours, theirs):
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_allclose(np.asarray(one, np.float64), np.asarray(other, np.float64), rtol=1e-5, atol=1e-5)


def descended(weights, x, rate):
    loss, gradients = jax.value_and_grad(lambda weights: jnp.square(jnp.tanh(x @ weights["w"]) + weights["b"]).mean())(weights)
    return loss, jax.tree.map(lambda weight, gradient: weight - rate * gradient, weights, gradients)


def test_shapes_types_and_structures():
    random = np.random.default_rng(0)
    w = random.standard_normal((4, 3)).astype(np.float32)
    ours, theirs = ckpt.compile(descended, time_limit=0), jax.jit(descended)
    weights = {"w": w, "b": np.zeros(3, np.float32)}
    for size in (8, 8, 5, 8):
        x = random.standard_normal((size, 4)).astype(np.float32)
        (loss, now), wanted = ours(weights, x, 0.5), theirs(weights, x, 0.5)
        assert_equal((loss, now), wanted)
        weights = now
    halves = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.bfloat16), weights)
    assert jax.tree.map(lambda leaf: leaf.dtype, ours(halves, jnp.asarray(x, jnp.bfloat16), 0.5)) == jax.tree.map(
        lambda leaf: leaf.dtype, theirs(halves, jnp.asarray(x, jnp.bfloat16), 0.5)
    )
    assert_equal(ours({**weights, "more": {"c": x}}, x, 0.5), theirs({**weights, "more": {"c": x}}, x, 0.5))
    assert len(ours._programs) == 4


def test_a_count_that_comes_back_is_planned_once():
    ours = ckpt.compile(lambda count, x: (count + 1, x * count), time_limit=0)
    count, x = 0, np.ones(4, np.float32)
    for expected in range(4):
        count, scaled = ours(count, x)
        assert count == expected + 1 and scaled[0] == expected
    # The number of Python, and the array, which has another type in JAX.
    assert len(ours._programs) == 2 and ours._programs[0].report is ours._programs[1].report


@functools.partial(ckpt.compile, budget="50%", time_limit=0.1)
@functools.partial(jax.jit, static_argnums=1)
def chained(x, count):
    def loss(x):
        for _ in range(count):
            x = jnp.tanh(x @ x)
        return x.sum()

    return jax.grad(loss)(x)


def test_decorators_and_static_arguments():
    with pytest.raises(ckpt.CkptError, match="no program yet"):
        chained.report
    x = jnp.asarray(np.random.default_rng(0).standard_normal((32, 32)) / 8, jnp.float32)
    for count in (12, 2, 12):
        assert_equal(chained(x, count), chained.__wrapped__(x, count))
        if count == 2:
            # It takes more than half of what it would take, since the other one does.
            assert chained.report.figures["peak_bytes"] == chained.report.figures["baseline_peak_bytes"] < chained.arena_bytes
    assert chained.arena_bytes == chained.report.figures["peak_bytes"] <= chained.report.figures["baseline_peak_bytes"] / 2
    assert len(chained._programs) == 2


def test_programs_hold_no_arrays_of_their_examples():
    weights, x = {"w": jnp.ones((4, 3)), "b": jnp.zeros(3)}, jnp.ones((2, 4))
    held = [weakref.ref(array) for array in (*weights.values(), x)]
    compiled = ckpt.compile(descended, weights, x, 0.5, time_limit=0)
    weights = jax.tree.map(np.asarray, weights)
    x = np.ones((2, 4), np.float32)
    weights = jax.tree.map(np.copy, weights)
    gc.collect()
    assert [reference() for reference in held] == [None] * 3
    assert_equal(compiled(weights, x, 0.5), jax.jit(descended)(weights, x, 0.5))


def test_settings_of_jax():
    step = lambda x: jnp.cumsum(jnp.ones(3)) * x
    ours, x = ckpt.compile(step, np.float64(2), time_limit=0), np.float64(2)
    for is_wide in (True, False):
        jax.config.update("jax_enable_x64", is_wide)
        try:
            assert_equal(ours(x), jax.jit(step)(x))
        finally:
            jax.config.update("jax_enable_x64", False)
    assert len(ours._programs) == 2


def test_a_step_in_mlir_has_one_program():
    doubled = """func.func @main(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
  %r = arith.addf %x, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}"""
    step = ckpt.compile(doubled, time_limit=0)
    with pytest.raises(ckpt.ArrayError, match=r"expected argument 0 \(x\) of shape \(4,\), but got \(3,\)"):
        step(np.ones(3, np.float32))
    assert len(step._programs) == 1
