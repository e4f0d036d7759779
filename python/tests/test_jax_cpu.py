"""XLA's CPU backend takes no more memory than plans count, for each op that it does not fuse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ckpt
import ckpt.jax
from ckpt.jax.step import PlanOptions, TracedStep

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((8, 64, 128)).astype(np.float32)
IMAGES = RANDOM.standard_normal((4, 32, 32, 16)).astype(np.float32)
WEIGHTS = [(RANDOM.standard_normal((128, 128)) / 12).astype(np.float32) for _ in range(3)]
KERNELS = [(RANDOM.standard_normal((16, 16)) / 4).astype(np.float32) for _ in range(2)]


def softened(x):
    shares = jnp.exp(x - x.max(-1, keepdims=True))
    return x * (shares / shares.sum(-1, keepdims=True))


def normed(x):
    return (x - x.mean((0, 1))) * jax.lax.rsqrt(((x - x.mean((0, 1))) ** 2).mean((0, 1)) + 1e-5)


def joined(x):
    return jnp.tanh(jnp.concatenate([jnp.sin(x), jnp.cos(x)], -1)).reshape(*x.shape, 2).sum(-1)


def pooled(x):
    return jax.lax.reduce_window(jnp.tanh(x), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "SAME")


def dropped(x):
    return jnp.where(jax.random.bernoulli(jax.random.key(1), 0.5, x.shape), x, 0)


def heads(x):
    parts = x.reshape(8, 64, 4, 32)
    scores = jax.lax.dot_general(parts, parts, (((3,), (3,)), ((0, 2), (0, 2))))
    return x + jnp.einsum("bhqk,bkhd->bqhd", jnp.tanh(scores), parts).reshape(x.shape)


def narrow(x):
    return jnp.tanh(x.astype(jnp.bfloat16)).astype(jnp.float32)


BETWEEN = {
    "softmax": softened,
    "norm": normed,
    "concatenation": joined,
    "dropout": dropped,
    "cumulation": lambda x: jnp.tanh(jnp.cumsum(x, 1)),
    "heads": heads,
    "elementwise": lambda x: jnp.tanh(x) * jax.nn.sigmoid(x),
    "bfloat16": narrow,
}


def make_step(between, product=lambda x, weight: x @ weight):
    def loss(weights, x):
        for weight in weights:
            x = x + between(product(x, weight))
        return (x**2).mean()

    def step(weights, x):
        value, gradients = jax.value_and_grad(loss)(weights, x)
        return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradients)

    return step


def measured(step, arguments, share):
    """XLA's temporary bytes over those of the plan; the results are JAX's."""
    inner = ckpt.jax.plan(step, *arguments, budget=share, effort=0.2)
    made = jax.jit(inner, compiler_options=ckpt.jax.compiler_options()).lower(*arguments).compile()
    expected = jax.jit(step)(*arguments)
    for a, e in zip(jax.tree.leaves(made(*arguments)), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-4, atol=1e-5)
    return made.memory_analysis().temp_size_in_bytes / inner.plan.arena_bytes


@pytest.mark.parametrize("name", BETWEEN)
def test_xla_takes_what_is_planned(name):
    assert measured(make_step(BETWEEN[name]), (WEIGHTS, X), "100%") <= 1.03


@pytest.mark.parametrize("name", sorted(set(BETWEEN) - {"dropout"}))
def test_xla_adds_little_to_plans_with_rematerializations(name):
    # The heap of XLA has holes.
    assert measured(make_step(BETWEEN[name]), (WEIGHTS, X), "70%") <= 1.15


def test_pooling_and_its_gradient_take_what_is_planned():
    assert measured(make_step(pooled), (KERNELS, IMAGES), "100%") <= 1.03


def test_a_kernel_that_reads_nothing_keeps_the_order():
    """The gradient of a mean begins with a constant; it waits for the loss, before whose end the logits stand."""
    from jax_models import make_step as gpt_step

    step, arguments = gpt_step(scanned=False)
    jaxpr = jax.make_jaxpr(ckpt.jax.plan(step, *arguments, effort=0.2))(*arguments).jaxpr
    # By variable, the barriers that it waits for.
    waits = {}
    last = frozenset()
    for number, equation in enumerate(jaxpr.eqns):
        reached = frozenset().union(*(waits.get(v, ()) for v in equation.invars if not hasattr(v, "val")))
        if equation.primitive.name == "optimization_barrier":
            last = reached = reached | {number}
        waits.update(dict.fromkeys(equation.outvars, reached))
    (loss,) = (variable for variable in jaxpr.outvars if variable.aval.shape == ())
    # The kernel of the loss itself makes no value that others read.
    assert len(waits[loss] - last) <= 1


def layers(x, weights, between=lambda x: x):
    for weight in weights:
        x = between(jnp.tanh(x @ weight))
    return x


def test_updates_of_a_scatter_are_reshaped_without_a_copy():
    """XLA reshapes updates itself; it copied them for its reshape and the model's in one."""
    index = np.arange(8000, dtype=np.int32) % 1000
    rows = RANDOM.standard_normal((1000, 128)).astype(np.float32)

    def step(weights, x):
        return jax.grad(lambda w: (jnp.sin(layers(x, w)[index].reshape(-1, 8, 16)) ** 2).mean())(weights)

    assert measured(step, (WEIGHTS, rows), "100%") <= 1.03


