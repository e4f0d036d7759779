"""Complex numbers in steps of PyTorch: values and gradients of PyTorch itself are the oracle."""

import importlib.util
import inspect

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import fft

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)

TOLERANCE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-10, "atol": 1e-11}}
PAIRS = torch.tensor([[0, 1], [2, 3], [1, 1], [5, 4]])


def agree(functions, x):
    """Values and gradients of functions of a tensor, in one step each."""

    def step(x):
        results = []
        for function in functions:
            x = x.detach().requires_grad_()
            result = function(x)
            flat = torch.view_as_real(result.resolve_conj()) if result.is_complex() else result
            results += [result, *torch.autograd.grad(flat.tanh().sum(), [x])]
        return results

    ours, theirs = ckpt.compile(step, x, time_limit=0)(x), step(x)
    for mine, wanted in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, wanted.detach().resolve_conj(), **TOLERANCE[x.dtype])


def of(x):
    return torch.complex(x, 2 * x.flip(0))


def stored(z, place, value):
    changed = z.clone()
    changed[place] = value
    return changed


def doubled_real(z):
    changed = z.clone()
    changed.real.mul_(2)
    return changed


KINDS = {
    "arithmetic": [
        lambda x: of(x) * of(x).conj() * (1 - 2j) * 2 * x,
        lambda x: of(x) / (of(x) + 3) / (2 + 1j) / x.exp(),
        lambda x: (1 + 2j) / of(x) + of(x).reciprocal() - (1 - of(x)),
        lambda x: torch.add(of(x), of(x).conj(), alpha=2 - 1j) + torch.sub(of(x), x, alpha=2),
        lambda x: of(x) ** 3 + of(x) ** -1 + of(x).square(),
        lambda x: (of(x) == of(x).conj()) * x + (of(x) != 1),
        lambda x: of(x).real + of(x).conj().imag,
    ],
    "functions": [
        lambda x: of(x).abs() * of(x).angle() + torch.angle(x),
        lambda x: of(x).sgn() + of(x).exp(),
        lambda x: of(x).log() + of(x).sqrt() + of(x) ** 1.3,
        lambda x: of(x).sin() * of(x).cos() + of(x).tan() + of(x).rsqrt() + of(x).exp2(),
        lambda x: of(x).log2() * of(x).log10() + of(x).var(0) + of(x).std() + torch.isinf(of(x)),
        lambda x: torch.sigmoid(of(x)) + of(x).tanh() + of(x).sinh() / of(x).cosh(),
        lambda x: torch.polar(x.abs(), x),
        lambda x: F.relu(of(x).abs() - 0.3) * torch.exp(1j * of(x).angle()),
    ],
    "products": [
        lambda x: of(x) @ of(x).mH,
        lambda x: torch.einsum("bi,bij->bj", of(x), of(x).reshape(4, 6, 1).expand(4, 6, 5)),
        lambda x: of(x) @ of(x)[0] + torch.vdot(of(x)[0], of(x)[1]) + torch.dot(of(x)[0], of(x)[1]),
        lambda x: torch.addmm(of(x)[:, :4], of(x), of(x).mT, beta=0.5, alpha=2 + 1j),
        lambda x: F.linear(of(x), of(x)[:3], of(x)[0, :3]),
        lambda x: F.conv1d(of(x)[None], of(x)[:2, :3, None].expand(2, 3, 4).mT),
        lambda x: of(x).sum(0) * of(x).mean() + of(x).cumsum(1),
        lambda x: of(x).norm() + torch.linalg.vector_norm(of(x), 1, dim=1),
    ],
    "places": [
        lambda x: torch.where(x > 0, of(x), 1j) + of(x).masked_fill(x > 0, 2j),
        lambda x: torch.cat([of(x), x.to(of(x).dtype)], 1).roll(3, 1),
        lambda x: of(x).T.reshape(3, 8).unsqueeze(1).expand(3, 2, 8).flip(0),
        lambda x: F.pad(of(x), (1, 2), value=1.5),
        lambda x: of(x)[:, [0, 2, 2]] + of(x).split(3, 1)[1],
        lambda x: of(x).gather(1, PAIRS) + of(x).new_zeros(4, 6).scatter_add(1, PAIRS, of(x)[:, :2])[:, :2],
        lambda x: stored(torch.zeros_like(of(x)), (slice(1), slice(2, 4)), of(x)[:1, :2]),
        lambda x: stored(of(x), (slice(None), [0, 2]), of(x)[:, :2]) + stored(of(x), 0, 1 + 2j),
        lambda x: doubled_real(of(x)).tril() + torch.full_like(of(x), 1j),
        lambda x: torch.view_as_complex(x.reshape(4, 3, 2)),
    ],
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients(kind):
    torch.manual_seed(0)
    agree(KINDS[kind], torch.randn(4, 6, dtype=torch.float64))


@pytest.mark.parametrize("length, dtype", [(n, torch.float64) for n in (1, 2, 8, 12, 15, 17, 30, 97)] + [(40, torch.float32)])
def test_transforms(length, dtype):
    torch.manual_seed(0)
    half = lambda x: of(x)[:, : length // 2 + 1]
    functions = [
        fft.fft,
        lambda x: fft.fft(x[0]),
        fft.rfft,
        lambda x: fft.ifft(of(x)),
        lambda x: fft.irfft(half(x), n=length),
        lambda x: fft.hfft(half(x), n=length),
    ]
    agree(functions, torch.randn(3, length, dtype=dtype))


def test_transforms_of_many_dimensions():
    torch.manual_seed(0)
    window = torch.hann_window(8, dtype=torch.float64)
    spectrum = lambda x: torch.stft(x.flatten(), 8, hop_length=2, window=window, return_complex=True)
    functions = [
        lambda x: fft.fft2(x).real,
        lambda x: fft.ifft2(fft.fft2(of(x), norm="ortho") * of(x), norm="forward"),
        lambda x: fft.irfft2(fft.rfft2(x) * of(x)[..., :4], norm="ortho"),
        lambda x: fft.fftshift(fft.fftn(of(x), s=(3, 8), dim=(0, 2))),
        lambda x: fft.irfft(fft.rfft(x, dim=0), dim=0, n=3),
        lambda x: (spectrum(x).abs().square() + 1e-3).log(),
        lambda x: torch.istft(spectrum(x), 8, hop_length=2, window=window),
    ]
    agree(functions, torch.randn(2, 4, 6, dtype=torch.float64))


class SpectralConvolution(torch.nn.Module):
    """A layer of a Fourier neural operator."""

    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.weight = torch.nn.Parameter(torch.randn(2, width, width, modes, modes, dtype=torch.cfloat) / width)
        self.beside = torch.nn.Conv2d(width, width, 1)

    def forward(self, x):
        m, spectrum = self.modes, fft.rfft2(x)
        found = torch.zeros_like(spectrum)
        for weight, rows in zip(self.weight, (slice(m), slice(-m, None))):
            found[:, :, rows, :m] = torch.einsum("bixy,ioxy->boxy", spectrum[:, :, rows, :m], weight)
        return F.gelu(fft.irfft2(found, s=x.shape[-2:]) + self.beside(x))


def adam(weight, gradient, first, second):
    first = 0.9 * first + 0.1 * gradient
    second = 0.999 * second + 0.001 * (gradient * gradient.conj()).real
    return weight - 1e-2 * (first / 0.1) / ((second / 0.001).sqrt() + 1e-8), first, second


def test_a_fourier_neural_operator_within_a_budget():
    torch.manual_seed(0)
    layers = [SpectralConvolution(4, 3) for _ in range(3)]
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 1), *layers, torch.nn.Conv2d(4, 1, 1))

    def step(weights, first, second, x, y):
        weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        loss = F.mse_loss(torch.func.functional_call(model, weights, (x,)), y)
        gradients = torch.autograd.grad(loss, list(weights.values()))
        return loss, {name: adam(w, g, first[name], second[name]) for (name, w), g in zip(weights.items(), gradients)}

    weights = dict(model.named_parameters())
    moments = (
        {name: torch.zeros_like(w) for name, w in weights.items()},
        {name: torch.zeros_like(w.abs()) for name, w in weights.items()},
    )
    arguments = weights, *moments, torch.randn(2, 1, 16, 20), torch.randn(2, 1, 16, 20)
    whole, planned = (ckpt.compile(step, *arguments, budget=budget, time_limit=1) for budget in (None, "80%"))
    assert planned.arena_bytes <= 0.8 * whole.arena_bytes
    flat = lambda results: torch.utils._pytree.tree_leaves(results)
    for ours, within, theirs in zip(flat(whole(*arguments)), flat(planned(*arguments)), flat(step(*arguments)), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-3, atol=1e-5)
        assert torch.equal(ours, within)


