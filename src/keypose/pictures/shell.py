"""Command lines that stand in a page: what is copied from there is what was meant, whatever a file is called."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from keypose.pictures.svg import clean


def shell_line(words: Iterable[str]) -> str:
    """A line for a shell. Words that a page cannot show as they are, such as names that are no UTF-8, are spelled out:
    ``$'n\\xff.bvh'``, as bash and zsh read it.
    """
    return " ".join(shlex.quote(word) if clean(word, len(word)) == word else _spelled(word) for word in words)


def _spelled(word: str) -> str:
    try:
        spelling = word.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte of a name
        spelling = word.encode("utf-8", "surrogatepass")
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in "'\\" else f"\\x{b:02x}" for b in spelling)
    return f"$'{plain}'"
