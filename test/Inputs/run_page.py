"""Runs the shell commands of a page of docs, in order, as its reader would.

    run_page.py PAGE FOLDER SOURCE BUILD

FOLDER becomes a copy of the project's root that holds links: `build/release` is BUILD, the rest is SOURCE.
A block that opens with ```sh is commands, and each has to succeed; a block that opens with ```LANGUAGE FILE
is a file, and goes there before the commands below it run.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys


def blocks(text):
    """The pairs of a fence's heading and its content."""
    return re.findall(r"^```(.+)\n((?:.*\n)*?)^```$", text, re.MULTILINE)


def root(folder, source, build):
    """Makes the folder of links."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "build").mkdir(parents=True)
    (folder / "build" / "release").symlink_to(build)
    for entry in source.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)


def main():
    page, folder, source, build = map(pathlib.Path, sys.argv[1:])
    root(folder, source, build)
    commands = 0
    for heading, content in blocks(page.read_text()):
        language, _, name = heading.partition(" ")
        if language == "sh":
            commands += 1
            print(content, flush=True)
            subprocess.run(["bash", "-euo", "pipefail", "-c", content], cwd=folder, check=True)
        elif name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(content)
    if not commands:
        sys.exit(f"{page} has no command")


main()
