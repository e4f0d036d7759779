"""Runs the shell commands of a page of docs, in order, as its reader would.

    run_page.py PAGE FOLDER SOURCE BUILD

FOLDER becomes a copy of the project's root that holds links: `build/release` is BUILD, the rest is SOURCE.
A block that opens with ```sh is commands, and each has to succeed. A block that opens with ```LANGUAGE FILE
is a file, and goes there before the commands below it run. A block behind the word "prints" is the output of
the commands above it, or the last lines of it.
"""

import pathlib
import re
import shutil
import subprocess
import sys


def blocks(text):
    """The fenced blocks in order: their heading, their content, and whether they are output."""
    fence = re.compile(r"^(?:(prints)\n\n)?```(.*)\n((?:.*\n)*?)^```$", re.MULTILINE)
    return [(heading, content, bool(prints)) for prints, heading, content in fence.findall(text)]


def root(folder, source, build):
    """Makes the folder of links."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "build").mkdir(parents=True)
    (folder / "build" / "release").symlink_to(build)
    for entry in source.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)


def run(commands, folder):
    """Runs commands and returns what they print."""
    print(commands, flush=True)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    print(done.stdout, flush=True)
    if done.returncode:
        sys.exit(f"exit code {done.returncode}")
    return done.stdout


def main():
    page, folder, source, build = map(pathlib.Path, sys.argv[1:])
    root(folder, source, build)
    output = None
    for heading, content, is_output in blocks(page.read_text()):
        language, _, name = heading.partition(" ")
        if is_output:
            if not output.endswith(content):
                sys.exit(f"the page shows\n{content}")
        elif language == "sh":
            output = run(content, folder)
        elif name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
    if output is None:
        sys.exit(f"{page} has no command")


main()
