"""Steps of JAX in the engine of the project."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ckpt


def difference(ours, theirs):
    pairs = list(zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True))
    return max(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max() for a, b in pairs)


@pytest.fixture(scope="module")
def compiled():
    from jax_models import make_step

    step, arguments = make_step(scanned=False)
    return step, arguments, ckpt.compile(step, *arguments, budget="50%", time_limit=1)


def test_a_gpt_step_has_the_results_of_jax(compiled):
    step, arguments, ours = compiled
    theirs = jax.jit(step)(*arguments)
    results = ours(*arguments)
    assert jax.tree.structure(results) == jax.tree.structure(theirs)
    assert difference(results, theirs) < 1e-5


def test_arena_is_half_of_the_baseline(compiled):
    figures = compiled[2].report.figures
    assert compiled[2].arena_bytes == figures["peak_bytes"] <= figures["baseline_peak_bytes"] / 2


def test_arrays_of_jax_are_read_in_place(compiled):
    _, arguments, ours = compiled
    placed = jax.tree.map(jnp.asarray, arguments)
    assert difference(ours(*placed), ours(*arguments)) == 0


def test_results_can_be_arguments(compiled):
    step, (parameters, tokens), ours = compiled
    theirs = jax.jit(step)(jax.jit(step)(parameters, tokens)[1], tokens)
    assert difference(ours(ours(parameters, tokens)[1], tokens), theirs) < 1e-5


def test_calls_that_no_program_takes_are_refused(compiled):
    _, (parameters, tokens), ours = compiled
    with pytest.raises(ckpt.ArrayError, match="arguments of the call are not those of the step: missing a required argument: 'tokens'"):
        ours(parameters)
    with pytest.raises(ckpt.UnsupportedStep, match="JAX refuses the step: TypeError"):
        ours(parameters, tokens.astype(np.float32))
    with pytest.raises(ckpt.ArrayError, match="outside of jit"):
        jax.jit(ours)(parameters, tokens)


def test_an_array_on_another_device_is_refused(compiled):
    _, (parameters, tokens), ours = compiled
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("x",))
    spread = jax.device_put(tokens, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x")))
    with pytest.raises(ckpt.ArrayError, match="on one CPU device"):
        ours(parameters, spread)


def test_bfloat16_keys_scalars_and_static_arguments():
    @functools.partial(jax.jit, static_argnums=3)
    def step(key, x, rate, kind):
        assert kind == "drop"
        kept = jax.random.bernoulli(key, 0.5, x.shape)
        return (jnp.where(kept, x, 0) * rate).astype(jnp.bfloat16), kept

    key, x = jax.random.key(3), jnp.arange(64, dtype=jnp.bfloat16).reshape(8, 8)
    ours = ckpt.compile(step, key, x, jnp.bfloat16(0.5), "drop", time_limit=0)
    results, wanted = ours(key, x, 0.5, "drop"), step(key, x, jnp.bfloat16(0.5), "drop")
    assert results[0].dtype == jnp.bfloat16 and results[1].dtype == bool
    assert difference(results, wanted) == 0
    with pytest.raises(ckpt.UnsupportedStep, match="JAX refuses the step: AssertionError"):
        ours(key, x, 0.5, "keep")


def test_leaves_that_are_no_arrays_are_those_of_the_example():
    ours = ckpt.compile(lambda model, x: model["f"](x), {"f": jnp.sin}, np.ones(3, np.float32), time_limit=0)
    assert difference(ours({"f": jnp.sin}, np.ones(3, np.float32)), jnp.sin(jnp.ones(3))) < 1e-6
    assert difference(ours({"f": jnp.cos}, np.ones(3, np.float32)), jnp.cos(jnp.ones(3))) < 1e-6
    with pytest.raises(ckpt.UnsupportedStep, match="JAX refuses the step: TypeError"):
        ours({"f": np.ones(3)}, np.ones(3, np.float32))


def test_donated_weights_are_updated_in_place():
    step = jax.jit(lambda w, x: (w - 0.1 * x, x.sum()), donate_argnums=0)
    w, x = np.eye(8, dtype=np.float32), np.ones((8, 8), np.float32)
    wanted = w - 0.1 * x
    ours = ckpt.compile(step, w, x, time_limit=0)
    updated, _ = ours(w, x)
    assert updated is w
    np.testing.assert_allclose(w, wanted, rtol=1e-6)
    # JAX's arrays never change: the result is a new array.
    placed = jnp.asarray(wanted)
    ours(placed, x)
    np.testing.assert_array_equal(placed, wanted)


@pytest.mark.parametrize("number", [0, np.int32(0), np.zeros((), np.int32)], ids=["int", "scalar", "array"])
def test_a_donated_number_is_counted(number):
    step = jax.jit(lambda count, x: (count + 1, x * count), donate_argnums=0)
    x = np.ones(4, np.float32)
    ours = ckpt.compile(step, number, x, time_limit=0)
    for expected in range(3):
        number, scaled = ours(number, x)
        assert number == expected + 1 and scaled[0] == expected


def test_maxima_without_a_window_have_no_gradient():
    step = jax.grad(lambda x: jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (5,), (1,), "VALID").sum())
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(ckpt.compile(step, x, time_limit=0)(x), np.zeros(3))


def test_what_has_no_form_is_refused_by_its_line():
    with pytest.raises(ckpt.UnsupportedStep, match="schur .*test_jax_engine.py"):
        ckpt.compile(lambda x: jax.scipy.linalg.schur(x), np.eye(4, dtype=np.float32))
    with pytest.raises(ckpt.UnsupportedStep, match="JAX refuses the step"):
        ckpt.compile(lambda x: x.reshape(3), np.eye(4, dtype=np.float32))


def test_gpt2_beside_jax():
    from compiled_rows import of_jax

    framework, whole, half = of_jax("gpt2-tiny", [None, "50%"])
    assert whole.temporary <= framework.temporary
    assert half.temporary <= whole.temporary / 2
    assert max(whole.difference, half.difference) < 1e-5


def test_complex_arrays_go_in_and_come_out():
    def step(gate, state):
        state = gate @ state
        return state, {"size": jnp.abs(state).sum()}

    random = np.random.default_rng(0)
    gate = (random.standard_normal((8, 8)) + 1j * random.standard_normal((8, 8))).astype(np.complex64)
    ours = ckpt.compile(step, gate, gate[0], time_limit=1)
    for arguments in ((gate, gate[0]), (gate.T, gate[:, 0]), (jnp.asarray(gate), jnp.asarray(gate[0]))):
        state, report = ours(*arguments)
        expected, sizes = jax.jit(step)(*arguments)
        assert state.dtype == np.complex64
        np.testing.assert_allclose(state, expected, rtol=1e-5)
        np.testing.assert_allclose(report["size"], sizes["size"], rtol=1e-5)


def test_complex_results_have_the_bits_of_their_parts():
    given = np.array([0, -0.0, np.inf, np.nan, 1], np.float32)
    real, imag = np.repeat(given, 5), np.tile(given, 5)
    assert ckpt.compile(jax.lax.complex, real, imag)(real, imag).tobytes() == np.asarray(jax.lax.complex(real, imag)).tobytes()


def test_a_complex_number_among_the_results_is_one():
    assert ckpt.compile(lambda x: (x, 2 - 1j), np.ones(3, np.float32))(np.ones(3, np.float32))[1] == 2 - 1j


@pytest.mark.skipif(not hasattr(jax, "new_ref"), reason="an older JAX")
def test_references_live_inside_of_a_step():
    def swapped(x):
        reference = jax.new_ref(x)
        reference[0] = x[1]
        return reference[...]

    x = np.arange(3, dtype=np.float32)
    assert ckpt.compile(swapped, x)(x).tolist() == [1, 1, 2]
    reference = jax.new_ref(x)
    for step, arguments in ((lambda r: r[...], (reference,)), (lambda x: reference[...] + x, (x,))):
        with pytest.raises(ckpt.UnsupportedStep, match="from outside of the step: pass its value"):
            ckpt.compile(step, *arguments)


def test_unsigned_results_keep_their_type():
    def step(pixels, counts):
        return pixels + pixels, {"halves": counts >> 1}, pixels.astype(jnp.uint32) * 3

    arguments = jnp.arange(250, 256, dtype=jnp.uint8), jnp.asarray([2**32 - 1, 7], jnp.uint32)
    ours, theirs = ckpt.compile(step, *arguments)(*arguments), jax.jit(step)(*arguments)
    for mine, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert mine.dtype == other.dtype
        np.testing.assert_array_equal(mine, other)


def test_integers_of_four_bits():
    step = lambda x: (x.astype(jnp.int4), x.astype(jnp.uint4), x.astype(jnp.uint4) + jnp.uint4(3))
    x = np.arange(-8, 8)
    ours, theirs = ckpt.compile(step, x)(x), jax.jit(step)(x)
    assert [result.dtype for result in ours] == [result.dtype for result in theirs]
    assert all(map(np.array_equal, ours, theirs))
    assert all(map(np.array_equal, ckpt.compile(lambda *x: x, *theirs)(*theirs), theirs))


def test_gradients_of_integers_have_no_bytes():
    step = lambda x, i: jax.vjp(lambda x, i: x[i], x, i)[1](x[:2])
    x, i = np.arange(5, dtype=np.float32), np.array([1, 3], np.int32)
    ours, theirs = ckpt.compile(step, x, i)(x, i), jax.jit(step)(x, i)
    assert [(result.dtype, result.shape) for result in ours] == [(result.dtype, result.shape) for result in theirs]


def test_operations_without_elements_or_dimensions():
    def step(x):
        return jnp.flip(x.sum()), jax.lax.top_k(x, 0)[0], jax.lax.rev(x, ()), jnp.flip(x)

    x = jnp.arange(5.0)
    ours, theirs = ckpt.compile(step, x)(x), jax.jit(step)(x)
    assert [result.shape for result in ours] == [result.shape for result in theirs]
    assert difference(ours[:1] + ours[2:], theirs[:1] + theirs[2:]) == 0


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0)])
def test_factorizations_of_matrices_without_elements(shape):
    def step(a):
        return jnp.linalg.cholesky(a), jax.lax.linalg.lu(a), jnp.linalg.qr(a), jnp.linalg.eigh(a), jnp.linalg.inv(a)

    a = np.zeros(shape, np.float32)
    ours, theirs = ckpt.compile(step, a)(a), jax.jit(step)(a)
    shapes = lambda results: jax.tree.map(lambda result: (result.shape, result.dtype), tuple(jax.tree.leaves(results)))
    assert shapes(ours) == shapes(theirs)


def test_64_bits_become_32_as_in_jax():
    step = lambda x, n, z, w: (x * 2, n + 1, z * 1j, w * 2)
    arguments = np.arange(3.0), np.array([2**40 + 5]), np.array([1 + 2j]), 3 - 1j
    ours, theirs = ckpt.compile(step, *arguments)(*arguments), jax.jit(step)(*arguments)
    assert [result.dtype for result in ours] == [result.dtype for result in theirs]
    assert all(map(np.array_equal, ours, theirs))


def test_numbers_of_other_types_than_the_example():
    step = lambda n, x: (n * 2, n * x, x / 2)
    ours, x = ckpt.compile(step, 3, np.ones(3, np.uint8)), np.array([1, 200, 255], np.uint8)
    for n in (True, 4, 2.5, np.float32(2), jnp.bfloat16(3), np.uint32(2**32 - 2), np.int32(-1), jnp.asarray(4)):
        for one, other in zip(ours(n, x), jax.jit(step)(n, x), strict=True):
            assert one.dtype == other.dtype and np.array_equal(one, other)
    signed = x.astype(np.int8)
    assert all(map(np.array_equal, ours(3, signed), jax.jit(step)(3, signed)))
    with pytest.raises(ckpt.UnsupportedStep, match="OverflowError"):
        ours(2**40, x)


def test_extrema_of_booleans_at_indices():
    def step(x, i, y):
        return x.at[i].max(y), x.at[i].min(y), jax.ops.segment_max(y, i, 4)

    x, y = (np.array(bits, bool) for bits in ([0, 0, 1, 1], [0, 1, 0, 1]))
    arguments = np.concatenate([x, x]), np.arange(4), y
    for found, wanted in zip(ckpt.compile(step, *arguments)(*arguments), step(*map(jnp.asarray, arguments)), strict=True):
        assert np.array_equal(found, wanted)


def test_a_collapsed_dimension_without_an_index_begins_at_zero():
    dimensions = jax.lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0, 1, 2), start_index_map=(0, 2))

    def chosen(x):
        return jax.lax.gather(x, jnp.array([[1, 3]]), dimensions, slice_sizes=(1, 1, 1))[0]

    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    value, gradient = ckpt.compile(jax.value_and_grad(chosen), x)(x)
    assert value == x[1, 0, 3]
    assert [tuple(place) for place in np.argwhere(gradient)] == [(1, 0, 3)]


def test_the_branch_of_the_platform_that_runs_the_step():
    def chosen(x):
        return jax.lax.platform_dependent(x, tpu=jnp.tan, cpu=jnp.sin, default=jnp.cos)

    def step(x):
        return jax.grad(lambda x: chosen(x).sum())(x), jax.lax.map(chosen, x), chosen(x + 1j)

    x = np.linspace(0, 1, 4, dtype=np.float32)
    for ours, theirs in zip(ckpt.compile(step, x)(x), jax.jit(step)(x), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("combine", [jax.lax.add, jax.lax.mul, jax.lax.max, jnp.logaddexp])
def test_windows_beyond_an_array_hold_the_initial_value_once(combine, dilation):
    def step(x, initial):
        return jax.lax.reduce_window(x, initial, combine, (3,), (2,), [(1, 3)], base_dilation=(dilation,))

    x, initial = np.linspace(1, 2, 5, dtype=np.float32), np.float32(2)
    np.testing.assert_allclose(ckpt.compile(step, x, initial)(x, initial), jax.jit(step)(x, initial), rtol=1e-5)


def test_windows_of_pairs_hold_the_initial_values_once():
    def step(x, i):
        largest = lambda a, b: (jnp.maximum(a[0], b[0]), a[1] + b[1])
        return jax.lax.reduce_window((x, i), (np.float32(0), np.int32(7)), largest, (2, 2), (1, 1), "SAME")

    x, i = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4), np.arange(12, dtype=np.int32).reshape(3, 4)
    for ours, theirs in zip(ckpt.compile(step, x, i)(x, i), jax.jit(step)(x, i), strict=True):
        assert np.array_equal(ours, theirs)


@pytest.mark.parametrize(("setting", "number"), [("jax_debug_nans", np.nan), ("jax_debug_infs", np.inf)])
@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.complex64])
def test_numbers_that_jax_looks_for_are_an_error(setting, number, dtype):
    x = np.ones(3, dtype)
    step = ckpt.compile(lambda x: (jnp.arange(2), x * 2), x)
    x[1] = number
    step(x)
    before = getattr(jax.config, setting)
    jax.config.update(setting, True)
    try:
        with pytest.raises(FloatingPointError, match="in result 1 of the step; jax.jit names the operation"):
            step(x)
    finally:
        jax.config.update(setting, before)


def test_equal_operations_of_one_reshape():
    exponential = jax.jit(jnp.exp)

    def step(x):
        matrix, turned = x.reshape(2, 3), x.reshape(3, 2).T
        return exponential(matrix) * 2, -jnp.exp(matrix).reshape(6), exponential(turned) * 2, -jnp.exp(turned).T

    x = jnp.arange(6.0) / 6
    assert difference(ckpt.compile(step, x)(x), jax.jit(step)(x)) < 1e-6


def test_a_failed_check_of_equinox_gives_nan(capfd):
    """equinox.error_if calls a function that only raises, where the check fails."""

    def raises(_):
        raise RuntimeError("the check failed")

    raises.__module__ = "equinox._errors"

    def step(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jnp.sqrt(jax.lax.cond(jnp.any(x < 0), lambda: jax.pure_callback(raises, shape, 0), lambda: x))

    x = np.arange(4, dtype=np.float32)
    ours = ckpt.compile(step, x)
    assert "test_jax_engine.py" in (said := capfd.readouterr().err) and "results are NaN" in said
    assert difference(ours(x), np.sqrt(x)) < 1e-6
    assert np.isnan(ours(x - 2)).all()


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    @functools.partial(jax.jit, static_argnums=(0, 2), donate_argnums=1)
    def step(self, x, power):
        return self.factor * x**power


def test_jitted_methods():
    ours, x = ckpt.compile(Scaled(3.0).step, np.arange(4.0, dtype=np.float32), 2, time_limit=0), np.arange(4.0, dtype=np.float32)
    result = ours(x, 2)
    np.testing.assert_allclose(result, [0, 3, 12, 27])
    assert result is x
    np.testing.assert_allclose(ours(np.arange(4.0, dtype=np.float32), 3), [0, 3, 24, 81])
