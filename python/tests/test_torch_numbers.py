"""Python's numbers in steps of PyTorch: calls change them, and so do steps; where Python code needs a number, it chooses a program."""

import importlib.util
import math
import types
from functools import partial
from math import sqrt

import pytest
import torch
import torch.nn.functional as F

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)


def in_ckpt(step, *example):
    return ckpt.compile(step, *example, time_limit=0)


def compare(loop):
    """`loop` takes how a step is compiled, and returns tensors and numbers that must be those of PyTorch."""
    torch.testing.assert_close(loop(in_ckpt), loop(lambda step, *example: step), atol=1e-6, rtol=1e-6)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def batch():
    torch.manual_seed(1)
    return torch.randn(4, 6), torch.randint(0, 3, (4,))


def descend(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


@pytest.mark.parametrize("kind", [partial(torch.optim.AdamW, lr=0.1), partial(torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=0.1)])
def test_schedulers_change_learning_rates(kind, recwarn):
    def loop(compiled):
        model = network()
        optimizer = kind(model.parameters())
        descend(model, optimizer, *batch())
        step = compiled(descend, model, optimizer, *batch())
        scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 5)
        losses = []
        for _ in range(5):
            losses.append(step(model, optimizer, *batch()))
            scheduler.step()
        return losses, list(model.parameters()), optimizer.param_groups[0]["lr"]

    compare(loop)
    assert not [warning for warning in recwarn if "lr_scheduler" in str(warning.message)]


def test_floats_among_arguments_and_in_variables():
    settings, rates, scale = types.SimpleNamespace(power=2.0), {"first": [0.5, 0.25]}, 1.0

    def step(x, factor, *, offset=0.0):
        return x * factor + offset + settings.power * x.abs().clamp(min=scale) - sum(rates["first"])

    def loop(compiled):
        nonlocal scale
        settings.power, rates["first"], scale = 2.0, [0.5, 0.25], 1.0
        x = torch.linspace(-2, 2, 5)
        run = compiled(step, x, 2.0)
        results = [run(x, 3.0)]
        settings.power, rates["first"][1], scale = 1.5, 1.0, 0.125
        return [*results, run(x, 1), run(x, -0.5)]

    compare(loop)
    x = torch.ones(2)
    with pytest.raises(ckpt.UnsupportedStep, match="cannot trace the step .*test_torch_numbers.py.* unsupported operand"):
        in_ckpt(step, x, 2.0)(x, None)


