"""Features of random programs: each adds some ops, or raises Skip."""
import elements
import moving
import structured
from elements import is_float
from maker import MOST, ODD_INTS, Skip, select
from program import Map, Value, constant, identity, projection, scalar_call


# ---------------------------------------------------------------------------
# Element by element


def pointwise(m):
    """An op of arith or math on whole tensors."""
    x = m.tensor(test=lambda v: v.element != "index")
    type_ = x.element
    if m.choices.chance(40):
        name = m.choices.pick(m.unary_names(type_))
        if name in ("arith.negf",) or name.startswith("math"):
            m.add(structured.elementwise(f"{name} {{0}} : {x.type()}", scalar_call(name, type_), [x], type_))
            return
    name = m.choices.pick([n for n in m.binary_names(type_) if n not in elements.PARTIAL])
    y = m.tensor(type_, x.shape)
    m.add(structured.elementwise(f"{name} {{0}}, {{1}} : {x.type()}", scalar_call(name, type_), [x, y], type_))


def compare_and_select(m):
    x = m.tensor()
    y, z = m.tensor(x.element, x.shape), m.tensor(x.element, x.shape)
    if is_float(x.element):
        op, predicate = "arith.cmpf", m.choices.pick(["olt", "ogt", "une", "oeq", "ult"])
        call = lambda a, b: elements.compare_floats(predicate, a, b)
    else:
        op, predicate = "arith.cmpi", m.choices.pick(["slt", "ult", "eq", "ne"])
        call = lambda a, b: elements.compare_ints(predicate, x.element, a, b)
    flag = m.add(structured.elementwise(f"{op} {predicate}, {{0}}, {{1}} : {x.type()}", call, [x, y], "i1"))
    m.add(structured.elementwise(f"arith.select {{0}}, {{1}}, {{2}} : {flag.type()}, {x.type()}", select,
                                 [flag, x, z], x.element))


def cast(m):
    x = m.tensor()
    target = m.element()
    loop = structured.Generic(x.shape, [])
    body = loop.body()
    body.types[0:0] = [x.element]
    body.given += 1
    for name, type_ in m.conversions(body, 0, x.element, target):
        if name in ("arith.fptosi", "arith.fptoui") or x.element == target:
            raise Skip
        source = x.element
        x = m.add(structured.elementwise(
            f"{name} {{0}} : {x.type()} to {Value(x.shape, type_).type()}",
            lambda e, s=source, n=name, t=type_: elements.cast(n, s, t, e), [x], type_))


def bitcast(m):
    x = m.tensor(test=lambda v: v.element in ("f32", "i32", "f64", "i64", "bf16", "f16", "i16"))
    same = {"f32": "i32", "i32": "f32", "f64": "i64", "i64": "f64", "bf16": "i16", "f16": "i16", "i16": "bf16"}
    target = same[x.element]
    if m.choices.chance(50):
        m.add(moving.bitcast(x, target))
    else:
        m.add(structured.elementwise(f"arith.bitcast {{0}} : {x.type()} to {Value(x.shape, target).type()}",
                                     lambda e: elements.bitcast(x.element, target, e), [x], target))


def named_pointwise(m):
    """linalg.add and its relatives, and linalg.map."""
    x = m.tensor(test=lambda v: is_float(v.element) or v.element in ("i32", "i64", "i8", "i16"))
    y = m.tensor(x.element, x.shape)
    init = m.init(x.shape, x.element, False)
    kind = "f" if is_float(x.element) else "i"
    if m.choices.chance(40):
        name = m.choices.pick([n for n in m.binary_names(x.element) if n not in elements.PARTIAL])
        text = "linalg.map { %s } ins({0}, {1} : %s, %s) outs({2} : %s)" % (name, x.type(), y.type(), init.type())
    else:
        short = m.choices.pick(["add", "sub", "mul", "max", "min"])
        name = "arith." + {"max": "maximumf" if kind == "f" else "maxsi",
                           "min": "minimumf" if kind == "f" else "minsi"}.get(short, short + kind)
        text = "linalg.%s ins({0}, {1} : %s, %s) outs({2} : %s) -> %s" % (
            short, x.type(), y.type(), init.type(), init.type())
    call = scalar_call(name, x.element)
    m.add(structured.elementwise(text, lambda a, b, _: call(a, b), [x, y, init], x.element))


# ---------------------------------------------------------------------------
# linalg.generic


