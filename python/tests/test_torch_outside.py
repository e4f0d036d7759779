"""Steps of PyTorch that read tensors, modules and optimizers which they were not given, or leave gradients: each run is as in PyTorch."""

import copy
import importlib
import importlib.util
import types

import pytest
import torch
import torch.nn.functional as F

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 3))


def batches(count=3):
    torch.manual_seed(1)
    return [(torch.randn(4, 6), torch.randint(0, 3, (4,))) for _ in range(count)]


def descend(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def in_ckpt(step, *example):
    return ckpt.compile(step, *example, time_limit=0)


def in_pytorch(step, *example):
    return step


def compare(loop, *more):
    """`loop` takes how a step is compiled, and returns tensors that must be those of PyTorch."""
    ours, theirs = loop(in_ckpt, *more), loop(in_pytorch, *more)
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def weights(model):
    return [weight.detach().clone() for weight in [*model.parameters(), *model.buffers()]]


class Trainer:
    def __init__(self):
        self.model = network()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)

    def step(self, x, y):
        return descend(self.model, self.optimizer, x, y)


def test_modules_and_optimizers_that_a_step_closes_over():
    def by_variable(compiled):
        model = network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        first, *others = batches()
        descend(model, optimizer, *first)
        step = compiled(lambda x, y: descend(model, optimizer, x, y), *first)
        return [step(*batch) for batch in others], weights(model)

    def by_object(compiled):
        trainer, (first, *others) = Trainer(), batches()
        trainer.step(*first)
        step = compiled(trainer.step, *first)
        return [step(*batch) for batch in others], weights(trainer.model)

    def without_arguments(compiled):
        model, (batch, *_) = network(), batches()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step = compiled(lambda: descend(model, optimizer, *batch))
        return [step(), step()], weights(model)

    def by_weights(compiled):
        model, (batch, *_) = torch.nn.Linear(6, 3), batches()
        model.load_state_dict({"weight": torch.ones(3, 6) / 6, "bias": torch.zeros(3)})
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(optimizer, x, y):
            optimizer.zero_grad()
            loss = F.cross_entropy(x @ model.weight.T + model.bias, y)
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = compiled(step, optimizer, *batch)
        return [step(optimizer, *batch) for _ in range(2)], weights(model)

    for loop in (by_variable, by_object, without_arguments, by_weights):
        compare(loop)


def test_tensors_that_a_step_closes_over():
    def trained(compiled):
        torch.manual_seed(0)
        layers = {"first": torch.randn(6, 8, requires_grad=True), "second": torch.randn(8, 3, requires_grad=True)}

        def step(x, y):
            loss = F.cross_entropy((x @ layers["first"]).tanh() @ layers["second"], y)
            for weight in layers.values():
                weight.grad = None
            loss.backward()
            with torch.no_grad():
                for weight in layers.values():
                    weight -= 0.1 * weight.grad
            return loss.item()

        step = compiled(step, *batches()[0])
        losses = [step(*batch) for batch in batches()]
        return losses, [each.detach() for each in layers.values()], [each.grad for each in layers.values()]

    def changed_outside(compiled):
        scale, shift = torch.ones(6), torch.zeros(6)
        step = compiled(lambda x: x * scale + shift, torch.ones(6))
        results = [step(torch.ones(6))]
        scale.fill_(2)
        shift = torch.ones(6)
        return [*results, step(torch.ones(6))]

    def counted(compiled):
        norm = torch.nn.BatchNorm1d(6)
        step = compiled(lambda x: norm(x).detach(), batches()[0][0])
        return [step(x) for x, _ in batches()], weights(norm)

    for loop in (trained, changed_outside, counted):
        compare(loop)


