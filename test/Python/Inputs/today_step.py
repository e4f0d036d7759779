"""Steps as people have them today: typed keys, sharding on one device, prints, jitted and donated steps."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import Mesh, NamedSharding, PartitionSpec

if hasattr(jax, "shard_map"):
    shard_map = functools.partial(jax.shard_map, check_vma=False)
else:
    from jax.experimental.shard_map import shard_map as shard_map_before

    shard_map = functools.partial(shard_map_before, check_rep=False)

MASK = np.tril(np.ones((256, 256), bool))


def loss(weights, key, x):
    for matrix in weights:
        key, used = jax.random.split(key)
        hidden = jnp.tanh(x @ matrix)
        x = x + jnp.where(jax.random.bernoulli(used, 0.9, hidden.shape), hidden, 0)
    return jnp.mean(x**2)


def keyed_step(weights, key, x):
    value, gradients = jax.value_and_grad(loss)(weights, key, x)
    return value, [w - 0.1 * g for w, g in zip(weights, gradients)], jax.random.split(key)[0]


def keyed_arguments():
    random = np.random.default_rng(0)
    normal = lambda *shape: (random.standard_normal(shape) * 0.1).astype(np.float32)
    return [normal(8, 8), normal(8, 8)], jax.random.key(3), normal(16, 8)


def sharded_step(weights, key, x):
    mesh = Mesh(np.array(jax.devices()[:1]), ("data",))
    place = NamedSharding(mesh, PartitionSpec("data", None))

    def mean(weights, x):
        value, gradients = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w[0]) ** 2))(weights)
        return jax.lax.pmean(value, "data"), jax.lax.psum(gradients, "data")

    spread = shard_map(mean, mesh=mesh, in_specs=(PartitionSpec(), PartitionSpec("data")), out_specs=PartitionSpec())
    return spread(weights, jax.lax.with_sharding_constraint(x @ weights[1], place))


def offloaded_step(weights, key, x):
    """The backward pass reads a value from the memory of the host, as the user asks."""
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["hidden"], offload_src="device", offload_dst="pinned_host"
    )

    @functools.partial(jax.checkpoint, policy=policy)
    def hidden(weights, x):
        return jnp.mean(jnp.sin(checkpoint_name(jnp.tanh(x @ weights[0]), "hidden")) ** 2)

    return jax.value_and_grad(hidden)(weights, x)


def printing_step(weights, key, x):
    value = jnp.sum(jnp.tanh(x @ weights[0]))
    jax.debug.print("value {}", value)
    jax.debug.callback(lambda value: None, value)
    return value


def called_step(weights, key, x):
    shape = jax.ShapeDtypeStruct((), np.float32)
    return jax.pure_callback(lambda x: np.float32(x.sum()), shape, x)


def masked_step(x):
    return jnp.where(MASK, x, 0).sum(1)


def masked_arguments():
    return (np.random.default_rng(0).standard_normal((256, 256)).astype(np.float32),)


@functools.partial(jax.jit, static_argnums=(1, 3), donate_argnums=0)
def jitted_step(state, count, x, name, rate):
    weights, moments, unused = state["weights"], state["moments"], state["function"]
    for _ in range(count):
        x = jnp.tanh(x @ weights)
    moments = 0.9 * moments + x.T @ x
    return {"weights": weights - rate * moments, "moments": moments, "function": unused}, x.sum()


def jitted_arguments():
    """As NumPy and Python make them: wider than what JAX computes with; a function is not an array."""
    random = np.random.default_rng(0)
    state = {"weights": random.standard_normal((8, 8)), "moments": np.zeros((8, 8)), "function": None}
    return state, 2, random.standard_normal((16, 8)), "unused", 1


def whole_step(model, x):
    activation = model["activation"]
    value, gradient = jax.value_and_grad(lambda w: jnp.sum(activation(x @ w)))(model["weights"])
    return value, {"weights": model["weights"] - gradient, "activation": activation}


def whole_arguments():
    random = np.random.default_rng(0)
    return {"weights": random.standard_normal((8, 8)), "activation": jnp.tanh}, random.standard_normal((4, 8))


def attention_step(q, k, v):
    """Grouped heads in bf16, whose scores JAX asks for by an algorithm."""

    def loss(q, k, v):
        narrow = [x.astype(jnp.bfloat16) for x in (q, k, v)]
        return jnp.mean(jax.nn.dot_product_attention(*narrow, is_causal=True).astype(jnp.float32) ** 2)

    return jax.value_and_grad(loss, (0, 1, 2))(q, k, v)


def attention_arguments():
    random = np.random.default_rng(0)
    normal = lambda heads: random.standard_normal((2, 16, heads, 8)).astype(np.float32)
    return normal(4), normal(2), normal(2)


def indexed_step(x, signed, narrow, updates):
    """Indices out of range, by all modes."""
    gather = lambda mode: x.at[signed].get(mode=mode, fill_value=7)
    window = signed[0], signed[1]
    looked_up = lambda x: jnp.sum(jnp.sin(x[signed] * updates))
    return [
        x[signed],
        gather("clip"),
        gather("fill"),
        x[narrow],
        x.at[signed].add(updates),
        x.at[signed].set(updates[0]),
        x.at[signed].subtract(updates),
        x.at[signed, signed].multiply(2.0),
        x.at[signed].add(updates, mode="clip"),
        x.at[narrow].add(updates),
        jax.lax.dynamic_slice(x, window, (3, 2)),
        jax.lax.dynamic_update_slice(x, updates[:2, :3], window),
        jax.ops.segment_sum(updates, signed, 5),
        jnp.take(x, signed, axis=0),
        jax.grad(looked_up)(x),
    ]


def indexed_arguments():
    random = np.random.default_rng(0)
    normal = lambda *shape: random.standard_normal(shape).astype(np.float32)
    signed = np.array([7, -1, 0, 6, -9, 3, 100000, -100000], np.int32)
    return normal(6, 5), signed, np.array([0, 255, 200, 3, 5, 6, 1, 1], np.uint8), normal(8, 5)