def input_map(m, sizes, shape_limit=400):
    """A map into an input, and the shape that it needs."""
    rank = len(sizes)
    kind = m.choices.weighted([("all", 40), ("some", 25), ("order", 15), ("strided", 10), ("constant", 5), ("window", 5)])
    dims = list(range(rank))
    if kind == "all" or not rank:
        return identity(rank), tuple(sizes)
    if kind == "order":
        dims = m.choices.shuffled(dims)
        return projection(rank, dims), tuple(sizes[d] for d in dims)
    if kind == "some":
        dims = [d for d in dims if m.choices.chance(60)]
        return projection(rank, dims), tuple(sizes[d] for d in dims)
    results, shape = [], []
    for d in dims:
        unit = tuple(int(i == d) for i in dims)
        if kind == "strided" and m.choices.chance(60):
            factor, offset = m.choices.between(1, 3), m.choices.below(3) if all(sizes) else 0
            results.append((tuple(c * factor for c in unit), offset))
            shape.append((sizes[d] - 1) * factor + offset + 1 if sizes[d] else offset)
        elif kind == "constant" and m.choices.chance(60):
            results.append(((0,) * rank, 0))
            shape.append(m.choices.pick([1, 1, 2]))
        elif kind == "window" and d + 1 < rank and not results and sizes[d] and sizes[d + 1]:
            results.append((tuple(int(i in (d, d + 1)) for i in dims), 0))
            shape.append(sizes[d] + sizes[d + 1] - 1)
        else:
            results.append((unit, 0))
            shape.append(sizes[d])
    if Value(tuple(shape), "f32").size() > MOST:
        raise Skip
    return Map(rank, results), tuple(shape)


def add_inputs(m, loop, sizes, count):
    found = m.find(lambda v: v.shape == tuple(sizes))
    if found and m.choices.chance(70):
        loop.read(found, identity(len(sizes)))
        count -= 1
    for _ in range(count):
        map_, shape = input_map(m, sizes)
        loop.read(m.tensor(shape=shape), map_)


def parallel_generic(m):
    """One to three results, permuted, destinations read or not."""
    base = m.find(lambda v: v.size() <= MOST)
    sizes = base.shape if base and m.choices.chance(60) else m.shape()
    loop = structured.Generic(sizes, ["parallel"] * len(sizes))
    add_inputs(m, loop, sizes, m.choices.between(0, 3))
    rank = len(sizes)
    outputs = m.choices.weighted([(1, 75), (2, 18), (3, 7)]) if "multi-result" not in m.excluded else 1
    reads = []
    for _ in range(outputs):
        order = m.choices.shuffled(range(rank)) if m.choices.chance(15) else list(range(rank))
        reads.append(m.choices.chance(25))
        shape = tuple(sizes[d] for d in order)
        loop.write(m.init(shape, m.element(), reads[-1]), projection(rank, order))
    finish_generic(m, loop, reads)


def finish_generic(m, loop, reads):
    if not loop.is_invertible():
        raise Skip
    body = loop.body()
    count = len(loop.inputs)
    # Outputs that are not read stand at the end of the choices only.
    hidden = {count + i for i, read in enumerate(reads) if not read}
    yields = []
    for output in loop.outputs:
        yields.append(visible_code(m, body, hidden, output.element))
    m.add(loop.op(body, yields))


def visible_code(m, body, hidden, want):
    """Code that reads no hidden slot."""
    given = [s for s in range(body.given) if s not in hidden]
    if not given:
        return m.literal_in(body, want, m.number(want, 1))
    return m.code(body, want, given)


