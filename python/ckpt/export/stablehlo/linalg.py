"""From StableHLO to linalg on tensors, by IREE's input pipeline and rewrites of what it has no form for."""

from iree.compiler import ir, passmanager

from ...errors import UnsupportedStep
from ..locations import join_names, read_place
from ..text import NO_FORM, pack_booleans
from .conversions import CONTRACTIONS, rewrite_contraction, rewrite_conversion, rewrite_reversal
from .gathers import clamp_gather
from .ops import replace
from .pooling import rewrite_pooling_gradient
from .products import drop_algorithm, rewrite_turned_product
from .scatters import rewrite_scatter
from .windows import rewrite_windows

BARRIER = "stablehlo.optimization_barrier"
DIALECTS = ("arith", "complex", "func", "linalg", "math", "scf", "tensor")
# What IREE's input pipeline would stop at one by one.
FOREIGN = ("chlo.top_k", "stablehlo.cholesky", "stablehlo.custom_call", "stablehlo.fft", "stablehlo.sort")
DONATIONS = ("jax.buffer_donor", "tf.aliasing_output")
# Loops below a scope whose name begins so stay loops.
ROLLED = "ckpt."
LOOPS = ("scf.for", "scf.while")
PIPELINE = "iree-stablehlo-input-transformation-pipeline"
# Its last step fails where it moves an operation over a reshape that has become that operation's alone by a merge of equal ones.
MERGED = ("inline", "func.func(cse,iree-stablehlo-canonicalize,cse)")
REPLACED = ("iree.abi.output", *DONATIONS)


def operations_of(operation: ir.Operation) -> list[ir.Operation]:
    """All operations inside, at any depth, collected before anything changes."""
    found = []
    for region in operation.regions:
        for block in region.blocks:
            for child in block.operations:
                found.append(child.operation)
                found.extend(operations_of(child.operation))
    return found


def drop_barrier(barrier: ir.Operation) -> None:
    """What is made again is for ckpt to decide, not for jax.checkpoint."""
    replace(barrier, *barrier.operands)


REWRITES = {
    BARRIER: drop_barrier,
    "stablehlo.convert": rewrite_conversion,
    "stablehlo.gather": clamp_gather,
    "stablehlo.reduce_window": rewrite_windows,
    "stablehlo.reverse": rewrite_reversal,
    "stablehlo.scatter": rewrite_scatter,
    "stablehlo.select_and_scatter": rewrite_pooling_gradient,
    **dict.fromkeys(CONTRACTIONS, rewrite_contraction),
}


def rewrite(module: ir.Module) -> list[str]:
    """Writes operations without a linalg form with others; returns passes to run afterwards."""
    for operation in operations_of(module.operation):
        if operation.name == "stablehlo.dot_general" and "algorithm" in operation.attributes:
            drop_algorithm(operation)
        if operation.name == "stablehlo.transpose":
            rewrite_turned_product(operation)
    found = [(each.name, each) for each in operations_of(module.operation)]
    # A rewrite may erase a body whose operations follow: these have no rewrite.
    for name, operation in found:
        if name in REWRITES:
            REWRITES[name](operation)
    return ["cse"] if any(name == BARRIER for name, _ in found) else []


def main_of(module: ir.Module) -> ir.Operation:
    """The step itself."""
    return next(each for each in module.body.operations if '"main"' == str(each.attributes["sym_name"]))


def keep_rolled(module: ir.Module) -> None:
    """Leaves the loops of the exporter's own algorithms one op each: unrolled they are no faster and need no less memory."""
    for operation in operations_of(module.operation):
        if operation.name in LOOPS and f"/{ROLLED}" in f"/{read_place(str(operation.location)).path}":
            operation.attributes["ckpt.rolled"] = ir.UnitAttr.get()


def donations_of(main: ir.Operation) -> list[dict[str, ir.Attribute]]:
    """Of each argument, the attributes by which JAX says that it may be written over."""
    return [{a.name: a.attr for a in given if a.name in DONATIONS} for given in main.arg_attrs]


def restore(main: ir.Operation, donations: list[dict[str, ir.Attribute]]) -> None:
    """Gives arguments those attributes again, in place of IREE's."""
    kept = [{a.name: a.attr for a in given if a.name not in REPLACED} for given in main.arg_attrs]
    merged = [ir.DictAttr.get({**attributes, **given}) for attributes, given in zip(kept, donations)]
    main.arg_attrs = ir.ArrayAttr.get(merged)


def lower_to_linalg(stablehlo: str) -> str:
    """The text of a module in upstream dialects."""
    module = ir.Module.parse(stablehlo)
    donations = donations_of(main_of(module))
    passes = [*MERGED, PIPELINE, *rewrite(module)]
    if foreign := [each.location for each in operations_of(module.operation) if each.name in FOREIGN]:
        refuse(foreign)
    try:
        passmanager.PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    except ir.MLIRError as error:
        refuse([diagnostic.location for diagnostic in error.error_diagnostics])
    is_foreign = lambda name: name.split(".")[0] not in DIALECTS and not name.endswith(".yield")
    if foreign := [each.location for each in operations_of(module.operation) if is_foreign(each.name)]:
        refuse(foreign)
    keep_rolled(module)
    restore(main_of(module), donations)
    module.operation.verify()
    return join_names(pack_booleans(module.operation.get_asm(enable_debug_info=True)))


def refuse(locations: list[ir.Location]) -> None:
    """Names the operations of JAX at some locations, once for each line of the step."""
    found = {}
    for place in map(read_place, map(str, locations)):
        name = place.path.split("/")[-1] or "an operation"
        file = place.file.rpartition(":")[0].replace('"', "") or "unknown place"
        found.setdefault((name, file), f"{name} ({file}, in {place.path})")
    raise UnsupportedStep("\n  ".join([NO_FORM, *found.values()]))