def test_zeros_that_scatters_write_over_are_made_for_each():
    """XLA merged them, and copied the one that stood from the first scatter to the last."""
    index = RANDOM.integers(0, 1000, (2, 1000)).astype(np.int32)
    rows = RANDOM.standard_normal((1000, 128)).astype(np.float32)

    def step(weights, x):
        spread = lambda y: y + jax.ops.segment_sum(jnp.sin(y)[index[0]], index[1], len(y))
        return jax.grad(lambda w: (layers(x, w, spread) ** 2).mean())(weights)

    assert measured(step, (2 * WEIGHTS, rows), "50%") <= 1.03


def test_narrow_products_take_what_is_planned():
    def product(x, weight):
        return (x.astype(jnp.bfloat16) @ weight.astype(jnp.bfloat16)).astype(jnp.float32)

    step = make_step(jnp.tanh, product)
    inner = ckpt.jax.plan(step, WEIGHTS, X, effort=0.2)
    made = jax.jit(inner, compiler_options=ckpt.jax.compiler_options()).lower(WEIGHTS, X).compile()
    assert made.memory_analysis().temp_size_in_bytes <= 1.03 * inner.plan.arena_bytes


def test_gradients_by_example_need_no_memory():
    """Only sums of them are read: XLA multiplies inside of the sums."""
    x = X.reshape(512, 128)

    def step(weights, x):
        gradients = jax.vmap(jax.grad(lambda weights, x: (jnp.tanh(x @ weights[0]) ** 2).sum()), (None, 0))(weights, x)
        return [w - (jnp.abs(g) * g).sum(0) for w, g in zip(weights, gradients)]

    assert ckpt.jax.plan(step, WEIGHTS[:1], x, effort=0.2).plan.arena_bytes < 128 * x.nbytes / 2
    assert measured(step, (WEIGHTS[:1], x), None) <= 1.03


def experts():
    """Rows in the order of their experts, as in a mixture that drops none."""
    sizes = np.full(4, 128, np.int32)
    product = lambda x, weight: jax.lax.ragged_dot(x, jnp.stack([weight, 2 * weight, weight.T, -weight]), sizes)
    return make_step(jnp.tanh, product), (WEIGHTS, X.reshape(512, 128))


def test_ragged_products_take_what_is_planned():
    step, arguments = experts()
    assert measured(step, arguments, "100%") <= 1.03


def test_ragged_products_are_work():
    """On the CPU, every row meets the matrix of every group, three times with the gradients."""
    step, arguments = experts()
    product = 2 * 4 * 512 * 128 * 128
    flops = TracedStep(step, arguments, {}, PlanOptions(device="cpu")).problem.flops
    # The batch has no gradient.
    assert (3 * len(WEIGHTS) - 1) * product <= flops <= 3 * len(WEIGHTS) * product
    flops = TracedStep(step, arguments, {}, PlanOptions(device="gpu")).problem.flops
    assert (3 * len(WEIGHTS) - 1) * product // 4 <= flops <= 3 * len(WEIGHTS) * product // 4


WIDE = (RANDOM.standard_normal((128, 1024)) / 12).astype(np.float32)


def widened(x):
    """Inside, values are eight times as wide."""
    return jnp.sin(x @ WIDE) @ WIDE.T / 32


def chosen(x):
    return jax.lax.cond(x.sum() > 0, widened, lambda x: x, x)


def converged(x):
    """A loop of an unknown number of turns, which has no gradient."""
    start = jax.lax.stop_gradient(x)
    return x + jax.lax.while_loop(lambda x: jnp.abs(x).max() > 0.1, lambda x: widened(x) / 2, start)


def recurrent(x):
    return jax.lax.scan(lambda x, _: (widened(x), None), x, None, length=4)[0]


