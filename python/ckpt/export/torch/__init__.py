"""Turns a training step written in PyTorch into a file that ckpt-opt and ckpt-runner read.

The step is a function of tensors, beside example arguments: forward pass, gradients (torch.autograd.grad
or torch.func) and update. Weights are arguments, by torch.func.functional_call, or those of a module that is one.
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
from .owners import Owner, Owners
from .places import place_of_function
from .tracing import Draws, keep_changed, trace

BITS = {1: torch.uint8, 2: torch.uint16}

# Numbers that a step takes out of tensors, as a trace has them.
NUMBERS = {torch.SymBool: torch.bool, torch.SymFloat: torch.float64, torch.SymInt: torch.int64}

# Arguments that a trace takes as they are.
CONSTANTS = bool | int | float | str | None | torch.dtype | torch.device


class TorchStep:
    """A step and its example arguments, traced to one graph of ATen operations.

    Attributes:
        owned: by position among the leaves of the arguments, the tensors of modules and optimizers, by their numbers there.
        given: the positions of other tensors.
        leaves: those tensors, and the tensors of modules and optimizers behind them.
        kept: by result of the file behind those of the step, the argument that it is a new value of.
    """

    def __init__(self, step: Callable, example: tuple):
        self.step, self.example = step, example
        leaves, self.tree = pytree.tree_flatten(example)
        self.names = names_of(step, example)
        for name, leaf in zip(self.names, leaves, strict=True):
            if not isinstance(leaf, torch.Tensor | Owner | CONSTANTS):
                kinds = "tensors, modules, optimizers, numbers and strings"
                raise UnsupportedStep(f"expected arguments of {kinds}, but {name} is of {type(leaf)}: let the step close over it")
        self.owners = self.owners_of(leaves)
        numbers = {id(tensor): number for number, tensor in enumerate(self.owners.tensors)}
        tensors = {i: leaf for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)}
        self.owned = {i: numbers[id(tensor)] for i, tensor in tensors.items() if id(tensor) in numbers}
        self.given = [i for i in tensors if i not in self.owned]
        self.leaves = [leaves[i] for i in self.given] + self.owners.tensors
        self.seed = seed_of(step, example)
        self.graph = trace(self.on_leaves, self.leaves)
        self.owners.refuse_kept_state([getattr(self.graph, node.target) for node in self.graph.graph.find_nodes(op="get_attr")])
        changed = keep_changed(self.graph, len(self.result_types))
        self.types = self.result_types + [self.leaves[number].dtype for number in changed]
        arguments = [number for number, leaf in enumerate(self.leaves) for _ in parts_of(leaf)]
        changes = [part for number in changed for part, argument in enumerate(arguments) if argument == number]
        first = sum(2 if dtype.is_complex else 1 for dtype in self.result_types)
        self.kept = dict(enumerate(changes, first))

    def owners_of(self, leaves: list[Any]) -> Owners:
        return Owners([(name, leaf) for name, leaf in zip(self.names, leaves, strict=True) if isinstance(leaf, Owner)])

    def on_leaves(self, *leaves: torch.Tensor) -> list[torch.Tensor]:
        """The step on flat arguments, with its tensors and those of modules and optimizers as results."""
        # The step may change its arguments in place.
        own = [leaf.detach().clone() for leaf in leaves]
        count = len(self.given)
        example = pytree.tree_leaves(self.example)
        places = dict(zip(self.given, own)) | {i: own[count + number] for i, number in self.owned.items()}
        for i in self.given:
            places[i].requires_grad_(example[i].requires_grad)
        arguments = pytree.tree_unflatten([places.get(i, leaf) for i, leaf in enumerate(example)], self.tree)
        with self.owners.holding(own[count:]) as found:
            results, self.result_tree = pytree.tree_flatten(self.step(*arguments))
        found[:0] = self.given_after(arguments)
        self.are_numbers = [type(result) in NUMBERS for result in results]
        results = [torch.full((), result, dtype=NUMBERS[type(result)]) if type(result) in NUMBERS else result for result in results]
        self.fixed = [None if isinstance(result, torch.Tensor) else (result,) for result in results]
        shown = [result.detach() for result in results if isinstance(result, torch.Tensor)]
        self.result_types = [result.dtype for result in shown]
        return shown + [tensor.detach() for tensor in found]

    def given_after(self, arguments: tuple) -> list[torch.Tensor]:
        """The tensors in the places of those that the step was given."""
        leaves, tree = pytree.tree_flatten(arguments)
        if tree != self.tree:
            raise UnsupportedStep("the step changes which values a container among its arguments holds: return them")
        for i, (name, before) in enumerate(zip(self.names, pytree.tree_leaves(self.example), strict=True)):
            now, is_alike = leaves[i], True
            if i in self.given:
                is_alike = isinstance(now, torch.Tensor) and (now.shape, now.dtype) == (before.shape, before.dtype)
            elif isinstance(before, CONSTANTS):
                is_alike = now == before
            if not is_alike:
                raise UnsupportedStep(f"the step puts another kind of value in the place of {name}: return it")
        return [leaves[i] for i in self.given]

    def flatten(self, arguments: tuple) -> list[Any]:
        """The tensors of a call, in the order of the file's arguments."""
        leaves, tree = pytree.tree_flatten(arguments)
        if tree != self.tree:
            raise ArrayError(f"expected arguments as in the example, {self.tree}, but got {tree}")
        for name, leaf, traced in zip(self.names, leaves, pytree.tree_leaves(self.example), strict=True):
            if isinstance(traced, CONSTANTS) and (type(leaf), leaf) != (type(traced), traced):
                given = repr(leaf) if isinstance(leaf, CONSTANTS) else type(leaf).__name__
                raise ArrayError(f"expected {name} to be {traced!r} as in the example, but got {given}: compile it again, or make it a tensor")
        owners = self.owners_of(leaves)
        owners.refuse_unlike(self.owners)
        for i, number in self.owned.items():
            if leaves[i] is not owners.tensors[number]:
                raise ArrayError(f"expected {self.names[i]} to be {owners.names[number]}, as in the example")
        tensors = [leaves[i] for i in self.given] + owners.tensors
        for leaf, example in zip(tensors, self.leaves):
            if example.is_complex() and not torch.as_tensor(leaf).is_complex():
                raise ArrayError(f"expected an argument of {example.dtype}, but got {leaf.dtype}")
        return flat_parts(tensors)

    def unflatten(self, results: list[Any]) -> Any:
        """The return value of a call; a result that is neither a tensor nor a number of one is that of the trace."""
        given, types = iter(results), iter(self.result_types)
        made = [joined(given, next(types)) if one is None else one[0] for one in self.fixed]
        made = [one.item() if is_number else one for one, is_number in zip(made, self.are_numbers)]
        return pytree.tree_unflatten(made, self.result_tree)

    def draws(self, leaves: list[Any]) -> Draws:
        """Runs the graph with random numbers from the argument that is called seed."""
        number = next((i for i, leaf in enumerate(self.leaves) if leaf is self.seed), None)
        return Draws(self.graph, None if number is None else leaves[number])

    def export(self) -> str:
        """The step as text in upstream MLIR dialects."""
        run = lambda *leaves: self.draws(list(leaves)).run(*leaves)
        named = [self.names[i] for i in self.given] + self.owners.names
        names = [part for name, leaf in zip(named, self.leaves) for part in names_of_parts(name, leaf)]
        return lower(run, self.leaves, self.types, names, self.kept, place_of_function(self.step))

    def inputs(self) -> list[np.ndarray]:
        return [numpy_of(part) for part in flat_parts(self.leaves)]

    def expected(self) -> list[np.ndarray]:
        """What PyTorch computes, with random numbers from the seed."""
        results = self.draws(self.leaves).run(*[leaf.detach().clone() for leaf in self.leaves])
        return [numpy_of(part) for part in flat_parts(results)]


def flat_parts(leaves: list[Any]) -> list[Any]:
    return [part for leaf in leaves for part in parts_of(leaf)]


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
    """The leaves of the arguments as the step's code names them, such as `weights['h.0.qkv']`."""
    try:
        parameters = list(inspect.signature(step).bind(*example).arguments)
    except (TypeError, ValueError):
        parameters = []
    named = parameters if len(parameters) == len(example) else [f"argument {i}" for i in range(len(example))]
    paths = [(name, path) for name, argument in zip(named, example) for path, _ in pytree.tree_flatten_with_path(argument)[0]]
    return [name + pytree.keystr(path) for name, path in paths]


def names_of_parts(name: str, leaf: torch.Tensor) -> list[str]:
    return [f"{name}.real", f"{name}.imag"] if leaf.is_complex() else [name]


def seed_of(step: Callable, example: tuple) -> Any:
    """The argument that is called seed; functions of PyTorch itself have no names."""
    try:
        names = list(inspect.signature(step).parameters)
    except ValueError:
        return None
    return example[names.index("seed")] if "seed" in names else None
