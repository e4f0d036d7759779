"""XLA's own kernels in a planned order: the results have the bits of plain jit."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import ckpt
import ckpt.jax
from ckpt.budget import parse_budget
from ckpt.jax.hlo_plan import ScheduledModule

try:
    from jax.extend import xla as extend

    has_hook = hasattr(extend, "register_hlo_module_transformation")
except ImportError:
    has_hook = False
needs_hook = pytest.mark.skipif(not has_hook, reason="this JAX has no pass of the user's")
WIDTH, ROWS = 128, 512


def layered(x, layer):
    y = x - x.mean(-1, keepdims=True)
    return x + jax.nn.gelu(y @ layer["up"]) @ layer["down"]


def convolved(x, layer):
    images = lax.conv_general_dilated(x.reshape(8, 64, WIDTH, 1), layer["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return x + jnp.tanh(images.sum(-1).reshape(x.shape))


def looped(x, layer):
    """Loops, branches and writes in place, whose operands XLA writes over."""
    y = x.at[jnp.argmax(x[:, :8], 1) * 7].add(0.1 * layered(x, layer))
    y = lax.dynamic_update_slice(y, x[:4] * 2, (jnp.argmax(x[0]), 0))
    y = lax.cond(y[0, 0] > 0, lambda y: y * 1.01, jnp.sin, y)
    return lax.fori_loop(0, 3, lambda i, y: jnp.sort(y + layer["up"][i, :WIDTH], 1), y)


def step_of(layer_of):
    def step(parameters, x):
        def loss(parameters):
            y = x
            for layer in parameters:
                y = layer_of(y, layer)
            return jnp.mean(y**2)

        value, gradients = jax.value_and_grad(loss)(parameters)
        return value, jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)

    return step


def arguments():
    random = np.random.default_rng(0)
    normal = lambda *shape: (random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
    layer = lambda: {"up": normal(WIDTH, 4 * WIDTH), "down": normal(4 * WIDTH, WIDTH), "kernel": normal(3, 3, 1, 4)}
    return [layer() for _ in range(4)], normal(ROWS, WIDTH)


def assert_same_bits(ours, theirs):
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_array_equal(a, b)


@needs_hook
@pytest.mark.parametrize("layer_of, budget", [(layered, None), (layered, "75%"), (layered, "40%"), (convolved, "50%"), (looped, None)])
def test_results_keep_their_bits(layer_of, budget):
    example = arguments()
    lowered = jax.jit(step_of(layer_of)).lower(*example)
    planned = ckpt.jax.hlo(lowered, budget=budget, effort=0.5)
    plain = lowered.compile()
    assert_same_bits(planned(*example), plain(*example))
    temp = planned.executable.memory_analysis().temp_size_in_bytes
    assert planned.report.temp_bytes == temp
    if budget:
        assert temp <= planned.report.budget_bytes == parse_budget(budget, plain.memory_analysis().temp_size_in_bytes)
        assert planned.report.kernels > planned.report.ops


WRITTEN_OVER = """HloModule step, is_scheduled=true

%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}

ENTRY %main (p: f32[64,64], row: f32[1,64], i: s32[]) -> f32[] {
  %p = f32[64,64]{1,0} parameter(0)
  %row = f32[1,64]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %zero = f32[] constant(0)
  %x = f32[64,64]{1,0} copy(%p)
  %reader = f32[64,64]{1,0} transpose(%x), dimensions={1,0}
  %written = f32[64,64]{1,0} dynamic-update-slice(%x, %row, %i, %i)
  %sum = f32[] reduce(%written, %zero), dimensions={0,1}, to_apply=%add
  ROOT %total = f32[] reduce(%reader, %sum), dimensions={0,1}, to_apply=%add
}
"""


def test_an_operand_is_read_before_it_is_written_over():
    """The update waits for the reader, which runs once: another order would read the matrix that the update has changed."""
    lines = ScheduledModule(WRITTEN_OVER).problem.text.splitlines()
    reader, update = (next(line for line in lines if f'name="{name}"' in line) for name in ("transpose", "dynamic-update-slice"))
    value = re.search(r"results=(\d+)", reader)[1]
    assert " once " in reader and f",{value}:any" in update


@needs_hook
def test_a_budget_that_plain_jit_meets_changes_nothing():
    example = arguments()
    planned = ckpt.jax.hlo(jax.jit(step_of(layered)).lower(*example), budget="1GiB")
    assert not planned.report.planned and "meets the budget" in str(planned.report)


@needs_hook
def test_a_budget_that_no_plan_meets_is_an_error():
    with pytest.raises(ckpt.BudgetError, match="smallest found"):
        ckpt.jax.hlo(jax.jit(step_of(layered)).lower(*arguments()), budget="1KiB", time_limit=0.2)


@needs_hook
def test_donated_arguments_are_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="donates arguments"):
        ckpt.jax.hlo(jax.jit(step_of(layered), donate_argnums=0).lower(*arguments()))


@needs_hook
def test_several_devices_are_refused():
    devices = NamedSharding(Mesh(np.array(jax.devices()), ("devices",)), PartitionSpec())
    with pytest.raises(ckpt.UnsupportedStep, match="one CPU device"):
        ckpt.jax.hlo(jax.jit(step_of(layered), out_shardings=devices).lower(*arguments()))


@pytest.mark.skipif(has_hook, reason="this JAX has the interface")
def test_an_older_jax_is_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="JAX 0.10.2 or newer"):
        ckpt.jax.hlo(jax.jit(step_of(layered)).lower(*arguments()))
