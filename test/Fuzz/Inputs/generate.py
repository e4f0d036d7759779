"""A random program from choices."""
import elements
import features as f
import heavy_features as h
import moving
from maker import Maker, ODD_INTS, Skip
from program import Program
import structured

PLAIN = [
    (f.parallel_generic, 22), (f.reducing_generic, 14), (f.pointwise, 12), (f.compare_and_select, 4), (f.cast, 5),
    (f.bitcast, 2), (f.named_pointwise, 5), (f.reduce, 3), (f.extract_slice, 6), (f.insert_slice, 6), (f.pad, 4),
    (f.concat, 4), (f.collapse, 4), (f.expand, 4), (f.reshape, 2), (f.transpose, 5), (f.turn, 5), (f.broadcast, 3),
    (f.copy, 2), (f.scalars, 4), (h.matmul, 9), (h.generic_contraction, 6), (h.convolution, 4), (h.pooling, 3),
]
INSIDE = [f.pointwise, f.parallel_generic, f.reduce, f.named_pointwise, f.insert_slice, h.matmul, f.transpose]
CONTROL = [(h.loop, 4), (h.repeat, 3), (h.either, 3)]

BUDGETS = ["70%", "45%", "30%"]
DEVICES = ["cpu", "cpu", "narrow", "threads", "emulator", "emulator"]


def generate(choices, excluded=()):
    """A program; excluded names features that are switched off."""
    program = Program()
    # Sizes come first: to shrink them shrinks every op.
    sizes = [choices.pick([1, 2, 3, 4, 5, 7, 8, 16, 17, 20, 33]) for _ in range(3)]
    if choices.chance(8) and "zero-sizes" not in excluded:
        sizes.append(0)
    if choices.chance(40):
        sizes.append(1)
    maker = Maker(choices, program, sizes, excluded)
    table = [(feature, weight) for feature, weight in PLAIN if feature.__name__ not in excluded]
    controls = [(feature, weight) for feature, weight in CONTROL if feature.__name__ not in excluded]
    for _ in range(choices.between(2, 14)):
        choices.begin()
        is_control = controls and choices.chance(8)
        feature = choices.weighted(controls if is_control else table)
        maker.feature = feature.__name__
        inside = [i for i in INSIDE if i.__name__ not in excluded]
        try:
            feature(maker, inside) if is_control else feature(maker)
        except (Skip, elements.Undefined):
            pass
    choices.begin()
    finish(maker, choices)
    return program.without_dead_arguments()


def finish(maker, choices):
    """Chooses results, and how the program is run."""
    program = maker.program
    read = {operand for op in program.ops for operand in op.operands}
    leaves = [v for v in maker.values if v not in read and v.shape is not None and v not in program.arguments]
    wanted = [v for v in leaves if choices.chance(85)]
    others = [v for v in maker.values if v.shape is not None and v not in wanted and v.element != "index"]
    wanted += [choices.pick(others) for _ in range(choices.below(3)) if others]
    if wanted and choices.chance(10):
        wanted.append(choices.pick(wanted))
    if not wanted:
        wanted = others[-1:] or [maker.leaf((4,), "f32")]
    for value in wanted[:8]:
        if maker.is_undefined(value) and value.size():
            continue
        program.returned.append(returnable(maker, value))
    if not program.returned:
        program.returned.append(maker.leaf((4,), "f32"))
    budget = choices.pick(BUDGETS)
    ways = ["as-written:" + choices.pick(["cpu", "cpu", "narrow"]), "none:" + choices.pick(DEVICES),
            f"{budget}:" + choices.pick(DEVICES), "least:" + choices.pick(DEVICES)]
    program.ways = " ".join(ways)


def returnable(maker, value):
    """Results have no odd widths."""
    if value.element not in ODD_INTS:
        return value
    name = "arith.extsi" if maker.choices.chance(50) else "arith.extui"
    target, source = "i32" if elements.width(value.element) < 32 else "i64", value.element
    wide = value.type()[: -len(source) - 1] + target + ">" if value.shape is not None else target
    return maker.add(structured.elementwise(f"{name} {{0}} : {value.type()} to {wide}",
                                            lambda e: elements.cast(name, source, target, e), [value], target))
