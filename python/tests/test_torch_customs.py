"""Operations of torch.library, defined by users and by Hugging Face, in the engine of the project."""

import importlib.util

import numpy as np
import pytest
import torch

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)


@torch.library.custom_op("ckpt_tests::wave", mutates_args=())
def wave(x: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.sin(x) * factor * torch.tensor([1.0, 2, 3])


@torch.library.custom_op("ckpt_tests::wave_gradient", mutates_args=())
def wave_gradient(x: torch.Tensor, gradient: torch.Tensor, factor: float) -> torch.Tensor:
    return torch.cos(x) * factor * torch.tensor([1.0, 2, 3]) * gradient


@torch.library.custom_op("ckpt_tests::parts", mutates_args=())
def parts(x: torch.Tensor, *, count: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    return wave(x, 2.0), x[:count].clone()


@torch.library.custom_op("ckpt_tests::updated", mutates_args=("weight", "momentum"))
def updated(weight: torch.Tensor, momentum: torch.Tensor, gradient: torch.Tensor, rate: float) -> None:
    momentum.mul_(0.9).add_(gradient)
    weight.sub_(rate * momentum)


@torch.library.custom_op("ckpt_tests::by_numpy", mutates_args=())
def by_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.numpy()))


@torch.library.custom_op("ckpt_tests::filled_by_numpy", mutates_args=("x",))
def filled_by_numpy(x: torch.Tensor) -> None:
    x.numpy()[:] = 2


wave.register_fake(lambda x, factor: torch.empty_like(x))
wave_gradient.register_fake(lambda x, gradient, factor: torch.empty_like(x))
parts.register_fake(lambda x, *, count=1: (torch.empty_like(x), x.new_empty(count, *x.shape[1:])))
by_numpy.register_fake(torch.empty_like)


def saved(ctx, inputs, output):
    ctx.save_for_backward(inputs[0])
    ctx.factor = inputs[1]


wave.register_autograd(lambda ctx, gradient: (wave_gradient(*ctx.saved_tensors, gradient, ctx.factor), None), setup_context=saved)


def differentiated(x):
    x = x.detach().requires_grad_()
    result = wave(x, 0.5)
    return result.detach(), *torch.autograd.grad((result * result).sum(), x)


def nested(x):
    whole, part = parts(x, count=2)
    return 2 * whole, part


def trained(weight, momentum, x):
    weight, momentum = weight.clone(), momentum.clone()
    updated(weight, momentum, x.cos(), 0.1)
    return weight, momentum


@pytest.mark.parametrize("step, count", [(differentiated, 1), (nested, 1), (trained, 3)])
def test_an_operation_becomes_its_body(step, count):
    arguments = torch.randn(count, 4, 3).unbind()
    results = ckpt.compile(step, *arguments, time_limit=0)(*arguments)
    for ours, theirs in zip(results, step(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_bodies_outside_of_pytorch_are_refused_at_their_operations():
    def changed(x):
        x = x.clone()
        filled_by_numpy(x)
        return x

    with pytest.raises(ckpt.UnsupportedStep, match=r"no linalg form:\n  ckpt_tests.by_numpy.default \(.*test_torch_customs.py:\d+\)"):
        ckpt.compile(lambda x: 2 * by_numpy(x), torch.randn(3))
    with pytest.raises(ckpt.UnsupportedStep, match=r"filled_by_numpy.default \(.*test_torch_customs.py:\d+\) changes its operands by a body"):
        ckpt.compile(changed, torch.randn(3))


@pytest.mark.parametrize("ends", [[3, 3, 8], [0, 1, 1, 6, 6, 7]])
def test_mixtures_of_experts_of_hugging_face(ends):
    pytest.importorskip("transformers.integrations.moe")
    operations = torch.ops.transformers
    ends = torch.tensor(ends, dtype=torch.int32)

    def step(rows, weights):
        rows, weights = rows.detach().requires_grad_(), weights.detach().requires_grad_()
        result = operations.grouped_mm_fallback(rows, weights, ends)
        return result.detach(), *torch.autograd.grad(result.tanh().sum(), [rows, weights])

    arguments = torch.randn(8, 4), torch.randn(len(ends), 4, 5)
    for ours, theirs in zip(ckpt.compile(step, *arguments, time_limit=0)(*arguments), step(*arguments), strict=True):
        torch.testing.assert_close(ours, theirs)
