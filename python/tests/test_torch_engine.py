"""Steps of PyTorch in the engine of the project."""

import copy
import functools
import importlib.util
import math

import pytest
import torch
from torch.func import functional_call

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)


def test_a_module_with_loss_and_optimizer():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 4))

    def step(weights, x):
        weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        loss = functional_call(model, weights, (x,)).square().mean()
        gradients = torch.autograd.grad(loss, list(weights.values()))
        return loss, {name: w - 0.1 * g for (name, w), g in zip(weights.items(), gradients)}

    weights, x = dict(model.named_parameters()), torch.randn(32, 8)
    compiled = ckpt.compile(step, weights, x, time_limit=0)
    loss, updated = compiled(weights, x)
    wanted_loss, wanted = step(weights, x)
    torch.testing.assert_close(loss, wanted_loss.detach())
    for name, weight in wanted.items():
        torch.testing.assert_close(updated[name], weight.detach())
    assert compiled.arena_bytes == compiled.report.figures["peak_bytes"]
    turned = torch.randn(8, 32).T
    torch.testing.assert_close(compiled(weights, turned)[0], step(weights, turned)[0].detach())
    with pytest.raises(ckpt.ArrayError, match="contiguous"):
        compiled(weights, torch.randn(32, 16)[:, ::2])


def classifier():
    torch.manual_seed(0)
    # PyTorch lays gradients of the second convolution out in another order than its weights.
    layers = [torch.nn.Conv2d(3, 32, 3), torch.nn.BatchNorm2d(32), torch.nn.ReLU(), torch.nn.Conv2d(32, 64, 3, 2, 1, bias=False)]
    layers += [torch.nn.Flatten(), torch.nn.Linear(64 * 9, 4)]
    return torch.nn.Sequential(*layers), [(torch.randn(8, 3, 8, 8), torch.randint(0, 4, (8,))) for _ in range(4)]


def trained(model, optimizer, x, y):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.detach()


