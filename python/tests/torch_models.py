"""Small modules of PyTorch, each returning a loss."""

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).split(width, -1)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        return x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))


class GPT(nn.Module):
    def __init__(self, layers=3, width=64, vocabulary=256, dropout=0.0):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.attention = nn.ModuleList(Attention(width, 4) for _ in range(layers))
        self.mlp = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(width),
                nn.Linear(width, 4 * width),
                nn.GELU(),
                nn.Dropout(dropout),
                nn.Linear(4 * width, width),
            )
            for _ in range(layers)
        )

    def forward(self, tokens):
        x = self.embedding(tokens)
        for attention, mlp in zip(self.attention, self.mlp):
            x = attention(x)
            x = x + mlp(x)
        logits = F.linear(x[:, :-1], self.embedding.weight)
        return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


class LlamaBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.RMSNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate, self.up = (nn.Linear(width, 3 * width, bias=False) for _ in range(2))
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).split(width, -1)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5, -1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        normed = self.norms[1](x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Llama(nn.Module):
    """Deep and narrow: the structure of pytorch#197838, where less budget took more memory."""

    def __init__(self, layers=6, width=32, vocabulary=64):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(LlamaBlock(width, 2) for _ in range(layers))

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(F.linear(x[:, :-1], self.embedding.weight).flatten(0, 1), tokens[:, 1:].flatten())


class Cells(nn.Module):
    """A language model of one LSTM cell in a loop: each round adds to the gradients of the weights."""

    def __init__(self, words: int):
        super().__init__()
        self.words, self.cell = nn.Embedding(words, 64), nn.LSTMCell(64, 64)

    def forward(self, tokens):
        state, loss = None, 0
        for now, following in zip(tokens.T, tokens.T[1:]):
            state = self.cell(self.words(now), state)
            loss = loss + F.cross_entropy(state[0] @ self.words.weight.T, following)
        return loss


class Convolutions(nn.Module):
    """Residual blocks with batch norms, whose statistics the forward pass changes."""

    def __init__(self, blocks=4, channels=16):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(inplace=True))
            for _ in range(blocks)
        )

    def forward(self, images):
        x = images
        for block in self.blocks:
            x = x + block(x)
        return (x**2).mean()


def make(name):
    """Returns `(module, arguments)`."""
    torch.manual_seed(0)
    if name == "convolutions":
        return Convolutions(), (torch.randn(8, 16, 24, 24),)
    if name == "llama":
        return Llama(), (torch.randint(0, 64, (4, 64)),)
    tokens = torch.randint(0, 256, (4, 64))
    return GPT(dropout=0.3 if name == "dropout" else 0.0), (tokens,)
