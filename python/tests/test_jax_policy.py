"""A policy of jax.checkpoint keeps what a plan keeps, and XLA says what that takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.ad_checkpoint import checkpoint_name
from jax_models import _loss, make_step

import ckpt
import ckpt.jax

LAYERS, WIDTH, BATCH = 6, 64, 256


def weights():
    random = np.random.default_rng(0)
    return [(random.standard_normal((LAYERS, *shape)) / 16).astype(np.float32) for shape in ((WIDTH, 4 * WIDTH), (4 * WIDTH, WIDTH))]


def make_loss(policy=None):
    """A loss whose model has two names; without a policy its scan keeps everything."""

    def body(x, layer):
        up, down = layer
        hidden = checkpoint_name(x @ up, "hidden")
        return x + checkpoint_name(jnp.tanh(hidden), "active") @ down, None

    if policy is not None:
        body = jax.checkpoint(body, policy=policy, prevent_cse=False)

    def loss(layers, x):
        return (jax.lax.scan(body, x, layers)[0] ** 2).mean()

    return loss


def temp(loss, arguments):
    compiled = jax.jit(jax.value_and_grad(loss)).lower(*arguments).compile()
    return compiled.memory_analysis().temp_size_in_bytes


@pytest.fixture(scope="module")
def named():
    arguments = weights(), np.ones((BATCH, WIDTH), np.float32)
    return arguments, ckpt.jax.policy(make_loss(), *arguments, budget="70%", time_limit=0)


def test_the_names_of_the_model_are_used_and_xla_takes_what_the_policy_says(named):
    arguments, policy = named
    assert policy.names.keys() <= {"hidden", "active"} and policy.names
    assert temp(make_loss(policy), arguments) == policy.temp_bytes <= policy.budget_bytes
    assert policy.plain_temp_bytes == temp(make_loss(), arguments)


def test_results_do_not_depend_on_the_policy(named):
    arguments, policy = named
    expected = jax.value_and_grad(make_loss())(*arguments)
    for a, e in zip(*map(jax.tree.leaves, (jax.value_and_grad(make_loss(policy))(*arguments), expected)), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-6)


def test_the_price_is_between_none_and_the_whole_forward_pass(named):
    _, policy = named
    assert 0 <= policy.extra_flops_share < 1 / 3
    text = str(policy)
    assert "with the policy, by XLA" in text and "planned step, by XLA" in text
    assert all(name in text for name in policy.names)


def test_a_model_without_names_is_told_where_to_put_them():
    step, arguments = make_step(scanned=True)
    policy = ckpt.jax.policy(lambda p, t: _loss(p, t, True), *arguments, budget="60%", time_limit=0)
    assert policy.names and all("jax_models.py:" in place for place in policy.names.values())
    assert policy.temp_bytes <= policy.budget_bytes
    assert policy.plan_temp_bytes <= policy.budget_bytes


def test_a_budget_that_no_policy_meets_names_the_plan():
    arguments = weights(), np.ones((BATCH, WIDTH), np.float32)
    with pytest.raises(ckpt.BudgetError):
        ckpt.jax.policy(make_loss(), *arguments, budget="4KiB", time_limit=0)