@pytest.mark.parametrize(
    "optimizer_of",
    [
        lambda weights: torch.optim.AdamW(weights, lr=torch.tensor(1e-2), eps=1e-4),
        lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1, foreach=True),
        lambda weights: torch.optim.SGD(weights, lr=0.1, fused=True),
        lambda weights: torch.optim.RAdam(weights, foreach=True),
    ],
)
def test_a_module_and_an_optimizer_are_trained_in_place(optimizer_of):
    model, (first, *batches) = classifier()
    optimizer = optimizer_of(model.parameters())
    trained(model, optimizer, *first)
    theirs, their_optimizer = copy.deepcopy((model, optimizer))
    state = optimizer.state
    compiled = ckpt.compile(trained, model, optimizer, *first, time_limit=0)
    for number, batch in enumerate(batches):
        for one in (optimizer, their_optimizer):
            if number == 1 and isinstance(one.param_groups[0]["lr"], torch.Tensor):
                one.param_groups[0]["lr"].fill_(0.1)
        out = [torch.empty(())] if number else None
        loss = compiled(model, optimizer, *batch, out=out)
        torch.testing.assert_close(loss, trained(theirs, their_optimizer, *batch), atol=1e-4, rtol=1e-4)
    assert optimizer.state is state
    torch.testing.assert_close(model.state_dict(), theirs.state_dict(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(optimizer.state_dict(), their_optimizer.state_dict(), atol=1e-4, rtol=1e-4)
    loss = compiled(model.eval(), optimizer, *first)
    torch.testing.assert_close(loss, trained(theirs.eval(), their_optimizer, *first), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(model.state_dict(), theirs.state_dict(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", [torch.optim.RAdam, torch.optim.NAdam, torch.optim.Adam, torch.optim.ASGD])
@pytest.mark.parametrize("shape", [(16,), ()])
def test_counts_of_an_optimizer_are_as_exact_as_numbers_of_python(kind, shape):
    """RAdam subtracts 1994 from 1999 in its sixth step, the former a quotient of two small differences."""

    def made():
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(shape))
        return kind([weight], lr=0.01), weight

    def step(optimizer, weight):
        weight.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    (ours, our_weight), (theirs, their_weight) = made(), made()
    step(ours, our_weight)
    step(theirs, their_weight)
    compiled = ckpt.compile(step, ours, our_weight, time_limit=0)
    for _ in range(7):
        compiled(ours, our_weight)
        step(theirs, their_weight)
    torch.testing.assert_close(our_weight, their_weight, atol=1e-7, rtol=1e-6)
    assert ours.state[our_weight]["step"] == 8


class Wrapped(torch.optim.Optimizer):
    """As Lookahead of timm."""

    def __init__(self, inner):
        self.inner, self.param_groups, self.state, self.defaults = inner, inner.param_groups, {}, {}
        self._optimizer_step_pre_hooks, self._optimizer_step_post_hooks = {}, {}

    def step(self):
        self.inner.step()


def test_optimizers_in_optimizers_are_refused():
    model, (batch, *_) = classifier()
    with pytest.raises(ckpt.UnsupportedStep, match="optimizer, a Wrapped, steps by another optimizer"):
        ckpt.compile(trained, model, Wrapped(torch.optim.Adam(model.parameters())), *batch)


class Slowing(torch.optim.Optimizer):
    """Keeps nothing but a number in its group."""

    def __init__(self, weights):
        super().__init__(weights, {"lr": 0.1})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["step"] = group.get("step", 0) + 1
            for weight in group["params"]:
                weight.sub_(weight.grad * group["lr"] / group["step"])


class Counting(Slowing):
    """Keeps numbers, lists and tensors in its state and its groups, in ways of its own."""

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            group["step"] = group.get("step", 0) + 1
            for weight in group["params"]:
                state = self.state[weight]
                state.setdefault("count", 0)
                state["count"] += 1
                state.setdefault("means", [torch.zeros_like(weight), weight.grad.abs()])[0].lerp_(weight.grad, 0.5)
                state["last"] = group["lr"]
                weight.sub_(state["means"][0] / (1 + state["means"][1]), alpha=group["lr"] / math.sqrt(group["step"] + state["count"]))


def nothing(step):
    return step


@pytest.mark.parametrize(
    "optimizer_of",
    [
        torch.optim.AdamW,
        Counting,
        Slowing,
        lambda weights: torch.optim.SGD(weights, lr=0.1, momentum=0.9, dampening=0.5),
        lambda weights: torch.optim.NAdam([{"params": weights, "lr": 0.01}]),
    ],
)
def test_the_first_step_makes_the_state_of_the_optimizer(optimizer_of):
    def loop(compiled):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 4))
        batches = [(torch.randn(8, 6), torch.randint(0, 4, (8,))) for _ in range(4)]
        optimizer = optimizer_of(list(model.parameters()))
        step = compiled(trained)
        losses = [step(model, optimizer, *batch) for batch in batches]
        again = optimizer_of(list(model.parameters()))
        out = torch.empty(())
        loss = step(model, again, *batches[0], out=[out]) if compiled is not nothing else step(model, again, *batches[0])
        assert loss is out or compiled is nothing
        return losses, loss, model.state_dict(), optimizer.state_dict()["state"], again.state_dict()["state"], step

    *ours, step = loop(functools.partial(ckpt.compile, time_limit=0))
    *theirs, _ = loop(nothing)
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    assert len(step._programs) == 2


def test_a_step_with_an_optimizer_leaves_both_as_they_were():
    model, (batch, *_) = classifier()
    optimizer = torch.optim.AdamW(model.parameters())
    ckpt.compile(trained, model, optimizer, *batch, time_limit=0)
    assert not optimizer.state
    assert all(type(weight) is torch.nn.Parameter and weight.grad is None for weight in model.parameters())
    assert model[1].num_batches_tracked == 0


def test_hooks_of_parameters():
    def doubled(weight):
        weight.grad.mul_(2)

    def hooked():
        model, batches = classifier()
        model[0].weight.register_hook(lambda gradient: 3 * gradient)
        model[3].weight.register_post_accumulate_grad_hook(doubled)
        return (model, torch.optim.SGD(model.parameters(), lr=0.1)), batches[0]

    (ours, batch), (theirs, _) = hooked(), hooked()
    ckpt.compile(trained, *ours, *batch, time_limit=0)(*ours, *batch)
    trained(*theirs, *batch)
    torch.testing.assert_close(ours[0].state_dict(), theirs[0].state_dict(), atol=1e-4, rtol=1e-4)


class Attributes(torch.nn.Module):
    """Keeps state outside of buffers, as `kind` says."""

    def __init__(self, kind):
        super().__init__()
        self.layer, self.kind, self.factor, self.state, self.shown = torch.nn.Linear(3, 3), kind, 1.0, torch.zeros(3), None

    def forward(self, x):
        y = self.layer(x) * self.factor
        self.shown = y.detach()
        if self.kind == "tensor":
            y = y + self.state
            self.state = y[0].detach()
        return y.square().mean()


def test_tensors_in_attributes_of_a_module_change():
    ours, theirs, x = Attributes("tensor"), Attributes("tensor"), torch.randn(2, 3)
    theirs.load_state_dict(ours.state_dict())
    compiled = ckpt.compile(lambda model, x: model(x), ours, x, time_limit=0)
    for _ in range(3):
        torch.testing.assert_close(compiled(ours, x), theirs(x).detach())
    torch.testing.assert_close(ours.state, theirs.state)


def test_attributes_of_modules():
    model, x = Attributes("none"), torch.randn(2, 3)
    compiled = ckpt.compile(lambda model, x: model(x), model, x, time_limit=0)
    torch.testing.assert_close(compiled(model, x), model(x).detach())
    model.factor = 2.0
    torch.testing.assert_close(compiled(model, x), model(x).detach())


def test_numbers_among_arguments():
    def step(x, factor, mask=None):
        return x * factor if mask is None else x * mask

    x = torch.randn(3)
    compiled = ckpt.compile(step, x, 2, None, time_limit=0)
    assert torch.equal(compiled(x, 2, None), 2 * x)
    for other in [(3, None), (2.0, None), (2, x), (True, None), (2, torch.arange(3))]:
        torch.testing.assert_close(compiled(x, *other), step(x, *other))
    with pytest.raises(ckpt.UnsupportedStep, match="numbers and strings, but factor is of <class 'set'>: pass its tensors"):
        ckpt.compile(step, x, {1})


def descended(x, weights, rate):
    loss = (x @ weights["w"]).tanh().square().mean()
    loss.backward()
    with torch.no_grad():
        weights["w"] -= rate * weights["w"].grad
        weights["w"].grad = None
    return loss.detach()


def replaced(x, weights, rate):
    (gradient,) = torch.autograd.grad((x @ weights["w"]).tanh().sum(), weights["w"])
    weights["w"] = (weights["w"] - rate * gradient).detach()
    return gradient


def returned(x, weights, rate):
    with torch.no_grad():
        weights["w"] += rate * x[:3]
    return weights


@pytest.mark.parametrize("step", [descended, replaced, returned])
def test_tensors_among_arguments_change_in_place(step):
    def made():
        torch.manual_seed(0)
        return torch.randn(4, 3), {"w": torch.randn(3, 3, requires_grad=True)}, 0.1

    ours, theirs = made(), made()
    compiled = ckpt.compile(step, *ours, time_limit=0)
    torch.testing.assert_close(compiled(*ours), step(*theirs))
    torch.testing.assert_close(ours[1]["w"].detach(), theirs[1]["w"].detach())


def test_arguments_that_an_optimizer_holds():
    def step(optimizer, x, weight):
        loss = (x @ weight).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss.detach()

    def made():
        torch.manual_seed(0)
        weight = torch.randn(3, 3, requires_grad=True)
        return torch.optim.SGD([weight], lr=0.1), torch.randn(4, 3), weight

    ours, theirs = made(), made()
    compiled = ckpt.compile(step, *ours, time_limit=0)
    for _ in range(2):
        torch.testing.assert_close(compiled(*ours), step(*theirs))
    torch.testing.assert_close(ours[2], theirs[2])
    others = ours[2].detach().clone().requires_grad_(), theirs[2].detach().clone().requires_grad_()
    torch.testing.assert_close(compiled(*ours[:2], others[0]), step(*theirs[:2], others[1]))
    torch.testing.assert_close((ours[2], others[0].grad), (theirs[2], others[1].grad))


def test_containers_that_a_step_changes_are_refused():
    def grown(values):
        values["y"] = values["x"] + 1
        return values["x"]

    def shrunk(values):
        values["x"] = values["x"][:1]

    x = torch.randn(3)
    with pytest.raises(ckpt.UnsupportedStep, match="changes which values a container among its arguments holds"):
        ckpt.compile(grown, {"x": x})
    with pytest.raises(ckpt.UnsupportedStep, match=r"in the place of values\['x'\]: return it"):
        ckpt.compile(shrunk, {"x": x})
    for step in (lambda x: (2 * x).resize_(3, 1), lambda x: x.set_(x.clone()) + 1):
        with pytest.raises(ckpt.UnsupportedStep, match="aten.(resize_|set_).* gives a tensor other memory"):
            ckpt.compile(step, x)


def test_data_of_parameters():
    def step(model, x):
        loss = model(x).square().mean()
        loss.backward()
        for weight in model.parameters():
            weight.data = weight.data - 0.1 * weight.grad
            weight.grad = None
        return loss.detach()

    ours, x = torch.nn.Linear(3, 3), torch.randn(2, 3)
    theirs = copy.deepcopy(ours)
    ckpt.compile(step, ours, x, time_limit=0)(ours, x)
    step(theirs, x)
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict())


def test_scripted_modules_are_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="model is a module of torch.jit"):
        ckpt.compile(lambda model, x: model(x), torch.jit.script(torch.nn.Linear(3, 3)), torch.randn(2, 3))


