"""XLA's own kernels in a planned order: the results have the bits of plain jit."""

import re
from types import SimpleNamespace

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
needs_donations = pytest.mark.skipif(jax.__version_info__ < (0, 11), reason="this XLA loses donated arguments in passes of the user's")
WIDTH, ROWS = 128, 512
pytestmark = pytest.mark.usefixtures("optimized")


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


@needs_hook
def test_a_cache_of_compilations_on_disk_keeps_planned_steps_apart():
    """JAX takes neither a planned executable for the step as written, nor the other way round; conftest.py sets the cache."""
    assert jax.config.jax_compilation_cache_dir
    temps = []
    for budget in (None, "40%", "60%"):
        jax.clear_caches()
        lowered = jax.jit(step_of(layered)).lower(*arguments())
        made = ckpt.jax.hlo(lowered, budget=budget, effort=0.2).executable if budget else lowered.compile()
        temps.append(made.memory_analysis().temp_size_in_bytes)
    jax.clear_caches()
    plain = jax.jit(step_of(layered)).lower(*arguments()).compile()
    assert plain.memory_analysis().temp_size_in_bytes == temps[0]
    assert temps[1] < temps[2] < temps[0]


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
def test_an_error_names_the_bytes_of_xla_whatever_the_budget_and_the_clock():
    lowered, named = jax.jit(step_of(layered)).lower(*arguments()), set()
    for budget, limit in (("1KiB", {"time_limit": 0.2}), ("10%", {"effort": 0.2})):
        with pytest.raises(ckpt.BudgetError, match="XLA takes .* searches of every budget find; no arena does with less than") as raised:
            ckpt.jax.hlo(lowered, budget=budget, **limit)
        assert raised.value.smallest_bytes > raised.value.budget_bytes and raised.value.report
        named.add(raised.value.smallest_bytes)
    (smallest,) = named
    assert ckpt.jax.hlo(lowered, budget=smallest, effort=0.2).report.temp_bytes <= smallest


def with_moments(layer_of):
    """Adam: parameters and moments are arguments and results."""
    descent = step_of(layer_of)

    def step(state, x):
        parameters, means, squares = state
        value, descended = descent(parameters, x)
        gradients = jax.tree.map(lambda p, q: 10 * (p - q), parameters, descended)
        means = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, means, gradients)
        squares = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, squares, gradients)
        parameters = jax.tree.map(lambda p, m, s: p - 1e-3 * m / (jnp.sqrt(s) + 1e-8), parameters, means, squares)
        return value, (parameters, means, squares)

    parameters, x = arguments()
    zeros = jax.tree.map(np.zeros_like, parameters)
    return step, ((parameters, zeros, zeros), x)


def matrices_with(function):
    random = np.random.default_rng(0)
    matrix = lambda: (random.standard_normal((WIDTH, WIDTH)) / np.sqrt(WIDTH)).astype(np.float32)
    return function, ((matrix(), matrix()), arguments()[1])


def exchanged(state, x):
    """Each result lies in the argument that the other one is."""
    a, b = state
    y = jnp.tanh(x @ a)
    return y.T @ jnp.tanh(y @ b), (b, a)


def transposed(state, x):
    """A result may not be written over the argument while it is read across its rows."""
    a, b = state
    y = jnp.tanh(x @ a)
    return jnp.tanh(y @ b), (a.T * 0.9, b.T + a)


def overwritten(state, x):
    """XLA writes loops and updates into the arguments themselves."""
    a, b = state
    y = jnp.tanh(x @ a)
    a = a.at[3].add(y[0, 0])
    return jnp.sin(y @ a), (a * 2, lax.fori_loop(0, 3, lambda i, b: jnp.sort(b @ b, 1) + i, b))


DONATING = {
    "layered": lambda: with_moments(layered),
    "convolved": lambda: with_moments(convolved),
    "looped": lambda: with_moments(looped),
    **{function.__name__: lambda f=function: matrices_with(f) for function in (exchanged, transposed, overwritten)},
}


@needs_hook
@needs_donations
@pytest.mark.parametrize(
    "name, budget",
    [("layered", None), ("layered", "35%"), ("convolved", "50%"), *((name, None) for name in ("looped", "exchanged", "transposed", "overwritten"))],
)
def test_donated_arguments_hold_their_results(name, budget):
    step, example = DONATING[name]()
    lowered = jax.jit(step, donate_argnums=0).lower(*example)
    planned, plain = ckpt.jax.hlo(lowered, budget=budget, effort=0.5), lowered.compile()
    fresh = lambda: jax.tree.map(jnp.array, example)
    assert_same_bits(planned(*fresh()), plain(*fresh()))
    ours, theirs = planned.executable.memory_analysis(), plain.memory_analysis()
    assert ours.alias_size_in_bytes == theirs.alias_size_in_bytes > 0
    assert budget is None or ours.temp_size_in_bytes <= planned.report.budget_bytes < theirs.temp_size_in_bytes


