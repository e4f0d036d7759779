"""Scatters, in operations that IREE's input pipeline has a form for.

A scatter becomes elementwise where that is possible, so that it can be computed inside other
kernels, and a loop over its updates elsewhere.
"""

import collections
import math
import re

from iree.compiler import ir
from iree.compiler.dialects import arith

from ...errors import UnsupportedStep
from ..locations import read_place
from .ops import (
    UPSTREAM,
    bitcast,
    compare,
    component_of,
    integer,
    is_unsigned,
    number_of,
    replace,
    select,
    signless,
    spread,
    stablehlo_op,
    transpose,
    widened,
)


def dimensions_of(scatter):
    """The dimension numbers of a scatter by name: lists, which are empty if not there, and a number."""
    text = str(scatter.attributes["scatter_dimension_numbers"])
    lists = collections.defaultdict(list)
    for name, numbers in re.findall(r"(\w+) = \[([^]]*)]", text):
        lists[name] = [int(number) for number in numbers.split(",") if number.strip()]
    vector = re.search(r"index_vector_dim = (\d+)", text)
    return lists, int(vector[1]) if vector else 0


COMBINERS = {
    "add": dict(float=arith.AddFOp, signed=arith.AddIOp, unsigned=arith.AddIOp),
    "multiply": dict(float=arith.MulFOp, signed=arith.MulIOp, unsigned=arith.MulIOp),
    "maximum": dict(float=arith.MaximumFOp, signed=arith.MaxSIOp, unsigned=arith.MaxUIOp),
    "subtract": dict(float=arith.SubFOp, signed=arith.SubIOp, unsigned=arith.SubIOp),
    "minimum": dict(float=arith.MinimumFOp, signed=arith.MinSIOp, unsigned=arith.MinUIOp),
}


def combiner_of(block):
    """The operation of StableHLO with which a scatter combines an element and its update; none
    where the update replaces the element."""
    *body, terminator = block.operations
    old, update = block.arguments
    if not body and terminator.operands[0] == update:
        return None
    if len(body) == 1 and terminator.operands[0] == body[0].operation.results[0]:
        name = body[0].operation.name.removeprefix("stablehlo.")
        operands = list(body[0].operation.operands)
        swapped = name != "subtract" and operands == [update, old]
        if name in COMBINERS and (operands == [old, update] or swapped):
            return name
    place = read_place(str(block.owner.location))
    raise UnsupportedStep(f"{place.file}: a scatter that combines elements in this way is not supported: use add, subtract, multiply, max, min or set")


def scatter_to_select(scatter):
    """Rewrites a scatter into a constant of which no two updates can meet, such as the gradient
    of jnp.take_along_axis: elementwise, an element is updated where its place is the index.
    Returns whether the scatter says so by its form."""
    target, indices, updates = scatter.operands
    shape = target.type.shape
    dimensions, vector = dimensions_of(scatter)
    batches = dict(zip(dimensions["scatter_indices_batching_dims"], dimensions["input_batching_dims"]))
    scattered, single = dimensions["scatter_dims_to_operand_dims"], dimensions["inserted_window_dims"]
    outer = [i for i in range(indices.type.rank) if i != vector]
    windows = [i for i in range(len(shape)) if i not in single + list(batches.values())]
    extents = [updates.type.shape[i] for i in dimensions["update_window_dims"]]
    meet = any(i not in batches and indices.type.shape[i] != 1 for i in outer)
    if meet or set(scattered) != set(single) or extents != [shape[i] for i in windows] or number_of(target) is None:
        return False
    with ir.InsertionPoint(scatter), scatter.location:
        window, batch = iter(windows), iter(outer)
        is_window = [i in dimensions["update_window_dims"] for i in range(updates.type.rank)]
        result = spread(updates, [next(window) if w else batches.get(next(batch)) for w in is_window], shape)
        if combiner := combiner_of(scatter.regions[0].blocks[0]):
            result = stablehlo_op(combiner, target, shape, [target, result])
        for component, dimension in enumerate(scattered):
            index = component_of(indices, vector, component)
            index = spread(index, [batches.get(i) for i in range(index.type.rank)], shape)
            place = stablehlo_op("iota", index, shape, [], iota_dimension=integer(dimension))
            result = select(compare("EQ", place, index), result, target)
    replace(scatter, result)
    return True


def rows_of_scatter(scatter):
    """Of a scatter, as rows: indices, the dimensions of the target that they are for, and
    the slices to combine with, each with all dimensions of the target."""
    target, indices, updates = scatter.operands
    dimensions, vector = dimensions_of(scatter)
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
    return signless(widened(indices)), scattered, signless(stablehlo_op("reshape", updates, [rows] + window))


def combine(block, old, update):
    """What the block of a scatter makes of two elements, in arith."""
    name = combiner_of(block)
    if name is None:
        return update
    element = block.arguments[0].type.element_type
    # Booleans are 0 and 1; their type, i1, is signless.
    kind = "float" if isinstance(element, ir.FloatType) else "unsigned" if is_unsigned(element) or element.width == 1 else "signed"
    return COMBINERS[name][kind](old, update).result


def scatter_to_loop(scatter):
    """Rewrites a scatter as a loop over its updates, in upstream dialects. As JAX says, an update
    that does not lie inside of the target is dropped: its place keeps what it holds."""
    block = scatter.regions[0].blocks[0]
    with ir.InsertionPoint(scatter), scatter.location:
        indices, scattered, updates = rows_of_scatter(scatter)
        combined = lambda update, old: combine(block, old, update)
        result = UPSTREAM.update_loop(signless(scatter.operands[0]), indices, scattered, updates, combined)
        result = bitcast(result, scatter.operands[0].type.element_type)
    replace(scatter, result)


def rewrite_scatter(scatter):
    if len(scatter.results) != 1:
        raise UnsupportedStep(f"{read_place(str(scatter.location)).file}: a scatter to several arrays is not supported: use one for each")
    if not scatter_to_select(scatter):
        scatter_to_loop(scatter)
