"""Planned modules give PyTorch's gradients, in the bytes that were asked for."""

import copy
import inspect
import json
import pickle
import warnings

import pytest
import torch
import torch.nn.functional as F
from torch_models import Cells, make

import ckpt
import ckpt.torch

torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()


def step_of(call, module, arguments):
    """Loss, gradients and buffers of one step, and the bytes that it took.

    The first call compiles; both start from the same state and random numbers.
    """
    state = {name: tensor.clone() for name, tensor in module.state_dict().items()}

    def step():
        torch.manual_seed(1)
        losses.append(call(*arguments))
        losses[-1].backward()

    losses = []
    module.zero_grad()
    step()
    losses.clear()
    module.load_state_dict(state)
    module.zero_grad()
    measured = ckpt.torch.measure(step)
    results = [losses[0].detach(), *(p.grad for p in module.parameters()), *(b.clone() for b in module.buffers())]
    module.zero_grad()
    module.load_state_dict(state)
    return results, measured.peak_bytes


def assert_same_bits(actual, expected):
    assert len(actual) == len(expected)
    assert all(map(torch.equal, actual, expected))


@pytest.mark.parametrize("name", ["gpt", "dropout", "convolutions"])
@pytest.mark.parametrize("share", ["75%", "60%"])
def test_the_measured_peak_of_eager_is_the_budget_and_gradients_keep_their_bits(name, share):
    module, arguments = make(name)
    expected, _ = step_of(module, module, arguments)
    planned = ckpt.torch.plan(module, budget=share, engine="eager", time_limit=1)
    actual, peak = step_of(planned, module, arguments)
    assert_same_bits(actual, expected)
    report = planned.report
    assert peak <= report.budget_bytes
    assert peak == pytest.approx(report.held_bytes, rel=0.01)
    assert report.budget_bytes == int(report.unplanned_bytes * int(share[:-1]) / 100)


@pytest.mark.parametrize("name", ["gpt", "dropout", "convolutions"])
def test_the_unplanned_peak_is_what_autograd_takes(name):
    module, arguments = make(name)
    planned = ckpt.torch.plan(module, engine="eager", time_limit=0)
    _, peak = step_of(planned, module, arguments)
    assert peak == pytest.approx(planned.report.held_bytes, rel=0.01)
    compiled = torch.compile(module, backend="aot_eager_default_partitioner", dynamic=False)
    _, peak = step_of(compiled, module, arguments)
    assert peak == pytest.approx(planned.report.unplanned_bytes, rel=0.03)


@pytest.mark.parametrize("count_arguments", [False, True])
def test_a_check_says_what_the_plan_does_and_leaves_the_module_as_it_was(count_arguments):
    module, arguments = make("convolutions")
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    random = torch.get_rng_state()
    planned = ckpt.torch.plan(module, budget="75%", engine="eager", count_arguments=count_arguments, time_limit=0)
    found = planned.check(*arguments)
    assert found.equal_gradients == found.gradients == len(list(module.parameters()))
    assert found.largest_difference == 0
    assert found.peak_bytes < found.unplanned_bytes
    assert found.peak_bytes == pytest.approx(found.planned_bytes, rel=0.01)
    assert f"{found.gradients} of {found.gradients} gradients" in str(found) and "more" not in str(found)
    assert all(parameter.grad is None for parameter in module.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in module.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())


def test_a_check_names_the_result_that_differs(monkeypatch):
    module, arguments = make("gpt")
    planned = ckpt.torch.plan(module, engine="eager", time_limit=0)
    compiled = planned._compiled

    def mistaken(*arguments):
        loss = compiled(*arguments)
        loss.register_hook(lambda gradient: 2 * gradient)
        return loss

    monkeypatch.setattr(planned, "_compiled", mistaken)
    found = planned.check(*arguments)
    assert found.equal_gradients == 0 and found.largest_difference == 1
    assert found.differing.startswith("gradient of ") and f", of {found.differing}" in str(found)
    monkeypatch.setattr(planned, "_compiled", lambda *arguments: compiled(*arguments) * float("nan"))
    assert planned.check(*arguments).largest_difference == float("inf")


