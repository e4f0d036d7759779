"""More features: contractions, convolutions, pooling and control flow."""
import elements
import moving
import structured
from elements import is_float
from maker import MOST, Maker, Skip
from program import Value, identity, projection, scalar_call

# Names of dimensions: of both factors and of the result.
MATMULS = {
    "linalg.matmul": ("mk", "kn", "mn"),
    "linalg.batch_matmul": ("bmk", "bkn", "bmn"),
    "linalg.matvec": ("mk", "k", "m"),
    "linalg.vecmat": ("k", "kn", "n"),
    "linalg.batch_matvec": ("bmk", "bk", "bm"),
    "linalg.batch_vecmat": ("bk", "bkn", "bn"),
    "linalg.dot": ("k", "k", ""),
    "linalg.batch_reduce_matmul": ("bmk", "bkn", "mn"),
}
PAIRS = [("f32", "f32"), ("f32", "f32"), ("f64", "f64"), ("bf16", "f32"), ("f16", "f32"), ("bf16", "bf16"),
         ("f16", "f16"), ("i32", "i32"), ("i8", "i32"), ("i64", "i64"), ("i16", "i32")]


def types_of(m):
    return m.choices.pick([p for p in PAIRS if f"{p[0]}-{p[1]}" not in m.excluded])


def factor(m, element, shape):
    return m.tensor(element, tuple(shape))


def matmul(m):
    """Named matmuls, their operands read through any order of dimensions."""
    name = m.choices.pick(sorted(MATMULS))
    left, right, result = MATMULS[name]
    source, target = types_of(m)
    letters = sorted(set(left + right))
    sizes = {}
    base = m.find(lambda v: v.element == source and len(v.shape) == len(left))
    if base and m.choices.chance(70):
        sizes = dict(zip(left, base.shape))
    for letter in letters:
        sizes.setdefault(letter, m.size())
    if any(Value(tuple(sizes[c] for c in part), "f32").size() > MOST for part in (left, right, result)):
        raise Skip
    if Value(tuple(sizes.values()), "f32").size() > 12000:
        raise Skip
    attributes, maps = "", None
    if name in ("linalg.matmul", "linalg.batch_matmul") and m.choices.chance(30):
        left, right = (part[:-2] + part[:-3:-1] if m.choices.chance(50) else part for part in (left, right))
        maps = True
    order = [letters.index(c) for c in letters]
    spaces = "".join(dict.fromkeys(result + left + right))
    kinds = ["parallel" if c in result else "reduction" for c in spaces]
    maps_of = [projection(len(spaces), [spaces.index(c) for c in part]) for part in (left, right, result)]
    if maps:
        attributes = " indexing_maps = [" + ", ".join(map(str, maps_of)) + "]"
    factors = [factor(m, source, [sizes[c] for c in part]) for part in (left, right)]
    init = m.init(tuple(sizes[c] for c in result), target, True)
    casts = "arith.extf" if is_float(source) else "arith.extsi"
    m.add(structured.contraction(name, attributes, *factors, init, [sizes[c] for c in spaces], maps_of, kinds, casts))


def generic_contraction(m):
    """A product and a sum with any letters, as an einsum."""
    letters = "abcd"[: m.choices.between(2, 4)]
    source, target = types_of(m)
    sizes = {c: m.size() for c in letters}
    if Value(tuple(sizes.values()), "f32").size() > 12000:
        raise Skip
    parts = []
    for _ in range(2):
        part = [c for c in m.choices.shuffled(letters) if m.choices.chance(70)]
        parts.append(part or [letters[0]])
    used = [c for c in letters if c in parts[0] + parts[1]]
    result = [c for c in used if m.choices.chance(50)]
    if m.choices.chance(30):
        result = m.choices.shuffled(result)
    loop = structured.Generic([sizes[c] for c in used], ["parallel" if c in result else "reduction" for c in used])
    if len(result) == len(used) or any(Value(tuple(sizes[c] for c in p), "f32").size() > MOST for p in parts + [result]):
        raise Skip
    for part in parts:
        loop.read(factor(m, source, [sizes[c] for c in part]), projection(len(used), [used.index(c) for c in part]))
    loop.write(m.init(tuple(sizes[c] for c in result), target, True),
               projection(len(used), [used.index(c) for c in result]), "add")
    if not loop.is_invertible():
        raise Skip
    body = loop.body()
    slots = [m.cast_in(body, slot, target) for slot in (0, 1)]
    name = "arith.mulf" if is_float(target) else "arith.muli"
    call = (lambda a, b: structured.unrounded(target, a, b)) if is_float(target) else scalar_call(name, target)
    m.add(loop.op(body, [body.add(target, f"{name} {{0}}, {{1}} : {target}", call, *slots)]))


