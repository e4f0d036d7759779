"""Lets each function of the driver fail once and checks what a program says.

usage: fail-each.py DriverFunctions.def FAKE-CUDA-FOLDER STEP
"""
import os
import re
import subprocess
import sys

functions, folder, step = sys.argv[1:]
symbols = re.findall(r"(?m)^CKPT_DRIVER_FUNCTION\(\w+, (\w+)", open(functions).read())
# What gives back does not fail the step; what only some steps, or processes of Python, call.
quiet = re.compile("Free|Unload|Destroy|cuCtxGetCurrent|cuCtxSynchronize|cuFuncSetAttribute|cuTensorMap|cuMemcpyDto|cuMemsetD8|RecordWithFlags")
words = re.compile(r"error: cannot .*: unknown error \(CUDA_ERROR_UNKNOWN\)\n")
tried = 0
for symbol in symbols:
    if quiet.search(symbol):
        continue
    environment = dict(os.environ, LD_LIBRARY_PATH=folder, CKPT_FAKE_CUDA="fail=" + symbol)
    result = subprocess.run(
        [step, "--repeat=1"], env=environment, capture_output=True, text=True
    )
    if result.returncode != 1 or not words.fullmatch(result.stderr) or result.stdout:
        sys.exit(f"{symbol}: exit code {result.returncode}, {result.stderr!r}")
    tried += 1
if tried < 20:
    sys.exit(f"expected more functions, but only tried {tried}")
