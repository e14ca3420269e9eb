"""What the library says of its keywords, in the words of the command line.

Errors and notes of the library speak to those who call ``load``: ``asf=...``. Who typed a command looks
for ``--asf``. Everything that is said of files passes through here.
"""

from __future__ import annotations

import re

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_START = r"(?<![\w/\\.=-])"  # not within a name
_REPLACEMENTS = (
    (r"asf=\.\.\., at the command line with --asf FILE", "--asf FILE"),
    (r"asf=\.\.\.", "--asf FILE"),
    (r"fps=\.\.\.", "--read-fps"),
    (r"fps=([^\s,]+)", r"--read-fps \1"),
    (r"seed=([^\s,]+)", r"--seed \1"),
    (r"limits=Limits\((\w+)=\.\.\.\)", r"--limit \1=NUMBER"),
    (r"animation=\.\.\.", "--animation NAME"),
    (rf"animation=({_QUOTED}|\d+)", r"--animation \1"),
    (rf"gaps=({_QUOTED})", r"--gaps \1"),
    (rf"reference_pose=({_QUOTED})", r"--reference-pose \1"),
)
_PATTERNS = tuple((re.compile(_START + pattern), replacement) for pattern, replacement in _REPLACEMENTS)
_NEEDLESS_QUOTES = re.compile(r"(--(?:animation|gaps|reference-pose) )'([\w.-]+)'")
_ANIMATIONS = re.compile(rf"--animation ({_QUOTED}|\S+), (?:expected|but there is)(.*)", re.DOTALL)


def for_command_line(text: str, path: str = "") -> str:
    """A message with options in place of keywords; the ``path`` that it may begin with stays as it is."""
    start = path if path and text.startswith(path) else ""
    rest = text[len(start) :]
    for pattern, replacement in _PATTERNS:
        rest = pattern.sub(replacement, rest)
    return start + _NEEDLESS_QUOTES.sub(r"\1\2", rest)


def animations_in(text: str) -> tuple[str, list[str]] | None:
    """The animation that was asked for in vain and those that there are, of a message that lists them."""
    found = _ANIMATIONS.search(text)
    if found is None:
        return None
    return found[1].strip("'\""), [name[1:-1] for name in re.findall(_QUOTED, found[2])]
