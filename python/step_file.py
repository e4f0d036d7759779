"""The command line of both exporters: a Python file with a step and example arguments becomes a file in MLIR."""

import argparse
import importlib.util
import os
import sys
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from mlir_text import Unsupported


class ExportedStep(Protocol):
    """A step that one of the exporters has traced."""

    def export(self) -> str: ...

    def inputs(self) -> list[np.ndarray]: ...

    def expected(self) -> list[np.ndarray]: ...


def load_step(path: str, function: str, arguments: str) -> tuple[Callable, tuple]:
    """The function and its example arguments, from the user's file."""
    spec = importlib.util.spec_from_file_location("step_file", path)
    if not os.path.exists(path) or spec is None:
        raise Unsupported(f"expected a Python file, but got '{path}'")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    for name in (function, arguments):
        if not hasattr(module, name):
            raise Unsupported(f"'{path}' does not define '{name}'")
    example = getattr(module, arguments)
    return getattr(module, function), tuple(example() if callable(example) else example)


def save_arrays(path: str, prefix: str, arrays: list[np.ndarray]) -> None:
    np.savez(path, **{f"{prefix}{i:03}": array for i, array in enumerate(arrays)})


def command_line(description: str, trace: Callable[[Callable, tuple], ExportedStep], errors: tuple[Any, ...]) -> None:
    """Reads the options, exports the step, and writes the files."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="your Python file")
    parser.add_argument("output", help="the .mlir file to write")
    parser.add_argument("--function", default="step", help="the step: a function (default: step)")
    parser.add_argument("--arguments", default="example_arguments", help="a tuple, or a function that returns one")
    parser.add_argument("--inputs", help="also write the example arguments, for ckpt-runner --inputs")
    parser.add_argument("--expected", help="also run the step and write its results, for ckpt-runner --expected")
    options = parser.parse_args()
    try:
        step = trace(*load_step(options.file, options.function, options.arguments))
        text = step.export()
        if options.inputs:
            save_arrays(options.inputs, "arg", step.inputs())
        if options.expected:
            save_arrays(options.expected, "out", step.expected())
        with open(options.output, "w") as file:
            file.write(text)
    except (Unsupported, OSError, *errors) as error:
        sys.exit(f"error: {error}")
