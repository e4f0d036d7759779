"""ATen operations that torch-mlir has no linalg form for, in others that have one."""

import torch

from ...errors import UnsupportedStep

aten = torch.ops.aten


def squeezed(x: torch.Tensor, dimensions: list[int]) -> torch.Tensor:
    """aten.squeeze.dims: torch-mlir knows only the form with one dimension."""
    single = {dimension % x.ndim for dimension in dimensions if x.shape[dimension] == 1}
    return x.view([size for i, size in enumerate(x.shape) if i not in single])


def embedding_gradient(
    gradient: torch.Tensor, indices: torch.Tensor, count: int, padding: int, by_frequency: bool
) -> torch.Tensor:
    """The gradient of a table as a product with the rows that each place looked up."""
    if by_frequency:
        raise UnsupportedStep("an embedding that scales its gradient by frequency is not supported")
    rows = torch.arange(count, device=indices.device)[:, None]
    looked_up = (rows == indices.reshape(1, -1)) & (rows != padding)
    return looked_up.to(gradient.dtype) @ gradient.reshape(-1, gradient.shape[-1])


def scattered(x: torch.Tensor, dimension: int, index: torch.Tensor, value: float | torch.Tensor) -> torch.Tensor:
    """A scatter of one number along a dimension, such as the gradient of labels' logits: elementwise."""
    expected = [1 if i == dimension % x.ndim else size for i, size in enumerate(x.shape)]
    if list(index.shape) != expected:
        raise UnsupportedStep(f"expected a scatter of one number along dimension {dimension}, but got {list(index.shape)}")
    places = torch.arange(x.shape[dimension], device=x.device)
    places = places.reshape([-1 if i == dimension % x.ndim else 1 for i in range(x.ndim)])
    return torch.where(places == index, value, x)


def shifted(x: torch.Tensor, count: int) -> torch.Tensor:
    """aten.__rshift__.Scalar, by a tensor."""
    return torch.bitwise_right_shift(x, torch.full_like(x, count))


def power(x: torch.Tensor, exponent: float) -> torch.Tensor:
    """aten.pow.Tensor_Scalar, by multiplication where the exponent is a small whole number."""
    if exponent in (1, 2, 3, 4):
        result = x
        for _ in range(int(exponent) - 1):
            result = result * x
        return result
    return torch.pow(x, torch.full_like(x, exponent))


OWN = {
    aten.__rshift__.Scalar: shifted,
    aten.embedding_dense_backward.default: embedding_gradient,
    aten.pow.Tensor_Scalar: power,
    aten.scatter.src: scattered,
    aten.scatter.value: scattered,
    aten.squeeze.dims: squeezed,
}