def test_weights_of_a_module_as_arguments():
    """Those of a call need not be the module's, which the step does not read."""

    def functional(compiled):
        model, (first, *others) = network(), batches()

        def step(weights, x, y):
            weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
            loss = F.cross_entropy(torch.func.functional_call(model, weights, (x,)), y)
            gradients = torch.autograd.grad(loss, list(weights.values()))
            return loss.detach(), {name: (w - 0.1 * g).detach() for (name, w), g in zip(weights.items(), gradients)}

        now = dict(model.named_parameters())
        step = compiled(step, now, *first)
        losses = []
        for batch in others:
            loss, now = step(now, *batch)
            losses.append(loss)
        return losses, list(now.values())

    compare(functional)
    weight, x = torch.ones(3, requires_grad=True), torch.ones(3)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def by_optimizer(weight, x):
        (weight * x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    step = in_ckpt(by_optimizer, weight, x)
    step(weight, x)
    torch.testing.assert_close(weight.detach(), torch.full((3,), 0.9))
    other = weight.detach().clone().requires_grad_()
    step(other, x)
    torch.testing.assert_close((weight.detach(), other.grad), (torch.full((3,), 0.9), x))
    with pytest.raises(ckpt.UnsupportedStep, match="PyTorch cannot trace the step .*test_torch_outside.py.* does not require grad"):
        step(weight.detach().clone(), x)


def test_arguments_that_an_operation_made():
    def loop(compiled):
        torch.manual_seed(0)
        weight = 2 * torch.randn(6, requires_grad=True)
        step = compiled(lambda weight: torch.autograd.grad(weight.square().sum(), weight)[0], weight)
        return step(weight)

    compare(loop)


def test_evaluation_sees_training():
    def loop(compiled):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        (x, y), *_ = batches()
        train, evaluate = compiled(descend, model, optimizer, x, y), compiled(lambda x: model(x), x)
        results = []
        for _ in range(2):
            results += [train(model, optimizer, x, y), evaluate(x).detach()]
        return results

    compare(loop)


def forward_backward(model, x, y):
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    return loss.detach()


def from_zero(model, x, y):
    model.zero_grad()
    return forward_backward(model, x, y)


def test_gradients_that_a_step_leaves():
    def loop(compiled, step, has_gradients):
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for weight in model.parameters():
            weight.grad = torch.zeros_like(weight) if has_gradients else None
        step = compiled(step, model, *batches()[0])
        results = []
        for number, batch in enumerate(batches(4)):
            results.append(step(model, *batch))
            if number % 2:
                results.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5))
                optimizer.step()
                optimizer.zero_grad(set_to_none=False)
        return results, weights(model), [weight.grad for weight in model.parameters()]

    compare(loop, forward_backward, True)
    compare(loop, from_zero, True)
    compare(loop, from_zero, False)


def test_gradients_that_an_optimizer_used_are_cleared():
    model, (batch, *_) = network(), batches()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x, y):
        optimizer.zero_grad()
        loss = forward_backward(model, x, y)
        optimizer.step()
        return loss

    step(*batch)
    compiled = in_ckpt(step, *batch)
    assert all(weight.grad is not None for weight in model.parameters())
    compiled(*batch)
    assert all(weight.grad is None for weight in model.parameters())
    step(*batch)
    compiled(*batch)


def test_gradients_are_set_or_not():
    def loop(compiled):
        model, found = network(), []
        step = compiled(forward_backward, model, *batches()[0])
        for batch in batches(4):
            step(model, *batch)
            found.append([weight.grad.clone() for weight in model.parameters()])
            if len(found) == 2:
                model.zero_grad()
        return found

    compare(loop)


def add_one(a, b):
    a.add_(1)
    return 2 * b


def test_one_tensor_as_two_arguments():
    def loop(compiled):
        x = torch.ones(3)
        step = compiled(add_one, x, x)
        return step(x, x), step(x, x), x

    compare(loop)
    x, y = torch.ones(4), torch.zeros(4)
    apart = in_ckpt(add_one, x, y)
    torch.testing.assert_close((apart(x, y), apart(x, x), x), (2 * y, torch.full((4,), 6.0), torch.full((4,), 3.0)))
    for other in (x[:], x.view(2, 2).view(4)):
        with pytest.raises(ckpt.ArrayError, match="argument 0 .a., which the step changes, in memory of its own"):
            apart(x, other)
    torch.testing.assert_close(in_ckpt(add_one, x, x)(x, y), 2 * y)


