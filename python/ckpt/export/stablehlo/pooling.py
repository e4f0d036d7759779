"""The gradient of max pooling, in operations that IREE's input pipeline has a form for.

Each window says where its largest element lies, the first of equal ones. Each element then looks at the windows that it
lies in, one term for each way to lie in one, and adds what those that chose it give.
"""

import itertools
import re

import numpy as np
from iree.compiler import ir

from ...errors import UnsupportedStep
from ..locations import read_place
from .ops import arrays, compare, integer, replace, select, slice_of, splat, stablehlo_op

NOWHERE = -1


class Windows:
    """Where the windows of an operation lie, in coordinates that count padding: one number for each dimension."""

    def __init__(self, op):
        self.sizes = op.operands[0].type.shape
        self.counts = op.operands[1].type.shape
        self.extents, self.strides = ([int(n) for n in op.attributes[f"window_{name}"]] for name in ("dimensions", "strides"))
        padding = [int(n) for n in op.attributes["padding"]] if "padding" in op.attributes else [0] * 2 * len(self.sizes)
        self.before, self.after = padding[::2], padding[1::2]
        self.ways = [-(-extent // stride) for extent, stride in zip(self.extents, self.strides)]

    def positions(self, like, sizes, starts):
        """A number for each place, counted from the starts, that no other place of the padded operand has."""
        spans = [max(b + size + a, (n + w) * s) for b, size, a, n, w, s in
                 zip(self.before, self.sizes, self.after, self.counts, self.ways, self.strides)]
        position, step = None, 1
        for dimension in reversed([i for i, moved in enumerate(zip(self.extents, self.strides)) if moved != (1, 1)]):
            index = stablehlo_op("iota", like, sizes, [], iota_dimension=integer(dimension))
            index = stablehlo_op("add", index, sizes, [index, splat(index.type, starts[dimension])])
            index = stablehlo_op("multiply", index, sizes, [index, splat(index.type, step)])
            position = index if position is None else stablehlo_op("add", index, sizes, [position, index])
            step *= spans[dimension]
        return splat(ir.RankedTensorType.get(sizes, like.type.element_type), 0) if position is None else position


def is_kept(direction, block):
    """Whether an element stays beside a later one: it is no padding, and the later one is or compares no better."""
    element, position, candidate, its_position = block.arguments
    place, padding = compare("NE", position, splat(position.type, NOWHERE)), compare("EQ", its_position, splat(position.type, NOWHERE))
    holds = stablehlo_op("or", place, [], [compare(direction, element, candidate), padding])
    return stablehlo_op("and", place, [], [place, holds])


def chosen_positions(operand, positions, windows, direction):
    """Of each window, the position of the element that it chooses."""
    scalars = [ir.RankedTensorType.get([], value.type.element_type) for value in (operand, positions)]
    initial = [splat(scalars[0], 0), splat(scalars[1], NOWHERE)]
    pairs = ir.DenseElementsAttr.get(np.array(list(zip(windows.before, windows.after)), np.int64))
    attributes = arrays(window_dimensions=windows.extents, window_strides=windows.strides)
    op = ir.Operation.create(
        "stablehlo.reduce_window",
        results=[ir.RankedTensorType.get(windows.counts, scalar.element_type) for scalar in scalars],
        operands=[operand, positions, *initial],
        attributes={**attributes, "padding": pairs},
        regions=1,
    )
    block = op.regions[0].blocks.append(*scalars, *scalars)
    with ir.InsertionPoint(block):
        stays = is_kept(direction, block)
        kept = [select(stays, left, right) for left, right in zip(block.arguments[:2], block.arguments[2:])]
        ir.Operation.create("stablehlo.return", operands=kept)
    return op.results[1]


def repeated(value, counts):
    """Each element so many times, one after the other along each dimension."""
    shape = value.type.shape
    outer = list(itertools.chain(*zip(shape, counts)))
    spread = stablehlo_op("broadcast_in_dim", value, outer, **arrays(broadcast_dimensions=range(0, len(outer), 2)))
    return stablehlo_op("reshape", spread, [size * count for size, count in zip(shape, counts)])


def placed(value, starts, sizes):
    """The value at these places of a tensor of zeros; the part that does not fit is left out. None if nothing fits."""
    low = [max(0, -start) for start in starts]
    high = [min(extent, size - start) for extent, start, size in zip(value.type.shape, starts, sizes)]
    if any(begin >= end for begin, end in zip(low, high)):
        return None
    value = slice_of(value, low, high, [1] * len(sizes))
    before = [start + begin for start, begin in zip(starts, low)]
    after = [size - b - extent for size, b, extent in zip(sizes, before, value.type.shape)]
    zero = splat(ir.RankedTensorType.get([], value.type.element_type), 0)
    padding = arrays(edge_padding_low=before, edge_padding_high=after, interior_padding=[0] * len(sizes))
    return stablehlo_op("pad", value, sizes, [value, zero], **padding)


def rewrite_pooling_gradient(op):
    """Rewrites select_and_scatter."""
    operand, source, _ = op.operands
    chooses, adds = (str(region.blocks[0].operations[0]) for region in op.regions)
    direction = re.search(r" (GE|GT|LE|LT),", chooses)
    if not direction or "stablehlo.add" not in adds:
        place = read_place(str(op.location)).file
        raise UnsupportedStep(f"{place}: windows that select or add in this way are not supported: use a maximum or a minimum")
    windows = Windows(op)
    with ir.InsertionPoint(op), op.location:
        number = splat(ir.RankedTensorType.get([], ir.IntegerType.get_signless(32)), 0)
        positions = windows.positions(number, windows.sizes, windows.before)
        chosen = repeated(chosen_positions(operand, positions, windows, direction[1]), windows.strides)
        given, result = repeated(source, windows.strides), None
        for way in itertools.product(*map(range, windows.ways)):
            starts = [k * stride for k, stride in zip(way, windows.strides)]
            here = compare("EQ", chosen, windows.positions(number, given.type.shape, starts))
            part = select(here, given, splat(given.type, 0))
            part = placed(part, [start - b for start, b in zip(starts, windows.before)], windows.sizes)
            if part is not None:
                result = part if result is None else stablehlo_op("add", result, windows.sizes, [result, part])
        replace(op, splat(operand.type, 0) if result is None else result)
