"""Turns a training step written in JAX into a file that ckpt-opt and ckpt-runner read.

The step is a function in a Python file of yours, beside example arguments that
say shapes and types (arrays, or jax.ShapeDtypeStruct). Weights are arguments,
so the result holds none. See docs/ExportFromJax.md for packages and an example.
"""

import argparse
import collections
import importlib.util
import math
import os
import re
import sys

import jax
import numpy as np
from jax._src import prng
from jax._src.interpreters import mlir
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
    # Random bits without a loop: masks are then elementwise, as on accelerators.
    mlir.register_lowering(prng.threefry2x32_p, prng._threefry2x32_lowering_rule, platform="cpu")
    # One line of the user's per operation, not the stack of calls that led there.
    jax.config.update("jax_include_full_tracebacks_in_locations", False)
    lowered = jax.jit(step, keep_unused=True).lower(*example)
    return lowered.compiler_ir("stablehlo").operation.get_asm(enable_debug_info=True)


def operations_of(operation):
    """All operations inside, at any depth, collected before anything changes."""
    found = []
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                found.append(child.operation)
                found.extend(operations_of(child.operation))
    return found


def stablehlo_op(name, value, shape, operands=None, **attributes):
    """An operation whose result has the element type of a value."""
    type = ir.RankedTensorType.get(shape, value.type.element_type)
    operands = [value] if operands is None else operands
    return ir.Operation.create(f"stablehlo.{name}", results=[type], operands=operands, attributes=attributes).result


def transpose(value, permutation):
    shape = [value.type.shape[i] for i in permutation]
    return stablehlo_op("transpose", value, shape, permutation=ir.DenseI64ArrayAttr.get(permutation))


def bitcast(value, element):
    """The same bits as another type; arith and tensor know no unsigned integers."""
    type = ir.RankedTensorType.get(value.type.shape, element)
    if type == value.type:
        return value
    return ir.Operation.create("stablehlo.bitcast_convert", results=[type], operands=[value]).result


def is_unsigned(element):
    return isinstance(element, ir.IntegerType) and element.is_unsigned


def signless(value):
    element = value.type.element_type
    return bitcast(value, ir.IntegerType.get_signless(element.width)) if is_unsigned(element) else value


def dimensions_of(scatter):
    """The dimension numbers of a scatter by name: lists, which are empty if not there, and a number."""
    text = str(scatter.attributes["scatter_dimension_numbers"])
    lists = collections.defaultdict(list)
    for name, numbers in re.findall(r"(\w+) = \[([^]]*)]", text):
        lists[name] = [int(number) for number in numbers.split(",") if number.strip()]
    vector = re.search(r"index_vector_dim = (\d+)", text)
    return lists, int(vector[1]) if vector else 0


def rows_of_scatter(scatter):
    """Of a scatter, as rows: indices, the dimensions of the target that they are for, and
    the slices to combine with, each with all dimensions of the target."""
    target, indices, updates = scatter.operands
    dimensions, vector = dimensions_of(scatter)
    integer = lambda number: ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
    shape = list(indices.type.shape)
    if vector == len(shape):
        shape.append(1)
        indices = stablehlo_op("reshape", indices, shape)
    # A dimension that is the same in target and indices is one more index.
    places = [indices]
    shape[vector] = 1
    for dimension in dimensions["scatter_indices_batching_dims"]:
        places.append(stablehlo_op("iota", indices, shape, [], iota_dimension=integer(dimension)))
    scattered = dimensions["scatter_dims_to_operand_dims"] + dimensions["input_batching_dims"]
    shape[vector] = len(scattered)
    indices = stablehlo_op("concatenate", indices, shape, places, dimension=integer(vector))
    outer = [i for i in range(len(shape)) if i != vector]
    rows = math.prod(shape[i] for i in outer)
    indices = stablehlo_op("reshape", transpose(indices, outer + [vector]), [rows, len(scattered)])

    windows = dimensions["update_window_dims"]
    extents = iter([updates.type.shape[i] for i in windows])
    single = dimensions["inserted_window_dims"] + dimensions["input_batching_dims"]
    window = [1 if i in single else next(extents) for i in range(target.type.rank)]
    updates = transpose(updates, [i for i in range(updates.type.rank) if i not in windows] + windows)
    return signless(indices), scattered, signless(stablehlo_op("reshape", updates, [rows] + window))


