"""Steps of PyTorch in the engine of the project."""

import importlib.util

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
    with pytest.raises(ckpt.ArrayError, match="contiguous"):
        compiled(weights, torch.randn(8, 32).T)


def test_gpt2_of_hugging_face():
    pytest.importorskip("transformers")
    from compiled_rows import flat, ours
    from torch_modules import make

    _, step, arguments = make("gpt2-tiny")
    expected = flat(step(*arguments))

    def distance(results):
        return max(float((mine - theirs.detach()).abs().max()) for mine, theirs in zip(flat(results), expected, strict=True))

    whole, half = ours(step, arguments, [None, "50%"], distance)
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
