"""Files that came in: read, analysed, and put into the library, all in a process that may be ended at any time.

What a worker has put in is whole: the library writes all rows of a clip in one step.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from keypose.errors import FormatError, FormatWarning, OptionError
from keypose.formats.base import Source
from keypose.library.material import packed
from keypose.library.wording import clean_name
from keypose.server.failing import NoSuchClip
from keypose.server.work.desk import Answer, Desk, Task

_FOLDERS = re.compile(r"[/\\]+")
NAMELESS = "clip"


def file_name(told: str) -> str:
    """The name of a file as a client gave it: one clean line, without folders. Only ever a name, never a path."""
    try:
        return clean_name(_FOLDERS.split(clean_name(told))[-1])
    except OptionError:
        return NAMELESS


def clip_name(file: str) -> str:
    """The name of its clip: without its endings."""
    return clean_name(Source(Path(file), b"").name or NAMELESS)


def add_upload(desk: Desk, told: dict[str, Any]) -> Answer:
    """Adds the file ``told["file"]`` as a clip called after ``told["name"]``; says which it is, and if it was there."""
    named = str(told["name"])
    called = clip_name(named)
    data = Path(told["file"]).read_bytes()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        try:
            known = _is_known(desk, packed(data, Path(named), desk.limits).hash)
            clip = desk.library.add(data, name=called, tags=told["tags"], source=named)
        except FormatError as error:
            if error.path != called:
                raise
            raise type(error)(named, error.problem, line=error.line, byte=error.byte) from None  # as the file is called
    notes = [str(each.message) for each in caught if issubclass(each.category, FormatWarning)]
    return Answer(json.dumps({"hash": clip.hash, "known": known, "notes": notes}).encode())


def _is_known(desk: Desk, digest: str) -> bool:
    try:
        desk.clip(digest)
    except NoSuchClip:
        return False
    return True


TASKS: Mapping[str, Task] = {"add": add_upload}