# Dimensions of image, filter and result; "x+k" is a window over x with taps k.
CONVOLUTIONS = {
    "linalg.conv_1d": (["x+k"], ["k"], ["x"]),
    "linalg.conv_2d": (["x+k", "y+l"], ["k", "l"], ["x", "y"]),
    "linalg.conv_1d_nwc_wcf": (["n", "x+k", "c"], ["k", "c", "f"], ["n", "x", "f"]),
    "linalg.conv_1d_ncw_fcw": (["n", "c", "x+k"], ["f", "c", "k"], ["n", "f", "x"]),
    "linalg.conv_2d_nhwc_hwcf": (["n", "x+k", "y+l", "c"], ["k", "l", "c", "f"], ["n", "x", "y", "f"]),
    "linalg.conv_2d_nchw_fchw": (["n", "c", "x+k", "y+l"], ["f", "c", "k", "l"], ["n", "f", "x", "y"]),
    "linalg.conv_2d_nhwc_fhwc": (["n", "x+k", "y+l", "c"], ["f", "k", "l", "c"], ["n", "x", "y", "f"]),
    "linalg.depthwise_conv_1d_nwc_wc": (["n", "x+k", "c"], ["k", "c"], ["n", "x", "c"]),
    "linalg.depthwise_conv_2d_nhwc_hwc": (["n", "x+k", "y+l", "c"], ["k", "l", "c"], ["n", "x", "y", "c"]),
    "linalg.depthwise_conv_2d_nchw_chw": (["n", "c", "x+k", "y+l"], ["c", "k", "l"], ["n", "c", "x", "y"]),
    "linalg.conv_3d_ndhwc_dhwcf": (["n", "x+k", "y+l", "z+j", "c"], ["k", "l", "j", "c", "f"], ["n", "x", "y", "z", "f"]),
}
POOLINGS = {
    "linalg.pooling_nwc_sum": (["n", "x+k", "c"], ["k"], ["n", "x", "c"]),
    "linalg.pooling_ncw_max": (["n", "c", "x+k"], ["k"], ["n", "c", "x"]),
    "linalg.pooling_nhwc_sum": (["n", "x+k", "y+l", "c"], ["k", "l"], ["n", "x", "y", "c"]),
    "linalg.pooling_nhwc_max": (["n", "x+k", "y+l", "c"], ["k", "l"], ["n", "x", "y", "c"]),
    "linalg.pooling_nhwc_min": (["n", "x+k", "y+l", "c"], ["k", "l"], ["n", "x", "y", "c"]),
    "linalg.pooling_nchw_max": (["n", "c", "x+k", "y+l"], ["k", "l"], ["n", "c", "x", "y"]),
    "linalg.pooling_nchw_sum": (["n", "c", "x+k", "y+l"], ["k", "l"], ["n", "c", "x", "y"]),
    "linalg.pooling_ndhwc_max": (["n", "x+k", "y+l", "z+j", "c"], ["k", "l", "j"], ["n", "x", "y", "z", "c"]),
}


def sliding(m, table):
    """What convolutions and poolings share: sizes, maps and strides of a window."""
    name = m.choices.pick(sorted(n for n in table if n not in m.excluded))
    image, window, result = table[name]
    windows = [part for part in image if "+" in part]
    one = name in ("linalg.conv_1d", "linalg.conv_2d")
    steps = [1 if one else m.choices.weighted([(1, 70), (2, 30)]) for _ in windows]
    gaps = [1 if one else m.choices.weighted([(1, 80), (2, 20)]) for _ in windows]
    sizes = {}
    for part in image + window:
        for letter in part.split("+"):
            if letter not in sizes:
                sizes[letter] = m.choices.between(1, 3) if letter in "klj" else m.choices.between(1, 6)
    spaces = list(dict.fromkeys(result + image + window))
    spaces = [s for s in spaces if "+" not in s] 
    factors, shape = [], []
    for part in image:
        letters = part.split("+")
        if len(letters) == 1:
            factors.append({spaces.index(part): 1})
            shape.append(sizes[part])
            continue
        step, gap = steps[windows.index(part)], gaps[windows.index(part)]
        factors.append({spaces.index(letters[0]): step, spaces.index(letters[1]): gap})
        shape.append((sizes[letters[0]] - 1) * step + (sizes[letters[1]] - 1) * gap + 1)
    if Value(tuple(shape), "f32").size() > MOST or Value(tuple(sizes[s] for s in spaces), "f32").size() > 9000:
        raise Skip
    maps = [structured.windowed(len(spaces), factors)]
    maps += [projection(len(spaces), [spaces.index(c) for c in part]) for part in (window, result)]
    kinds = ["parallel" if s in result else "reduction" for s in spaces]
    rank = len(windows)
    attributes = "" if one else (f" {{dilations = dense<{gaps}> : tensor<{rank}xi64>, "
                                 f"strides = dense<{steps}> : tensor<{rank}xi64>}}")
    extents = [[sizes[c] for c in part] for part in (window, result)]
    return name, attributes, shape, extents, [sizes[s] for s in spaces], maps, kinds


