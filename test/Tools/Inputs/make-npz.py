"""Writes an .npz file with the standard library alone, good or bad.

usage: make-npz.py FILE NAME=TYPE:EXTENTS[:VALUE]...   such as arg000=f4:2,3:1.5
"""
import io
import math
import struct
import sys
import zipfile

codes = {"f4": "f", "f8": "d", "i4": "i", "u4": "I", "i8": "q", "b1": "?"}

with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for argument in sys.argv[2:]:
        name, description = argument.split("=")
        kind, extents, *value = description.split(":")
        shape = tuple(int(extent) for extent in extents.split(",") if extent)
        number = float(value[0]) if value else 1
        number = number if kind[0] == "f" else int(number)
        header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
        member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header
        member += struct.pack(f"<{math.prod(shape)}{codes[kind]}", *[number] * math.prod(shape))
        archive.writestr(name + ".npy", member)
