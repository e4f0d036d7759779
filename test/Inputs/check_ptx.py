#!/usr/bin/env python3
"""Assembles the PTX in lowered modules and checks what a kernel takes.

Usage: check_ptx.py PTXAS MODULE.mlir...
"""

import re
import subprocess
import sys
import tempfile

# Of a thread: two blocks of 256 threads have to fit a multiprocessor.
REGISTERS = 128
SHARED_BYTES = 48 * 1024


def assembly(path):
    """The PTX of the module's binary, without MLIR's escapes."""
    text = open(path, encoding="utf-8").read()
    escaped = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', text).group(1)
    unescape = lambda match: (
        match[1] if match[1] in '"\\' else chr(int(match[1], 16))
    )
    return re.sub(r'\\(["\\]|[0-9A-F]{2})', unescape, escaped).rstrip("\0")


def check(ptxas, path):
    ptx = assembly(path)
    chip = re.search(r"\.target (\w+)", ptx).group(1)
    if ".extern .func" in ptx:
        sys.exit(f"{path}: the PTX calls something outside itself")
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = [ptxas, "-v", f"-arch={chip}", file.name, "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{path}: {done.stderr[:2000]}")
    # Such as instructions of a warpgroup that it runs one by one.
    if "warning" in done.stderr:
        sys.exit(f"{path}: {done.stderr[:2000]}")
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill", done.stderr)]
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", done.stderr)]
    shared = [int(n) for n in re.findall(r"(\d+) bytes smem", done.stderr)]
    if len(registers) != ptx.count(".entry"):
        sys.exit(f"{path}: {len(registers)} of {ptx.count('.entry')} kernels assembled")
    if any(spills) or max(registers) > REGISTERS or max(shared, default=0) > SHARED_BYTES:
        sys.exit(
            f"{path}: {max(spills)} bytes spilled, {max(registers)} registers, "
            f"{max(shared, default=0)} bytes of shared memory"
        )
    print(
        f"{chip}: {len(registers)} kernels without spills, "
        f"at most {max(registers)} registers"
    )


for module in sys.argv[2:]:
    check(sys.argv[1], module)
