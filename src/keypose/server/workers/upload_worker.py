"""Upload tasks: read and analyse a file and add it to the library, in a process that may be killed at any time.

A file may have companions sent with it, as an .amc its .asf and a .gltf its .bin. They are held in memory and looked up
by name: whatever path a file refers to, no other file is opened. The library writes all rows of a clip in one
transaction.
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
from keypose.formats.base import Format, Source
from keypose.library.analysis import FileContent, encode_motion, unzip_content
from keypose.library.rows import clean_name
from keypose.model import Motion
from keypose.options import LoadOptions
from keypose.server.error_responses import ClipNotFound
from keypose.server.workers.worker_context import Task, TaskResult, WorkerContext

_FOLDERS = re.compile(r"[/\\]+")
DEFAULT_NAME = "clip"
BUFFER = ".bin"
SKELETON_HINT = "Select the .amc and its .asf together: they become one clip."
BUFFER_HINT = "Select the .gltf and its .bin together: they become one clip. Or save it as a single .glb file."


def clean_file_name(name: str) -> str:
    """Return a file name from a client as one clean line without folders. It is never used as a path."""
    try:
        return clean_name(_FOLDERS.split(clean_name(name))[-1])
    except OptionError:
        return DEFAULT_NAME


def base_name(name: str) -> str:
    """Return a file name as other files refer to it: without folders, otherwise unchanged."""
    return _FOLDERS.split(name)[-1]


def clip_name(file: str) -> str:
    """Return the name of the clip of a file: without suffixes."""
    return clean_name(Source(Path(file), b"").name or DEFAULT_NAME)


def library_argument(library: str) -> str:
    """Return the argument of --library in the library's own folder; discloses neither path, host nor user."""
    url = urlsplit(library)
    if "://" in library:
        return f"{url.scheme}://USER@HOST/{PurePath(url.path).name}"
    return shlex.quote(PurePath(library).name)


def add_upload(context: WorkerContext, payload: dict[str, Any]) -> TaskResult:
    """Add the file ``payload["file"]`` as a clip named after ``payload["name"]``; return its hash and notes.

    The file begins with its companions, whose names and sizes are ``payload["companions"]``.
    """
    file_name = str(payload["name"])
    title = clip_name(file_name)
    with Path(payload["file"]).open("rb") as file:
        companions = {str(name): file.read(size) for name, size in payload["companions"]}
        data = file.read()
    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always", FormatWarning)
        try:
            source_file = unzip_content(data, Path(file_name), context.limits)
            content: bytes | Motion
            if companions:
                content = _read_with_companions(context, source_file, file_name, companions)
                digest = encode_motion(content).hash
            else:
                content = _check_standalone(context, source_file, file_name)
                digest = source_file.hash
            is_duplicate = _is_in_library(context, digest)
            clip = context.library.add(content, name=title, tags=payload["tags"], source=file_name)
        except FormatError as error:
            if error.code == "missing_buffer":
                raise error.with_fields(path=file_name, hint=BUFFER_HINT) from None
            raise error.with_fields(path=file_name if error.path == title else error.path) from None
    notes = [_render_warning(each.message, companions) for each in records if isinstance(each.message, FormatWarning)]
    return TaskResult(json.dumps({"hash": clip.hash, "is_duplicate": is_duplicate, "notes": notes}).encode())


def _check_standalone(context: WorkerContext, source_file: FileContent, name: str) -> bytes:
    """Return the bytes of a file that needs no companion; FormatError for an .amc."""
    if _find_format(Source(Path(name), source_file.unzipped, context.limits)) is AMC:
        raise FormatError(
            name,
            "the motion has no skeleton",
            code="needs_other_file",
            expected="its .asf file",
            hint=SKELETON_HINT,
        )
    return source_file.data


def _read_with_companions(
    context: WorkerContext, source_file: FileContent, name: str, companions: Mapping[str, bytes]
) -> Motion:
    """Return the motion of a file with its companions, as if all were in one folder."""
    source = Source(Path(name), source_file.unzipped, context.limits, companions=companions)
    format_ = _find_format(source)
    if not format_.has_companions:
        raise _unneeded_file_error(name, f"{format_.name} needs no other file", companions)
    try:
        motion = format_.read(source, LoadOptions())
    except ModelError as error:
        raise source.error(str(error), code="inconsistent") from None
    if not source.used_companions:
        raise _unneeded_file_error(name, "refers to no other file", companions)
    return motion


def _find_format(source: Source) -> Format:
    """Return the format of a file that can be a clip, alone or with companions."""
    name = str(source.path)
    try:
        format_ = recognise_format(source)
    except FormatError:
        if name.lower().endswith(BUFFER):
            raise FormatError(
                name,
                "the file holds data of a .gltf file",
                code="no_animation",
                expected="that file too",
                hint=BUFFER_HINT,
            ) from None
        raise
    if format_ is ASF:
        raise FormatError(
            name,
            "the file holds a skeleton without motion",
            code="no_animation",
            expected="an .amc file too",
            hint=SKELETON_HINT,
        )
    return format_


def _unneeded_file_error(name: str, problem: str, companions: Mapping[str, bytes]) -> FormatError:
    return FormatError(
        name,
        problem,
        code="unneeded_file",
        expected=f"it without {', '.join(map(clean_file_name, companions))}",
        hint=f"Select {name} without other files.",
    )


def _render_warning(warning: FormatWarning, companions: Mapping[str, bytes]) -> str:
    """Return a warning of the reader without folders of this machine; of the files, only companions are named."""
    name = "" if warning.path is None else PurePath(warning.path).name
    if name in companions:
        return str(warning.with_fields(path=name))
    line = "" if warning.line is None else f"line {warning.line}: "
    return line + str(warning.with_fields(path=None))


def _is_in_library(context: WorkerContext, digest: str) -> bool:
    try:
        context.clip(digest)
    except ClipNotFound:
        return False
    return True


TASKS: Mapping[str, Task] = {"add": add_upload}