def test_lazy_modules_run_once_before():
    step, x = lambda model, x: model(x).sum(), torch.randn(3, 4)
    model = torch.nn.LazyLinear(2)
    with pytest.raises(ckpt.UnsupportedStep, match="^model.weight has no shape before the module runs: run the step once in PyTorch"):
        ckpt.compile(step, model, x)
    wanted = step(model, x)
    torch.testing.assert_close(ckpt.compile(step, model, x, time_limit=0)(model, x), wanted)


def test_captured_tensors_of_bfloat16():
    frozen, offset = torch.nn.Linear(4, 2).bfloat16(), torch.randn(2, dtype=torch.bfloat16)
    step = lambda x: (frozen(x) + offset, offset)
    x = torch.randn(3, 4, dtype=torch.bfloat16)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=2e-2, atol=2e-2)


def test_numbers_among_results():
    def step(x):
        right = (x > 0).sum().item()
        return {"loss": x.square().mean().item(), "right": (right, 100 * right / x.numel()), "x": x * right, "size": x.numel()}

    x = torch.arange(12.0) - 4
    ours, theirs = ckpt.compile(step, x, time_limit=0)(x), step(x)
    torch.testing.assert_close(ours, theirs)
    assert isinstance(ours["loss"], float) and isinstance(ours["right"][0], int)