def rotated(q, k, turns):
    """Rotary embeddings as the reference code of Llama writes them."""
    as_complex = lambda x: torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    as_real = lambda z: torch.view_as_real(z * turns[None, :, None]).flatten(3)
    return as_real(as_complex(q)).type_as(q), as_real(as_complex(k)).type_as(k)


def test_attention_with_complex_rotary_embeddings():
    torch.manual_seed(0)
    tokens, heads, width = 10, 2, 8
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, width, 2).float() / width)
    turns = torch.polar(torch.ones(tokens, width // 2), torch.outer(torch.arange(tokens).float(), frequencies))

    def step(weights, x):
        weights = [weight.detach().requires_grad_() for weight in weights]
        query, key, value, out = weights
        q, k, v = ((x @ weight).view(3, tokens, heads, width) for weight in (query, key, value))
        q, k = rotated(q, k, turns)
        found = F.scaled_dot_product_attention(*(part.transpose(1, 2) for part in (q, k, v)), is_causal=True)
        loss = (found.transpose(1, 2).flatten(2) @ out).square().mean()
        return loss, [weight - 0.1 * gradient for weight, gradient in zip(weights, torch.autograd.grad(loss, weights))]

    arguments = [torch.randn(16, 16) / 4 for _ in range(4)], torch.randn(3, tokens, 16)
    (loss, updated), (wanted_loss, wanted) = ckpt.compile(step, *arguments, time_limit=0)(*arguments), step(*arguments)
    torch.testing.assert_close(loss, wanted_loss.detach())
    torch.testing.assert_close(updated, [weight.detach() for weight in wanted])


def test_complex_arguments_and_results_are_two_tensors_of_the_file():
    from ckpt.export.torch import TorchStep

    z = torch.randn(3, 4, dtype=torch.cfloat)
    step = lambda z: z * 2j
    exported, compiled = TorchStep(step, (z,)), ckpt.compile(step, z, time_limit=0)
    for pair, whole in ((exported.inputs(), z), (exported.expected(), step(z))):
        np.testing.assert_array_equal(pair[0] + 1j * pair[1], whole.numpy())
    for given in (z, z.conj(), z.numpy()):
        torch.testing.assert_close(compiled(given), step(torch.as_tensor(given)))
    torch.testing.assert_close(compiled(z.real.clone()), step(z.real))


def refused(x):
    return torch.complex(x, x).prod().abs()


def test_refusals_name_the_line():
    line = inspect.getsourcelines(refused)[1] + 1
    with pytest.raises(ckpt.UnsupportedStep, match=rf"aten.prod.default of complex numbers \(.*test_torch_complex.py:{line}\)"):
        ckpt.compile(refused, torch.randn(4))
