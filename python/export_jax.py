"""Turns a training step written in JAX into a file that ckpt-opt and ckpt-runner read.

The step is a function in a Python file of yours, beside example arguments that
say shapes and types (arrays, or jax.ShapeDtypeStruct). Weights are arguments,
so the result holds none. See docs/ExportFromJax.md for packages and an example.
"""

import argparse
import importlib.util
import os
import sys

import jax
import numpy as np
from iree.compiler import ir, passmanager
from iree.compiler.dialects import arith, linalg, scf, tensor


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
    # One line of the user's per operation, not the stack of calls that led there.
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    lowered = jax.jit(step, keep_unused=True).lower(*example)
    return lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)


def lower_to_linalg(stablehlo):
    """Linalg on tensors, by IREE's input pipeline; only scatters are still IREE's."""
    module = ir.Module.parse(stablehlo)
    pipeline = "builtin.module(iree-stablehlo-input-transformation-pipeline)"
    passmanager.PassManager.parse(pipeline).run(module.operation)
    return module


def operations_of(operation):
    """All operations inside, at any depth, collected before anything changes."""
    found = []
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                found.append(child.operation)
                found.extend(operations_of(child.operation))
    return found


def inline_block(block, values):
    """Clones a block without its terminator; returns what the terminator yields."""
    mapping = dict(zip(block.arguments, values))
    *body, terminator = block.operations
    for operation in body:
        clone = operation.operation.clone()
        for i, operand in enumerate(operation.operands):
            clone.operands[i] = mapping.get(operand, operand)
        mapping.update(zip(operation.operation.results, clone.results))
    return [mapping.get(value, value) for value in terminator.operands]


def combine_slices(block, update, old):
    """old[i] = block(update[i], old[i]) for all i, as one linalg.generic."""
    rank = old.type.rank
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
    parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
    generic = linalg.GenericOp(
        [old.type], [update], [old], ir.ArrayAttr.get([identity, identity]), ir.ArrayAttr.get([parallel] * rank)
    )
    element = old.type.element_type
    location = ir.Location.current
    body = generic.regions[0].blocks.append(element, element, arg_locs=[location, location])
    with ir.InsertionPoint(body):
        linalg.YieldOp(inline_block(block, body.arguments))
    return generic.results[0]


def slice_sizes(type, first):
    """Sizes of a slice with extent 1 in the first dimensions and all of the rest."""
    return [1] * first + list(type.shape[first:])


def extract_slice(source, indices):
    """The slice at indices, without the dimensions that they select."""
    type = source.type
    rest = type.shape[len(indices) :]
    return tensor.ExtractSliceOp(
        ir.RankedTensorType.get(rest, type.element_type),
        source, indices, [], [],
        static_offsets=[ir.ShapedType.get_dynamic_size()] * len(indices) + [0] * len(rest),
        static_sizes=slice_sizes(type, len(indices)),
        static_strides=[1] * type.rank,
    ).result


def insert_slice(source, target, indices):
    rest = target.type.rank - len(indices)
    return tensor.InsertSliceOp(
        source, target, indices, [], [],
        static_offsets=[ir.ShapedType.get_dynamic_size()] * len(indices) + [0] * rest,
        static_sizes=slice_sizes(target.type, len(indices)),
        static_strides=[1] * target.type.rank,
    ).result


def scatter_to_loop(scatter):
    """Rewrites iree_linalg_ext.scatter as a loop over the updates, in upstream dialects."""
    updates, indices, target = scatter.operands
    index_type = ir.IndexType.get()
    constant = lambda number: arith.ConstantOp(index_type, number).result
    index_depth = indices.type.shape[-1]
    if indices.type.rank != 2 or list(scatter.attributes["dimension_map"]) != list(range(index_depth)):
        raise ValueError(f"this form of scatter is not supported yet: {scatter}")

    with ir.InsertionPoint(scatter), scatter.location:
        loop = scf.ForOp(constant(0), constant(updates.type.shape[0]), constant(1), [target])
        with ir.InsertionPoint(loop.body):
            row, result = loop.induction_variable, loop.inner_iter_args[0]
            place = [
                arith.IndexCastOp(index_type, tensor.ExtractOp(indices, [row, constant(i)])).result
                for i in range(index_depth)
            ]
            block = scatter.regions[0].blocks[0]
            if target.type.rank == index_depth:
                values = [tensor.ExtractOp(updates, [row]).result, tensor.ExtractOp(result, place).result]
                result = tensor.InsertOp(inline_block(block, values)[0], result, place).result
            else:
                combined = combine_slices(block, extract_slice(updates, [row]), extract_slice(result, place))
                result = insert_slice(combined, result, place)
            scf.YieldOp([result])
    scatter.results[0].replace_all_uses_with(loop.results[0])
    scatter.erase()


def export(step, example):
    """The step as text in upstream MLIR dialects."""
    stablehlo = lower_to_stablehlo(step, example)
    with ir.Context():
        module = lower_to_linalg(stablehlo)
        for operation in operations_of(module.operation):
            if operation.name == "iree_linalg_ext.scatter":
                scatter_to_loop(operation)
        names = {operation.name for operation in operations_of(module.operation)}
        foreign = {name for name in names if name.startswith(("iree", "stablehlo", "chlo")) and not name.endswith(".yield")}
        if foreign:
            raise ValueError(f"these operations are not supported yet: {', '.join(sorted(foreign))}")
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
    except (ValueError, OSError) as error:
        sys.exit(f"error: {error}")
    if options.inputs:
        save_arrays(options.inputs, "arg", example)
    if options.expected:
        save_arrays(options.expected, "out", jax.jit(step)(*example))
    with open(options.output, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
