"""Memory that PyTorch's kernels take beside their operands and the elements of their results."""

import pytest
import torch
import torch.nn.functional as F

import ckpt.torch

torch.set_num_threads(1)


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(64, 64) for _ in range(4))


class Distance(Layers):
    """The loss is one element, in the memory of all squares."""

    def forward(self, x):
        with torch.no_grad():
            target = torch.softmax(self.layers[0](x), -1)
        for layer in self.layers:
            x = torch.tanh(x + layer(x))
        return F.mse_loss(x, target)


class Branches(Layers):
    """Graphs that an op calls hold products of their own."""

    def forward(self, x):
        for layer in self.layers:
            positive, other = (lambda y, f=f, layer=layer: f(layer(torch.sin(y))) for f in (torch.tanh, torch.sigmoid))
            x = torch.cond(x.sum() > 0, positive, other, (x,))
        return x.square().mean()


class Cells(torch.nn.Module):
    """The gates of a cell are views of one product, by an op whose schema names no view."""

    def __init__(self):
        super().__init__()
        self.cell, self.out = torch.nn.GRUCell(32, 48), torch.nn.Linear(48, 10)

    def forward(self, x):
        state = torch.zeros(256, 48)
        for _ in range(3):
            state = self.cell(x[:, :32], state)
        return self.out(state).square().sum()


@pytest.mark.parametrize("model", [Distance, Branches, Cells])
def test_the_measured_peak_is_the_planned_one(model):
    torch._dynamo.reset()
    torch.manual_seed(0)
    module, x = model(), torch.randn(256, 64)
    found = ckpt.torch.plan(module, engine="eager", effort=0.1).check(x)
    assert found.peak_bytes == pytest.approx(found.planned_bytes, rel=0.01)


class Shaped(torch.nn.Module):
    """The gradient of `layer` needs the shape of its operand, and no element."""

    def __init__(self, layer):
        super().__init__()
        self.first, self.layer = torch.nn.Conv2d(3, 32, 3, padding=1), layer
        self.last = torch.nn.Conv2d(32, 8, 3, padding=1)

    def forward(self, images):
        return self.last(self.layer(self.first(images))).square().mean()


SHAPED = {
    "average": torch.nn.AvgPool2d(2),
    "maximum": torch.nn.MaxPool2d(2),
    "padding": torch.nn.ReflectionPad2d(1),
    "frozen": torch.nn.Conv2d(32, 32, 3, padding=1).requires_grad_(False),
}


@pytest.mark.parametrize("layer", SHAPED.values(), ids=SHAPED)
def test_an_operand_that_only_gives_its_shape_is_not_kept(layer):
    module, images = Shaped(layer), torch.randn(4, 3, 32, 32)
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    expected = torch.autograd.grad(module(images), weights)
    kept = ckpt.torch.measure(lambda: torch.autograd.grad(module(images), weights)).peak_bytes
    run = torch.compile(module, backend=ckpt.torch.backend(engine="eager", effort=0.1), dynamic=False)
    assert all(map(torch.equal, torch.autograd.grad(run(images), weights), expected))
    assert ckpt.torch.measure(lambda: torch.autograd.grad(run(images), weights)).peak_bytes < 0.95 * kept