DONATED = """HloModule step, is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias) }, entry_computation_layout={(f32[64]{0})->(f32[64]{0}, f32[64]{0})}

ENTRY %main (p: f32[64]) -> (f32[64], f32[64]) {
  %p = f32[64]{0} parameter(0)
  %copy.1 = f32[64]{0} copy(%p)
  %y = f32[64]{0} KIND(%copy.1)
  %new = f32[64]{0} WRITER
  ROOT %results = (f32[64]{0}, f32[64]{0}) tuple(%y, %new)
}
"""


@pytest.mark.parametrize(
    "writer, order, is_late",
    [
        ("cosine(%copy.1)", ("y", "new"), False),
        ("cosine(%copy.1)", ("new", "y"), True),
        ("reverse(%copy.1), dimensions={0}", ("y", "new"), True),
        ("negate(%y)", ("y", "new"), False),
        ("negate(%y)", ("y", "new", "y"), True),
    ],
)
def test_a_result_moves_behind_the_last_reader_of_its_donated_argument(writer, order, is_late):
    """No copy of XLA's is left; a copy of the result is made where the plan writes it too early, or across the argument."""
    module = ScheduledModule(DONATED.replace("KIND", "sine").replace("WRITER", writer))
    numbers = {each.name: i for i, each in enumerate(module.kernels)}
    assert set(numbers) == {"y", "new"}
    text = module.planned(SimpleNamespace(kernels=[([numbers[name]], []) for name in order]))
    lines = [re.sub(r", .*", "", line.strip()) for line in text.partition("ENTRY")[2].split("\n")[2 : 3 + len(order) + is_late]]
    assert [" sine(%p)" in line for line in lines[: len(order)]] == [name == "y" for name in order]
    copies = [line for line in lines if "copy(" in line]
    assert copies == (["%new.moved = f32[64]{0} copy(%new)"] if is_late else []) == lines[len(order) : len(order) + is_late]
    assert ("%new.moved)" if is_late else "%new)") in text.partition("ROOT")[2]


WRITTEN_BEFORE = """HloModule step, is_scheduled=true, input_output_alias={ {0}: (0, {}, may-alias) }

ENTRY %main (p: f32[64,64], row: f32[1,64], i: s32[]) -> (f32[64,64], f32[64,64]) {
  %p = f32[64,64]{1,0} parameter(0)
  %row = f32[1,64]{1,0} parameter(1)
  %i = s32[] parameter(2)
  %written = f32[64,64]{1,0} dynamic-update-slice(%p, %row, %i, %i)
  %reader = f32[64,64]{1,0} transpose(%written), dimensions={1,0}
  %sine = f32[64,64]{1,0} sine(%reader)
  %new = f32[64,64]{1,0} negate(%written)
  ROOT %results = (f32[64,64]{1,0}, f32[64,64]{1,0}) tuple(%new, %sine)
}
"""


def test_readers_of_values_in_a_donated_argument_run_before_its_result():
    """The update lies in the argument too: its reader may not run again behind the result."""
    lines = ScheduledModule(WRITTEN_BEFORE).problem.text.splitlines()
    reader, new = (next(line for line in lines if f'name="{name}"' in line and line.startswith("op")) for name in ("transpose", "negate"))
    value = re.search(r"results=(\d+)", reader)[1]
    assert " once " in reader and f",{value}:any" in new


@needs_hook
@pytest.mark.skipif(jax.__version_info__ >= (0, 11), reason="this XLA keeps donated arguments")
def test_donated_arguments_that_xla_loses_are_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="JAX 0.11 or newer"):
        ckpt.jax.hlo(jax.jit(step_of(layered), donate_argnums=0).lower(*arguments()), effort=0.1)


@needs_hook
def test_several_devices_are_refused():
    devices = NamedSharding(Mesh(np.array(jax.devices()), ("devices",)), PartitionSpec())
    with pytest.raises(ckpt.UnsupportedStep, match="one CPU device"):
        ckpt.jax.hlo(jax.jit(step_of(layered), out_shardings=devices).lower(*arguments()))


@pytest.mark.skipif(has_hook, reason="this JAX has the interface")
def test_an_older_jax_is_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="JAX 0.10.2 or newer"):
        ckpt.jax.hlo(jax.jit(step_of(layered)).lower(*arguments()))
