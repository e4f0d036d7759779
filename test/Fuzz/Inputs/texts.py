"""Valid inputs of every reader, edited at random: no crash, no end that does not come,
and nothing false is accepted.

usage: texts.py CKPT-FUZZ FOLDER

CKPT_STRESS of the environment says how many texts of each kind (default 60), and
CKPT_STRESS_FIRST which seed is the first.
"""
import os
import random
import re
import subprocess
import sys

from choices import Choices
from compare import difference
from generate import generate

COUNT = int(os.environ.get("CKPT_STRESS", 60))
FIRST = int(os.environ.get("CKPT_STRESS_FIRST", 1))
# A problem whose certificate has evidence.
CHAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "Plan", "chain.problem")
DEVICE = """{"name": "slow", "source": "a test", "bandwidth": 5000, "launch": 700,
  "lanes": 16, "caches": [{"bytes": 16383, "bandwidth": 90000}],
  "rates": {"f64": {"contraction": 1000, "elementwise": 500},
    "f32": {"contraction": 1000, "elementwise": 500, "pack": 100, "sums": 2000, "fetch": 4000},
    "f16": {"contraction": 1000, "elementwise": 500}}}
"""
BAD_WORDS = ["LLVM ERROR", "PLEASE submit", "runtime error:", "Sanitizer", "Assertion"]
NUMBERS = ["0", "1", "-1", "2", "255", "256", "4294967296", "9223372036854775807", "9223372036854775808",
           "99999999999999999999", "1.5", "0x1p3"]


def change_number(rng, text):
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    spot = rng.choice(found)
    number = int(spot[0])
    new = rng.choice([str(number + 1), str(number - 1), str(number * 2), str(number + 256), rng.choice(NUMBERS)])
    return text[:spot.start()] + new + text[spot.end():]


def edit(rng, text):
    """One small change, or a rough one."""
    lines = text.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(9)
    if kind < 3:
        return change_number(rng, text)
    if kind == 3:
        del lines[i]
    elif kind == 4:
        lines.insert(i, lines[j])
    elif kind == 5:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 6:
        place = rng.randrange(len(text))
        return text[:place] + chr(rng.choice([0, 10, 34, 40, 60, 91, 123, 125, 233, rng.randrange(32, 127)])) + text[place + 1:]
    elif kind == 7:
        return text[:rng.randrange(len(text))]
    else:
        words = re.findall(r"[\w.%@#]+", text)
        old, new = rng.choice(words), rng.choice(words)
        return text.replace(old, new, 1)
    return "\n".join(lines)


def noise(rng):
    return "".join(chr(rng.randrange(1, 256)) for _ in range(rng.randrange(400)))


