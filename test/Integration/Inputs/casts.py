"""Conversions and functions of whole numbers, against Python's: writes a step and
its arguments, or checks its results.

usage: casts.py write FOLDER
       casts.py check FOLDER/RESULTS.npz
"""
import fractions
import math
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Inputs"))
import npz

COUNT = 1009


class Float:
    """A binary format: bits of its exponent and of its mantissa, and what stands in place of
    numbers too large: infinity, or NaN, of which the bits are given."""

    def __init__(self, kind, exponent, mantissa, bias, largest, beyond, nan):
        self.kind, self.mantissa, self.bias = kind, mantissa, bias
        self.largest, self.beyond, self.nan = largest, beyond, nan
        self.width = 1 + exponent + mantissa

    def value(self, bits):
        """A fraction; an infinite float; NaN."""
        size = bits & (1 << (self.width - 1)) - 1
        if size > self.largest or (self.nan == 0x80 and bits == 0x80):
            return math.nan if size != self.beyond or self.beyond == self.nan else math.copysign(math.inf, -(bits >> (self.width - 1)) or 1)
        exponent, rest = size >> self.mantissa, size & (1 << self.mantissa) - 1
        if exponent:
            rest += 1 << self.mantissa
        result = fractions.Fraction(rest) * fractions.Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)
        return -result if bits >> (self.width - 1) else result

    def round(self, value, negative):
        """The bits of the nearest number to one that is not NaN, even if two are."""
        sign = int(negative) << (self.width - 1)
        if value in (math.inf, -math.inf):
            return self.beyond if self.nan == 0x80 else sign | self.beyond
        value = abs(fractions.Fraction(value))
        exponent = 1
        while value >= fractions.Fraction(2) ** (exponent + 1 - self.bias):
            exponent += 1
        unit = fractions.Fraction(2) ** (exponent - self.bias - self.mantissa)
        # Python rounds fractions to even. A carry goes into the exponent.
        bits = round(value / unit) + ((exponent - 1) << self.mantissa)
        if bits > self.largest:
            bits = self.beyond
        if self.nan == 0x80 and bits in (0, 0x80):
            return bits
        return sign | bits


FORMATS = {
    "f32": Float("f4", 8, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000),
    "f16": Float("f2", 5, 10, 15, 0x7BFF, 0x7C00, 0x7E00),
    "bf16": Float("V2", 8, 7, 127, 0x7F7F, 0x7F80, 0x7FC0),
    "f8E5M2": Float("V1", 5, 2, 15, 0x7B, 0x7C, 0x7E),
    "f8E4M3FN": Float("V1", 4, 3, 7, 0x7E, 0x7F, 0x7F),
    "f8E4M3": Float("V1", 4, 3, 7, 0x77, 0x78, 0x7C),
    "f8E3M4": Float("V1", 3, 4, 3, 0x6F, 0x70, 0x78),
    "f8E5M2FNUZ": Float("V1", 5, 2, 16, 0x7F, 0x80, 0x80),
    "f8E4M3FNUZ": Float("V1", 4, 3, 8, 0x7F, 0x80, 0x80),
}


def bits_of(kind, value):
    """Of an element as it was read."""
    return value if kind[0] == "V" else struct.unpack({"f4": "<I", "f2": "<H"}[kind], struct.pack({"f4": "<f", "f2": "<e"}[kind], value))[0]


def arguments():
    """f64, f32, i64, i32 and all bits of 8."""
    generator = random.Random(5)
    doubles = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, 1e300, -1e300, 1.0, 65520.0, 65519.999999999, 464.0,
               448.0, 480.0, 61440.0, 57344.0, 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-9, 1 + 3 * 2.0**-8 - 2.0**-50,
               # At the ends of integers.
               -0.7, -1.0, 127.9, 128.0, -128.9, -129.0, 255.5, 256.0, 2.0**31 - 1, 2.0**31, -(2.0**31) - 1, 2.0**32, 2.0**63, -(2.0**63), 2.0**64]
    while len(doubles) < COUNT:
        # Near the middle of two numbers of few bits.
        scale = 2.0 ** generator.randint(-30, 20)
        middle = generator.randint(0, 4096) / 256 + generator.choice([0, 2.0**-44, -(2.0**-44)])
        doubles.append(scale * middle * generator.choice([1, -1]))
    singles = [struct.unpack("<f", struct.pack("<f", value if abs(value) < 3e38 or math.isinf(value) else 0))[0] for value in doubles]
    longs = [0, 1, -1, 2**63 - 1, -(2**63), 2**53 + 1, (1 << 62) + (1 << 54) + 1, (1 << 62) + (1 << 54), 257, 259, -257]
    while len(longs) < COUNT:
        base = generator.randint(0, 1 << generator.randint(1, 12)) << generator.randint(0, 50)
        longs.append((base + generator.choice([0, 1, -1])) * generator.choice([1, -1]))
    ints = [min(max(value, -(2**31)), 2**31 - 1) if i % 2 else value % 2**31 for i, value in enumerate(longs)]
    octets = [i % 256 for i in range(COUNT)]
    return [("f8", doubles), ("f4", singles), ("i8", longs), ("i4", ints), ("V1", octets)]


