"""Random numbers as functions of a seed that is an argument: computed again, they are the same, bit by bit."""

import math

import torch

LOW = 0xFFFFFFFF


def bits(seed: torch.Tensor, draw: int, shape: torch.Size) -> torch.Tensor:
    """32 random bits for each element, as int64: the finalizer of MurmurHash3 over seed, draw and place."""
    place = torch.arange(math.prod(shape), dtype=torch.int64, device=seed.device).reshape(shape)
    start = mixed((seed.to(torch.int64) + draw * 0x632BE5AB) & LOW)
    return mixed(mixed(place * 0x9E3779B1 & LOW) ^ start)


def mixed(number: torch.Tensor) -> torch.Tensor:
    number = (number ^ (number >> 16)) * 0x85EBCA6B & LOW
    number = (number ^ (number >> 13)) * 0xC2B2AE35 & LOW
    return number ^ (number >> 16)


def kept(seed: torch.Tensor, draw: int, shape: torch.Size, probability: float) -> torch.Tensor:
    """For each element whether a number drawn from [0, 1) is below a probability."""
    return bits(seed, draw, shape) < int(probability * 2**32)
