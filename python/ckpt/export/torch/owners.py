"""Modules and optimizers that a step uses: their tensors are arguments, and results in place."""

import functools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import torch
import torch.utils._pytree as pytree
from torch.optim.optimizer import _get_scalar_dtype

from ...errors import OtherCall, UnsupportedStep
from .containers import (
    Container,
    Contents,
    Variable,
    items_of,
    nested,
    variable_in,
    variable_in_tuple,
)
from .numbers import NUMBERS, SYMBOLS, ChangedNumbers, Symbols, differ, is_number
from .outside import Outside, is_outside, unseen

Owner = torch.nn.Module | torch.optim.Optimizer

# Options of optimizers that say how PyTorch computes an update, and the values for a trace: one parameter after the
# other, and without a look at the numbers of tensors.
IMPLEMENTATIONS = {"foreach": False, "fused": False, "capturable": True}

# Numbers in the state of an optimizer of torch.optim.
COUNTS = {"step", "mu_product", "eta", "mu"}

# Attributes of each module, which a user does not set.
COMMON = set(vars(torch.nn.Module()))


def containers_of(name: str, owner: Owner) -> Iterator[tuple[str, Container]]:
    """The dictionaries and lists that hold the tensors that an owner trains or counts with, each with its name for people."""
    if isinstance(owner, torch.nn.Module):
        for path, part in owner.named_modules():
            title = f"{name}.{path}" if path else name
            yield from ((title, part._parameters), (title, part._buffers))
        return
    for number, group in enumerate(owner.param_groups):
        yield from ((f"{name}.param_groups[{number}]", group), (f"{name}.param_groups[{number}]", group["params"]))
        for i, parameter in enumerate(group["params"]):
            if parameter in owner.state:
                yield from nested(f"{name}.state[{number}][{i}]", owner.state[parameter])


def attributes_of(name: str, module: torch.nn.Module) -> dict[str, Any]:
    """The numbers, strings and plain tensors in the attributes of a module and its parts, by their paths."""
    kinds = (bool, int, float, str, torch.Tensor, *SYMBOLS)
    found = {}
    for path, part in module.named_modules():
        title = f"{name}.{path}" if path else name
        for key, value in vars(part).items():
            if key in COMMON:
                continue
            if isinstance(value, list | tuple | dict):
                leaves = pytree.tree_flatten_with_path(value)[0]
                found.update({f"{title}.{key}{pytree.keystr(inner)}": leaf for inner, leaf in leaves if isinstance(leaf, kinds)})
            elif isinstance(value, kinds):
                found[f"{title}.{key}"] = value
    return found


def settings_of(name: str, owner: Owner) -> dict[str, Any]:
    """The values that a trace takes as they are, by name: modules in training with their numbers, and numbers of an optimizer and of its state."""
    if isinstance(owner, torch.nn.Module):
        numbers = {name: value for name, value in attributes_of(name, owner).items() if not isinstance(value, torch.Tensor)}
        return {f"{name}.{path}.training" if path else f"{name}.training": part.training for path, part in owner.named_modules()} | numbers
    is_left_out = lambda key, value: key in ("params", *IMPLEMENTATIONS) or isinstance(value, list | dict)
    return {
        path: "" if isinstance(item, torch.Tensor) else item
        for title, container in containers_of(name, owner)
        if not isinstance(container, list)
        for key, value in items_of(container)
        if not is_left_out(key, value)
        for path, item in named_items(f"{title}.{key}", value)
    }


def named_items(name: str, value: Any) -> list[tuple[str, Any]]:
    """A value with its name, or the items of a tuple, such as `betas`."""
    return [(f"{name}[{i}]", item) for i, item in enumerate(value)] if type(value) is tuple and value else [(name, value)]


def numbers_of(name: str, owner: Owner) -> list[Variable]:
    """The attributes of a module and its parts that hold numbers, or the items of an optimizer and its state."""
    if isinstance(owner, torch.nn.Module):
        parts = [(f"{name}.{path}" if path else name, vars(part)) for path, part in owner.named_modules()]
        attributes = [(title, part, key, value) for title, part in parts for key, value in part.items() if key not in COMMON]
        variables = [variable_in(part, key, f"{title}.{key}") for title, part, key, value in attributes if is_number(value)]
        inner = [each for title, _, key, value in attributes for each in nested(f"{title}.{key}", value)]
        items = [(container, key, f"{title}[{key!r}]") for title, container in inner for key, value in items_of(container) if is_number(value)]
        return variables + [variable_in(*item) for item in items]
    containers = [each for each in containers_of(name, owner) if not isinstance(each[1], list)]
    held = [(container, key, title, value) for title, container in containers for key, value in items_of(container)]
    variables = [variable_in(container, key, f"{title}.{key}") for container, key, title, value in held if is_number(value)]
    tuples = [(container, key, f"{title}.{key}", value) for container, key, title, value in held if type(value) is tuple]
    return variables + [variable_in_tuple(*item, i) for *item, value in tuples for i, each in enumerate(value) if is_number(each)]


