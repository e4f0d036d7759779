"""Conversions to 8-bit floats and back, against a table of all their values:
writes a step and its arguments, or checks its results.

usage: float8.py write FOLDER      writes step.mlir and inputs.npz
       float8.py check RESULTS.npz
"""
import bisect
import math
import os
import random
import struct
import sys
import zipfile

# Type, bits of the mantissa, bias, and the bits of the first number not finite.
TYPES = [("f8E4M3FN", 3, 7, 0x7F), ("f8E5M2", 2, 15, 0x7C)]


def values_of(mantissa_bits, bias, first_non_finite):
    """The finite numbers that are not negative, by their bits."""
    values = []
    for bits in range(first_non_finite):
        exponent, mantissa = bits >> mantissa_bits, bits & ((1 << mantissa_bits) - 1)
        if exponent:
            mantissa += 1 << mantissa_bits
        values.append(math.ldexp(mantissa, max(exponent, 1) - bias - mantissa_bits))
    return values


def rounded(x, kind, values):
    if math.isnan(x):
        return x
    size = abs(x)
    # The number that would come next is the first that is not finite.
    step = values[-1] - values[-2]
    beyond = math.nan if kind == "f8E4M3FN" else math.inf
    ladder = values + [values[-1] + step]
    above = bisect.bisect_left(ladder, size)
    if above == len(ladder):
        return math.copysign(beyond, x)
    below = max(above - 1, 0) if ladder[above] != size else above
    nearest = min((below, above), key=lambda i: (abs(ladder[i] - size), i % 2))
    return math.copysign(ladder[nearest] if nearest < len(values) else beyond, x)


def arguments():
    single = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    numbers = [0.0, 1e-45, 1e-40, 1e-30, 3e38, 448.0, 464.0, 464.0001, 480.0, 57344.0, 61440.0,
               61439.996, 65536.0, 131072.0, 262144.0, math.inf, math.nan]
    for _, *layout in TYPES:
        values = values_of(*layout)
        numbers += values
        numbers += [(a + b) / 2 for a, b in zip(values, values[1:])]
        numbers += [(a + b) / 2 * (1 + 2**-22) for a, b in zip(values, values[1:])]
    generator = random.Random(8)
    numbers += [math.exp(generator.uniform(-14, 13)) for _ in range(600)]
    return [single(sign * x) for x in numbers for sign in (1, -1)]


def write(folder):
    numbers = arguments()
    wide = f"tensor<{len(numbers)}xf32>"
    with open(os.path.join(folder, "step.mlir"), "w") as step:
        step.write(f"func.func @step(%x: {wide}) -> ({wide}, {wide}) {{\n")
        for kind, *_ in TYPES:
            narrow = f"tensor<{len(numbers)}x{kind}>"
            step.write(f"  %{kind} = arith.truncf %x : {wide} to {narrow}\n")
            step.write(f"  %r{kind} = arith.extf %{kind} : {narrow} to {wide}\n")
        step.write(f"  return %rf8E4M3FN, %rf8E5M2 : {wide}, {wide}\n}}\n")
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(numbers)},), }}\n"
    with zipfile.ZipFile(os.path.join(folder, "inputs.npz"), "w") as archive:
        member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
        archive.writestr("arg000.npy", member + struct.pack(f"<{len(numbers)}f", *numbers))


def check(path):
    numbers = arguments()
    failures = 0
    with zipfile.ZipFile(path) as archive:
        for number, (kind, *layout) in enumerate(TYPES):
            values = values_of(*layout)
            member = archive.read(f"out{number:03}.npy")
            found = struct.unpack(f"<{len(numbers)}f", member[-4 * len(numbers) :])
            for x, result in zip(numbers, found):
                expected = rounded(x, kind, values)
                same = result == expected or (math.isnan(result) and math.isnan(expected))
                if not same or math.copysign(1, result) != math.copysign(1, expected) and result == result:
                    failures += 1
                    print(f"{x!r} as {kind}: {result!r}, expected {expected!r}")
    sys.exit(failures > 0)


mode, place = sys.argv[1:]
write(place) if mode == "write" else check(place)
