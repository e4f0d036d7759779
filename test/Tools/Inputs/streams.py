"""Runs a command whose standard output is full, or that nobody reads, and prints what
it says and its exit code.

usage: streams.py full|closed COMMAND...
"""
import os
import subprocess
import sys

if sys.argv[1] == "full":
    output = os.open("/dev/full", os.O_WRONLY)
else:
    reader, output = os.pipe()
    os.close(reader)
process = subprocess.run(sys.argv[2:], stdout=output, stderr=subprocess.PIPE, text=True)
print(process.stderr)
print("exit code", process.returncode)
