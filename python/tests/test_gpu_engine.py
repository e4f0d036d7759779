"""Steps of `ckpt.compile` on a GPU. `test/Python/gpu.test` gives them a CUDA driver whose device is the emulator; a GPU does as well."""

import contextlib
import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from test_engine import STEP

import ckpt
from ckpt import engine
from ckpt.gpu import GpuArray, is_on_gpu

IS_FAKE = "CKPT_FAKE_CUDA" in os.environ
# The emulator runs LLVM IR. PyTorch brings a library for matmuls, which wants a GPU.
OPTIONS = "format=llvm" if IS_FAKE else ""
if IS_FAKE and "torch" in sys.modules:
    OPTIONS += " offer-matmuls=false"


def has_driver():
    with contextlib.suppress(OSError):
        return bool(ctypes.CDLL("libcuda.so.1"))
    return False


on_gpu = pytest.mark.skipif(not has_driver(), reason="no CUDA driver")


def compiled(step, *example, **options):
    return engine.Settings(device="cuda", time_limit=0, gpu_options=OPTIONS, **options).compiled(step, example)


class OfAnotherFramework:
    """An array on the GPU with nothing but DLPack."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self):
        return self.array.__dlpack__()


@pytest.fixture(scope="module")
def given():
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 16))]


@pytest.fixture(scope="module")
def expected(given):
    """On the CPU, whose bits a GPU has where no product is of narrow types."""
    return ckpt.compile(STEP, time_limit=0)(*given)


@pytest.fixture(scope="module")
def step():
    return compiled(STEP)


@pytest.fixture(scope="module")
def donating():
    return compiled(STEP.replace("%w: tensor<16x16xf32> loc", "%w: tensor<16x16xf32> {ckpt.donated = 0 : i64} loc"))


def moved(step, given):
    """The arguments on the GPU."""
    import ckpt_engine

    arrays = []
    for array, tensor in zip(given, step.arguments):
        memory = ckpt_engine.GpuMemory(array.nbytes)
        arrays.append(GpuArray(ckpt_engine, memory, memory.address, tensor))
        arrays[-1].write(array)
    return arrays


def assert_equal(results, expected):
    assert [np.asarray(one).tobytes() for one in results] == [one.tobytes() for one in expected]


@on_gpu
def test_arrays_of_the_host_are_copied(step, given, expected):
    results = step(*given)
    assert all(isinstance(result, np.ndarray) for result in results)
    assert_equal(results, expected)
    assert step.arena_bytes == step.report.figures["peak_bytes"] > 0


@on_gpu
@pytest.mark.parametrize("of", [lambda array: array, OfAnotherFramework])
def test_arrays_on_the_gpu_are_read_there_and_so_are_results(step, given, expected, of):
    results = step(*map(of, moved(step, given)))
    assert all(is_on_gpu(result) for result in results)
    assert_equal(results, expected)
    assert_equal(step(results[1], of(moved(step, given)[1])), ckpt.compile(STEP, time_limit=0)(expected[1], given[1]))


@on_gpu
def test_a_donated_argument_receives_its_result(donating, given, expected):
    arguments = moved(donating, given)
    results = donating(*arguments)
    assert results[0] is arguments[1]
    assert_equal(results, expected)
    weights = given[1].copy()
    assert donating(given[0], weights)[0] is weights
    assert_equal([weights], expected[:1])
    arguments = moved(donating, given)
    with pytest.raises(ckpt.ArrayError, match="argument 1 .w., which the step changes, in memory of its own"):
        step = compiled(STEP.replace("8x16", "16x16").replace("16x8", "16x16").replace('loc("w")', '{ckpt.donated = 0 : i64} loc("w")'))
        step(arguments[1], arguments[1])


@on_gpu
def test_out_receives_the_results(step, given, expected):
    out = [np.empty((16, 16), np.float32), moved(step, given)[0]]
    results = step(*moved(step, given), out=out)
    assert results[0] is out[0] and results[1] is out[1]
    assert_equal(out, expected)
    arguments = moved(step, given)
    with pytest.raises(ckpt.ArrayError, match="result 1 in memory of its own"):
        step(*arguments, out=[np.empty((16, 16), np.float32), arguments[0]])


@on_gpu
def test_threads_use_the_device_in_turn(step, given, expected):
    found = []
    calls = [threading.Thread(target=lambda: found.append(step(*given))) for _ in range(4)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    for results in found:
        assert_equal(results, expected)


@on_gpu
def test_arrays_that_do_not_fit_are_refused(step, given):
    x, w = moved(step, given)
    with pytest.raises(ckpt.ArrayError, match=r"argument 0 \(x\) of shape \(8, 16\), but got \(16, 16\)"):
        step(w, w)
    with pytest.raises(ckpt.ArrayError, match=r"argument 0 \(x\) of shape \(8, 16\), but got \(16, 16\)"):
        step(OfAnotherFramework(w), w)
    with pytest.raises(ckpt.ArrayError, match=r"argument 1 \(w\) of type float32, but got float64"):
        step(x, given[1].astype(np.float64))
    with pytest.raises(ckpt.ArrayError, match=r"argument 0 \(x\) on the CPU"):
        ckpt.compile(STEP, time_limit=0)(x, w)


@on_gpu
def test_steps_of_jax_run_there(given, expected):
    jax = pytest.importorskip("jax")

    def step(x, w):
        t = jax.numpy.tanh(x @ w)
        return {"g": t.T @ (t @ w), "loss": (t @ w).sum(), "half": t.astype(jax.numpy.bfloat16)}

    arguments = [jax.numpy.asarray(each) for each in given]
    ours, theirs = compiled(step, *arguments)(*arguments), ckpt.compile(step, *arguments, time_limit=0)(*arguments)
    assert {key: np.asarray(value).tobytes() for key, value in ours.items()} == {key: value.tobytes() for key, value in theirs.items()}


def said_with(faults, code):
    """The output of a process whose driver has faults (test/FakeCuda)."""
    start = """if True:
        import numpy as np
        from test_engine import STEP
        from test_gpu_engine import compiled
        import ckpt
        x, w = np.ones((8, 16), np.float32), np.ones((16, 16), np.float32)
    """
    environment = {**os.environ, "CKPT_FAKE_CUDA": faults, "PYTHONPATH": os.path.dirname(__file__)}
    run = subprocess.run([sys.executable, "-c", start + code], capture_output=True, text=True, timeout=100, env=environment)
    assert run.stderr == ""
    return run.stdout


fake = pytest.mark.skipif(not IS_FAKE, reason="a device without faults")


@on_gpu
def test_other_shapes_get_a_program_in_the_same_memory():
    jax = pytest.importorskip("jax")
    step = compiled(lambda x: jax.numpy.tanh(x @ x.T) @ x, np.ones((4, 8), np.float32))
    smaller = step.arena_bytes
    x = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)
    np.testing.assert_allclose(step(x), np.tanh(x @ x.T) @ x, rtol=1e-4, atol=1e-5)
    assert step.arena_bytes > smaller
    assert step(x[:4]).shape == (4, 8)


@on_gpu
@fake
def test_too_little_memory_says_how_much_and_leaves_the_device_usable():
    code = """
        step = compiled(STEP)
        try:
            step(x, w)
        except ckpt.DeviceError as error:
            print(error)
        print(compiled("\\nfunc.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")(x[0, :4]))
    """
    said = said_with("memory=2400", code)
    assert "for arguments and results), but" in said and said.endswith("[1. 1. 1. 1.]\n")


@on_gpu
@fake
@pytest.mark.parametrize("function", ["cuCtxGetCurrent", "cuCtxSynchronize", "cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2", "cuLaunchKernel"])
def test_functions_of_the_driver_that_fail_are_errors_of_ours(function):
    code = """
        try:
            compiled(STEP)(x, w)
        except ckpt.DeviceError as error:
            print(error)
    """
    assert said_with("fail=" + function, code).endswith(": unknown error (CUDA_ERROR_UNKNOWN)\n")


@pytest.mark.skipif(has_driver(), reason="there is one")
def test_without_a_driver_the_error_names_it():
    with pytest.raises(ckpt.DeviceError, match="expected a CUDA driver, but cannot open libcuda.so.1"):
        ckpt.compile(STEP, device="cuda")


def test_other_devices_are_refused():
    with pytest.raises(ckpt.CkptError, match="expected the device 'cpu' or 'cuda', but got 'tpu'"):
        ckpt.compile(STEP, device="tpu")
