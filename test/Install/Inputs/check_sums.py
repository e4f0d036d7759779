"""Runs `act.cumsum` by ckpt-runner on whole numbers and compares with sums of Python's.

    check_sums.py INPUTS RUNNER PLUGIN STEP FOLDER

INPUTS is the folder of npz.py.
"""

import itertools
import subprocess
import sys

sys.path.append(sys.argv[1])
import npz

SIZE = 64


def main():
    runner, plugin, step, folder = sys.argv[2:]
    x = [float((7 * number) % 13 - 6) for number in range(SIZE * SIZE)]
    identity = [float(row == column) for row in range(SIZE) for column in range(SIZE)]
    npz.write(f"{folder}/in.npz", [("f4", x, (SIZE, SIZE)), ("f4", identity, (SIZE, SIZE))])
    subprocess.run(
        [runner, step, f"--load-dialect-plugin={plugin}", "--verify", f"--inputs={folder}/in.npz",
         f"--outputs={folder}/out.npz"],
        check=True,
    )
    once, twice = npz.read(f"{folder}/out.npz")
    rows = [x[begin : begin + SIZE] for begin in range(0, SIZE * SIZE, SIZE)]
    sums = [list(itertools.accumulate(row)) for row in rows]
    if once != list(itertools.chain.from_iterable(sums)):
        sys.exit("error: expected running sums")
    # The products are with the identity.
    if twice != list(itertools.chain.from_iterable(itertools.accumulate(row) for row in sums)):
        sys.exit("error: expected running sums of running sums")


main()
