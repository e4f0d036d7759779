"""The engine on steps in MLIR and on arrays of NumPy."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import ckpt
from ckpt import arrays
from ckpt.commands import main

# Two layers, their gradients and an update, on 8 x 16 and 16 x 16 tensors.
STEP = """
#map = affine_map<(i, j) -> (i, j)>
func.func @step(%x: tensor<8x16xf32> loc("x"), %w: tensor<16x16xf32> loc("w")) -> (tensor<16x16xf32>, tensor<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x16xf32>) -> tensor<8x16xf32>
  %y = linalg.matmul ins(%x, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%init : tensor<8x16xf32>) -> tensor<8x16xf32>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<8x16xf32>) outs(%empty : tensor<8x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %tanh = math.tanh %in : f32
    linalg.yield %tanh : f32
  } -> tensor<8x16xf32>
  %z = linalg.matmul ins(%t, %w : tensor<8x16xf32>, tensor<16x16xf32>) outs(%init : tensor<8x16xf32>) -> tensor<8x16xf32>
  %square = tensor.empty() : tensor<16x16xf32>
  %start = linalg.fill ins(%zero : f32) outs(%square : tensor<16x16xf32>) -> tensor<16x16xf32>
  %turned = linalg.transpose ins(%t : tensor<8x16xf32>) outs(%turnedinit : tensor<16x8xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%turned, %z : tensor<16x8xf32>, tensor<8x16xf32>) outs(%start : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %g, %z : tensor<16x16xf32>, tensor<8x16xf32>
}
""".replace(
    "  %turned =", "  %turnedinit = tensor.empty() : tensor<16x8xf32>\n  %turned ="
)


def expected(x, w):
    t = np.tanh(x @ w)
    return t.T @ (t @ w), t @ w


@pytest.fixture(scope="module")
def step():
    return ckpt.compile(STEP, time_limit=0)


@pytest.fixture
def given():
    random = np.random.default_rng(0)
    return [random.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 16))]


def test_results_are_those_of_numpy(step, given):
    for ours, theirs in zip(step(*given), expected(*given)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_arena_is_the_peak_of_the_plan(step):
    assert step.arena_bytes == step.report.figures["peak_bytes"] > 0


def test_each_call_makes_new_results(step, given):
    first, again = step(*given), step(*given)
    assert not np.shares_memory(first[0], again[0])
    assert first[0].tobytes() == again[0].tobytes()


def test_out_receives_the_results_in_place(step, given):
    out = [np.empty((16, 16), np.float32), np.empty((8, 16), np.float32)]
    results = step(*given, out=out)
    assert results[0] is out[0] and results[1] is out[1]
    np.testing.assert_allclose(out[1], expected(*given)[1], rtol=1e-4, atol=1e-5)


def test_two_threads_share_one_arena_in_turn(step, given):
    wanted = step(*given)[0].tobytes()
    found = []
    calls = [threading.Thread(target=lambda: found.append(step(*given)[0].tobytes())) for _ in range(8)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert found == [wanted] * 8


def test_threads_leave_the_bits(given):
    both = [ckpt.compile(STEP, time_limit=0, threads=threads)(*given) for threads in (1, 2)]
    assert both[0][0].tobytes() == both[1][0].tobytes()


def test_a_donated_argument_receives_its_result(given):
    donated = STEP.replace("%w: tensor<16x16xf32> loc", "%w: tensor<16x16xf32> {ckpt.donated = 0 : i64} loc")
    step = ckpt.compile(donated, time_limit=0)
    wanted = expected(*given)[0]
    result = step(*given)[0]
    assert result is given[1]
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)
    given[1].flags.writeable = False
    assert step(*given)[0] is not given[1]
    weights = np.zeros((16, 16), np.float32)
    with pytest.raises(ckpt.ArrayError, match="argument 1 .w., which the step changes, in memory of its own"):
        step(weights[:8], weights)


class OnGpu:
    """An array that says it is on a GPU, as DLPack does."""

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **options):
        raise BufferError("on a GPU")


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda x: x.astype(np.float64), "argument 0 (x) of type float32, but got float64"),
        (lambda x: x[:4], "argument 0 (x) of shape (8, 16), but got (4, 16)"),
        (lambda x: np.asfortranarray(x), "argument 0 (x) in C order"),
        (lambda x: np.concatenate([x, x], 1)[:, ::2], "argument 0 (x) in C order"),
        (lambda x: x.astype(">f4"), "of type float32, but got >f4"),
        (lambda x: np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(8, 16), "aligned"),
        (lambda x: x.tolist(), "an array of NumPy, JAX or PyTorch"),
        (lambda x: OnGpu(), "argument 0 (x) on the CPU"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(step, given, change, sentence):
    with pytest.raises(ckpt.ArrayError) as error:
        step(change(given[0]), given[1])
    assert sentence in str(error.value)


def test_indices_are_arrays_and_integers_of_odd_widths_are_not():
    doubled = """func.func @main(%x: tensor<4x{0}>) -> tensor<4x{0}> {{
  %r = arith.addi %x, %x : tensor<4x{0}>
  return %r : tensor<4x{0}>
}}"""
    x = np.arange(4, dtype=np.int64)
    assert np.array_equal(ckpt.compile(doubled.format("index"), time_limit=0)(x), 2 * x)
    with pytest.raises(ckpt.ArrayError, match="has some of type i5"):
        ckpt.compile(doubled.format("i5"), time_limit=0)(x)


def test_out_must_be_memory_of_its_own(step, given):
    results = [np.empty((16, 16), np.float32), np.empty((8, 16), np.float32)]
    with pytest.raises(ckpt.ArrayError, match="result 0 in memory of its own"):
        step(*given, out=[given[1], results[1]])
    with pytest.raises(ckpt.ArrayError, match="in memory of its own"):
        step(*given, out=[results[0], results[0].reshape(-1)[:128].reshape(8, 16)])
    results[0].flags.writeable = False
    with pytest.raises(ckpt.ArrayError, match="writable"):
        step(*given, out=results)


def test_overlap_of_ranges():
    memory = np.zeros(64, np.uint8)
    assert arrays.overlap([memory[:16], memory[:32]], [memory[32:40], memory[40:]]) is None
    assert arrays.overlap([memory[:16]], [memory[32:48], memory[15:20]]) == 1
    assert arrays.overlap([memory[30:60]], [memory[:31]]) == 0
    assert arrays.overlap([], [memory[:32], memory[31:]]) == 1


def test_a_budget_that_nothing_meets_says_the_smallest(step):
    with pytest.raises(ckpt.BudgetError) as error:
        ckpt.compile(STEP, budget="8B", time_limit=0)
    assert error.value.budget_bytes == 8
    assert error.value.bound_bytes <= error.value.smallest_bytes <= step.arena_bytes
    assert error.value.smallest_bytes > 8
    assert "step.mlir:" in str(error.value)


def test_what_the_engine_does_not_run_is_refused_at_its_line(tmp_path):
    with pytest.raises(ckpt.UnsupportedStep, match="step.mlir:2: expected a tensor of static shape"):
        ckpt.compile("\nfunc.func @f(%a: tensor<?xf32>) -> tensor<?xf32> { return %a : tensor<?xf32> }")
    with pytest.raises(ckpt.UnsupportedStep, match="step.mlir:2"):
        ckpt.compile("\nfunc.func @f(")
    with pytest.raises(ckpt.CkptError, match="cannot be read"):
        ckpt.compile(tmp_path / "missing.mlir")


def test_report_is_text_page_and_data(tmp_path):
    step = ckpt.compile(STEP, budget="100%", time_limit=0)
    step.report.save(str(tmp_path / "plan.html"))
    assert (tmp_path / "plan.html").read_text() == step.report.html
    assert "<script" in step.report.html
    assert "extra work" in str(step.report)
    assert step.report.data["live_range_table"]["data"]


def test_commands_plan_and_show(tmp_path, capsys):
    (tmp_path / "step.mlir").write_text(STEP)
    main(["plan", str(tmp_path / "step.mlir"), "--budget", "100%", "--time-limit", "0", "--report", str(tmp_path / "p.json")])
    planned = capsys.readouterr().out
    assert "baseline" in planned
    main(["show", str(tmp_path / "p.json")])
    assert capsys.readouterr().out == planned
    main(["frontier", str(tmp_path / "step.mlir"), "--points", "3", "--time-limit", "0"])
    assert "extra work" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="error: .*proven infeasible"):
        main(["plan", str(tmp_path / "step.mlir"), "--budget", "1B"])
    with pytest.raises(SystemExit, match="error: expected a report"):
        main(["show", str(tmp_path / "step.mlir")])


def test_the_planner_works_in_a_process_that_loaded_the_engine_first():
    code = """if True:
        import ckpt_engine._engine
        from ckpt.planner import Problem, ProblemBuilder, Read
        builder = ProblemBuilder(bandwidth=10**9, launch_ns=0)
        argument, result = builder.value((8,), 32, home="argument"), builder.value((8,), 32, home="result")
        builder.op("opaque", [Read(argument)], [result], flops=8)
        print(Problem(builder.text()).solve(time_limit=0).text)
    """
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert (run.returncode, run.stderr) == (0, "")
    assert "kernel" in run.stdout
