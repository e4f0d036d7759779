"""Training steps of torchvision's and Hugging Face's models, for scripts/compare-torch.

`training_step(NAME, dtype)` gives a step with its example arguments. Weights are random: nothing is downloaded.
"""

import torch
import torch.nn.functional as F
from torch.func import functional_call

IMAGES, TOKENS = (4, 3, 224, 224), (2, 256)


def vision(name):
    import torchvision

    model = getattr(torchvision.models, name)(weights=None)
    images, labels = torch.randn(IMAGES), torch.randint(0, 1000, IMAGES[:1])
    return model, (images, labels), lambda predict, images, labels: F.cross_entropy(predict(images), labels)


def language(model):
    def loss(predict, tokens):
        logits = predict(input_ids=tokens, use_cache=False).logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())

    return model, (torch.randint(0, model.config.vocab_size, TOKENS),), loss


def gpt2():
    import transformers

    return language(transformers.GPT2LMHeadModel(transformers.GPT2Config(resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)))


MODELS = {
    "resnet50": lambda: vision("resnet50"),
    "vit_b_16": lambda: vision("vit_b_16"),
    "convnext_tiny": lambda: vision("convnext_tiny"),
    "mobilenet_v2": lambda: vision("mobilenet_v2"),
    "gpt2": gpt2,
}


def training_step(name, dtype=torch.float32):
    """A step of gradient descent, and arguments for it whose numbers do not depend on `dtype`."""
    torch.manual_seed(0)
    model, inputs, loss_of = MODELS[name]()
    model.train().to(dtype)
    inputs = tuple(each.to(dtype) if each.is_floating_point() else each for each in inputs)

    def step(weights, buffers, seed, inputs):
        weights = {name: weight.detach().requires_grad_() for name, weight in weights.items()}
        buffers = dict(buffers)
        loss = loss_of(lambda *rest, **named: functional_call(model, (weights, buffers), rest, named), *inputs)
        gradients = torch.autograd.grad(loss, list(weights.values()))
        return loss, {name: weights[name] - 0.1 * each for name, each in zip(weights, gradients)}, buffers

    return step, (dict(model.named_parameters()), dict(model.named_buffers()), torch.tensor(7), inputs)
