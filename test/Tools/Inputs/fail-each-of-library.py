"""Lets each function of the matmul library fail once and checks what is said.

usage: fail-each-of-library.py MatmulLibraryFunctions.def FOLDERS WHEN COMMAND...
"""
import os
import re
import subprocess
import sys

functions, folders, when, *command = sys.argv[1:]
symbols = re.findall(r"(?m)^CKPT_LIBRARY_FUNCTION\(\w+, (\w+)", open(functions).read())
if len(symbols) < 9:
    sys.exit(f"expected more functions, but only found {symbols}")
for symbol in symbols:
    environment = dict(os.environ, LD_LIBRARY_PATH=folders, CKPT_FAKE_CUBLASLT="fail=" + symbol)
    result = subprocess.run(
        command + ["--matmul-library=" + when], env=environment, capture_output=True, text=True
    )
    tried = "open cuBLASLt" if symbol == "cublasLtCreate" else r"run the kernel 'kernel_0_\w+' by cuBLASLt"
    words = rf"error: cannot {tried}: '{symbol}' says CUBLAS_STATUS_INTERNAL_ERROR \(14\)\n"
    if result.returncode != 1 or not re.fullmatch(words, result.stderr) or result.stdout:
        sys.exit(f"{symbol}: exit code {result.returncode}, {result.stderr!r}")
