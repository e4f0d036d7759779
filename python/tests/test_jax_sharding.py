"""Planned steps on four devices: less memory on each, and under shard_map no more collectives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import ckpt.jax

WIDTH, LAYERS, BATCH = 64, 6, 1024


@pytest.fixture
def mesh():
    assert len(jax.devices()) == 4
    return Mesh(np.array(jax.devices()), ("devices",))


def parameters():
    random = np.random.default_rng(0)
    return [
        {name: (random.standard_normal(shape) / 16).astype(np.float32) for name, shape in shapes.items()}
        for shapes in [{"up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}] * LAYERS
    ]


def loss(parameters, x, combine=lambda x: x):
    for weights in parameters:
        x = x + combine(jax.nn.gelu(x @ weights["up"]) @ weights["down"])
    return jnp.mean(x**2)


def update(parameters, gradients):
    return jax.tree.map(lambda w, g: w - 0.1 * g, parameters, gradients)


def inputs():
    return np.random.default_rng(1).standard_normal((BATCH, WIDTH)).astype(np.float32)


def temp(executable):
    return executable.memory_analysis().temp_size_in_bytes


def all_reduces(executable):
    return executable.as_text().count(" all-reduce(") + executable.as_text().count(" all-reduce-start(")


def assert_close(actual, expected):
    for a, e in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)


def expected():
    value, gradients = jax.value_and_grad(loss)(parameters(), inputs())
    return value, update(parameters(), gradients)


def test_data_parallel_by_sharding(mesh):
    def step(parameters, x):
        value, gradients = jax.value_and_grad(loss)(parameters, x)
        return value, update(parameters, gradients)

    arguments = (
        jax.device_put(parameters(), NamedSharding(mesh, P())),
        jax.device_put(inputs(), NamedSharding(mesh, P("devices"))),
    )
    replicated = NamedSharding(mesh, P())
    plain = jax.jit(step, out_shardings=replicated).lower(*arguments).compile()
    planned = ckpt.jax.jit(step, budget="60%", time_limit=1, out_shardings=replicated)
    executable = planned.compile(*arguments).executable
    assert_close(planned(*arguments), expected())
    assert temp(executable) <= 0.6 * temp(plain)
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)


def test_data_parallel_by_shard_map(mesh):
    def local(parameters, x):
        value, gradients = jax.value_and_grad(loss)(parameters, x)
        gradients = jax.tree.map(lambda g: jax.lax.pmean(g, "devices"), gradients)
        return jax.lax.pmean(value, "devices"), update(parameters, gradients)

    check(mesh, local, (P(), P("devices")), (parameters(), inputs()))


def test_gradients_by_shard_map_are_products_without_a_transpose(mesh):
    """JAX gives products of a shard_map a sharding that names no axis."""

    def local(parameters, x):
        return jax.tree.map(lambda g: jax.lax.pmean(g, "devices"), jax.grad(loss)(parameters, x))

    planned = ckpt.jax.planned(local, effort=0.1)
    specs = {"mesh": mesh, "in_specs": (P(), P("devices")), "out_specs": P(), "check_vma": False}
    jax.eval_shape(jax.shard_map(planned, **specs), parameters(), inputs())
    assert "transpose" not in {op.name for op in planned._latest()[0].program.ops}


def test_tensor_parallel_by_shard_map(mesh):
    weights = {"up": P(None, "devices"), "down": P("devices", None)}

    def local(parameters, x):
        def combine(x):
            return jax.lax.psum(x, "devices")

        def share(parameters, x):
            return loss(parameters, x, combine) / jax.lax.psum(1, "devices")

        value, gradients = jax.value_and_grad(share)(parameters, x)
        return jax.lax.psum(value, "devices"), update(parameters, gradients)

    check(mesh, local, ([weights] * LAYERS, P()), (parameters(), inputs()), (P(), [weights] * LAYERS), same=False)


def check(mesh, local, in_specs, arguments, out_specs=None, same=True):
    """Less memory on each device, with the results and collectives of the plain step."""
    specs = {"mesh": mesh, "in_specs": in_specs, "out_specs": out_specs or P(), "check_vma": False}
    plain = jax.jit(jax.shard_map(local, **specs)).lower(*arguments).compile()
    planned = ckpt.jax.planned(local, budget="50%", time_limit=1)
    options = ckpt.jax.compiler_options()
    executable = jax.jit(jax.shard_map(planned, **specs), compiler_options=options).lower(*arguments).compile()
    results = executable(*arguments)
    assert_close(results, plain(*arguments))
    if same:
        assert_close(results, expected())
    assert temp(executable) <= 0.6 * temp(plain)
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)
