"""Checks that each script of a folder that Python runs explains itself.

usage: check_help.py FOLDER
"""

import pathlib
import subprocess
import sys

checked = 0
for script in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    if script.is_dir() or script.suffix or "python" not in script.read_text().partition("\n")[0]:
        continue
    done = subprocess.run([script, "--help"], capture_output=True, text=True)
    if done.returncode or not done.stdout.startswith(f"usage: {script.name} "):
        sys.exit(f"{script.name} --help: {done.stdout[:200]}{done.stderr[-400:]}")
    checked += 1
print(f"{checked} scripts explain themselves")
