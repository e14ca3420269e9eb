"""Files that came in: read, analysed, and put into the library, all in a process that may be ended at any time.

What a worker has put in is whole: the library writes all rows of a clip in one step.
"""

from __future__ import annotations

import json
import re
import shlex
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import urlsplit

from keypose.errors import FormatError, FormatWarning, ModelError, OptionError
from keypose.formats import recognise_format
from keypose.formats.acclaim import AMC, ASF
from keypose.formats.base import ReadOptions, Source
from keypose.library.material import Packed, packed, packed_motion
from keypose.library.preparing import ALONE
from keypose.library.wording import clean_name, file_stem
from keypose.model import Motion
from keypose.server.failing import NoSuchClip, TaskError
from keypose.server.schema.base import Problem
from keypose.server.work.desk import Answer, Desk, Task

_FOLDERS = re.compile(r"[/\\]+")
NAMELESS = "clip"
BESIDE = "expected the file beside this one"  # as the reader of glTF says it
BOTH = "Choose the .amc and its .asf together: they become one clip."


def file_name(told: str) -> str:
    """The name of a file as a client gave it: one clean line, without folders. Only ever a name, never a path."""
    try:
        return clean_name(_FOLDERS.split(clean_name(told))[-1])
    except OptionError:
        return NAMELESS


def clip_name(file: str) -> str:
    """The name of its clip: without its endings."""
    return clean_name(Source(Path(file), b"").name or NAMELESS)


def shell_name(library: str) -> str:
    """What a shell in the folder of a library calls it; on which machine, where and by whom stays unsaid."""
    parts = urlsplit(library)
    if "://" in library:
        return f"{parts.scheme}://USER@HOST/{PurePath(parts.path).name}"
    return shlex.quote(PurePath(library).name)


def skeleton_file(upload: Path) -> Path:
    """Where the skeleton of an upload waits while it is read."""
    return upload.with_name(f"{upload.name}.asf")


def add_upload(desk: Desk, told: dict[str, Any]) -> Answer:
    """Adds the file ``told["file"]`` as a clip called after ``told["name"]``; says which it is, and if it was there.

    Its first ``told["skeleton_bytes"]`` are those of a skeleton, called ``told["skeleton"]``.
    """
    named, path = str(told["name"]), skeleton_file(Path(told["file"]))
    called, start = clip_name(named), int(told["skeleton_bytes"])
    data = Path(told["file"]).read_bytes()

    def tell(text: str) -> str:
        """As people call the skeleton."""
        return text.replace(str(path), told["skeleton"]).replace(path.name, told["skeleton"])

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FormatWarning)
        try:
            found = packed(data[start:], Path(named), desk.limits)
            what: bytes | Motion
            if start:
                motion = _joined(desk, found, named, path, data[:start])
                what = replace(motion, notes=tuple(map(tell, motion.notes)))
            else:
                what = _alone(desk, found, named)
            known = _is_known(desk, found.hash if isinstance(what, bytes) else packed_motion(what).hash)
            clip = desk.library.add(what, name=called, tags=told["tags"], source=named)
        except FormatError as error:
            if error.problem.endswith((ALONE, BESIDE)):
                raise _refused(named, error.problem, _from_shell(named, told["library"])) from None
            where = named if error.path == called else tell(error.path)
            raise type(error)(where, tell(error.problem), line=error.line, byte=error.byte) from None
    said = [tell(str(each.message)) for each in caught if issubclass(each.category, FormatWarning)]
    notes = [_without_place(each, named, called) for each in said]
    return Answer(json.dumps({"hash": clip.hash, "known": known, "notes": notes}).encode())


def _alone(desk: Desk, found: Packed, named: str) -> bytes:
    """Bytes that may be read alone: no half of a pair."""
    format_ = recognise_format(Source(Path(named), found.content, desk.limits))
    if format_ is AMC:
        raise _refused(named, "a motion without its skeleton, expected its .asf with it", BOTH)
    if format_ is ASF:
        raise _refused(named, "a skeleton without motion, expected an .amc with it", BOTH)
    return found.data


def _joined(desk: Desk, found: Packed, named: str, path: Path, skeleton: bytes) -> Motion:
    """The motion of an AMC on the skeleton that came with it, as if both had lain in one folder."""
    source = Source(Path(named), found.content, desk.limits)
    if recognise_format(source) is not AMC:  # others would look for other files
        raise _refused(named, "no .amc, expected one where a skeleton comes too", "Choose it without the .asf.")
    path.write_bytes(skeleton)
    try:
        return AMC.read(source, ReadOptions(asf=path))
    except ModelError as error:
        raise source.error(str(error)) from None
    finally:
        path.unlink(missing_ok=True)


def _from_shell(named: str, library: str) -> str:
    line = f"keypose library add {shlex.quote(named)} --library {library}"
    return f"Save it as one file (.glb), or add it on the machine of the server, where its other files are: {line}"


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