INSIDE = {"cond": chosen, "while": converged, "scan": recurrent}


@pytest.mark.parametrize("name", INSIDE)
def test_values_inside_of_loops_and_conditionals_are_planned(name):
    step = make_step(INSIDE[name])
    inner = ckpt.jax.plan(step, WEIGHTS, X, effort=0.2, unroll_limit=1)
    made = jax.jit(inner, compiler_options=ckpt.jax.compiler_options()).lower(WEIGHTS, X).compile()
    assert made.memory_analysis().temp_size_in_bytes <= 1.03 * inner.plan.arena_bytes


def test_barriers_inside_of_loops_of_few_bytes():
    """Those of jax.checkpoint, and those of a plan inside of the user's own loop."""

    @jax.checkpoint
    def rolled(x, _):
        return jnp.roll(x, 1), x

    def step(x):
        return jax.value_and_grad(lambda x: (jax.lax.scan(rolled, x, None, length=5)[1] ** 2).sum())(x)

    planned = ckpt.jax.planned(lambda x: jnp.sin(x).sum() * jnp.cumsum(x))

    def repeated(x):
        return jax.lax.fori_loop(0, 3, lambda _, x: planned(x), x)

    x = np.linspace(0, 1, 4, dtype=np.float32)
    for ours, theirs in zip(ckpt.jax.jit(step, unroll_limit=1)(x), step(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
    made = jax.jit(repeated, compiler_options=ckpt.jax.compiler_options())(x)
    np.testing.assert_allclose(made, jax.jit(repeated)(x), rtol=1e-5)


def test_a_loop_is_the_work_of_all_its_turns():
    step = make_step(recurrent)
    flops = [TracedStep(step, (WEIGHTS, X), {}, PlanOptions(unroll_limit=n)).problem.flops for n in (1, 60_000)]
    assert flops[0] == pytest.approx(flops[1], rel=0.05)


@pytest.mark.parametrize("axes", [(1,), (0,), (0, 1), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(64, 96, 5), (33, 37, 64), (32, 40, 1), (32, 32, 8)])
@pytest.mark.parametrize("reduce", [jnp.sum, jnp.max, jnp.min, jnp.prod])
def test_reductions_in_steps_compute_what_jax_computes(reduce, shape, axes):
    x = RANDOM.uniform(0.9, 1.1, shape).astype(np.float32)

    def step(x):
        return reduce(jnp.sin(x) * 1.5 - 0.25, axes)

    np.testing.assert_allclose(ckpt.jax.plan(step, x)(x), step(x), rtol=2e-5)


def test_a_sum_of_many_numbers_is_as_precise_as_that_of_few():
    """Added one by one, they would be off by more."""
    x = RANDOM.standard_normal((32, 32, 32, 4)).astype(np.float32) + 1

    def step(x):
        return jnp.sum(x * 1.5, (0, 1, 2))

    exact = (x.astype(np.float64) * 1.5).sum((0, 1, 2))
    planned = jax.jit(ckpt.jax.plan(step, x), compiler_options=ckpt.jax.compiler_options())
    np.testing.assert_allclose(planned(x), exact, rtol=1e-6)


def test_a_sum_of_no_numbers_is_zero():
    x = np.ones((0, 64), np.float32)
    assert ckpt.jax.plan(lambda x: jnp.sum(x * 2, (0, 1)), x)(x) == 0


@pytest.mark.parametrize(
    "equation, left, right",
    [
        ("ntd,ntf->df", (4, 8, 16), (4, 8, 24)),
        ("bntd,bntf->bdf", (2, 4, 8, 16), (2, 4, 8, 24)),
        ("ndt,ntd->n", (3, 4, 8), (3, 8, 4)),
        ("bqhd,bkhd->bhqk", (2, 8, 4, 16), (2, 8, 4, 16)),
        ("tdn,tdf->nf", (4, 8, 16), (4, 8, 24)),
        ("ab,ab->", (4, 8), (4, 8)),
        ("nd,nf->ndf", (4, 8), (4, 6)),
        ("dn,f->fnd", (4, 8), (6,)),
        ("ntd,fnt->nfd", (4, 1, 8), (6, 4, 1)),
    ],
)
def test_products_as_matrices_compute_what_jax_computes(equation, left, right):
    x, y = (RANDOM.standard_normal(shape).astype(np.float32) for shape in (left, right))

    def step(x, y):
        return jnp.einsum(equation, x, y)

    np.testing.assert_allclose(ckpt.jax.plan(step, x, y)(x, y), step(x, y), rtol=1e-4, atol=1e-5)
