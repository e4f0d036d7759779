"""Plans problems within budgets that may be too small, and again within the smallest budget that each message names.

usage: check_smallest.py CKPT-PLAN FOLDER
"""

import itertools
import os
import re
import subprocess
import sys

PROBLEMS = ["resnet:200", "unet:200", "lstm:90", "random:90", "random:200"]
# Values in the arena alone, or in the buffers of results, too.
HEADS = ["", "scratch-in-results\n"]
# A byte is below every kernel; the others leave time for walks.
BUDGETS = ["1B", "40%", "25%", "15%"]
# Counted work, so that the claim is exact.
EFFORT = 200


def plan(path, budget):
    return subprocess.run([tool, f"--budget={budget}", f"--effort={EFFORT}", path], capture_output=True, text=True)


tool, folder = sys.argv[1:]
failed = 0
for problem, head in itertools.product(PROBLEMS, HEADS):
    path = os.path.join(folder, problem.replace(":", "-") + ".problem")
    made = subprocess.run([tool, f"--generate={problem}"], capture_output=True, text=True, check=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + made.stdout)
    for budget in BUDGETS:
        first = plan(path, budget)
        if first.returncode == 0:
            continue
        failed += 1
        least = re.search(r"(?:found is|possible is)[^(]*\((\d+)", first.stderr)
        if not least:
            sys.exit(f"{problem} at {budget}: no smallest budget in {first.stderr}")
        if plan(path, f"{least[1]}B").returncode:
            sys.exit(f"{problem} at {budget}: the message names {least[1]} bytes, within which a second run finds no plan")
print(f"{failed} budgets failed, and every smallest one that they named has a plan")
if failed < len(PROBLEMS) * len(HEADS):
    sys.exit("expected a budget of a byte to fail for each problem")
