"""Random numbers as functions of a seed that is an argument: computed again, they are the same, bit by bit.

`tracing.Draws` replaces the operations in `DRAWN`, which draw from PyTorch's generator, by these.
"""

import math
from collections.abc import Callable
from typing import Any

import torch

aten = torch.ops.aten
LOW = 0xFFFFFFFF
# Bits of a number in [0, 1) that its type holds exactly.
DIGITS = {torch.bfloat16: 8, torch.float16: 11, torch.float32: 24, torch.float64: 53}


def mixed(number: torch.Tensor) -> torch.Tensor:
    """The finalizer of MurmurHash3, on 32 bits."""
    number = (number ^ (number >> 16)) * 0x85EBCA6B & LOW
    number = (number ^ (number >> 13)) * 0xC2B2AE35 & LOW
    return number ^ (number >> 16)


class Source:
    """The random numbers of a step, one draw after the other."""

    def __init__(self, seed: torch.Tensor):
        self.seed, self.draws = seed, 0

    def bits(self, shape: torch.Size) -> torch.Tensor:
        """32 random bits for each element, as int64, from seed, draw and place."""
        self.draws += 1
        place = torch.arange(math.prod(shape), dtype=torch.int64, device=self.seed.device).reshape(shape)
        start = mixed((self.seed.to(torch.int64) + self.draws * 0x632BE5AB) & LOW)
        return mixed(mixed(place * 0x9E3779B1 & LOW) ^ start)

    def kept(self, shape: torch.Size, probability: float) -> torch.Tensor:
        """For each element whether a number drawn from [0, 1) is below a probability."""
        return self.bits(shape) < int(probability * 2**32)

    def uniform(self, like: torch.Tensor, *, is_open: bool = False) -> torch.Tensor:
        """Multiples of a power of two in [0, 1); if open, the middles between them, so neither 0 nor 1."""
        digits = DIGITS[like.dtype] - is_open
        if digits > 32:
            number = (self.bits(like.shape) << 21 | self.bits(like.shape) >> 11) >> 53 - digits
        else:
            number = self.bits(like.shape) >> 32 - digits
        return (number.to(like.dtype) + (0.5 if is_open else 0)) * 2.0**-digits

    def normal(self, like: torch.Tensor) -> torch.Tensor:
        """From the normal distribution: Box and Muller, 1958."""
        wide = torch.empty_like(like, dtype=torch.float64 if like.dtype == torch.float64 else torch.float32)
        radius = torch.sqrt(-2 * torch.log(self.uniform(wide, is_open=True)))
        return (radius * torch.cos(2 * math.pi * self.uniform(wide))).to(like.dtype)

    def integers(self, like: torch.Tensor, low: int, high: int) -> torch.Tensor:
        """Whole numbers from `low` up to but without `high`."""
        count = high - low
        if count <= 1 << 31:
            number = self.bits(like.shape) * count >> 32
        else:
            number = (self.bits(like.shape) << 31 | self.bits(like.shape) >> 1) % count
        return (number + low).to(like.dtype)


