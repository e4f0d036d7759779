"""Factorizations, solves and determinants of PyTorch, with their gradients, in the engine of the project."""

import importlib.util

import pytest
import torch
from torch import linalg

import ckpt

if importlib.util.find_spec("torch_mlir") is None:
    pytest.skip("torch-mlir is not installed", allow_module_level=True)

COLUMNS = torch.linspace(-1, 2, 12).reshape(4, 3)


def positive(x):
    return x @ x.mT + torch.eye(x.shape[-1])


# Functions of two matrices of four rows; PyTorch pivots the second one.
KINDS = {
    "determinants": lambda x: linalg.det(x) + linalg.det(x.mT) + linalg.slogdet(x).logabsdet,
    "exponentials": lambda x: torch.matrix_exp(3 * x),
    "factors by Cholesky": lambda x: linalg.cholesky(positive(x)) + linalg.cholesky(positive(x), upper=True),
    "inverse of a factor by Cholesky": lambda x: torch.cholesky_inverse(linalg.cholesky(positive(x))),
    "inverses": lambda x: linalg.inv(x) + linalg.matrix_power(x, -2),
    "likelihoods": lambda x: torch.distributions.MultivariateNormal(x[..., 0], positive(x)).log_prob(COLUMNS[:, 0]),
    "logarithms of determinants": lambda x: torch.logdet(positive(x)),
    "lower and upper factors": lambda x: sum(linalg.lu(x)),
    "orthogonal and upper factors": lambda x: linalg.qr(x[..., :3])[0] @ linalg.qr(x[..., :3, :])[1],
    "products of reflections": lambda x: linalg.householder_product(x[..., :3].tril(-1), 2 / (1 + x[..., :3].tril(-1).square().sum(-2))),
    "solves by both factors": lambda x: linalg.lu_solve(*linalg.lu_factor(x), COLUMNS, adjoint=True),
    "solves by Cholesky": lambda x: torch.cholesky_solve(COLUMNS, linalg.cholesky(positive(x))),
    "solves from the right": lambda x: linalg.solve(x, COLUMNS.mT, left=False),
    "solves of a vector": lambda x: linalg.solve(x, COLUMNS[:, 0]),
    "solves": lambda x: linalg.solve(x, COLUMNS),
    "triangular solves from the right": lambda x: linalg.solve_triangular(positive(x).triu(), COLUMNS.mT, upper=True, left=False),
    "triangular solves": lambda x: linalg.solve_triangular(x.tril(), COLUMNS, upper=False, unitriangular=True),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_gradients(kind):
    def step(x):
        x = x.detach().requires_grad_()
        result = KINDS[kind](x)
        return result, *torch.autograd.grad(result.sin().sum(), [x])

    torch.manual_seed(1)
    x = torch.randn(2, 4, 4)
    for ours, theirs in zip(ckpt.compile(step, x, time_limit=0)(x), step(x), strict=True):
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-3, atol=1e-4)


def test_indefinite_matrices_give_no_numbers():
    x = -torch.eye(3)
    assert ckpt.compile(linalg.cholesky, x, time_limit=0)(x).isnan().any()


def test_large_matrices_are_refused():
    with pytest.raises(ckpt.UnsupportedStep, match="of 65 rows or columns is not supported, at most of 64: compute it outside"):
        ckpt.compile(linalg.inv, torch.eye(65))
