"""Operations that torch-mlir has no linalg form for, in two small training steps: images by pooling and
convolutions in groups; tokens by fused attention, cumulative sums, sorting and a mixture of experts."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(0)


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=8)
        self.grouped = nn.Conv2d(8, 12, (3, 2), padding=(2, 0), dilation=(2, 1), groups=4)
        self.head = nn.Linear(12, 5)

    def forward(self, x):
        x = F.max_pool2d(torch.tanh(self.stem(x)), 3, stride=2, padding=1)
        x = F.pad(x, (1, -1))
        x = F.avg_pool2d(x, 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False)
        x = torch.tanh(self.grouped(torch.tanh(self.depthwise(x))))
        x = F.max_pool2d(x, 2, stride=1)
        return self.head(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Tokens(nn.Module):
    def __init__(self, vocabulary=13, width=8, experts=3):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width, padding_idx=2)
        self.qkv, self.route = nn.Linear(width, 3 * width), nn.Linear(width, experts)
        self.experts = nn.Parameter(torch.randn(experts, width, width) * 0.3)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.table(tokens)
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        x = x + torch.cumsum(x, 1) / 40 + torch.sort(x, -1, descending=True).values
        gates, chosen = torch.topk(torch.softmax(self.route(x), -1), 2)
        outputs = torch.einsum("bld,edf->blef", x, self.experts).gather(2, chosen[..., None].expand(-1, -1, -1, x.shape[-1]))
        counts = torch.zeros(x.shape[0], 3).scatter_add(1, chosen.reshape(x.shape[0], -1), torch.ones(x.shape[0], chosen[0].numel()))
        x = x + (outputs * gates[..., None]).sum(2) * (counts / counts.sum(1, keepdim=True)).max(1).values[:, None, None]
        return self.head(x)


images, tokens = Images(), Tokens()


def trained(model, weights, loss_of):
    weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
    loss = loss_of(lambda x: functional_call(model, weights, (x,)))
    gradients = torch.autograd.grad(loss, list(weights.values()))
    return loss, {name: weights[name] - 0.1 * gradient for name, gradient in zip(weights, gradients)}


def image_step(weights, x, labels):
    return trained(images, weights, lambda predict: F.cross_entropy(predict(x), labels))


def image_arguments():
    return dict(images.named_parameters()), torch.randn(2, 3, 39, 41), torch.tensor([1, 4])


def token_step(weights, x):
    return trained(tokens, weights, lambda predict: F.cross_entropy(predict(x)[:, :-1].flatten(0, 1), x[:, 1:].flatten()))


def token_arguments():
    return dict(tokens.named_parameters()), torch.randint(0, 13, (2, 40))


def mode_step(x):
    return torch.mode(x, 0).values


def mode_arguments():
    return (torch.randn(5, 3),)
