"""Steps in Python files of the user, and arrays in files."""

import importlib.util
import os
import sys
from collections.abc import Callable

import numpy as np

from ..errors import UnsupportedStep


def load_step(path: str, function: str, arguments: str) -> tuple[Callable, tuple]:
    """The function and its example arguments, from the user's file."""
    spec = importlib.util.spec_from_file_location("step_file", path)
    if not os.path.exists(path) or spec is None:
        raise UnsupportedStep(f"expected a Python file, but got '{path}'")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    for name in (function, arguments):
        if not hasattr(module, name):
            raise UnsupportedStep(f"'{path}' does not define '{name}'")
    example = getattr(module, arguments)
    return getattr(module, function), tuple(example() if callable(example) else example)


def save_arrays(path: str, prefix: str, arrays: list[np.ndarray]) -> None:
    """Writes arrays as ckpt-runner reads them."""
    np.savez(path, **{f"{prefix}{i:03}": array for i, array in enumerate(arrays)})