def test_a_check_names_both_peaks_where_the_engine_exceeds_the_plan():
    found = ckpt.torch.Check(
        unplanned_bytes=50 << 20,
        peak_bytes=33 << 20,
        planned_bytes=30 << 20,
        largest_difference=1e-7,
        equal_gradients=0,
        gradients=2,
    )
    text = "33.0 MiB with it, of 30.0 MiB planned"
    assert text in str(found) and "take 3,072.0 KiB more: lower the budget" in str(found)


class Recomputed(torch.autograd.Function):
    """Keeps its operand alone; the traced graph keeps the sine and the cosine."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sin() * x.cos()

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * (x.cos() * x.cos() - x.sin() * x.sin())


class Recomputing(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = Recomputed.apply(layer(x))
        return x.mean()


def test_a_check_says_where_the_traced_graph_takes_more_than_the_module():
    x = torch.randn(1024, 64)
    planned = ckpt.torch.plan(Recomputing(), engine="eager", time_limit=0)
    found = planned.check(x)
    assert found.peak_bytes > found.unplanned_bytes and "ask for the bytes of the module" in str(found)
    torch._dynamo.reset()
    planned = ckpt.torch.plan(planned.module, budget=found.unplanned_bytes, engine="eager", time_limit=0)
    found = planned.check(x)
    assert found.peak_bytes <= found.unplanned_bytes and "ask for the bytes of the module" not in str(found)


def test_a_check_refuses_what_is_no_module():
    with pytest.raises(ckpt.CkptError, match="expected a module to check, but got function"):
        ckpt.torch.plan(lambda x: x, engine="eager").check(torch.ones(1))


def test_arguments_of_planned_graphs_have_names_of_their_own(monkeypatch):
    from ckpt.torch import partition

    graphs, split = [], partition.split

    def recorded(*arguments):
        graphs.extend(split(*arguments))
        return graphs[-2:]

    monkeypatch.setattr(partition, "split", recorded)
    module, arguments = make("convolutions")
    ckpt.torch.plan(module, budget="75%", engine="eager", time_limit=0)(*arguments).backward()
    placeholders = [node for graph in graphs for node in graph.graph.find_nodes(op="placeholder")]
    assert placeholders and all(node.target == node.name for node in placeholders)


def test_inductor_runs_the_planned_graphs():
    module, arguments = make("convolutions")
    expected, _ = step_of(module, module, arguments)
    made = ckpt.torch.backend("60%", engine="inductor", time_limit=1)
    actual, _ = step_of(torch.compile(module, backend=made, dynamic=False), module, arguments)
    for a, e in zip(actual, expected, strict=True):
        torch.testing.assert_close(a, e, rtol=1e-3, atol=1e-4)
    assert made.report.engine == "inductor"
    assert made.report.planned_bytes <= made.report.budget_bytes


def test_a_loop_of_cells_takes_no_more_than_autograd_without_a_budget():
    made = ckpt.torch.backend(None, engine="inductor", effort=1)
    torch.compile(Cells(200), backend=made, dynamic=False)(torch.randint(0, 200, (8, 20))).backward()
    assert made.report.planned_bytes <= made.report.unplanned_bytes
    assert made.report.extra_flops_share == 0


def test_gradients_and_arguments_count_as_the_user_says():
    module, arguments = make("gpt")
    parameters = sum(p.numel() * p.element_size() for p in module.parameters())

    def report(**options):
        torch._dynamo.reset()
        planned = ckpt.torch.plan(module, engine="eager", time_limit=0, **options)
        planned(*arguments).backward()
        return planned.report

    plain, with_arguments = report(), report(count_arguments=True)
    assert with_arguments.unplanned_bytes - plain.unplanned_bytes == parameters + arguments[0].nbytes

    def smallest(**options):
        torch._dynamo.reset()
        with pytest.raises(ckpt.BudgetError) as raised:
            ckpt.torch.plan(module, budget="4KiB", engine="eager", time_limit=0, **options)(*arguments)
        return raised.value.smallest_bytes

    assert smallest(count_gradients=False) < smallest() - parameters / 2


def test_effort_limits_every_search(monkeypatch):
    from ckpt.planner import Problem

    efforts, solve = [], Problem.solve

    def recorded(self, *sizes, **options):
        efforts.append(options["effort"])
        return solve(self, *sizes, **options)

    monkeypatch.setattr(Problem, "solve", recorded)
    module, arguments = make("gpt")
    ckpt.torch.plan(module, budget="75%", engine="eager", effort=0.2)(*arguments)
    assert efforts and set(efforts) == {0.2}


def test_the_report_is_figures_and_a_page_of_the_plan():
    module, arguments = make("gpt")
    planned = ckpt.torch.plan(module, budget="75%", engine="eager", time_limit=0)
    planned(*arguments).backward()
    report = planned.report
    assert json.loads(report.json())["held_bytes"] == report.held_bytes
    assert report.schedule.figures["peak_bytes"] == report.planned_bytes
    assert "the joint graph" in report.html and "torch_models.py:" in report.html


def test_an_impossible_budget_says_what_is_possible():
    module, arguments = make("gpt")
    with pytest.raises(ckpt.BudgetError, match="no plan was found") as raised:
        ckpt.torch.plan(module, budget="4KiB", engine="eager", time_limit=0)(*arguments)
    assert raised.value.smallest_bytes > raised.value.budget_bytes == 4096
    assert "mlp" in raised.value.report and "torch_models.py:" in raised.value.report
    assert "linalg" not in raised.value.report and "its op runs only once" in raised.value.report
    assert f"({raised.value.smallest_bytes} bytes)" in str(raised.value)


class Classifier(torch.nn.Sequential):
    """At its peak, the few bytes of the output count, which the caller holds."""

    def __init__(self):
        layers = [torch.nn.Linear(64, 256), torch.nn.BatchNorm1d(256), torch.nn.ReLU(), torch.nn.Linear(256, 256)]
        super().__init__(*layers, torch.nn.Softplus(), torch.nn.Linear(256, 1))
        self.eval()


@pytest.mark.parametrize("count_arguments", (False, True))
def test_a_refused_budget_names_one_that_is_accepted(count_arguments):
    module, x = Classifier(), torch.randn(256, 64, requires_grad=True)

    def run(budget):
        made = ckpt.torch.plan(module, budget=budget, engine="eager", effort=0.1, count_arguments=count_arguments)
        made(x).sum().backward()
        return made.report

    with pytest.raises(ckpt.BudgetError, match="within 4096 B") as raised:
        run(4096)
    report = run(raised.value.smallest_bytes)
    assert report.held_bytes <= raised.value.smallest_bytes
    assert report.extra_flops_share == 0, "the output of the forward pass was made again"


class Broken(torch.nn.Module):
    """Two graphs: a deep one, and after a graph break a loss that no plan makes smaller."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(6))

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(torch.tanh(layer(x)))
        torch._dynamo.graph_break()
        return x.square().mean()