def test_tensors_of_another_shape_in_the_place_of_a_buffer_are_refused():
    model, (batch, *_) = classifier()

    def grown(model, x):
        model[1].running_mean = torch.zeros(len(model[1].running_mean) + 1)
        return x

    with pytest.raises(ckpt.UnsupportedStep, match=r"puts torch.float32\[\d+\] in the place of model.1.running_mean, .* run the step once"):
        ckpt.compile(grown, model, batch[0])
    with pytest.raises(ckpt.UnsupportedStep, match="changes which modules are in training"):
        ckpt.compile(lambda model, x: model.eval()(x), model, batch[0])


def test_gpt2_of_hugging_face():
    pytest.importorskip("transformers")
    from compiled_rows import of_module
    from torch_modules import make, train

    module, batch = make("gpt2-tiny")
    expected = []
    of_module("eager", module, batch, lambda *_: train, expected)
    engines = [of_module("", module, batch, functools.partial(ckpt.compile, train, budget=each), expected) for each in (None, "50%")]
    whole, half = engines
    assert half.temporary <= whole.temporary / 2
    assert max(whole.difference, half.difference) < 1e-5


def test_unsigned_integers():
    def step(pixels, mask, counts):
        brighter = pixels + pixels
        return {
            "wrapped": brighter,
            "masked": pixels * mask,
            "largest": torch.maximum(pixels, brighter).amax(),
            "quotient": pixels // 3,
            "sum": pixels.sum(),
            "sorted": brighter.sort().values,
            "selected": torch.where(mask, pixels, pixels // 2),
            "promoted": pixels + counts,
            "halves": counts >> 1,
            "mean": (pixels.float() / 255).mean(),
            "rounded": (pixels.float() * 0.7).to(torch.uint8),
        }

    arguments = torch.arange(250, 256, dtype=torch.uint8), torch.tensor([True, False] * 3), torch.arange(-3, 3, dtype=torch.int16)
    ours, theirs = ckpt.compile(step, *arguments)(*arguments), step(*arguments)
    assert {name: value.dtype for name, value in ours.items()} == {name: value.dtype for name, value in theirs.items()}
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value)


def test_narrow_integers():
    def step(x):
        return 2 * x, x - 2, x // 3, x % 3, x * x, torch.where(x > 0, x, 0), x.sum(), (1.5 * x.float()).clamp(-100, 100).to(x.dtype)

    x = torch.tensor([1, -100, 100, 0, 3], dtype=torch.int8)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_unsigned_integers_of_64_bits_are_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="values of torch.uint64 are not supported: use torch.int64"):
        ckpt.compile(lambda x: x.to(torch.uint64), torch.arange(3))
