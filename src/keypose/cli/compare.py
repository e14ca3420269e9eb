"""``keypose compare``: compare every method on the same clips."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.output_options import Overwrite, Quiet


def compare(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    methods: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Methods to compare, salient,uniform: those of keypose methods, salient-inbetween (the keys that "
            "unbake chooses), and the references per-curve and pca. Default: all.",
        ),
    ] = (),
    percent: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Percent of the frames to remove, 80,90. Default: 80, 90, 95 and 97.5."),
    ] = (),
    inbetweens: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="In-betweens: linear, fitted (cubics), polished (as unbake writes them). Default: linear,fitted.",
        ),
    ] = (),
    no_curves: Annotated[
        bool, Parameter(negative="", help="Only the percentages of the table: about three times as fast.")
    ] = False,
    fps: Annotated[
        float | None, Parameter(help="Compare at this rate; slower clips at their own. Default: all at their own.")
    ] = None,
    range_: Range = None,
    report: Annotated[
        Path | None,
        Parameter(help="Write a page, .html, and the measurements beside it as .csv and, with pyarrow, .parquet."),
    ] = None,
    csv: Annotated[Path | None, Parameter(help="Write one line for each measurement.")] = None,
    parquet: Annotated[Path | None, Parameter(help="Write one row for each measurement. Needs pyarrow.")] = None,
    fresh: Annotated[
        bool, Parameter(negative="", help="Ignore the cache of an earlier run and measure every clip again.")
    ] = False,
    overwrite: Overwrite = False,
    reference_pose: ReferencePose = "auto",
    asf: Asf = None,
    gaps: Gaps = "fill",
    animation: Animation = None,
    read_fps: ReadFps = None,
    limit: LimitOption = (),
    jobs: Jobs = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Compare every method of choosing keys on the same clips.

    Shows the mean and the largest error in millimetres on a figure of 1.7 m for
    every method and baseline at the same numbers of keys, medians over the
    clips, beside two references at as many stored values. If results are
    written to files, finished clips are cached in a hidden folder beside them:
    after an interruption the same command continues.

    For example:
      keypose compare walk.bvh
      keypose compare takes/ --report report.html --fps 60
      keypose compare takes/ --methods salient,uniform --percent 90 --csv out.csv
    """
    from keypose.batch.compare import CompareJob, default_compare_jobs
    from keypose.batch.file_discovery import discover_clips
    from keypose.cli import compare_options, compare_run
    from keypose.cli.exit_codes import UsageError
    from keypose.cli.options import check_fps, parse_load_options, parse_range, resolve_jobs

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    settings = compare_options.parse_settings(
        methods, percent, inbetweens, curves=not no_curves, fps=check_fps(fps, "--fps"), frames=parse_range(range_)
    )
    load_options = parse_load_options(reference_pose, asf, gaps, animation, read_fps, limit)
    inputs = discover_clips(files)
    outputs = compare_options.parse_outputs(report, csv, parquet, inputs, overwrite=overwrite)
    cache = None if outputs.main_file is None else compare_options.open_cache(outputs.main_file, fresh=fresh)
    work = [CompareJob(file.path, settings, load_options, cache, outputs.main_file or Path()) for file in inputs.files]
    workers = resolve_jobs(jobs, len(work)) if jobs is not None else default_compare_jobs(len(work))
    return compare_run.run(work, inputs.problems, settings, outputs, workers, json=json, quiet=quiet)
