"""Turns a training step written in PyTorch into a file that ckpt-opt and ckpt-runner read.

The step is a function of tensors, beside example arguments: forward pass, gradients (torch.autograd.grad
or torch.func) and update. Weights are arguments, by torch.func.functional_call.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as pytree

from ...errors import ArrayError, UnsupportedStep
from .complex import parts_of
from .lowering import lower
from .places import place_of_function
from .tracing import Draws, trace

BITS = {1: torch.uint8, 2: torch.uint16}


class TorchStep:
    """A step and its example arguments, traced to one graph of ATen operations."""

    def __init__(self, step: Callable, example: tuple):
        self.step, self.example = step, example
        self.leaves, self.tree = pytree.tree_flatten(example)
        if not all(isinstance(leaf, torch.Tensor) for leaf in self.leaves):
            raise UnsupportedStep("expected arguments that are tensors; what is none belongs to the step")
        self.seed = seed_of(step, example)
        self.graph = trace(self.on_leaves, self.leaves)

    def on_leaves(self, *leaves: torch.Tensor) -> list[torch.Tensor]:
        """The step on flat arguments, with its tensors alone as results."""
        # What a step changes in place, such as running statistics, are not the arguments themselves.
        own = [leaf.detach().clone() for leaf in leaves]
        results, self.result_tree = pytree.tree_flatten(self.step(*pytree.tree_unflatten(own, self.tree)))
        self.fixed = [None if isinstance(result, torch.Tensor) else (result,) for result in results]
        tensors = [result.detach() for result in results if isinstance(result, torch.Tensor)]
        self.result_types = [result.dtype for result in tensors]
        return tensors

    def flatten(self, arguments: tuple) -> list[Any]:
        """The tensors of a call, in the order of the file's arguments."""
        leaves, tree = pytree.tree_flatten(arguments)
        if tree != self.tree:
            raise ArrayError(f"expected arguments as in the example, {self.tree}, but got {tree}")
        for leaf, example in zip(leaves, self.leaves):
            if example.is_complex() and not torch.as_tensor(leaf).is_complex():
                raise ArrayError(f"expected an argument of {example.dtype}, but got {leaf.dtype}")
        return [part for leaf in leaves for part in parts_of(leaf)]

    def unflatten(self, results: list[Any]) -> Any:
        """The return value of a call; a result that is no tensor is the one of the trace."""
        given, types = iter(results), iter(self.result_types)
        made = [joined(given, next(types)) if one is None else one[0] for one in self.fixed]
        return pytree.tree_unflatten(made, self.result_tree)

    def draws(self, leaves: list[Any]) -> Draws:
        """Runs the graph with random numbers from the argument that is called seed."""
        number = next((i for i, leaf in enumerate(self.leaves) if leaf is self.seed), None)
        return Draws(self.graph, None if number is None else leaves[number])

    def export(self) -> str:
        """The step as text in upstream MLIR dialects."""
        run = lambda *leaves: self.draws(list(leaves)).run(*leaves)
        names = [name for name, leaf in zip(names_of(self.step, self.example), self.leaves) for name in names_of_parts(name, leaf)]
        return lower(run, self.leaves, self.result_types, names, place_of_function(self.step))

    def inputs(self) -> list[np.ndarray]:
        return [numpy_of(part) for leaf in self.leaves for part in parts_of(leaf)]

    def expected(self) -> list[np.ndarray]:
        """What PyTorch computes, with random numbers from the seed."""
        results = self.draws(self.leaves).run(*[leaf.detach().clone() for leaf in self.leaves])
        return [numpy_of(part) for result in results for part in parts_of(result)]


def numpy_of(tensor: torch.Tensor) -> np.ndarray:
    """The elements for NumPy, which lacks bf16 and floats of 8 bits: the files hold their bits."""
    tensor = tensor.detach().resolve_neg()
    is_known = not tensor.is_floating_point() or tensor.dtype in (torch.float16, torch.float32, torch.float64)
    return (tensor if is_known else tensor.contiguous().view(BITS[tensor.itemsize])).numpy()


def joined(given: Iterator[torch.Tensor], dtype: torch.dtype) -> torch.Tensor:
    """The next result of a type: a complex one has two parts, and the types of a file do not tell unsigned integers apart."""
    if dtype.is_complex:
        return torch.complex(next(given), next(given))
    result = next(given)
    return result if result.dtype == dtype else result.view(dtype)


def names_of(step: Callable, example: tuple) -> list[str]:
    """The tensors of the arguments as the step's code names them, such as `weights['h.0.qkv']`."""
    try:
        parameters = list(inspect.signature(step).bind(*example).arguments)
    except (TypeError, ValueError):
        parameters = []
    named = parameters if len(parameters) == len(example) else [f"argument {i}" for i in range(len(example))]
    paths = [(name, path) for name, argument in zip(named, example) for path, _ in pytree.tree_flatten_with_path(argument)[0]]
    return [name + pytree.keystr(path) for name, path in paths]


def names_of_parts(name: str, leaf: torch.Tensor) -> list[str]:
    return [f"{name}.real", f"{name}.imag"] if leaf.is_complex() else [name]


def seed_of(step: Callable, example: tuple) -> torch.Tensor | None:
    """The argument that is called seed; functions of PyTorch itself have no names."""
    try:
        names = list(inspect.signature(step).parameters)
    except ValueError:
        return None
    return example[names.index("seed")] if "seed" in names else None