class BrokenEarlier(Broken):
    bounded = True

    def forward(self, x):
        x = self.layers[0](x).tanh()
        torch._dynamo.graph_break()
        return (x.tanh() if self.bounded else x.sin()).square().mean()


def test_a_share_beside_a_graph_break_is_the_smallest_plan_where_none_meets_it():
    module, arguments = Broken(), (torch.randn(256, 64),)
    expected, _ = step_of(module, module, arguments)
    planned = ckpt.torch.plan(module, budget="75%", engine="eager", time_limit=0)
    with pytest.warns(UserWarning) as warned:
        actual, _ = step_of(planned, module, arguments)
    assert_same_bits(actual, expected)
    first, second = planned.reports
    assert first.held_bytes <= first.budget_bytes and second.held_bytes > second.budget_bytes
    texts = " ".join(str(each.message) for each in warned)
    assert "a graph break splits the module" in texts and "more than 75% of its own peak" in texts


def test_bytes_hold_for_all_graphs_beside_a_graph_break():
    module, arguments = Broken(), (torch.randn(256, 64),)
    planned = ckpt.torch.plan(module, budget="2MiB", engine="eager", time_limit=0)
    with pytest.warns(UserWarning, match="a graph break splits the module"):
        planned(*arguments).backward()
    first, second = planned.reports
    assert first.budget_bytes == 2 << 20
    assert second.budget_bytes == first.budget_bytes - first.saved_bytes


