"""Checks the installed manual pages and completions against the help texts of the tools.

    check_manual.py PREFIX TOOL...
"""

import re
import subprocess
import sys

COMPLETE = """
source "$1"; COMP_WORDS=("${@:3}"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
"$2"; printf '%s\\n' "${COMPREPLY[@]}"
"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        sys.exit(f"error: {' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def rendered(prefix, tool):
    """The page as a reader sees it, without hyphenation; any warning of roff is an error."""
    text = run("env", "MANWIDTH=120", "MANROFFOPT=", "MANPAGER=cat", "man", "--warnings", "--no-hyphenation",
               "-E", "UTF-8", "-l", f"{prefix}/share/man/man1/{tool}.1")
    return re.sub(r".\x08", "", text)


def completed(prefix, tool, *words):
    """The words that bash offers for the last of `words`."""
    script = f"{prefix}/share/bash-completion/completions/{tool}"
    return run("bash", "-c", COMPLETE, "bash", script, "_" + tool.replace("-", "_"), tool, *words).split()


def own_options(prefix, tool):
    """The options of the tool itself, without passes."""
    text = run(f"{prefix}/bin/{tool}", "--help")
    return re.findall(r"^ {2}(--?[a-z][\w-]*)", text, flags=re.MULTILINE)


def check(prefix, tool):
    page = rendered(prefix, tool)
    options = own_options(prefix, tool)
    if not options:
        sys.exit(f"error: no option in the help of {tool}")
    for option in options:
        if not re.search(rf"^ +{option}\b", page, flags=re.MULTILINE):
            sys.exit(f"error: the page of {tool} lacks {option}")
        if option not in [word.rstrip("=") for word in completed(prefix, tool, option[:-1])]:
            sys.exit(f"error: the completion of {tool} lacks {option}")
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"):
        if f"\n{section}\n" not in page:
            sys.exit(f"error: the page of {tool} has no section {section}")


def expect(found, wanted):
    if found != wanted:
        sys.exit(f"error: expected {wanted}, but got {found}")


def main():
    prefix, *tools = sys.argv[1:]
    for tool in tools:
        check(prefix, tool)
    expect(completed(prefix, "ckpt-runner", "--verif"), ["--verify"])
    expect(completed(prefix, "ckpt-runner", "--calibrate", "=", "fe"), ["few"])
    expect(completed(prefix, "ckpt-opt", "--ckpt-plan", "=", "budget-"), ["budget-model="])
    expect(completed(prefix, "ckpt-opt", "--canonicaliz"), ["--canonicalize="])
    expect(completed(prefix, "ckpt-opt", "step"), [])


main()
