"""Steps of PyTorch that `ckpt.compile` runs on a GPU; see test_gpu_engine.py. Tensors of the device `meta` stand for those of a GPU in traces."""

import re

import pytest
import torch
from test_gpu_engine import compiled, on_gpu

import ckpt
from ckpt import export


class Model(torch.nn.Module):
    """Names its device in some of the ways in which models do."""

    def __init__(self, device):
        super().__init__()
        self.first = torch.nn.Linear(8, 8, device=device)
        self.norm = torch.nn.BatchNorm1d(8, device=device)
        self.embedding = torch.nn.Embedding(5, 8, device=device)

    def forward(self, x):
        positions = torch.arange(4, device=x.device)
        y = self.norm(self.first(x) + self.embedding(positions))
        if x.device.type == "cpu" and self.first.weight.device.type == "cpu":
            return y.softmax(-1) + torch.ones(8)
        return y.softmax(-1) + torch.ones(8, device="cuda").to("cuda:0")


def made(device):
    torch.manual_seed(0)
    model = Model(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for parameter in model.parameters():
        zeros = [torch.zeros_like(parameter) for _ in range(2)]
        optimizer.state[parameter] = {"step": torch.tensor(0.0), "exp_avg": zeros[0], "exp_avg_sq": zeros[1]}
    return model, optimizer, torch.linspace(-1, 1, 32, device="cpu").reshape(4, 8).to(device)


def step(model, optimizer, x):
    optimizer.zero_grad()
    loss = model(x).square().sum()
    loss.backward()
    optimizer.step()
    return loss.detach()


def text_of(step, example):
    return re.sub(r"loc\([^()]*(\([^()]*\))?[^()]*\)|#loc.*", "", export.trace(step, example).export())


def test_tensors_elsewhere_are_traced_as_those_of_the_cpu():
    assert text_of(step, made("meta")) == text_of(step, made("cpu"))


def test_autocast_of_a_gpu_is_one_of_the_cpu():
    def product(device):
        def step(x):
            with torch.autocast(device, dtype=torch.bfloat16):
                return x @ x.cuda() if device == "cuda" else x @ x

        return step

    ours = text_of(product("cuda"), (torch.ones(4, 4, device="meta"),))
    assert "bf16" in ours
    assert ours == text_of(product("cpu"), (torch.ones(4, 4),))


@on_gpu
def test_a_module_is_trained_through_the_gpu():
    ours, theirs = made("cpu"), made("cpu")
    run, reference = compiled(step, *ours), ckpt.compile(step, *theirs, time_limit=0)
    for _ in range(3):
        loss = run(*ours)
        assert isinstance(loss, torch.Tensor) and torch.equal(loss, reference(*theirs))
    for one, other in zip(ours[0].state_dict().values(), theirs[0].state_dict().values()):
        assert torch.equal(one, other)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_a_module_on_the_gpu_is_trained_there():
    ours, theirs = made("cuda"), made("cuda")
    run = ckpt.compile(step, *ours, time_limit=0)
    for _ in range(3):
        loss = run(*ours)
        assert loss.is_cuda
        torch.testing.assert_close(loss, step(*theirs))
    for one, other in zip(ours[0].parameters(), theirs[0].parameters()):
        torch.testing.assert_close(one, other)
