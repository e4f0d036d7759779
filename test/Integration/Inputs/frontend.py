"""Makes frontend.inputs.npz and frontend.expected.npz with numpy.

The values are the expressions in the comments of frontend.mlir. Needs Python 3.8.
"""
import pathlib
import re

import numpy as np

here = pathlib.Path(__file__).parent
types = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
random = np.random.default_rng(0)
inputs, expected = {}, {}


def argument(name, extents, kind):
    """Small integers and quarters, so that sums have one value; indices from 0 to 2."""
    shape = tuple(int(extent) for extent in extents.split("x") if extent)
    low = 0 if name == "i" else -5
    value = random.integers(low, 3 if name == "i" else 6, size=shape)
    return np.asarray(value / 4 if kind.startswith("f") else value, types[kind])


text = (here / "frontend.mlir").read_text()
for expression, arguments, results in re.findall(
        r"// numpy: (\[.*\])\nfunc.func private @\w+\((.*?)\) -> (.*) \{\n", text):
    values = {name: argument(name, extents, kind) for name, extents, kind in
              re.findall(r"%(\w+): tensor<((?:\d+x)*)(\w+)>", arguments)}
    for value in values.values():
        inputs[f"arg{len(inputs):03d}"] = value
    kinds = re.findall(r"tensor<(?:\d+x)*(\w+)>", results)
    for value, kind in zip(eval(expression, {"np": np, **values}), kinds):
        value = np.asarray(value, types[kind])
        expected[f"out{len(expected):03d}"] = np.array(value, order="C")
np.savez_compressed(here / "frontend.inputs.npz", **inputs)
np.savez_compressed(here / "frontend.expected.npz", **expected)
