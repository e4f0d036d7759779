"""Planned steps on four devices: less memory on each, and under shard_map no more collectives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import ckpt.jax
from ckpt.jax import partial
from ckpt.jax.program import flatten

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


def test_gradients_of_shared_weights_wait_for_no_other_device(mesh):
    """Their sums over the layers follow sums over the devices; the operands must not stand until these are made."""

    def step(weights, x):
        value, gradients = jax.value_and_grad(lambda weights: loss([weights] * LAYERS, x))(weights)
        return value, update(weights, gradients)

    replicated = NamedSharding(mesh, P())
    arguments = jax.device_put(parameters()[0], replicated), jax.device_put(inputs(), NamedSharding(mesh, P("devices")))
    plain = jax.jit(step, out_shardings=replicated).lower(*arguments).compile()
    unlimited = ckpt.jax.jit(step, effort=1, out_shardings=replicated).compile(*arguments).executable
    planned = ckpt.jax.jit(step, budget=int(0.75 * temp(unlimited)), effort=1, out_shardings=replicated)
    assert_close(planned(*arguments), plain(*arguments))
    executable = planned.compile(*arguments).executable
    assert temp(executable) <= 0.75 * temp(unlimited)
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)


IMAGES = ("NHWC", "HWIO", "NHWC")


def normalized(weights, x):
    """A convolution with a batch norm; XLA combines the sums of its two moments."""
    y = jax.lax.conv_general_dilated(x, weights["kernel"], (1, 1), "SAME", dimension_numbers=IMAGES)
    mean, square = y.mean((0, 1, 2)), (y * y).mean((0, 1, 2))
    variance = square - mean * mean
    y = (y - mean) * (jax.lax.rsqrt(variance + 1e-5) * weights["scale"]) + weights["shift"]
    running = 0.9 * weights["mean"] + 0.1 * mean, 0.9 * weights["variance"] + 0.1 * variance
    return x + jnp.tanh(y), running


@pytest.mark.parametrize("share", [1.0, 0.75, 0.65])
def test_statistics_of_a_sharded_batch_take_no_more_collectives(mesh, share):
    def step(parameters, x):
        def loss(parameters):
            y, moments = x, []
            for weights in parameters:
                y, own = normalized(weights, y)
                moments.append(own)
            return jnp.mean(y**2), moments

        value, gradients = jax.value_and_grad(loss, has_aux=True)(parameters)
        return value, update(parameters, gradients)

    random = np.random.default_rng(0)
    layer = lambda: {
        "kernel": random.standard_normal((3, 3, 8, 8)).astype(np.float32) / 8,
        "scale": np.ones(8, np.float32),
        "shift": np.zeros(8, np.float32),
        "mean": np.zeros(8, np.float32),
        "variance": np.ones(8, np.float32),
    }
    images = random.standard_normal((16, 16, 16, 8)).astype(np.float32)
    # The arguments lie on the host: only the options say where the step runs.
    arguments = [layer() for _ in range(4)], images
    replicated = NamedSharding(mesh, P())
    placed = {"in_shardings": (replicated, NamedSharding(mesh, ROWS)), "out_shardings": replicated}
    plain = jax.jit(step, **placed).lower(*arguments).compile()
    unlimited = ckpt.jax.jit(step, effort=0.5, **placed).compile(*arguments).executable
    budget = int(share * temp(unlimited)) if share < 1 else None
    planned = ckpt.jax.jit(step, budget=budget, effort=0.5, **placed)
    assert_close(planned(*arguments), plain(*arguments))
    executable = planned.compile(*arguments).executable
    assert temp(executable) <= share * temp(unlimited)
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)


def test_tensor_parallel_by_sharding_repeats_no_collective(mesh):
    """Each layer multiplies twice between sums, so that a plan can repeat one of the products."""
    random = np.random.default_rng(0)
    shapes = {"up": (WIDTH, 4 * WIDTH), "gate": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
    specs = {"up": P(None, "devices"), "gate": P(None, "devices"), "down": P("devices", None)}
    weights = [{name: (random.standard_normal(s) / 16).astype(np.float32) for name, s in shapes.items()}] * LAYERS

    def step(parameters, x):
        def loss(parameters):
            y = x
            for own in parameters:
                y = y + (jax.nn.gelu(y @ own["up"]) * jnp.tanh(y @ own["gate"])) @ own["down"]
            return jnp.mean(y**2)

        value, gradients = jax.value_and_grad(loss)(parameters)
        return value, update(parameters, gradients)

    places = [{name: NamedSharding(mesh, spec) for name, spec in specs.items()}] * LAYERS
    replicated = NamedSharding(mesh, P())
    arguments = jax.device_put(weights, places), jax.device_put(inputs(), replicated)
    outputs = (replicated, places)
    plain = jax.jit(step, out_shardings=outputs).lower(*arguments).compile()
    planned = ckpt.jax.jit(step, budget="50%", effort=1, out_shardings=outputs)
    assert_close(planned(*arguments), plain(*arguments))
    report, executable = planned.report, planned.compile(*arguments).executable
    assert temp(executable) <= 0.5 * temp(plain)
    assert report.extra_flops_share > 0
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)
    # The plan counts bytes of one device.
    assert report.planned_bytes <= 1.1 * temp(plain)


ROWS = P("devices")
SUMS = {
    "batches of products": (lambda x, y: jnp.einsum("brk,brl->bkl", x, y), (2, 8, 3), (2, 8, 5), P(None, "devices")),
    "convolution": (
        lambda x, y: jax.lax.conv_general_dilated(x, y, (1, 1), "SAME", dimension_numbers=IMAGES),
        (2, 5, 5, 8), (3, 3, 8, 4), (P(None, None, None, "devices"), P(None, None, "devices")),
    ),
    "product": (lambda x, y: x.T @ y, (8, 3), (8, 5), ROWS),
    "product with other dimensions": (lambda x, y: jnp.einsum("bri,brj->ij", x, y), (8, 2, 3), (8, 2, 5), ROWS),
    "sum": (lambda x, y: x.sum((0, 2)) + y.sum(0), (8, 2, 3), (8, 2), ROWS),
}  # fmt: skip


@pytest.mark.parametrize("kind", SUMS)
def test_devices_sum_their_own_parts_first(mesh, kind):
    function, left, right, specs = SUMS[kind]
    specs = specs if isinstance(specs, tuple) and not isinstance(specs, P) else (specs, specs)
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(shape).astype(np.float32) for shape in (left, right)]
    placed = [jax.device_put(x, NamedSharding(mesh, spec)) for x, spec in zip(arrays, specs)]
    program = flatten(jax.jit(function).trace(*placed).jaxpr)
    found = {}
    jax.jit(partial.observing_function(program, found)).lower(*placed).compile()
    sums = [op for op in program.ops if op.name in ("dot_general", "conv_general_dilated", "reduce_sum")]
    assert sums and all(partial.parts_of(op, found) for op in sums)

    def in_parts(*arguments):
        env = dict(zip(program.inputs, arguments))
        for op in program.ops:
            operands = [env.get(operand) for operand in op.inputs]
            parts = partial.parts_of(op, found)
            env[op.outputs[0]] = partial.total(parts.run(op, operands)) if parts else op.run(operands)[0]
        return [env[output] for output in program.outputs]

    (result,) = jax.jit(in_parts)(*placed)
    np.testing.assert_allclose(result, function(*arrays), rtol=1e-4, atol=1e-5)


def test_sums_on_one_device_have_no_parts(mesh):
    x = jax.device_put(np.ones((8, 4), np.float32), NamedSharding(mesh, P(None, "devices")))
    program = flatten(jax.jit(lambda x: x.sum(0)).trace(x).jaxpr)
    found = {}
    jax.jit(partial.observing_function(program, found)).lower(x).compile()
    assert not any(partial.parts_of(op, found) for op in program.ops)


def test_axes_that_the_step_names_stay():
    mesh = jax.make_mesh((4,), ("devices",), axis_types=(jax.sharding.AxisType.Explicit,))
    placed = jax.device_put(parameters(), NamedSharding(mesh, P())), jax.device_put(inputs(), NamedSharding(mesh, ROWS))
    step = jax.grad(loss)
    planned = ckpt.jax.jit(step, budget="70%", effort=1)
    assert_close(planned(*placed), jax.jit(step)(*placed))


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


def convolved(parameters, x):
    """Residual blocks that share an embedding of the image, as in diffusion models."""

    def convolution(x, kernel):
        return jax.lax.conv_general_dilated(jax.nn.silu(x), kernel, (1, 1), "SAME", dimension_numbers=IMAGES)

    embedded = jnp.sin(x.mean((1, 2))) @ parameters["embedding"]
    for first, second in parameters["blocks"]:
        inner = convolution(jax.nn.standardize(x), first) + embedded[:, None, None]
        x = x + convolution(inner, second)
    return jnp.mean(x**2)


def convolutions():
    random = np.random.default_rng(0)
    draw = lambda *shape: (random.standard_normal(shape) / 12).astype(np.float32)
    blocks = [(draw(3, 3, 16, 16), draw(3, 3, 16, 16)) for _ in range(4)]
    images = random.standard_normal((32, 16, 16, 16)).astype(np.float32)
    return {"embedding": draw(16, 16), "blocks": blocks}, images


def test_gradients_of_convolutions_are_made_where_the_plan_makes_them(mesh):
    """No kernel reads them before the collectives at the end: barriers alone keep their operands from standing until then."""

    def local(parameters, x):
        value, gradients = jax.value_and_grad(convolved)(parameters, x)
        gradients = jax.tree.map(lambda g: jax.lax.pmean(g, "devices"), gradients)
        return jax.lax.pmean(value, "devices"), update(parameters, gradients)

    planned = ckpt.jax.planned(local, budget="50%", effort=1)
    specs = {"mesh": mesh, "in_specs": (P(), P("devices")), "out_specs": P(), "check_vma": False}
    options = ckpt.jax.compiler_options()
    executable = jax.jit(jax.shard_map(planned, **specs), compiler_options=options).lower(*convolutions()).compile()
    assert temp(executable) <= 1.03 * planned.plan.arena_bytes
    assert_close(executable(*convolutions()), jax.jit(jax.shard_map(local, **specs))(*convolutions()))


def test_gradients_of_convolutions_by_sharding_are_made_where_the_plan_makes_them(mesh):
    def step(parameters, x):
        value, gradients = jax.value_and_grad(convolved)(parameters, x)
        return value, update(parameters, gradients)

    replicated = NamedSharding(mesh, P())
    placed = {"in_shardings": (replicated, NamedSharding(mesh, ROWS)), "out_shardings": replicated}
    plain = jax.jit(step, **placed).lower(*convolutions()).compile()
    unlimited = ckpt.jax.jit(step, effort=1, **placed).compile(*convolutions()).executable
    planned = ckpt.jax.jit(step, budget=int(0.5 * temp(unlimited)), effort=1, **placed)
    executable = planned.compile(*convolutions()).executable
    assert temp(executable) <= 0.5 * temp(unlimited)
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)
    assert_close(planned(*convolutions()), plain(*convolutions()))


def test_types_that_say_where_values_vary(mesh):
    """The seed of the gradient and the loss behind its collective are scalars of one kernel: only the loss waits."""

    def local(parameters, x, key):
        key = jax.random.fold_in(key, jax.lax.axis_index("devices"))
        x = x + 0.1 * jax.random.normal(key, x.shape)
        # A scan that is unrolled stacks values that vary and values that do not.
        shares = jax.lax.scan(lambda carry, _: (carry * 0.9, carry), 1.0, length=3)[1]
        mean = lambda parameters: jax.lax.pmean(shares.sum() * convolved(parameters, x), "devices")
        value, gradients = jax.value_and_grad(mean)(parameters)
        return value, update(parameters, gradients)

    arguments = *convolutions(), jax.random.key(0)
    planned = ckpt.jax.planned(local, budget="60%", effort=1)
    specs = {"mesh": mesh, "in_specs": (P(), P("devices"), P()), "out_specs": P()}
    plain = jax.jit(jax.shard_map(local, **specs)).lower(*arguments).compile()
    options = ckpt.jax.compiler_options()
    executable = jax.jit(jax.shard_map(planned, **specs), compiler_options=options).lower(*arguments).compile()
    assert temp(executable) <= 1.03 * planned.plan.arena_bytes
    assert all_reduces(executable) <= 1.2 * all_reduces(plain)
    assert_close(executable(*arguments), plain(*arguments))


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


def test_a_call_on_another_device_is_compiled_for_it():
    planned = ckpt.jax.jit(jax.value_and_grad(loss), budget="60%", time_limit=0)
    arguments = parameters(), inputs()
    first = planned(*arguments)
    moved = planned(*jax.device_put(arguments, jax.devices()[1]))
    assert moved[0].devices() == {jax.devices()[1]}
    assert_close(moved, first)
    assert planned.compile(*arguments) is planned.compile(*jax.device_put(arguments, jax.devices()[0]))


def test_arguments_on_several_devices_are_refused():
    one, other = jax.devices()[:2]
    with pytest.raises(ckpt.UnsupportedStep, match="JAX cannot lower the step: Received incompatible devices"):
        ckpt.jax.jit(loss)(jax.device_put(parameters(), one), jax.device_put(inputs(), other))
