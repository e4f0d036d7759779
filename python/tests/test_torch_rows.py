"""A deep model of the shape of pytorch#197838: less budget, less memory, and less than the min-cut partitioner takes."""

import pytest
import torch
import torch.nn.functional as F
from torch._inductor.utils import run_and_get_code

import ckpt.torch
from ckpt.torch.compiled import compiled_peak
from ckpt.torch.workspaces import Workspaces
from torch_models import Cells, Llama, make
from torch_rows import Counted, compiled, lowest_at, min_cut, min_cut_row, peak_of, planned_rows


def test_views_take_no_memory():
    module, arguments = make("llama")
    partitioner = ckpt.torch.Partitioner(None, engine="inductor")
    compiled(module, "eager", partitioner)(*arguments)
    report = partitioner.reports[-1]
    assert report.planned_bytes < report.unplanned_bytes


def test_the_peak_of_a_deep_model_falls_with_the_budget_and_below_min_cut():
    module, arguments = make("llama")
    theirs = [min_cut_row(module, arguments, "eager", share)[0] for share in (1.0, 0.1)]
    budgets = [int(share * theirs[0]) for share in (1.0, 0.5, 0.26)]
    ours = [next(planned_rows(module, arguments, "eager", budget, effort=0.05))[0] for budget in budgets]
    assert ours == sorted(ours, reverse=True)
    assert all(peak <= budget for peak, budget in zip(ours, budgets, strict=True))
    assert ours[-1] < min(theirs)


def test_inductor_gives_dead_buffers_back_at_once(monkeypatch):
    def peak(keeps):
        torch._dynamo.reset()
        monkeypatch.setitem(ckpt.torch.INDUCTOR_OPTIONS, "allow_buffer_reuse", keeps)
        module, tokens = Llama(2), torch.randint(0, 64, (4, 64))
        run = torch.compile(module, backend=ckpt.torch.backend("60%", effort=0.2), dynamic=False)
        return peak_of(run, module, (tokens,))

    assert not ckpt.torch.INDUCTOR_OPTIONS["allow_buffer_reuse"]
    assert peak(keeps=False) < peak(keeps=True)


def test_inductor_takes_the_planned_bytes_for_convolutions():
    """Their scratch memory counts, and inductor keeps no copies of their weights."""
    layers = [layer for _ in range(4) for layer in (torch.nn.Conv2d(128, 128, 3, padding=1), torch.nn.Tanh())]
    module, images = torch.nn.Sequential(*layers), (torch.randn(1, 128, 8, 8),)
    made = ckpt.torch.backend(effort=0.1)
    run = torch.compile(module, backend=made, dynamic=False)
    peak = peak_of(lambda x: run(x).mean(), module, images)
    assert peak <= 1.02 * made.report.planned_bytes


class Tied(torch.nn.Module):
    """The gradient of the embedding is a sum; its terms come first and last in the backward pass."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(1024, 32)
        self.inner, self.back = torch.nn.Linear(32, 1024), torch.nn.Linear(1024, 32)

    def forward(self, tokens):
        x = self.back(self.inner(self.embedding(tokens)).tanh())
        return F.cross_entropy(F.linear(x, self.embedding.weight), tokens)


def test_inductor_keeps_products_in_their_places():
    """Moved to the sum that reads it, a product would keep its operands until the end."""
    module, tokens = Tied(), (torch.randint(0, 1024, (512,)),)
    made = ckpt.torch.backend(effort=0.1)
    peak = peak_of(torch.compile(module, backend=made, dynamic=False), module, tokens)
    assert peak <= 1.02 * made.report.planned_bytes


class Gated(torch.nn.Module):
    """Between a product and its reader stands a convolution with much scratch memory."""

    def __init__(self):
        super().__init__()
        frozen = [torch.nn.Linear(512, extent, bias=False).requires_grad_(False) for extent in (512, 512, 16)]
        self.left, self.right, self.out = frozen
        self.weight = torch.nn.Parameter(torch.ones(16))

    def forward(self, x, images):
        left, right = self.left(x), self.right(x)
        product = left * right
        kernel = (left[:16] @ right[:, :128])[:, :, None, None]
        scale = F.conv2d(images, kernel, stride=8)[:, :, 0, 0]
        return (self.out(product)[:128] * scale * self.weight).square().mean()


def test_inductor_writes_values_where_the_plan_writes_them():
    """Delayed to its reader, the product would keep its operands beside the scratch memory."""
    module, arguments = Gated(), (torch.randn(512, 512), torch.randn(128, 128, 8, 8))
    made = ckpt.torch.backend("100%", effort=0.1)
    # The key of inductor's cache does not hold what the plan says of a node.
    with torch._inductor.config.patch(fx_graph_cache=False):
        peak = peak_of(torch.compile(module, backend=made, dynamic=False), module, arguments)
    assert peak <= 1.02 * made.report.planned_bytes


class Dense(torch.nn.Module):
    """Several ops read each concatenation."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64 + 32 * number, 32) for number in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat([x, layer(torch.sigmoid(x) * x)], 1)
        return torch.tanh(x).square().mean()


