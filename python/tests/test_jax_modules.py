"""Steps on modules of Flax NNX, through each door: variables change in place, as with `flax.nnx.jit`."""

import pytest

pytest.importorskip("flax", reason="flax is not installed")

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

import ckpt
import ckpt.jax


class Network(nnx.Module):
    """A layer whose weight is used twice, a batch norm, and a count in a variable."""

    def __init__(self):
        self.layer = nnx.Linear(8, 8, rngs=nnx.Rngs(0))
        self.twin = self.layer
        self.norm = nnx.BatchNorm(8, rngs=nnx.Rngs(1))
        self.count = nnx.Variable(jnp.zeros((), jnp.int32))

    def __call__(self, x):
        self.count.value += 1
        return self.twin(jax.nn.gelu(self.norm(self.layer(x))))


def step(model, x, rate=0.5):
    loss, gradients = nnx.value_and_grad(lambda model: jnp.square(model(x)).mean())(model)
    weights = nnx.state(model, nnx.Param)
    nnx.update(model, jax.tree.map(lambda weight, gradient: weight - rate * gradient, weights, nnx.state(gradients, nnx.Param)))
    return {"loss": loss}


def batch(rows=16):
    return jax.random.normal(jax.random.key(2), (rows, 8))


def variables(model):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(nnx.state(model))]


def assert_trains_as_nnx(planned):
    ours, theirs = Network(), Network()
    for rows in (16, 16, 4):
        found, wanted = planned(ours, batch(rows)), nnx.jit(step)(theirs, batch(rows))
        np.testing.assert_allclose(found["loss"], wanted["loss"], rtol=1e-5)
    assert ours.twin is ours.layer
    for one, other in zip(variables(ours), variables(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_jit():
    planned = ckpt.jax.jit(step, budget="100%")
    assert_trains_as_nnx(planned)
    assert planned.report.temp_bytes <= planned.report.plain_temp_bytes
    assert planned.check(Network(), batch()).largest_difference < 1e-5
    with pytest.raises(ckpt.UnsupportedStep, match="on modules of Flax NNX takes no donate_argnums"):
        ckpt.jax.jit(step, donate_argnums=0)(Network(), batch())


def test_planned():
    planned = ckpt.jax.planned(step)
    assert_trains_as_nnx(nnx.jit(planned))
    assert planned.plan.arena_bytes > 0


def test_compile():
    pytest.importorskip("iree.compiler")
    pytest.importorskip("ckpt_engine")

    assert_trains_as_nnx(ckpt.compile(step, time_limit=0))
    ours, theirs = (nnx.Linear(8, 8, rngs=nnx.Rngs(0)) for _ in range(2))
    found = ckpt.compile(step, Network(), batch(), time_limit=0)(ours, batch())
    np.testing.assert_allclose(found["loss"], nnx.jit(step)(theirs, batch())["loss"], rtol=1e-5)
    np.testing.assert_allclose(variables(ours)[0], variables(theirs)[0], rtol=1e-4, atol=1e-5)