class Counting:
    """An optimizer's kind of numbers, beside a rate."""

    def __init__(self):
        self.count, self.total, self.best, self.seen = 0, 0, {"loss": 10.0}, [0, 1]

    def step(self, x):
        self.count += 1
        self.total += x.mean().item()
        self.best["loss"] *= 0.5
        self.seen[0] = self.seen[1]
        self.seen[1] += len(x)
        rate = math.sqrt(1 - 0.9**self.count) / (self.count**0.5 + math.exp(-self.seen[1]))
        return x * rate + self.best["loss"] + (self.count % 3) * (self.count // 2)


def test_steps_change_numbers_that_they_close_over():
    def loop(compiled):
        counting, x = Counting(), torch.arange(4.0)
        run = compiled(counting.step, x)
        return [run(x + i) for i in range(5)], vars(counting)

    compare(loop)


def test_steps_change_numbers_of_modules_and_optimizers():
    class Counted(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.count, self.rates = torch.nn.Linear(6, 3), 0, [1.0]

        def forward(self, x):
            self.count += 1
            self.rates[0] *= 0.9
            return self.layer(x) * self.rates[0] / self.count

    class Adam(torch.optim.Optimizer):
        """Counts in Python's numbers."""

        def __init__(self, weights):
            super().__init__(weights, {"lr": 0.1, "step": 0})

        @torch.no_grad()
        def step(self):
            for group in self.param_groups:
                group["step"] += 1
                for weight in group["params"]:
                    state = self.state[weight]
                    if not state:
                        state.update(count=0, mean=torch.zeros_like(weight), square=torch.zeros_like(weight))
                    state["count"] += 1
                    state["mean"].lerp_(weight.grad, 0.1)
                    state["square"].mul_(0.99).addcmul_(weight.grad, weight.grad, value=0.01)
                    size = group["lr"] * math.sqrt(1 - 0.99 ** group["step"]) / (1 - 0.9 ** state["count"])
                    weight.addcdiv_(state["mean"], state["square"].sqrt().add_(1e-6), value=-size)
                group["lr"] *= 0.99

    def loop(compiled):
        torch.manual_seed(0)
        model = Counted()
        optimizer = Adam(model.parameters())
        descend(model, optimizer, *batch())
        run = compiled(descend, model, optimizer, *batch())
        losses = [run(model, optimizer, *batch()) for _ in range(4)]
        numbers = [model.count, model.rates, *(optimizer.param_groups[0][name] for name in ("lr", "step"))]
        return losses, list(model.parameters()), numbers, [state["count"] for state in optimizer.state.values()]

    compare(loop)


@pytest.mark.parametrize(
    "needs",
    [
        lambda x, rate: x if rate > 0.25 else -x,
        lambda x, rate: F.dropout(x, rate, training=False),
        lambda x, rate: x * sqrt(rate),
        lambda x, rate: x.abs().pow(rate),
        lambda x, rate: x * float(f"{rate:.1f}"),
        lambda x, rate: x * min(rate, 1.0),
    ],
)
def test_numbers_that_python_code_needs(needs):
    def step(x, rate, other):
        return needs(x, rate) * other

    x = torch.linspace(-2, 2, 5)
    run = in_ckpt(step, x, 0.5, 2.0)
    torch.testing.assert_close(run(x, 0.5, 2.0), step(x, 0.5, 2.0))
    torch.testing.assert_close(run(x, 0.125, 2.0), step(x, 0.125, 2.0))


def test_branches_on_numbers_that_a_step_changes():
    settings = types.SimpleNamespace(count=0, rate=1.0)

    def step(x):
        settings.count += 1
        settings.rate *= 0.75
        x = x + math.sqrt(settings.count) if math.sqrt(settings.count) < 2.5 else x
        x = x * settings.rate if settings.count % 4 else -x
        return x if settings.rate > 0.3 else x + int(settings.rate * 10)

    def loop(compiled):
        settings.count, settings.rate = 0, 1.0
        run, x = compiled(step), torch.linspace(-2, 2, 5)
        results = [run(x + i) for i in range(12)]
        settings.count = 2
        return [*results, run(x), settings.count, settings.rate]

    compare(loop)


def programs_of(step, *calls):
    """The programs that calls need, after a comparison of their results with those of PyTorch."""
    run = in_ckpt(step)
    for call in calls:
        torch.testing.assert_close(run(*call), step(*call), atol=1e-6, rtol=1e-6)
    return len(run._programs)


def test_branches_on_numbers_choose_programs():
    x = torch.linspace(-2, 2, 12)
    assert programs_of(lambda x, rate: x if rate > 0.25 else -x * rate, *((x, rate) for rate in (0.5, 0.75, 0.1, 0.2, 1.0))) == 2
    assert programs_of(lambda x, rate: x * min(rate, 0.35), *((x, i / 10) for i in range(6))) == 2
    # PyTorch looks for 1.0 where it takes the operation apart.
    assert programs_of(lambda x, rate: torch.sub(1.0, x, alpha=rate), *((x, rate) for rate in (0.5, 1.0, 0.75))) == 2


def test_numbers_that_differ_between_calls():
    """The second program takes any such integer, unless an operation needs it."""
    x = torch.linspace(-2, 2, 12)
    assert programs_of(lambda x, i: x * i + 1, *((x, i) for i in (1, 2, 5, -3, 0))) == 2
    assert programs_of(lambda x, i: x * i if i % 4 else -x, *((x, i) for i in range(9))) == 3
    assert programs_of(lambda x, size, i: x[:size] * i, *((x, size, i) for size, i in ((3, 1), (5, 2), (3, 3), (5, 4)))) == 4
    assert programs_of(lambda x, seed: (x, seed), *((x, 2**62 + 2**seed) for seed in range(60, 65))) > 2


@pytest.mark.parametrize("kind", [partial(torch.optim.SGD, momentum=0.9, weight_decay=0.1), torch.optim.AdamW])
def test_schedulers_change_momentum(kind):
    steps = []

    def loop(compiled):
        model = network()
        optimizer = kind(model.parameters(), lr=0.1)
        descend(model, optimizer, *batch())
        steps.append(compiled(descend, model, optimizer, *batch()))
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=8)
        losses = []
        for _ in range(7):
            losses.append(steps[-1](model, optimizer, *batch()))
            scheduler.step()
        return losses, list(model.parameters())

    compare(loop)
    assert len(steps[0]._programs) == 2


def test_what_a_run_cannot_know_is_refused():
    settings = types.SimpleNamespace(total=0.0, kind="first", done=False)

    def summed(x):
        settings.total += x.mean().item()
        return x if settings.total > 1 else -x

    def renamed(x):
        settings.kind = "second"
        return x

    def finished(x):
        settings.done = 1
        return x

    x = torch.ones(2)
    with pytest.raises(ckpt.UnsupportedStep, match=r"changes settings.total, and Python code needs its number \(.*test_torch_numbers.py:\d+\)"):
        in_ckpt(summed, x)
    with pytest.raises(ckpt.UnsupportedStep, match=r"Python code takes a number out of a tensor \(.*test_torch_numbers.py:\d+\)"):
        in_ckpt(lambda x, least: x if x.sum().item() > least else -x, x, 0.5)
    for step, name in [(renamed, "kind"), (finished, "done")]:
        with pytest.raises(ckpt.UnsupportedStep, match=f"the step changes settings.{name}, which it closes over, and a run would not"):
            in_ckpt(step, x)
    assert vars(settings) == {"total": 0.0, "kind": "first", "done": False}


def test_numbers_of_models():
    model, x = torch.nn.Sequential(torch.nn.LeakyReLU(0.5)), torch.ones(2)
    run = in_ckpt(lambda model, x: model(-x), model, x)
    model[0].negative_slope = 0.25
    torch.testing.assert_close(run(model, x), model(-x))


@pytest.mark.parametrize(
    "step",
    [
        lambda x, rate: torch.add(x, x, alpha=torch.tensor(4.0) * rate),
        lambda x, rate: torch.add(x, x, alpha=torch.tensor(4.0).mul_(rate)),
        lambda x, rate: x * (torch.tensor(4.0) * rate).item(),
        lambda x, rate: x * torch.tensor([4.0, 2.0]).mul_(rate)[1].item(),
    ],
)
def test_constants_times_numbers_of_a_call(step):
    """PyTorch follows the numbers of constant tensors, and the number of a call was NaN there."""
    x = torch.ones(3)
    compiled = ckpt.compile(step, x, 0.25, time_limit=0)
    for rate in (0.25, 0.5):
        assert torch.equal(compiled(x, rate), step(x, rate))


def test_constant_results_are_tensors():
    def step(x):
        count = torch.tensor(0.0)
        count += 1
        return x, count

    ones = torch.ones(3)
    results = ckpt.compile(step, ones, time_limit=0)(ones)
    assert torch.equal(results[0], ones) and torch.equal(results[1], torch.tensor(1.0))


@pytest.mark.parametrize("is_taken", [lambda rate: rate > rate, lambda rate: rate * 2 < rate + rate, lambda rate: not rate - rate])
def test_comparisons_of_a_number_with_itself(is_taken):
    """PyTorch takes x > x for true, where x is a float."""

    def step(x, rate):
        return x + 1 if is_taken(rate) else x

    x = torch.zeros(2)
    compiled = ckpt.compile(step, x, 0.25, time_limit=0)
    for rate in (0.25, 0.5):
        assert torch.equal(compiled(x, rate), step(x, rate))
