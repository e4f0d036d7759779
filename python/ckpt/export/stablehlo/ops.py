"""Operations of StableHLO, made in Python, and those of upstream dialects by IREE's bindings."""

from iree.compiler import ir
from iree.compiler.dialects import arith, linalg, scf, tensor

from ..upstream import Upstream

UPSTREAM = Upstream(ir, arith, linalg, scf, tensor)


def stablehlo_op(name, value, shape, operands=None, **attributes):
    """An operation whose result has the element type of a value."""
    type = ir.RankedTensorType.get(shape, value.type.element_type)
    operands = [value] if operands is None else operands
    return ir.Operation.create(f"stablehlo.{name}", results=[type], operands=operands, attributes=attributes).result


def integer(number):
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def replace(operation, *values):
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()


def transpose(value, permutation):
    shape = [value.type.shape[i] for i in permutation]
    return stablehlo_op("transpose", value, shape, permutation=ir.DenseI64ArrayAttr.get(permutation))


def arrays(**lists):
    """Attributes that are lists of numbers."""
    return {name: ir.DenseI64ArrayAttr.get(list(values)) for name, values in lists.items()}


def slice_of(value, start, limit, strides):
    shape = [-(-(end - begin) // stride) for begin, end, stride in zip(start, limit, strides)]
    return stablehlo_op("slice", value, shape, **arrays(start_indices=start, limit_indices=limit, strides=strides))


def component_of(indices, vector, component):
    """One number of each index vector; the dimension of the vectors stays, with one element."""
    if vector == indices.type.rank:
        return indices
    start, limit = [0] * indices.type.rank, list(indices.type.shape)
    start[vector], limit[vector] = component, component + 1
    return slice_of(indices, start, limit, [1] * len(start))


def splat(type, number):
    """A tensor that holds one number."""
    is_float = isinstance(type.element_type, ir.FloatType)
    number = (ir.FloatAttr if is_float else ir.IntegerAttr).get(type.element_type, number)
    attributes = {"value": ir.DenseElementsAttr.get_splat(type, number)}
    return ir.Operation.create("stablehlo.constant", results=[type], attributes=attributes).result


def number_of(value):
    """The number that a tensor holds everywhere, if it is known here."""
    if isinstance(value.owner, ir.Block):
        return None
    if value.owner.name == "stablehlo.broadcast_in_dim":
        return number_of(value.owner.operands[0])
    if value.owner.name != "stablehlo.constant":
        return None
    numbers = ir.DenseElementsAttr(value.owner.attributes["value"])
    return numbers.get_splat_value().value if numbers.is_splat else None


def compare(direction, left, right):
    type = ir.RankedTensorType.get(left.type.shape, ir.IntegerType.get_signless(1))
    direction = ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>")
    return ir.Operation.create(
        "stablehlo.compare", results=[type], operands=[left, right], attributes={"comparison_direction": direction}
    ).result


def select(condition, value, other):
    return stablehlo_op("select", value, value.type.shape, [condition, value, other])


def spread(value, axes, shape):
    """A value along some axes of a shape. An axis of none has one element and is left out."""
    kept = [i for i, axis in enumerate(axes) if axis is not None]
    value = stablehlo_op("reshape", value, [value.type.shape[i] for i in kept])
    axes = ir.DenseI64ArrayAttr.get([axes[i] for i in kept])
    return stablehlo_op("broadcast_in_dim", value, shape, broadcast_dimensions=axes)


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


def widened(indices):
    """Indices that fit into signed integers: unsigned ones as wider integers."""
    element = indices.type.element_type
    if not is_unsigned(element) or element.width == 64:
        return indices
    type = ir.RankedTensorType.get(indices.type.shape, ir.IntegerType.get_signless(2 * element.width))
    return ir.Operation.create("stablehlo.convert", results=[type], operands=[indices]).result