def reduction_names(m, element):
    if is_float(element):
        return ["add", "add", "add", "mul", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"]
    names = ["add", "add", "mul", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi", "arith.minsi",
             "arith.maxui", "arith.minui"]
    return names


def reducing_generic(m):
    """Reductions of several kinds, inputs through any map, several outputs."""
    base = m.find(lambda v: 1 <= len(v.shape) and v.size() <= 4 * MOST)
    sizes = list(base.shape) if base and m.choices.chance(70) else list(m.shape(m.choices.between(1, 4)))
    rank = len(sizes)
    kinds = ["reduction" if m.choices.chance(45) else "parallel" for _ in sizes]
    if "reduction" not in kinds:
        kinds[m.choices.below(rank)] = "reduction"
    loop = structured.Generic(sizes, kinds)
    if base is not None and tuple(sizes) == base.shape:
        loop.read(base, identity(rank))
    add_inputs(m, loop, sizes, m.choices.between(0 if loop.inputs else 1, 2))
    kept = [d for d in range(rank) if kinds[d] == "parallel"]
    outputs = m.choices.weighted([(1, 85), (2, 15)]) if "multi-result" not in m.excluded else 1
    for _ in range(outputs):
        order = m.choices.shuffled(kept) if m.choices.chance(15) else kept
        element = m.element()
        combine = m.choices.pick([n for n in reduction_names(m, element) if n not in m.excluded])
        init = m.init(tuple(sizes[d] for d in order), element, True)
        loop.write(init, projection(rank, order), combine)
    finish_generic(m, loop, [False] * outputs)


def reduce(m):
    x = m.tensor(test=lambda v: 1 <= len(v.shape))
    rank = len(x.shape)
    dims = [d for d in range(rank) if m.choices.chance(40)] or [m.choices.below(rank)]
    combine = m.choices.pick([n for n in reduction_names(m, x.element) if n not in m.excluded])
    init = m.init(tuple(x.shape[d] for d in range(rank) if d not in dims), x.element, True)
    m.add(structured.reduce(x, init, dims, combine))


# ---------------------------------------------------------------------------
# Moving


def small_slice(m):
    x = m.tensor(test=lambda v: len(v.shape) >= 1 and v.size() > 0)
    offsets, sizes, steps, dropped = [], [], [], []
    for d, size in enumerate(x.shape):
        step = m.choices.weighted([(1, 75), (2, 18), (3, 7)])
        offset = m.choices.below(size) if m.choices.chance(50) else 0
        most = (size - offset + step - 1) // step
        count = m.choices.between(1, most)
        offsets.append(offset)
        sizes.append(count)
        steps.append(step)
        if count == 1 and m.choices.chance(40):
            dropped.append(d)
    # A dimension of one that stays makes a dropped one ambiguous: MLIR drops the first.
    ones = [d for d, n in enumerate(sizes) if n == 1]
    dropped = ones[:len(dropped)]
    return x, offsets, sizes, steps, dropped


def dynamic(m, offsets, sizes, shape, steps):
    """Some offsets become values: of a tensor, kept inside by a remainder."""
    if not m.choices.chance(30) or "dynamic-slices" in m.excluded:
        return offsets
    result = []
    for offset, count, size, step in zip(offsets, sizes, shape, steps):
        room = size - (count - 1) * step
        result.append(computed_index(m, room) if m.choices.chance(50) and room > 0 else offset)
    return result


def computed_index(m, limit):
    """A scalar index below the limit, looked up in a tensor of integers."""
    table = m.tensor(test=lambda v: v.element in ("i32", "i64") and len(v.shape) <= 1 and v.size() > 0)
    x = m.add(moving.extract(table, [m.index(m.choices.below(n)) for n in table.shape]))
    type_ = x.element
    index = m.add(structured.elementwise(f"arith.index_castui {{0}} : {type_} to index",
                                         lambda e: elements.cast("arith.index_castui", type_, "index", e), [x], "index"))
    most = m.index(limit)
    return m.add(structured.elementwise("arith.remui {0}, {1} : index", scalar_call("arith.remui", "index"),
                                        [index, most], "index"))


def extract_slice(m):
    x, offsets, sizes, steps, dropped = small_slice(m)
    m.add(moving.extract_slice(x, dynamic(m, offsets, sizes, x.shape, steps), sizes, steps, dropped))


def insert_slice(m):
    x, offsets, sizes, steps, dropped = small_slice(m)
    part = m.tensor(x.element, tuple(n for d, n in enumerate(sizes) if d not in dropped))
    m.add(moving.insert_slice(part, x, dynamic(m, offsets, sizes, x.shape, steps), steps, sizes))


def pad(m):
    x = m.tensor(test=lambda v: 1 <= len(v.shape) <= 4)
    low = [m.choices.below(3) if m.choices.chance(50) else 0 for _ in x.shape]
    high = [m.choices.below(3) if m.choices.chance(50) else 0 for _ in x.shape]
    if Value(tuple(l + n + h for l, n, h in zip(low, x.shape, high)), "f32").size() > MOST:
        raise Skip
    m.add(moving.pad(x, low, high, m.scalar(x.element)))


def concat(m):
    x = m.tensor(test=lambda v: len(v.shape) >= 1)
    dim = m.choices.below(len(x.shape))
    values = [x]
    for _ in range(m.choices.between(1, 2)):
        shape = list(x.shape)
        shape[dim] = m.size()
        if Value(tuple(shape), "f32").size() > MOST // 2:
            raise Skip
        values.append(m.tensor(x.element, tuple(shape)))
    m.add(moving.concat(values, dim))


def collapse(m):
    x = m.tensor(test=lambda v: len(v.shape) >= 2)
    groups, shape = [[0]], [x.shape[0]]
    for d in range(1, len(x.shape)):
        if m.choices.chance(50):
            groups[-1].append(d)
            shape[-1] *= x.shape[d]
        else:
            groups.append([d])
            shape.append(x.shape[d])
    m.add(moving.regroup(x, shape, groups, False))


def expand(m):
    x = m.tensor(test=lambda v: 1 <= len(v.shape) <= 4)
    groups, shape = [], []
    for size in x.shape:
        factors = [f for f in (2, 3, 4, 5, 8) if size and size % f == 0]
        if factors and m.choices.chance(60):
            factor = m.choices.pick(factors)
            parts = m.choices.pick([[factor, size // factor], [size // factor, factor]])
        elif m.choices.chance(20):
            parts = m.choices.pick([[1, size], [size, 1]])
        else:
            parts = [size]
        groups.append(list(range(len(shape), len(shape) + len(parts))))
        shape += parts
    m.add(moving.regroup(x, shape, groups, True))


def reshape(m):
    x = m.tensor(test=lambda v: v.size() > 0)
    size, shape = x.size(), []
    while size > 1 and len(shape) < 4:
        factor = m.choices.pick([f for f in range(2, size + 1) if size % f == 0][:6])
        shape.append(factor)
        size //= factor
    shape = m.choices.shuffled(shape + [size] * (size > 1 or not shape))
    sizes = m.add(constant(Value((len(shape),), "i64", shape)))
    m.add(moving.reshape(x, shape, sizes))


def transpose(m):
    x = m.tensor(test=lambda v: len(v.shape) >= 1)
    order = m.choices.shuffled(range(len(x.shape)))
    m.add(moving.transpose(x, m.init(tuple(x.shape[o] for o in order), x.element, False), order))


def turn(m):
    x = m.tensor(test=lambda v: len(v.shape) >= 1)
    order = m.choices.shuffled(range(len(x.shape)))
    backwards = [m.choices.chance(60) for _ in order]
    first = [m.choices.below(x.shape[o]) if x.shape[o] > 1 and m.choices.chance(20) else 0 for o in order]
    shape = tuple(x.shape[o] - f - (x.shape[o] > f + 1 and m.choices.chance(20)) for o, f in zip(order, first))
    m.add(moving.turn(x, m.init(shape, x.element, False), order, backwards, first))


def broadcast(m):
    x = m.tensor(test=lambda v: len(v.shape) <= 3)
    shape, added = list(x.shape), []
    for _ in range(m.choices.between(1, 2)):
        place = m.choices.below(len(shape) + 1)
        added = [d + (d >= place) for d in added] + [place]
        shape.insert(place, m.size())
    if Value(tuple(shape), "f32").size() > MOST:
        raise Skip
    m.add(moving.broadcast(x, m.init(tuple(shape), x.element, False), sorted(added)))


def copy(m):
    x = m.tensor()
    m.add(moving.copy(x, m.init(x.shape, x.element, False)))


def scalars(m):
    """Elements taken out and put back."""
    x = m.tensor(test=lambda v: v.size() > 0)

    def place(value):
        return [computed_index(m, n) if m.choices.chance(30) else m.index(m.choices.below(n)) for n in value.shape]

    element = m.add(moving.extract(x, place(x)))
    kind = m.choices.below(4)
    if kind == 0:
        m.add(moving.splat(element, m.shape()))
    elif kind == 1:
        other = m.add(moving.extract(x, place(x)))
        m.add(moving.from_elements([element, other, element], (3,)))
    elif kind == 2:
        into = m.tensor(x.element, test=lambda v: v.size() > 0)
        m.add(moving.insert(element, into, place(into)))
    else:
        shape = m.shape()
        m.add(structured.fill(element, m.init(shape, x.element, False)))