def is_rate(name: str, value: Any) -> bool:
    """Whether a number of an owner is a learning rate, which schedulers change."""
    return re.search(r"\.param_groups\[\d+\]\.lr$", name) is not None and type(value) is float


def kinds_of(owner: Any) -> list[type]:
    """The class of a value, and those of its parts where it is a module."""
    return [type(part) for part in owner.modules()] if isinstance(owner, torch.nn.Module) else [type(owner)]


class Owners:
    """The modules and optimizers of one call.

    Attributes:
        held: the tensors that they train or count with, by name, each once: that of a module may be one of an optimizer as well.
        plain: other tensors in attributes of modules.
    """

    def __init__(self, named: list[tuple[str, Owner]]):
        self.named = named
        self.kinds = [kinds_of(owner) for _, owner in named]
        for name, owner in named:
            if isinstance(owner, torch.nn.Module) and any(isinstance(part, torch.jit.ScriptModule) for part in owner.modules()):
                raise UnsupportedStep(f"{name} is a module of torch.jit, which cannot be traced: pass the module that it was made of")
        self.settings = {key: value for each in named for key, value in settings_of(*each).items()}
        places = [(f"{title}.{key}", value) for each in named for title, container in containers_of(*each) for key, value in items_of(container)]
        self.names = {name: value for name, value in places if isinstance(value, torch.Tensor)}
        for name, tensor in self.names.items():
            if torch.nn.parameter.is_lazy(tensor):
                raise UnsupportedStep(f"{name} has no shape before the module runs: run the step once in PyTorch, and compile it then")
        first: dict[int, str] = {}
        for name, tensor in self.names.items():
            first.setdefault(id(tensor), name)
        self.held = {name: tensor for name, tensor in self.names.items() if first[id(tensor)] == name}
        self.twins = [first[id(tensor)] for tensor in self.names.values()]
        modules = [each for each in named if isinstance(each[1], torch.nn.Module)]
        self.plain = {path: value for each in modules for path, value in attributes_of(*each).items() if isinstance(value, torch.Tensor)}
        self.trained = [(name, tensor.requires_grad) for name, tensor in self.held.items()]

    @functools.cached_property
    def numbers(self) -> dict[str, Variable]:
        return {variable.name: variable for each in self.named for variable in numbers_of(*each)}

    def of_call(self, owners: list[Any], symbols: Collection[str]) -> "Owners":
        """Owners of a call in the places of those of the trace, which they must be like; `symbols` are numbers that may be others."""
        for (name, _), kinds, now in zip(self.named, self.kinds, owners, strict=True):
            if kinds != (others := kinds_of(now)):
                traced, given = next(((one, other) for one, other in zip(kinds, others) if one != other), (kinds[0], type(now)))
                raise OtherCall(f"expected {name} with a {traced.__name__} as in the example, but got a {given.__name__}")
        found = Owners([(name, now) for (name, _), now in zip(self.named, owners)])
        found.refuse_unlike(self, symbols)
        return found

    def release(self) -> None:
        """Lets go of the tensors: calls are like them by names."""
        self.names, self.held, self.plain = dict.fromkeys(self.names), {}, {}

    def refuse_unlike(self, example: "Owners", symbols: Collection[str]) -> None:
        for names, others, no in ((self.names, example.names, "no "), (example.names, self.names, "")):
            if (name := next((name for name in names if name not in others), None)) is not None:
                raise OtherCall(f"expected {no}{name}, as in the example")
        if list(self.names) != list(example.names) or self.twins != example.twins:
            raise OtherCall("expected modules and optimizers with the tensors of the example, but got others")
        if self.trained != example.trained:
            raise OtherCall("other parameters require gradients than when the step was compiled")
        # Schedulers add items to the groups of an optimizer.
        new = {name: None for name in self.settings if name not in example.settings and ".param_groups[" not in name}
        for name, traced in (example.settings | new).items():
            now = self.settings.get(name)
            if name not in symbols and differ(now, traced):
                raise OtherCall(f"expected {name} to be {traced!r} as when the step was compiled, but got {now!r}")


