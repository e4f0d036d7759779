"""Training steps in PyTorch: dropout, batch normalization whose buffers are results, SGD; a transformer with Adam."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(0)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.drop, self.head = nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Dropout(0.25), nn.Linear(16, 4)
        self.h = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def forward(self, x):
        x = F.relu(self.first(x))
        for layer in self.h:
            x = x + torch.tanh(self.drop(layer(x)))
        return self.head(self.norm(x))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln1, self.ln2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x, mask):
        batch, length, width = x.shape
        parts = self.qkv(self.ln1(x)).split(width, -1)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5 + mask, -1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class Transformer(nn.Module):
    def __init__(self, vocabulary=20, width=8, length=6):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.h, self.norm = nn.ModuleList(Block(width, 2) for _ in range(2)), nn.LayerNorm(width)
        self.register_buffer("mask", torch.full((length, length), -1e30).triu(1))

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe.weight
        for block in self.h:
            x = block(x, self.mask)
        logits = F.linear(self.norm(x), self.wte.weight)[:, :-1]
        return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


classifier, transformer = Classifier(), Transformer()


def gradients_of(loss_of, weights):
    weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
    loss = loss_of(weights)
    return loss, dict(zip(weights, torch.autograd.grad(loss, list(weights.values()))))


def classifier_step(weights, buffers, seed, x, labels):
    buffers = dict(buffers)
    loss_of = lambda weights: F.cross_entropy(functional_call(classifier, (weights, buffers), (x,)), labels)
    loss, gradients = gradients_of(loss_of, weights)
    return loss, {name: weight - 0.1 * gradients[name] for name, weight in weights.items()}, buffers


def classifier_arguments():
    weights, buffers = dict(classifier.named_parameters()), dict(classifier.named_buffers())
    return weights, buffers, torch.tensor(7), torch.randn(8, 8), torch.randint(0, 4, (8,))


def unseeded_step(weights, buffers, number, x, labels):
    return classifier_step(weights, buffers, number, x, labels)


def adam_step(weights, means, squares, count, tokens):
    loss, gradients = gradients_of(lambda weights: functional_call(transformer, weights, (tokens,)), weights)
    count = count + 1
    means = {name: 0.9 * means[name] + 0.1 * gradients[name] for name in weights}
    squares = {name: 0.999 * squares[name] + 0.001 * gradients[name] ** 2 for name in weights}
    rate = 1e-3 * torch.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    weights = {name: weights[name] - rate * means[name] / (torch.sqrt(squares[name]) + 1e-8) for name in weights}
    return loss, weights, means, squares, count


def adam_arguments():
    weights = dict(transformer.named_parameters())
    zeros = lambda: {name: torch.zeros_like(weight) for name, weight in weights.items()}
    return weights, zeros(), zeros(), torch.tensor(1.0), torch.randint(0, 20, (2, 6))


def optimizer_step(weights, means, squares, count, tokens):
    """The optimizer of PyTorch, with its state as arguments; libraries that ask for numbers unless they are compiled."""
    loss_of = lambda weights: functional_call(transformer, weights, (tokens,))
    assert torch.compiler.is_compiling() or weights["norm.bias"].isfinite().all()
    gradients, loss = torch.func.grad_and_value(loss_of)(weights)
    parameters = {name: nn.Parameter(weight.detach().clone()) for name, weight in weights.items()}
    optimizer = torch.optim.AdamW(parameters.values(), lr=1e-3, eps=1e-4)
    for name, parameter in parameters.items():
        parameter.grad = gradients[name]
        optimizer.state[parameter] = {"step": count.clone(), "exp_avg": means[name].clone(), "exp_avg_sq": squares[name].clone()}
    optimizer.step()
    state = [optimizer.state[parameter] for parameter in parameters.values()]
    return loss, parameters, [each["exp_avg"] for each in state], [each["exp_avg_sq"] for each in state], state[0]["step"]


def module_step(model, optimizer, tokens):
    """A module and an optimizer as arguments, which the step changes."""
    optimizer.zero_grad()
    loss = model(tokens)
    loss.backward()
    optimizer.step()
    return loss


def module_arguments():
    optimizer = torch.optim.SGD(transformer.parameters(), lr=0.1, momentum=0.9)
    for parameter in transformer.parameters():
        optimizer.state[parameter]["momentum_buffer"] = torch.ones_like(parameter)
    return transformer, optimizer, torch.randint(0, 20, (2, 6))


def half_step(weights, tokens):
    loss, gradients = gradients_of(lambda weights: functional_call(transformer, weights, (tokens,)), weights)
    return loss, {name: weight - 0.125 * gradients[name] for name, weight in weights.items()}


def half_arguments():
    weights = {name: weight.bfloat16() for name, weight in [*transformer.named_parameters(), *transformer.named_buffers()]}
    return weights, torch.randint(0, 20, (2, 6))


def number_step(weights, tokens):
    return round(weights["norm.bias"][0].item()) * weights["norm.bias"]
