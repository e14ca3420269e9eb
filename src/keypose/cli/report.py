"""``keypose report``: write one HTML page about motions and their unbaked versions."""

from __future__ import annotations

import os
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from keypose.batch.file_discovery import ClipFiles, stem
from keypose.cli import clip_view, messages, output
from keypose.cli.key_options import (
    Auto,
    Exclude,
    Interpolation,
    Joints,
    JumpPenalty,
    Keys,
    Loop,
    MaxGap,
    Measure,
    MinGap,
    Objective,
    Pin,
    Polish,
    PolishWeight,
    Rotation,
    Set,
    SharedTangents,
    Threads,
    ToleranceMm,
    Weight,
)
from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.output import UsageError
from keypose.cli.runner import Quiet, RunResult, run_write_jobs
from keypose.errors import FileError, OptionError
from keypose.formats.base import write_atomically
from keypose.pictures.report.build import ReportJob, ReportJobResult, page_path, render_report_page, run_report_job

PAGE_GROUP, COUNT_GROUP, KEYS_GROUP, CURVES_GROUP, READ_GROUP = (
    Parameter(group=Group(title, sort_key=order))
    for order, title in enumerate(("Page", "Number of keys", "Choice of keys", "Curves between keys", "Reading"), 1)
)


def report(
    *paths: Annotated[
        str,
        Parameter(name="FILES", help="Input: files, folders, patterns in quotes. All go into one page."),
    ],
    output: Annotated[
        Path | None,
        Parameter(
            name=("--output", "-o"),
            help="The page, an .html file. Default: NAME.html of one file, or report.html, in the current folder.",
        ),
        PAGE_GROUP,
    ] = None,
    title: Annotated[
        str | None, Parameter(help="The title of the page. Default: the motion's name."), PAGE_GROUP
    ] = None,
    open_: Annotated[
        bool, Parameter(name="--open", negative="", help="Show the page in the browser when it is written."), PAGE_GROUP
    ] = False,
    overwrite: Annotated[
        bool,
        Parameter(negative="--no-overwrite", help="Replace the page if it exists. Default: refuse."),
        PAGE_GROUP,
    ] = False,
    keys: Annotated[Keys, COUNT_GROUP] = None,
    tolerance_mm: Annotated[ToleranceMm, COUNT_GROUP] = None,
    auto: Annotated[Auto, COUNT_GROUP] = False,
    interpolation: Annotated[Interpolation, CURVES_GROUP] = "bezier",
    rotation: Annotated[Rotation, CURVES_GROUP] = "quaternion",
    shared_tangents: Annotated[SharedTangents, CURVES_GROUP] = False,
    jump_penalty: Annotated[JumpPenalty, CURVES_GROUP] = None,
    polish: Annotated[Polish, CURVES_GROUP] = None,
    polish_weight: Annotated[PolishWeight, CURVES_GROUP] = (),
    method: Annotated[
        str,
        Parameter(
            show_default=True,
            help="Selection method: salient finds the best keys for the fitted curves; keypose methods lists others.",
        ),
        KEYS_GROUP,
    ] = "salient",
    pin: Annotated[Pin, KEYS_GROUP] = (),
    exclude: Annotated[Exclude, KEYS_GROUP] = (),
    joints: Annotated[Joints, KEYS_GROUP] = (),
    weight: Annotated[Weight, KEYS_GROUP] = (),
    objective: Annotated[Objective, KEYS_GROUP] = None,
    measure: Annotated[Measure, KEYS_GROUP] = None,
    min_gap_frames: Annotated[MinGap, KEYS_GROUP] = None,
    max_gap_frames: Annotated[MaxGap, KEYS_GROUP] = None,
    loop: Annotated[Loop, KEYS_GROUP] = False,
    threads: Annotated[Threads, KEYS_GROUP] = None,
    set_: Annotated[Set, KEYS_GROUP] = (),
    fps: Annotated[
        float | None,
        Parameter(help="Resample the capture to this frame rate first. Default: unchanged."),
        READ_GROUP,
    ] = None,
    range_: Annotated[Range, READ_GROUP] = None,
    reference_pose: Annotated[ReferencePose, READ_GROUP] = "auto",
    asf: Annotated[Asf, READ_GROUP] = None,
    gaps: Annotated[Gaps, READ_GROUP] = "fill",
    animation: Annotated[Animation, READ_GROUP] = None,
    read_fps: Annotated[ReadFps, READ_GROUP] = None,
    limit: Annotated[LimitOption, READ_GROUP] = (),
    jobs: Annotated[Jobs, PAGE_GROUP] = None,
    json: Annotated[Json, PAGE_GROUP] = False,
    quiet: Annotated[Quiet, PAGE_GROUP] = False,
) -> int:
    """Write one HTML page about motions and their unbaked versions.

    The page has the key poses, a 3D player of the original and the unbaked
    motion, the keys and their importance, errors by joint and by number of keys,
    swings, and the commands that reproduce it. It is one file that needs no
    network. Keys and curves are those of keypose unbake with the same options.

    Files that cannot be read are listed and skipped; then the exit code is 1.

    For example:
      keypose report walk.bvh
      keypose report walk.bvh --tolerance-mm 5 --open
      keypose report takes/ -o takes.html --keys 20
      keypose report walk.bvh --method farthest --keys 8 -o farthest.html
    """
    import sys

    from keypose.batch.file_discovery import discover_clips
    from keypose.batch.pool import CLIPS_PER_WORKER, default_jobs
    from keypose.cli.key_options import parse_curve_options, parse_key_options
    from keypose.cli.options import check_fps, check_key_count, parse_load_options, parse_range, resolve_jobs
    from keypose.pictures.report.build import ReportJob

    if not paths:
        raise UsageError("expected what to report on: keypose report FILES...")
    check_key_count(keys, tolerance_mm, auto=auto)
    if tolerance_mm is not None and method != "salient":
        raise UsageError(
            f"--tolerance-mm is for --method salient, which chooses keys by the error of curves; "
            f"expected --keys with --method {method}"
        )
    key_options = parse_key_options(
        method,
        pin=pin,
        exclude=exclude,
        joints=joints,
        weight=weight,
        objective=objective,
        measure=measure,
        min_gap_frames=min_gap_frames,
        max_gap_frames=max_gap_frames,
        loop=loop,
        settings=set_,
    )
    curve_options = parse_curve_options(
        interpolation=interpolation,
        rotation=rotation,
        shared_tangents=shared_tangents,
        jump_penalty=jump_penalty,
        polish=polish,
        polish_weight=polish_weight,
        threads=threads,
        residual=False,
    )
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    fps, frames = check_fps(fps, "--fps"), parse_range(range_)
    inputs = discover_clips(paths)
    if inputs.problems:
        raise inputs.problems[0]
    target = check_page_path(output, inputs, overwrite=overwrite)
    workers = resolve_jobs(
        jobs, CLIPS_PER_WORKER * len(inputs.files)
    )  # starting a worker takes less time than one clip
    if workers > 1:
        curve_options.setdefault("threads", max(1, default_jobs(sys.maxsize) // workers))
    work = [
        ReportJob(
            file.path,
            target,
            f"clip-{n}",
            load_options,
            frames,
            fps,
            method,
            keys,
            tolerance_mm,
            auto,
            key_options,
            curve_options,
        )
        for n, file in enumerate(inputs.files, 1)
    ]
    return run(work, target, title, workers, open_page=open_, json=json, quiet=quiet)


def check_page_path(output_path: Path | None, inputs: ClipFiles, *, overwrite: bool) -> Path:
    """Return the path of the page, checked before any work is done."""
    default_name = f"{stem(inputs.files[0].path.name)}.html" if len(inputs.files) == 1 else "report.html"
    target = page_path(default_name if output_path is None else output_path)
    if any(os.path.realpath(target) == os.path.realpath(file.path) for file in inputs.files):
        raise OptionError(f"{target}: is to be read, expected another name for the page")
    if target.is_dir():
        raise FileError(f"{target}: is a folder, expected the name of a page")
    if not target.parent.is_dir():
        raise FileError(f"{target.parent}: no such folder")
    if os.path.lexists(target) and not overwrite:
        raise FileError(f"{target}: exists already; --overwrite replaces it")
    return target


def run(
    work: Sequence[ReportJob], target: Path, title: str | None, jobs: int, *, open_page: bool, json: bool, quiet: bool
) -> int:
    """Write the page for all readable files and print a summary; return the exit code."""
    run_result = run_write_jobs(
        "Reporting", run_report_job, work, (), jobs, messages.translate_outcome, json=json, quiet=quiet
    )
    size = None
    if run_result.results and not run_result.interrupted:
        page = render_report_page([result.clip_report for _, result in run_result.results], title).encode()
        write_atomically(target, page)
        size = len(page)
    if json:
        output.print_json(
            {"report": None if size is None else str(target), "bytes": size} | run_result.document("clips", _document)
        )
    elif not quiet:
        _print_summary(run_result, target, size)
    if open_page and size is not None:
        webbrowser.open(target.resolve().as_uri())
    return run_result.finish(json=json)


def _print_summary(run_result: RunResult[ReportJob, ReportJobResult], target: Path, size: int | None) -> None:
    run_result.print_notes(lambda result: result.notes)
    if size is None:
        return
    takes = [clip.clip_report for _, clip in run_result.results]
    keys, frames = sum(take.n_keys for take in takes), sum(take.n_frames for take in takes)
    motion_count = "1 motion" if len(takes) == 1 else f"{len(takes)} of {len(run_result.work)} motions"
    mean_errors = [take.mean_mm for take in takes if take.mean_mm is not None]
    error = f", mean error {sum(mean_errors) / len(mean_errors):.2f} mm" if mean_errors else ""
    output.print_line(
        f"{target}: {motion_count}, {keys:,} keys of {frames:,} frames{error}, {clip_view.format_bytes(size)}, "
        f"in {run_result.seconds:.2f} s"
    )


def _document(job: ReportJob, result: ReportJobResult) -> dict[str, Any]:
    take = result.clip_report
    return {
        "id": job.id,
        "name": take.section.title,
        "n_frames": take.n_frames,
        "fps": take.fps,
        "n_keys": take.n_keys,
        "mean_mm": take.mean_mm,
        "max_mm": take.max_mm,
        "worst_joint": take.worst_joint,
        "notes": result.notes,
    }