class Place(NamedTuple):
    """An item of a group of an optimizer, or of the state of a parameter there."""

    optimizer: torch.optim.Optimizer
    group: int
    number: int | None
    key: Any

    def write(self, optimizer: torch.optim.Optimizer, value: Any) -> None:
        """Sets the item of an optimizer like this one."""
        group = optimizer.param_groups[self.group]
        (group if self.number is None else optimizer.state[group["params"][self.number]])[self.key] = value

    def refuse_in(self, optimizer: torch.optim.Optimizer) -> None:
        """Refuses an optimizer whose group has the item: `Owners.refuse_unlike` lets groups have more than those of the example."""
        if self.number is None and self.key in optimizer.param_groups[self.group]:
            raise OtherCall(f"expected no {self.key!r} in group {self.group} of an optimizer, as when the step was compiled")


class Stage:
    """Puts tensors of a trace in the places of those that modules and optimizers hold, and takes them away again.

    Attributes:
        closed: the owners that the step closes over, by name.
        named: the owners, also those that the trace met itself.
        made: values that the step adds to the groups of an optimizer and to its state, each with its `Place`.
    """

    def __init__(self, outside: Outside, closed: list[tuple[str, Owner]], symbols: Symbols):
        self.outside, self.closed, self.symbols = outside, closed, symbols
        self.named: list[tuple[str, Owner]] = []
        self.made: list[tuple[Place, Any]] = []
        self.before: list[tuple[str, Owner, Any, dict[str, torch.Tensor]]] = []
        self.contents: list[Contents] = []
        # Of optimizers: their states, and the keys of their groups.
        self.states: list[tuple[str, torch.optim.Optimizer, Any, list[set[str]]]] = []
        self.places: list[tuple[str, Container, Any, torch.Tensor]] = []
        # The doubles in the places of counts, and their versions.
        self.counts: dict[int, tuple[torch.Tensor, int]] = {}

    def add(self, name: str, owner: Owner) -> None:
        if any(owner is other for _, other in self.named):
            return
        self.named.append((name, owner))
        with unseen():
            plain = Owners([(name, owner)]).plain
            self.before.append((name, owner, settings_of(name, owner), plain))
            containers = list(containers_of(name, owner))
            parts = [vars(part) for part in owner.modules()] if isinstance(owner, torch.nn.Module) else []
            attributes = [each for part in parts for key, value in part.items() if key not in COMMON for each in nested(key, value)]
            self.contents += [Contents(*each) for each in [*containers, *((name, part) for part in parts), *attributes]]
            self.symbols.put(numbers_of(name, owner))
            states = [id(state) for state in owner.state.values()] if isinstance(owner, torch.optim.Optimizer) else []
            for title, container in containers:
                for key, own in items_of(container):
                    if is_outside(own):
                        container[key] = self.counting(own) if id(container) in states and key in COUNTS else self.outside.of(own)
                        self.places.append((f"{title}.{key}", container, key, own))
            if isinstance(owner, torch.optim.Optimizer):
                self.states.append((name, owner, owner.state, [set(group) for group in owner.param_groups]))
                numbers = self.outside.numbers
                instead = lambda key: self.outside.of(key) if id(key) in numbers else key
                owner.state = defaultdict(dict, {instead(key): value for key, value in owner.state.items()})

    def counting(self, own: torch.Tensor) -> torch.Tensor:
        """The tensor in the place of one in the state of an optimizer. A count of steps is a double: PyTorch computes with Python's numbers of it,
        and 1 - 0.999**count loses half of the digits of a float."""
        new = self.outside.of(own)
        number = new.double()
        self.counts[id(own)] = number, number._version
        return number

    def counted(self, own: torch.Tensor, now: Any) -> Any:
        """The opposite of `counting`, at the end."""
        number, version = self.counts.get(id(own), (None, 0))
        if now is number and number is not None and now._version == version:
            return self.outside.of(own)
        return now.to(own.dtype) if number is not None and isinstance(now, torch.Tensor) else now

    def use(self, optimizer: torch.optim.Optimizer) -> None:
        """Says that an optimizer uses the gradients of its parameters."""
        for name, owner in self.named:
            if owner is not optimizer and getattr(owner, "param_groups", None) is optimizer.param_groups:
                raise UnsupportedStep(f"{name}, a {type(owner).__name__}, steps by another optimizer, whose state it does not show: pass that one")
        parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        numbers = {self.outside.numbers_of_new[id(parameter)] for parameter in parameters if id(parameter) in self.outside.numbers_of_new}
        self.outside.accumulated |= numbers
        self.outside.used |= numbers

    def meet(self, module: torch.nn.Module) -> None:
        """Adds a module that is about to run, or the one of which it is a part, where the step was not given it. Another function, such as
        torch.func.functional_call, may have put tensors into it for a time: then it stays."""
        modules = [each for each in self.closed if isinstance(each[1], torch.nn.Module)]
        wholes = [each for each in modules if any(part is module for part in each[1].modules())]
        name, owner = wholes[0] if wholes else (type(module).__name__, module)
        tensors = [*owner.parameters(), *owner.buffers()]
        if tensors and all(map(is_outside, tensors)):
            self.add(name, owner)

    def after(self) -> dict[int, torch.Tensor]:
        """The tensors that stand at the end in the places of those that the owners had, by identity of the latter."""
        self.refuse_changes()
        now = {id(own): (name, own, self.counted(own, container[key])) for name, container, key, own in self.places}
        for name, owner, _, plain in self.before:
            found = attributes_of(name, owner) if plain else {}
            # An attribute that the step only writes keeps its value.
            replaced = {path: own for path, own in plain.items() if id(own) in self.outside.numbers and found.get(path) is not own}
            now.update((id(own), (path, own, found.get(path))) for path, own in replaced.items())
        for name, own, new in now.values():
            refuse_another_kind(name, own, new)
        return {own: new for own, (_, _, new) in now.items()}

    def refuse_changes(self) -> None:
        """Refuses a step that changes its `settings_of`, but the numbers that are symbols, and finds those that it makes."""
        made = [each for state in self.states for each in self.made_by(*state)]
        self.made = [each for _, *each in made]
        for name, owner, before, _ in self.before:
            now = settings_of(name, owner)
            new = {key for key in now.keys() - before.keys() if not any(key.startswith(path) for path, *_ in made)}
            if isinstance(owner, torch.optim.Optimizer) and (new or before.keys() - now.keys()):
                raise UnsupportedStep(
                    f"the step changes which values {name} holds, as {min(new or before.keys() - now.keys())}: "
                    "if only its first call does so, run the step once in PyTorch, and compile it then"
                )
            changed = {key: now[key] for key, value in before.items() if key in now and key not in self.symbols.of and differ(value, now[key])}
            for key, value in changed.items():
                if key.endswith(".training"):
                    raise UnsupportedStep("the step changes which modules are in training: do so before it")
                if not is_number(value) or not is_number(before[key]):
                    raise UnsupportedStep(
                        f"the step changes {key} from {before[key]!r} to {value!r}: make it a tensor, or a buffer of a module; "
                        "if only its first call does so, run the step once in PyTorch, and compile it then"
                    )
            if changed:
                raise ChangedNumbers({key: NUMBERS[type(value)] for key, value in changed.items()})

    def made_by(self, name: str, optimizer: torch.optim.Optimizer, before: dict, keys: list[set[str]]) -> Iterator[tuple[str, "Place", Any]]:
        """The values that the step adds to the groups of an optimizer and to its state, with their paths."""
        own_of = {id(new): own for own, new in zip(self.outside.own, self.outside.new)}
        for number, (group, had) in enumerate(zip(optimizer.param_groups, keys)):
            yield from ((f"{name}.param_groups[{number}].{key}", Place(optimizer, number, None, key), group[key]) for key in group.keys() - had)
            for i, parameter in enumerate(group["params"]):
                state, had = optimizer.state.get(parameter, {}), before.get(own_of.get(id(parameter)), {})
                for key in [key for key in state if key not in had]:
                    yield f"{name}.state[{number}][{i}].{key}", Place(optimizer, number, i, key), uncounted(optimizer, key, state[key])

    def close(self) -> None:
        """Leaves the owners as they were."""
        for contents in reversed(self.contents):
            contents.put_back()
        for _, optimizer, state, _ in self.states:
            optimizer.state = state

    def release(self) -> None:
        """Lets go of the tensors."""
        self.outside.release()
        self.before, self.contents, self.states, self.places, self.counts, self.made = [], [], [], [], {}, []


def uncounted(optimizer: torch.optim.Optimizer, key: str, value: Any) -> Any:
    """A value that an optimizer adds to its state; the counts that those of torch.optim make are doubles in a trace."""
    is_count = key in COUNTS and isinstance(value, torch.Tensor) and optimizer.step.__module__.startswith("torch.optim")
    return value.to(_get_scalar_dtype()) if is_count else value


def refuse_another_kind(name: str, own: torch.Tensor, new: Any) -> None:
    """Refuses a value in the place of a tensor that a run could not write into it."""
    if isinstance(new, torch.Tensor) and (new.shape, new.dtype) == (own.shape, own.dtype):
        return
    kind = f"{new.dtype}{list(new.shape)}" if isinstance(new, torch.Tensor) else type(new).__name__
    raise UnsupportedStep(
        f"the step puts {kind} in the place of {name}, {own.dtype}{list(own.shape)}: "
        "if its first call does so, run the step once in PyTorch, and compile it then"
    )
