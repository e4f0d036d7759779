"""Remainders of floats against Python's: writes a step and its arguments, or checks
its results.

usage: remainders.py write FOLDER      writes step.mlir and inputs.npz
       remainders.py check FOLDER/RESULTS.npz
"""
import math
import os
import random
import struct
import sys
import zipfile

COUNT = 611
TYPES = {"f32": ("f", "<f4"), "f64": ("d", "<f8")}
SPECIAL = [0.0, -0.0, 1.0, -3.0, math.inf, -math.inf, math.nan, 1e-45, 3e-45, 1e-38, 3.4e38, -3.4e38, 5e-324, 1.7e308]


def single(value, code):
    """value as a float of the type."""
    try:
        return struct.unpack(code, struct.pack(code, value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def operands(code):
    source = random.Random(code)
    pairs = [(x, y) for x in SPECIAL for y in SPECIAL]
    while len(pairs) < COUNT:
        scale = 38 if code == "f" else 300
        pairs.append(tuple(source.uniform(-1, 1) * 10 ** source.uniform(-scale, scale) for _ in "xy"))
    return [tuple(single(value, code) for value in pair) for pair in pairs]


def expected(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return math.nan
    return math.fmod(x, y)


def array(values, code, kind):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (kind, len(values))
    header += " " * ((118 - len(header)) % 64 - 1) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack(f"<{len(values)}{code}", *values))


def write(folder):
    arguments = [f"%{name}{type}: tensor<{COUNT}x{type}>" for type in TYPES for name in "xy"]
    lines = [f"func.func @main({', '.join(arguments)}) -> ({', '.join(f'tensor<{COUNT}x{type}>' for type in TYPES)}) {{"]
    lines += [f"  %r{type} = arith.remf %x{type}, %y{type} : tensor<{COUNT}x{type}>" for type in TYPES]
    lines += [f"  return {', '.join('%r' + type for type in TYPES)} : {', '.join(f'tensor<{COUNT}x{type}>' for type in TYPES)}", "}"]
    with open(os.path.join(folder, "step.mlir"), "w") as file:
        file.write("\n".join(lines) + "\n")
    with zipfile.ZipFile(os.path.join(folder, "inputs.npz"), "w") as file:
        number = 0
        for code, kind in TYPES.values():
            for values in zip(*operands(code)):
                file.writestr(f"arg{number:03}.npy", array(values, code, kind))
                number += 1


def check(path):
    with zipfile.ZipFile(path) as file:
        for number, (code, _) in enumerate(TYPES.values()):
            raw = file.read(f"out{number:03}.npy")[-COUNT * struct.calcsize(code):]
            results = struct.unpack(f"<{COUNT}{code}", raw)
            for (x, y), result in zip(operands(code), results):
                wanted = expected(x, y)
                same = math.isnan(result) if math.isnan(wanted) else struct.pack("d", result) == struct.pack("d", wanted)
                if not same:
                    sys.exit(f"fmod({x!r}, {y!r}) = {result!r}, expected {wanted!r}")


if __name__ == "__main__":
    write(sys.argv[2]) if sys.argv[1] == "write" else check(sys.argv[2])
