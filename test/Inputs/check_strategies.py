"""Runs a model by strategies and compares each result, bit by bit, with the program as written.

usage: check_strategies.py MODEL.mlir FOLDER [STRATEGY...]   (all of them by default)
"""
import filecmp
import subprocess
import sys

parameters = {
    "none": "",
    "full": "",
    "selective": "ratio=0.5",
    "attention-only": "",
    "ffn-only": "",
    "every-nth": "n=2",
    "alternate": "",
    "largest": "top-k=1",
    "heavy-ops": "",
    "auto": "",
    "layers": "layers=0",
    "uniform": "interval=2",
    "boundaries": "boundaries=1",
    "dynamic": "memory-fraction=0.5",
}
model, folder, *strategies = sys.argv[1:]


def run(strategy):
    output = f"{folder}/{strategy}.npz"
    command = ["ckpt-runner", model, f"--strategy={strategy}", "--repeat=1", f"--outputs={output}"]
    if parameters.get(strategy):
        command.append(f"--plan-options={parameters[strategy]}")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return output


written = run("as-written")
for strategy in strategies or parameters:
    assert filecmp.cmp(written, run(strategy), shallow=False), f"{strategy} gives other results"
    print(strategy, "is bit-equal")
