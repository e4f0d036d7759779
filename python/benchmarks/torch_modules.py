"""Modules of other projects, and a step of gradient descent of each, for compiled_rows.py.

A module returns the loss of its batch. Weights are random, and nothing is dropped out. The packages
are transformers, timm, vit-pytorch, x-transformers and diffusers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from gpt2_sizes import RATE, SIZES, Size

Made = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]


class LanguageModel(torch.nn.Module):
    """GPT-2 of Hugging Face; `forward` is the loss of tokens."""

    def __init__(self, size: Size) -> None:
        import transformers

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
        self.model = transformers.GPT2LMHeadModel(config)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits = self.model(input_ids=tokens, use_cache=False).logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


class Classifier(torch.nn.Module):
    """A classifier of images with its loss."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.model(images), labels)


def _classified(model: torch.nn.Module, batch: int, extent: int) -> Made:
    return Classifier(model), (torch.randn(batch, 3, extent, extent), torch.arange(batch) % 10)


def _timm(name: str, batch: int, extent: int, **options: Any) -> Made:
    import timm

    return _classified(timm.create_model(name, num_classes=10, **options), batch, extent)


def _simple_vit() -> Made:
    from vit_pytorch import SimpleViT

    return _classified(SimpleViT(image_size=128, patch_size=16, num_classes=10, dim=256, depth=6, heads=4, mlp_dim=1024), 8, 128)


def _decoder() -> Made:
    """The model of x-transformers with rotary positions, gated layers and its own loss."""
    from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper

    layers = Decoder(dim=256, depth=6, heads=4, rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)
    module = AutoregressiveWrapper(TransformerWrapper(num_tokens=4096, max_seq_len=256, attn_layers=layers))
    return module, (torch.randint(0, 4096, (2, 257)),)


class Denoiser(torch.nn.Module):
    """The U-Net of diffusers with its loss."""

    def __init__(self) -> None:
        super().__init__()
        from diffusers import UNet2DModel

        self.model = UNet2DModel(
            sample_size=32,
            block_out_channels=(32, 64, 64),
            down_block_types=("DownBlock2D", "AttnDownBlock2D", "DownBlock2D"),
            up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D"),
            norm_num_groups=8,
            layers_per_block=1,
        )

    def forward(self, images: torch.Tensor, times: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(self.model(images, times).sample, noise)


def _denoiser() -> Made:
    return Denoiser(), (torch.randn(4, 3, 32, 32), torch.tensor([1, 50, 300, 900]), torch.randn(4, 3, 32, 32))


def _gpt2(size: Size) -> Made:
    return LanguageModel(size), (torch.randint(0, size.vocabulary, (size.batch, size.length)),)


MODULES: dict[str, Callable[[], Made]] = {
    **{name: functools.partial(_gpt2, size) for name, size in SIZES.items()},
    "timm-vit": functools.partial(_timm, "vit_tiny_patch16_224", 8, 128, img_size=128),
    "timm-convnext": functools.partial(_timm, "convnext_atto", 8, 128),
    "timm-resnet": functools.partial(_timm, "resnet14t", 8, 128),
    "simple-vit": _simple_vit,
    "x-transformers": _decoder,
    "diffusers-unet": _denoiser,
}


def make(name: str) -> Made:
    """A module in training, and its batch."""
    torch.manual_seed(0)
    module, batch = MODULES[name]()
    return module.train(), batch


def optimizer_of(module: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(module.parameters(), lr=RATE)


def train(module: torch.nn.Module, optimizer: torch.optim.Optimizer, *batch: torch.Tensor) -> torch.Tensor:
    """One step; returns the loss."""
    optimizer.zero_grad()
    loss = module(*batch)
    loss.backward()
    optimizer.step()
    return loss.detach()
