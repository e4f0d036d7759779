"""Compares the planner with an integer programme on random training steps.

    check_milp.py [--nodes=N] [--count=N] [--seed=N] [--seconds=N]

Every step has N ops, each a kernel of its own, with a budget between the least
that its largest op needs and what it takes without a limit. The programme is
that of Checkmate (Jain et al., MLSys 2020, arXiv 1910.02653, section 4), solved
by `cbc` for the least FLOPs when ops first run in program order. Written with no
code of the planner. `ckpt-plan` may also reorder, so:

  - no bound of the planner is above the programme's optimum;
  - where the programme has a schedule, the planner has a plan with at most its
    FLOPs. This is a heuristic against an exact solver, and slots have places
    while the programme only sums bytes: it is counted, not demanded.

Prints one line of figures. Exit code 1 if a bound is too high, or if a budget is
called infeasible for which the programme has a schedule.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile

SLOT = 256


class Step:
    """Op i makes value i from `reads[i]`; `size[i]` is 0 for results."""

    def __init__(self, rng, nodes):
        half = nodes // 2
        self.count = 2 * half
        self.reads, self.flops, self.size = [], [], []
        for op in range(half):
            reads = [op - 1] if op else []
            if op > 1 and rng.random() < 0.3:
                reads.append(rng.randrange(op - 1))
            self.add(rng, reads)
        for op in range(half, self.count):
            mirrored = self.count - 1 - op
            reads = {op - 1, mirrored}
            if rng.random() < 0.2:
                reads.add(rng.randrange(op - 1))
            self.add(rng, sorted(reads))
        read = {value for reads in self.reads for value in reads}
        self.results = [op for op in range(self.count) if op not in read]
        for op in self.results:
            self.size[op] = 0

    def add(self, rng, reads):
        self.reads.append(reads)
        self.flops.append(rng.randint(1, 20))
        self.size.append(SLOT * rng.randint(1, 8))

    def readers(self, value):
        return [op for op in range(self.count) if value in self.reads[op]]

    def least_bytes(self):
        """What the largest op needs."""
        return max(
            self.size[op] + sum(self.size[v] for v in self.reads[op])
            for op in range(self.count)
        )

    def most_bytes(self):
        """The peak when nothing runs twice."""
        last = [max([op] + self.readers(op)) for op in range(self.count)]
        return max(
            sum(self.size[v] for v in range(op + 1) if last[v] >= op)
            for op in range(self.count)
        )

    def text(self):
        lines = ["bandwidth=1000000000", "launch=0"]
        for op in range(self.count):
            home = " home=result" if op in self.results else ""
            size = self.size[op] or SLOT
            lines.append(f"value {op} bytes={size} elements={size // 4} shape={op}{home}")
        for op in range(self.count):
            reads = ",".join(f"{value}:any:memory" for value in self.reads[op])
            lines.append(
                f"op {op} contraction {'reads=' + reads if reads else ''} results={op}"
                f" flops={self.flops[op]} compute={self.flops[op] * 1000000}"
                f"{' backward' if op >= self.count // 2 else ''}"
            )
        return "\n".join(lines) + "\n"


def programme(step, budget):
    """The LP file: r{t}_{i}, op i runs in stage t; s{t}_{i}, value i stands when
    stage t begins; f{t}_{i}_{k}, value i is dropped behind op k of stage t; u{t}_{k},
    bytes while op k runs there. Stage t ends with the first run of op t."""
    n = step.count
    rows, binaries, bounds = [], [], []

    def run(t, i):
        return f"r{t}_{i}"

    def stands(t, i):
        """Nothing stands before it was made, and in the end only results do."""
        return f"s{t}_{i}" if i < t < n else None

    def dropped(t, i, k):
        return f"f{t}_{i}_{k}"

    def total(terms):
        return " ".join(f"{'+' if c >= 0 else '-'} {abs(c)} {x}" for c, x in terms if x)

    for t in range(n):
        rows.append(f"{run(t, t)} = 1")
        for i in range(t + 1):
            binaries.append(run(t, i))
            if i < t:
                binaries.append(stands(t, i))
                before = [(1, stands(t, i)), (-1, stands(t - 1, i)), (-1, run(t - 1, i))]
                rows.append(total(before) + " <= 0")
            for j in step.reads[i]:
                rows.append(total([(1, run(t, i)), (-1, run(t, j)), (-1, stands(t, j))]) + " <= 0")
        standing = [(-step.size[i], stands(t, i)) for i in range(t) if step.size[i]]
        for k in range(t + 1):
            use = [(1, f"u{t}_{k}"), (-step.size[k], run(t, k))]
            if k == 0:
                rows.append(total(use + standing) + " = 0")
            else:
                freed = [(step.size[i], dropped(t, i, k - 1)) for i in step.reads[k - 1] + [k - 1]]
                rows.append(total(use + [(-1, f"u{t}_{k - 1}")] + freed) + " = 0")
            bounds.append(f"0 <= u{t}_{k} <= {budget}")
            for i in step.reads[k] + [k]:
                # It is dropped exactly if nothing stands in the way.
                later = [run(t, j) for j in step.readers(i) if k < j <= t]
                hazards = [(-1, run(t, k)), (1, stands(t + 1, i))] + [(1, x) for x in later]
                binaries.append(dropped(t, i, k))
                rows.append(total(hazards + [(1, dropped(t, i, k))]) + " >= 0")
                most = 2 + len(later)
                rows.append(total(hazards + [(most, dropped(t, i, k))]) + f" <= {most - 1}")
    cost = [(step.flops[i], run(t, i)) for t in range(n) for i in range(t + 1)]
    parts = ["Minimize", "obj: " + total(cost), "Subject To"] + rows
    parts += ["Bounds"] + bounds + ["Binaries"] + binaries + ["End"]
    return "\n".join(parts) + "\n"


def solve(step, budget, seconds):
    """Extra FLOPs of the best schedule and whether it is proven best; nothing if
    there is none, or none was found."""
    with tempfile.TemporaryDirectory() as folder:
        path, answer = f"{folder}/step.lp", f"{folder}/answer.txt"
        with open(path, "w") as file:
            file.write(programme(step, budget))
        command = ["cbc", path, "sec", str(seconds), "solve", "solution", answer]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(answer) as file:
            status = file.readline()
    found = re.search(r"objective value (-?[\d.e+]+)", status)
    if status.startswith("Infeasible") or status.startswith("Integer infeasible"):
        return None, True
    if "no integer solution" in status.lower() or not found:
        return None, False
    extra = round(float(found.group(1))) - sum(step.flops)
    return extra, status.startswith("Optimal")


def plan(step, budget):
    """Extra FLOPs, the bound on them, and whether a proof forbids the budget."""
    with tempfile.NamedTemporaryFile("w", suffix=".problem") as file:
        file.write(step.text())
        file.flush()
        command = ["ckpt-plan", f"--budget={budget}B", file.name]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        return None, 0, "is proven infeasible" in result.stderr
    line = re.search(r"extra flops +([\d,]+) of [\d,]+(?:, bound ([\d,]+))?", result.stdout)
    extra, bound = (int((text or "0").replace(",", "")) for text in line.groups())
    return extra, bound, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=14)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    tally = dict(solved=0, optimal=0, fewer=0, equal=0, more=0, unplanned=0)
    for number in range(arguments.count):
        step = Step(rng, arguments.nodes)
        least, most = step.least_bytes(), step.most_bytes()
        share = rng.random()
        budget = least + int(share * (most - least)) // SLOT * SLOT
        best, proven = solve(step, budget, arguments.seconds)
        if best is None:
            continue
        extra, bound, forbidden = plan(step, budget)
        tally["solved"] += 1
        tally["optimal"] += proven
        if forbidden or bound > best:
            sys.exit(f"step {number} at {budget} bytes: bound {bound} above {best}:\n{step.text()}")
        if extra is None:
            tally["unplanned"] += 1
        else:
            tally["fewer" if extra < best else "equal" if extra == best else "more"] += 1
    print(" ".join(f"{key} {value}" for key, value in tally.items()))


if __name__ == "__main__":
    main()
