"""A deep model of the shape of pytorch#197838: less budget, less memory, and less than the min-cut partitioner takes."""

import torch
import torch.nn.functional as F

import ckpt.torch
from torch_models import Llama, make
from torch_rows import compiled, lowest_at, min_cut_row, peak_of, planned_rows


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


def test_rows_compare_at_no_more_flops():
    plans = [(100, 10), (70, 12), (60, 15)]
    assert [lowest_at(flops, plans) for flops in (9, 10, 13, 20)] == [None, 100, 70, 60]