def test_graphs_receive_the_bytes_that_the_ones_before_them_do_not_keep():
    """A graph that is planned again, and a graph of another module, count no others."""
    made, x = ckpt.torch.backend("2MiB", engine="eager", time_limit=0), torch.randn(256, 64)
    module = BrokenEarlier()
    planned = torch.compile(module, backend=made, dynamic=False)
    with pytest.warns(UserWarning, match="a graph break splits the module"):
        planned(x)
    module.bounded = False
    planned(x)
    torch.compile(Broken(), backend=made, dynamic=False)(x)
    left = [(2 << 20) - report.budget_bytes for report in made.reports]
    first, second, again, other, _ = (report.saved_bytes for report in made.reports)
    assert second > 0 and again > 0 and left == [0, first, first, 0, other]


class Interpreted(Broken):
    """Dynamo compiles none of `forward`, but the functions that it calls."""

    def __init__(self):
        super().__init__()
        torch._dynamo.decorators.skip(type(self).forward)

    def deep(self, x):
        for layer in self.layers:
            x = x + torch.tanh(torch.tanh(layer(x)))
        return x

    def bound(self, x):
        return x.square().mean()

    def forward(self, x):
        return self.bound(self.deep(x))


def test_graphs_that_interpreted_code_calls_are_like_those_beside_a_graph_break():
    module, arguments = Interpreted(), (torch.randn(256, 64),)
    for budget in ("75%", "2MiB"):
        torch._dynamo.reset()
        planned = ckpt.torch.plan(module, budget=budget, engine="eager", time_limit=0)
        with pytest.warns(UserWarning, match="a graph break splits the module"):
            planned(*arguments).backward()
    first, second = planned.reports
    assert second.budget_bytes == first.budget_bytes - first.saved_bytes