class Readers:
    def __init__(self, tool, folder):
        self.tool, self.folder, self.failures = tool, folder, []
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def run(self, *command):
        """Exit code and all that was said; a signal or an end that does not come fails."""
        try:
            done = subprocess.run(command, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            self.fail(command, "does not end")
            return 1, ""
        said = (done.stdout + done.stderr).decode(errors="replace")
        if done.returncode not in (0, 1) or any(word in said for word in BAD_WORDS):
            self.fail(command, f"exit code {done.returncode}: {said[:500]}")
        return done.returncode, said

    def fail(self, command, message):
        kept = [self.keep(part) for part in command]
        self.failures.append(" ".join(kept) + ": " + message)

    def keep(self, part):
        """A copy of a file that the next text would replace."""
        path = part.split("=", 1)[-1]
        if not path.startswith(self.folder) or not os.path.exists(path):
            return part
        copy = self.path(f"failed-{len(self.failures)}-{os.path.basename(path)}")
        with open(path, "rb") as source, open(copy, "wb") as target:
            target.write(source.read())
        return part.replace(path, copy)


# ---------------------------------------------------------------------------
# What ckpt-fuzz reads: programs, plans in them, kernels, plan files, devices


def prepare(readers, seed):
    """A program as written, planned and rewritten."""
    program = generate(Choices(seed))
    source = readers.write("source.mlir", program.text())
    for budget in ("budget=60%", "strategy=none"):
        options = f"quiet=true time-limit=0 save-plan={readers.path('plan')} {budget}"
        code, _ = readers.run("ckpt-opt", source, f"--ckpt-plan={options}", "-o", readers.path("planned.mlir"))
        if code == 0:
            break
    code, _ = readers.run("ckpt-opt", readers.path("planned.mlir"), "--ckpt-apply-plan", "-o", readers.path("kernels.mlir"))
    return program if code == 0 else None


def edited_programs(readers, seed, number):
    """Texts with their pipelines: (title, text, pipelines, whether a later one may refuse)."""
    rng = random.Random(seed * 1000 + number)
    original = f"{readers.folder}/source-{seed}.mlir"
    verify = f"ckpt-verify{{original={original}}}"
    yield "source", edit(rng, readers.read("source.mlir")), "ckpt-plan{quiet=true time-limit=0};ckpt-apply-plan", True
    planned = readers.read("planned.mlir")
    plan = re.search(r"#ckpt\.plan<.*?>(?=[,}\s])", planned, re.S)
    if plan:
        text = planned[:plan.start()] + change_number(rng, plan[0]) + planned[plan.end():]
        yield "plan", text, f"ckpt-apply-plan;{verify}", False
    yield "planned", edit(rng, planned), f"ckpt-apply-plan;{verify}", True
    yield "kernels", edit(rng, readers.read("kernels.mlir")), verify, False
    name = readers.write(f"plan-{seed}-{number}", edit(rng, readers.read("plan")))
    yield "plan file", readers.read("source.mlir"), f"ckpt-plan{{quiet=true plan-file={name}}};ckpt-apply-plan,{verify}", False
    name = readers.write(f"device-{seed}-{number}", edit(rng, DEVICE))
    yield "device", readers.read("source.mlir"), f"ckpt-plan{{quiet=true time-limit=0 device={name}}};ckpt-apply-plan,{verify}", False
    yield "noise", noise(rng), "ckpt-plan{quiet=true time-limit=0}", True


def check_programs(readers):
    cases = []
    for seed in range(FIRST, FIRST + max(1, COUNT // 10)):
        program = prepare(readers, seed)
        if not program:
            continue
        readers.write(f"source-{seed}.mlir", readers.read("source.mlir"))
        for number in range(10):
            cases += [(program, *case) for case in edited_programs(readers, seed, number)]
    texts = []
    for program, _, text, pipelines, _ in cases:
        text = re.sub("// (ways|passes|bytes):.*", "", text).replace("// -----", "")
        size = len(program.argument_bytes())
        texts.append(f"// passes: {pipelines}\n// bytes: {size}\n{text}\n")
    readers.write("texts.mlir", "// -----\n".join(texts))
    with open(readers.path("texts.bin"), "wb") as file:
        file.write(b"".join(case[0].argument_bytes() for case in cases))
    subprocess.run([readers.tool, readers.path("texts.mlir"), readers.path("texts.bin"), readers.path("texts.out")], check=True)
    return judge(readers, cases, texts)


def judge(readers, cases, texts):
    accepted = {}
    with open(readers.path("texts.out"), "rb") as file:
        for i, (program, title, _, _, lenient) in enumerate(cases):
            verdict, size, message = file.readline().decode(errors="replace").rstrip("\n").split(" ", 2)
            data = file.read(int(size))
            total = accepted.setdefault(title, [0, 0])
            total[1] += 1
            total[0] += verdict == "ok"
            wrong = ""
            if verdict == "ok" and data and title in ("kernels", "plan", "plan file", "device"):
                wrong = difference(program, data)
            if verdict in ("crash", "hang", "run", "parse") or verdict in ("verify", "compile") and not lenient:
                wrong = f"{verdict} {message}"
            if wrong:
                name = readers.write(f"failed-{title.replace(' ', '-')}-{i}.mlir", texts[i])
                readers.failures.append(f"{name}: {title}: {wrong}")
    return accepted


# ---------------------------------------------------------------------------
# What ckpt-plan reads: problems, plans, certificates, plan files


def check_problems(readers):
    with open(CHAIN, encoding="utf-8") as file:
        problem = file.read()
    readers.write("problem", problem)
    _, plan = readers.run("ckpt-plan", "--budget=12288B", "--print-plan",
                          "--certificate=" + readers.path("certificate"), readers.path("problem"))
    true_plan = "\n".join(line for line in plan.split("\n") if not line.startswith("//"))
    certificate = readers.read("certificate")
    _, claims = readers.run("ckpt-plan", "--check=" + readers.path("certificate"), readers.path("problem"))
    saved = readers.read("plan")
    accepted = {"problem": 0, "plan text": 0, "certificate": 0, "saved plan": 0}
    for number in range(COUNT):
        rng = random.Random(FIRST * 7919 + number)
        name = readers.write("edited-problem", edit(rng, problem) if number % 20 else noise(rng))
        accepted["problem"] += readers.run("ckpt-plan", "--time-limit=0", name)[0] == 0
        name = readers.write("edited-plan", edit(rng, true_plan) if number % 20 else noise(rng))
        accepted["plan text"] += readers.run("ckpt-plan", "--check-plan=" + name, readers.path("problem"))[0] == 0
        name = readers.write("edited-saved", edit(rng, saved) if number % 20 else noise(rng))
        accepted["saved plan"] += readers.run("ckpt-plan", "--diff=" + name, readers.path("plan"))[0] == 0
        name = readers.write("edited-certificate", edit(rng, certificate) if number % 20 else noise(rng))
        code, said = readers.run("ckpt-plan", "--check=" + name, readers.path("problem"))
        accepted["certificate"] += code == 0
        if code == 0 and not is_weaker(said, claims):
            readers.fail(["ckpt-plan", "--check=" + name, readers.path("problem")], f"accepted {said} beside {claims}")
    return accepted


def is_weaker(said, claims):
    """Whether a verified certificate claims what is true: the same plan's figures, and
    bounds that are no better than those of the certificate that was not edited."""
    def figures(text):
        found = {}
        for line in text.split("\n")[1:]:
            key = re.sub(r"[\d,]+.*", "", line).strip()
            found[key] = [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", line)]
        return found

    ours, theirs = figures(said), figures(claims)
    for key, numbers in ours.items():
        if key == "budget":
            if numbers[0] < theirs["arena"][0]:
                return False
        elif numbers[:1] != theirs[key][:1] or any(a > b for a, b in zip(numbers[1:], theirs[key][1:])):
            return False
    return True


def main():
    readers = Readers(sys.argv[1], sys.argv[2])
    for title, counts in check_programs(readers).items():
        print(f"{title}: {counts[0]} of {counts[1]} accepted")
    for title, count in check_problems(readers).items():
        print(f"{title}: {count} of {COUNT} accepted")
    for failure in readers.failures:
        print("FAILED", failure)
    return int(bool(readers.failures))


if __name__ == "__main__":
    sys.exit(main())
