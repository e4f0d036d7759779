"""Calls of a step of PyTorch that differ from the ones before: each finds its program, or gets one."""

import copy
import functools
import gc
import importlib.util
import logging
import threading
import weakref

import pytest
import torch
import torch.nn.functional as F

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)


def compare(loop):
    """`loop` takes how a step is compiled, and returns tensors and numbers that must be those of PyTorch; returns the compiled steps."""
    steps = []

    def in_ckpt(step, *example):
        steps.append(ckpt.compile(step, *example, time_limit=0))
        return steps[-1]

    torch.testing.assert_close(loop(in_ckpt), loop(lambda step, *example: step), atol=1e-5, rtol=1e-5)
    return steps


def network():
    torch.manual_seed(0)
    layers = [torch.nn.Linear(6, 32), torch.nn.BatchNorm1d(32), torch.nn.Tanh(), torch.nn.Linear(32, 3)]
    return torch.nn.Sequential(*layers)


def batches(*sizes):
    torch.manual_seed(1)
    return [(torch.randn(size, 6), torch.randint(0, 3, (size,))) for size in sizes]


def accumulated(model, optimizer, x, y, is_last):
    loss = F.cross_entropy(model(x), y)
    if model.training:
        loss.backward()
        if is_last:
            optimizer.step()
            optimizer.zero_grad()
    return loss.detach()


