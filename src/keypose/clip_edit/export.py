"""Export a clip as a file: exactly the bytes that ``kp.save``, ``kp.strip`` and ``kp.report`` write."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from keypose.clip_edit.clip_editor import ClipEditor, select_keys
from keypose.clip_edit.drafts import Draft, KeysDraft, apply_draft
from keypose.clip_edit.field_checks import MAX_TEXT, CheckedFields
from keypose.clip_edit.selection_spec import KeyedSpec, SelectionSpec
from keypose.errors import OptionError, format_count
from keypose.formats import FORMATS, Format, list_animations, save, swings_json, writable_suffixes
from keypose.formats.gltf.container import GLB_MAGIC
from keypose.model import KeyedMotion, Motion
from keypose.options import Option, OutputOptions, option_of
from keypose.options.clip_edit import ClipKeyOptions
from keypose.options.pictures import Layout, PngTheme, StripOptions
from keypose.pictures.report import report
from keypose.pictures.strip import strip
from keypose.swings import Swings
from keypose.validation import is_device_name

STRIPS = (".strip.svg", ".strip.png")
REPORT = ".report.html"
SWINGS = swings_json.FORMAT.suffixes[0]
CHARACTER = ".glb"

Writer: TypeAlias = Callable[[Path], object]

MAX_LENGTH = 80  # characters
_UNSAFE = re.compile(r"[^\w .()+,=@~-]+|[\x00-\x1f\x7f]+")
DEFAULT_STEM = "clip"


@dataclass(frozen=True)
class PictureFormat:
    """A format of pictures and reports that a clip can be exported as."""

    suffix: str
    name: str
    media_type: str
    is_binary: bool = False  # not worth compressing again


PICTURES = {
    picture.suffix: picture
    for picture in (
        PictureFormat(STRIPS[0], "Strip of key poses, SVG", "image/svg+xml"),
        PictureFormat(STRIPS[1], "Strip of key poses, PNG", "image/png", is_binary=True),
        PictureFormat(REPORT, "Report, HTML", "text/html; charset=utf-8"),
    )
}


@dataclass(frozen=True)
class FileOptions(CheckedFields):
    """The format of exported files, and what is exported: the captures, or curves through a number of keys."""

    format: Annotated[
        str, Option("A suffix, such as .bvh, .glb, .keys.json, .strip.svg, .report.html", max_length=MAX_TEXT)
    ]
    _: KW_ONLY
    keys: Annotated[int | None, option_of(ClipKeyOptions, "keys", help="Number of keys; None: every frame.")] = None
    tolerance_mm: Annotated[float | None, option_of(OutputOptions, "tolerance_mm")] = None
    lossless: Annotated[bool, option_of(OutputOptions, "lossless")] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        suffixes = export_suffixes()
        if self.format not in suffixes:
            raise OptionError(option="format", value=self.format, expected=f"one of {', '.join(suffixes)}")
        for name, is_given in (("tolerance_mm", self.tolerance_mm is not None), ("lossless", self.lossless)):
            if is_given and (self.format in PICTURES or not motion_format(self.format).has_tolerance):
                raise OptionError(
                    f"with {self.format}", option=name, value=getattr(self, name), expected="it with .kps alone"
                )


@dataclass(frozen=True)
class ExportOptions(FileOptions, KeyedSpec):
    """What to export of one clip: the capture, curves through ``frames``, ``joint_keys`` or a number of ``keys``, or a
    draft."""

    _: KW_ONLY
    draft: Draft | None = None
    into_source: Annotated[
        bool,
        Option(
            "Write a copy of the clip's own file (GLB), with its meshes, skins and other animations, in which its "
            "animation is replaced."
        ),
    ] = False
    reduce_tracks: Annotated[bool, option_of(OutputOptions, "reduce_tracks")] = OutputOptions.reduce_tracks
    theme: Annotated[PngTheme, option_of(StripOptions, "theme")] = "light"
    layout: Annotated[Layout, option_of(StripOptions, "layout")] = StripOptions.layout

    def __post_init__(self) -> None:
        super().__post_init__()
        if sum(each is not None for each in (self.frames, self.joint_keys, self.keys, self.draft)) > 1:
            raise OptionError("several of frames, joint_keys, keys and draft", expected="one of them or none")
        if self.into_source and self.format != CHARACTER:
            raise OptionError(
                f"with {self.format}", option="into_source", value=True, expected=f"the format {CHARACTER}"
            )


@dataclass(frozen=True)
class ExportedFile:
    """Content, name and media type of a file."""

    data: bytes
    name: str
    media_type: str


def export_suffixes() -> tuple[str, ...]:
    """Return the suffixes of all export formats."""
    plain = [suffix for suffix in writable_suffixes(swings=True) if not suffix.endswith(".gz")]
    return (*plain, *PICTURES)


def motion_format(suffix: str) -> Format:
    """Return the motion format of an export suffix that is no picture."""
    return next(format_ for format_ in FORMATS if suffix in format_.suffixes)


def media_type(suffix: str) -> str:
    """Return the media type of an export suffix."""
    return (PICTURES[suffix] if suffix in PICTURES else motion_format(suffix)).media_type


def is_compressed(suffix: str) -> bool:
    """Return whether files of an export suffix are not worth compressing again."""
    return PICTURES[suffix].is_binary if suffix in PICTURES else suffix in motion_format(suffix).binary_suffixes


def export_clip(editor: ClipEditor, options: ExportOptions, source: bytes | None = None) -> ExportedFile:
    """Return the clip of ``editor`` as a file. ``source``: the clip's own file, for ``into_source``."""
    if options.into_source and (source is None or not source.startswith(GLB_MAGIC)):
        raise OptionError(
            option="into_source", value=True, subject=editor.motion.name, expected=f"a clip of a {CHARACTER} file"
        )
    spec = _choose_keys(editor, options)
    make_writer = _picture_writer if options.format in PICTURES else _file_writer
    write = make_writer(editor, options, spec)
    if options.into_source and source is not None:
        write = _character_writer(_choose_content(editor, options, spec), source, reduce_tracks=options.reduce_tracks)
    with tempfile.TemporaryDirectory(prefix="keypose-") as folder:
        path = Path(folder) / f"clip{options.format.removeprefix('.strip').removeprefix('.report')}"
        write(path)
        name = f"{safe_stem(editor.motion.name)}{_name_version(options, spec)}{options.format}"
        return ExportedFile(path.read_bytes(), name, media_type(options.format))


