"""Turns a training step written in JAX into a file that ckpt-opt and ckpt-runner read.

The step is a function in a Python file of yours, beside example arguments that
say shapes and types (arrays, or jax.ShapeDtypeStruct). Weights are arguments,
so the result holds none. See docs/ExportFromJax.md for packages and an example.
"""

import argparse
import importlib.util
import inspect
import json
import os
import re
import sys

import jax
import numpy as np
from jax._src import prng
from jax._src.interpreters import mlir
from iree.compiler import ir, passmanager
from rewrite_conversions import CONTRACTIONS, rewrite_contraction, rewrite_conversion
from rewrite_products import rewrite_turned_product
from rewrite_scatters import rewrite_pooling_gradient, rewrite_scatter

# What JAX's operations can be written with where they have no linalg form.
WAYS_OUT = {
    "cumsum": "multiply by a triangular matrix of ones, or use jax.lax.associative_scan with jnp.add",
    "cumprod": "use jax.lax.associative_scan with jnp.multiply",
    "cummax": "use jax.lax.associative_scan with jnp.maximum",
    "cummin": "use jax.lax.associative_scan with jnp.minimum",
    "cumlogsumexp": "use jax.lax.associative_scan with jnp.logaddexp",
    "sort": "sort outside of the step and pass on the order as an argument",
    "top_k": "take jnp.argmax k times, each time with what it found masked out",
}


def load_step(path, function, arguments):
    """The function and its example arguments, from the user's file."""
    spec = importlib.util.spec_from_file_location("step_file", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec.loader.exec_module(module)
    for name in (function, arguments):
        if not hasattr(module, name):
            raise ValueError(f"'{path}' does not define '{name}'")
    example = getattr(module, arguments)
    return getattr(module, function), example() if callable(example) else example


def lower_to_stablehlo(step, example):
    """StableHLO text; the locations carry JAX's name stack, which names layers."""
    # Random bits without a loop: masks are then elementwise, as on accelerators.
    mlir.register_lowering(prng.threefry2x32_p, prng._threefry2x32_lowering_rule, platform="cpu")
    # One line of the user's per operation, not the stack of calls that led there.
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    lowered = jax.jit(step, keep_unused=True).lower(*example)
    text = lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)
    # JAX gives the function itself no place; messages about the whole step name where it begins.
    if code := getattr(inspect.unwrap(step), "__code__", None):
        place = f"loc({json.dumps(code.co_filename)}:{code.co_firstlineno}:1)"
        text = re.sub(r"^(#loc\d*) = loc\(unknown\)$", lambda found: f"{found[1]} = {place}", text, flags=re.MULTILINE)
    return text


def operations_of(operation):
    """All operations inside, at any depth, collected before anything changes."""
    found = []
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                found.append(child.operation)
                found.extend(operations_of(child.operation))
    return found


def lower_to_linalg(stablehlo):
    """Linalg on tensors, by IREE's input pipeline, which knows no scatters."""
    module = ir.Module.parse(stablehlo)
    passes = ["iree-stablehlo-input-transformation-pipeline"]
    for operation in operations_of(module.operation):
        if operation.name == "stablehlo.transpose":
            rewrite_turned_product(operation)
    for operation in operations_of(module.operation):
        if operation.name == "stablehlo.scatter":
            rewrite_scatter(operation)
        elif operation.name == "stablehlo.select_and_scatter":
            rewrite_pooling_gradient(operation)
        elif operation.name == "stablehlo.convert":
            rewrite_conversion(operation)
        elif operation.name in CONTRACTIONS:
            rewrite_contraction(operation)
        elif operation.name == "stablehlo.optimization_barrier":
            # What is made again is for ckpt to decide, not for jax.checkpoint.
            for result, operand in zip(operation.results, operation.operands):
                result.replace_all_uses_with(operand)
            operation.erase()
            passes[1:] = ["cse"]
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    return module


def refusals_of(operations):
    """Of each place in the step: JAX's operation there, its name stack where it is met first, and a way out."""
    found = {}
    for operation in operations:
        calls = re.findall(r'"([^"]*)"\("([^"]*)":(\d+)', str(operation.location))
        # The innermost is first; jnp.cumsum, for one, calls reduce_window_sum.
        known = [call for call in calls if call[0].split("/")[-1] in WAYS_OUT]
        stack, file, line = (known or calls or [(operation.name, "unknown", 0)])[0]
        name = stack.split("/")[-1]
        way_out = f": {WAYS_OUT[name]}" if known else ""
        found.setdefault((name, file, line), f"{name} ({file}:{line}, in {stack}){way_out}")
    return found.values()


def export(step, example):
    """The step as text in upstream MLIR dialects."""
    stablehlo = lower_to_stablehlo(step, example)
    with ir.Context():
        module = lower_to_linalg(stablehlo)
        dialects = ("arith", "func", "linalg", "math", "scf", "tensor", "complex")
        is_foreign = lambda name: name.split(".")[0] not in dialects and not name.endswith(".yield")
        foreign = [operation for operation in operations_of(module.operation) if is_foreign(operation.name)]
        if foreign:
            raise ValueError("\n  ".join(["these operations have no linalg form:", *refusals_of(foreign)]))
        module.operation.verify()
        return module.operation.get_asm(enable_debug_info=True)


def save_arrays(path, prefix, tree):
    arrays = [np.asarray(leaf) for leaf in jax.tree_util.tree_leaves(tree)]
    np.savez(path, **{f"{prefix}{i:03}": array for i, array in enumerate(arrays)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="your Python file")
    parser.add_argument("output", help="the .mlir file to write")
    parser.add_argument("--function", default="step", help="the step: a function (default: step)")
    parser.add_argument("--arguments", default="example_arguments", help="a tuple, or a function that returns one")
    parser.add_argument("--inputs", help="also write the example arguments, for ckpt-runner --inputs")
    parser.add_argument("--expected", help="also run the step in JAX and write its results, for ckpt-runner --expected")
    options = parser.parse_args()
    try:
        step, example = load_step(options.file, options.function, options.arguments)
        text = export(step, example)
    except (ValueError, OSError, ir.MLIRError) as error:
        sys.exit(f"error: {error}")
    if options.inputs:
        save_arrays(options.inputs, "arg", example)
    if options.expected:
        save_arrays(options.expected, "out", jax.jit(step)(*example))
    with open(options.output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
