"""The reference of the command line, docs/cli.md: its sections, and the options and JSON fields that a section documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise, takewhile
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
OPTION = re.compile(r"`(--?[a-z][a-z-]*)")
OUTPUT_LAST = {"convert", "unbake", "rebake", "strip", "timeline", "curves", "error-curve", "compress", "restore"}
OUTPUT_OPTIONS = {"-o", "--report", "--html", "--strip"}
REPLACING_OPTIONS = {"--overwrite", "--skip-existing"}
COMMON = re.compile(r"\[(\w+) options\]\(#\w+-options\)((?: without)?(?:(?:,| and)? `--[a-z-]+`)*)")


def find_section(heading: str) -> str:
    """Return the text below a heading, up to the next heading of any level; empty if there is none."""
    section = re.search(rf"^##+ {re.escape(heading)}$(.*?)(?=^##+ |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return section[1] if section else ""


def command_section(command: str) -> str:
    """Return the section of a command; for one of a group, after that of the group, whose options it has too."""
    words = command.split()
    return "".join(find_section(f"`keypose {' '.join(words[:n])}`") for n in range(1, len(words) + 1))


def common_options(command: str) -> set[str]:
    """Return the options of the common sections that the section of a command refers to, without those it excepts."""
    options: set[str] = set()
    for name, rest in COMMON.findall(command_section(command)):
        excepted = set(OPTION.findall(rest)) if " without" in rest else set()
        for line in re.findall(r"^- (.*?)(?=: )", find_section(f"{name.capitalize()} options"), re.MULTILINE):
            names = set(OPTION.findall(line))  # `--jobs N`, `-j N` are one option
            options |= set() if names & excepted else names
    return options


def own_options(command: str) -> set[str]:
    """Return the options that the section of a command names itself."""
    return set(OPTION.findall(command_section(command)))


def excepted_options(command: str) -> set[str]:
    """Return the options of common sections that the section of a command says it does not have."""
    return {
        option
        for _, rest in COMMON.findall(command_section(command))
        if " without" in rest
        for option in OPTION.findall(rest)
    }


def documented_fields(command: str) -> set[str]:
    """Return the words in backticks of the section of a command and of those that hold common JSON fields."""
    text = command_section(command) + find_section("JSON output") + find_section("Picture options")
    return set(re.findall(r"`(\w+)`", text))


def written_file(words: Sequence[str]) -> tuple[str, ...]:
    """Return the file or folder that a command line writes, and the format of the files in it; empty if it writes none.

    Options are expected after the names of files.
    """
    if REPLACING_OPTIONS & set(words):
        return ()
    names = list(takewhile(lambda word: not word.startswith("-"), words[1:]))
    outputs = names[-1:] if words[0] in OUTPUT_LAST else []
    options = dict(pairwise(words))
    outputs += [options[name] for name in OUTPUT_OPTIONS & options.keys()]
    return (*outputs, *([options["--to"]] if "--to" in options else []))


def find_rewritten(command_lines: Iterable[Sequence[str]]) -> dict[tuple[str, ...], set[tuple[str, ...]]]:
    """Return the files that several of the command lines write, which only the first of them can, with these lines."""
    lines = defaultdict(set)
    for words in command_lines:
        lines[written_file(words)].add(tuple(words))
    return {file: writers for file, writers in lines.items() if file and len(writers) > 1}
