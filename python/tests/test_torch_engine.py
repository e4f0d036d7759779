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
    from compiled_rows import ours
    from gpt2_sizes import SIZES
    from gpt2_torch import make

    _, step, (weights, tokens) = make(SIZES["gpt2-tiny"])
    loss, updated = step(weights, tokens)

    def distance(results):
        pairs = zip([results[0], *results[1].values()], [loss, *updated.values()], strict=True)
        return max(float((mine - theirs.detach()).abs().max()) for mine, theirs in pairs)

    whole, half = ours(step, (weights, tokens), [None, "50%"], distance)
    assert half.temporary <= whole.temporary / 2
    assert max(whole.difference, half.difference) < 1e-5
