"""The values that a step of PyTorch closes over: variables of enclosing functions, globals, and attributes of its object.

`TorchStep` finds tensors, modules, optimizers and numbers there at each call, and refuses a step that puts other kinds of values
there: Python code runs once, in the trace.
"""

import dis
import functools
import inspect
from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor

from ...errors import OtherCall, UnsupportedStep
from .containers import Contents, Variable, items_of, nested, variable_in
from .numbers import NUMBERS, ChangedNumbers, differ, is_number


def named_in(code: CodeType, *endings: str) -> set[str]:
    """The names that instructions of a function have, or of a function that it makes; `endings` are those of the instructions."""
    names = {each.argval for each in dis.get_instructions(code) if each.opname.endswith(endings)}
    return names.union(*(named_in(each, *endings) for each in code.co_consts if isinstance(each, CodeType)))


def attributes_of(value: Any, names: set[str]) -> list[str]:
    """The attributes of an object that are in `names`, or that its methods there read or write."""
    waiting, seen = list(names), set()
    while waiting:
        name = waiting.pop()
        method = inspect.unwrap(getattr(type(value), name, None))
        if name not in seen and isinstance(method, FunctionType):
            waiting += named_in(method.__code__, "_ATTR", "_METHOD")
        seen.add(name)
    return [name for name in getattr(value, "__dict__", {}) if name in seen]


def cells_of(function: FunctionType) -> dict[str, Any]:
    """The cells of variables of enclosing functions that have a value."""
    cells = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        try:
            cell.cell_contents
        except ValueError:
            continue
        cells[name] = cell
    return cells


def is_object(value: Any) -> bool:
    """Whether a value is an object whose attributes a step may read; `Stage` looks after modules and optimizers."""
    return hasattr(value, "__dict__") and not isinstance(value, torch.Tensor | torch.nn.Module | torch.optim.Optimizer)


def variables_of(step: Any) -> Iterator[Variable]:
    """The variables that a callable and the user's functions that it calls close over, and the attributes of objects there that these name."""

    def in_cell(name: str, cell: Any) -> Variable:
        return Variable(name, lambda: cell.cell_contents, functools.partial(setattr, cell, "cell_contents"))

    def attributes(title: str, value: Any, names: set[str]) -> Iterator[Variable]:
        return (variable_in(vars(value), name, f"{title}.{name}") for name in attributes_of(value, names))

    waiting, seen, objects, names = [step], set(), {}, set()
    while waiting:
        function = waiting.pop(0)
        if id(function) in seen:
            continue
        seen.add(id(function))
        if isinstance(function, functools.partial):
            yield from (Variable(f"argument {i}", lambda value=value: value, None) for i, value in enumerate(function.args))
            yield from (variable_in(function.keywords, name, name) for name in function.keywords)
            waiting.append(function.func)
        elif isinstance(function, MethodType):
            waiting.append(function.__func__)
            if is_object(function.__self__):
                yield from attributes("self", function.__self__, {function.__name__})
        elif isinstance(function, FunctionType):
            variables = [in_cell(name, cell) for name, cell in cells_of(function).items()]
            inner = {name for name, *_ in variables}
            shared = function.__globals__
            names |= named_in(function.__code__, "_ATTR", "_METHOD")
            variables += [variable_in(shared, name, name) for name in sorted(named_in(function.__code__, "_GLOBAL")) if name in shared]
            for variable in variables:
                name, value = variable.name, variable.read()
                if isinstance(value, FunctionType | MethodType | functools.partial) and (
                    name in inner or getattr(value, "__globals__", None) is shared
                ):
                    waiting.append(value)
                elif not inspect.ismodule(value) and not inspect.isclass(value) and not inspect.isroutine(value):
                    yield variable
                    if is_object(value):
                        objects[name] = value
        elif isinstance(getattr(type(function), "__call__", None), FunctionType):
            waiting.append(function.__call__)
    for title, value in objects.items():
        yield from attributes(title, value, names)


