"""Lines of the user's files in the notes of PyTorch's graphs, which `tracing` writes, and locations and errors show."""

import inspect
import re
import sys
from collections.abc import Callable
from traceback import walk_tb
from types import FrameType
from typing import Any

import torch

from ...errors import UnsupportedStep
from . import constants

TRACE = "stack_trace"


def is_own(frame: FrameType) -> bool:
    """Whether a frame is PyTorch's or this package's."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("ckpt", "torch")


def trace_of_caller() -> str:
    """The innermost line of the user's, as PyTorch notes it."""
    frame = sys._getframe(1)
    while frame and is_own(frame):
        frame = frame.f_back
    return f'File "{frame.f_code.co_filename}", line {frame.f_lineno}' if frame else ""


def trace_of_error(error: Exception) -> str:
    """The innermost line of the user's between an error and the place where it was caught."""
    lines = [f'File "{frame.f_code.co_filename}", line {line}' for frame, line in walk_tb(error.__traceback__) if not is_own(frame)]
    return lines[-1] if lines else ""


def place_of_function(function: Callable) -> tuple[str, int] | None:
    """Where a function of the user's begins; one of PyTorch itself, or an object, has no code."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    return (code.co_filename, code.co_firstlineno) if code else None


def place_of(notes: dict[str, Any]) -> tuple[str, int] | None:
    """File and line."""
    found = re.match(r'File "([^"]+)", line (\d+)', notes.get(TRACE) or "")
    return (found[1], int(found[2])) if found else None


def in_words(notes: dict[str, Any]) -> str:
    """The place as errors show it after an operation; nothing where there is none."""
    place = place_of(notes)
    return f" ({place[0]}:{place[1]})" if place else ""


class Interpreter(torch.fx.Interpreter):
    """Runs a graph, and says of an operation that fails in the form that it has here where it stands."""

    def __init__(self, graph: torch.fx.GraphModule):
        super().__init__(graph)
        # PyTorch's own words behind those of an error.
        self.extra_traceback = False

    def run(self, *arguments: Any) -> Any:
        with constants.not_of_symbols():
            return super().run(*arguments)

    def run_node(self, node: torch.fx.Node) -> Any:
        try:
            return super().run_node(node)
        except UnsupportedStep:
            raise
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            name = node.target if isinstance(node.target, torch._ops.OpOverload) else node.name
            raise UnsupportedStep(f"{name}{in_words(node.meta)} is not supported with these operands ({type(error).__name__}: {first})") from error
