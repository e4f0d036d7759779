"""The steps of the benchmark train: they return a loss and parameters of the shapes that they were given."""

import jax
import pytest
from jax_steps import STEPS, make


@pytest.mark.parametrize("name", STEPS)
def test_steps_return_a_loss_and_new_parameters(name):
    step, arguments = make(name)
    loss, parameters = jax.eval_shape(step, *arguments)
    assert loss.shape == ()
    given = jax.tree.map(lambda leaf: leaf.shape, arguments[0])
    assert jax.tree.map(lambda leaf: leaf.shape, parameters) == given
