"""Plans problems within budgets that may be too small, and again within the smallest budget that each message names.

usage: check_smallest.py CKPT-PLAN FOLDER PROBLEM

PROBLEM is the file of a real step. Generated problems lie in FOLDER.
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
BUDGETS_OF_STEP = ["1B", "8%"]
# Counted work, so that the claim is exact. The real step needs more before plans for 8% differ from those for a byte.
EFFORT, EFFORT_OF_STEP = 200, 1000


def plan(path, budget, effort):
    return subprocess.run([tool, f"--budget={budget}", f"--effort={effort}", path], capture_output=True, text=True)


def fails(path, budget, effort):
    """Whether no plan fits `budget`. The smallest budget that the error names then has one, or the test ends."""
    first = plan(path, budget, effort)
    if first.returncode == 0:
        return False
    least = re.search(r"(?:found is|possible is)[^(]*\((\d+)", first.stderr)
    if not least:
        sys.exit(f"{path} at {budget}: no smallest budget in {first.stderr}")
    if plan(path, f"{least[1]}B", effort).returncode:
        sys.exit(f"{path} at {budget}: the message names {least[1]} bytes, within which a second run finds no plan")
    return True


tool, folder, step = sys.argv[1:]
failed = sum(fails(step, budget, EFFORT_OF_STEP) for budget in BUDGETS_OF_STEP)
if failed < len(BUDGETS_OF_STEP):
    sys.exit(f"expected the budgets {BUDGETS_OF_STEP} of {step} to fail")
for problem, head in itertools.product(PROBLEMS, HEADS):
    path = os.path.join(folder, problem.replace(":", "-") + ".problem")
    made = subprocess.run([tool, f"--generate={problem}"], capture_output=True, text=True, check=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + made.stdout)
    failed += sum(fails(path, budget, EFFORT) for budget in BUDGETS)
print(f"{failed} budgets failed, and every smallest one that they named has a plan")
if failed < len(BUDGETS_OF_STEP) + len(PROBLEMS) * len(HEADS):
    sys.exit("expected a budget of a byte to fail for each problem")
