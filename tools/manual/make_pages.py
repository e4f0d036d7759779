"""Makes the manual page of a tool and its completion in bash from the text of `TOOL --help`.

    make_pages.py TOOL VERSION MAN COMPLETION

The build runs it for each tool and installs both files. It reads the help texts of LLVM's library for command lines
and of ckpt-plan. The manual page lists the passes of ckpt only, the completion also those of MLIR.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

OPTION = re.compile(r"^( {1,12})(--?\w[\w-]*)(\[?=\S+| <[^>]*>)?(?: +- *| {2,}|$)(.*)$")
CHOICE = re.compile(r"^ +=(\S+) +- +(.*)$")
HEADING = re.compile(r"^([A-Z]+):(?: (.*))?$")
DEEPEST_OPTION = 2


@dataclass
class Option:
    """An option of the tool, a pass, or an option of a pass."""

    flag: str
    value: str
    text: str
    choices: list = field(default_factory=list)
    options: list = field(default_factory=list)


@dataclass
class Help:
    """The parts of a help text; `passes` are options that take options."""

    overview: list = field(default_factory=list)
    usage: str = ""
    options: list = field(default_factory=list)
    passes: list = field(default_factory=list)
    examples: list = field(default_factory=list)


class Reader:
    """Reads a help text line by line."""

    def __init__(self):
        self.help = Help()
        self.section = "OVERVIEW"
        self.last = None
        self.pass_indent = DEEPEST_OPTION

    def read(self, text):
        for line in text.splitlines():
            heading = HEADING.match(line)
            if line.startswith("usage: "):
                self.help.usage = line.removeprefix("usage: ")
            elif heading:
                self.enter(heading[1], heading[2] or "")
            elif self.section == "EXAMPLES":
                self.help.examples.append(line)
            elif option := OPTION.match(line):
                self.add_option(*option.groups())
            elif choice := CHOICE.match(line):
                self.last.choices.append(choice.groups())
            else:
                self.add_text(line)
        return self.help

    def enter(self, section, rest):
        self.section = section
        if section == "USAGE":
            self.help.usage = rest
        elif section == "OVERVIEW":
            self.help.overview.append(rest)

    def add_option(self, indent, flag, value, text):
        self.section = "OPTIONS"
        option = self.last = Option(flag, (value or "").strip(), text.strip())
        depth = len(indent)
        if depth <= DEEPEST_OPTION:
            self.help.options.append(option)
        elif self.help.passes and depth > self.pass_indent:
            self.help.passes[-1].options.append(option)
        else:
            self.pass_indent = depth
            self.help.passes.append(option)

    def add_text(self, line):
        """A line that goes on with the overview, or with the text of an option."""
        if self.section == "OVERVIEW":
            self.help.overview.append(line)
        elif self.last and line.startswith(" " * 20):
            self.last.text += " " + line.strip()


def roff(text):
    """Text as roff takes it."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text.startswith(".") else text


def man_option(option, flag):
    lines = [".TP", f".B {roff(flag + separator(option) + option.value)}", roff(option.text) or "\\&"]
    if option.choices:
        lines.append(".RS")
        for name, text in option.choices:
            lines += [".TP", f".B {roff(name)}", roff(text)]
        lines.append(".RE")
    return lines


def separator(option):
    """`-o FILE` needs a space, `--name=VALUE` brings its sign."""
    return " " if option.value.startswith("<") else ""


def man(tool, version, found):
    """The manual page."""
    paragraph = "\n".join(found.overview).strip().partition("\n\n")[0]
    overview = " ".join(paragraph.split()).removeprefix("ckpt: ")
    summary = re.split(r"(?<=\w)[.:] ", overview, maxsplit=1)[0].rstrip(".")
    lines = [
        f'.TH {tool.upper()} 1 "" "ckpt {version}" "User Commands"',
        ".SH NAME",
        f"{roff(tool)} \\- {roff(summary)}",
        ".SH SYNOPSIS",
        f".B {roff(found.usage)}",
        ".SH DESCRIPTION",
        roff(overview),
        ".SH OPTIONS",
    ]
    for option in found.options:
        lines += man_option(option, option.flag)
    ours = [entry for entry in found.passes if entry.flag.startswith("--ckpt-")]
    if ours:
        lines += [".SH PASSES", f"The passes of mlir\\-opt are there, too; {roff(tool + ' --help')} lists them."]
    for entry in ours:
        lines += man_option(entry, entry.flag) + [".RS"]
        for option in entry.options:
            lines += man_option(option, option.flag.lstrip("-"))
        lines.append(".RE")
    if found.examples:
        lines += [".SH EXAMPLES", ".nf", *map(roff, found.examples), ".fi"]
    return "\n".join(lines) + "\n"


COMPLETION = """\
# Completion of {tool} in bash, made from its --help.
_{name}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} option= words=
  # Bash takes '=' for a word: the word before it is the option that takes a value.
  if [[ $word == "=" ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 1]}} word=
  elif [[ ${{COMP_WORDS[COMP_CWORD - 1]}} == "=" ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case $option in
{values}
  "") [[ $word != -* ]] || words="{words}" ;;
  esac
  # No words: bash completes the name of a file.
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ ${{COMPREPLY[0]-}} != *= ]] || compopt -o nospace 2>/dev/null
}}
complete -o default -F _{name} {tool}
"""


def word(option):
    return option.flag + ("=" if "=" in option.value or option.options else "")


def values(option):
    """A branch of the script that completes the value of an option."""
    names = [name for name, _ in option.choices]
    names += [word(inner).lstrip("-") for inner in option.options]
    return f'  {option.flag}) words="{" ".join(names)}" ;;' if names else None


def completion(tool, found):
    """The completion."""
    known = found.options + found.passes
    return COMPLETION.format(
        tool=tool,
        name=tool.replace("-", "_"),
        words=" ".join(map(word, known)),
        values="\n".join(filter(None, map(values, known))),
    )


def main():
    path, version, man_path, completion_path = sys.argv[1:]
    text = subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout
    found = Reader().read(text)
    tool = os.path.basename(path)
    if not (found.options and found.usage):
        sys.exit(f"error: expected '{tool} --help' to print its usage and options")
    Path(completion_path).write_text(completion(tool, found))
    Path(man_path).write_text(man(tool, version, found))


main()
