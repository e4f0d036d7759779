"""Modules and optimizers among the arguments of a step: their tensors are arguments too, and results in place."""

import contextlib
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import torch

from ...errors import UnsupportedStep
from .tracing import IMPLEMENTATIONS

Owner = torch.nn.Module | torch.optim.Optimizer
# A dictionary or a list of an owner's.
Container = Any


def containers_of(name: str, owner: Owner) -> Iterator[tuple[str, Container]]:
    """The dictionaries and lists that hold the tensors of an owner, each with its name for people."""
    if isinstance(owner, torch.nn.Module):
        for path, part in owner.named_modules():
            title = f"{name}.{path}" if path else name
            yield from ((title, part._parameters), (title, part._buffers))
        return
    for number, group in enumerate(owner.param_groups):
        yield from ((f"{name}.param_groups[{number}]", group), (f"{name}.param_groups[{number}]", group["params"]))
        for i, parameter in enumerate(group["params"]):
            if parameter in owner.state:
                yield f"{name}.state[{number}][{i}]", owner.state[parameter]


def items_of(container: Container) -> list[tuple[Any, Any]]:
    return list(enumerate(container) if isinstance(container, list) else container.items())


def attributes_of(owner: torch.nn.Module) -> dict[str, Any]:
    """The numbers, strings and plain tensors of a module, by their paths."""
    kinds = (bool, int, float, str, torch.Tensor)
    parts = [(f"{path}." if path else "", vars(part)) for path, part in owner.named_modules()]
    return {path + key: value for path, part in parts for key, value in part.items() if isinstance(value, kinds) and key != "training"}


def settings_of(owner: Owner) -> Any:
    """The values that a trace takes as they are: modules in training with their numbers, and numbers of an optimizer and of its state."""
    if isinstance(owner, torch.nn.Module):
        numbers = {name: value for name, value in attributes_of(owner).items() if not isinstance(value, torch.Tensor)}
        return [(path, part.training) for path, part in owner.named_modules()], numbers

    def values(container: Container) -> list[tuple[Any, Any]]:
        return [(key, "" if isinstance(value, torch.Tensor) else value) for key, value in items_of(container) if key not in ("params", *IMPLEMENTATIONS)]

    states = [owner.state.get(parameter, {}) for group in owner.param_groups for parameter in group["params"]]
    return list(map(values, owner.param_groups)), list(map(values, states))


