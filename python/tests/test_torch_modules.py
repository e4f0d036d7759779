"""Planned modules in the places of modules, and planned functions in those of functions."""

import copy
import inspect
import warnings

import ckpt
import pytest

torch = pytest.importorskip("torch")
import ckpt.torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402


class Part(torch.nn.Module):
    """Its statistics stay in training too."""

    def __init__(self):
        super().__init__()
        self.up, self.norm, self.down = torch.nn.Linear(16, 64), torch.nn.BatchNorm1d(64), torch.nn.Linear(64, 16)

    def forward(self, x, scale: float = 1.0):
        return scale * self.down(F.gelu(self.norm(self.up(x))))

    def train(self, mode=True):
        super().train(mode)
        self.norm.eval()
        return self


class Whole(torch.nn.Module):
    def __init__(self, wrap=lambda part: part):
        super().__init__()
        self.first, self.part = torch.nn.Linear(16, 16), wrap(Part())

    def forward(self, x):
        return self.part(self.first(x)).square().mean()


def planned(part):
    return ckpt.torch.plan(part, engine="eager", effort=0.1)


def trained(model):
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(0)
    for _ in range(3):
        model.eval().train()
        model(torch.randn(256, 16, generator=generator)).backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.state_dict()


def same(actual, expected):
    return list(actual) == list(expected) and all(map(torch.equal, actual.values(), expected.values()))


def test_other_modules_hold_a_planned_module():
    torch.manual_seed(0)
    model = Whole()
    holder = copy.deepcopy(model)
    holder.part = planned(holder.part)
    twin, averaged = copy.deepcopy(holder), torch.optim.swa_utils.AveragedModel(holder)
    expected = trained(model)
    for each in (holder, twin):
        assert same(trained(each), expected) and len(each.part.reports) == 1
    assert twin.part.module is not holder.part.module
    averaged.update_parameters(holder)
    assert torch.equal(averaged.module.part.up.weight, model.part.up.weight)


def test_modules_register_a_planned_module():
    """Without it, an optimizer would not see its parameters."""
    holder = Whole(planned)
    assert [name for name, _ in holder.named_parameters()] == [name for name, _ in Whole().named_parameters()]
    assert holder.double().part.up.weight.dtype == torch.double
    assert isinstance(holder.part, torch.nn.Module) and not isinstance(ckpt.torch.plan(torch.relu), torch.nn.Module)


def test_methods_of_a_module_go_before_those_of_all_modules():
    holder = Whole(planned)
    holder.eval().train()
    assert holder.part.training and not holder.part.norm.training


def test_a_call_runs_the_forward_that_was_set():
    """Accelerate sets one that runs under autocast."""
    part, x = planned(Part()), torch.randn(256, 16)
    once, forward = part(x), part.forward
    part.forward = lambda x: 2 * forward(x)
    assert torch.equal(part(x), 2 * once)
    del part.forward
    assert torch.equal(part(x), once)


def test_signatures_are_those_of_the_module_and_of_the_function():
    """Trainers look there for the columns of a data set."""
    assert inspect.signature(planned(Part()).forward) == inspect.signature(Part().forward)
    assert inspect.signature(ckpt.torch.plan(Part().forward)) == inspect.signature(Part().forward)


class Decorated(Part):
    @ckpt.torch.plan(engine="eager", effort=0.1)
    def forward(self, x):
        return super(Decorated, self).forward(x)


def test_a_decorated_method_is_a_method():
    model = Decorated()
    expected = Part.forward(model, x := torch.randn(256, 16))
    assert torch.equal(model(x), expected) and len(Decorated.forward.reports) == 1


def test_a_planned_module_inside_of_a_planned_one_is_part_of_its_graph():
    holder = Whole(planned)
    outer = planned(holder)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        outer(torch.randn(256, 16)).backward()
    assert len(outer.reports) == 1 and not holder.part.reports
