"""Python's numbers that a trace takes as symbols of PyTorch: a call gives them, and a run may change them.

Floats among the arguments of a step, floats that it closes over and learning rates of optimizers are such numbers from the
beginning, others where a trace shows that the step changes them, or where they differ between the examples of a step.

A number that Python code needs, as in a branch, is that of the example there. The trace notes the expression that was needed and
its value, and a program takes the calls whose numbers give that expression the same value. A number that the numbers of a call
do not say, such as that of a loss, is needed in vain.
"""

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import sympy
import torch
from torch.fx.experimental.sym_node import SymNode
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis

from ...errors import OtherCall, UnsupportedStep
from .containers import Variable
from .places import TRACE, in_words, trace_of_caller

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


def can_be_symbol(value: Any) -> bool:
    """Whether a tensor holds the number: an integer of Python may have any size."""
    return type(value) is float or type(value) is int and -(2**63) <= value < 2**63


def is_symbol(value: Any) -> bool:
    return type(value) in SYMBOLS


def differ(one: Any, other: Any) -> bool:
    """Whether two values are not the same; a comparison of symbols would ask for their numbers."""
    return one is not other and (is_symbol(one) or is_symbol(other) or type(one) is not type(other) or one != other)


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


def value_of(expression: Any, values: dict[sympy.Symbol, Any]) -> Any:
    """The number that Python computes by an expression of symbols."""
    return sympy_interp(PythonReferenceAnalysis, values, expression) if expression.free_symbols else expression


class Symbols:
    """The numbers of one trace.

    Attributes:
        examples: their tensors, by name.
        types: those of the tensors.
        values: the numbers of the example, by symbol.
        made: for symbols that a function of Python's makes of others, in order, the function and the expressions of its operands.
        needed: values of expressions that Python code needed, each with its place in the user's files.
        origins: for each trace, also of the graph, its symbols as expressions of those of the step's.
    """

    def __init__(self, values: dict[str, Any], types: dict[str, torch.dtype]):
        self.types = types
        self.examples = {name: torch.tensor(values[name], dtype=dtype) for name, dtype in types.items()}
        self.of: dict[str, Any] = {}
        self.symbols: dict[str, sympy.Symbol] = {}
        self.after: dict[str, Any] = {}
        self.opened: list[tuple[Variable, Any]] = []
        self.values: dict[sympy.Symbol, Any] = {}
        self.made: dict[sympy.Symbol, tuple[Callable, list[Any]]] = {}
        self.needed: dict[Any, tuple[Any, str]] = {}
        self.origins: dict[Any, dict[sympy.Symbol, Any]] = {}

    def make(self, tensors: list[torch.Tensor]) -> None:
        """Takes the symbols out of tensors of the trace."""
        self.of = {name: tensor.item() for name, tensor in zip(self.types, tensors, strict=True)}
        self.symbols = {name: number.node.expr for name, number in self.of.items()}
        self.values = {symbol: self.examples[name].item() for name, symbol in self.symbols.items()}
        self.made, self.needed, self.origins = {}, {}, {}
        for number in self.of.values():
            self.note(number, number)

    @contextlib.contextmanager
    def deciding(self) -> Iterator[None]:
        """Code that needs a number of the example gets it."""
        own = SymNode.evaluate

        def evaluate(node: SymNode, *options: Any, **named: Any) -> Any:
            origins = self.origins.get(node.shape_env, {})
            if not node.expr.free_symbols or not node.expr.free_symbols <= origins.keys():
                return own(node, *options, **named)
            # PyTorch's own answers are not asked for: it holds x > x to be true for floats.
            expression = node.expr.xreplace(origins)
            value, _ = self.needed.setdefault(expression, (value_of(expression, self.values), trace_of_caller()))
            return value

        with mock.patch.object(SymNode, "evaluate", evaluate):
            yield

    @contextlib.contextmanager
    def in_math(self) -> Iterator[None]:
        """Python's module `math` takes symbols."""

        def of_symbols(function: Callable, number_function: Callable) -> Callable:
            @functools.wraps(number_function)
            def call(*numbers: Any) -> Any:
                if not any(map(is_symbol, numbers)) or not all(map(is_number, numbers)):
                    return number_function(*numbers)
                result = function(*(as_tensor(number).double() for number in numbers)).item()
                operands = [number.node.expr if is_symbol(number) else sympy.sympify(number) for number in numbers]
                if all(operand.free_symbols <= self.values.keys() for operand in operands):
                    self.made[result.node.expr] = number_function, operands
                    self.values[result.node.expr] = number_function(*(value_of(operand, self.values) for operand in operands))
                    self.note(result, result)
                return result

            return call

        with contextlib.ExitStack() as stack:
            for name in MATH:
                stack.enter_context(mock.patch.object(math, name, of_symbols(getattr(torch, name), getattr(math, name))))
            yield

    def note(self, symbol: Any, origin: Any) -> None:
        """Says that a symbol stands for a number of the trace, also in a trace of the graph."""
        if isinstance(symbol.node.expr, sympy.Symbol) and origin.node.expr.free_symbols <= self.values.keys():
            self.origins.setdefault(symbol.node.shape_env, {})[symbol.node.expr] = origin.node.expr

    def release(self) -> None:
        """Lets go of the traces."""
        self.of, self.after, self.origins = {}, {}, {}

    def refuse_other_values(self, numbers: dict[str, Variable]) -> None:
        """Refuses a call with whose numbers Python code would do something else."""
        if not self.needed:
            return
        values = {symbol: tensor_of(numbers.get(name), name, self.types[name]).item() for name, symbol in self.symbols.items()}
        for symbol, (function, operands) in self.made.items():
            values[symbol] = function(*(value_of(operand, values) for operand in operands))
        for expression, (traced, place) in self.needed.items():
            if (now := value_of(expression, values)) != traced:
                named = {symbol: sympy.Symbol(name.removeprefix("the argument ")) for name, symbol in self.symbols.items()}
                shown = expression.xreplace(named) if expression.free_symbols <= named.keys() else "a number"
                raise OtherCall(f"expected {shown}{in_words({TRACE: place})} to be {traced} as when the step was compiled, but got {now}")

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
    if not can_be_symbol(value) or type(value) is float and dtype != torch.float64:
        kind = "a float" if dtype == torch.float64 else "an integer"
        raise OtherCall(f"expected {name} to be {kind}, as when the step was compiled, but got {value!r}")
    return torch.tensor(value, dtype=dtype)
