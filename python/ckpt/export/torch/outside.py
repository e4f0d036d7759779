"""The tensors that a step reads from outside of a trace, and the tensors of the trace that stand in their places."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch._subclasses.fake_tensor import FakeTensor

from ...errors import UnsupportedStep
from .devices import on_cpu

# They take numbers out of a tensor, which are those of the trace: the tensor itself says them.
READERS = {"item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__", "__index__", "__complex__"}


def is_outside(value: Any) -> bool:
    """Whether a value is a tensor with memory of its own, and not one of a trace or of a transformation."""
    return (
        isinstance(value, torch.Tensor)
        and not isinstance(value, FakeTensor)
        and type(value).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        and not torch._C._functorch.is_functorch_wrapped_tensor(value)
    )


@contextmanager
def unseen() -> Iterator[None]:
    """No mode of the trace sees attributes that are read, such as gradients, and no transformation wraps tensors that are made."""
    with torch._C.DisableTorchFunction(), temporarily_clear_interpreter_stack(), torch.inference_mode(False), torch.enable_grad():
        yield


class Outside:
    """The outside of one trace.

    Attributes:
        own: the tensors from outside, in the order in which the trace met them.
        read: those that the trace reads, which are `own` where these are on the CPU.
        accumulated: the numbers among `own` whose gradients the step adds to, or gives to an optimizer.
        cleared: the numbers among `own` whose gradients the step sets to nothing before it adds to them.
        used: the numbers among `own` whose gradients an optimizer has used.
        met: the numbers among `own` of tensors that the step reached otherwise than by its arguments.
    """

    def __init__(self) -> None:
        self.own: list[torch.Tensor] = []
        self.read: list[torch.Tensor] = []
        self.new: list[torch.Tensor] = []
        # By identity of the former and of the latter.
        self.numbers: dict[int, int] = {}
        self.numbers_of_new: dict[int, int] = {}
        self.accumulated: set[int] = set()
        self.cleared: set[int] = set()
        self.used: set[int] = set()
        self.met: set[int] = set()
        self.modes: int | None = None

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Surrounds the step."""
        self.modes = torch._C._len_torch_dispatch_stack()
        try:
            yield
        finally:
            self.modes = None

    @property
    def is_open(self) -> bool:
        """Whether the step runs, and not PyTorch's own code of a trace, which leaves modes of the trace while it makes values."""
        return self.modes is not None and torch._C._len_torch_dispatch_stack() >= self.modes

    def put(self, own: torch.Tensor, read: torch.Tensor, new: torch.Tensor) -> None:
        """Lets `new`, a copy of `read`, stand for `own`, with the user's hooks."""
        number = self.numbers[id(own)] = self.numbers_of_new[id(new)] = len(self.own)
        self.own.append(own)
        self.read.append(read)
        self.new.append(new)
        new.requires_grad_(own.requires_grad)
        if not own.is_leaf:
            return
        for hook in (own._backward_hooks or {}).values():
            new.register_hook(hook)
        if own.requires_grad:
            new.register_post_accumulate_grad_hook(lambda _: self.accumulated.add(number))
        for hook in (own._post_accumulate_grad_hooks or {}).values():
            new.register_post_accumulate_grad_hook(hook)

    def take_gradient(self, own: torch.Tensor) -> None:
        """Gives the tensor in the place of `own` its gradient."""
        if not own.is_leaf or own.grad is None:
            return
        if own.grad.layout != torch.strided:
            raise UnsupportedStep("a gradient is sparse when the step is compiled: set it to None before, with zero_grad()")
        self.new[self.numbers[id(own)]].grad = self.of(own.grad)

    def of(self, own: torch.Tensor) -> torch.Tensor:
        """The tensor in the place of `own`; in the graph it is a copy of a constant that a trace makes of `own`."""
        if id(own) not in self.numbers:
            with unseen():
                read = on_cpu(own)
                self.put(own, read, read.detach().clone())
                self.take_gradient(own)
        number = self.numbers[id(own)]
        self.met.add(number)
        return self.new[number]

    def release(self) -> None:
        """Lets go of the tensors. Python would not find the circle by itself, as hooks of tensors are a part of it."""
        self.own, self.new, self.numbers, self.numbers_of_new = [], [], {}, {}

    def clear(self, tensors: Iterable[torch.Tensor]) -> None:
        """Says that the step sets gradients to nothing, whatever a run finds there."""
        numbers = {self.numbers_of_new.get(id(self.instead(each))) for each in tensors}
        self.cleared |= numbers - self.accumulated

    def instead(self, value: Any) -> Any:
        """A value of arguments with tensors of the trace in the places of those from outside."""
        if isinstance(value, torch.Tensor):
            return self.of(value) if is_outside(value) else value
        if type(value) in (list, tuple):
            return type(value)(map(self.instead, value))
        if type(value) is dict:
            return {key: self.instead(item) for key, item in value.items()}
        return value

    def called(self, function: Any, arguments: tuple, options: dict) -> Any:
        """Calls a function of PyTorch on tensors of the trace."""
        if not self.is_open or getattr(function, "__name__", "") in READERS:
            return function(*arguments, **options)
        if function == torch.Tensor.grad.__set__ and arguments[1] is None:
            self.clear(arguments[:1])
        return function(*self.instead(arguments), **self.instead(options))
