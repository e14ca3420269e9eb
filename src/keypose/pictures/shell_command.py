"""Shell commands in pages that stay correct when copied, whatever the file names contain."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from keypose.pictures.svg import clean


def format_shell_command(arguments: Iterable[str]) -> str:
    """Return ``arguments`` quoted for a shell.

    Arguments that a page cannot show unchanged, such as names that are not UTF-8, are written as ``$'n\\xff.bvh'``,
    which bash and zsh understand.
    """
    return " ".join(
        shlex.quote(argument) if clean(argument, len(argument)) == argument else _escape_bytes(argument)
        for argument in arguments
    )


def _escape_bytes(argument: str) -> str:
    try:
        encoded = argument.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte of a name
        encoded = argument.encode("utf-8", "surrogatepass")
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in "'\\" else f"\\x{b:02x}" for b in encoded)
    return f"$'{plain}'"
