"""The values that a step of PyTorch closes over: variables of enclosing functions, globals, and attributes of its object.

`TorchStep` finds tensors, modules, optimizers and numbers there at each call, and refuses a step that puts other kinds of values
there: Python code runs once, in the trace.
"""

import dis
import functools
import inspect
import site
import sysconfig
from collections.abc import Callable, Collection
from pathlib import Path
from types import CodeType, FunctionType, MethodType, ModuleType
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
    is_code = inspect.ismodule(value) or inspect.isclass(value) or inspect.isroutine(value)
    return hasattr(value, "__dict__") and not is_code and not isinstance(value, torch.Tensor | torch.nn.Module | torch.optim.Optimizer)


# The folders of Python's modules and of installed packages, whose functions keep states that no step means.
PYTHON = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
PACKAGES = {*site.getsitepackages(), site.getusersitepackages(), str(Path(torch.__file__).parents[1]), str(Path(__file__).parents[2])}


def is_of_library(value: FunctionType | ModuleType) -> bool:
    file = value.__code__.co_filename if isinstance(value, FunctionType) else getattr(value, "__file__", None)
    return file is None or file.startswith((*PYTHON, *PACKAGES, "<frozen"))


class Surface:
    """The variables that a callable and the functions that it calls close over, and the attributes of objects and files there that these name,
    at any depth. Functions of libraries are left out, but those of the callable's own file.

    Attributes:
        variables: in the order in which they are found.
    """

    def __init__(self, step: Any):
        self.variables: list[Variable] = []
        self.waiting, self.seen = [step], set()
        # Attributes that functions name, and the objects that may have them.
        self.names: set[str] = set()
        self.objects: dict[int, tuple[str, Any]] = {}
        self.holders: set[tuple[int, Any]] = set()
        self.titles: set[str] = set()
        self.own: dict[str, Any] | None = None
        known = -1
        while self.waiting or known != len(self.names) + len(self.objects):
            known = len(self.names) + len(self.objects)
            while self.waiting:
                self.follow(self.waiting.pop(0))
            for title, value in list(self.objects.values()):
                self.look_into(title, value)

    def follow(self, function: Any) -> None:
        """Notes all that a function closes over, and the attributes that it names."""
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        if isinstance(function, functools.partial):
            for i, value in enumerate(function.args):
                self.add((id(function), i), Variable(f"argument {i}", lambda value=value: value, None))
            for name in function.keywords:
                self.add((id(function.keywords), name), variable_in(function.keywords, name, name))
            self.waiting.append(function.func)
        elif isinstance(function, MethodType):
            self.names.add(function.__name__)
            self.note("self", function.__self__)
            self.waiting.append(function.__func__)
        elif isinstance(function, FunctionType):
            shared = function.__globals__
            self.own = shared if self.own is None else self.own
            if shared is not self.own and is_of_library(function):
                return
            self.names |= named_in(function.__code__, "_ATTR", "_METHOD")
            for name, cell in cells_of(function).items():
                read, write = lambda cell=cell: cell.cell_contents, functools.partial(setattr, cell, "cell_contents")
                self.add((id(cell), ""), Variable(name, read, write))
            prefix = "" if shared is self.own else f"{shared.get('__name__')}."
            for name in sorted(named_in(function.__code__, "_GLOBAL")):
                if name in shared:
                    self.add((id(shared), name), variable_in(shared, name, prefix + name))
        elif isinstance(getattr(type(function), "__call__", None), FunctionType):
            self.waiting.append(function.__call__)

    def add(self, holder: tuple[int, Any], variable: Variable) -> None:
        if holder in self.holders:
            return
        self.holders.add(holder)
        value = variable.read()
        if isinstance(value, FunctionType | MethodType | functools.partial):
            self.waiting.append(value)
        elif inspect.ismodule(value):
            if not is_of_library(value):
                self.objects.setdefault(id(value), (variable.name, value))
        elif not inspect.isclass(value) and not inspect.isroutine(value):
            while variable.name in self.titles:
                variable = variable._replace(name=variable.name + "'")
            self.titles.add(variable.name)
            self.variables.append(variable)
            self.note(variable.name, value)

    def note(self, title: str, value: Any) -> None:
        """Takes down the objects in a value."""
        if is_object(value):
            self.objects.setdefault(id(value), (title, value))
        for name, container in nested(title, value):
            if len(container) <= LARGEST:
                for key, item in items_of(container):
                    if is_object(item):
                        self.objects.setdefault(id(item), (f"{name}[{key!r}]", item))

    def look_into(self, title: str, value: Any) -> None:
        for name in self.names:
            method = inspect.getattr_static(type(value), name, None)
            method = inspect.unwrap(method.fget if isinstance(method, property) else getattr(method, "__func__", method))
            if isinstance(method, FunctionType) and id(method) not in self.seen:
                self.waiting.append(method)
        attributes = vars(value)
        for name in [name for name in attributes if name in self.names]:
            self.add((id(attributes), name), variable_in(attributes, name, f"{title}.{name}"))


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
        self.variables = Surface(step).variables
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
