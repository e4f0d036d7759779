"""Gathers as JAX and StableHLO define them: an index out of range reads at the nearest place that is inside.

IREE's input pipeline clamps the indices of some gathers, and reads beyond the array in others.
"""

import re

import numpy as np
from iree.compiler import ir

from .ops import stablehlo_op, widened


def clamp_gather(gather: ir.Operation) -> None:
    """Clamps the indices of a gather, each to the places where its slice lies inside of the array."""
    array, indices = gather.operands
    numbers = str(gather.attributes["dimension_numbers"])
    found = re.search(r"start_index_map = \[([^]]*)]", numbers)
    dimensions = [int(number) for number in found[1].split(",")] if found and found[1].strip() else []
    vector = re.search(r"index_vector_dim = (\d+)", numbers)
    vector = int(vector[1]) if vector else 0
    sizes = list(gather.attributes["slice_sizes"])
    limits = [array.type.shape[dimension] - sizes[dimension] for dimension in dimensions]
    with ir.InsertionPoint(gather), gather.location:
        indices = widened(indices)
        shape, element = indices.type.shape, indices.type.element_type
        along = [len(limits) if i == vector else 1 for i in range(len(shape))]
        bound = np.broadcast_to(np.reshape(np.array(limits), along), shape)
        bound = np.ascontiguousarray(np.minimum(bound, 2 ** (element.width - 1) - 1))
        upper = constant(bound.astype(f"int{element.width}"), element)
        lower = constant(np.zeros((), f"int{element.width}"), element)
        gather.operands[1] = stablehlo_op("clamp", indices, shape, [lower, indices, upper])


def constant(numbers: np.ndarray, element: ir.Type) -> ir.Value:
    """Integers as a constant."""
    type = ir.RankedTensorType.get(numbers.shape, element)
    splat = numbers.size and (numbers == numbers.flat[0]).all()
    if splat:
        value = ir.DenseElementsAttr.get_splat(type, ir.IntegerAttr.get(element, int(numbers.flat[0])))
    else:
        value = ir.DenseElementsAttr.get(numbers, type=element)
    return ir.Operation.create("stablehlo.constant", results=[type], attributes={"value": value}).result