def test_memory_in_another_order():
    def loop(compiled):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.GELU(), torch.nn.Flatten(), torch.nn.Linear(64, 3))
        model = model.to(memory_format=torch.channels_last)
        x, y = torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last), torch.tensor([0, 2])
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        descend(model, optimizer, x, y)
        step = compiled(descend, model, optimizer, x, y)
        results = [step(model, optimizer, x, y) for _ in range(2)]
        assert not model[0].weight.is_contiguous()
        return results, weights(model)

    compare(loop)
    x = torch.randn(2, 3).T
    step = in_ckpt(lambda x: 2 * x, x)
    for other in (x, x.contiguous(), x[:, :1], torch.randn(1, 1, 3, 2).transpose(1, 3)):
        torch.testing.assert_close(step(other), 2 * other)
    with pytest.raises(ckpt.ArrayError, match="expected argument 0 .x. to be contiguous"):
        step(torch.randn(3, 4)[:, ::2])


def test_complex_tensors_change_in_place():
    def loop(compiled):
        x = torch.ones(3, dtype=torch.complex64)

        def turned(x):
            x.mul_(1 + 1j)
            return x.abs()

        step = compiled(turned, x)
        return step(x), step(x), x

    compare(loop)


class Recurrent(torch.nn.Module):
    """Keeps its state in an attribute, as `kind` says."""

    def __init__(self, kind):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.kind = torch.nn.LSTMCell(6, 3), kind
        self.state = kind(torch.zeros(4, 3) for _ in range(2))

    def forward(self, x):
        now = self.cell(x, tuple(self.state))
        if isinstance(self.state, list):
            self.state[0] = now[0].detach()
            self.state[1].copy_(now[1].detach())
        else:
            self.state = tuple(each.detach() for each in now)
        return now[0].detach()


@pytest.mark.parametrize("kind", [tuple, list])
def test_state_in_containers_of_a_module(kind):
    def loop(compiled):
        model = Recurrent(kind)
        step = compiled(lambda x: model(x), batches()[0][0])
        return [step(x) for x, _ in batches()], list(model.state)

    compare(loop)


def test_state_that_another_method_of_a_module_changes():
    model, (x, _) = Recurrent(list), batches()[0]

    def step(x):
        model.state = [each + x[:, :3].detach() for each in model.state]
        return x

    before = list(model.state)
    with pytest.raises(ckpt.UnsupportedStep, match="the step changes model, which it closes over"):
        in_ckpt(step, x)
    assert all(one is other for one, other in zip(model.state, before))


def test_modules_that_were_compiled_run_as_written():
    def loop(compiled):
        model, (batch, *_) = torch.compile(network(), backend="eager"), batches()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        step = compiled(descend, model, optimizer, *batch)
        return [step(model, optimizer, *batch) for _ in range(2)], weights(model)

    compare(loop)


def test_parameters_that_are_frozen():
    model, (batch, *_) = network(), batches()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    step = in_ckpt(descend, model, optimizer, *batch)
    model[0].requires_grad_(False)
    before = weights(model)
    step(model, optimizer, *batch)
    assert [torch.equal(one, other) for one, other in zip(before, weights(model))] == [True, True, False, False]

    def freeze(x):
        model[2].requires_grad_(False)
        return model(x)

    with pytest.raises(ckpt.UnsupportedStep, match="changes which tensors require gradients: run it once in PyTorch"):
        in_ckpt(freeze, batch[0])
    assert model[2].weight.requires_grad


@pytest.mark.parametrize("is_changed", [True, False])
def test_a_step_returns_a_tensor_that_it_closes_over(is_changed):
    def loop(compiled):
        state = torch.zeros(3)

        def step(x):
            if is_changed:
                state.mul_(0.5).add_(x)
            return state, x + 1

        step = compiled(step, torch.ones(3))
        results = [step(torch.full((3,), float(n)))[0].clone() for n in range(3)]
        state.add_(10)
        return [*results, step(torch.ones(3))[0]]

    compare(loop)


