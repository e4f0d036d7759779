"""Checks that results 0 and 1, 2 and 3, ... of a run are the same.

usage: check_pairs.py RESULTS.npz
"""
import struct
import sys

import npz


def bits(values):
    return [struct.pack("<d", value) if isinstance(value, float) else value for value in values]


results = npz.read(sys.argv[1])
for number in range(0, len(results), 2):
    left, right = bits(results[number]), bits(results[number + 1])
    for i, (mine, theirs) in enumerate(zip(left, right, strict=True)):
        if mine != theirs:
            sys.exit(f"results {number} and {number + 1} differ at {i}: {results[number][i]!r} and {results[number + 1][i]!r}")
print(f"{len(results) // 2} pairs are the same")