class Deep(torch.nn.Module):
    """Its weights fill more than the first bucket of DistributedDataParallel, a mebibyte."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(512, 512) for _ in range(4))

    def forward(self, x):
        for layer in self.layers:
            x = x + torch.tanh(torch.tanh(layer(x)))
        return x.square().mean()


@pytest.fixture
def process_group(tmp_path):
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/group", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_bytes_hold_for_all_graphs_of_distributed_data_parallel(process_group):
    module, arguments = torch.nn.parallel.DistributedDataParallel(Deep()), (torch.randn(256, 512),)
    expected, _ = step_of(module, module, arguments)
    planned = ckpt.torch.plan(module, budget="16MiB", engine="eager", time_limit=0)
    with pytest.warns(UserWarning, match="DistributedDataParallel splits the module"):
        actual, _ = step_of(planned, module, arguments)
    assert_same_bits(actual, expected)
    first, *others = planned.reports
    left = first.budget_bytes
    assert others and left == 16 << 20
    for before, report in zip(planned.reports, others):
        left -= before.saved_bytes
        assert report.budget_bytes == left


def test_gaps_of_an_arena_are_no_reason_to_refuse_in_eager(monkeypatch):
    from ckpt.planner import Problem

    solve = Problem.solve

    def with_gaps(self, budget_bytes=None, **options):
        whole = solve(self, None, **options)
        raise ckpt.BudgetError("gaps", budget_bytes=budget_bytes, smallest_bytes=whole.arena_bytes, smallest=whole)

    monkeypatch.setattr(Problem, "solve", with_gaps)
    module, x = Deep(), torch.randn(64, 512)
    planned = ckpt.torch.plan(module, budget="100%", engine="eager", time_limit=0)
    planned(x).backward()
    assert planned.report.held_bytes <= planned.report.budget_bytes
    torch._dynamo.reset()
    with pytest.raises(ckpt.BudgetError, match="no plan was found"):
        ckpt.torch.plan(module, budget="75%", engine="eager", time_limit=0)(x)


def test_arguments_beside_a_graph_break_count():
    planned = ckpt.torch.plan(Broken(), budget="50KiB", engine="eager", count_arguments=True, time_limit=0)
    with pytest.raises(ckpt.BudgetError, match="within 50.0 KiB: .* are arguments; "):
        planned(torch.randn(256, 64))
    planned = ckpt.torch.plan(Broken(), budget="1MiB", engine="eager", time_limit=0)
    with pytest.raises(ckpt.BudgetError, match="within 1,024.0 KiB: .* are values that graphs before a graph break keep; "):
        planned(torch.randn(256, 64)).backward()


def test_a_checkpoint_that_loses_its_effect_is_named():
    line = torch.nn.Linear(32, 32)

    def model(x):
        return torch.utils.checkpoint.checkpoint(lambda x: line(x).tanh(), x, use_reentrant=False).square().mean()

    with pytest.warns(UserWarning, match=r"a checkpoint inside the model has no effect, .*test_torch.py:\d+\)"):
        ckpt.torch.plan(model, engine="eager", time_limit=0)(torch.randn(8, 32))


@pytest.mark.skipif("isolate_recompiles" not in inspect.signature(torch.compile).parameters, reason="older PyTorch counts them together")
def test_dynamos_limit_of_compilations_is_each_plans_own():
    batch = torch.randn(8, 64)
    for _ in range(torch._dynamo.config.recompile_limit + 1):
        planned = ckpt.torch.plan(Broken().layers[0], engine="eager", time_limit=0)
        planned(batch).sum().backward()
        assert len(planned.reports) == 1


def test_a_module_without_a_graph_is_named():
    module = Broken()
    module.layers[0].register_full_backward_hook(lambda *_: None)

    def model(x):
        for _ in range(2):
            torch._dynamo.graph_break()
            x = module.layers[0](x)
        return x.mean()

    with pytest.warns(UserWarning, match="so nothing is planned"):
        ckpt.torch.plan(model, engine="eager", time_limit=0)(torch.randn(8, 64))


def _loss_of(weights, x):
    return (x @ weights).tanh().square().mean()


@pytest.mark.parametrize(
    "step",
    [
        lambda weights, x: torch.func.grad_and_value(_loss_of)(weights, x),
        lambda weights, x: torch.func.vmap(torch.func.grad(_loss_of), (None, 0))(weights, x),
        lambda weights, x: torch.func.jvp(lambda w: _loss_of(w, x), (weights,), (weights,)),
    ],
    ids=["grad", "vmap of grad", "jvp"],
)
def test_a_graph_that_takes_its_gradients_by_itself_is_named(step):
    weights, x = torch.randn(64, 64), torch.randn(8, 64)
    with pytest.warns(UserWarning, match="torch.func takes gradients in a graph whose results have none"):
        ckpt.torch.plan(step, engine="eager", time_limit=0)(weights, x)


def test_gradients_of_a_graph_that_takes_gradients_are_planned_without_a_warning():
    def penalty(weights, x):
        return torch.func.grad(_loss_of)(weights, x).square().mean()

    planned = ckpt.torch.plan(penalty, engine="eager", time_limit=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        planned(torch.randn(64, 64, requires_grad=True), torch.randn(8, 64)).backward()
        planned(torch.randn(64, 64, requires_grad=True), torch.randn(8, 64)).backward()
    assert len(planned.reports) == 1


@pytest.mark.parametrize(
    "transform",
    [
        lambda planned, weights, x: torch.func.grad(planned)(weights, x),
        lambda planned, weights, x: torch.func.vmap(planned, (None, 0))(weights, x),
        lambda planned, weights, x: torch.func.jvp(lambda w: planned(w, x), (weights,), (weights,)),
    ],
    ids=["grad", "vmap", "jvp"],
)
def test_a_transformed_planned_module_is_named(transform):
    planned = ckpt.torch.plan(_loss_of, engine="eager", time_limit=0)
    weights, x = torch.randn(64, 64, requires_grad=True), torch.randn(8, 64)
    planned(weights, x).backward()
    with pytest.warns(UserWarning, match="torch.func transforms a planned module"):
        transform(planned, weights, x)
    assert len(planned.reports) == 1


def test_dynamic_shapes_are_refused_with_the_way_out():
    module, arguments = make("gpt")
    compiled = torch.compile(module, backend=ckpt.torch.backend(engine="eager"), dynamic=True)
    with pytest.raises(Exception, match="dynamic=False"):
        compiled(*arguments)


def test_a_running_profiler_keeps_scratch_memory_from_being_measured():
    module, arguments = make("gpt")
    planned = ckpt.torch.plan(module, engine="eager", time_limit=0)
    with pytest.warns(UserWarning, match="a profiler runs"):
        ckpt.torch.measure(lambda: planned(*arguments).backward())


def test_each_shape_is_planned():
    module, (tokens,) = make("gpt")
    planned = ckpt.torch.plan(module, engine="eager", time_limit=0)
    for length in (64, 32, 64):
        planned(tokens[:, :length]).backward()
    assert len(planned.reports) == 2


def test_a_smaller_batch_may_take_the_bytes_of_a_larger_one():
    """Gradients of parameters take more than the share of the smaller step."""
    layers = [layer for _ in range(8) for layer in (torch.nn.Linear(128, 128), torch.nn.GELU())]
    module = torch.nn.Sequential(*layers)
    planned = ckpt.torch.plan(module, budget="70%", engine="eager", time_limit=0)
    for rows in (512, 7):
        planned(torch.randn(rows, 128)).mean().backward()
    first, last = planned.reports
    assert last.held_bytes <= last.budget_bytes == first.budget_bytes
    with pytest.raises(ckpt.BudgetError):
        ckpt.torch.plan(module, budget="70%", engine="eager", time_limit=0)(torch.randn(7, 128))


@pytest.mark.skipif("recompile_limit" not in inspect.signature(torch.compile).parameters, reason="older PyTorch has one limit")
def test_more_shapes_than_dynamo_compiles_are_planned_and_a_warning_says_so():
    planned, texts = ckpt.torch.plan(torch.nn.Linear(8, 8), engine="eager", time_limit=0), []
    for rows in range(1, torch._dynamo.config.recompile_limit + 3):
        with warnings.catch_warnings(record=True) as warned:
            planned(torch.randn(1 + rows, 8)).sum().backward()
        texts.append(" ".join(str(each.message) for each in warned))
    assert len(planned.reports) == len(texts)
    assert [number for number, text in enumerate(texts) if text] == [torch._dynamo.config.recompile_limit]
    assert "pad to few sizes" in " ".join(texts)


def test_the_caller_may_hold_outputs_that_are_no_loss():
    lines = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32)

    def model(x):
        hidden = torch.tanh(lines[0](x))
        return hidden.transpose(0, 1), lines[1](hidden).sigmoid()

    x = torch.randn(64, 32, requires_grad=True)
    for first, second in zip(model(x), ckpt.torch.plan(model, engine="eager", time_limit=0)(x)):
        assert torch.equal(first, second)
        expected = torch.autograd.grad(first.sum(), [x, lines[0].weight], retain_graph=True)
        assert_same_bits(torch.autograd.grad(second.sum(), [x, lines[0].weight], retain_graph=True), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_dropouts_of_any_layout_and_type_have_pytorchs_numbers(dtype):
    line = torch.nn.Linear(32, 32, dtype=dtype)

    def model(x):
        hidden = torch.nn.functional.dropout(line(x).transpose(0, 1), 0.3)
        return torch.nn.functional.dropout(hidden.contiguous().tanh(), 0.5).square().mean()

    def gradient(call, x):
        torch.manual_seed(0)
        return torch.autograd.grad(call(x), line.weight)

    x = torch.randn(16, 24, 32, dtype=dtype)
    planned = ckpt.torch.plan(model, engine="eager", time_limit=0)
    own = torch.compile(model, backend="aot_eager", dynamic=False)
    assert_same_bits(gradient(planned, x), gradient(own, x))
    if dtype == torch.float32:
        assert_same_bits(gradient(planned, x), gradient(model, x))


@torch._inductor.config.patch(fallback_random=True)
def test_dropouts_that_inductor_draws_as_pytorch_does():
    model, x = torch.nn.Sequential(torch.nn.Linear(32, 32), torch.nn.Dropout(0.3)), torch.randn(16, 32)
    torch.manual_seed(0)
    expected = model(x)
    torch.manual_seed(0)
    assert torch.allclose(ckpt.torch.plan(model, engine="inductor", time_limit=0)(x), expected, atol=1e-6)


def test_ops_that_aot_autograd_decomposes_have_the_bits_of_its_own_eager_backend():
    line = torch.nn.Conv2d(3, 8, 3, padding=1)

    def model(x):
        larger = torch.nn.functional.interpolate(line(x).tanh(), scale_factor=2, mode="bilinear")
        return (larger.tanh() ** 2).mean()

    x = torch.randn(2, 3, 16, 16)
    planned = ckpt.torch.plan(model, engine="eager", time_limit=0)
    actual = torch.autograd.grad(planned(x), line.weight)
    own = torch.compile(model, backend="aot_eager", dynamic=False)
    assert_same_bits(actual, torch.autograd.grad(own(x), line.weight))


def test_a_model_without_gradients_runs_unplanned():
    module, arguments = make("gpt")
    planned = ckpt.torch.plan(module, budget="50%", engine="eager")
    with torch.no_grad():
        assert torch.equal(planned(*arguments), module(*arguments))
    with pytest.raises(ckpt.CkptError, match="no graph was planned yet"):
        planned.report  # noqa: B018


def test_caches_tell_budgets_apart():
    first, second = ckpt.torch.Partitioner("50%"), ckpt.torch.Partitioner("60%")
    assert first.uuid() != second.uuid()
    assert pickle.loads(pickle.dumps(first)).uuid() == first.uuid()


def test_another_planner_has_entries_of_its_own_in_caches(tmp_path):
    from ckpt.torch.partition import digest_of

    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "partition.py").write_text("one")
    before = digest_of(tmp_path)
    (tmp_path / "torch" / "partition.py").write_text("two")
    digest_of.cache_clear()
    assert digest_of(tmp_path) != before


@pytest.mark.parametrize("options", [{"budget": "lots"}, {"engine": "tvm"}, {"device": "abacus"}])
def test_options_that_mean_nothing_are_refused_at_once(options):
    with pytest.raises(ckpt.CkptError, match="expected"):
        ckpt.torch.backend(**options)


@pytest.mark.parametrize("options", [{"dynamic": True}, {"mode": "max-autotune"}, {"backend": "inductor"}, {"options": {}}])
def test_options_that_a_plan_sets_are_refused_at_once(options):
    with pytest.raises(ckpt.CkptError, match=f"other options of torch.compile than '{next(iter(options))}'"):
        ckpt.torch.plan(make("dropout")[0], budget="50%", **options)


def test_a_module_that_pytorch_cannot_trace_is_refused_in_one_sentence():
    linear = torch.nn.Linear(8, 8)
    x = torch.ones(4, 8)
    for wrong, why in ((torch.ones(4, 7), r"\[4, 7\]|4x7"), (x.to("meta"), "meta")):
        with pytest.raises(ckpt.UnsupportedStep, match=f"PyTorch cannot trace the module: .*({why}).*") as raised:
            ckpt.torch.plan(linear, budget="60%", engine="eager")(wrong)
        assert "\n" not in str(raised.value) and raised.value.__cause__ is not None
    with pytest.raises(ckpt.UnsupportedStep, match="cannot trace the module: .*print"):
        ckpt.torch.plan(lambda x: print(linear(x)), engine="eager", fullgraph=True)(x)


def test_a_planned_module_has_what_its_module_has():
    module, arguments = make("dropout")
    planned = ckpt.torch.plan(module, budget="75%", engine="eager", time_limit=0)
    assert list(planned.parameters()) == list(module.parameters())
    assert planned.eval() is planned and not module.training and not planned.training
    assert planned.train() is planned is planned.to("cpu") and planned.training
    planned.load_state_dict(planned.state_dict())
    planned.forward(*arguments).backward()
    assert len(planned.reports) == 1
    planned.zero_grad()
    assert all(parameter.grad is None for parameter in module.parameters())
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        planned.missing  # noqa: B018
    assert copy.deepcopy(planned).module is not module


def test_a_planned_module_is_a_container_where_its_module_is_one():
    module = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh())
    planned = ckpt.torch.plan(module, engine="eager", time_limit=0)
    assert planned[0] is module[0] and len(planned) == 2 and list(planned) == list(module)
    planned[1] = torch.nn.ReLU()
    assert isinstance(module[1], torch.nn.ReLU)
    assert list(planned.state_dict()) == list(module.state_dict())
    alone = ckpt.torch.plan(torch.nn.Linear(8, 8))
    assert alone and not hasattr(alone, "__len__")
    with pytest.raises(TypeError):
        alone[0]


class Thawed(torch.nn.Module):
    """The first layers are frozen, so that the batch norm in front of the others may run again."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.LayerNorm(64)).requires_grad_(False)
        self.inner, self.norm, self.head = torch.nn.Linear(64, 64), torch.nn.BatchNorm1d(64), torch.nn.Linear(64, 8)

    def forward(self, x):
        x = F.gelu(self.first(x))
        return self.head(x + F.silu(self.norm(self.inner(x))))


