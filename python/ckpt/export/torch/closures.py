"""The values that a step of PyTorch closes over: variables of enclosing functions, globals, and attributes of its object.

`TorchStep` finds tensors, modules and optimizers there at each call, and refuses numbers that changed, and a step that puts
other values there: Python code runs once, in the trace.
"""

import dis
import functools
import inspect
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any

import torch
import torch.utils._pytree as pytree

from ...errors import ArrayError, UnsupportedStep
from .containers import Contents, nested


def globals_of(code: CodeType) -> set[str]:
    """The names of globals that a function reads or writes, or a function that it makes."""
    names = {each.argval for each in dis.get_instructions(code) if each.opname.endswith("_GLOBAL")}
    return names.union(*(globals_of(each) for each in code.co_consts if isinstance(each, CodeType)))


def attributes_of(function: FunctionType, kind: type) -> set[str]:
    """The names of attributes that a method reads or writes, or a method of the same class that it calls."""
    waiting, names = [function.__code__], set()
    while waiting:
        code = waiting.pop()
        found = {each.argval for each in dis.get_instructions(code) if each.opname in ("LOAD_ATTR", "STORE_ATTR", "LOAD_METHOD")} - names
        names |= found
        methods = (getattr(kind, name, None) for name in found)
        waiting += [method.__code__ for method in methods if isinstance(method, FunctionType)]
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
    return names


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


def variables_of(step: Any) -> Iterator[tuple[str, Any, Callable[[], Any], Callable[[Any], None]]]:
    """The variables that a callable closes over, and the functions of the user's that it calls by them: the name, and how to read and to set it."""

    def in_dictionary(name: str, values: dict, key: str) -> tuple:
        return name, lambda: values.get(key), functools.partial(values.__setitem__, key)

    def in_cell(name: str, cell: Any) -> tuple:
        return name, lambda: cell.cell_contents, functools.partial(setattr, cell, "cell_contents")

    waiting, seen = [step], set()
    while waiting:
        function = waiting.pop(0)
        if id(function) in seen:
            continue
        seen.add(id(function))
        if isinstance(function, functools.partial):
            given = {f"argument {i}": value for i, value in enumerate(function.args)} | function.keywords
            yield from (in_dictionary(name, given, name) for name in given)
            waiting.append(function.func)
        elif isinstance(function, MethodType):
            waiting.append(function.__func__)
            values = getattr(function.__self__, "__dict__", {})
            used = attributes_of(function.__func__, type(function.__self__)) if isinstance(function.__func__, FunctionType) else set()
            yield from (in_dictionary(f"self.{name}", values, name) for name in list(values) if name in used)
        elif isinstance(function, FunctionType):
            variables = [in_cell(name, cell) for name, cell in cells_of(function).items()]
            inner = {name for name, *_ in variables}
            shared = function.__globals__
            variables += [in_dictionary(name, shared, name) for name in sorted(globals_of(function.__code__)) if name in shared]
            for name, read, write in variables:
                value = read()
                if isinstance(value, FunctionType | MethodType | functools.partial) and (name in inner or getattr(value, "__globals__", None) is shared):
                    waiting.append(value)
                elif not inspect.ismodule(value) and not inspect.isclass(value) and not inspect.isroutine(value):
                    yield name, read, write
        elif isinstance(getattr(type(function), "__call__", None), FunctionType):
            waiting.append(function.__call__)


# A container of more values holds data, and no settings.
LARGEST = 1000


class Closure:
    """The values that a step closes over, as they are before it is traced.

    Attributes:
        values: by name.
        leaves: the values in containers among them, by name.
    """

    def __init__(self, step: Callable):
        self.variables = list(variables_of(step))
        self.values = {name: read() for name, read, _ in self.variables}
        self.leaves = self.leaves_now()
        self.contents = [Contents(*each) for name, value in self.values.items() for each in nested(name, value)]
        # `Stage` looks after modules and optimizers.
        apart = torch.Tensor | torch.nn.Module | torch.optim.Optimizer
        objects = {name: value for name, value in self.values.items() if hasattr(value, "__dict__") and not isinstance(value, apart)}
        self.contents += [Contents(f"an attribute of {name}", vars(value)) for name, value in objects.items()]

    def leaves_now(self) -> dict[str, Any]:
        found = {}
        for name, read, _ in self.variables:
            value = read()
            if not hasattr(value, "__len__") or isinstance(value, list | tuple | dict) and len(value) <= LARGEST:
                found.update({name + pytree.keystr(path): leaf for path, leaf in pytree.tree_flatten_with_path(value)[0]})
            else:
                found[name] = value
        return found

    def refuse_other_numbers(self, leaves: dict[str, Any]) -> None:
        """Refuses numbers and strings of a call that are not those of the trace."""
        for name, traced in self.leaves.items():
            now = leaves.get(name)
            if isinstance(traced, bool | int | float | str | None) and (type(now), now) != (type(traced), traced):
                raise ArrayError(f"expected {name}, which the step closes over, to be {traced!r} as when it was compiled, but got {now!r}: compile it again, or make it a tensor")

    def refuse_changes(self) -> None:
        """Refuses a step that changed them, and puts them back."""
        changed = [name for name, read, _ in self.variables if read() is not self.values[name]]
        changed += [contents.name for contents in self.contents if contents.is_changed]
        for name, _, write in self.variables:
            write(self.values[name])
        for contents in self.contents:
            contents.put_back()
        if changed:
            raise UnsupportedStep(
                f"the step changes {changed[0]}, which it closes over, and a run would not: return the new value; "
                "if only its first call does so, run the step once in PyTorch, and compile it then"
            )
