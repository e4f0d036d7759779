"""GPT-2 of Hugging Face: a module that returns its loss, and a step of gradient descent, for compiled_rows.py."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
import transformers
from gpt2_sizes import RATE, Size
from torch.func import functional_call


class LanguageModel(torch.nn.Module):
    """A model with random weights, without dropout; `forward` is the loss of tokens."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        none = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "bos_token_id": None, "eos_token_id": None}
        config = transformers.GPT2Config(
            n_layer=size.layers,
            n_embd=size.width,
            n_head=size.heads,
            vocab_size=size.vocabulary,
            n_positions=size.length,
            **none,
        )
        self.model = transformers.GPT2LMHeadModel(config).train()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = self.model(input_ids=tokens, use_cache=False).logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


def make(size: Size) -> tuple[torch.nn.Module, Any, tuple[dict[str, torch.Tensor], torch.Tensor]]:
    """Returns `(module, step, arguments)`; the step returns the loss and the new weights."""
    torch.manual_seed(0)
    module = LanguageModel(size)

    def step(weights: dict[str, torch.Tensor], tokens: torch.Tensor) -> Any:
        weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        loss = functional_call(module, weights, (tokens,))
        gradients = torch.autograd.grad(loss, list(weights.values()))
        return loss, {name: weight - RATE * each for (name, weight), each in zip(weights.items(), gradients)}

    tokens = torch.randint(0, size.vocabulary, (size.batch, size.length))
    return module, step, (dict(module.named_parameters()), tokens)