def test_statistics_come_from_the_first_run_of_a_batch_norm():
    """The smallest plan that is found may name a later one."""
    module, x = Thawed(), torch.randn(32, 16)
    theirs = copy.deepcopy(module)
    with pytest.raises(ckpt.BudgetError) as raised:
        ckpt.torch.plan(module, budget="10%", engine="eager", effort=0.1)(x)
    ckpt.torch.plan(module, budget=raised.value.smallest_bytes, engine="eager", effort=0.1)(x).square().mean().backward()
    torch.compile(theirs, backend="aot_eager", dynamic=False)(x).square().mean().backward()
    assert all(map(torch.equal, module.buffers(), theirs.buffers()))
    assert torch.equal(module.inner.weight.grad, theirs.inner.weight.grad)


class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.scale = torch.nn.Linear(8, 8), 1.0

    def forward(self, x):
        return self.layer(x).mul(self.scale).sum()


def test_attributes_that_are_set_on_a_planned_module_are_those_of_its_module():
    module, x = Scaled(), torch.ones(4, 8)
    planned = ckpt.torch.plan(module, engine="eager", time_limit=0)
    once = planned(x)
    planned.scale = 3.0
    planned.layer.bias = torch.nn.Parameter(module.layer.bias.detach().clone())
    assert module.scale == 3.0 and torch.allclose(planned(x), 3 * once)
    del planned.scale
    assert not hasattr(module, "scale") and {"layer", "report", "state_dict"} < set(dir(planned))


