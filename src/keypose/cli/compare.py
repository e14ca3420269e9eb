"""``keypose compare``: every method on the same clips, on one scale."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Animation, Asf, Gaps, Jobs, Json, LimitOption, Range, ReadFps, ReferencePose
from keypose.cli.targets import Overwrite, Quiet


def compare(
    *files: Annotated[str, Parameter(help="Motion files, folders of them, or patterns in quotes.")],
    methods: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="Only these, salient,uniform: methods that keypose methods lists, salient-inbetween (the keys that "
            "unbake chooses), and the references per-curve and pca. Otherwise all.",
        ),
    ] = (),
    percent: Annotated[
        tuple[str, ...],
        Parameter(negative="", help="Percent of the frames to remove, 80,90. Otherwise 80, 90, 95 and 97.5."),
    ] = (),
    inbetweens: Annotated[
        tuple[str, ...],
        Parameter(
            negative="",
            help="What goes between keys: linear, fitted (cubics), polished (as unbake writes them). "
            "Otherwise linear,fitted.",
        ),
    ] = (),
    no_curves: Annotated[
        bool, Parameter(negative="", help="Only the percentages of the table: about three times as fast.")
    ] = False,
    fps: Annotated[
        float | None, Parameter(help="Compare at this rate; slower clips at their own. Otherwise all at their own.")
    ] = None,
    range_: Range = None,
    report: Annotated[
        Path | None,
        Parameter(help="Write a page, .html, and the measurements beside it as .csv and, where pyarrow is, .parquet."),
    ] = None,
    csv: Annotated[Path | None, Parameter(help="Write one line for each measurement.")] = None,
    parquet: Annotated[Path | None, Parameter(help="Write one row for each measurement. Needs pyarrow.")] = None,
    fresh: Annotated[
        bool, Parameter(negative="", help="Measure every clip again, also those that an earlier run has finished.")
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
    clips, beside two references at as many stored values. Where results are
    written, finished clips are kept in a hidden folder beside them: the same
    command goes on where it was interrupted.

    For example:
      keypose compare walk.bvh
      keypose compare takes/ --report report.html --fps 60
      keypose compare takes/ --methods salient,uniform --percent 90 --csv out.csv
    """
    from keypose.batch.compare import Comparing, jobs_for
    from keypose.batch.inputs import expand
    from keypose.cli import compare_options as told
    from keypose.cli import compare_run
    from keypose.cli.exits import UsageError
    from keypose.cli.options import fps_from, jobs_from, range_from, reading_from

    if not files:
        raise UsageError("no file named, expected at least one file, folder or pattern")
    settings = told.settings_from(
        methods, percent, inbetweens, curves=not no_curves, fps=fps_from(fps, "--fps"), frames=range_from(range_)
    )
    reading = reading_from(reference_pose, asf, gaps, animation, read_fps, limit)
    inputs = expand(files)
    targets = told.targets_from(report, csv, parquet, inputs, overwrite=overwrite)
    kept = None if targets.main is None else told.kept_beside(targets.main, fresh=fresh)
    work = [Comparing(file.path, settings, reading, kept, targets.main or Path()) for file in inputs.files]
    workers = jobs_from(jobs, len(work)) if jobs is not None else jobs_for(len(work))
    return compare_run.run(work, inputs.problems, settings, targets, workers, json=json, quiet=quiet)