def steps():
    """What each result is: text of its op, type, and the expected bits of an element from all
    arguments, or its integer; None where any NaN will do."""

    def rounded(format, number):
        def expect(values):
            value = values[number]
            if isinstance(value, float) and math.isnan(value):
                return None
            return format.round(value, math.copysign(1, value) < 0 if isinstance(value, float) else value < 0)

        return expect

    def widened(format):
        def expect(values):
            value = format.value(values[4])
            if isinstance(value, float) and math.isnan(value):
                return None
            return FORMATS["f32"].round(value, values[4] >> 7)

        return expect

    def cut(width, is_signed, number):
        least, largest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)

        def expect(values):
            value = values[number]
            if math.isnan(value):
                return 0
            whole = max(least, min(largest, value if math.isinf(value) else math.trunc(value)))
            return whole - (1 << width) if whole >> (width - 1) > 0 else whole

        return expect

    for name, format in FORMATS.items():
        yield f"arith.truncf %a0 : tensor<{COUNT}xf64> to", name, rounded(format, 0)
        if name != "f32":
            yield f"arith.truncf %a1 : tensor<{COUNT}xf32> to", name, rounded(format, 1)
            yield f"arith.truncf %a1 to_nearest_even : tensor<{COUNT}xf32> to", name, rounded(format, 1)
            yield f"arith.sitofp %a2 : tensor<{COUNT}xi64> to", name, rounded(format, 2)
            yield f"arith.sitofp %a3 : tensor<{COUNT}xi32> to", name, rounded(format, 3)
        if format.width == 8:
            yield f"arith.extf %{name} : tensor<{COUNT}x{name}> to", "f32", widened(format)
    for width in 8, 16, 32, 64:
        for op in "fptosi", "fptoui":
            for number, type in enumerate(("f64", "f32")):
                yield f"arith.{op} %a{number} : tensor<{COUNT}x{type}> to", f"i{width}", cut(width, op == "fptosi", number)


def write(folder):
    operands = [("f64", "%a0"), ("f32", "%a1"), ("i64", "%a2"), ("i32", "%a3"), ("i8", "%a4")]
    signature = ", ".join(f"{name}: tensor<{COUNT}x{type}>" for type, name in operands)
    all_steps = list(steps())
    types = ", ".join(f"tensor<{COUNT}x{type}>" for _, type, _ in all_steps)
    with open(os.path.join(folder, "step.mlir"), "w") as file:
        file.write(f"func.func @main({signature}) -> ({types}) {{\n")
        for name, format in FORMATS.items():
            if format.width == 8:
                file.write(f"  %{name} = arith.bitcast %a4 : tensor<{COUNT}xi8> to tensor<{COUNT}x{name}>\n")
        for number, (op, type, _) in enumerate(all_steps):
            file.write(f"  %r{number} = {op} tensor<{COUNT}x{type}>\n")
        file.write(f"  return {', '.join(f'%r{number}' for number in range(len(all_steps)))} : {types}\n}}\n")
    arrays = arguments()
    arrays[4] = ("i1", [value - 256 if value > 127 else value for value in arrays[4][1]])
    npz.write(os.path.join(folder, "inputs.npz"), arrays)


def check(path):
    inputs = [values for _, values in arguments()]
    failures = 0
    for (op, type, expect), results in zip(steps(), npz.read(path), strict=True):
        format = FORMATS.get(type)
        for i, result in enumerate(results):
            values = [array[i] for array in inputs]
            expected = expect(values)
            if not format:
                if result != expected:
                    failures += 1
                    print(f"{op} {type} of {values}: {result}, expected {expected}")
                    break
                continue
            bits = bits_of(format.kind, result)
            value = format.value(bits)
            good = isinstance(value, float) and math.isnan(value) if expected is None else bits == expected
            # Any NaN will do for numbers too large.
            good |= expected == format.nan and isinstance(value, float) and math.isnan(value)
            if not good:
                failures += 1
                print(f"{op} {type} of {values}: {bits:#x}, expected {expected if expected is None else hex(expected)}")
                break
    print(f"{failures} of the conversions are wrong")
    sys.exit(failures > 0)


mode, place = sys.argv[1:]
(write if mode == "write" else check)(place)
