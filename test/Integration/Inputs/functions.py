"""Functions as arithmetic, against Python's: writes a step and its arguments, or
checks its results.

usage: functions.py write FOLDER      writes step.mlir and inputs.npz
       functions.py check FOLDER/RESULTS.npz
"""
import decimal
import math
import os
import random
import struct
import sys
import zipfile

COUNT = 5003
INFINITY, NAN = math.inf, math.nan


def real(function):
    """The values that C gives where Python raises an exception."""

    def call(*arguments):
        try:
            return function(*arguments)
        except OverflowError:
            return INFINITY
        except ValueError:
            return -INFINITY if arguments[0] in (0, -1) else NAN

    return call


def log(function, pole):
    def call(x):
        return function(x) if x > pole else -INFINITY if x == pole else NAN

    return call


def power(a, b):
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INFINITY if a < 0 and b % 2 == 1 else INFINITY
    except ValueError:
        if a != 0:
            return NAN
        return math.copysign(INFINITY, a) if b % 2 == 1 else INFINITY


def inverse_tangent_of_inverse(n, bits):
    """In units of 2^-bits."""
    total = power = (1 << bits) // n
    for k in range(1, bits):
        power //= -n * n
        total += power // (2 * k + 1)
    return total


# Units in which a multiple of pi is taken from the largest numbers; for the rest.
WAVE_BITS, REST_BITS = 1400, 200
PI = 16 * inverse_tangent_of_inverse(5, WAVE_BITS) - 4 * inverse_tangent_of_inverse(239, WAVE_BITS)


