"""Copies an emitted program and changes a byte in the middle of its kernels.

usage: damage-kernels.py PROGRAM COPY
"""
import shutil
import sys
import zlib

program, copy = sys.argv[1:]
data = bytearray(open(program, "rb").read())


def packed_bytes(start):
    """How long the stream is that begins there; 0 if none does."""
    stream = zlib.decompressobj()
    try:
        code = stream.decompress(data[start:])
    except zlib.error:
        return 0
    return len(data) - start - len(stream.unused_data) if stream.eof and code else 0


# What zlib's best compression begins with.
start = data.find(b"\x78\xda")
while start >= 0 and not packed_bytes(start):
    start = data.find(b"\x78\xda", start + 1)
if start < 0:
    sys.exit("expected packed kernels in the program")
data[start + packed_bytes(start) // 2] ^= 1
shutil.copy(program, copy)
open(copy, "wb").write(data)