def stands_for(own: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
    """Gives `new` the gradients of a parameter, and the user's hooks on them."""
    new.requires_grad_(own.requires_grad)
    for hook in (own._backward_hooks or {}).values():
        new.register_hook(hook)
    for hook in (own._post_accumulate_grad_hooks or {}).values():
        new.register_post_accumulate_grad_hook(hook)
    return new


class Owners:
    """The modules and optimizers of one call.

    Attributes:
        tensors: theirs, each once: that of a module may be one of an optimizer as well.
        names: of `tensors`, such as "model.0.weight".
        replaced: the plain tensors in whose place the step of a trace put others, by their names.
    """

    def __init__(self, named: list[tuple[str, Owner]]):
        self.named = named
        for name, owner in named:
            if isinstance(owner, torch.nn.Module) and any(isinstance(part, torch.jit.ScriptModule) for part in owner.modules()):
                raise UnsupportedStep(f"{name} is a module of torch.jit, which cannot be traced: pass the module that it was made of")
        self.settings = [settings_of(owner) for _, owner in named]
        self.containers = [each for name, owner in named for each in containers_of(name, owner)]
        held: dict[int, tuple[str, torch.Tensor]] = {}
        for title, container in self.containers:
            for key, value in items_of(container):
                if isinstance(value, torch.Tensor):
                    held.setdefault(id(value), (f"{title}.{key}", value))
        self.names = [name for name, _ in held.values()]
        self.tensors = [tensor for _, tensor in held.values()]
        for name, tensor in held.values():
            if torch.nn.parameter.is_lazy(tensor):
                raise UnsupportedStep(f"{name} has no shape before the module runs: run the step once in PyTorch, and compile it then")
        self.replaced: dict[str, torch.Tensor] = {}

    @contextlib.contextmanager
    def holding(self, tensors: list[torch.Tensor]) -> Iterator[list[torch.Tensor]]:
        """Puts `tensors` in place of the owners' own; the list receives what stands there at the end."""
        before = [(container, container.copy()) for _, container in self.containers]
        modules = [(name, owner) for name, owner in self.named if isinstance(owner, torch.nn.Module)]
        parts = [(part, vars(part).copy()) for _, module in modules for part in module.modules()]
        plain = {f"{name}.{path}": value for name, module in modules for path, value in attributes_of(module).items()}
        states = [(owner, owner.state) for _, owner in self.named if isinstance(owner, torch.optim.Optimizer)]
        instead = {id(own): stands_for(own, new) for own, new in zip(self.tensors, tensors, strict=True)}
        places = [(container, key, id(value)) for container, own in before for key, value in items_of(own) if id(value) in instead]
        found: list[torch.Tensor] = []
        try:
            for container, key, own in places:
                container[key] = instead[own]
            for optimizer, state in states:
                optimizer.state = defaultdict(dict, {instead.get(id(key), key): value for key, value in state.items()})
            yield found
            self.refuse_changes()
            now = {own: container[key] for container, key, own in places}
            found += [now[own] for own in instead]
            self.refuse_other_shapes(found)
            now = {f"{name}.{path}": value for name, module in modules for path, value in attributes_of(module).items()}
            self.replaced = {name: own for name, own in plain.items() if isinstance(own, torch.Tensor) and now.get(name) is not own}
        finally:
            for part, own in parts:
                vars(part).clear()
                vars(part).update(own)
            for container, own in before:
                container.clear()
                (container.extend if isinstance(container, list) else container.update)(own)
            for optimizer, state in states:
                optimizer.state = state

    def refuse_changes(self) -> None:
        """Refuses a step that changes its `settings_of`."""
        for (_, owner), before in zip(self.named, self.settings):
            now = settings_of(owner)
            if isinstance(owner, torch.nn.Module):
                if now[0] != before[0]:
                    raise UnsupportedStep("the step changes which modules are in training: do so before it")
                for name, value in before[1].items():
                    if now[1].get(name, value) != value:
                        raise UnsupportedStep(
                            f"the step changes the attribute {name} of a module from {value} to {now[1][name]}: make it a buffer; "
                            "if only its first call does so, run the step once in PyTorch, and compile it then"
                        )
                continue
            if now[0] != before[0]:
                raise UnsupportedStep("the step changes numbers of an optimizer, such as its learning rate: make it a tensor, lr=torch.tensor(1e-3)")
            if now[1] != before[1]:
                raise UnsupportedStep("the optimizer makes its state in its first step: run the step once in PyTorch, and compile it then")

    def refuse_other_shapes(self, found: list[torch.Tensor]) -> None:
        for name, own, now in zip(self.names, self.tensors, found, strict=True):
            if (now.shape, now.dtype) != (own.shape, own.dtype):
                raise UnsupportedStep(
                    f"the step puts {now.dtype}{list(now.shape)} in the place of {name}, {own.dtype}{list(own.shape)}: "
                    "if its first call does so, run the step once in PyTorch, and compile it then"
                )

    def refuse_kept_state(self, constants: list[torch.Tensor]) -> None:
        """Refuses a step that reads plain tensors of modules, `constants` among others, and puts new ones in their places."""
        for name, tensor in self.replaced.items():
            if any(tensor is constant for constant in constants):
                raise UnsupportedStep(f"the step reads {name} and puts another tensor in its place: make it a buffer, with register_buffer")

    def refuse_unlike(self, example: "Owners") -> None:
        """Refuses owners of a call that are not as those of the trace."""
        if self.names != example.names:
            raise UnsupportedStep("expected modules and optimizers with the tensors of the example, but got others")
        if self.settings != example.settings:
            raise UnsupportedStep(
                "numbers of an optimizer or a module, such as a learning rate, or modules in training changed since the step was compiled: "
                "compile it again, or make a number a tensor, lr=torch.tensor(1e-3)"
            )
