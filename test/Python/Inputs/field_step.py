"""Steps as they are written in reinforcement learning, optimal transport and filtering."""

import jax
import jax.numpy as jnp
import numpy as np


def normal(*shape):
    return (np.random.default_rng(0).standard_normal(shape) * 0.3).astype(np.float32)


def update(loss):
    def step(weights, *arguments):
        value, gradients = jax.value_and_grad(loss)(weights, *arguments)
        return value, jax.tree.map(lambda weight, gradient: weight - 0.1 * gradient, weights, gradients)

    return step


def values_of(weights, observations):
    return (jnp.tanh(observations @ weights["v1"]) @ weights["v2"])[..., 0]


def advantages_of(values, rewards, ends):
    """Generalized advantage estimation, back in time."""

    def earlier(later, moment):
        reward, end, value, following = moment
        later = reward + 0.99 * following * (1 - end) - value + 0.95 * 0.99 * (1 - end) * later
        return later, later

    moments = rewards[:-1], ends[:-1], values[:-1], values[1:]
    _, advantages = jax.lax.scan(earlier, jnp.zeros(rewards.shape[1]), moments, reverse=True)
    return jax.lax.stop_gradient(advantages)


def policy_loss(weights, observations, actions, rewards, ends, old):
    values = values_of(weights, observations)
    advantages = advantages_of(values, rewards, ends)
    targets = advantages + jax.lax.stop_gradient(values[:-1])
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    logits = jax.nn.log_softmax(jnp.tanh(observations[:-1] @ weights["p1"]) @ weights["p2"])
    ratio = jnp.exp(jnp.take_along_axis(logits, actions[:-1, :, None], -1)[..., 0] - old[:-1])
    gain = jnp.minimum(ratio * advantages, jnp.clip(ratio, 0.8, 1.2) * advantages).mean()
    entropy = -(jnp.exp(logits) * logits).sum(-1).mean()
    return ((values[:-1] - targets) ** 2).mean() - gain - 0.01 * entropy


policy_step = update(policy_loss)


def policy_arguments():
    random = np.random.default_rng(0)
    weights = {"v1": normal(8, 32), "v2": normal(32, 1), "p1": normal(8, 32), "p2": normal(32, 4)}
    actions = random.integers(0, 4, (17, 6)).astype(np.int32)
    ends = (random.random((17, 6)) < 0.1).astype(np.float32)
    return weights, normal(17, 6, 8), actions, normal(17, 6), ends, normal(17, 6) - 1


def transport_loss(weight, x, y):
    """Optimal transport by Sinkhorn's iteration, whose error only the condition reads."""
    a, b = x @ weight, y @ weight
    cost = jnp.sum((a[:, None] - b[None]) ** 2, -1)
    still = jax.lax.stop_gradient(cost)

    def iterate(state):
        u, v, count, _ = state
        new = -jax.nn.logsumexp(v[None] - still, 1)
        v = -jax.nn.logsumexp(new[:, None] - still, 0)
        return new, v, count + 1, jnp.abs(new - u).max()

    continues = lambda state: (state[2] < 50) & (state[3] > 1e-3)
    start = jnp.zeros(a.shape[0]), jnp.zeros(b.shape[0]), 0, jnp.float32(1e9)
    u, v, _, _ = jax.lax.while_loop(continues, iterate, start)
    return jnp.sum(jax.lax.stop_gradient(jnp.exp(u[:, None] + v[None] - still)) * cost)


transport_step = update(transport_loss)


def transport_arguments():
    return normal(8, 4), normal(24, 8), normal(16, 8) + 1


def filter_loss(model, observations):
    """A Kalman filter; row swaps of its solves are two writes at one place that the data name."""
    a, c, q, r = model

    def advance(state, y):
        mean, spread = a @ state[0], a @ state[1] @ a.T + jnp.exp(q) * jnp.eye(4)
        seen = c @ spread @ c.T + jnp.exp(r) * jnp.eye(2)
        gain, error = jnp.linalg.solve(seen, c @ spread).T, y - c @ mean
        cost = 0.5 * (error @ jnp.linalg.solve(seen, error) + jnp.linalg.slogdet(seen)[1])
        return (mean + gain @ error, spread - gain @ c @ spread), cost

    _, costs = jax.lax.scan(advance, (jnp.zeros(4), jnp.eye(4)), observations)
    return costs.sum()


filter_step = update(filter_loss)


def filter_arguments():
    model = np.eye(4, dtype=np.float32) * 0.9 + normal(4, 4) * 0.1, normal(2, 4), np.float32(-1), np.float32(-1)
    return model, normal(4, 2)


def determinant_step(a):
    """Counts of swapped rows, integers, lie where the determinant will."""
    return jnp.linalg.det(a), jnp.linalg.inv(a @ a.T + jnp.eye(6))


def determinant_arguments():
    return (normal(6, 6),)