def test_lists_that_a_step_closes_over_do_not_change_in_it():
    model, (batch, *_), losses = network(), batches(), []

    def logged(x):
        losses.append(model(x).mean().detach())
        return x

    with pytest.raises(ckpt.UnsupportedStep, match="the step changes losses, which it closes over, and a run would not"):
        in_ckpt(logged, batch[0])
    assert losses == []


class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        return x @ weight

    @staticmethod
    def backward(ctx, gradient):
        x, weight = ctx.saved_tensors
        return gradient @ weight.T, x.T @ gradient


class ProductWithContext(torch.autograd.Function):
    @staticmethod
    def forward(x, weight):
        return x @ weight

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    backward = Product.backward


@pytest.mark.parametrize("function", [Product, ProductWithContext])
def test_functions_take_tensors_that_a_step_closes_over(function):
    def made():
        torch.manual_seed(0)
        weight = torch.nn.Parameter(torch.randn(6, 3))

        def step(x, y):
            F.cross_entropy(function.apply(x, weight), y).backward()
            with torch.no_grad():
                weight.sub_(0.1 * weight.grad)
            weight.grad = None

        return step, weight

    (ours, our_weight), (theirs, their_weight) = made(), made()
    run = in_ckpt(ours, *batches()[0])
    for batch in batches():
        run(*batch)
        theirs(*batch)
    torch.testing.assert_close(our_weight, their_weight)


def test_results_that_hide_tensors_are_refused():
    class Output:
        def __init__(self, x):
            self.x = x

    with pytest.raises(ckpt.UnsupportedStep, match="the step returns a Output, which PyTorch does not take for a container"):
        in_ckpt(Output, torch.ones(3))


def test_a_step_leaves_the_objects_of_the_caller_as_they_were():
    trainer, (batch, *_) = Trainer(), batches()
    trainer.step(*batch)
    before = copy.deepcopy((trainer.model.state_dict(), trainer.optimizer.state_dict()))
    in_ckpt(trainer.step, *batch)
    torch.testing.assert_close((trainer.model.state_dict(), trainer.optimizer.state_dict()), before, atol=0, rtol=0)
    assert all(type(weight) is torch.nn.Parameter for weight in trainer.model.parameters())


class Nested:
    """Settings and counts in objects of objects."""

    def __init__(self):
        self.state = types.SimpleNamespace(count=0, parts={"first": types.SimpleNamespace(scale=1.0)})

    def step(self, x):
        self.state.count += 1
        return x * self.state.count * self.state.parts["first"].scale

    @property
    def doubled(self):
        return 2 * self.state.count

    def read(self, x):
        return x * self.doubled


def test_numbers_of_objects_in_objects():
    ours, theirs, x = Nested(), Nested(), torch.ones(2)
    run = in_ckpt(ours.step, x)
    assert ours.state.count == 0
    for scale in (1.0, 0.5, 3.0):
        for each in (ours, theirs):
            each.state.parts["first"].scale = scale
        assert torch.equal(run(x), theirs.step(x))
        assert ours.state.count == theirs.state.count
    read = in_ckpt(ours.read, x)
    for ours.state.count in (3, 5):
        assert torch.equal(read(x), ours.read(x))


@pytest.mark.parametrize("is_imported", [True, False])
def test_functions_of_other_files_count_for_a_step(tmp_path, monkeypatch, is_imported):
    (tmp_path / "other_file.py").write_text("calls = 0\n\n\ndef scaled(settings, x):\n    global calls\n    calls += 1\n    settings.count += 1\n    return x * settings.count * calls\n")
    monkeypatch.syspath_prepend(tmp_path)
    other_file = importlib.import_module("other_file")
    other_file.calls, scaled = 0, other_file.scaled
    settings, x = types.SimpleNamespace(count=0), torch.ones(2)
    run = in_ckpt((lambda x: scaled(settings, x)) if is_imported else (lambda x: other_file.scaled(settings, x)), x)
    for count in (1, 2, 3):
        assert torch.equal(run(x), x * count * count)
    assert (settings.count, other_file.calls) == (3, 3)