def combine(block, old, update):
    """What the block of a scatter makes of two elements, in arith."""
    *body, terminator = block.operations
    if not body and terminator.operands[0] == block.arguments[1]:
        return update
    element = block.arguments[0].type.element_type
    kind = "float" if isinstance(element, ir.FloatType) else "unsigned" if is_unsigned(element) else "signed"
    makers = {
        "stablehlo.add": dict(float=arith.AddFOp, signed=arith.AddIOp, unsigned=arith.AddIOp),
        "stablehlo.multiply": dict(float=arith.MulFOp, signed=arith.MulIOp, unsigned=arith.MulIOp),
        "stablehlo.maximum": dict(float=arith.MaximumFOp, signed=arith.MaxSIOp, unsigned=arith.MaxUIOp),
        "stablehlo.minimum": dict(float=arith.MinimumFOp, signed=arith.MinSIOp, unsigned=arith.MinUIOp),
    }
    if len(body) != 1 or body[0].operation.name not in makers:
        raise ValueError(f"a scatter that combines elements in this way is not supported yet: {block}")
    return makers[body[0].operation.name][kind](old, update).result


def combine_slices(block, update, old):
    """old[i] = block(old[i], update[i]) for all i, as one linalg.generic."""
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
        linalg.YieldOp([combine(block, body.arguments[1], body.arguments[0])])
    return generic.results[0]


def slice_at(offsets, sizes):
    """Offsets, sizes and strides of a slice, as the slice ops take them."""
    dynamic = [offset for offset in offsets if isinstance(offset, ir.Value)]
    static = [ir.ShapedType.get_dynamic_size() if isinstance(offset, ir.Value) else offset for offset in offsets]
    return [dynamic, [], []], dict(static_offsets=static, static_sizes=sizes, static_strides=[1] * len(sizes))


def scatter_to_loop(scatter):
    """Rewrites a scatter as a loop over its updates, in upstream dialects."""
    if len(scatter.results) != 1:
        raise ValueError(f"a scatter to several arrays is not supported yet: {scatter}")
    block = scatter.regions[0].blocks[0]
    index_type = ir.IndexType.get()
    constant = lambda number: arith.ConstantOp(index_type, number).result
    with ir.InsertionPoint(scatter), scatter.location:
        indices, scattered, updates = rows_of_scatter(scatter)
        target = signless(scatter.operands[0])
        rank = target.type.rank
        window = list(updates.type.shape[1:])
        loop = scf.ForOp(constant(0), constant(updates.type.shape[0]), constant(1), [target])
        with ir.InsertionPoint(loop.body):
            row, result = loop.induction_variable, loop.inner_iter_args[0]
            place = [0] * rank
            for i, dimension in enumerate(scattered):
                index = tensor.ExtractOp(indices, [row, constant(i)])
                place[dimension] = arith.IndexCastOp(index_type, index).result
            if set(window) <= {1}:
                at = [offset if isinstance(offset, ir.Value) else constant(0) for offset in place]
                old = tensor.ExtractOp(result, at).result
                update = tensor.ExtractOp(updates, [row] + [constant(0)] * rank).result
                result = tensor.InsertOp(combine(block, old, update), result, at).result
            else:
                type = ir.RankedTensorType.get(window, target.type.element_type)
                operands, attributes = slice_at([row] + [0] * rank, [1] + window)
                update = tensor.ExtractSliceOp(type, updates, *operands, **attributes).result
                operands, attributes = slice_at(place, window)
                old = tensor.ExtractSliceOp(type, result, *operands, **attributes).result
                combined = combine_slices(block, update, old)
                result = tensor.InsertSliceOp(combined, result, *operands, **attributes).result
            scf.YieldOp([result])
        result = bitcast(loop.results[0], scatter.operands[0].type.element_type)
    scatter.results[0].replace_all_uses_with(result)
    scatter.erase()


def lower_to_linalg(stablehlo):
    """Linalg on tensors, by IREE's input pipeline; scatters become loops first."""
    module = ir.Module.parse(stablehlo)
    passes = ["iree-stablehlo-input-transformation-pipeline"]
    for operation in operations_of(module.operation):
        if operation.name == "stablehlo.scatter":
            scatter_to_loop(operation)
        elif operation.name == "stablehlo.optimization_barrier":
            # What is made again is for ckpt to decide, not for jax.checkpoint.
            for result, operand in zip(operation.results, operation.operands):
                result.replace_all_uses_with(operand)
            operation.erase()
            passes[1:] = ["cse"]
    passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    return module


def export(step, example):
    """The step as text in upstream MLIR dialects."""
    stablehlo = lower_to_stablehlo(step, example)
    with ir.Context():
        module = lower_to_linalg(stablehlo)
        dialects = ("arith", "func", "linalg", "math", "scf", "tensor", "complex")
        names = {operation.name for operation in operations_of(module.operation)}
        foreign = {name for name in names if name.split(".")[0] not in dialects and not name.endswith(".yield")}
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
