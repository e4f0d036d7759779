"""Elements of tensors and the scalar ops on them, as MLIR's documents define them.

An integer is its bits, as a number that is not negative. A float is a Python float
where its bits are certain, an interval (low, high) where rounding of a function or of
a reduction leaves several answers, and UNKNOWN where anything may come out. Undefined
is raised where MLIR leaves the result undefined: such programs are not run.
"""
import math
import struct
from fractions import Fraction

UNKNOWN = None
PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
LEAST = {"f16": -24, "bf16": -133, "f32": -149, "f64": -1074}
LARGEST = {"f16": 65504.0, "bf16": 2.0**128 - 2.0**120, "f32": 2.0**128 - 2.0**104, "f64": math.inf}
# A function may be so many units in the last place off, before it is rounded to f16
# or bf16. Python's own functions are within one unit of f64.
UNITS = 16


class Undefined(Exception):
    pass


def is_float(type_):
    return type_ in PRECISION


def width(type_):
    return 64 if type_ == "index" else int(type_.lstrip("ibf"))


def storage(type_):
    """Bytes of an element in memory."""
    return max(1, width(type_) // 8)


def to_type(type_, x):
    """x rounded to the nearest number of the type, ties to even."""
    if type_ == "f64" or x == 0 or math.isnan(x) or math.isinf(x):
        return x
    quantum = max(math.frexp(x)[1] - PRECISION[type_], LEAST[type_])
    x = math.ldexp(round(math.ldexp(x, -quantum)), quantum)
    return math.copysign(math.inf, x) if abs(x) > LARGEST[type_] else x


def signed(type_, x):
    w = width(type_)
    return x - (1 << w) if x >> (w - 1) else x


def bits(type_, x):
    return x & ((1 << width(type_)) - 1)


def interval(x):
    return x if isinstance(x, tuple) else (x, x)


def widened(type_, low, high, units=1.0):
    """An interval and rounding on both sides; UNKNOWN beyond the type."""
    if not (-LARGEST[type_] < low <= high < LARGEST[type_]):
        return UNKNOWN
    unit = 2.0 ** (1 - PRECISION[type_]) * units
    tiny = 2.0 ** max(LEAST[type_], -1074) * max(units, 1)
    return (low - abs(low) * unit - tiny, high + abs(high) * unit + tiny)


def exact(*values):
    return all(isinstance(x, float) for x in values)


def arithmetic(type_, function, a, b):
    """An op that rounds once; the ends of intervals bound it."""
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if exact(a, b):
        return to_type(type_, function(a, b))
    ends = [function(x, y) for x in interval(a) for y in interval(b)]
    if not all(map(math.isfinite, ends)):
        return UNKNOWN
    return widened(type_, min(ends), max(ends))


def divide(type_, a, b):
    low, high = interval(b) if b is not UNKNOWN else (0.0, 0.0)
    if not (low > 0 or high < 0) or not math.isfinite(low * high):
        return UNKNOWN
    return arithmetic(type_, lambda x, y: x / y, a, b)


def extremum(choose, quiet):
    def call(type_, a, b):
        if a is UNKNOWN or b is UNKNOWN:
            return UNKNOWN
        if exact(a, b):
            if math.isnan(a) or math.isnan(b):
                return (b if math.isnan(a) else a) if quiet else math.nan
            return choose(a, b)
        (a, c), (b, d) = interval(a), interval(b)
        if not all(map(math.isfinite, (a, b, c, d))):
            return UNKNOWN
        return (choose(a, b), choose(c, d))

    return call


def fused(type_, a, b, c):
    if not exact(a, b, c) or not all(map(math.isfinite, (a, b, c))):
        product = arithmetic("f64", lambda x, y: x * y, a, b)
        return arithmetic(type_, lambda x, y: x + y, product, c)
    total = Fraction(a) * Fraction(b) + Fraction(c)
    if type_ == "f64":
        return float(total)
    if total == 0:
        return 0.0
    # Rounded to odd at 53 bits, then once more: the bits of one rounding.
    near = float(total)
    if Fraction(near) != total and near.hex().rstrip("0")[-1:] != "1":
        toward = math.inf if total > Fraction(near) else -math.inf
        if struct.unpack("<q", struct.pack("<d", near))[0] % 2 == 0:
            near = math.nextafter(near, toward)
    return to_type(type_, near)


def copysign(type_, a, b):
    if not exact(a, b) or b == 0 or math.isnan(a) or math.isnan(b):
        return UNKNOWN
    return math.copysign(a, b)


def remainder(type_, a, b):
    if not exact(a, b) or b == 0 or not math.isfinite(a) or not math.isfinite(b):
        return UNKNOWN
    return math.fmod(a, b)


FLOAT_BINARY = {
    "arith.addf": lambda t, a, b: arithmetic(t, lambda x, y: x + y, a, b),
    "arith.subf": lambda t, a, b: arithmetic(t, lambda x, y: x - y, a, b),
    "arith.mulf": lambda t, a, b: arithmetic(t, lambda x, y: x * y, a, b),
    "arith.divf": divide,
    "arith.minimumf": extremum(min, False),
    "arith.maximumf": extremum(max, False),
    "arith.minnumf": extremum(min, True),
    "arith.maxnumf": extremum(max, True),
    "math.copysign": copysign,
    "arith.remf": remainder,
}


def negate(type_, a):
    if a is UNKNOWN or exact(a):
        return a if a is UNKNOWN else -a
    return (-a[1], -a[0])


def absolute(type_, a):
    if a is UNKNOWN or exact(a):
        return a if a is UNKNOWN else abs(a)
    ends = sorted(map(abs, a))
    return tuple(ends) if a[0] * a[1] > 0 else (0.0, ends[1])


def rounding(function):
    def call(type_, a):
        if a is UNKNOWN or not all(map(math.isfinite, interval(a))):
            return UNKNOWN
        low, high = (float(function(x)) for x in interval(a))
        return low if low == high else (low, high)

    return call


def half_away(x):
    return math.floor(x) + (x - math.floor(x) >= 0.5) if x >= 0 else -half_away(-x)


def root(type_, a):
    if a is UNKNOWN or not interval(a)[0] >= 0 or interval(a)[1] == math.inf:
        return UNKNOWN
    if exact(a):
        return to_type(type_, math.sqrt(a))
    return widened(type_, *map(math.sqrt, a))


def function(call, low=-math.inf, high=math.inf, falls=False):
    """A function that grows (or falls) between low and high."""

    def result(type_, a):
        if a is UNKNOWN:
            return UNKNOWN
        ends = interval(a)
        if not (low < ends[0] <= ends[1] < high):
            return UNKNOWN
        try:
            first, last = sorted(map(call, ends)) if falls else map(call, ends)
        except OverflowError:
            return UNKNOWN
        if type_ in ("f16", "bf16"):
            inner = widened("f32", first, last, UNITS)
            return inner and widened(type_, *inner)
        return widened(type_, first, last, UNITS)

    return result


def wave(call):
    """A function whose slope is at most one."""

    def result(type_, a):
        low, high = (1.0, 0.0) if a is UNKNOWN else interval(a)
        if not (-1e4 < low <= high < 1e4):
            return UNKNOWN
        middle, half = (low + high) / 2, (high - low) / 2
        value = call(middle)
        if type_ in ("f16", "bf16"):
            inner = widened("f32", value - half, value + half, UNITS)
            return inner and widened(type_, *inner)
        return widened(type_, value - half, value + half, UNITS)

    return result


FLOAT_UNARY = {
    "arith.negf": negate,
    "math.absf": absolute,
    "math.floor": rounding(math.floor),
    "math.ceil": rounding(math.ceil),
    "math.trunc": rounding(math.trunc),
    "math.roundeven": rounding(round),
    "math.round": rounding(half_away),
    "math.sqrt": root,
    "math.rsqrt": function(lambda x: 1 / math.sqrt(x), 1e-30, 1e30, True),
    "math.exp": function(math.exp, -80, 80),
    "math.exp2": function(lambda x: 2.0**x, -100, 100),
    "math.expm1": function(math.expm1, -80, 80),
    "math.log": function(math.log, 1e-30),
    "math.log2": function(math.log2, 1e-30),
    "math.log10": function(math.log10, 1e-30),
    "math.log1p": function(math.log1p, -0.99),
    "math.tanh": function(math.tanh),
    "math.erf": function(math.erf),
    "math.atan": function(math.atan),
    "math.asin": function(math.asin, -1, 1),
    "math.acos": function(math.acos, -1, 1, True),
    "math.sinh": function(math.sinh, -80, 80),
    "math.cbrt": function(lambda x: math.copysign(abs(x) ** (1 / 3), x)),
    "math.sin": wave(math.sin),
    "math.cos": wave(math.cos),
}


def shift(call):
    def result(type_, a, b):
        if b >= width(type_):
            raise Undefined("a shift by the width or more")
        return bits(type_, call(type_, a, b))

    return result


def division(call, is_signed, modulo=False):
    def result(type_, a, b):
        if b == 0:
            raise Undefined("a division by zero")
        if is_signed:
            a, b = signed(type_, a), signed(type_, b)
            if b == -1 and a == -(1 << (width(type_) - 1)):
                raise Undefined("a quotient that overflows")
        return bits(type_, call(a, b))

    return result


def truncated(a, b):
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


INT_BINARY = {
    "arith.addi": lambda t, a, b: bits(t, a + b),
    "arith.subi": lambda t, a, b: bits(t, a - b),
    "arith.muli": lambda t, a, b: bits(t, a * b),
    "arith.andi": lambda t, a, b: a & b,
    "arith.ori": lambda t, a, b: a | b,
    "arith.xori": lambda t, a, b: a ^ b,
    "arith.minui": lambda t, a, b: min(a, b),
    "arith.maxui": lambda t, a, b: max(a, b),
    "arith.minsi": lambda t, a, b: bits(t, min(signed(t, a), signed(t, b))),
    "arith.maxsi": lambda t, a, b: bits(t, max(signed(t, a), signed(t, b))),
    "arith.shli": shift(lambda t, a, b: a << b),
    "arith.shrui": shift(lambda t, a, b: a >> b),
    "arith.shrsi": shift(lambda t, a, b: signed(t, a) >> b),
    "arith.divui": division(lambda a, b: a // b, False),
    "arith.remui": division(lambda a, b: a % b, False),
    "arith.divsi": division(truncated, True),
    "arith.remsi": division(lambda a, b: a - b * truncated(a, b), True),
    "arith.floordivsi": division(lambda a, b: a // b, True),
    "arith.ceildivsi": division(lambda a, b: -(-a // b), True),
    "arith.ceildivui": division(lambda a, b: -(-a // b), False),
}
# Their right operand decides whether they are defined.
PARTIAL = {name for name in INT_BINARY if "div" in name or "rem" in name or "sh" in name}

INT_UNARY = {
    "math.ctpop": lambda t, a: bits(t, bin(a).count("1")),
    "math.ctlz": lambda t, a: bits(t, width(t) - a.bit_length()),
    "math.cttz": lambda t, a: bits(t, (a & -a).bit_length() - 1 if a else width(t)),
    "math.absi": lambda t, a: bits(t, abs(signed(t, a))),
}


def compare_ints(predicate, type_, a, b):
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if predicate[0] == "s":
        a, b = signed(type_, a), signed(type_, b)
    order = predicate.lstrip("su")
    return int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b,
                "gt": a > b, "ge": a >= b}[order])


def compare_floats(predicate, a, b):
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    (a, c), (b, d) = interval(a), interval(b)
    if any(map(math.isnan, (a, b, c, d))):
        return int(predicate[0] == "u")
    order = predicate[1:] if predicate not in ("ord", "uno") else predicate
    if order in ("ord", "uno"):
        return int(order == "ord")
    if order in ("gt", "ge"):
        a, b, c, d = b, a, d, c
    if order in ("eq", "ne"):
        if c < b or d < a:
            return int(order == "ne")
        return int((a == b) == (order == "eq")) if a == c and b == d else UNKNOWN
    strict = order in ("lt", "gt")
    if c < b if strict else c <= b:
        return 1
    return 0 if (a >= d if strict else a > d) else UNKNOWN


def cast(name, source, target, x):
    """A conversion of one element."""
    if x is UNKNOWN:
        if name in ("arith.fptosi", "arith.fptoui"):
            raise Undefined("a number that may not fit")
        return UNKNOWN
    if name in ("arith.extf", "arith.truncf"):
        if exact(x):
            return to_type(target, x)
        return x if name == "arith.extf" else widened(target, *x)
    if name in ("arith.extui", "arith.trunci", "arith.index_castui"):
        return bits(target, x)
    if name in ("arith.extsi", "arith.index_cast"):
        return bits(target, signed(source, x))
    if name in ("arith.sitofp", "arith.uitofp"):
        number = signed(source, x) if name == "arith.sitofp" else x
        return rounded_integer(target, number)
    if name in ("arith.fptosi", "arith.fptoui"):
        return to_integer(name == "arith.fptosi", target, x)
    return bitcast(source, target, x)


def rounded_integer(type_, number):
    if abs(number) < 1 << 53:
        return to_type(type_, float(number))
    if type_ == "f64":
        return float(number)
    # Some bits below the last one stand for all that are lost.
    sticky = 1 if abs(number) & 0xFFF else 0
    return to_type(type_, math.copysign(float(abs(number) >> 12 << 12 | sticky << 12), number))


def to_integer(is_signed, type_, x):
    low, high = interval(x)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise Undefined("a number that does not fit")
    low, high = math.trunc(low), math.trunc(high)
    w = width(type_)
    least, most = (-(1 << (w - 1)), (1 << (w - 1)) - 1) if is_signed else (0, (1 << w) - 1)
    if not least <= low <= high <= most:
        raise Undefined("a number that does not fit")
    return bits(type_, low) if low == high else UNKNOWN


def altered(x):
    """Another element than x."""
    if isinstance(x, tuple):
        return (x[1] + 1 + abs(x[1]), x[1] + 2 + 2 * abs(x[1]))
    if isinstance(x, float):
        return 1.0 if math.isnan(x) or math.isinf(x) else x + 1 + abs(x) / 2
    return x if x is UNKNOWN else x ^ 1


FORMATS = {"f16": "<e", "f32": "<f", "f64": "<d"}


def encode(type_, x):
    """The bytes of an element."""
    if not is_float(type_):
        return x.to_bytes(storage(type_), "little")
    if type_ == "bf16":
        return struct.pack("<f", x)[2:]
    return struct.pack(FORMATS[type_], x)


def decode(type_, data):
    if not is_float(type_):
        return bits(type_, int.from_bytes(data, "little"))
    if type_ == "bf16":
        return struct.unpack("<f", b"\0\0" + data)[0]
    return struct.unpack(FORMATS[type_], data)[0]


def bitcast(source, target, x):
    if not isinstance(x, (int, float)):
        return UNKNOWN
    # Bits of a NaN, and the sign of a zero, are nobody's promise.
    if is_float(source) and (math.isnan(x) or x == 0):
        return UNKNOWN
    return decode(target, encode(source, x))


def total(type_, terms, start):
    """The sum of terms and start, in any order."""
    values = [*terms, start]
    if any(x is UNKNOWN for x in values):
        return UNKNOWN
    if not is_float(type_):
        return bits(type_, sum(values))
    if all(map(exact, values)):
        if not all(map(math.isfinite, values)):
            return UNKNOWN
        if len(terms) == 1:
            return to_type(type_, terms[0] + start)
        size = math.fsum(map(abs, values))
        quantum = 2.0 ** (math.frexp(size)[1] - PRECISION[type_]) if size else 1.0
        if size <= LARGEST[type_] and all(x % quantum == 0 for x in values):
            return math.fsum(values)
    ends = [interval(x) for x in values]
    low, high = (math.fsum(end[i] for end in ends) for i in (0, 1))
    size = math.fsum(max(abs(a), abs(b)) for a, b in ends)
    slack = size * len(values) * 2.0 ** -PRECISION[type_] * 1.1
    return widened(type_, low - slack, high + slack) if math.isfinite(slack) else UNKNOWN


def product(type_, terms, start):
    values = [*terms, start]
    if any(x is UNKNOWN for x in values):
        return UNKNOWN
    if not is_float(type_):
        return bits(type_, math.prod(values))
    if all(map(exact, values)) and all(abs(x) in (1.0, 0.0) for x in values[:-1]):
        return math.prod(values)
    result = start
    for x in terms:
        result = arithmetic("f64", lambda a, b: a * b, result, x)
    if result is UNKNOWN:
        return UNKNOWN
    # Partial products in another order may leave the range of the type.
    for least in (min(1.0, math.prod(x) if x else 1.0) for x in
                  [[max(map(abs, interval(y))) for y in values if max(map(abs, interval(y))) < 1]]):
        if least < 2.0 ** (LEAST[type_] + PRECISION[type_]):
            return UNKNOWN
    if math.prod(max(1.0, *map(abs, interval(y))) for y in values) > LARGEST[type_] / 2:
        return UNKNOWN
    return widened(type_, *interval(result), units=len(values))
