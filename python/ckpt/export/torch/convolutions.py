"""Gradients of convolutions, as convolutions that torch-mlir has.

torch-mlir has those of one group alone. It makes a gradient of the weight for each image and adds
them up: they stay its own where these take no more elements than the operands.

`decompositions` lists them by the ATen operations that they replace.
"""

from typing import Any

import torch

aten = torch.ops.aten


def widened(x: torch.Tensor, strides: list[int]) -> torch.Tensor:
    """Zeros between the elements of the last dimensions, strides - 1 of them."""
    first = x.ndim - len(strides)
    for i, stride in enumerate(strides, first):
        shape = list(x.shape)
        x = torch.constant_pad_nd(x.unsqueeze(i + 1), [0, 0] * (x.ndim - 1 - i) + [0, stride - 1])
        x = x.reshape(*shape[:i], shape[i] * stride, *shape[i + 1 :]).narrow(i, 0, (shape[i] - 1) * stride + 1)
    return x


def of_groups(x, weight, bias, stride, padding, dilation, transposed, output_padding, groups) -> Any:
    """aten.convolution of volumes in groups, one group after the other: torch-mlir has those of lines and images alone."""
    if groups == 1 or x.ndim < 5:
        return NotImplemented
    parts = zip(x.chunk(groups, 1), weight.chunk(groups), [None] * groups if bias is None else bias.chunk(groups))
    return torch.cat([aten.convolution(*part, stride, padding, dilation, transposed, output_padding, 1) for part in parts], 1)


def gradients(
    gradient, x, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, wanted
) -> Any:
    """The gradients of a convolution, as convolutions."""
    if transposed:
        return transposed_gradients(
            gradient, x, weight, bias_sizes, stride, padding, dilation, output_padding, groups, wanted
        )
    if groups == 1 and x.shape[0] * weight.numel() <= x.numel() + gradient.numel():
        return NotImplemented
    spatial = x.ndim - 2
    outputs, inputs = weight.shape[0] // groups, weight.shape[1]
    kernel, placed = weight.shape[2:], list(range(2, 2 + spatial))
    of_x = of_weight = of_bias = None
    if wanted[0]:
        # From each output to the inputs that it was made of: the kernel reversed, inputs and outputs exchanged.
        flipped = weight.reshape(groups, outputs, inputs, *kernel).transpose(1, 2)
        flipped = flipped.reshape(groups * inputs, outputs, *kernel).flip(placed)
        spread = widened(gradient, stride)
        low = [d * (k - 1) - p for d, k, p in zip(dilation, kernel, padding)]
        high = [n + d * (k - 1) - a - m for n, d, k, a, m in zip(x.shape[2:], dilation, kernel, low, spread.shape[2:])]
        spread = torch.constant_pad_nd(spread, [side for pair in zip(reversed(low), reversed(high)) for side in pair])
        of_x = aten.convolution(spread, flipped, None, [1] * spatial, [0] * spatial, dilation, False, [0] * spatial, groups)
    if wanted[1]:
        # Inputs and batch exchanged: the sum over the batch and all places.
        batch = x.shape[0]
        images = x.reshape(batch, groups, inputs, *x.shape[2:]).permute(2, 1, 0, *range(3, 3 + spatial))
        given = gradient.reshape(batch, groups, outputs, *gradient.shape[2:]).permute(1, 2, 0, *range(3, 3 + spatial))
        images = images.reshape(inputs, groups * batch, *x.shape[2:])
        given = given.reshape(groups * outputs, batch, *gradient.shape[2:])
        of_weight = aten.convolution(images, given, None, dilation, padding, stride, False, [0] * spatial, groups)
        for i, k in zip(placed, kernel):
            of_weight = of_weight.narrow(i, 0, k)
        of_weight = of_weight.transpose(0, 1)
    if wanted[2]:
        of_bias = gradient.sum([0] + placed)
    return of_x, of_weight, of_bias


def transposed_gradients(
    gradient, x, weight, bias_sizes, stride, padding, dilation, output_padding, groups, wanted
) -> Any:
    """A transposed convolution takes its inputs to where a convolution with the same weight takes them from: to more
    places than there are inputs where padding is added to its output."""
    spatial = x.ndim - 2
    placed = range(2, 2 + spatial)
    of_x = of_weight = of_bias = None
    if wanted[0]:
        of_x = aten.convolution(gradient, weight, None, stride, padding, dilation, False, [0] * spatial, groups)
        for i in placed:
            of_x = of_x.narrow(i, 0, x.shape[i])
    if wanted[1]:
        _, of_weight, _ = aten.convolution_backward(
            x, gradient, weight, None, stride, padding, dilation, False, [0] * spatial, groups, [False, True, False]
        )
    if wanted[2]:
        of_bias = gradient.sum([0, *placed])
    return of_x, of_weight, of_bias
