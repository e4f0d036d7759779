"""Turns a training step written in PyTorch into a file that ckpt-opt and ckpt-runner read.

The step is a function of tensors, beside example arguments: forward pass, gradients (torch.autograd.grad
or torch.func) and update. Weights are arguments, by torch.func.functional_call, or those of a module that is one.
"""

import contextlib
import dataclasses
import functools
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
import torch.utils._pytree as pytree

from ...errors import OtherCall, UnsupportedStep
from . import constants
from .closures import Closure
from .complex import parts_of
from .containers import Variable
from .devices import gpus_mean_the_cpu, on_cpu
from .lowering import lower
from .numbers import (
    NUMBERS,
    SYMBOLS,
    ChangedNumbers,
    Symbols,
    can_be_symbol,
    differ,
    is_number,
    is_symbol,
    tensor_of,
)
from .outside import Outside, unseen
from .owners import Owner, Owners, Stage, is_rate, numbers_of
from .places import TRACE, in_words, place_of_function, trace_of_error
from .tracing import Draws, drop_unread, keep_changed, take_outside, trace

BITS = {1: torch.uint8, 2: torch.uint16}

# Arguments that a trace takes as they are.
CONSTANTS = bool | int | float | str | None | torch.dtype | torch.device


@dataclasses.dataclass(frozen=True)
class Call:
    """The leaves of the arguments of a call, the values that the step closes over, the modules and optimizers by the identity of the traced
    ones, their tensors, and variables that hold numbers, by their names."""

    leaves: list[Any]
    closed: dict[str, Any]
    owners: dict[int, Owner]
    tensors: dict[str, torch.Tensor]
    numbers: dict[str, Variable]


