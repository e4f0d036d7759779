"""Sharding and memory spaces on one device, where they say nothing: annotations are identities, mapped functions inlined."""

from typing import Any

from ...errors import UnsupportedStep

IDENTITIES = ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement")
COLLECTIVES = (
    "stablehlo.all_gather",
    "stablehlo.all_reduce",
    "stablehlo.all_to_all",
    "stablehlo.collective_permute",
    "stablehlo.reduce_scatter",
)


def operations_of(operation: Any) -> list[Any]:
    """All operations inside, at any depth, collected before anything changes."""
    found = []
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                found.append(child.operation)
                found.extend(operations_of(child.operation))
    return found


def strip_sharding(module: Any) -> None:
    """Takes sharding out of a module of JAX's, by methods of its operations alone."""
    partitions = module.operation.attributes["mhlo.num_partitions"].value
    if partitions != 1:
        raise UnsupportedStep(f"expected a step for one device, but it is sharded over {partitions}")
    for operation in reversed(operations_of(module.operation)):
        if operation.name == "func.func":
            strip_attributes(operation)
        elif operation.name == "sdy.mesh":
            operation.erase()
        elif operation.name == "sdy.manual_computation":
            inline(operation)
        elif is_identity(operation):
            forward(operation, operation.operands)


def is_identity(operation: Any) -> bool:
    """Whether an operation does nothing on one device."""
    if operation.name == "stablehlo.custom_call":
        return operation.attributes["call_target_name"].value in IDENTITIES
    is_collective = operation.name in COLLECTIVES or operation.name.startswith("sdy.") and operation.results
    return is_collective and [o.type for o in operation.operands] == [r.type for r in operation.results]


def forward(operation: Any, values: Any) -> None:
    """Replaces the results of an operation by values."""
    for result, value in zip(operation.results, list(values)):
        result.replace_all_uses_with(value)
    operation.erase()


def inline(computation: Any) -> None:
    """Puts the body of a manual computation in its place: on one device its shapes are the same."""
    (block,) = computation.regions[0].blocks
    for argument, operand in zip(block.arguments, computation.operands):
        argument.replace_all_uses_with(operand)
    *body, terminator = [operation.operation for operation in block.operations]
    for operation in body:
        operation.move_before(computation)
    results = list(terminator.operands)
    terminator.erase()
    forward(computation, results)


def strip_attributes(function: Any) -> None:
    """Takes the attributes of Shardy from a function's arguments and results."""
    for kind in ("arg_attrs", "res_attrs"):
        if kind in function.attributes and len(function.attributes[kind]):
            given = function.attributes[kind]
            kept = [{a.name: a.attr for a in entry if not a.name.startswith("sdy.")} for entry in given]
            dictionary, array = type(given[0]), type(given)
            with function.context:
                function.attributes[kind] = array.get([dictionary.get(entry) for entry in kept])
