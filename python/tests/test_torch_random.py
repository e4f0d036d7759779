"""Random numbers of PyTorch's operations, drawn from the argument that is called seed."""

import importlib.util
import math

import pytest
import torch
import torch.nn.functional as F

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)

COUNT = 4000
# A draw, and its mean and standard deviation.
DRAWS = {
    "bernoulli, a number": (lambda: torch.empty(COUNT).bernoulli_(0.3), 0.3, math.sqrt(0.21)),
    "bernoulli, probabilities": (lambda: torch.bernoulli(torch.full((COUNT,), 0.3)), 0.3, math.sqrt(0.21)),
    "categorical": (lambda: torch.distributions.Categorical(torch.tensor([0.25, 0, 0.75])).sample((COUNT,)).float(), 1.5, math.sqrt(0.75)),
    "exponential": (lambda: torch.empty(COUNT).exponential_(2), 0.5, 0.5),
    "geometric": (lambda: torch.empty(COUNT).geometric_(0.5), 2, math.sqrt(2)),
    "log-normal": (lambda: torch.empty(COUNT).log_normal_(0, 0.5).log(), 0, 0.5),
    "multinomial": (lambda: torch.multinomial(torch.ones(COUNT, 5), 2).float(), 2, math.sqrt(2)),
    "normal": (lambda: torch.randn(COUNT), 0, 1),
    "normal, bfloat16": (lambda: torch.randn(COUNT).bfloat16().float(), 0, 1),
    "normal, float64": (lambda: torch.randn_like(torch.zeros(COUNT, dtype=torch.float64)), 0, 1),
    "normal, in place": (lambda: torch.empty(COUNT).normal_(2, 3), 2, 3),
    "normal, of parameters": (lambda: torch.normal(torch.full((COUNT,), 2.0), torch.full((1,), 3.0)), 2, 3),
    "slopes, in place": (lambda: F.rrelu(torch.full((COUNT,), -1.0), 0, 2, True, True), -1, math.sqrt(4 / 12)),
    "uniform": (lambda: torch.rand(COUNT), 0.5, math.sqrt(1 / 12)),
    "uniform, float64": (lambda: torch.rand(COUNT, dtype=torch.float64), 0.5, math.sqrt(1 / 12)),
    "uniform, in place": (lambda: torch.empty(COUNT).uniform_(-1, 3), 1, math.sqrt(16 / 12)),
    "whole numbers": (lambda: torch.randint(3, 9, (COUNT,)).double(), 5.5, math.sqrt(35 / 12)),
    "whole numbers of 40 bits": (lambda: torch.randint(2**40, (COUNT,)).double() / 2**40, 0.5, math.sqrt(1 / 12)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_draws_have_their_moments(name):
    draw, mean, deviation = DRAWS[name]
    step = ckpt.compile(lambda seed: draw(), torch.tensor(1), time_limit=0)
    first, second = step(torch.tensor(1)), step(torch.tensor(2))
    assert first.dtype == draw().dtype and not torch.equal(first, second)
    assert torch.equal(first, step(torch.tensor(1)))
    both = torch.cat([first, second]).double()
    assert abs(both.mean() - mean) < 5 * deviation / math.sqrt(both.numel())
    assert abs(both.std() / deviation - 1) < 0.1


def test_permutations_hold_each_number_once():
    step = ckpt.compile(lambda seed: torch.randperm(50), torch.tensor(1), time_limit=0)
    assert torch.equal(step(torch.tensor(1)).sort().values, torch.arange(50))
    assert not torch.equal(step(torch.tensor(1)), torch.arange(50))


def test_gradients_go_through_the_numbers_that_were_drawn():
    def step(seed, mean, scale):
        mean, scale = mean.detach().requires_grad_(), scale.detach().requires_grad_()
        hidden = torch.tanh(torch.distributions.Normal(mean, scale).rsample())
        chosen = F.gumbel_softmax(hidden, tau=0.5, hard=True)
        return hidden.detach(), chosen.detach(), *torch.autograd.grad(hidden.sum(), [mean, scale])

    arguments = torch.tensor(5), torch.randn(40, 30), torch.rand(40, 30) + 0.5
    whole = ckpt.compile(step, *arguments, time_limit=0)(*arguments)
    hidden, chosen, of_mean, of_scale = whole
    noise = (torch.atanh(hidden.double()) - arguments[1]) / arguments[2]
    torch.testing.assert_close(of_mean, 1 - hidden * hidden, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(of_scale, (noise * of_mean).float(), rtol=1e-2, atol=1e-3)
    assert torch.equal(chosen.sum(-1), torch.ones(40))
    planned = ckpt.compile(step, *arguments, budget="60%")(*arguments)
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(planned, whole, strict=True))


def test_a_step_that_draws_needs_a_seed():
    with pytest.raises(ckpt.UnsupportedStep, match="an argument of the step that is called seed"):
        ckpt.compile(lambda x: x + torch.rand_like(x), torch.randn(4))


@pytest.mark.parametrize("seed", [torch.tensor([1, 2]), torch.tensor(0.5)])
def test_a_seed_is_one_integer(seed):
    with pytest.raises(ckpt.UnsupportedStep, match="expected the argument seed to be one integer, .* but got torch"):
        ckpt.compile(lambda seed, x: x + torch.rand_like(x), seed, torch.randn(4))
