"""``keypose strip``: draw the key poses of motion files, one picture each."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from keypose.api.select import ladder, select
from keypose.batch.file_discovery import ClipFiles, discover_clips, load_clip, resolve_frame_range
from keypose.batch.plan import ExistingPolicy, Plan, Target, make_folder
from keypose.cli import output, runner
from keypose.cli.options import Flags, Repair, resolve_jobs, with_flags
from keypose.cli.output import UsageError
from keypose.cli.picture_options import (
    DEFAULT_SOURCE,
    PICTURE_GROUP,
    READ_GROUP,
    DrawnPicture,
    Mark,
    SourceFlags,
    StripKeyFlags,
    option_errors_as_usage,
    parse_marked_frames,
    picture_document,
    png_size,
)
from keypose.cli.runner import DEFAULT_WRITE, RunResult, WriteFlags, run_write_jobs, split_paths
from keypose.curves.capture_faults import repair_capture, warn_of_spikes
from keypose.errors import format_count
from keypose.methods import METHODS
from keypose.model import Motion, Selection, list_notes
from keypose.options import LoadOptions
from keypose.options.pictures import StripOptions
from keypose.pictures.strip import strip as make_picture
from keypose.pictures.strip.canvas import SizeOptions, check_rows
from keypose.pictures.strip.scene import DEFAULT_KEYS
from keypose.pictures.svg import SUFFIXES, picture_path
from keypose.pictures.view import VIEWS, build_view


def parse_view(flag: str, texts: Sequence[str]) -> str | float:
    """Parse the name of a view, or degrees."""
    (text,) = texts
    if text in VIEWS:
        return text
    if re.fullmatch(r"[+-]?[0-9]{1,6}(\.[0-9]*)?", text):
        return float(text)
    raise UsageError(
        option=flag, value=text, expected=f"one of {', '.join(VIEWS)}, or degrees from the front to the left"
    )


def parse_size(flag: str, texts: Sequence[str]) -> tuple[float, float]:
    """Parse ``320x90`` into width and height."""
    (text,) = texts
    match = re.fullmatch(r"([0-9]{1,6}) ?[x×] ?([0-9]{1,6})", text.strip())
    if not match:
        raise UsageError(option=flag, value=text, expected="WIDTHxHEIGHT, such as 320x90")
    return float(match[1]), float(match[2])


@with_flags(word_parsers={"view": parse_view, "size_px": parse_size})
class StripFlags(Flags, StripOptions):
    """The appearance of a strip."""


DEFAULT_STYLE = StripFlags()


def check_style(style: StripFlags, *, has_labels: bool) -> None:
    """Raise UsageError for invalid sizes and numbers before any work is done."""
    with option_errors_as_usage():
        check_rows(style.per_row, style.layout, has_labels=has_labels)
        SizeOptions.parse(style.height_px, style.width_px, style.size_px)
    style.check()


def strip(
    *paths: Annotated[
        str,
        Parameter(
            name="IN OUT",
            help="Input (files, folders, patterns in quotes), and last the output: a picture for one file, a "
            "folder for more.",
        ),
    ],
    style: Annotated[StripFlags, PICTURE_GROUP] = DEFAULT_STYLE,
    to: Annotated[
        Literal["png", "svg"] | None, Parameter(help="The format of pictures in a folder. Default: png."), PICTURE_GROUP
    ] = None,
    mark: Mark = (),
    keys: StripKeyFlags | None = None,
    repair: Annotated[Repair, READ_GROUP] = False,
    source: SourceFlags = DEFAULT_SOURCE,
    write: Annotated[WriteFlags, PICTURE_GROUP] = DEFAULT_WRITE,
) -> int:
    """Draw the key poses of motions, one strip for each file.

    Solid figures at one scale, from the view that shows most of the motion; the
    figure's left is orange, its right blue with a light stripe. By default it
    draws the eight poses that farthest chooses; with --methods, a row for each
    method. Captions count frames from 0, as info and keys do.

    For example:
      keypose strip walk.bvh walk.png
      keypose strip walk.bvh walk.svg --method salient --keys 12 --theme dark
      keypose strip kick.bvh kick.png --layout expanded --ghosts 2
      keypose strip walk.bvh front.png --view front --range 100:400
      keypose strip walk.bvh rows.png --keys 24 --per-row 12
      keypose strip walk.bvh methods.png --methods farthest,spread --layout time
      keypose strip takes/ pictures/ --size-px 320x90
    """
    names, out = split_paths(paths, "strip")
    existing_policy = write.existing_policy()
    marked_frames = parse_marked_frames(mark, keys)
    rows = (keys or StripKeyFlags()).rows()
    has_labels = keys is not None and bool(keys.methods)
    check_style(style, has_labels=has_labels)
    load_options, frames = source.load.load_options(), source.frame_range()
    inputs = discover_clips(names)
    if inputs.problems:
        raise inputs.problems[0]
    plan = build_plan(inputs, names, out, to, existing_policy)
    work = [
        StripJob(t.source, t.target, load_options, frames, style.options(), marked_frames, rows, has_labels, repair)
        for t in plan.targets
    ]
    return run(work, plan.skipped, resolve_jobs(write.jobs, len(work)), json=write.json, quiet=write.quiet)


@dataclass(frozen=True)
class StripJob:
    """Draw a strip of one file."""

    source: Path
    target: Path
    load_options: LoadOptions
    frames: tuple[int | None, int | None] | None  # start and end as in a slice
    style: Mapping[str, Any]  # keywords of ``strip``
    marked_frames: tuple[int, ...]  # used instead of ``rows`` if not empty
    rows: Mapping[str, Mapping[str, Any]]  # by method: keywords of ``select``, including the method
    has_labels: bool  # rows are labelled
    repair: bool = False  # the capture


def build_plan(
    inputs: ClipFiles, names: Sequence[str], out: str, to: str | None, existing_policy: ExistingPolicy
) -> Plan:
    """Plan the output of each file: one picture, or a folder."""
    is_single_file = len(names) == 1 and [str(file.path) for file in inputs.files] == [str(Path(names[0]))]
    is_folder = out.endswith(("/", "\\")) or os.path.isdir(out)  # noqa: PTH112 - Path raises for long names
    if is_single_file and to is None and not is_folder:
        picture_path(out)
    elif not is_folder and Path(out).suffix.lower() in SUFFIXES:
        raise UsageError(f"{out} is one picture", expected="a folder for more of them", hint=f"{out}/ makes it one")
    else:
        to = to or "png"
    return runner.build_plan(inputs, names, out, to, existing_policy, "strip", SUFFIXES)


def draw_strip(job: StripJob) -> DrawnPicture:
    """Read one file, choose its keys and draw them."""
    motion = load_clip(job.source, job.load_options)
    motion = repair_capture(motion) if job.repair else motion
    span = resolve_frame_range(job.frames, motion.n_frames)
    rows = _select_rows(motion, span, job)
    make_folder(job.target.parent)
    if job.has_labels:
        labelled = {f"{method}, {format_count(len(keys), 'key')}": keys for method, keys in rows.items()}
        picture = make_picture(motion, labelled, job.target, **job.style)
    else:
        (keys,) = rows.values()
        picture = make_picture(motion, keys, job.target, **job.style)
    figures = {
        "layout": job.style["layout"],
        "view": job.style["view"],
        "view_degrees": round(build_view(motion, job.style["view"]).degrees, 1),
        "n_frames": motion.n_frames,
        "fps": motion.fps,
        "rows": [
            {"method": method, "frames": list(keys), "times_s": [frame / motion.fps for frame in keys]}
            for method, keys in rows.items()
        ],
    }
    pixels = png_size(job.target)
    return DrawnPicture(picture.width, picture.height, picture.alt_text, figures, list_notes(motion), pixels)


def _select_rows(motion: Motion, span: tuple[int, int], job: StripJob) -> dict[str | None, Sequence[int] | Selection]:
    """Return the keys of each row by method; without a method, the marked frames."""
    if job.marked_frames:
        return {None: sorted(set(job.marked_frames))}
    return {method: _select_keys(motion, span, select_options) for method, select_options in job.rows.items()}


def _select_keys(motion: Motion, span: tuple[int, int], select_options: Mapping[str, Any]) -> Selection:
    """Return the keys; without a number of keys, use the method's own number or the default of strips."""
    if {"keys", "tolerance_mm", "auto"} & set(select_options) or METHODS[select_options["method"]].has_own_count:
        return select(motion, frames=span, **select_options)
    selection_ladder = ladder(motion, frames=span, **({"max_keys": DEFAULT_KEYS} | dict(select_options)))
    selection = selection_ladder.at(int(selection_ladder.counts[-1]))  # fewer if poses are identical
    warn_of_spikes(motion, selection.frames)
    return selection


def run(work: Sequence[StripJob], skipped: Sequence[Target], n_workers: int, *, json: bool, quiet: bool) -> int:
    """Draw all strips and print results; return the exit code."""
    run_result = run_write_jobs("Drawing", draw_strip, work, skipped, n_workers, json=json, quiet=quiet)
    if json:
        output.print_json(run_result.document("pictures", lambda _, picture: picture_document(picture)))
    elif not quiet:
        _print_summary(run_result)
    return run_result.finish(json=json)


def _print_summary(run_result: RunResult[StripJob, DrawnPicture]) -> None:
    run_result.print_notes(lambda picture: picture.notes)
    if len(run_result.work) == 1 and run_result.results:
        job, picture = run_result.results[0]
        output.print_line(f"{job.target}: {picture.size}. {picture.description}")
    phrases = run_result.count_phrases("drawn")
    if phrases and run_result.is_batch:
        output.print_line(", ".join(phrases))
