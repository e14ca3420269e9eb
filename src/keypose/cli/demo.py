"""``keypose demo``: run the main workflow on a generated motion."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Json


def demo(
    out: Annotated[str, Parameter(show_default=True, help="The output folder.")] = "out",
    /,
    *,
    fps: Annotated[float, Parameter(show_default=True, help="The frame rate of the motion.")] = 120.0,
    seed: Annotated[int, Parameter(show_default=True, help="The seed of small random movements.")] = 0,
    json: Json = False,
) -> int:
    """Run the main workflow on a generated motion, each step timed.

    Generates the motion, saves it, reads it back and chooses its keys; unbakes it
    into a few keys with curves, saves these, finds its swings and edits some,
    rebakes the captured detail, and writes pictures and a report.

    For example:
      keypose demo
      keypose demo somewhere/ --fps 60
    """
    from dataclasses import asdict
    from pathlib import Path

    from keypose.cli import clip_view, output, unbake_view
    from keypose.cli.demo_run import run_demo
    from keypose.cli.exit_codes import UsageError

    if not out:
        raise UsageError("an empty name, expected a folder; . is the current one")
    report = run_demo(Path(out), fps=fps, seed=seed)
    if json:
        output.print_json(asdict(report))
        return 0
    output.print_line(
        f"a figure of {report.n_joints} joints: {report.n_frames} frames at {report.fps:g} fps, "
        f"{clip_view.format_duration(report.duration_s)}"
    )
    for step in report.steps:
        size = f", {clip_view.format_bytes(step.bytes)}" if step.bytes is not None else ""
        pose_error = f", poses within {step.error_mm:.2g} mm" if step.error_mm is not None else ""
        keys = f": frames {' '.join(map(str, step.keys))}" if step.keys is not None else ""
        output.print_line(f"{step.seconds * 1000:7.1f} ms  {step.description}{size}{pose_error}{keys}")
    removed_percent = 100 * (1 - report.n_keys / report.n_frames)
    output.print_line(
        f"{report.n_keys} keys in place of {report.n_frames} frames, {removed_percent:.1f} % removed; "
        "curves between them:"
    )
    for label, text in unbake_view.score_rows(report.score):
        output.print_line(f"  {label:8}{text}")
    folder = Path(out)
    output.print_line(
        f"next: open {folder / 'demo_report.html'} in a browser, {folder / 'demo_unbaked.glb'} in any glTF viewer, "
        f"and try: keypose unbake {folder / 'demo.bvh'} {folder / 'mine.glb'} --keys 40"
    )
    return 0