def test_inductor_writes_concatenations():
    """For the CPU, it makes none inside of the kernels that read it."""
    module, x = Dense(), (torch.randn(1024, 64),)
    made = ckpt.torch.backend(effort=0.1)
    peak = peak_of(torch.compile(module, backend=made, dynamic=False), module, x)
    assert peak <= 1.02 * made.report.planned_bytes


def _normed(inputs, outputs=16, extent=3):
    convolution = torch.nn.Conv2d(inputs, outputs, extent, padding=extent // 2, bias=False)
    return torch.nn.Sequential(convolution, torch.nn.BatchNorm2d(outputs))


class Expanded(torch.nn.Module):
    """The gradient of the activation reads the batch norm, which is made of five values, several times."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.block = torch.nn.Sequential(_normed(8, 32, 1), torch.nn.Hardswish(), _normed(32, 8, 1))

    def forward(self, images):
        x = self.first(images)
        return (x + self.block(x)).square().mean()


def test_inductor_makes_values_inside_of_kernels_where_the_plan_does():
    module, images = Expanded(), (torch.randn(8, 3, 16, 16),)
    made = ckpt.torch.backend(effort=0.1)
    peak = peak_of(torch.compile(module, backend=made, dynamic=False), module, images)
    assert peak <= 1.02 * made.report.planned_bytes


class Residual(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.head = _normed(3), torch.nn.Linear(16, 10)
        self.blocks = torch.nn.ModuleList(torch.nn.Sequential(_normed(16), torch.nn.ReLU(), _normed(16)) for _ in range(2))

    def forward(self, images, classes):
        x = F.relu(self.stem(images))
        for block in self.blocks:
            x = F.relu(block(x) + x)
        return F.cross_entropy(self.head(x.mean((2, 3))), classes)


def test_a_plan_without_a_budget_takes_no_more_than_min_cut_at_equal_flops():
    module, arguments = Residual(), (torch.randn(8, 3, 16, 16), torch.randint(0, 10, (8,)))
    peak, flops = min_cut_row(module, arguments, "inductor", 1.0)
    ours = Counted(ckpt.torch.Partitioner(engine="inductor", effort=0.5))
    assert peak_of(compiled(module, "inductor", ours), module, arguments) <= peak
    assert ours.flops == flops


@pytest.mark.parametrize("tokens", [6, 10])
def test_a_loop_of_cells_takes_no_more_than_min_cut_at_equal_flops(tokens):
    module, tokens = Cells(100), (torch.randint(0, 100, (8, tokens)),)
    peak, flops = min_cut_row(module, tokens, "inductor", 1.0)
    expected = torch.autograd.grad(module(*tokens), module.cell.weight_hh)
    ours = Counted(ckpt.torch.Partitioner(engine="inductor", effort=0.5))
    run = compiled(module, "inductor", ours)
    assert peak_of(run, module, tokens) <= peak
    assert ours.flops == flops
    assert torch.allclose(*torch.autograd.grad(run(*tokens), module.cell.weight_hh), *expected, rtol=1e-3, atol=1e-5)


def test_a_plan_that_takes_more_than_min_cut_does_not_run(monkeypatch):
    """Whatever the search finds: here, the fastest plan."""
    from ckpt.torch import partition

    monkeypatch.setattr(partition._Planning, "_solve_free", lambda self: self._solve(None))
    module, tokens = Cells(100), (torch.randint(0, 100, (8, 5)),)
    theirs, _ = min_cut_row(module, tokens, "inductor", 1.0)
    expected = torch.autograd.grad(module(*tokens), module.cell.weight_hh)
    ours = ckpt.torch.Partitioner(engine="inductor", effort=0.1)
    run = compiled(module, "inductor", Counted(ours))
    assert peak_of(run, module, tokens) == theirs
    report = ours.reports[-1]
    assert report.is_min_cut and "min-cut" in str(report) and report.planned_bytes > theirs
    assert torch.allclose(*torch.autograd.grad(run(*tokens), module.cell.weight_hh), *expected, rtol=1e-3, atol=1e-5)


class Kinds(torch.nn.Module):
    """Kernels of PyTorch with several results and scratch memory, statistics that change, and an output that is no loss."""

    def __init__(self):
        super().__init__()
        self.stem, self.head, self.words = _normed(3), torch.nn.Linear(16, 10), torch.nn.Embedding(10, 16)

    def forward(self, images, classes):
        x = F.max_pool2d(F.relu(self.stem(images)), 2).mean((2, 3)) + self.words(classes)
        scores = self.head(F.dropout(x).sort().values)
        return F.cross_entropy(scores, classes), scores.detach()


class Scratched(torch.nn.Module):
    """The kernel of the convolution takes four times the memory of all values."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Conv1d(8, 8, 31, padding=15)

    def forward(self, x, classes):
        return F.cross_entropy(self.line(x).mean(2), classes), x.detach()


KINDS = [(Kinds, (8, 3, 16, 16), 3), (Scratched, (8, 8, 256), 0)]


@pytest.mark.parametrize("partition", [min_cut(1.0), None])
@pytest.mark.parametrize(("kind", "shape", "statistics"), KINDS)
def test_the_code_of_inductor_says_the_peak_before_it_is_compiled(partition, kind, shape, statistics):
    """To the bytes of the loss, which the profiler sees and the graphs hold once."""
    peaks = []

    def recorded(module, inputs, *, num_fwd_outputs, **options):
        split = partition or ckpt.torch.Partitioner(engine="inductor", effort=0.1)
        graphs = split(module, inputs, num_fwd_outputs=num_fwd_outputs, **options)
        peaks.append(compiled_peak(*graphs, num_fwd_outputs, statistics, True, Workspaces()))
        return graphs

    module, arguments = kind(), (torch.randn(shape), torch.randint(0, 8, shape[:1]))
    with torch._inductor.config.patch(fx_graph_cache=False):
        run = compiled(module, "inductor", Counted(recorded))
        measured = peak_of(lambda *arguments: run(*arguments)[0], module, arguments)
    assert abs(measured - peaks[0]) <= 16


def test_a_budget_above_min_cut_repeats_no_more_than_it():
    """The plan within its bytes repeats products; PyTorch's own partition meets the budget without."""
    module, tokens = Cells(100), (torch.randint(0, 100, (8, 5)),)
    theirs, flops = min_cut_row(module, tokens, "inductor", 1.0)
    ours = Counted(ckpt.torch.Partitioner(theirs, engine="inductor", effort=0.1))
    assert peak_of(compiled(module, "inductor", ours), module, tokens) <= theirs
    assert ours.flops <= flops


class Messages(torch.nn.Module):
    """Inductor fuses the reads of both ends of all edges, and holds more than the plan."""

    def __init__(self):
        super().__init__()
        self.messages = torch.nn.ModuleList(torch.nn.Linear(128, 64) for _ in range(3))
        self.updates = torch.nn.ModuleList(torch.nn.Linear(128, 64) for _ in range(3))

    def forward(self, x, source, target):
        for message, update in zip(self.messages, self.updates, strict=True):
            sent = F.relu(message(torch.cat([x[source], x[target]], -1)))
            sums = torch.zeros_like(x).index_add(0, target, sent)
            x = x + F.relu(update(torch.cat([x, sums], -1)))
        return x.square().mean()


def test_the_budget_holds_for_the_code_of_inductor():
    module, arguments = Messages(), (torch.randn(300, 64), *torch.randint(0, 300, (2, 2000)))
    lines = []
    made = ckpt.torch.backend("70%", effort=0.3, progress=lines.append)
    peak = peak_of(torch.compile(module, backend=made, dynamic=False), module, arguments)
    assert peak <= made.report.budget_bytes + 16 and made.report.compiled_bytes <= made.report.budget_bytes
    assert "inductor writes its code" in lines


def test_code_of_inductor_above_the_budget_is_named(monkeypatch):
    from ckpt.torch import partition

    monkeypatch.setattr(partition, "compiled_peak", lambda *_: 1 << 30)
    module, x = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 8)), torch.randn(256, 64)
    made = ckpt.torch.backend("1MiB", effort=0.1)
    with pytest.warns(UserWarning, match="inductor takes 1,024.0 MiB .* than the budget of 1,024.0 KiB: the engine 'eager'"):
        torch.compile(module, backend=made, dynamic=False)(x).sum().backward()
    assert made.report.compiled_bytes == 1 << 30


