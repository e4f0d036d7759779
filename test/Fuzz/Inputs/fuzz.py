"""Random programs, run by ckpt-fuzz in many ways and compared with elements.py.

usage: fuzz.py CKPT-FUZZ FOLDER [options]

  --seed=S       first seed; without it CKPT_STRESS_FIRST of the environment, else 1
  --count=N      programs; without it CKPT_STRESS of the environment, else 100
  --list         do not stop and shrink at a failure, list kinds at the end
  --show=SEED    print the program of a seed
  --without=A,B  features that are switched off

A failing program is shrunk while it fails in the same way, written to FOLDER with its
arguments, and printed with the command that runs it again. See docs/Rationale/Verification.md.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import time

import elements
from choices import Choices
from compare import difference
from generate import generate
from shrink import shrink

GOOD = {"ok", "refused"}


class Session:
    def __init__(self, tool, folder, excluded):
        self.tool, self.folder, self.excluded = tool, folder, excluded
        # How often each feature was used in a program that was right, and those whose
        # wrong numbers would have been noticed.
        self.used, self.noticed = collections.Counter(), set()
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, choices):
        return generate(choices, self.excluded)

    def judge(self, programs):
        """(verdict, message) of each program; ok says that the numbers are right."""
        with open(self.path("programs.mlir"), "w") as file:
            file.write("// -----\n".join(program.text() for program in programs))
        with open(self.path("arguments.bin"), "wb") as file:
            for program in programs:
                file.write(program.argument_bytes())
        subprocess.run([self.tool, self.path("programs.mlir"), self.path("arguments.bin"),
                        self.path("results.bin")], check=True)
        with open(self.path("results.bin"), "rb") as file:
            return [self.read(file, program) for program in programs]

    def read(self, file, program):
        verdict, size, message = file.readline().decode(errors="replace").rstrip("\n").split(" ", 2)
        data = file.read(int(size))
        if verdict != "ok":
            return verdict, message
        wrong = difference(program, data)
        if wrong:
            return "wrong", wrong
        self.look_away(program, data)
        return "ok", ""

    def look_away(self, program, data):
        """Would the comparison notice if a feature gave other numbers?"""
        last = {op.feature: op for op in program.ops if op.feature}
        for feature, op in last.items():
            self.used[feature] += 1
            if feature in self.noticed:
                continue
            try:
                if difference(program, data, op):
                    self.noticed.add(feature)
            except elements.Undefined:
                pass


def kind(verdict, message):
    """Failures of one kind have one text: numbers and names do not count."""
    message = re.sub(r"%?[vb]?[0-9]+[0-9.e+-]*(x[0-9x]+)*", "#", message.split(": ", 1)[-1])
    message = re.sub(r"tensor<[^>]*>", "T", message)
    return verdict if verdict in ("wrong", "bits") else f"{verdict} {message[:100]}"


def report(session, seed, program, outcome):
    """Shrinks a failing program and prints it."""
    wanted = kind(*outcome)

    def fails(candidate):
        return kind(*session.judge([candidate])[0]) == wanted

    program = shrink(program, fails, session.make)
    verdict, message = session.judge([program])[0]
    stem = session.path(f"failure-{seed}")
    with open(stem + ".mlir", "w") as file:
        file.write(program.text(f"seed {seed}: {verdict} {message}"))
    with open(stem + ".bin", "wb") as file:
        file.write(program.argument_bytes())
    with open(stem + ".mlir") as file:
        print(file.read())
    print(f"{verdict}: {message}\nto run it again: ckpt-fuzz {stem}.mlir {stem}.bin out.bin; head -1 out.bin\n"
          f"to make it again: fuzz.py CKPT-FUZZ FOLDER --seed={seed} --count=1\n", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("folder")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("CKPT_STRESS_FIRST", 1)))
    parser.add_argument("--count", type=int, default=int(os.environ.get("CKPT_STRESS", 100)))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--show", type=int)
    parser.add_argument("--without", default="")
    options = parser.parse_args()
    excluded = set(filter(None, options.without.split(",")))
    session = Session(options.tool, options.folder, excluded)
    if options.show is not None:
        print(session.make(Choices(options.show)).text())
        return 0
    return run(session, options)


def run(session, options):
    verdicts, kinds = collections.Counter(), collections.Counter()
    times, first = [0.0, 0.0], {}
    for start in range(options.seed, options.seed + options.count, 50):
        seeds = range(start, min(start + 50, options.seed + options.count))
        begin = time.process_time()
        programs = []
        for seed in seeds:
            choices = Choices(seed)
            programs.append(session.make(choices))
            programs[-1].choices = choices
        times[0] += time.process_time() - begin
        begin = time.time()
        outcomes = session.judge(programs)
        times[1] += time.time() - begin
        for seed, program, outcome in zip(seeds, programs, outcomes):
            verdicts[outcome[0]] += 1
            if outcome[0] == "ok":
                continue
            kinds[kind(*outcome)] += 1
            first.setdefault(kind(*outcome), seed)
            if options.list and outcome[0] in ("bits", "wrong", "crash"):
                print(seed, *outcome)
            if outcome[0] not in GOOD and not options.list:
                report(session, seed, program, outcome)
                return 1
    for name, count in kinds.most_common():
        print(f"{count:5} {name} (first seed {first.get(name)})")
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(verdicts.items())))
    print(f"generated in {times[0]:.1f} s, ran in {times[1]:.1f} s", file=sys.stderr)
    blind = [name for name, count in session.used.items() if count >= 5 and name not in session.noticed]
    if blind:
        print("wrong numbers of these features would not be noticed:", *sorted(blind))
    return int(bool(set(verdicts) - GOOD or blind))


if __name__ == "__main__":
    sys.exit(main())