@dataclasses.dataclass(frozen=True)
class Argument:
    """A tensor of the step, an argument of the file.

    Attributes:
        find: in a call, the tensor; `None` where a gradient is not set.
        trained: whether the example required a gradient.
        order: of its dimensions in memory, the slowest one first.
    """

    name: str
    example: torch.Tensor
    find: Callable[[Call], torch.Tensor | None]
    trained: bool

    @functools.cached_property
    def order(self) -> list[int]:
        return order_of(self.example)

    def stored(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor with its dimensions in the order of memory."""
        return tensor.permute(self.order)

    def shown(self, stored: torch.Tensor) -> torch.Tensor:
        """The opposite of `stored`."""
        return stored.permute([self.order.index(dimension) for dimension in range(len(self.order))])

    def of(self, tensor: torch.Tensor | None) -> torch.Tensor:
        """The tensor of a call, in the order of memory."""
        if tensor is None:
            raise OtherCall(f"expected {self.name} to be set, as it was when the step was compiled")
        if self.example.is_complex() and not torch.as_tensor(tensor).is_complex():
            raise OtherCall(f"expected {self.name} to be of {self.example.dtype}, but got {tensor.dtype}")
        if not isinstance(tensor, torch.Tensor):
            return tensor
        if tensor.shape != self.example.shape:
            raise OtherCall(f"expected {self.name} of shape {tuple(self.example.shape)}, but got {tuple(tensor.shape)}")
        if tensor.requires_grad != self.trained:
            raise OtherCall(f"expected {self.name} with requires_grad={self.trained}, as in the example, but got {tensor.requires_grad}")
        if not self.stored(tensor).is_contiguous() and order_of(tensor) != self.order:
            raise OtherCall(f"expected {self.name} in memory as in the example, in strides {self.example.stride()}, but got {tensor.stride()}")
        is_permuted = self.order != sorted(self.order)
        return self.stored(tensor.detach()) if is_permuted else tensor


def order_of(tensor: torch.Tensor) -> list[int]:
    """The dimensions of a tensor in the order of its memory, where they are a permutation of those of a contiguous one."""
    rank = range(tensor.dim())
    order = sorted(rank, key=lambda dimension: -tensor.stride(dimension))
    is_dense = not tensor.is_contiguous() and tensor.permute(order).is_contiguous()
    return order if is_dense else list(rank)


class TorchStep:
    """A step and its example arguments, traced to one graph of ATen operations.

    Attributes:
        slots: by position among the leaves of the arguments, the tensors, by their numbers among `arguments`.
        arguments: the tensors that the step was given, those of modules and optimizers among its arguments, and the others that it reads.
        changed: the numbers of arguments that the step changes, in the order of results behind those of the step.
        kept: by result of the file behind those of the step, the argument of the file that it is a new value of.
        own: how many results of the file before those are of gradients and states that the step makes.
    """

    is_of_torch = True

    def __init__(self, step: Callable, example: tuple, earlier: Sequence["TorchStep"] = ()):
        """`earlier` is the step with other examples: numbers that differ from those may differ again."""
        self.step, self.example, self.surroundings = step, example, surroundings()
        self.leaves, self.tree = pytree.tree_flatten(example)
        self.names = names_of(step, example)
        for name, leaf in zip(self.names, self.leaves, strict=True):
            if not isinstance(leaf, torch.Tensor | Owner | CONSTANTS):
                kinds = "tensors, modules, optimizers, numbers and strings"
                raise UnsupportedStep(
                    f"expected arguments of {kinds}, but {name} is of {type(leaf)}: pass its tensors; "
                    "torch.export.register_dataclass makes a container of a dataclass"
                )
        self.closure = Closure(step)
        self.owned = [(name, leaf) for name, leaf in zip(self.names, self.leaves) if isinstance(leaf, Owner)]
        own = {id(tensor): tensor for tensor in Owners(self.owned).held.values()}
        tensors = {i: leaf for i, leaf in enumerate(self.leaves) if isinstance(leaf, torch.Tensor)}
        given = {id(leaf): leaf for leaf in tensors.values() if id(leaf) not in own} | own
        self.slots = {i: list(given).index(id(leaf)) for i, leaf in tensors.items()}
        self.given = list(given.values())
        self.seed = seed_of(step, example)
        self.settle([step.values for step in earlier])

    def numbers_of_arguments(self, leaves: list[Any]) -> dict[str, Variable]:
        """The arguments of a call that were numbers in the example."""
        numbers = {i: f"the argument {self.names[i]}" for i, leaf in enumerate(self.leaves) if is_number(leaf)}
        return {name: Variable(name, functools.partial(leaves.__getitem__, i), None) for i, name in numbers.items()}

    def settle(self, earlier: list[dict[str, Any]]) -> None:
        """Traces the step with numbers as symbols, and again with fewer, where an operation needs them, or more, where the step changes others."""
        closed = [(name, value) for name, value in self.closure.leaves.items() if isinstance(value, Owner)]
        of_owners = {variable.name: variable for each in [*self.owned, *closed] for variable in numbers_of(*each)}
        others = self.numbers_of_arguments(self.leaves) | self.closure.numbers
        self.values = values = {name: variable.read() for name, variable in (of_owners | others).items()}
        free = {name for name in others if type(values[name]) is float} | {name for name in of_owners if is_rate(name, values[name])}
        varying = {name for name, value in values.items() if any(name in each and differ(each[name], value) for each in earlier)} - free
        free |= {name for name in varying if can_be_symbol(values[name])}
        changed: dict[str, torch.dtype] = {}
        while True:
            self.symbols = Symbols(values, {name: NUMBERS[type(values[name])] for name in sorted(free)} | changed)
            try:
                self.trace(closed)
                self.text = self.lowered(is_last=not free)
                return
            except ChangedNumbers as error:
                if not error.types.keys() <= values.keys():
                    raise
                self.stage.release()
                free -= error.types.keys()
                changed |= error.types
            except UnsupportedStep as error:
                cause = error.__cause__
                needed = self.symbols.named_in(cause)
                if needed & changed.keys():
                    place = in_words({TRACE: trace_of_error(cause)})
                    raise UnsupportedStep(
                        f"the step changes {min(needed & changed.keys())}, and Python code needs its number{place}: "
                        "make it a tensor, and use torch.where in place of a branch"
                    ) from cause
                if not free:
                    raise
                self.stage.release()
                free -= needed or varying & free or free

    def trace(self, closed: list[tuple[str, Owner]]) -> None:
        self.outside = Outside()
        self.stage = Stage(self.outside, closed, self.symbols)
        given = len(self.given)
        examples = [*map(on_cpu, self.given), *self.symbols.examples.values()]
        self.graph = trace(self.on_leaves, examples, self.stage)
        take_outside(self.graph, self.outside.read, len(examples))
        changed = keep_changed(self.graph, len(self.result_types), self.dropped_gradients)
        stay = drop_unread(self.graph, {*range(given), *changed})
        self.every = every = self.arguments_of_trace()
        self.arguments = [every[number] for number in stay]
        self.changed = [stay.index(number) for number in changed]
        # Gradients that a call finds set, or not, as they were.
        added = self.outside.accumulated - self.outside.cleared
        self.unset = [every[number] for number in sorted(added) if every[number].example.grad is None]
        self.left = [(every[number], dtype) for number, dtype in self.left_gradients]
        self.cleared = [every[number] for number in self.cleared_gradients]
        self.types = self.result_types + [self.arguments[number].example.dtype for number in self.changed]
        parts = [number for number, argument in enumerate(self.arguments) for _ in parts_of(argument.example)]
        changes = [part for number in self.changed for part, argument in enumerate(parts) if argument == number]
        first = sum(2 if dtype.is_complex else 1 for dtype in self.result_types)
        self.kept = dict(enumerate(changes, first))

    def arguments_of_trace(self) -> list[Argument]:
        """How a call finds each tensor that the trace met."""
        apart = [each for each in self.stage.closed if all(each[1] is not owner for _, owner in self.stage.named)]
        self.owners = Owners([*self.stage.named, *apart])
        names = {id(tensor): name for name, tensor in self.owners.plain.items()} | {id(tensor): name for name, tensor in self.owners.held.items()}
        given = set(map(id, Owners(self.owned).held.values()))
        positions = {number: i for i, number in reversed(self.slots.items()) if id(self.leaves[i]) not in given}
        closed = {id(value): name for name, value in self.closure.leaves.items()}
        numbers = {id(tensor): name for name, tensor in self.symbols.examples.items()}
        arguments: list[Argument] = []
        gradients: dict[int, Argument] = {}
        # Arguments that the step reached by another way, too: by position, and the way.
        self.shared: list[tuple[int, str, Callable[[Call], torch.Tensor | None]]] = []

        def find(number: int, own: torch.Tensor) -> tuple[str, Callable[[Call], torch.Tensor | None]]:
            if number in positions:
                if number in self.outside.met:
                    self.shared.append((positions[number], *find(-1, own)))
                position = positions[number]
                return self.names[position], lambda call: call.leaves[position]
            name = numbers.get(id(own))
            # The functions hold no tensors of the example.
            if name is not None:
                dtype = own.dtype
                return name, lambda call: tensor_of(call.numbers.get(name), name, dtype)
            name = names.get(id(own)) or closed.get(id(own))
            if id(own) in names:
                return name, lambda call: call.tensors.get(name)
            if id(own) in gradients:
                name, of_parameter = gradients[id(own)].name, gradients[id(own)].find
                return f"the gradient of {name}", lambda call: gradient_of(of_parameter(call))
            if id(own) in closed:
                return name, lambda call: call.closed.get(name)
            return f"a tensor of shape {list(own.shape)} that the step closes over", lambda call: own

        # A gradient stands behind its parameter.
        for number, own in enumerate(self.outside.own):
            name, finds = find(number, own)
            arguments.append(Argument(name, own, finds, own.requires_grad))
            if (gradient := gradient_of(own)) is not None:
                gradients.setdefault(id(gradient), arguments[-1])
        return arguments

    def on_leaves(self, *leaves: torch.Tensor) -> list[torch.Tensor]:
        """The step on flat arguments; behind its results gradients that it leaves, and all tensors that it read."""
        with unseen():
            # The step may change its arguments in place.
            for own, leaf in zip([*self.given, *self.symbols.examples.values()], leaves, strict=True):
                self.outside.put(own, leaf, leaf.detach().clone())
            self.symbols.make(self.outside.new[len(self.given) :])
            for own in self.given:
                self.outside.take_gradient(own)
            is_on_gpu = any(own.device.type != "cpu" for own in [*self.given, *Owners(self.stage.closed).held.values()])
            on_gpu = gpus_mean_the_cpu() if is_on_gpu else contextlib.nullcontext()
            numbers = [self.symbols.of.get(f"the argument {name}", leaf) for name, leaf in zip(self.names, self.leaves)]
            given = [self.outside.new[self.slots[i]] if i in self.slots else number for i, number in enumerate(numbers)]
            arguments = pytree.tree_unflatten(given, self.tree)
        try:
            self.symbols.put(self.closure.numbers.values())
            closed = [each for each in self.stage.closed if isinstance(each[1], torch.optim.Optimizer)]
            for name, owner in [*self.owned, *closed]:
                self.stage.add(name, owner)
            with constants.not_of_symbols(), self.outside.opened(), on_gpu:
                results, self.result_tree = pytree.tree_flatten(self.step(*arguments))
                # No mode sees that a step returns a tensor from outside.
                results = list(map(self.outside.instead, results))
            with unseen():
                after = self.stage.after()
                self.made = [place for place, _ in self.stage.made]
                made, self.made_tree = pytree.tree_flatten([value for _, value in self.stage.made])
                results += map(self.outside.instead, made)
        finally:
            self.symbols.take()
            self.stage.close()
            self.closure.refuse_changes()
        with unseen():
            after |= self.given_after(given, arguments)
            after |= {id(self.symbols.examples[name]): now for name, now in self.symbols.changed().items()}
            gradients = self.gradients_after()
            now = [after.get(id(own), new) for own, new in zip(self.outside.own, self.outside.new)]
            self.are_numbers = [is_symbol(result) for result in results]
            results = [torch.full((), result, dtype=SYMBOLS[type(result)]) if is_symbol(result) else result for result in results]
            refuse_hidden(results)
            self.fixed = [None if isinstance(result, torch.Tensor) else (result,) for result in results]
            shown = [result.detach() for result in results if isinstance(result, torch.Tensor)] + gradients
            self.result_types = [result.dtype for result in shown]
            first = self.fixed[: self.result_tree.num_leaves].count(None)
            self.own = len(flat_parts(shown[first:]))
            return shown + [tensor.detach() for tensor in now]

    def given_after(self, given: list[Any], arguments: tuple) -> dict[int, torch.Tensor]:
        """The tensors at the end in the places of those that the step was given, by identity of the latter."""
        leaves, tree = pytree.tree_flatten(arguments)
        if tree != self.tree:
            raise UnsupportedStep("the step changes which values a container among its arguments holds: return them")
        after: dict[int, torch.Tensor] = {}
        for i, (name, before) in enumerate(zip(self.names, self.leaves, strict=True)):
            now, is_alike = leaves[i], True
            if i in self.slots:
                is_alike = isinstance(now, torch.Tensor) and (now.shape, now.dtype) == (before.shape, before.dtype)
                is_alike = is_alike and after.setdefault(id(before), now) is now
            elif isinstance(before, CONSTANTS):
                is_alike = now is given[i] or not differ(now, before)
            if not is_alike:
                raise UnsupportedStep(f"the step puts another kind of value in the place of {name}: return it")
        held = {id(own) for *_, own in self.stage.places}
        return {own: now for own, now in after.items() if own not in held}

    def gradients_after(self) -> list[torch.Tensor]:
        """The gradients that the step leaves, but those that an optimizer has used: they are results."""
        self.left_gradients, self.cleared_gradients, gradients = [], [], []
        self.dropped_gradients: set[int] = set()
        outside = self.outside
        for number, (own, new) in enumerate(zip(list(outside.own), list(outside.new))):
            if not own.is_leaf or not new.is_leaf:
                continue
            if own.requires_grad != new.requires_grad:
                raise UnsupportedStep("the step changes which tensors require gradients: run it once in PyTorch, and compile it then")
            before, now = own.grad, new.grad
            if now is not None and before is not None and now is outside.of(before):
                continue
            if before is not None:
                self.dropped_gradients.add(outside.numbers[id(before)])
            if now is not None and number not in outside.used:
                self.left_gradients.append((number, now.dtype))
                gradients.append(now.detach())
            elif before is not None or now is not None:
                self.cleared_gradients.append(number)
        return gradients

    def bind(self, arguments: tuple) -> tuple[list[Any], Callable[[list[Any]], Any]]:
        """The arrays of a call, in the order of the file's arguments, and how results become its return value."""
        leaves, tree = pytree.tree_flatten(arguments)
        if tree != self.tree:
            traced, given = (re.sub(r"\s+", " ", str(each)) for each in (self.tree, tree))
            raise OtherCall(f"expected arguments as in the example, {traced}, but got {given}")
        if (now := surroundings()) != self.surroundings:
            raise OtherCall(f"expected the step in {self.surroundings} of PyTorch, as when it was compiled, but got {now}")
        for name, leaf, traced in zip(self.names, leaves, self.leaves):
            if f"the argument {name}" not in self.symbols.types and isinstance(traced, CONSTANTS) and (type(leaf), leaf) != (type(traced), traced):
                given = repr(leaf) if isinstance(leaf, CONSTANTS) else type(leaf).__name__
                raise OtherCall(f"expected {name} to be {traced!r} as in the example, but got {given}")
        closed = self.closure.leaves_now()
        self.closure.refuse_other_numbers(closed, self.symbols.types)
        pairs = [*((traced, closed.get(name)) for name, traced in self.closure.leaves.items()), *zip(self.leaves, leaves)]
        replaced = {id(traced): leaf for traced, leaf in pairs if isinstance(traced, Owner)}
        owners = self.owners.of_call([replaced.get(id(owner), owner) for _, owner in self.owners.named], self.symbols.types)
        numbers = self.numbers_of_arguments(leaves) | self.closure.numbers_now() | owners.numbers if self.symbols.types else {}
        self.symbols.refuse_other_values(numbers)
        of_traced = {id(traced): owner for (_, traced), (_, owner) in zip(self.owners.named, owners.named)}
        for place in self.made:
            place.refuse_in(of_traced[id(place.optimizer)])
        call = Call(leaves, closed, of_traced, owners.plain | owners.held, numbers)
        for i, slot in self.slots.items():
            argument = self.arguments[slot]
            if leaves[i] is not argument.find(call):
                raise OtherCall(f"expected {self.names[i]} to be {argument.name}, as in the example")
        for i, name, find in self.shared:
            if leaves[i] is not find(call):
                raise OtherCall(f"expected {self.names[i]} to be {name}, as in the example")
        for argument in self.unset:
            if argument.find(call).grad is not None:
                raise OtherCall(f"{argument.name} has a gradient, and had none when the step was compiled")
        found = [argument.find(call) for argument in self.arguments]
        self.refuse_twins(found)
        tensors = [argument.of(tensor) for argument, tensor in zip(self.arguments, found)]
        flat = [parts_of(tensor) for tensor in tensors]

        def close(results: list[Any]) -> Any:
            for number in self.changed:
                if tensors[number].is_complex():
                    tensors[number].detach().copy_(torch.complex(*flat[number]))
                if self.arguments[number].name in self.symbols.types:
                    numbers[self.arguments[number].name].write(tensors[number].item())
            for _, owner in owners.named:
                if isinstance(owner, torch.optim.Optimizer):
                    # Schedulers warn where the optimizer made no step.
                    owner._opt_called = True  # type: ignore[attr-defined]
            return self.returned(results, call)

        return [part for parts in flat for part in parts], close

    def refuse_twins(self, found: list[torch.Tensor | None]) -> None:
        """Refuses one tensor in the places of two of the example, where the step changes one of these."""
        first: dict[int, int] = {}
        for number, (argument, tensor) in enumerate(zip(self.arguments, found)):
            other = first.setdefault(id(tensor), number)
            if tensor is not None and other != number and not {other, number}.isdisjoint(self.changed):
                raise OtherCall(f"expected {argument.name} and {self.arguments[other].name} to be two tensors, as in the example, but got one")

    def release(self) -> None:
        """Lets go of the tensors of the example, which calls do not need."""
        without = lambda leaf: type(leaf) if isinstance(leaf, torch.Tensor) else leaf
        shapes = {id(argument): dataclasses.replace(argument, example=shape_of(argument.example)) for argument in self.every}
        for name in ("arguments", "unset", "cleared"):
            setattr(self, name, [shapes[id(argument)] for argument in getattr(self, name)])
        self.left = [(shapes[id(argument)], dtype) for argument, dtype in self.left]
        self.leaves = list(map(without, self.leaves))
        self.closure.leaves = {name: without(leaf) for name, leaf in self.closure.leaves.items()}
        self.closure.release()
        self.owners.release()
        self.symbols.release()
        self.stage.release()
        del self.example, self.given, self.seed, self.graph, self.stage, self.outside, self.every

    def returned(self, results: list[Any], call: Call) -> Any:
        """The return value of a call; a result that is neither a tensor nor a number of one is that of the trace."""
        given, types = iter(results), iter(self.result_types)
        made = [joined(given, next(types)) if one is None else one[0] for one in self.fixed]
        made = [one.item() if is_number else one for one, is_number in zip(made, self.are_numbers)]
        shown, state = made[: self.result_tree.num_leaves], made[self.result_tree.num_leaves :]
        for place, value in zip(self.made, pytree.tree_unflatten(state, self.made_tree)):
            place.write(call.owners[id(place.optimizer)], value)
        for argument, dtype in self.left:
            argument.find(call).grad = joined(given, dtype)
        for argument in self.cleared:
            argument.find(call).grad = None
        return pytree.tree_unflatten(shown, self.result_tree)

    def draws(self, leaves: list[Any]) -> Draws:
        """Runs the graph with random numbers from the argument that is called seed."""
        number = next((i for i, argument in enumerate(self.arguments) if argument.example is self.seed), None)
        return Draws(self.graph, None if number is None else leaves[number], self.symbols)

    def export(self) -> str:
        """The step as text in upstream MLIR dialects."""
        return self.text

    def lowered(self, is_last: bool) -> str:
        """The text; an error says which operations have no form where it is the last word."""

        def run(*stored: torch.Tensor) -> list[torch.Tensor]:
            leaves = [argument.shown(tensor) for argument, tensor in zip(self.arguments, stored, strict=True)]
            results = list(self.draws(leaves).run(*leaves))
            for place, number in enumerate(self.changed, len(self.result_types)):
                results[place] = self.arguments[number].stored(results[place])
            return results

        names = [part for argument in self.arguments for part in names_of_parts(argument.name, argument.example)]
        with self.symbols.deciding():
            return lower(run, self.stored(on_cpu), self.types, names, self.kept, place_of_function(self.step), is_last)

    def stored(self, brought: Callable[[torch.Tensor], torch.Tensor] = torch.Tensor.cpu) -> list[torch.Tensor]:
        return [argument.stored(brought(argument.example)) for argument in self.arguments]

    def inputs(self) -> list[np.ndarray]:
        return [numpy_of(part) for part in flat_parts(self.stored())]

    def expected(self) -> list[np.ndarray]:
        """What PyTorch computes, with random numbers from the seed."""
        leaves = [argument.example.detach().cpu().clone() for argument in self.arguments]
        results = self.draws(leaves).run(*leaves)
        shown, changes = results[: len(self.result_types)], results[len(self.result_types) :]
        changes = [self.arguments[number].stored(change) for number, change in zip(self.changed, changes)]
        return [numpy_of(part) for part in flat_parts([*shown, *changes])]


def refuse_hidden(results: list[Any]) -> None:
    """Refuses a result that holds tensors, but is no container of PyTorch."""
    for result in results:
        parts = None if isinstance(result, torch.Tensor) else getattr(result, "__dict__", None)
        if any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves(parts)):
            raise UnsupportedStep(
                f"the step returns a {type(result).__name__}, which PyTorch does not take for a container: return a dictionary of its tensors; "
                "torch.export.register_dataclass makes a container of a dataclass"
            )


def shape_of(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor like another one, without memory."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def surroundings() -> dict[str, Any]:
    """The settings of PyTorch that decide what a step computes."""
    is_cast = torch.is_autocast_enabled("cpu")
    return {"autocast": torch.get_autocast_dtype("cpu") if is_cast else False, "default dtype": torch.get_default_dtype()}


def gradient_of(tensor: torch.Tensor | None) -> torch.Tensor | None:
    """PyTorch warns where a tensor that is no leaf is asked for one."""
    return tensor.grad if tensor is not None and tensor.is_leaf else None


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