# A container of more values holds data, and no settings.
LARGEST = 1000


class Closure:
    """The values that a step closes over, as they are before it is traced.

    Attributes:
        values: by name.
        leaves: the values in containers among them, by name.
        numbers: the variables that hold numbers, by name.
    """

    def __init__(self, step: Callable):
        self.variables = list(variables_of(step))
        self.values = {name: read() for name, read, _ in self.variables}
        self.leaves = self.leaves_now()
        self.numbers = self.numbers_now()
        self.own_numbers = {name: variable.read() for name, variable in self.numbers.items()}
        self.contents = [Contents(*each) for name, value in self.values.items() for each in nested(name, value)]
        # `Stage` puts back the modules that run; a step may also call their other methods.
        modules = {name: leaf for name, leaf in self.leaves.items() if isinstance(leaf, torch.nn.Module)}
        self.parts = [
            (name, [Contents(name, each) for each in (vars(part), part._parameters, part._buffers)])
            for name, module in modules.items()
            for part in module.modules()
        ]

    def leaves_now(self) -> dict[str, Any]:
        found = {}
        for name, read, _ in self.variables:
            value = read()
            if not hasattr(value, "__len__") or isinstance(value, list | tuple | dict) and len(value) <= LARGEST:
                found.update({name + pytree.keystr(path): leaf for path, leaf in pytree.tree_flatten_with_path(value)[0]})
            else:
                found[name] = value
        return found

    def numbers_now(self) -> dict[str, Variable]:
        """The variables that hold numbers, also in containers."""
        variables = [variable for variable in self.variables if variable.write is not None]
        variables += [
            variable_in(container, key, f"{title}[{key!r}]")
            for name, read, _ in self.variables
            for title, container in nested(name, read())
            if len(container) <= LARGEST
            for key, _ in items_of(container)
        ]
        return {variable.name: variable for variable in variables if is_number(variable.read())}

    def refuse_other_numbers(self, leaves: dict[str, Any], symbols: Collection[str]) -> None:
        """Refuses numbers and strings of a call that are not those of the trace; `symbols` may be others."""
        for name, traced in self.leaves.items():
            now = leaves.get(name)
            if name in symbols:
                continue
            if isinstance(traced, bool | int | float | str | None) and (type(now), now) != (type(traced), traced):
                raise OtherCall(f"expected {name}, which the step closes over, to be {traced!r} as when it was compiled, but got {now!r}")

    def release(self) -> None:
        """Lets go of the values, which only a trace needs."""
        self.values, self.numbers, self.contents, self.parts = {}, {}, [], []

    def refuse_changes(self) -> None:
        """Refuses a step that changed them, and puts them back."""
        names, changed = [], {}
        for name, variable in self.numbers.items():
            now = variable.read()
            if is_number(now) and differ(self.own_numbers[name], now):
                changed[name] = NUMBERS[type(now)]
                variable.write(self.own_numbers[name])
        for name, read, write in self.variables:
            if read() is not self.values[name]:
                names.append(name)
                write(self.values[name])
        for contents in self.contents:
            if contents.is_changed:
                names.append(contents.name)
                contents.put_back()
        for name, part in self.parts:
            # torch.func.functional_call leaves its weights in an LSTM's list of them.
            found = {
                key
                for contents in part
                for key, value in items_of(contents.container)
                if any(isinstance(leaf, FakeTensor) for leaf in pytree.tree_leaves(value))
            }
            names += [name] if found - {"_flat_weights"} else []
            if found:
                for contents in part:
                    contents.put_back()
        if names:
            raise UnsupportedStep(
                f"the step changes {names[0]}, which it closes over, and a run would not: return the new value; "
                "if only its first call does so, run the step once in PyTorch, and compile it then"
            )
        if changed:
            raise ChangedNumbers(changed)