def _name_version(options: ExportOptions, spec: KeyedSpec | None) -> str:
    """Return what distinguishes the file name from that of the capture: `` (12 keys)``, `` (edited swings)``."""
    draft = options.draft
    texts: list[str] = []
    if draft is None:
        texts += [] if spec is None else [_describe_keys(spec)]
    elif draft.steps or not isinstance(draft, KeysDraft):
        texts.append(f"edited {draft.kind}")
    else:
        texts += [_describe_keys(draft), *([f"detail {draft.residual:g}"] if draft.residual else [])]
    texts += ["character"] if options.into_source else []
    return f" ({', '.join(texts)})" if texts else ""


def _describe_keys(spec: KeyedSpec) -> str:
    return "keys per joint" if spec.frames is None else format_count(len(spec.frames), "key")


def _choose_keys(editor: ClipEditor, options: ExportOptions) -> KeyedSpec | None:
    """Return the exported keys and curves; None: the draft, or every frame. Swings of a capture have no keys."""
    if options.format == SWINGS:
        return None
    if options.keys is not None:
        keys = select_keys(editor.motion, SelectionSpec(), options.keys).frames
        return replace(options, keys=None, frames=tuple(keys.tolist()))
    return None if options.frames is None and options.joint_keys is None else options


def _file_writer(editor: ClipEditor, options: ExportOptions, spec: KeyedSpec | None) -> Writer:
    content = _choose_content(editor, options, spec)
    return lambda path: save(content, path, tolerance_mm=options.tolerance_mm, lossless=options.lossless)


def _character_writer(content: Motion | KeyedMotion | Swings, source: bytes, *, reduce_tracks: bool) -> Writer:
    """Return the writer of a copy of ``source`` with its first animation, which clips of files have, replaced."""

    def write(path: Path) -> None:
        path.write_bytes(source)
        names = list_animations(path)  # the clip may have been renamed
        named = replace(content, name=names[0]) if names else content
        save(named, path, into=path, reduce_tracks=reduce_tracks)

    return write


def _choose_content(
    editor: ClipEditor, options: ExportOptions, spec: KeyedSpec | None
) -> Motion | KeyedMotion | Swings:
    """Return what is written: swings as such only if the format holds nothing else."""
    draft = options.draft
    if draft is None:
        if options.format == SWINGS:
            return editor.swings()
        return editor.motion if spec is None else editor.fit_keys_with_residual(spec)
    result = apply_draft(editor, draft)
    if result.keyed is None or result.swings is not None:
        return result.swings if options.format == SWINGS and result.swings is not None else result.motion
    if options.format == SWINGS:
        raise OptionError("with a draft of keys", option="format", value=SWINGS, expected="a draft of swings, or none")
    has_residual = isinstance(draft, KeysDraft) and draft.residual > 0
    needs_sampling = has_residual and not motion_format(options.format).stores_residual
    return result.motion if needs_sampling else result.keyed


def _picture_writer(editor: ClipEditor, options: ExportOptions, spec: KeyedSpec | None) -> Writer:
    """Return the writer of a strip or report with the keys of the draft, the given ones, or its own choice."""
    motion, frames = editor.motion, None
    if options.draft is not None:
        result = apply_draft(editor, options.draft)
        motion, frames = result.motion, None if result.keyed is None else tuple(result.keyed.keys.tolist())
    elif spec is not None:
        frames = tuple(editor.fit_keys(spec).keys.tolist()) if spec.frames is None else spec.frames
    if options.format in STRIPS:
        style: dict[str, Any] = {"theme": options.theme, "layout": options.layout}
        return lambda path: strip(motion, frames, path, **style)
    if frames is None:
        return lambda path: report(motion, path)
    keys = tuple(sorted({0, *frames, motion.n_frames - 1}))
    return lambda path: report(motion, path, keys=len(keys), pins=keys)


def safe_stem(name: str) -> str:
    """Return ``name`` without anything that could be a path, hidden file, markup or device: "../a<b>" -> "_a_b_"."""
    normalised = unicodedata.normalize("NFC", name.encode("utf-8", "replace").decode("utf-8", "replace"))
    stem = _UNSAFE.sub("_", normalised)[:MAX_LENGTH].strip(" .").lstrip("~-")
    if not stem.strip("_. "):
        return DEFAULT_STEM
    base, dot, rest = stem.partition(".")
    return f"{base}_{dot}{rest}" if is_device_name(stem) else stem


def unique_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return file names made unique, ignoring case: a second "walk.bvh" becomes "walk (2).bvh"."""
    used: set[str] = set()
    result = []
    for name in names:
        stem, dot, suffix = name.partition(".")
        number, candidate = 1, name
        while candidate.casefold() in used:
            number += 1
            candidate = f"{stem} ({number}){dot}{suffix}"
        used.add(candidate.casefold())
        result.append(candidate)
    return tuple(result)