def sine(x, quarters=0):
    """Of x plus quarters pi / 2, rounded once: the C library's is off by units for large x."""
    if not math.isfinite(x):
        return NAN
    if quarters == 0 and abs(x) < 2.0**-30:
        return x
    numerator, denominator = x.as_integer_ratio()
    angle = ((numerator << WAVE_BITS) // denominator + quarters * PI // 2) % (2 * PI)
    angle >>= WAVE_BITS - REST_BITS
    total = term = angle
    k = 1
    while term:
        k += 2
        term = -((term * angle >> REST_BITS) * angle >> REST_BITS) // (k * (k - 1))
        term += term == -1
        total += term
    return total / (1 << REST_BITS)


def tangent(x):
    return sine(x) / sine(x, 1)


def inside(function, low, high):
    """Of a function that has values from low to high."""

    def call(x):
        return function(x) if low <= x <= high else NAN

    return call


def inverse_of_tanh(x):
    return math.copysign(INFINITY, x) if abs(x) == 1 else inside(math.atanh, -1, 1)(x)


def hyperbolic_sine(x):
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(INFINITY, x)


def cube_root(x):
    """Rounded once: the C library's is off by units."""
    if x == 0 or not math.isfinite(x):
        return x
    with decimal.localcontext() as context:
        context.prec = 60
        return math.copysign(float(decimal.Decimal(abs(x)) ** (decimal.Decimal(1) / 3)), x)


def nearest(x):
    """Halves away from zero."""
    if not math.isfinite(x) or x == math.trunc(x):
        return x
    whole = math.trunc(x)
    return math.copysign(abs(whole) + (abs(x - whole) >= 0.5), x)


# Name, function, arguments, and how many units in the last place f64 may be off.
functions = [
    ("acos", inside(math.acos, -1, 1), "x", 2),
    ("acosh", inside(math.acosh, 1, INFINITY), "x", 3),
    ("asin", inside(math.asin, -1, 1), "x", 2),
    ("asinh", math.asinh, "x", 3),
    ("atan", math.atan, "x", 1),
    ("atan2", math.atan2, "ab", 2),
    ("atanh", inverse_of_tanh, "x", 3),
    ("cbrt", cube_root, "x", 1),
    ("cos", lambda x: sine(x, 1), "x", 1),
    ("cosh", real(math.cosh), "x", 2),
    ("erf", math.erf, "x", 1),
    ("erfc", math.erfc, "x", 5),
    ("exp", real(math.exp), "x", 1),
    ("exp2", real(lambda x: math.pow(2.0, x)), "x", 1),
    ("expm1", real(math.expm1), "x", 2),
    ("log", log(math.log, 0), "x", 1),
    ("log10", log(math.log10, 0), "x", 3),
    ("log1p", log(math.log1p, -1), "x", 2),
    ("log2", log(math.log2, 0), "x", 2),
    ("sin", sine, "x", 1),
    ("sinh", hyperbolic_sine, "x", 3),
    ("tan", tangent, "x", 3),
    ("tanh", math.tanh, "x", 3),
    ("powf", power, "ab", 2),
]
# Units in f32, whose polynomials are upstream's; all others are computed in f64.
of_polynomials = {"erf": 3, "exp": 2, "expm1": 4, "log": 2, "log1p": 4, "log2": 3, "tanh": 4}
# Those that are computed in f32 for f16, among others.
in_half = ["cos", "sin", "tan"]
rounding = ("round", nearest, "x", 0)
types = {"f64": ("d", "<f8", 52, -1022), "f32": ("f", "<f4", 23, -126), "f16": ("e", "<f2", 10, -14)}


def as_type(value, kind):
    code = types[kind][0]
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(INFINITY, value)


def arguments(kind):
    """x, a, b: special values, all pairs of them for a and b, then random ones."""
    generator = random.Random(7)
    tiny, least = (5e-324, 1e-310) if kind == "f64" else (1e-45, 1e-40)
    special = [0.0, 0.5, 1.0, 2.0, 3.0, 8.0, 1000.0, 1 - 2**-24, 1 + 2**-23, 0.3, 2.5,
               7e-9, 22.0, 709.7, 745.0, 1e300, tiny, least, INFINITY,
               # For waves: near multiples of pi/2, the last by 2^-61, and between ways.
               math.pi / 2, 355.0, 2.0**30, 2.0**30 - 1, 1e22, 6381956970095103.0 * 2.0**797,
               # Near multiples of pi/2 in f32, and its largest number.
               16367173.0 * 2.0**72, 1e4, 123456.0, 6e4, 1e10, (2.0 - 2.0**-23) * 2.0**127, -1e-8]
    special += [-x for x in special] + [NAN]
    pairs = [(a, b) for a in special for b in special]
    x, a, b = list(special), [p[0] for p in pairs], [p[1] for p in pairs]
    while len(x) < COUNT:
        scale = generator.choice([1e-12, 0.01, 1, 1, 20, 700, 1e5, 1e30])
        x.append(generator.uniform(-scale, scale) if len(x) % 2 else abs(generator.gauss(0, scale)))
    while len(a) < COUNT:
        a.append(math.exp(generator.uniform(-30, 30)) * generator.choice([1, 1, 1, -1]))
        b.append(generator.choice([generator.uniform(-20, 20), float(generator.randint(-9, 9))]))
    return [[as_type(value, kind) for value in values] for values in (x, a, b)]


def calls():
    """Type, name, function, arguments, units for each result."""
    for name, function, names, units in functions:
        yield "f64", name, function, names, units
    for name, function, names, _ in functions:
        yield "f32", name, function, names, of_polynomials.get(name, 0.6)
    for name, function, names, _ in functions:
        if name in in_half:
            yield "f16", name, function, names, 0.6
    for kind in ["f64", "f32"]:
        yield (kind, *rounding)


def write_step(file):
    parameters = [f"%{name}_{kind}" for kind in types for name in "xab"]
    tensors = {kind: f"tensor<{COUNT}x{kind}>" for kind in types}
    signature = ", ".join(f"{p}: {tensors[p[-3:]]}" for p in parameters)
    results = list(calls())
    result_types = ", ".join(tensors[kind] for kind, *_ in results)
    file.write(f"func.func @step({signature}) -> ({result_types}) {{\n")
    for number, (kind, name, _, names, _) in enumerate(results):
        operands = ", ".join(f"%{n}_{kind}" for n in names)
        file.write(f"  %{number} = math.{name} {operands} : {tensors[kind]}\n")
    values = ", ".join(f"%{number}" for number in range(len(results)))
    file.write(f"  return {values} : {result_types}\n}}\n")


def write_arguments(path):
    values = [(kind, v) for kind in types for v in arguments(kind)]
    with zipfile.ZipFile(path, "w") as archive:
        for number, (kind, numbers) in enumerate(values):
            code, description = types[kind][:2]
            header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': ({COUNT},), }}\n"
            member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            archive.writestr(f"arg{number:03}.npy", member + struct.pack(f"<{COUNT}{code}", *numbers))


def units_between(value, expected, kind):
    """In units of the last place of the expected value; 0 for equal bits."""
    if math.isnan(value) and math.isnan(expected):
        return 0
    if value == expected:
        return 0 if math.copysign(1, value) == math.copysign(1, expected) else INFINITY
    if not math.isfinite(value) or not math.isfinite(as_type(expected, kind)):
        return 0 if value == as_type(expected, kind) else INFINITY
    bits, least = types[kind][2:]
    exponent = max(math.frexp(expected)[1] - 1, least)
    return abs(value - expected) / 2.0 ** max(exponent - bits, -1074)


def check(path):
    inputs = {kind: dict(zip("xab", arguments(kind))) for kind in types}
    failures = 0
    with zipfile.ZipFile(path) as archive:
        for number, (kind, name, function, names, units) in enumerate(calls()):
            code = types[kind][0]
            member = archive.read(f"out{number:03}.npy")
            values = struct.unpack(f"<{COUNT}{code}", member[-COUNT * struct.calcsize(code) :])
            worst, where = 0, ""
            for i, value in enumerate(values):
                operands = [inputs[kind][n][i] for n in names]
                expected = function(*operands)
                error = units_between(value, expected, kind)
                # Upstream's polynomials take subnormal numbers for zero.
                sizes = [abs(number) for number in operands + [expected]]
                if kind == "f32" and name in of_polynomials and min(sizes) < 2.0**-126:
                    error = 0
                if error > worst:
                    worst, where = error, f" at {operands}: {value!r}, expected {expected!r}"
            good = worst <= units
            failures += not good
            print(f"{name} in {kind}: {worst:.2f} units{'' if good else where}")
    sys.exit(failures > 0)


mode, place = sys.argv[1:]
if mode == "write":
    with open(os.path.join(place, "step.mlir"), "w") as step:
        write_step(step)
    write_arguments(os.path.join(place, "inputs.npz"))
else:
    check(place)
