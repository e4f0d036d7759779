"""Steps with tensors on a GPU. A trace has tensors of the CPU in their places: a step's text says nothing of devices, and the forms that
operations have here are made of tensors of the CPU."""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode

AUTOCAST = torch.amp.autocast_mode.autocast


def on_cpu(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, or one of its kind on the CPU, with other numbers."""
    return tensor if tensor.device.type == "cpu" else torch.empty_like(tensor, device="cpu").requires_grad_(tensor.requires_grad)


class OnCpu(TorchFunctionMode):
    """Functions of PyTorch that are asked for another device use the CPU."""

    def __torch_function__(self, function: Callable, types: Any, arguments: tuple = (), options: dict | None = None) -> Any:
        if function == torch.Tensor.cuda:
            return arguments[0]
        is_to = function == torch.Tensor.to
        here = [torch.device("cpu") if is_device(value) or is_to and isinstance(value, str) else value for value in arguments]
        named = {key: "cpu" if key == "device" and value is not None else value for key, value in (options or {}).items()}
        return function(*here, **named)


def is_device(value: Any) -> bool:
    return isinstance(value, torch.device) and value.type != "cpu"


@contextlib.contextmanager
def gpus_mean_the_cpu() -> Iterator[None]:
    """Surrounds a step whose tensors are on a GPU, for code that names it."""

    @functools.wraps(AUTOCAST.__init__)
    def start(self: Any, device_type: str, dtype: torch.dtype | None = None, *arguments: Any, **options: Any) -> None:
        if device_type != "cpu":
            device_type, dtype = "cpu", dtype or torch.get_autocast_dtype(device_type)
        own(self, device_type, dtype, *arguments, **options)

    own = AUTOCAST.__init__
    with mock.patch.object(AUTOCAST, "__init__", start), OnCpu():
        yield