def test_last_batches_evaluation_and_accumulated_gradients():
    def loop(compiled):
        model, found = network(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        accumulated(model, optimizer, *batches(4)[0], True)
        step = compiled(accumulated)
        for _ in range(2):
            for size in (4, 4, 3):
                (batch,) = batches(size)
                found += [step(model, optimizer, *batch, is_last) for is_last in (False, False, True)]
            found.append(step(model.eval(), optimizer, *batch, True))
            model.train()
        return found, list(model.parameters())

    (step,) = compare(loop)
    assert len(step._programs) == 7


def test_calls_alternate():
    def loop(compiled):
        model = network()
        step = compiled(lambda x: model(x).detach(), batches(4)[0][0])
        return [step(x) for _ in range(2) for x, _ in batches(4, 2, 5)], list(model.buffers())

    (step,) = compare(loop)
    assert len(step._programs) == 3


def test_calls_that_alternate_hold_no_arguments():
    step, sizes = ckpt.compile(lambda x: 2 * x, time_limit=0), (3, 4)
    for size in sizes:
        step(torch.ones(size))
    gc.disable()
    try:
        given = [torch.ones(size) for size in sizes]
        held = [weakref.ref(x) for x in given]
        for x in given:
            step(x)
        del given, x
        assert [reference() for reference in held] == [None, None]
    finally:
        gc.enable()


def test_programs_hold_no_tensors_of_their_examples():
    model, (x, y), scale = torch.nn.Linear(6, 3), batches(4)[0], torch.ones(3)

    def step(model, x, y):
        loss = F.cross_entropy(model(x) * scale, y)
        loss.backward()
        return loss.detach()

    step(model, x, y)
    held = [weakref.ref(tensor) for tensor in (x, y, scale, model.weight.grad, model.weight)]
    compiled = ckpt.compile(step, model, x, y, time_limit=0)
    model.weight.grad = None
    model.weight, scale = torch.nn.Parameter(torch.zeros(3, 6)), torch.zeros(3)
    del x, y
    gc.collect()
    assert [reference() for reference in held] == [None] * 5
    compiled(model, *batches(4)[0])


def test_threads_compile_once():
    step, x, found = ckpt.compile(lambda x: 2 * x, time_limit=0), torch.ones(3), []
    calls = [threading.Thread(target=lambda: found.append(step(x).tolist())) for _ in range(4)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    assert found == [[2.0] * 3] * 4 and len(step._programs) == 1


def test_programs_share_an_arena():
    step = ckpt.compile(lambda x: ((x @ x).tanh() @ x).sum(), torch.randn(64, 64), time_limit=0)
    first, size = step.arena_bytes, step.report.figures["peak_bytes"]
    assert first == size > 0
    small, large = torch.randn(32, 32), torch.randn(128, 128)
    step(small)
    assert step.arena_bytes == first > step.report.figures["peak_bytes"] > 0
    torch.testing.assert_close(step(large), ((large @ large).tanh() @ large).sum())
    assert step.arena_bytes == step.report.figures["peak_bytes"] > first
    torch.testing.assert_close(step(small), ((small @ small).tanh() @ small).sum())
    assert step.report.figures["peak_bytes"] < step.arena_bytes
    assert step.arguments[0].shape == [32, 32]


def test_a_budget_holds_for_each_program():
    step = ckpt.compile(lambda x: (x @ x @ x).sum(), budget=2**15, time_limit=0)
    small = step(torch.ones(64, 64))
    with pytest.raises(ckpt.BudgetError):
        step(torch.ones(128, 128))
    assert torch.equal(step(torch.ones(64, 64)), small) and step.arena_bytes <= 2**15


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def test_the_logger_says_why(monkeypatch):
    def step(x, mode):
        return x if mode == "same" else -x

    compiled = ckpt.compile(step, torch.ones(3), "same", time_limit=0)
    handler, logger = Lines(), logging.getLogger("ckpt")
    monkeypatch.setattr(logger, "handlers", [handler])
    logger.setLevel(logging.INFO)
    try:
        for size, mode in ((3, "same"), (3, "other"), (4, "other"), (4, "other")):
            compiled(torch.ones(size), mode)
    finally:
        logger.setLevel(logging.NOTSET)
    first, second = handler.lines
    assert "step is compiled again, as program 2: expected mode to be 'same' as in the example, but got 'other'" in first
    assert "as program 3: expected x of shape (3,), but got (4,)" in second


def test_too_many_programs():
    step = ckpt.compile(lambda x: 2 * x, torch.ones(1), time_limit=0)
    step.limit = 3
    for size in (2, 3):
        step(torch.ones(size))
    with pytest.raises(ckpt.CkptError, match=r"(?s)differs from the examples of all 3 programs.*of shape \(3,\), but got \(4,\).*of shape \(1,\).*give batches a few"):
        step(torch.ones(4))
    assert torch.equal(step(torch.ones(1)), torch.full((1,), 2.0))


def test_examples_that_give_equal_programs_are_planned_once():
    step = ckpt.compile(lambda x, name: x + 1, torch.ones(3), "first", time_limit=0)
    report = step.report
    assert torch.equal(step(torch.ones(3), "second"), torch.full((3,), 2.0))
    assert step.report is report and len(step._programs) == 2


@ckpt.compile
def doubled(x, factor=2):
    """Of a decorator."""
    return x * factor


def test_decorators():
    for read in (lambda: doubled.report, lambda: doubled.arena_bytes, lambda: doubled.arguments):
        with pytest.raises(ckpt.CkptError, match="no program yet: its first call compiles it"):
            read()
    x = torch.ones(3)
    assert torch.equal(doubled(x), 2 * x) and torch.equal(doubled(x, 3), 3 * x) and torch.equal(doubled(factor=4, x=x), 4 * x)
    assert doubled.__name__ == "doubled" and doubled.__doc__ == "Of a decorator." and torch.equal(doubled.__wrapped__(x), 2 * x)
    assert doubled.arena_bytes >= 0 and "baseline" in str(doubled.report)
    for call in (lambda: doubled(), lambda: doubled(x, other=1), lambda: doubled(x, 1, 2)):
        with pytest.raises(ckpt.CkptError, match="argument"):
            call()

    @functools.partial(ckpt.compile, budget="50%", time_limit=0.1)
    def step(x):
        return x @ (x @ (x @ x))

    torch.testing.assert_close(step(torch.eye(64)), torch.eye(64))
    assert "strategy: budget" in str(step.report)
    with pytest.raises(ckpt.CkptError, match="budget"):
        ckpt.compile(lambda x: x, budget="much")


class Trainer:
    def __init__(self, rate):
        self.model = network()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate)
        self.scale = 1.0

    @ckpt.compile
    def step(self, x, y):
        loss = self.scale * F.cross_entropy(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()


def test_methods():
    ours, theirs, other = Trainer(0.1), Trainer(0.1), Trainer(0.5)
    for batch in batches(4, 3, 4):
        other.step(*batch)
        torch.testing.assert_close(ours.step(*batch), Trainer.step.__wrapped__(theirs, *batch))
        ours.scale = theirs.scale = 0.5 * ours.scale
    torch.testing.assert_close(ours.model.state_dict(), theirs.model.state_dict())
    assert ours.step is ours.step is not other.step
    assert len(ours.step._programs) == 2
    again = copy.deepcopy(ours)
    torch.testing.assert_close(again.step(*batch), ours.step(*batch))
    assert again.step is not ours.step
    torch.testing.assert_close(again.model.state_dict(), ours.model.state_dict())


def test_modules_without_examples():
    model, (x, _) = network().eval(), batches(4)[0]
    step = ckpt.compile(model, time_limit=0)
    torch.testing.assert_close(step(x), model(x).detach())
    model[2] = torch.nn.Sigmoid().eval()
    torch.testing.assert_close(step(x), model(x).detach())


def test_settings_of_pytorch():
    model, (x, _) = network().eval(), batches(4)[0]
    step = ckpt.compile(model, x, time_limit=0)
    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            ours, theirs = step(x), model(x)
            assert ours.dtype == theirs.dtype == torch.bfloat16
            torch.testing.assert_close(ours, theirs.detach(), atol=0.02, rtol=0.02)
        torch.testing.assert_close(step(x), model(x).detach())


def test_tensors_on_other_devices_get_no_program():
    x = torch.ones(3)
    step = ckpt.compile(lambda x: 2 * x, x, time_limit=0)
    for other in (torch.ones(3, device="meta"), torch.ones(4, device="meta")):
        with pytest.raises(ckpt.ArrayError, match="on the CPU, but got a tensor on meta"):
            step(other)
    assert len(step._programs) == 1


def test_values_of_other_kinds():
    def loop(compiled):
        scale, found, x = torch.ones(3), [], torch.arange(3.0)
        step = compiled(lambda values, model: model(values["x"]) * scale, {"x": x}, torch.nn.ReLU())
        found.append(step({"x": x}, torch.nn.Softplus()))
        found.append(step({"x": x, "more": None}, torch.nn.Softplus()))
        scale = 2
        found.append(step({"x": x}, torch.nn.ReLU()))
        scale = torch.ones(1)
        return [*found, step({"x": x.bfloat16()}, torch.nn.ReLU())]

    compare(loop)


def test_a_call_that_fails_leaves_the_programs():
    step = ckpt.compile(lambda x, y: x @ y, torch.ones(2, 3), torch.ones(3, 2), time_limit=0)
    with pytest.raises(ckpt.UnsupportedStep, match="cannot trace the step .*test_torch_programs_engine.py"):
        step(torch.ones(2, 3), torch.ones(2, 3))
    for others in ((torch.ones(2, 3), "y"), (torch.ones(2, 3), {1}), (torch.ones(2, 3),), ()):
        with pytest.raises(ckpt.CkptError):
            step(*others)
    assert len(step._programs) == 1
    with pytest.raises(ckpt.ArrayError, match="expected result 0 of shape"):
        step(torch.ones(2, 3), torch.ones(3, 2), out=[torch.ones(3, 3)])
    assert len(step._programs) == 1
