"""Interrupts a command after several times, and looks for files that it leaves.

usage: interrupt.py FOLDER COMMAND...

FOLDER is made, is empty before each run, and is where temporary files go. A run that
ends before its interrupt may leave what it was asked for.
"""
import os
import shutil
import signal
import subprocess
import sys
import time

folder, command = sys.argv[1], sys.argv[2:]
interrupted = 0
for moment in (0.1, 0.4, 1.0):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    # A shell's jobs in the background ignore interrupts, and what they start does.
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=dict(os.environ, TMPDIR=folder),
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    code = process.wait()
    left = [name for name in os.listdir(folder) if code != 0 and name not in ("r.json", "p")]
    left += [name for name in os.listdir(folder) if ".tmp" in name]
    if left:
        sys.exit(f"interrupted after {moment} s, the command left {left}")
    interrupted += code != 0
if not interrupted:
    sys.exit("no run was interrupted")
