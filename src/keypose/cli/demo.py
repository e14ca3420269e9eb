"""``keypose demo``: the main job on a motion made in code."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from keypose.cli.options import Json


def demo(
    out: Annotated[str, Parameter(show_default=True, help="The folder for the files that it makes.")] = "out",
    /,
    *,
    fps: Annotated[float, Parameter(show_default=True, help="The frame rate of the motion.")] = 120.0,
    seed: Annotated[int, Parameter(show_default=True, help="Another number sways a little differently.")] = 0,
    json: Json = False,
) -> int:
    """Do the main job on a motion made in code, each step timed.

    Makes the motion, saves it, reads it back and chooses its keys; unbakes it
    into a few keys with curves, saves these, finds its swings and edits some,
    puts the detail back on the keys, and ends with pictures and a report.

    For example:
      keypose demo
      keypose demo somewhere/ --fps 60
    """
    from dataclasses import asdict
    from pathlib import Path

    from keypose.cli import clip_view, output, unbake_view
    from keypose.cli.demo_run import run_demo
    from keypose.cli.exits import UsageError

    if not out:
        raise UsageError("an empty name, expected a folder; . is the current one")
    report = run_demo(Path(out), fps=fps, seed=seed)
    if json:
        output.show_json(asdict(report))
        return 0
    output.line(f"a figure of {report.joints} joints: {report.frames} frames at {report.fps:g} fps, "
                f"{clip_view.duration(report.duration_s)}")  # fmt: skip
    for step in report.steps:
        size = f", {clip_view.file_size(step.bytes)}" if step.bytes is not None else ""
        found = f", poses within {step.error_mm:.2g} mm" if step.error_mm is not None else ""
        keys = f": frames {' '.join(map(str, step.keys))}" if step.keys is not None else ""
        output.line(f"{step.seconds * 1000:7.1f} ms  {step.what}{size}{found}{keys}")
    removed = 100 * (1 - report.keys / report.frames)
    output.line(f"{report.keys} keys in place of {report.frames} frames, {removed:.1f} % removed; curves between them:")
    for label, text in unbake_view.closeness_rows(report.closeness):
        output.line(f"  {label:8}{text}")
    here = Path(out)
    output.line(f"next: open {here / 'demo_report.html'} in a browser, {here / 'demo_unbaked.glb'} in any glTF viewer, "
                f"and try: keypose unbake {here / 'demo.bvh'} {here / 'mine.glb'} --keys 40")  # fmt: skip
    return 0