def test_a_loop_of_cells_is_planned_within_the_bytes_of_min_cut():
    module, tokens = Cells(100), (torch.randint(0, 100, (8, 12)),)
    ours = ckpt.torch.Partitioner(engine="inductor", effort=0.5)

    def planned(*arguments, **options):
        ours(*arguments, **options)
        raise InterruptedError("planned")

    with pytest.raises(Exception, match="planned"):
        compiled(module, "inductor", Counted(planned))(*tokens)
    # Run op by op, min-cut's graphs take more than with inductor's kernels.
    assert ours.reports[-1].planned_bytes < 0.95 * min_cut_row(module, tokens, "eager", 1.0)[0]


class Scan(torch.nn.Module):
    """The kernels of the backward pass stand one after the other, without one of PyTorch's kernels between them."""

    def __init__(self):
        super().__init__()
        self.decay = torch.nn.Parameter(torch.rand(64))

    def forward(self, x):
        state, states = torch.zeros_like(x[:, 0]), []
        for now in x.unbind(1):
            state = torch.tanh(state * self.decay + now)
            states.append(state)
        return torch.stack(states, 1).square().mean()


PASS = "_post_fusion_custom_pass"


@pytest.mark.skipif(PASS not in ckpt.torch.INDUCTOR_OPTIONS, reason="older PyTorch has no pass behind fusion")
def test_functions_of_inductor_hold_no_dead_buffers(monkeypatch):
    def peak(value):
        monkeypatch.setitem(ckpt.torch.INDUCTOR_OPTIONS, PASS, value)
        module, x = Scan(), torch.randn(8, 24, 64, requires_grad=True)
        return peak_of(compiled(module, "inductor", ckpt.torch.Partitioner(effort=0.1)), module, (x,))

    assert peak(ckpt.torch.INDUCTOR_OPTIONS[PASS]) < 0.95 * peak(None)


