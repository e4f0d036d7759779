"""Python's numbers that a trace takes as symbols of PyTorch: a call gives them, and a run may change them.

Floats among the arguments of a step, floats that it closes over and learning rates of optimizers are such numbers from the
beginning, others where a trace shows that the step changes them. A number that Python code needs, as in a branch, stays that
of the compilation.
"""

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
import torch.utils._pytree as pytree
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from ...errors import OtherCall, UnsupportedStep
from .containers import Variable

# The types of numbers that a step takes out of tensors, as a trace has them.
SYMBOLS = {torch.SymBool: torch.bool, torch.SymFloat: torch.float64, torch.SymInt: torch.int64}
NUMBERS = {int: torch.int64, float: torch.float64, torch.SymInt: torch.int64, torch.SymFloat: torch.float64}

# Functions of numbers that torch-mlir has no form for, as functions of tensors.
OF_NUMBERS = {
    operator.abs: torch.abs,
    operator.floordiv: torch.floor_divide,
    operator.mod: torch.remainder,
    operator.pow: torch.pow,
    torch.sym_float: torch.Tensor.double,
    torch.sym_max: torch.maximum,
    torch.sym_min: torch.minimum,
}
MATH = ("cos", "exp", "expm1", "log", "log10", "log1p", "log2", "pow", "sin", "sqrt", "tan", "tanh")


def is_number(value: Any) -> bool:
    return type(value) in NUMBERS


def is_symbol(value: Any) -> bool:
    return type(value) in SYMBOLS


def differ(one: Any, other: Any) -> bool:
    """Whether two values are not the same; a comparison of symbols would ask for their numbers."""
    return one is not other and (is_symbol(one) or is_symbol(other) or type(one) is not type(other) or one != other)


@contextlib.contextmanager
def unknown() -> Iterator[None]:
    """Operations of symbols have unknown results. PyTorch follows the numbers of constant tensors, and takes a symbol for NaN there."""
    own = FakeTensorMode.dispatch

    @functools.wraps(own)
    def dispatch(self: FakeTensorMode, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        leaves = pytree.tree_leaves((arguments, options))
        if any(map(is_symbol, leaves)):
            for leaf in leaves:
                if isinstance(leaf, FakeTensor) and leaf.constant is not None:
                    self.fake_tensor_converter.invalidate_constant_aliases(leaf.constant)
        return own(self, function, types, arguments, options)

    with mock.patch.object(FakeTensorMode, "dispatch", dispatch):
        yield


class ChangedNumbers(UnsupportedStep):
    """A step changes numbers that are constants of the trace.

    Attributes:
        types: those of the numbers at the end, by name.
    """

    def __init__(self, types: dict[str, torch.dtype]):
        super().__init__(f"the step changes {min(types)}, and a run would not: make it a tensor")
        self.types = types


def as_tensor(number: Any) -> torch.Tensor:
    return torch.full((), number, dtype=NUMBERS[type(number)])


def of_symbols(function: Callable, number_function: Callable) -> Callable:
    """A function of Python's numbers that takes symbols, too."""

    @functools.wraps(number_function)
    def call(*numbers: Any) -> Any:
        if any(map(is_symbol, numbers)) and all(map(is_number, numbers)):
            return function(*(as_tensor(number).double() for number in numbers)).item()
        return number_function(*numbers)

    return call


@contextlib.contextmanager
def in_math() -> Iterator[None]:
    """Python's module `math` takes symbols."""
    with contextlib.ExitStack() as stack:
        for name in MATH:
            stack.enter_context(mock.patch.object(math, name, of_symbols(getattr(torch, name), getattr(math, name))))
        yield


class Symbols:
    """The numbers of one trace.

    Attributes:
        examples: their tensors, by name.
        types: those of the tensors.
    """

    def __init__(self, values: dict[str, Any], types: dict[str, torch.dtype]):
        self.types = types
        self.examples = {name: torch.tensor(values[name], dtype=dtype) for name, dtype in types.items()}
        self.of: dict[str, Any] = {}
        self.after: dict[str, Any] = {}
        self.opened: list[tuple[Variable, Any]] = []

    def make(self, tensors: list[torch.Tensor]) -> None:
        """Takes the symbols out of tensors of the trace."""
        self.of = {name: tensor.item() for name, tensor in zip(self.types, tensors, strict=True)}

    def put(self, variables: list[Variable]) -> None:
        """Puts symbols into variables with their names."""
        for variable in variables:
            if variable.name in self.of:
                self.opened.append((variable, variable.read()))
                variable.write(self.of[variable.name])

    def take(self) -> None:
        """Gives the variables their own numbers again, and keeps those that the step left there."""
        for variable, own in reversed(self.opened):
            self.after[variable.name] = variable.read()
            variable.write(own)
        self.opened = []

    def changed(self) -> dict[str, torch.Tensor]:
        """The numbers that the step leaves in variables, by name."""
        found = {name: value for name, value in self.after.items() if value is not self.of[name]}
        for name, value in found.items():
            if not is_number(value):
                raise UnsupportedStep(f"the step puts a {type(value).__name__} in the place of {name}, a number: return it")
        floats = {name: torch.float64 for name, value in found.items() if NUMBERS[type(value)].is_floating_point}
        if wider := {name: dtype for name, dtype in floats.items() if self.types[name] != dtype}:
            raise ChangedNumbers(wider)
        return {name: torch.full((), value, dtype=self.types[name]) for name, value in found.items()}

    def named_in(self, error: BaseException | None) -> set[str]:
        """The numbers that Python code needed where PyTorch raised an error."""
        symbols = getattr(getattr(error, "cond", None), "free_symbols", set())
        return {name for name, symbol in self.of.items() if symbol.node.expr.free_symbols & symbols}


def tensor_of(variable: Variable | None, name: str, dtype: torch.dtype) -> torch.Tensor:
    """The number of a call in a tensor."""
    value = None if variable is None else variable.read()
    if type(value) is not int and not (type(value) is float and dtype == torch.float64):
        kind = "a float" if dtype == torch.float64 else "an integer"
        raise OtherCall(f"expected {name} to be {kind}, as when the step was compiled, but got {value!r}")
    return torch.tensor(value, dtype=dtype)