def test_planned_modules_are_copied_and_pickled():
    module, x = Scaled(), torch.ones(4, 8)
    planned = ckpt.torch.plan(module, budget="4KiB", engine="eager", time_limit=0)
    planned(x).backward()
    for twin in (copy.deepcopy(planned), pickle.loads(pickle.dumps(planned)), copy.copy(planned)):
        assert torch.equal(twin(x), module(x))
        twin(x).backward()
        assert twin.report.budget_bytes and "Scaled" in repr(twin)
    assert copy.copy(planned).module is module


def test_a_pytorch_without_a_helper_is_refused_by_name(monkeypatch):
    from ckpt.torch import _private

    monkeypatch.setitem(_private._NAMES, "fx_graph_cse", "torch._functorch.moved")
    with pytest.raises(ckpt.UnsupportedStep, match="torch._functorch.moved.fx_graph_cse"):
        ckpt.torch.Partitioner("50%")


class Attentions(torch.nn.Module):
    def forward(self, x):
        for _ in range(6):
            heads = x.unflatten(-1, (4, 8)).transpose(1, 2)
            x = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True).transpose(1, 2).flatten(2)
        return x.sum()


def test_attention_without_dropout_runs_again():
    x = torch.randn(4, 64, 32, requires_grad=True)
    module = ckpt.torch.plan(Attentions(), budget="60%", engine="eager", effort=0.2)
    module(x).backward()
    gradient, x.grad = x.grad, None
    Attentions()(x).backward()
    assert module.report.extra_flops_share > 0
    assert torch.equal(gradient, x.grad)