class Mixed(torch.nn.Module):
    """A product reads the sum transposed, and the residual reads it as it is."""

    def __init__(self):
        super().__init__()
        self.channels, self.tokens = torch.nn.Linear(64, 64), torch.nn.Linear(16, 16)

    def forward(self, x):
        x = x + torch.tanh(self.channels(x))
        return (x * self.tokens(x.transpose(1, 2)).transpose(1, 2)).square().mean()


def test_inductor_writes_a_value_and_its_transposed_copy_in_one_kernel(monkeypatch):
    """Else the plan makes the value again for the second reader, and keeps its operands until then."""
    from ckpt.torch import partition

    written, split = [], partition.split

    def recorded(program, joint, plan):
        for _, outputs in plan.kernels:
            written.append([joint.values[number].node.target for number in outputs if number in joint.values])
        return split(program, joint, plan)

    monkeypatch.setattr(partition, "split", recorded)
    module, x = Mixed(), torch.randn(8, 16, 64)
    expected = torch.autograd.grad(module(x), module.channels.weight)
    run = compiled(module, "eager", ckpt.torch.Partitioner("100%", engine="inductor", effort=0.1))
    assert torch.equal(*expected, *torch.autograd.grad(run(x), module.channels.weight))
    assert any(torch.ops.aten.clone.default in targets and len(targets) > 1 for targets in written)


class Masked(torch.nn.Module):
    """The backward pass needs a mask, and not the product that it is made of."""

    def __init__(self):
        super().__init__()
        self.gate, self.inner = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32, bias=False)

    def forward(self, x):
        mask = self.gate(x) > 0
        return torch.where(mask, self.inner(x), 0.0).square().sum(), mask


def test_inductor_keeps_masks_as_numbers():
    """For the CPU, it packs and unpacks booleans element by element."""
    module, x = Masked(), torch.randn(256, 32)
    module(x)[0].backward()
    expected = module.inner.weight.grad
    module.zero_grad()
    made = ckpt.torch.backend(engine="inductor", effort=0.1)
    run = torch.compile(lambda x: module(x)[0], backend=made, dynamic=False)
    with torch._inductor.config.patch(fx_graph_cache=False):
        _, codes = run_and_get_code(lambda: run(x).backward())
    assert torch.allclose(module.inner.weight.grad, expected, rtol=1e-3)
    assert all("uint8_t*" in code and "bool*" not in code for code in codes)


def test_inductor_hands_booleans_out_as_they_are():
    """To the caller, and to kernels of PyTorch: a copy as numbers would take more memory."""
    module, x = Masked(), torch.randn(256, 32)

    def run(x):
        loss, mask = module(x)
        return loss, mask, mask.sort().values

    planned = torch.compile(run, backend=ckpt.torch.backend(engine="inductor", effort=0.1), dynamic=False)
    with torch._inductor.config.patch(fx_graph_cache=False):
        (_, mask, ordered), codes = run_and_get_code(planned, x)
    assert torch.equal(mask, run(x)[1]) and torch.equal(ordered, run(x)[2])
    assert not any("uint8_t*" in code for code in codes)


def test_rows_compare_at_no_more_flops():
    plans = [(100, 10), (70, 12), (60, 15)]
    assert [lowest_at(flops, plans) for flops in (9, 10, 13, 20)] == [None, 100, 70, 60]