def convolution(m):
    name, attributes, shape, (window, result), sizes, maps, kinds = sliding(m, CONVOLUTIONS)
    source, target = types_of(m)
    image, filters = factor(m, source, shape), factor(m, source, window)
    init = m.init(tuple(result), target, True)
    casts = "arith.extf" if is_float(source) else "arith.extsi"
    m.add(structured.contraction(name, attributes, image, filters, init, sizes, maps, kinds, casts))


def pooling(m):
    name, attributes, shape, (window, result), sizes, maps, kinds = sliding(m, POOLINGS)
    element = m.choices.pick(["f32", "f64", "bf16", "i32", "i8"])
    best = {"sum": "add", "max": "arith.maximumf" if is_float(element) else "arith.maxsi",
            "min": "arith.minimumf" if is_float(element) else "arith.minsi"}
    image, taps = factor(m, element, shape), m.add(moving.empty(tuple(window), element))
    init = m.init(tuple(result), element, True)
    m.add(structured.pooling(name, attributes, image, taps, init, sizes, maps, kinds, best[name[-3:]]))


# ---------------------------------------------------------------------------
# Control flow


def region(m, given, shapes, features):
    """A block of some ops, and a value of each wanted type to yield."""
    inner = Maker(m.choices, m.program, m.sizes, m.excluded, m)
    inner.values = [v for v in inner.values if v.shape is not None] + given
    for _ in range(m.choices.between(1, 3)):
        try:
            m.choices.pick(features)(inner)
        except (Skip, elements.Undefined):
            pass
    yields = []
    for value in shapes:
        same = [v for v in inner.values if v.shape == value.shape and v.element == value.element and not inner.is_undefined(v)]
        if not same:
            raise Skip
        yields.append(same[-1 - m.choices.below(min(len(same), 3))])
    return moving.Block(given, inner.ops, yields), inner


def known(shape, element, data):
    return Value(shape, element, data)


def carries(m):
    inits = [m.tensor(test=lambda v: v.size() <= 400)]
    if m.choices.chance(40):
        inits.append(m.tensor(test=lambda v: v.size() <= 400))
    return inits


def loop(m, features):
    """scf.for: values carried, slices of stacks read and written by the counter."""
    count = m.choices.between(0, 4)
    inits = carries(m)
    stack = None
    if m.choices.chance(50) and count:
        stack = m.tensor(test=lambda v: len(v.shape) >= 1 and v.shape[0] >= count and 0 < v.size() <= 600)
        inits.append(stack)
    index = known(None, "index", [0])
    given = [index] + [known(v.shape, v.element, v.data) for v in inits]
    step = m.choices.between(1, 2)
    bounds = [m.index(0), m.index(count), m.index(step)]
    ops = []
    if stack is not None:
        inner = Maker(m.choices, m.program, m.sizes, m.excluded, m)
        row = (1,) + stack.shape[1:]
        offsets, ones = [index] + [0] * (len(row) - 1), [1] * len(row)
        part = inner.add(moving.extract_slice(given[-1], offsets, list(row), ones, [0]))
        block, more = region(m, given + [part], [*inits[:-1], part], features)
        written = more.add(moving.insert_slice(block.yields[-1], given[-1], offsets, ones, list(row)))
        block = moving.Block(given, inner.ops + more.ops, block.yields[:-1] + [written])
    else:
        block, _ = region(m, given, inits, features)
    m.add(moving.counted_loop(bounds, inits, block, index))


def repeat(m, features):
    """scf.while over a counter that starts in a tensor."""
    inits = carries(m)
    n = m.tensor("i32", ())
    start = m.add(moving.extract(n, []))
    three, one, zero = (m.scalar("i32", x) for x in (3, 1, 0))
    start = m.add(structured.elementwise("arith.remui {0}, {1} : i32", scalar_call("arith.remui", "i32"), [start, three], "i32"))
    first = [known(None, "i32", start.data)] + [known(v.shape, v.element, v.data) for v in inits]
    inner = Maker(m.choices, m.program, m.sizes, m.excluded, m)
    flag = inner.add(structured.elementwise("arith.cmpi ne, {0}, {1} : i32",
                                            lambda a, b: elements.compare_ints("ne", "i32", a, b), [first[0], zero], "i1"))
    before = moving.Block(first, inner.ops, [flag, *first])
    second = [known(v.shape, v.element, v.data) for v in first]
    block, more = region(m, second, inits, features)
    less = more.add(structured.elementwise("arith.subi {0}, {1} : i32", scalar_call("arith.subi", "i32"), [second[0], one], "i32"))
    after = moving.Block(second, more.ops, [less, *block.yields])
    m.add(moving.while_loop([start, *inits], before, flag, after))


def either(m, features):
    """scf.if on an element of a tensor."""
    flags = m.tensor("i1", test=lambda v: len(v.shape) <= 1 and v.size() > 0)
    flag = m.add(moving.extract(flags, [m.index(m.choices.below(n)) for n in flags.shape]))
    shapes = carries(m)
    then, _ = region(m, [], shapes, features)
    otherwise, _ = region(m, [], shapes, features)
    m.add(moving.choice(flag, then, otherwise))
