"""Files that came in: read, analysed, and put into the library, all in a process that may be ended at any time.

A file may have companions that came with it, as an .amc its .asf and a .gltf its .bin. They are held in memory and
known by their names: whatever a file says, no other is opened for it. What a worker has put in is whole: the library
writes all rows of a clip in one step.
"""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

from keypose.errors import FormatError, FormatWarning, ModelError, OptionError
from keypose.formats import recognise_format
from keypose.formats.acclaim import AMC, ASF
from keypose.formats.base import Format, ReadOptions, Source
from keypose.formats.gltf.container import BESIDE
from keypose.library.material import Packed, packed, packed_motion
from keypose.library.wording import clean_name, file_stem
from keypose.model import Motion
from keypose.server.failing import NoSuchClip, TaskError
from keypose.server.schema.base import Problem
from keypose.server.work.desk import Answer, Desk, Task

_FOLDERS = re.compile(r"[/\\]+")
NAMELESS = "clip"
BUFFER = ".bin"
WITH_SKELETON = "Choose the .amc and its .asf together: they become one clip."
WITH_BUFFER = "Choose the .gltf and its .bin together: they become one clip. Or save it as one file, .glb."


def file_name(told: str) -> str:
    """The name of a file as a client gave it: one clean line, without folders. Only ever a name, never a path."""
    try:
        return clean_name(_FOLDERS.split(clean_name(told))[-1])
    except OptionError:
        return NAMELESS


def bare_name(told: str) -> str:
    """The same as it stands in other files: nothing but its folders is taken off."""
    return _FOLDERS.split(told)[-1]


def clip_name(file: str) -> str:
    """The name of its clip: without its endings."""
    return clean_name(Source(Path(file), b"").name or NAMELESS)


def shell_name(library: str) -> str:
    """What a shell in the folder of a library calls it; on which machine, where and by whom stays unsaid."""
    parts = urlsplit(library)
    if "://" in library:
        return f"{parts.scheme}://USER@HOST/{PurePath(parts.path).name}"
    return shlex.quote(PurePath(library).name)


def add_upload(desk: Desk, told: dict[str, Any]) -> Answer:
    """Adds the file ``told["file"]`` as a clip called after ``told["name"]``; says which it is, and if it was there.

    It begins with its companions, whose names and sizes are ``told["companions"]``.
    """
    named = str(told["name"])
    called = clip_name(named)
    with Path(told["file"]).open("rb") as file:
        companions = {str(name): file.read(size) for name, size in told["companions"]}
        data = file.read()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        try:
            found = packed(data, Path(named), desk.limits)
            what = _joined(desk, found, named, companions) if companions else _alone(desk, found, named)
            known = _is_known(desk, found.hash if isinstance(what, bytes) else packed_motion(what).hash)
            clip = desk.library.add(what, name=called, tags=told["tags"], source=named)
        except FormatError as error:
            if error.problem.endswith(BESIDE):
                raise _refused(named, error.problem, WITH_BUFFER) from None
            where = named if error.path == called else error.path
            raise type(error)(where, error.problem, line=error.line, byte=error.byte) from None
    said = [str(each.message) for each in caught if issubclass(each.category, FormatWarning)]
    notes = [_without_place(each, named, called) for each in said]
    return Answer(json.dumps({"hash": clip.hash, "known": known, "notes": notes}).encode())


def _alone(desk: Desk, found: Packed, named: str) -> bytes:
    """Bytes that may be read alone."""
    if _recognised(Source(Path(named), found.content, desk.limits)) is AMC:
        raise _refused(named, "a motion without its skeleton, expected its .asf with it", WITH_SKELETON)
    return found.data


def _joined(desk: Desk, found: Packed, named: str, companions: Mapping[str, bytes]) -> Motion:
    """The motion of a file with its companions, as if all had lain in one folder."""
    source = Source(Path(named), found.content, desk.limits, companions=companions)
    format_ = _recognised(source)
    without, alone = f"expected it without {', '.join(map(file_name, companions))}", f"Choose {named} alone."
    if not format_.has_companions:
        raise _refused(named, f"{format_.name} needs no other file, {without}", alone)
    try:
        motion = format_.read(source, ReadOptions())
    except ModelError as error:
        raise source.error(str(error)) from None
    if not source.taken:
        raise _refused(named, f"asks for no other file, {without}", alone)
    return motion


def _recognised(source: Source) -> Format:
    """The format of a file that can be a clip, alone or with others."""
    named = str(source.path)
    try:
        format_ = recognise_format(source)
    except FormatError:
        if named.lower().endswith(BUFFER):
            raise _refused(named, "data without the file that says what they are, expected their .gltf with them",
                           WITH_BUFFER) from None  # fmt: skip
        raise
    if format_ is ASF:
        raise _refused(named, "a skeleton without motion, expected an .amc with it", WITH_SKELETON)
    return format_


def _refused(named: str, problem: str, remedy: str) -> TaskError:
    return TaskError(Problem(kind="FormatError", message=f"{named}: {problem}", line=None, remedy=remedy))


def _without_place(note: str, named: str, called: str) -> str:
    """What the reader noticed, without the file, which on this machine lies somewhere; its line is said."""
    place = rf"(?:{re.escape(named)}|.*?[/\\]-[/\\]{re.escape(file_stem(called))})(?::(\d+))?: "
    found = re.match(place, note, re.DOTALL)
    if found is None:
        return note
    return f"{f'line {found[1]}: ' if found[1] else ''}{note[found.end() :]}"


def _is_known(desk: Desk, digest: str) -> bool:
    try:
        desk.clip(digest)
    except NoSuchClip:
        return False
    return True


TASKS: Mapping[str, Task] = {"add": add_upload}