def made(source: Source, size: list[int], dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    """An empty tensor of a shape and a type that an operation names."""
    return torch.empty(size, dtype=dtype or torch.get_default_dtype(), device=options.get("device"))


def made_whole(source: Source, size: list[int], dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    return torch.empty(size, dtype=dtype or torch.int64, device=options.get("device"))


def like(source: Source, x: torch.Tensor, dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    return torch.empty_like(x, dtype=dtype)


def shaped(source: Source, *parameters: torch.Tensor | float) -> torch.Tensor:
    """An empty tensor for an element of each pair of parameters."""
    tensors = [each for each in parameters if isinstance(each, torch.Tensor)]
    return torch.empty(torch.broadcast_shapes(*(each.shape for each in tensors)), dtype=tensors[0].dtype, device=tensors[0].device)


def exponential(source: Source, x: torch.Tensor, rate: float = 1) -> torch.Tensor:
    return -torch.log(source.uniform(x, is_open=True)) / rate


def bernoulli(source: Source, x: torch.Tensor, probability: float | torch.Tensor = 0.5) -> torch.Tensor:
    if isinstance(probability, torch.Tensor):
        wide = torch.empty(x.shape, dtype=torch.float32, device=x.device)
        return (source.uniform(wide) < probability).to(x.dtype)
    return source.kept(x.shape, probability).to(x.dtype)


def geometric(source: Source, x: torch.Tensor, probability: float) -> torch.Tensor:
    wide = torch.empty_like(x, dtype=x.dtype if x.is_floating_point() else torch.float32)
    return torch.ceil(torch.log(source.uniform(wide, is_open=True)) / math.log1p(-probability)).to(x.dtype)


def permutation(source: Source, count: int, dtype: torch.dtype | None = None, **options: Any) -> torch.Tensor:
    return torch.argsort(source.bits(torch.Size([count]))).to(dtype or torch.int64)


def multinomial(source: Source, weights: torch.Tensor, count: int, replacement: bool = False) -> torch.Tensor:
    if replacement or count == 1:
        sums = weights.cumsum(-1)
        drawn = source.uniform(weights.new_empty(*weights.shape[:-1], count)) * sums[..., -1:]
        places = (sums.unsqueeze(-2) <= drawn.unsqueeze(-1)).sum(-1)
        return torch.clamp(places, max=weights.shape[-1] - 1)
    # The first of several exponential waiting times whose rates are the weights.
    return torch.topk(weights / exponential(source, weights), count, -1).indices


def leaky(source: Source, x: torch.Tensor, noise: torch.Tensor, low: float = 1 / 8, high: float = 1 / 3, training: bool = False) -> torch.Tensor:
    """aten.rrelu_with_noise, which leaves its factors in `noise`."""
    if not training:
        return torch.where(x > 0, x, x * ((low + high) / 2))
    noise.copy_(torch.where(x > 0, torch.ones_like(x), low + (high - low) * source.uniform(x)))
    return x * noise


def of(shape: Callable[..., torch.Tensor], draw: Callable[[Source, torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """A draw for an operation whose arguments name no parameters of the distribution."""
    return lambda source, *arguments, generator=None, **options: draw(source, shape(source, *arguments, **options))


def scaled(source: Source, x: torch.Tensor, mean: Any = 0, deviation: Any = 1) -> torch.Tensor:
    return source.normal(x) * deviation + mean


def whole(shape: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Whole numbers below a bound, and from another one where there are two: `low` and `high` come first or last."""

    def draw(source: Source, *arguments: Any, generator: Any = None, **options: Any) -> torch.Tensor:
        (target,) = [each for each in arguments if not isinstance(each, int)]
        bounds = [each for each in arguments if isinstance(each, int)]
        return source.integers(shape(source, target, **options), *([0] * (2 - len(bounds))), *bounds)

    return draw


DRAWN: dict[Any, Callable[..., Any]] = {
    aten.bernoulli.default: lambda source, x, **_: bernoulli(source, x, x),
    aten.bernoulli.p: lambda source, x, p, **_: bernoulli(source, x, p),
    aten.bernoulli_.Tensor: lambda source, x, p, **_: bernoulli(source, x, p),
    aten.bernoulli_.float: lambda source, x, p=0.5, **_: bernoulli(source, x, p),
    aten.cauchy_.default: lambda source, x, median=0, width=1, **_: median + width * torch.tan(math.pi * (source.uniform(x, is_open=True) - 0.5)),
    aten.exponential_.default: lambda source, x, rate=1, **_: exponential(source, x, rate),
    aten.geometric_.default: lambda source, x, p, **_: geometric(source, x, p),
    aten.log_normal_.default: lambda source, x, mean=1, deviation=2, **_: torch.exp(scaled(source, x, mean, deviation)),
    aten.multinomial.default: lambda source, x, count, replacement=False, **_: multinomial(source, x, count, replacement),
    aten.normal.Tensor_Tensor: lambda source, mean, deviation, **_: scaled(source, shaped(source, mean, deviation), mean, deviation),
    aten.normal.Tensor_float: lambda source, mean, deviation=1, **_: scaled(source, shaped(source, mean), mean, deviation),
    aten.normal.float_Tensor: lambda source, mean, deviation, **_: scaled(source, shaped(source, deviation), mean, deviation),
    aten.normal.float_float: lambda source, mean, deviation, size, **options: scaled(source, made(source, size, **options), mean, deviation),
    aten.normal_.default: lambda source, x, mean=0, deviation=1, **_: scaled(source, x, mean, deviation),
    aten.normal_functional.default: lambda source, x, mean=0, deviation=1, **_: scaled(source, x, mean, deviation),
    aten.rand.default: of(made, Source.uniform),
    aten.rand_like.default: of(like, Source.uniform),
    aten.randint.default: whole(made_whole),
    aten.randint.low: whole(made_whole),
    aten.randint_like.default: whole(like),
    aten.randint_like.low_dtype: whole(like),
    aten.randn.default: of(made, Source.normal),
    aten.randn_like.default: of(like, Source.normal),
    aten.randperm.default: permutation,
    aten.rrelu_with_noise.default: lambda source, *arguments, **_: leaky(source, *arguments[:5]),
    aten.uniform_.default: lambda source, x, low=0, high=1, **_: low + (high - low) * source.uniform(x),
}
