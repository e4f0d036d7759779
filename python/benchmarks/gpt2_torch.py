"""GPT-2 in plain PyTorch, with the weights of gpt2_sizes.py, for gpu_rows.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from gpt2_sizes import Size, make_tokens, make_weights
from torch import nn


def _parameter(values: Any) -> nn.Parameter:
    return nn.Parameter(torch.from_numpy(values.T.copy()))


class Dense(nn.Module):
    def __init__(self, weights: Any) -> None:
        super().__init__()
        self.weight, self.bias = _parameter(weights["kernel"]), _parameter(weights["bias"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.weight, self.bias)


class Norm(nn.Module):
    def __init__(self, weights: Any) -> None:
        super().__init__()
        self.weight, self.bias = _parameter(weights["scale"]), _parameter(weights["bias"])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Block(nn.Module):
    def __init__(self, weights: Any, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = Norm(weights["norm_1"]), Norm(weights["norm_2"])
        self.qkv, self.out, self.up, self.down = (Dense(weights[name]) for name in ("qkv", "out", "up", "down"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(self.norm_1(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class GPT2(nn.Module):
    """Returns the loss of tokens. `narrow`: under `torch.autocast` to bfloat16."""

    def __init__(self, size: Size, narrow: bool) -> None:
        super().__init__()
        weights = make_weights(size)
        self.narrow = narrow
        self.tokens, self.places = (nn.Parameter(torch.from_numpy(weights[name])) for name in ("tokens", "places"))
        self.blocks = nn.ModuleList(Block(each, size.heads) for each in weights["blocks"])
        self.norm = Norm(weights["norm"])

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=self.narrow):
            x = F.embedding(tokens, self.tokens) + self.places
            for block in self.blocks:
                x = block(x)
            logits = F.linear(self.norm(x), self.tokens)
            # A class of -100 does not count: the last logits of a sequence have no token to predict.
            classes = F.pad(tokens[:, 1:], (0, 1), value=-100)
            return F.cross_entropy(logits.flatten(0, 1).float(), classes.flatten())


def make(size: Size, narrow: bool = False) -> tuple[nn.Module, tuple[torch.Tensor]]:
    return GPT2(size, narrow), (torch.from_numpy(make_tokens(size)).long(),)
